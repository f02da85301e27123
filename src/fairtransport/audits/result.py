"""AuditResult: the outcome of an audit, with tables, charts and documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport._core.files import write_bytes, write_text
from fairtransport._core.notes import Count, Note
from fairtransport._core.validation import check_choice, check_integer
from fairtransport.audits.applicability import Obstacle, audit_keywords, find_obstacle
from fairtransport.audits.controls import (
    ControlComparison,
    EditShifts,
    compare_controls,
    limit_by_controls,
)
from fairtransport.audits.decisions import AuditDecisions, as_audit_decisions
from fairtransport.audits.groups import GroupComparisons, compare_groups, gather_comparisons
from fairtransport.audits.proxies import find_proxies, reopen_oracle
from fairtransport.audits.querying import QueryRecord
from fairtransport.audits.rates import Rates, find_rates, is_bounded_by_rates, rate_bound_law
from fairtransport.audits.redaction import redact
from fairtransport.audits.sensitivity import (
    Attributable,
    Sensitivity,
    find_attributable,
    find_sensitivity,
)
from fairtransport.audits.summarise import (
    COMPARED_METHODS,
    method_limits,
    summarise,
    summarise_headline,
)
from fairtransport.data.build import count_shared_people
from fairtransport.data.sample_space import plain_frame
from fairtransport.documents.audit import is_part_judged
from fairtransport.errors import InputError, param
from fairtransport.explain.flows import flow_shapes, flow_table
from fairtransport.explain.moves import MovePlan, build_moves_columns, find_moves, random_swap_risk
from fairtransport.geometry import Geometry
from fairtransport.inference import Interval, Pilot, SamplingLaw, sampling_law
from fairtransport.inference.laws import Verdict, reach_verdict
from fairtransport.inference.sample_plan import Outlook, find_outlook
from fairtransport.report.rendering import Reportable
from fairtransport.settings import DocumentOptions
from fairtransport.similarity.similarity_check import comparable_share
from fairtransport.transport import AuditProblem, BudgetCurve, Solution

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from typing import Self

    import numpy as np
    from altair.typing import ChartType
    from narwhals.typing import IntoDataFrame
    from scipy.sparse import csr_array

    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import Value
    from fairtransport.data.sources import TableLike
    from fairtransport.documents.audit import AuditSummary
    from fairtransport.explain.moves import Prediction
    from fairtransport.explain.proxies import Proxies
    from fairtransport.losses import Loss
    from fairtransport.settings import AuditSettings, Rng
    from fairtransport.similarity import Similarity

PLOTS = ("flows", "law", "budget", "methods")
OF_THE_STATISTIC = (
    "The plan is for bounds of the statistic. An audit of given predictions has bounds of rates, "
    "and these need more cases."
)


@dataclass(frozen=True, eq=False)
class AuditResult(Reportable):
    """The result of an audit: figures, bounds, verdict, tables, charts and documents.

    Attributes
    ----------
    settings
        Settings of the audit; tables of people are in the space.
    space, answers, similarity, solution
        The audited people, the model's answer at every point, who is comparable, and the solution
        of the transport problem.
    model
        The model's name.
    target_scope
        Whom people were compared with: "twins", people of a "reference" frame, people who were
        "observed", in which case others may be missed, or "counterparts" of themselves.
    warnings
        Notes for readers of the numbers.
    settings_taken
        Flags whose values came from a settings file.
    query_record
        How the model was queried.
    training_overlap
        Number of people who occur in the training data; None before `overlap`.
    proxy_list
        Which columns predict each sensitive feature; empty before `proxies`.
    shifts
        Increase of the loss by each edit of the audited people; None without controls.
    controls_advice
        That any edit may change the model's answers, and how to compare with edits that should not
        matter; None with controls, or if it does not apply.

    Examples
    --------
    Women need a better grade than men for the same answer.

    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "grade": [1, 1, 2, 2, 3, 3, 4, 4] * 50})
    >>> people["good"] = (people["grade"] > 2).astype(int)
    >>> def hires(x):
    ...     return (x["grade"] > 2 + (x["sex"] == "f")).astype(int)
    >>> result = ft.audit(people, "good", model=hires, sensitive_features="sex", delta=0.05, rng=0)
    >>> result
    AuditResult(verdict='rejected', statistic=0.1250, lower_bound=0.0987, upper_bound=0.1555,
    delta=0.05)
    >>> print(result)
    OVER THE LIMIT   at least 9.8 % of people have a correct decision that would become wrong with
    another sex; limit 5 %
    hires, 400 people
    <BLANKLINE>
    100 of 400 people (25 %; with 95 % confidence 20.8–29.6 %) would get another decision if only
    their recorded sex were different.
      50 get “1”, and would then get “0”.
      50 get “0”, and would then get “1”.
      To see who is worse off, name the decision that is good for a person (`favourable`).
    <BLANKLINE>
    Your limit: at most 5 % of all people (20 of these 400) may have a correct decision that would
    become wrong with another sex.
      Found: 12.5 % of these people (50 people). In the population: at least 9.8 %, at most 15.6 %,
      each with 95 % confidence.
    <BLANKLINE>
    Largest groups of people whose decision would change
    People  Who they are  If recorded as  Decision
        50  f, grade 3    m               0 → 1
        50  m, grade 3    f               1 → 0
    <BLANKLINE>
    Compared with  the same person with another sex (the model was queried for 8 different rows,
                   equal people together)
    Not covered    why decisions differ; other columns that stand in for sex (proxies); people from
                   another population
    Valid only if  these people are a random sample, drawn independently of each other, and were not
                   used to train the model
    Details        result.to_html(path)
    Random seed    0
    """

    settings: AuditSettings
    space: SampleSpace
    answers: AnsweredPoints
    similarity: Similarity
    solution: Solution
    model: str
    target_scope: str
    warnings: tuple[str, ...] = ()
    settings_taken: tuple[str, ...] = ()
    query_record: QueryRecord = field(default_factory=QueryRecord)
    training_overlap: int | None = None
    proxy_list: tuple[Proxies, ...] = ()
    shifts: EditShifts | None = None
    controls_advice: str | None = None

    @property
    def delta(self) -> float | None:
        """The threshold of δ-fairness, if there is one."""
        return self.settings.delta

    @property
    def alpha(self) -> float:
        """Significance level of the bounds and tests."""
        return self.settings.alpha

    @property
    def method(self) -> str:
        """Method of the bounds."""
        return self.settings.method

    @property
    def n_resamples(self) -> int:
        """Number of draws of the resampling methods."""
        return self.settings.n_resamples

    @property
    def seed(self) -> int:
        """The random seed."""
        return self.settings.seed

    @property
    def favourable(self) -> object:
        """The label that is best for a person; None if it was not given."""
        return self.settings.best_label

    @cached_property
    def decisions(self) -> AuditDecisions | None:
        """Whose decision would change if only their sensitive features were different.

        None if unknown; ``summary.decisions_missing`` says why.
        """
        decisions = self._headline.decisions
        return None if decisions is None else as_audit_decisions(decisions, self.space.library)

    @property
    def loss(self) -> Loss:
        """The loss, with its range if known without the data."""
        return self.answers.loss

    @property
    def queried(self) -> int:
        """Number of distinct questions to the model; 0 with predictions only."""
        return self.answers.queried

    @property
    def problem(self) -> AuditProblem:
        """The transport problem behind the result."""
        return self.solution.problem

    @property
    def statistic(self) -> float:
        """The FaiTH statistic ψ(f_n): the largest increase in the mean loss by swaps of people.

        For random answers it is about mean losses, chosen and measured on different draws.
        """
        law = self.query_record.law
        return (
            self.solution.value if law is None or self.query_record.draws is None else law.estimate
        )

    @property
    def baseline_risk(self) -> float:
        """Mean loss on the audit data."""
        return float(self.space.frequencies @ self.problem.losses)

    @property
    def worst_case_risk(self) -> float:
        """Mean loss after people are swapped with similar ones."""
        return self.baseline_risk + self.statistic

    @property
    def n(self) -> int:
        """Number of people in the audit data."""
        return self.space.n

    @property
    def points(self) -> int:
        """Number of distinct points, K, including those that are only targets."""
        return self.space.size

    @property
    def price(self) -> float:
        """Marginal gain: increase of the statistic per unit of additional budget."""
        return self.solution.price

    @property
    def plan(self) -> csr_array[np.float64]:
        """The optimal plan: the share of people moved from each point (row) to each target."""
        return self.solution.plan

    @cached_property
    def budget_curve(self) -> BudgetCurve:
        """The statistic at every budget."""
        return self.problem.budget_curve(self.space.frequencies)

    def at_budget(self, budget: float) -> AuditResult:
        """Return the whole result at another budget, from the same frontiers.

        Parameters
        ----------
        budget
            ε >= 0, the transport budget.

        Returns
        -------
        AuditResult
            The audit at this budget.

        Raises
        ------
        InputError
            If the budget is not a finite number >= 0.

        Examples
        --------
        >>> near = ft.audit(people, "good", model=hires, sensitive_features="sex", rng=0,
        ...                 similarity=ft.similarity.MixedTabular(scales={"grade": 1}))
        >>> [round(near.at_budget(budget).statistic, 3) for budget in (0, 0.1, 0.5)]
        [0.125, 0.225, 0.375]
        """
        problem = self.problem.with_budget(budget)
        settings = replace(self.settings, budget=problem.budget)
        solution = problem.solve(self.space.frequencies)
        # it was computed for the plan at this budget
        return replace(self, settings=settings, solution=solution, proxy_list=())

    @cached_property
    def disagreement(self) -> float:
        """Part of the statistic due to different predictions for the same profile.

        It is 0 with a model, as only given predictions can differ so.
        """
        if not self.space.predictions:
            return 0.0
        label = () if self.space.label is None else (self.space.label,)
        blocks = self.space.groups((*self.space.profile, *label))
        same_profile = Geometry(blocks, targets=self.problem.geometry.targets)
        return AuditProblem(self.problem.losses, same_profile).value(self.space.frequencies)

    @property
    def answers_differ(self) -> bool:
        """Whether people of the same profile and label got answers of different losses."""
        return self.disagreement > 0

    @cached_property
    def moved(self) -> MovePlan:
        """The people moved by the optimal plan, as arrays over the points."""
        return find_moves(self.solution, self.n)

    @cached_property
    def comparable_share(self) -> float:
        """Share of people with a comparable person of another sensitive value."""
        return comparable_share(self.space, self.problem.geometry, self.problem.budget)

    @cached_property
    def restricted_problems(self) -> dict[frozenset[str], AuditProblem]:
        """The problems with sensitive features held fixed, by these, as far as computed."""
        return {}

    @cached_property
    def random_swap_risk(self) -> float | None:
        """Mean loss when each person is swapped with a random twin.

        None if people are compared with others than twins.
        """
        return random_swap_risk(self.space, self.problem.geometry, self.problem.losses)

    @property
    def fixed_targets(self) -> bool:
        """Whether targets do not depend on the sample.

        They do for a reference frame that is a part of the audit data, or mostly made of them, and
        for observed combinations of columns that change together.
        """
        reference = self.space.reference
        if self.space.observed_sets:
            return False
        if self.target_scope == "reference" and reference is not None:
            return not reference.is_from_the_sample
        return self.target_scope != "observed"

    @property
    def plan_is_fixed(self) -> bool:
        """Whether each point's target depends neither on the sample nor on the budget."""
        return (
            self.fixed_targets
            and self.problem.budget == 0
            and self.query_record.once_about_everybody
            and self.space.units is None
        )

    @property
    def most_gain(self) -> float | None:
        """The largest possible gain with a reference frame; None without one.

        All its points were queried and do not depend on the sample: nobody can be moved to a larger
        loss than the largest there, from less than the smallest possible loss.
        """
        targets = self.problem.geometry.targets
        if targets is None or self.loss.range is None or not self.fixed_targets:
            return None
        return max(float(self.problem.losses[targets].max()) - self.loss.range[0], 0.0)

    @cached_property
    def law(self) -> SamplingLaw:
        """Sampling law of the population's value, by the chosen method.

        For given predictions it is the law of R, which is below the value.
        """
        if self.query_record.law is not None:
            return self.query_record.law
        return rate_bound_law(self) if is_bounded_by_rates(self) else self._law(self.method)

    @property
    def guarantee(self) -> str:
        """Guarantee of the bounds: "finite-sample", "asymptotic" or "approximate"."""
        return self.law.guarantee

    @cached_property
    def interval(self) -> Interval:
        """Two-sided confidence interval at level 1 − α."""
        return self.law.interval(self.alpha)

    @cached_property
    def lower_bound(self) -> float:
        """One-sided lower confidence bound at level 1 − α."""
        return self.law.lower_bound(self.alpha)

    @cached_property
    def upper_bound(self) -> float:
        """One-sided upper confidence bound at level 1 − α; infinite if there is none."""
        return self.law.upper_bound(self.alpha)

    @cached_property
    def pvalue(self) -> float | None:
        """P-value of δ-fairness, H0: ψ <= δ, or R <= δ if there is R; None without δ.

        With controls it is the maximum of this and of that of "no more than control edits".
        """
        if self.delta is None or not self.law.has_pvalue:
            return None
        pvalue = self.law.pvalue(self.delta)
        return pvalue if self.controls is None else max(pvalue, self.controls.pvalue)

    @cached_property
    def controls(self) -> ControlComparison | None:
        """Sensitive edits compared with control edits; None without controls."""
        return compare_controls(self)

    @cached_property
    def certificate_pvalue(self) -> float | None:
        """P-value of ψ >= δ, small for a certificate; None without δ."""
        if self.delta is None or not self.law.has_pvalue:
            return None
        return self.law.pvalue(self.delta, "less")

    @cached_property
    def evalue(self) -> float | None:
        """E-value against δ-fairness, which may be multiplied; None without δ or a guarantee."""
        return None if self.delta is None else self.law.evalue(self.delta)

    @cached_property
    def bounds_verdict(self) -> Verdict | None:
        """The verdict by the bounds alone, applicable or not; None without δ.

        With controls, "rejected" also needs a difference from them: both tests are at level α, and
        both must reject (intersection–union).
        """
        if self.delta is None:
            return None
        verdict = reach_verdict(
            rejected=self.law.rejects(self.delta, self.alpha),
            certified=self.law.certifies(self.delta, self.alpha),
        )
        return limit_by_controls(verdict, self.controls)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict on δ: rejected, certified, inconclusive or not-applicable; None without δ.

        It is on the statistic, or on the attributable part by ``judge``; "not-applicable" if the
        audit could find nothing, or finds it by construction.
        """
        if self._obstacle is not None:
            return "not-applicable"
        return self.attributable.verdict if self.is_about_part else self.bounds_verdict

    @property
    def applicability(self) -> str | None:
        """Why the audit cannot find anything, in a sentence; None if it can."""
        return None if self._obstacle is None else self._obstacle.reason

    @property
    def advice(self) -> str | None:
        """What to change if the audit cannot find anything; None without advice."""
        return None if self._obstacle is None else self._obstacle.advice

    @property
    def next_settings(self) -> dict[str, Any] | None:
        """`next_audit` as in a settings file, with the similarity by name."""
        return None if self._obstacle is None else self._obstacle.next_settings

    @property
    def next_audit(self) -> dict[str, Any] | None:
        """Keywords of `audit` for the recommended next audit; None without one."""
        settings = self.next_settings
        return None if settings is None else audit_keywords(settings, self.space.sensitive)

    @cached_property
    def _obstacle(self) -> Obstacle | None:
        """Why the audit could find nothing; None if it can."""
        return find_obstacle(self)

    @cached_property
    def is_about_part(self) -> bool:
        """Whether the verdict is on the attributable part, and that differs from the whole."""
        if self.settings.judge == "statistic":
            return False
        return is_part_judged(
            self.settings.judge, self.target_scope, self.attributable.same_group,
            has_rates=self.rates is not None,
        )  # fmt: skip

    @property
    def judged_bounds(self) -> Interval:
        """The one-sided bounds that the verdict is based on."""
        ends = self.attributable if self.is_about_part else self
        return Interval(ends.lower_bound, ends.upper_bound)

    @cached_property
    def rates(self) -> Rates | None:
        """R and the rates by group, if the verdict is about them; None otherwise."""
        return find_rates(self)

    @cached_property
    def attributable(self) -> Attributable:
        """The part of the statistic that needs sensitive features to change."""
        part = find_attributable(self)
        if self.controls is not None and part.pvalue is not None:
            part = replace(
                part, pvalue=max(part.pvalue, self.controls.pvalue),
                verdict=limit_by_controls(part.verdict, self.controls),
            )  # fmt: skip
        return part if self._obstacle is None else replace(part, verdict="not-applicable")

    @cached_property
    def outlook(self) -> Outlook | None:
        """Approximate number of cases that would settle an inconclusive verdict; else None.

        Only for audits of the statistic that query everybody once.
        """
        is_on_statistic = not (is_bounded_by_rates(self) or self.is_about_part)
        planned = self.query_record.once_about_everybody and is_on_statistic
        if self.verdict != "inconclusive" or self.delta is None or not planned:
            return None
        if self.law.rejects(self.delta, self.alpha):  # only the controls leave it open
            return None
        return find_outlook(
            self._pilot, self.price, self.law, self.delta, self.alpha, self.space.units
        )

    def as_pilot(self) -> Pilot:
        """Return the input of `sample_size` to plan an audit like this one.

        An audit takes points from its sample, each with its twins if a model is queried; twins have
        the levels of the sample unless these were declared.

        Returns
        -------
        Pilot
            The value of ``sample_size(pilot=...)``.

        Raises
        ------
        InputError
            If the audit did not query everybody once, or its verdict is about rates.

        Examples
        --------
        >>> plan = ft.inference.sample_size(pilot=result.as_pilot(), delta=0.05, rng=0)
        >>> plan.goal, 0 < plan.n < result.n
        ('reject', True)
        """
        if not self.query_record.once_about_everybody:
            msg = f"{param('pilot')} must be an audit with one answer for each person, got another"
            raise InputError(msg)
        if is_bounded_by_rates(self) and self.answers_differ:
            msg = (
                f"{param('pilot')} must be an audit whose verdict is about the statistic, got one "
                "of predictions that differ between equal people, which is about rates; audit a "
                "model instead"
            )
            raise InputError(msg)
        if self.space.units is not None:
            msg = (
                f"{param('pilot')} must be an audit of independent people, got one with "
                f"{param('clusters')} or {param('sample_weight')}; its outlook says how many units "
                "would settle the verdict"
            )
            raise InputError(msg)
        return self._pilot

    @property
    def _pilot(self) -> Pilot:
        """The audit as plans use it."""
        space = self.space
        # else all relevant points are present in any sample
        varies = not self.fixed_targets or (
            self.target_scope == "twins" and bool(space.open_levels)
        )
        has_new_twins = varies and space.has_twins
        return Pilot(
            self.problem, space.frequencies, **self._known_beforehand,
            families=space.families if varies else None,
            open_levels=space.open_codes if has_new_twins else None,
            delta=self.delta, alpha=self.alpha, method=self.method, n_resamples=self.n_resamples,
            notes=(OF_THE_STATISTIC,) if is_bounded_by_rates(self) else (), n=self.n,
        )  # fmt: skip

    @cached_property
    def compared_laws(self) -> tuple[SamplingLaw, ...]:
        """The laws of the methods that can be compared; some need a loss with a known range."""
        if (
            self.query_record.law is not None
        ):  # others hold neither at a stopping time nor for draws
            return (self.query_record.law,)
        able = [
            name
            for name in COMPARED_METHODS
            if (
                self.space.units is None if name != "finite-sample" else self.loss.range is not None
            )
        ]
        if self.problem.columns is not None:
            # other laws need all prices at which frontiers bend, which are too many to list
            able = [self.law.method]
        laws = (self.law if name == self.law.method else self._law(name) for name in able)
        # a law of few draws has no bounds at a small level
        return tuple(law for law in laws if law.smallest_level <= self.alpha / 2)

    @cached_property
    def flow_shapes(self) -> dict[str, tuple[int, int, int]]:
        """Numbers of labels, levels and groups of the flows by each feature."""
        space = self.space
        others = [name for name in space.profile if name not in space.sensitive]
        return flow_shapes(space, others or list(space.sensitive))

    def _law(self, method: str) -> SamplingLaw:
        """Return the sampling law of some method."""
        return sampling_law(
            self.problem,
            self.space.counts,
            method=method,
            n_resamples=self.n_resamples,
            rng=self.seed,
            alpha=self.alpha,
            fixed_levels=not (self.space.has_twins and self.space.open_levels),
            **self._known_beforehand,
            units=self.space.units,
        )

    @property
    def _known_beforehand(self) -> dict[str, Any]:
        """Arguments of a law besides the sample."""
        return {
            "loss_range": self.loss.range,
            "binary_losses": self.loss.binary,
            "most_gain": self.most_gain,
            "fixed_targets": self.fixed_targets,
        }

    @cached_property
    def methods(self) -> Any:
        """A table of several methods' bounds side by side, in the library of the audit data."""
        rows = [vars(method_limits(law, self.alpha)) for law in self.compared_laws]
        return self.as_table({name: [row[name] for row in rows] for name in rows[0]})

    @cached_property
    def moves(self) -> Any:
        """A table of the swaps: all moves, those that add most first.

        Columns: the profile that people leave (``from_…``) and the one they are compared with
        (``to_…``), what changed, the label, the number of people, prediction and loss before and
        after, the cost, and whether another target would have been as bad (``tied``).
        """
        return self.as_table(self._moves_columns())

    def _moves_columns(self) -> dict[str, Sequence[Prediction]]:
        """Return all moves as columns; not cached, as they can be many."""
        return build_moves_columns(
            self.moved, self.space, self.answers.predictions, self.problem.losses
        )

    def write_moves(self, path: str | Path) -> Path:
        """Write all moves, as CSV or Parquet by the ending of the path.

        Scores have a column for each class. The file is about single people: protect it like the
        audit data.

        Parameters
        ----------
        path
            Path of the file, ending in .csv or .parquet.

        Returns
        -------
        Path
            Path of the file.

        Raises
        ------
        InputError
            If the path has another ending.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.write_moves(f"{folder}/moves.csv").read_text("utf-8").split(",")[:4]
        ['from_sex', 'from_grade', 'to_sex', 'to_grade']
        """
        from fairtransport.explain.moves import encode_moves

        place = Path(path)
        classes = self.answers.classes
        return write_bytes(place, encode_moves(place, self._moves_columns(), classes))

    def flows(self, feature: str) -> Any:
        """Return the change in counts by a feature against the sensitive groups.

        One row for each label, level of the feature and combination of the sensitive features: the
        numbers of people, of those moved out and moved in, and the change, as in the paper's Figure
        2. With targets that do not depend on the sample and no budget there are simultaneous limits
        of the change and Holm's p-values, otherwise missing values.

        Parameters
        ----------
        feature
            A column of the profile.

        Returns
        -------
        DataFrame
            In the library of the audit data.

        Raises
        ------
        InputError
            If the audit has no such column.

        Examples
        --------
        >>> flows = result.flows("grade")
        >>> flows[flows["out"] > 0][["label", "level", "sex", "people", "out", "into", "change"]]
            label  level sex  people   out  into  change
        13      1      3   m    50.0  50.0   0.0   -50.0
        """
        check_choice("feature", feature, self.space.profile)
        table = flow_table(
            self.moved, self.space, feature, alpha=self.alpha, fixed=self.plan_is_fixed
        )
        cells = table.cells
        columns: dict[str, list[Value]] = {}
        if self.space.label is not None:
            columns["label"] = [cell.label for cell in cells]
        columns["level"] = [cell.level for cell in cells]
        for name in self.space.sensitive:
            columns[name] = [cell.group[name] for cell in cells]
        for name in ("people", "out", "into", "change", "lower", "upper", "pvalue"):
            columns[name] = [getattr(cell, name) for cell in cells]
        return self.as_table(columns)

    def add_to_model_card(self, path: str | Path, *, share: int | None = None) -> Path:
        r"""Write the short report into a model card, as a section that the next audit replaces.

        Parameters
        ----------
        path
            A Markdown file, such as the README.md of a model on the Hugging Face Hub; it is created
            if missing. Other content is kept.
        share
            As in `document`.

        Returns
        -------
        Path
            Path of the card.

        Raises
        ------
        InputError
            If ``share`` is not a whole number of at least 2.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     card = Path(folder, "README.md")
        ...     size = card.write_text("# The model\n")
        ...     text = result.add_to_model_card(card).read_text("utf-8")
        >>> text.startswith("# The model"), "rejected" in text
        (True, True)
        """
        from fairtransport.report.exports import with_section

        place = Path(path)
        card = place.read_text("utf-8") if place.exists() else ""
        return write_text(place, with_section(card, self.document(share)))

    def log_to_mlflow(self, run_id: str | None = None, *, share: int | None = None) -> str:
        """Log the audit to an MLflow run: metrics, settings, verdict, report and document.

        Parameters
        ----------
        run_id
            The run; default: the active one, or a new one.
        share
            As in `document`.

        Returns
        -------
        str
            The ID of the run.

        Raises
        ------
        InputError
            If ``share`` is not a whole number of at least 2.

        Examples
        --------
        >>> import mlflow, os, tempfile
        >>> os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # not needed for servers and databases
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     before = mlflow.get_tracking_uri()
        ...     mlflow.set_tracking_uri(f"file://{folder}/runs")
        ...     experiment = mlflow.set_experiment("audits")
        ...     run = mlflow.get_run(result.log_to_mlflow())
        ...     mlflow.end_run()
        ...     mlflow.set_tracking_uri(before)
        >>> run.data.metrics["fairtransport.statistic"], run.data.tags["fairtransport.verdict"]
        (0.125, 'rejected')
        """
        from fairtransport.report.exports import log_summary

        return log_summary(self.document(share), run_id)

    def plot(self, kind: str = "flows", feature: str | None = None) -> ChartType:
        """Return an Altair chart.

        Parameters
        ----------
        kind
            "flows" (the change in counts by a feature), "law" (the sampling law with the
            bounds), "budget" (the statistic at every budget) or "methods" (bounds side by
            side).
        feature
            The feature of the flows; default: the first that is not sensitive.

        Returns
        -------
        altair.Chart
            A chart whose ``save`` writes HTML, PNG or SVG.

        Raises
        ------
        InputError
            If there is no such kind of chart, or no flow of that feature.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.plot("law").save(f"{folder}/law.svg")
        ...     Path(folder, "law.svg").read_text("utf-8")[:4]
        '<svg'
        """
        from fairtransport.report.charts.specs import picture

        check_choice("kind", kind, PLOTS)
        if feature is not None:
            check_choice("feature", feature, [table.feature for table in self.summary.flows])
        return picture(self.summary, kind, feature)

    def document(
        self,
        share: int | None = None,
        *,
        title: str | None = None,
        date: str | dt.date | None = None,
        auditor: str | None = None,
        data_name: str | None = None,
        max_moves: int = 500,
        reference: Mapping[str, object] | str | None = None,
        min_share: float = 0.0,
    ) -> AuditSummary:
        """Return the whole audit as one document.

        Parameters
        ----------
        share
            Leave out cells with fewer people than this, and the hash of the data, so that
            the document can be handed over without the audit data; None leaves out nothing.
        title
            Heading of the report. Default: "Audit for individual bias".
        date
            Date of the report, such as 2026-03-31. Reports carry a date only if you set one.
        auditor
            Who audits.
        data_name
            Name of the audit data in the report.
        max_moves
            Maximum number of moves in a document; those that add most come first. `moves` has
            all.
        reference
            Group that the others are compared with in the rates by group, as in ``{"race":
            "Caucasian"}``; "highest" for the one with the highest rate. Default: the largest.
        min_share
            Groups with a smaller share of the people are listed but not compared in the rates by
            group.

        Returns
        -------
        AuditSummary
            The fields of the JSON document.

        Examples
        --------
        >>> shared = result.document(share=5)
        >>> result.document().provenance.data_sha256 is None, shared.provenance.data_sha256 is None
        (False, True)
        """
        options = DocumentOptions(
            title=title, date=date, auditor=auditor, data_name=data_name, max_moves=max_moves,
            reference=reference, min_share=min_share,
        )  # fmt: skip
        summary = replace(self._summarise(options), proxies=self.proxy_list)
        if share is None:
            return summary
        self._check_independent("share")
        return redact(self, summary, check_integer("share", share, at_least=2), options)

    def group_metrics(
        self,
        reference: Mapping[str, object] | str | None = None,
        *,
        min_share: float = 0.0,
    ) -> GroupComparisons:
        """Return rates by group, by each sensitive feature and by all of them together.

        The rates are those of the favourable label (or of each label) and of errors, with
        difference and ratio to a reference group. The intervals of one rate by one feature hold
        together at level 1 − α, at every sample size.

        Parameters
        ----------
        reference
            Reference group by sensitive feature; "highest" for the group with the highest rate, as
            in impact ratios. Default: the largest group.
        min_share
            Groups with a smaller share of the people are listed but not compared, and are never
            the group with the highest rate.

        Returns
        -------
        GroupComparisons
            A tuple of comparisons, whose ``table()`` is a frame; empty if answers are not
            decisions.

        Raises
        ------
        InputError
            If a group does not occur.

        Examples
        --------
        >>> hiring = ft.audit(people, "good", model=hires, sensitive_features="sex", favourable=1)
        >>> [comparison] = hiring.group_metrics(reference={"sex": "m"})
        >>> comparison.statistical_parity_difference
        -0.25
        >>> women, men = comparison.rates[0].groups
        >>> women.rate, men.rate, women.ratio
        (0.25, 0.5, 0.5)
        >>> round(women.ratio_lower, 2), round(women.ratio_upper, 2)
        (0.34, 0.71)
        """
        options = DocumentOptions(reference=reference, min_share=min_share)
        comparisons = compare_groups(self, options)
        return gather_comparisons((one.metrics for one in comparisons), self.space.library)

    def overlap(self, train: TableLike) -> Self:
        """Return the result with a note on people who occur in the training data.

        The guarantees of an audit are for people that the model has not seen.

        Parameters
        ----------
        train
            Training data of the model: a frame or a path.

        Returns
        -------
        AuditResult
            ``training_overlap`` is the number of people with the same columns as someone in the
            training data; ``warnings`` and documents mention it if it is not 0.

        Raises
        ------
        InputError
            If the training data lack columns of the audit.

        Examples
        --------
        >>> checked = result.overlap(people.head(4))
        >>> checked.training_overlap
        200
        """
        count = count_shared_people(self.space, train)
        note = Note(
            "{count} of {n} people have the same values in all columns as a person in the training "
            "data. The guarantees are valid only if they are different people.",
            count=Count(count), n=self.n,
        )  # fmt: skip
        warnings = (*self.warnings, note) if count else self.warnings
        return replace(self, training_overlap=count, warnings=warnings)

    @property
    def summary(self) -> AuditSummary:
        """The whole audit as one document."""
        return self.document()

    @property
    def headline(self) -> AuditSummary:
        """What a screen shows of the audit, without slow parts that only a document shows."""
        return replace(self._headline, proxies=self.proxy_list)

    def _summarise(self, options: DocumentOptions) -> AuditSummary:
        key = (options.max_moves, repr(options.reference), options.min_share)
        if key not in self._details:
            self._details[key] = summarise(self, self._headline, options)
        details = self._details[key]
        return replace(details, provenance=replace(details.provenance, **options.head))

    @cached_property
    def _details(self) -> dict[tuple[object, ...], AuditSummary]:
        """Cache of the slow parts of documents."""
        return {}

    @cached_property
    def _headline(self) -> AuditSummary:
        return summarise_headline(self)

    def _check_independent(self, name: str) -> None:
        """Reject methods that are proved for independent people only, if there are units."""
        if self.space.units is not None:
            msg = (
                f"{param(name)} is for independent people, got an audit with {param('clusters')} "
                f"or {param('sample_weight')}"
            )
            raise InputError(msg)

    def as_table(self, columns: Mapping[str, Sequence[Value]]) -> IntoDataFrame:
        """Return columns as a frame in the library of the audit data.

        Parameters
        ----------
        columns
            Lists of equal length, by name.

        Returns
        -------
        DataFrame
            In the library of the audit data.

        Examples
        --------
        >>> result.as_table({"sex": ["f", "m"], "share": [0.5, 0.5]})
          sex  share
        0   f    0.5
        1   m    0.5
        """
        return plain_frame(columns, self.space.library)

    def sensitivity(self, *, eta: float = 0.1, draws: int = 20) -> Sensitivity:
        """Return what the result depends on: metric, threshold, budget, features.

        Parameters
        ----------
        eta
            Relative error of squared distances.
        draws
            Number of random metrics.

        Returns
        -------
        Sensitivity
            ``metric``, ``flips`` and ``features``.

        Raises
        ------
        InputError
            If ``eta`` is not between 0 and 1, or ``draws`` is not a whole number.

        Examples
        --------
        >>> sensitivity = result.sensitivity(draws=3)
        >>> sensitivity.flips.rejected_below == result.lower_bound
        True
        """
        return find_sensitivity(self, eta, draws)

    def proxies(self, model: object = None, *, rng: Rng = None) -> Self:
        """Return the result with the columns that predict each sensitive feature.

        Parameters
        ----------
        model
            The audited model, which is then queried to find how much the swaps that need sensitive
            features to change add with one column changed alone, and with all but that one; None
            leaves this out.
        rng
            Seed or numpy generator for splitting people in halves; default: the audit's seed.

        Returns
        -------
        AuditResult
            ``proxy_list`` has for each sensitive feature the accuracy of its prediction and the
            columns that predict it; documents have a section on it.

        Raises
        ------
        InputError
            If no columns could predict it.

        Notes
        -----
        A predictor (a random forest) is fitted on half of the people, at most 4,000 in all, and
        tested on the others. Given it, those are independent draws, so that the exact intervals of
        the shares of each level that are predicted correctly hold together at every sample size;
        their mean is the interval of the balanced accuracy. It is about this predictor: another may
        predict a feature that this one does not. A column that adds little to others has a high
        accuracy alone and leaves one as high without it. Swaps with one column put back may be of
        impossible people; their gains need not sum to the whole. Of more than 30 columns, those
        that the predictor uses most are examined singly.

        Examples
        --------
        >>> import numpy as np
        >>> height = np.where(people["sex"] == "f", 165, 178) + np.arange(400) % 7
        >>> tall = ft.audit(people.assign(height=height), "good", model=hires,
        ...                 features=["grade", "sex", "height"], sensitive_features="sex", rng=0)
        >>> (sex,) = tall.proxies().proxy_list
        >>> sex.feature, round(sex.accuracy, 2), sex.columns[0].name
        ('sex', 1.0, 'height')
        """
        self._check_independent("proxies")
        oracle = None if model is None else reopen_oracle(self, model)
        return replace(self, proxy_list=find_proxies(self, oracle, rng))

    def __str__(self) -> str:
        from fairtransport.report.terminal import result_text

        return result_text(self.headline, f"{self.model}, {self.n:,} people")

    def __repr__(self) -> str:
        ends = self.judged_bounds
        name, value = "statistic", self.statistic
        if self.rates is not None:
            name, value = "R", self.rates.value
        elif self.is_about_part:
            name, value = "attributable", self.attributable.value
        figures = {name: value, "lower_bound": ends.lower, "upper_bound": ends.upper}
        texts = [f"{key}={number:.4f}" for key, number in figures.items()]
        count = len(self.headline.warnings)
        notes = f", notes={count}" if count else ""
        verdict = f"verdict={self.verdict!r}"
        return f"AuditResult({verdict}, {', '.join(texts)}, delta={self.delta}{notes})"
