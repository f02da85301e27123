"""Comparison: what several models do to the same people, and what that shows of differences."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit.summarise import finite, provenance
from fairtransport.comparison_summary import (
    COMPARISON_SCHEMA,
    ComparedModel,
    ComparisonSummary,
    Difference,
    TreatedGroup,
    TreatedProfile,
)
from fairtransport.errors import InputError
from fairtransport.filesystem import write_text
from fairtransport.inference import difference_law
from fairtransport.localise.profiles import Profiles
from fairtransport.space.fingerprint import data_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from narwhals.typing import IntoDataFrame

    from fairtransport.audit.result import AuditResult
    from fairtransport.checks import FloatArray
    from fairtransport.inference import SamplingLaw
    from fairtransport.space.columns import Value

NOT_APPLICABLE = "not-applicable"
MOST_PROFILES, MOST_GROUPS = 10, 50
NO_BOUNDS = (
    "Differences have no bounds: people are compared with people in the audit data, and from such "
    "targets a difference can err either way."
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What models do to the same people: one audit each, and the differences between them.

    Attributes
    ----------
    audits
        The result of each model's audit, by name, in the order given.
    tolerance
        How much more bias than an earlier model a later one may have.
    obstacles
        Why the audit of a model can find nothing, by the models of which that is so.
    settings_taken
        The flags whose values came from a settings file, for the provenance.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "grade": [1, 1, 2, 2, 3, 3, 4, 4] * 50})
    >>> people["good"] = (people["grade"] > 2).astype(int)
    >>> def old(asked):
    ...     return (asked["grade"] > 2 + (asked["sex"] == "f")).astype(int)
    >>> def new(asked):
    ...     return (asked["grade"] > 3).astype(int)
    >>> found = ft.compare(people, "good", models={"old": old, "new": new},
    ...                    sensitive_features="sex", rng=0)
    >>> found
    Comparison(old=0.1250, new=0.0000, n=400, verdict='better')
    """

    audits: Mapping[str, AuditResult]
    tolerance: float
    obstacles: Mapping[str, str] = field(default_factory=dict)
    settings_taken: tuple[str, ...] = field(default=())

    @property
    def alpha(self) -> float:
        """All intervals of a table hold together at level 1 − α.

        Returns
        -------
        float

        Examples
        --------
        >>> found.alpha
        0.05
        """
        return self._first.alpha

    @property
    def table(self) -> Any:
        """A table of the models: statistic, simultaneous interval, risks.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> found.table.iloc[:, :4].round(3)
          name model  statistic  lower
        0  old   old      0.125   0.09
        1  new   new      0.000   0.00
        """
        return _table(self._first, [vars(one) for one in self._models])

    @property
    def differences(self) -> Any:
        """A table of all pairs, an earlier model first.

        Columns: first, second, difference (the second's statistic minus the first's), its
        simultaneous interval (lower, upper), pvalue (of "neither less bias, nor more by over
        the tolerance", times the number of pairs), verdict on the second ("better", "worse",
        "undecided", "not-applicable"), not_worse (certified to exceed the first by the
        tolerance at most). Where audits are applicable, a verdict is better or worse exactly if
        the p-value is at most α.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> found.differences[["second", "difference", "lower", "upper", "verdict"]].round(3)
          second  difference  lower  upper verdict
        0    new      -0.125 -0.168 -0.088  better
        """
        return _table(self._first, [vars(one) for one in self._differences])

    @property
    def verdict(self) -> str:
        """What was shown of the last model beside the first.

        "better", "worse", "undecided", or "not-applicable": an audit of the two could find
        nothing, or finds it by construction, so that neither says how they differ in bias.

        Returns
        -------
        str

        Examples
        --------
        >>> found.verdict
        'better'
        """
        return self._ends.verdict

    @property
    def applicability(self) -> str | None:
        """Why the verdict is "not-applicable", in a sentence; None if it is not.

        Returns
        -------
        str | None

        Examples
        --------
        There is a verdict here.

        >>> print(found.applicability)
        None
        """
        if self.verdict != NOT_APPLICABLE:
            return None
        first, *_, last = self.audits
        of = {name: self.obstacles[name] for name in (first, last) if name in self.obstacles}
        if len(set(of.values())) == 1 and len(of) > 1:
            return next(iter(of.values()))
        return " ".join(f"{name}: {reason}" for name, reason in of.items())

    @property
    def not_worse(self) -> bool:
        """Whether the last model is certified to exceed the first by the tolerance at most.

        Returns
        -------
        bool

        Examples
        --------
        >>> found.not_worse
        True
        """
        return self._ends.not_worse

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the numbers should know.

        Returns
        -------
        tuple[str, ...]

        Examples
        --------
        >>> found.warnings
        ()
        """
        said = {name: dict.fromkeys(one.warnings) for name, one in self.audits.items()}
        # a note that all audits have is about the people or the settings, and told once
        everywhere = [
            note for note in self._first.warnings if all(note in one for one in said.values())
        ]
        own = [
            f"{name}: {note}"
            for name, notes in said.items()
            for note in notes
            if note not in everywhere
        ]
        empty = [f"{name}, not applicable: {why}" for name, why in self.obstacles.items()]
        unbounded = [] if self._first.fixed_targets else [NO_BOUNDS]
        return (*empty, *everywhere, *own, *unbounded)

    @property
    def _first(self) -> AuditResult:
        """The audit of the first model; people and settings are the same for all."""
        return next(iter(self.audits.values()))

    @property
    def _ends(self) -> Difference:
        """The difference between the first model and the last."""
        first, *_, last = self.audits
        return next(one for one in self._differences if (one.first, one.second) == (first, last))

    @cached_property
    def _models(self) -> tuple[ComparedModel, ...]:
        """The models' rows; intervals hold together, each at α over their number."""
        # Bonferroni: the models share their people, and nothing is known of how their errors depend
        level = self.alpha / len(self.audits)

        def described(name: str, one: AuditResult) -> ComparedModel:
            """Return the row of one model."""
            lower, upper = one.law.interval(level)
            return ComparedModel(
                name, one.model, one.statistic, finite(lower), finite(upper), one.baseline_risk,
                one.worst_case_risk, one.queried,
            )  # fmt: skip

        return tuple(described(name, one) for name, one in self.audits.items())

    @cached_property
    def _differences(self) -> tuple[Difference, ...]:
        """The rows of all pairs, each at α over their number."""
        pairs = list(combinations(self.audits, 2))
        if not self._first.fixed_targets:
            return tuple(self._described(*pair) for pair in pairs)
        level = self.alpha / len(pairs)
        return tuple(self._judged(*pair, level) for pair in pairs)

    def _described(self, first: str, second: str) -> Difference:
        """Return a difference of which nothing more is known.

        Parameters
        ----------
        first, second
            Names of two models.
        """
        difference = self.audits[second].statistic - self.audits[first].statistic
        return Difference(
            first, second, difference, None, None, None,
            verdict=self._applied(first, second, "undecided"), not_worse=False,
        )  # fmt: skip

    def _judged(self, first: str, second: str, level: float) -> Difference:
        """Return a difference with interval, p-value and verdict.

        Parameters
        ----------
        first, second
            Names of two models.
        level
            The pair's share of α.
        """
        # each side of each pair has its share of α, as the interval's ends have
        share = level / 2
        law = self._law(first, second, share)
        lower, upper = law.interval(level)
        worse, better = law.pvalue(self.tolerance, "greater"), law.pvalue(0.0, "less")
        # times 2 · pairs, written so that p <= share and the p-value told <= α are the same to the
        # last bit
        pvalue = min(1.0, self.alpha * (min(worse, better) / share))
        shown = [name for name, p in (("worse", worse), ("better", better)) if p <= share]
        verdict = self._applied(first, second, shown[0] if len(shown) == 1 else "undecided")
        return replace(
            self._described(first, second), lower=lower, upper=upper, pvalue=pvalue,
            verdict=verdict, not_worse=upper <= self.tolerance and verdict != NOT_APPLICABLE,
        )  # fmt: skip

    def _applied(self, first: str, second: str, verdict: str) -> str:
        """Return a verdict, or that none applies.

        More bias than a model that has none by construction is a finding all the same.

        Parameters
        ----------
        first, second
            Names of two models.
        verdict
            What the tests say.
        """
        empty = second in self.obstacles or (first in self.obstacles and verdict != "worse")
        return NOT_APPLICABLE if empty else verdict

    def _law(self, first: str, second: str, level: float) -> SamplingLaw:
        """Return what the sample says of the second's statistic over the first's.

        Parameters
        ----------
        first, second
            Names of two models.
        level
            What p-values are aimed at.
        """
        old, new = self.audits[first], self.audits[second]
        limits = _common_range(old, new)
        return difference_law(
            new.problem, old.problem, old.space.counts, rng=old.seed, alpha=level,
            loss_range=limits, most_gains=(new.most_gain, old.most_gain),
            declared=(self.tolerance, 0.0),
        )  # fmt: skip

    @cached_property
    def summary(self) -> ComparisonSummary:
        """Everything the comparison says, as one document.

        Returns
        -------
        ComparisonSummary

        Examples
        --------
        >>> found.summary.verdict, [model.name for model in found.summary.models]
        ('better', ['old', 'new'])
        """
        first, *_, last = self.audits.values()
        taken = replace(first, settings_taken=self.settings_taken)
        return ComparisonSummary(
            schema=COMPARISON_SCHEMA,
            n=first.n,
            points=first.points,
            target_scope=first.target_scope,
            budget=first.problem.budget,
            tolerance=self.tolerance,
            alpha=self.alpha,
            verdict=self.verdict,
            applicability=self.applicability,
            not_worse=self.not_worse,
            models=self._models,
            differences=self._differences,
            groups=_groups(first, last),
            profiles=_profiles(first, last),
            warnings=self.warnings,
            provenance=replace(provenance(taken), data_sha256=data_sha256(first.space)),
        )

    def to_html(self, path: str | Path) -> Path:
        """Write the comparison as a page that needs nothing else.

        Parameters
        ----------
        path
            Where to.

        Returns
        -------
        Path
            Where the page is.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.to_html(f"{folder}/compared.html").read_text("utf-8")[:15]
        '<!DOCTYPE html>'
        """
        from fairtransport.report.comparison_pages import render_comparison_html

        return write_text(Path(path), render_comparison_html(self.summary))

    def to_json(self, path: str | Path) -> Path:
        """Write the document as JSON.

        Parameters
        ----------
        path
            Where to.

        Returns
        -------
        Path
            Where the document is.

        Examples
        --------
        >>> import json, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     said = json.loads(found.to_json(f"{folder}/compared.json").read_text("utf-8"))
        >>> said["verdict"]
        'better'
        """
        return write_text(Path(path), self.summary.to_json())

    def to_markdown(self) -> str:
        """Return the comparison for a model card or a pull request.

        Returns
        -------
        str
            Markdown.

        Examples
        --------
        >>> print(found.to_markdown().splitlines()[0])
        # Models compared for individual bias
        """
        from fairtransport.report.comparison_pages import render_comparison_markdown

        return render_comparison_markdown(self.summary)

    def _repr_html_(self) -> str:
        from fairtransport.report.comparison_pages import render_comparison_fragment

        return render_comparison_fragment(self.summary)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={one.statistic:.4f}" for name, one in self.audits.items())
        return f"Comparison({said}, n={self._first.n}, verdict={self.verdict!r})"


def _common_range(first: AuditResult, second: AuditResult) -> tuple[float, float]:
    """Return limits of the losses of both; outcomes can have limits of their own.

    Parameters
    ----------
    first, second
        Two audits.

    Raises
    ------
    InputError
        If a range is not known.
    """
    known = [one.loss.range for one in (first, second)]
    if None in known:
        msg = (
            f"`loss_range` must be given to compare models by the loss {first.loss.name!r}, "
            "got None"
        )
        raise InputError(msg)
    lows, highs = zip(*(limits for limits in known if limits is not None), strict=True)
    return min(lows), max(highs)


def _added(result: AuditResult) -> FloatArray:
    """Return what the optimal swaps add to the total loss of the people at each point.

    Parameters
    ----------
    result
        One model's audit.
    """
    moved = result.moved
    return np.bincount(
        moved.sources, moved.people * moved.gains, minlength=result.space.size
    ).astype(float)


def _groups(first: AuditResult, last: AuditResult) -> tuple[TreatedGroup, ...]:
    """Return what swaps cost each sensitive group, the largest groups first.

    Parameters
    ----------
    first, last
        The audits of the first model and the last.
    """
    space = first.space
    of = space.sensitive_groups
    people, before, after = (
        np.bincount(of, weights) for weights in (space.counts, _added(first), _added(last))
    )
    profiles = Profiles(space)
    place = space.first_of_groups
    largest = [at for at in np.argsort(-people, kind="stable") if people[at] > 0][:MOST_GROUPS]
    return tuple(
        TreatedGroup(
            profiles.group(int(place[at])),
            int(people[at]),
            float(before[at] / people[at]),
            float(after[at] / people[at]),
        )
        for at in largest
    )


def _profiles(first: AuditResult, last: AuditResult) -> tuple[TreatedProfile, ...]:
    """Return the profiles whose added loss differs most between two models.

    Parameters
    ----------
    first, last
        The audits of the first model and the last.
    """
    space = first.space
    before, after = _added(first), _added(last)
    rank = np.argsort(-np.abs(after - before), kind="stable")[:MOST_PROFILES]
    profiles = Profiles(space)
    return tuple(
        TreatedProfile(
            profiles.profile(int(at)),
            profiles.label(int(at)),
            int(space.counts[at]),
            float(before[at]),
            float(after[at]),
        )
        for at in rank
        if not math.isclose(before[at], after[at], abs_tol=1e-9)
    )


def _table(result: AuditResult, rows: list[dict[str, Value]]) -> IntoDataFrame:
    """Return rows as a frame in the library of the audit data."""
    return result.as_table({name: [row[name] for row in rows] for name in rows[0]})
