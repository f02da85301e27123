"""audit(): the walk from data and a black box to a result, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairtransport.answers import answer_everywhere, choose_access
from fairtransport.errors import InputError
from fairtransport.geometry import Geometry
from fairtransport.losses import Loss, as_loss
from fairtransport.similarity import Similarity, as_similarity
from fairtransport.space import SampleSpace, build_space
from fairtransport.transport import AuditProblem, BudgetCurve, Solution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scipy.sparse import csr_array


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
    warnings
        What a reader of the numbers should know.
    """

    space: SampleSpace
    loss: Loss
    similarity: Similarity
    solution: Solution
    queried: int
    target_scope: str
    warnings: tuple[str, ...] = ()

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
        answers.queried, scope,
    )  # fmt: skip
    return replace(result, warnings=tuple(_warnings(result)))


def _target_scope(space: SampleSpace, similarity: Similarity) -> str:
    if space.has_twins and similarity.moves_only_to_twins:
        return "twins"
    return "observed" if space.targets is None else "reference"


def _warnings(result: AuditResult) -> Iterator[str]:
    space = result.space
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
