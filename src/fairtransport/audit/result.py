"""AuditResult: what an audit found, and the ways to show it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.audit.shared import shared_summary
from fairtransport.audit.summarise import COMPARED, method_limits, summarise
from fairtransport.checks import choice, whole
from fairtransport.errors import InputError
from fairtransport.filesystem import write_text
from fairtransport.geometry import Geometry
from fairtransport.inference import Interval, Pilot, SamplingLaw, sampling_law
from fairtransport.inference.verdict import Verdict, reach_verdict
from fairtransport.localise import Move, Moved, describe_moves, find_moved, flow_table
from fairtransport.localise.moves import moves_columns
from fairtransport.transport import AuditProblem, BudgetCurve, Solution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scipy.sparse import csr_array

    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.audit.dependence import Sensitivity
    from fairtransport.losses import Loss
    from fairtransport.similarity import Similarity
    from fairtransport.space import SampleSpace
    from fairtransport.summary import AuditSummary

PLOTS = ("flows", "law", "budget", "methods")


@dataclass(frozen=True, eq=False)
class AuditResult:
    """What an audit found.

    Attributes
    ----------
    space, answers, similarity, solution
        What was audited, what the model said at every point, who is comparable, and the
        solution of the transport problem.
    model
        The model's name.
    target_scope
        "twins": mass moves between people who differ in sensitive features alone, all of
        them asked about; "reference": to the points of a reference frame; "observed": to
        points of the audit sample, so that the value may miss people who are not in it.
    delta, alpha
        The threshold of δ-fairness, if there is one, and the level of bounds and tests.
    method, n_resamples, seed
        How the bounds are made.
    favourable, privileged
        The label that is good to receive and, by sensitive feature, the group that others
        are compared with, for group metrics.
    warnings
        What a reader of the numbers should know.
    settings_taken
        The flags whose values came from a settings file, for the provenance.
    """

    space: SampleSpace
    answers: AnsweredPoints
    similarity: Similarity
    solution: Solution
    model: str
    target_scope: str
    delta: float | None = None
    alpha: float = 0.05
    method: str = "finite-sample"
    n_resamples: int = 2000
    seed: int = 0
    favourable: Any = None
    privileged: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    settings_taken: tuple[str, ...] = ()

    @property
    def loss(self) -> Loss:
        """The loss, with its range as far as it is known without the data."""
        return self.answers.loss

    @property
    def queried(self) -> int:
        """How many distinct questions the model was asked; 0 with predictions only."""
        return self.answers.queried

    @cached_property
    def law(self) -> SamplingLaw:
        """What the sample says about the population's value, by the chosen method."""
        return self._law(self.method)

    @cached_property
    def interval(self) -> Interval:
        """The two-sided confidence interval at level 1 − α."""
        return self.law.interval(self.alpha)

    @cached_property
    def lower_bound(self) -> float:
        """The one-sided lower confidence bound at level 1 − α."""
        return self.law.lower_bound(self.alpha)

    @cached_property
    def upper_bound(self) -> float:
        """The one-sided upper confidence bound at level 1 − α; infinite if there is none."""
        return self.law.upper_bound(self.alpha)

    @cached_property
    def pvalue(self) -> float | None:
        """The p-value of δ-fairness, H0: ψ <= δ; None without δ."""
        return None if self.delta is None else self.law.pvalue(self.delta)

    @cached_property
    def verdict(self) -> Verdict | None:
        """What the tests at δ say (rejected, certified, inconclusive); None without δ."""
        if self.delta is None:
            return None
        return reach_verdict(
            rejected=self.law.rejects(self.delta, self.alpha),
            certified=self.law.certifies(self.delta, self.alpha),
        )

    @property
    def guarantee(self) -> str:
        """What the bounds promise: "finite-sample" or "asymptotic"."""
        return self.law.guarantee

    @cached_property
    def methods(self) -> Any:
        """A table of several methods' bounds side by side, in the library of the audit data."""
        rows = [vars(method_limits(law, self.alpha)) for law in self.compared_laws]
        return self._table({name: [row[name] for row in rows] for name in rows[0]})

    @cached_property
    def compared_laws(self) -> tuple[SamplingLaw, ...]:
        """The laws of the methods that can be compared; some need a loss with a known range."""
        able = [name for name in COMPARED if name != "finite-sample" or self.loss.range is not None]
        laws = (self.law if name == self.method else self._law(name) for name in able)
        # a law of few draws has no bounds at a small level
        return tuple(law for law in laws if law.smallest_level <= self.alpha / 2)

    @cached_property
    def moved(self) -> Moved:
        """Who the optimal plan moves, as arrays over the points."""
        return find_moved(self.solution, self.n)

    @cached_property
    def moves(self) -> Any:
        """A table of who is swapped with whom, the largest moves first.

        Columns: the profile that people leave (``from_…``) and the one they are compared
        with (``to_…``), what changed, the label, how many people, prediction and loss before
        and after, the cost, and whether another target would have been as bad (``tied``).
        """
        return self._table(moves_columns(self.largest_moves(), self.space))

    def largest_moves(self, most: int | None = None) -> tuple[Move, ...]:
        """Return the moves in people's terms, or the largest of them."""
        return describe_moves(
            self.moved.take(slice(most)), self.space, self.answers.predictions, self.problem.losses
        )

    def flows(self, feature: str) -> Any:
        """Return the change in counts by a feature against the sensitive groups.

        One row for each label, level of the feature and combination of the sensitive
        features: how many people there are, are moved out, are moved in, and the change, as
        in the paper's Figure 2. With targets that do not depend on the sample and no budget
        there are simultaneous limits of the change and Holm's p-values, else missing values.
        """
        choice("feature", feature, self.space.profile)
        table = flow_table(
            self.moved, self.space, feature, alpha=self.alpha, fixed=self.targets_are_fixed
        )
        cells = table.cells
        columns: dict[str, list[Any]] = {}
        if self.space.label is not None:
            columns["label"] = [cell.label for cell in cells]
        columns["level"] = [cell.level for cell in cells]
        for name in self.space.sensitive:
            columns[name] = [cell.group[name] for cell in cells]
        for name in ("people", "out", "into", "change", "lower", "upper", "pvalue"):
            columns[name] = [getattr(cell, name) for cell in cells]
        return self._table(columns)

    @property
    def fixed_targets(self) -> bool:
        """Whether mass may arrive at points that do not depend on the sample.

        A reference frame that is a part of the audit data, or mostly made of them, does.
        """
        reference = self.space.reference
        if self.target_scope == "reference" and reference is not None:
            return not reference.is_from_the_sample
        return self.target_scope != "observed"

    @property
    def targets_are_fixed(self) -> bool:
        """Whether each point's target depends neither on the sample nor on the budget."""
        return self.fixed_targets and self.problem.budget == 0

    def as_pilot(self) -> Pilot:
        """Return what `sample_size` has to know to plan an audit like this one.

        An audit takes points from its sample, each with its twins where the model is asked;
        twins have the levels of the sample unless these were declared.
        """
        space = self.space
        # else all points that matter will be there, whoever is sampled
        varies = not self.fixed_targets or (self.target_scope == "twins" and space.open_levels)
        asked = varies and space.has_twins
        return Pilot(
            self.problem, space.frequencies, **self._known_beforehand,
            families=space.families if varies else None,
            open_levels=space.codes(space.open_levels) if asked else None,
            delta=self.delta, alpha=self.alpha, method=self.method, n_resamples=self.n_resamples,
        )  # fmt: skip

    @property
    def _known_beforehand(self) -> dict[str, Any]:
        """What a law is told besides the sample."""
        return {
            "loss_range": self.loss.range,
            "binary_losses": self.loss.binary,
            "most_gain": self._most_gain,
            "fixed_targets": self.fixed_targets,
        }

    @property
    def _most_gain(self) -> float | None:
        """The largest gain there can be, as far as a reference frame tells it.

        Its points were all asked about and do not depend on the sample: nobody can be moved to
        a larger loss than the largest there, from less than the least that the loss allows.
        """
        targets = self.problem.geometry.targets
        if targets is None or self.loss.range is None or not self.fixed_targets:
            return None
        return max(float(self.problem.losses[targets].max()) - self.loss.range[0], 0.0)

    @cached_property
    def summary(self) -> AuditSummary:
        """Everything the audit says, as one document."""
        return summarise(self)

    def to_html(self, path: str | Path, *, share: int | None = None) -> Path:
        """Write the report, one file that needs nothing else.

        Parameters
        ----------
        path
            Where to.
        share
            Leave out cells with fewer people than this, and the hash of the data, so that
            the report can be handed over without the audit data; None leaves out nothing.
        """
        from fairtransport.report.html import render_html

        return write_text(Path(path), render_html(self.document(share)))

    def to_json(self, path: str | Path, *, share: int | None = None) -> Path:
        """Write the document as JSON; ``share`` as in `to_html`."""
        return write_text(Path(path), self.document(share).to_json())

    def to_markdown(self, *, share: int | None = None) -> str:
        """Return a short report for a model card or a pull request; ``share`` as in `to_html`."""
        from fairtransport.report.markdown import render_markdown

        return render_markdown(self.document(share))

    def plot(self, kind: str = "flows", feature: str | None = None) -> Any:
        """Return an Altair chart.

        Parameters
        ----------
        kind
            "flows" (the change in counts by a feature), "law" (the sampling law with the
            bounds), "budget" (the statistic at every budget) or "methods" (bounds side by
            side).
        feature
            The feature of the flows; default: the first that is not sensitive.
        """
        from fairtransport.report.pictures import picture

        choice("kind", kind, PLOTS)
        if feature is not None:
            choice("feature", feature, [table.feature for table in self.summary.flows])
        return picture(self.summary, kind, feature)

    def _repr_html_(self) -> str:
        from fairtransport.report.notebook import render_fragment

        return render_fragment(self.summary)

    def document(self, share: int | None = None) -> AuditSummary:
        """Return everything the audit says; ``share`` as in `to_html`."""
        if share is None:
            return self.summary
        return shared_summary(self, whole("share", share, at_least=2))

    def _table(self, columns: dict[str, list[Any]]) -> Any:
        import narwhals as nw

        backend: Any = self.space.library
        return nw.from_dict(columns, backend=backend).to_native()

    def _law(self, method: str) -> SamplingLaw:
        if method == "finite-sample" and self.loss.range is None:
            msg = (
                f"`loss_range` must be given for the loss {self.loss.name!r} with the method "
                "'finite-sample', got None"
            )
            raise InputError(msg)
        return sampling_law(
            self.problem,
            self.space.counts,
            method=method,
            n_resamples=self.n_resamples,
            rng=self.seed,
            alpha=self.alpha,
            delta=self.delta,
            **self._known_beforehand,
        )

    @property
    def problem(self) -> AuditProblem:
        """The transport problem behind the result."""
        return self.solution.problem

    @property
    def statistic(self) -> float:
        """The FaiTH statistic ψ(f_n): how much worse the model does when people are swapped."""
        return self.solution.value

    @property
    def baseline_risk(self) -> float:
        """The mean loss on the audit data."""
        return float(self.space.frequencies @ self.problem.losses)

    @property
    def worst_case_risk(self) -> float:
        """The mean loss after people were swapped with similar ones."""
        return self.baseline_risk + self.statistic

    @property
    def n(self) -> int:
        """The number of people in the audit data."""
        return self.space.n

    @property
    def points(self) -> int:
        """The number of distinct points, K, those that only are targets included."""
        return self.space.size

    @property
    def price(self) -> float:
        """What a little more budget would add to the statistic, per unit of budget."""
        return self.solution.price

    @property
    def plan(self) -> csr_array[Any]:
        """The optimal plan: the share of people moved from each point (row) to each target."""
        return self.solution.plan

    @cached_property
    def budget_curve(self) -> BudgetCurve:
        """The statistic at every budget."""
        return self.problem.budget_curve(self.space.frequencies)

    def at_budget(self, budget: float) -> AuditResult:
        """Return the whole result at another budget, from the same frontiers."""
        problem = self.problem.with_budget(budget)
        return replace(self, solution=problem.solve(self.space.frequencies))

    def sensitivity(self, *, eta: float = 0.1, draws: int = 20) -> Sensitivity:
        """Return what the result depends on: metric, threshold, budget, features.

        Parameters
        ----------
        eta
            How wrong squared distances may be, as a share of each.
        draws
            The number of random metrics to try.
        """
        from fairtransport.audit.dependence import find_sensitivity

        return find_sensitivity(self, eta, draws)

    @cached_property
    def disagreement(self) -> float:
        """The part of the statistic that is different predictions for one and the same profile.

        Only given predictions can disagree so; it is 0 with query access.
        """
        if not self.space.predictions:
            return 0.0
        label = () if self.space.label is None else (self.space.label,)
        blocks = self.space.groups((*self.space.profile, *label))
        same_profile = Geometry(blocks, targets=self.problem.geometry.targets)
        return AuditProblem(self.problem.losses, same_profile).value(self.space.frequencies)

    def __repr__(self) -> str:
        return (
            f"AuditResult(statistic={self.statistic:.4f}, n={self.n}, points={self.points}, "
            f"budget={self.problem.budget:g}, target_scope={self.target_scope!r})"
        )
