"""audit(): the walk from data and a black box to a result, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.answers import answer_everywhere, choose_access
from fairtransport.checks import choice, number, shown
from fairtransport.errors import InputError
from fairtransport.geometry import Geometry
from fairtransport.inference import METHODS, Interval, SamplingLaw, sampling_law
from fairtransport.inference.verdict import Verdict, reach_verdict
from fairtransport.losses import Loss, as_loss
from fairtransport.similarity import Similarity, as_similarity
from fairtransport.similarity.base import Parameters
from fairtransport.space import SampleSpace, build_space
from fairtransport.transport import AuditProblem, BudgetCurve, Solution

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from scipy.sparse import csr_array


COMPARED = ("finite-sample", "limit-law", "m-out-of-n")
"""The methods that a result shows side by side."""


@dataclass(frozen=True, eq=False)
class AuditResult:
    """What an audit found.

    Attributes
    ----------
    space, loss, similarity, solution
        What was audited, and the solution of its transport problem.
    queried
        How many distinct questions the model was asked; 0 with predictions only.
    target_scope
        "twins": mass moves between people who differ in sensitive features alone, all of
        them asked about; "reference": to the points of a reference frame; "observed": to
        points of the audit sample, so that the value may miss people who are not in it.
    delta, alpha
        The threshold of δ-fairness, if there is one, and the level of bounds and tests.
    method, n_resamples, seed
        How the bounds are made.
    warnings
        What a reader of the numbers should know.
    """

    space: SampleSpace
    loss: Loss
    similarity: Similarity
    solution: Solution
    queried: int
    target_scope: str
    delta: float | None = None
    alpha: float = 0.05
    method: str = "finite-sample"
    n_resamples: int = 2000
    seed: int = 0
    warnings: tuple[str, ...] = ()

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
        """What the bounds say of δ-fairness (rejected, certified, inconclusive); None without δ."""
        if self.delta is None:
            return None
        return reach_verdict(self.lower_bound, self.upper_bound, self.delta)

    @property
    def guarantee(self) -> str:
        """What the bounds promise: "finite-sample" or "asymptotic"."""
        return self.law.guarantee

    @cached_property
    def methods(self) -> Any:
        """A table of several methods' bounds side by side, in the library of the audit data."""
        import narwhals as nw

        laws = [self._law(method) for method in COMPARED]
        intervals = [law.interval(self.alpha) for law in laws]
        backend: Any = self.space.library
        return nw.from_dict(
            {
                "method": [law.method for law in laws],
                "guarantee": [law.guarantee for law in laws],
                "lower": [interval.lower for interval in intervals],
                "upper": [interval.upper for interval in intervals],
                "lower_bound": [law.lower_bound(self.alpha) for law in laws],
                "upper_bound": [law.upper_bound(self.alpha) for law in laws],
            },
            backend=backend,
        ).to_native()

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
            loss_range=self.loss.range,
            fixed_targets=self.target_scope != "observed",
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


def audit(
    X: Any,  # noqa: N803
    y: Any = None,
    *,
    model: Any = None,
    y_pred: Any = None,
    y_score: Any = None,
    sensitive_features: Any,
    features: Sequence[str] | None = None,
    counts: str | None = None,
    pos_label: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[Any]] | None = None,
    targets: Any = None,
    similarity: Any = "ignore-sensitive",
    loss: Any = "zero-one",
    loss_range: Sequence[float] | None = None,
    budget: float = 0.0,
    delta: float | None = None,
    alpha: float = 0.05,
    method: str = "finite-sample",
    n_resamples: int = 2000,
    rng: Any = None,
) -> AuditResult:
    """Audit a model for individual bias.

    Parameters
    ----------
    X
        The audit data: any data frame that narwhals knows (pandas, polars, pyarrow, DuckDB, …)
        or a path to a CSV, Parquet or JSON-lines file.
    y
        The true labels: a column's name, or an array for eager frames.
    model
        Query access: an estimator with ``predict`` (and ``predict_proba``), or a callable that
        takes a frame of points. Exactly one of ``model``, ``y_pred`` and ``y_score`` is given.
    y_pred, y_score
        Predictions only: labels (or numbers), or the positive label's score (or one column a
        class): a column's name or an array.
    sensitive_features
        Column names, or a frame aligned with X.
    features
        The columns the model receives; default: those it was fitted on if it remembers them,
        else all but label, counts and predictions.
    counts
        A column of whole numbers: how many people a row stands for.
    pos_label
        The positive label, as in scikit-learn.
    bins
        Edges for numeric columns, as in ``{"age": [25, 45]}``; the model then receives the
        bins' names.
    missing
        "error", or "level": a missing value is a level of its own.
    levels
        Declared levels of sensitive features; default: those observed.
    targets
        A frame of points that mass may move to instead of the observed ones.
    similarity
        Who is comparable: a name or a similarity object.
    loss
        "zero-one", "log", "brier", "absolute", "squared", "outcome", a `Loss`, or a callable
        ``loss(y, prediction)``.
    loss_range
        Limits of a loss that has none of its own.
    budget
        ε, how far people may be moved on average, as a squared distance.
    delta
        δ, how much worse the model may do; there is a verdict only with it.
    alpha
        The level of bounds and tests.
    method
        "finite-sample", whose bounds hold at every sample size, or an asymptotic one:
        "m-out-of-n", "numerical", "subsampling", "limit-law", "efron".
    n_resamples
        The number of draws of the resampling methods.
    rng
        A seed or a numpy generator; None draws a seed. The seed is recorded.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"group": ["a", "a", "b", "b"], "good": [1, 0, 1, 0]})
    >>> result = audit(people, "good", model=lambda x: (x["group"] == "a").astype(int),
    ...                features=["group"], sensitive_features=["group"])
    >>> result.statistic, result.baseline_risk, result.worst_case_risk
    (0.5, 0.5, 1.0)
    """
    chosen_loss = as_loss(loss, loss_range)
    choice("method", method, METHODS)
    level = number("alpha", alpha, above=0, below=1)
    threshold = None if delta is None else number("delta", delta, at_least=0)
    chosen_similarity = as_similarity(similarity)
    access = choose_access(model, y_pred, y_score, chosen_loss)
    if chosen_loss.uses_truth and y is None:
        msg = f"`y` must be given for the loss {chosen_loss.name!r}, got None"
        raise InputError(msg)
    space = build_space(
        X,
        y,
        sensitive_features=sensitive_features,
        predictions=access.given,
        prediction_parameter=access.parameter,
        features=access.features if features is None else features,
        counts=counts,
        bins=bins,
        missing=missing,
        levels=levels,
        targets=targets,
        twins=access.box is not None,
        label_matters=chosen_loss.uses_truth,
    )
    answers = answer_everywhere(space, access, chosen_loss, pos_label)
    problem = AuditProblem(answers.losses, chosen_similarity.geometry(space), budget=budget)
    scope = _target_scope(space, chosen_similarity)
    result = AuditResult(
        space, answers.loss, chosen_similarity, problem.solve(space.frequencies),
        answers.queried, scope, threshold, level, method, n_resamples, _seed(rng),
    )  # fmt: skip
    declared = {*(levels or {}), *(bins or {})}
    return replace(result, warnings=tuple(_warnings(result, declared)))


def _seed(rng: Any) -> int:
    """Return a seed that can be recorded."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return int(np.random.default_rng(rng).integers(2**32))
    msg = f"`rng` must be a seed >= 0, a numpy generator or None, got {shown(rng)}"
    raise InputError(msg)


def _target_scope(space: SampleSpace, similarity: Similarity) -> str:
    if space.has_twins and similarity.moves_only_to_twins:
        return "twins"
    return "observed" if space.targets is None else "reference"


def _warnings(result: AuditResult, declared: Collection[str]) -> Iterator[str]:
    space = result.space
    if isinstance(result.similarity, Parameters):
        yield from result.similarity.warnings(space)
    open_ended = [name for name in space.sensitive if name not in declared]
    if result.target_scope == "twins" and result.delta is not None and open_ended:
        yield (
            f"Twins take the levels of {', '.join(open_ended)} that occur in the data, and a "
            "certificate covers no others; declare `levels` if there are any."
        )
    unseen = [name for name in space.sensitive if name not in space.features]
    blind = len(unseen) == len(space.sensitive) and result.similarity.moves_only_to_twins
    if space.has_twins and blind:
        yield (
            f"The model receives no sensitive feature ({', '.join(unseen)}), and people who "
            "differ only in these count as equal: the statistic is 0 by construction."
        )
    if result.disagreement > 0:
        yield (
            f"One profile has different predictions: {result.disagreement:.4f} of the statistic "
            "comes from that alone, without any change of a sensitive feature."
        )
    if result.target_scope == "observed":
        yield (
            "People are compared only with people in the audit data, so the statistic may miss "
            "comparisons with others; nothing can be certified from it."
        )
