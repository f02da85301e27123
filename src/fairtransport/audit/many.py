"""audit_many(): a declared family of audits, from one counting of the data to joint verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fairtransport.audit.entries import check_entries, naming_entry
from fairtransport.audit.one_counting import count_once
from fairtransport.audit.single import audit_with
from fairtransport.audit.summarise import finite
from fairtransport.errors import InputError
from fairtransport.family import FAMILY_SCHEMA, FamilySummary, Member
from fairtransport.filesystem import write_text
from fairtransport.inference.methods import DRAWING
from fairtransport.inference.multiplicity import Family
from fairtransport.settings import AuditSettings, checked
from fairtransport.space.sample_space import plain_frame

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from fairtransport.audit.result import AuditResult
    from fairtransport.inference.verdict import Verdict
    from fairtransport.space.reader import ColumnLike, TableLike

COLUMNS = (
    "name", "model", "n", "statistic", "lower", "upper", "delta", "pvalue", "pvalue_adjusted",
    "verdict",
)  # fmt: skip
"""The columns of a family's table."""


def audit_many(
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    audits: Mapping[str, Mapping[str, object]],
    alpha: float = AuditSettings.alpha,
    **common: object,
) -> Audits:
    """Audit several models, slices, sensitive features, losses or thresholds at once.

    Parameters
    ----------
    X, y
        As in `audit`.
    audits
        By name, what each audit is asked: keywords of `audit`, which override the common ones,
        and ``where``, a slice of the cases as in ``{"site": ["a", "b"]}``. The family has to be
        declared before the data are looked at.
    alpha
        The probability that any verdict is wrong, at most; the same for any interval.
    **common
        Keywords of `audit` that hold for all audits.

    Returns
    -------
    Audits
        Each audit by its name, as in a dict, and their verdicts together.

    Raises
    ------
    InputError
        If a setting of an audit breaks its rule; the sentence names the audit.

    Notes
    -----
    The data are counted once, and a model is asked once about a distinct person, whichever
    audits need the answer. Columns that hold the label, the counts or the predictions of one
    audit describe people in none, unless ``features`` names them. The levels of tests and
    bounds, and why all verdicts hold together, are in `inference.multiplicity.Family`.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": ["a", "b"] * 30, "good": [1] * 60,
    ...                        "old": [1, 0] * 30, "new": [1] * 60})
    >>> found = ft.audit_many(people, "good", sensitive_features="group", delta=0.1, rng=0,
    ...                       audits={"old": {"y_pred": "old"}, "new": {"y_pred": "new"}})
    >>> found.verdicts
    {'old': 'rejected', 'new': 'not-applicable'}
    """
    level = checked("alpha", alpha)
    entries, models = check_entries(audits, {**common, "y": y, "alpha": level})
    for entry in entries.values():
        with naming_entry(entry.name):
            _refuse_few_draws(entry.settings, len(entries))
    source, entries = count_once(X, entries)
    results = {}
    for name, entry in entries.items():
        with naming_entry(name):
            cases = source if entry.where is None else source.where(entry.where)
            results[name] = audit_with(entry.settings, cases, **entry.people)
    return Audits(results, level, sum(model.queried for model in models))


def _refuse_few_draws(settings: AuditSettings, size: int) -> None:
    """Refuse, before any work, fewer draws than the thin tails of a family's levels need.

    Parameters
    ----------
    settings
        Of one audit.
    size
        How many audits the family has; each end of an interval has level α/2m.
    """
    needed = math.ceil(2 * size / settings.alpha - 1e-9)
    if settings.method in DRAWING and settings.n_resamples < needed:
        msg = (
            f"`n_resamples` must be at least {needed:,} for the method {settings.method!r} in a "
            f"family of {size} at level {settings.alpha:g}, got {settings.n_resamples:,}"
        )
        raise InputError(msg)


@dataclass(frozen=True, eq=False)
class Audits(Mapping[str, "AuditResult"]):
    """What a family of audits found: each audit's own result by name, and verdicts together.

    Attributes
    ----------
    results
        Each audit as if it had been made alone, at level α.
    alpha
        The probability that any verdict of the family is wrong, at most.
    queried
        How many distinct questions all models were asked.

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
    >>> found = ft.audit_many(people, "good", sensitive_features="sex", delta=0.05, rng=0,
    ...                       audits={"old": {"model": old}, "new": {"model": new}})
    >>> found
    Audits(old='rejected', new='certified', alpha=0.05)
    >>> found["old"].statistic
    0.125
    """

    results: dict[str, AuditResult]
    alpha: float
    queried: int

    def __getitem__(self, name: str) -> AuditResult:
        if name not in self.results:
            msg = f"`audits` must hold the name, there are {', '.join(self.results)}; got {name!r}"
            raise KeyError(msg)
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def family(self) -> Family:
        """The levels of tests and bounds.

        Returns
        -------
        Family

        Examples
        --------
        Two audits with δ, both of which could be certified, share α.

        >>> found.family
        Family(alpha=0.05, size=2, tested=2, certifiable=2)
        """
        tested = self._tested.values()
        # by what they were asked, audits that compare people in the data certify nothing
        certifiable = sum(one.target_scope != "observed" for one in tested)
        return Family(self.alpha, len(self), len(tested), certifiable)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The rows of the table.

        Returns
        -------
        tuple[Member, ...]

        Examples
        --------
        >>> [(one.name, one.statistic, one.verdict) for one in found.members]
        [('old', 0.125, 'rejected'), ('new', 0.0, 'certified')]
        """
        adjusted = self._adjusted
        return tuple(
            Member(
                name=name,
                model=result.model,
                n=result.n,
                statistic=result.statistic,
                **self._interval(name),
                delta=result.delta,
                pvalue=self._pvalues.get(name),
                pvalue_adjusted=adjusted.get(name),
                verdict=self.verdicts.get(name),
                guarantee=result.guarantee,
            )
            for name, result in self.items()
        )

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """By name, what the family says of δ-fairness; all hold together with probability 1 − α.

        Audits that could find nothing are "not-applicable", with δ or without.

        Returns
        -------
        dict[str, Verdict]

        Examples
        --------
        >>> found.verdicts
        {'old': 'rejected', 'new': 'certified'}
        """
        empty = {name for name, result in self.items() if result.applicability is not None}
        return self._reached | dict.fromkeys(empty, "not-applicable")

    @cached_property
    def _reached(self) -> dict[str, Verdict]:
        """By name, what the tests say, applicable or not."""
        names = list(self._tested)
        found = self.family.verdicts(
            [self._adjusted[name] for name in names], [self._certified[name] for name in names]
        )
        return dict(zip(names, found, strict=True))

    @cached_property
    def table(self) -> IntoDataFrame:
        """A table of the audits, a row each, in the library of the audit data.

        ``lower`` and ``upper`` hold for all audits together with probability 1 − α; a verdict is
        "rejected" exactly if ``pvalue_adjusted`` is at most α, "certified" exactly if ``upper``
        is at most δ, unless it is "not-applicable".

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> found.table[["name", "statistic", "lower", "upper", "verdict"]].round(3)
          name  statistic  lower  upper    verdict
        0  old      0.125   0.09  0.167   rejected
        1  new      0.000   0.00  0.011  certified
        """
        rows = [vars(one) for one in self.members]
        library = next(iter(self.values())).space.library
        return plain_frame({name: [row[name] for row in rows] for name in COLUMNS}, library)

    @cached_property
    def summary(self) -> FamilySummary:
        """Everything the family says, as one document.

        Returns
        -------
        FamilySummary

        Examples
        --------
        >>> found.summary.alpha, len(found.summary.audits)
        (0.05, 2)
        """
        return replace(self.headline, audits=tuple(result.summary for result in self.values()))

    @cached_property
    def headline(self) -> FamilySummary:
        """What a screen says of the family, without the audits' own documents.

        Returns
        -------
        FamilySummary

        Examples
        --------
        >>> found.headline.members == found.summary.members, found.headline.audits
        (True, ())
        """
        from importlib.metadata import version

        return FamilySummary(
            schema=FAMILY_SCHEMA,
            alpha=self.alpha,
            intervals_miss=self.alpha,
            certificate_level=self.family.end_level,
            members=self.members,
            queried=self.queried,
            warnings=_together(self.results),
            version=version("fairtransport"),
        )

    def to_html(self, path: str | Path) -> Path:
        """Write one report of all audits, a file that needs nothing else.

        Parameters
        ----------
        path
            Where to.

        Returns
        -------
        Path
            Where the report is.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.to_html(f"{folder}/family.html").read_text("utf-8")[:15]
        '<!DOCTYPE html>'
        """
        from fairtransport.report.family_pages import render_family_html

        return write_text(Path(path), render_family_html(self.summary))

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
        ...     said = json.loads(found.to_json(f"{folder}/family.json").read_text("utf-8"))
        >>> [member["verdict"] for member in said["members"]]
        ['rejected', 'certified']
        """
        return write_text(Path(path), self.summary.to_json())

    def to_markdown(self) -> str:
        """Return a short report for a model card or a pull request.

        Returns
        -------
        str
            Markdown.

        Examples
        --------
        >>> print(found.to_markdown().splitlines()[0])
        # Audits for individual bias
        """
        from fairtransport.report.family_pages import render_family_markdown

        return render_family_markdown(self.summary)

    def _repr_html_(self) -> str:
        from fairtransport.report.family_pages import render_family_fragment

        return render_family_fragment(self.summary)

    @cached_property
    def _tested(self) -> dict[str, AuditResult]:
        """The audits with a threshold."""
        return {name: result for name, result in self.items() if result.delta is not None}

    @cached_property
    def _pvalues(self) -> dict[str, float]:
        """Their p-values, exact at the levels of the family's steps."""
        levels = self.family.levels
        return {
            name: result.law.graded_pvalue(_delta(result), levels)
            for name, result in self._tested.items()
        }

    @cached_property
    def _adjusted(self) -> dict[str, float]:
        """The same, adjusted: at most α exactly if the family rejects."""
        found = self.family.adjusted(list(self._pvalues.values()))
        return dict(zip(self._pvalues, found.tolist(), strict=True))

    @cached_property
    def _certified(self) -> dict[str, bool]:
        """Which of them are certified at the level of the family's certificates."""
        level = self.family.end_level
        return {
            name: result.law.certifies(_delta(result), level)
            for name, result in self._tested.items()
        }

    def _interval(self, name: str) -> dict[str, float | None]:
        """Return the ends of an audit's interval, which say what its verdict says.

        Parameters
        ----------
        name
            The audit's.
        """
        result, level = self[name], self.family.end_level
        lower, upper = result.law.lower_bound(level), result.law.upper_bound(level)
        # tests at several levels may disagree by a hair; wider intervals still hold
        if result.delta is not None and self._reached[name] != "rejected":
            lower = min(lower, result.delta)
        if result.delta is not None and self._reached[name] != "certified":
            upper = max(upper, math.nextafter(result.delta, math.inf))
        return {"lower": finite(lower), "upper": finite(upper)}

    def __repr__(self) -> str:
        found = ", ".join(f"{name}={self.verdicts.get(name)!r}" for name in self)
        return f"Audits({found}, alpha={self.alpha:g})"


def _delta(result: AuditResult) -> float:
    """Return the threshold of an audit that has one."""
    if result.delta is None:
        msg = "`delta` must be given, got None"
        raise InputError(msg)
    return result.delta


def _together(results: Mapping[str, AuditResult]) -> tuple[str, ...]:
    """Return the audits' warnings, each once, with the names of those it is about.

    Parameters
    ----------
    results
        The audits by name; a warning of all of them goes without names.
    """
    about: dict[str, list[str]] = {}
    for name, result in results.items():
        empty = [] if result.applicability is None else [f"Not applicable: {result.applicability}"]
        for warning in (*empty, *result.warnings, *result.law.notes):
            about.setdefault(warning, []).append(name)
    return tuple(
        warning if len(names) == len(results) else f"{', '.join(names)}: {warning}"
        for warning, names in about.items()
    )
