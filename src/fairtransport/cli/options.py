"""What flags become: the arguments that `audit` and `Monitor` take."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairtransport.access.boxes import BlackBox
    from fairtransport.similarity import Similarity
    from fairtransport.space.columns import Value


class CaseOptions(TypedDict):
    """What the columns of a file mean."""

    sensitive_features: list[str]
    features: Sequence[str] | None
    pos_label: Value
    bins: Mapping[str, Sequence[float]]
    levels: Mapping[str, Sequence[Value]] | None
    missing: str


class PredictionOptions(TypedDict):
    """The predictions that are given."""

    y_pred: str | None
    y_score: list[str] | None


class AnswerOptions(PredictionOptions):
    """Where predictions come from."""

    model: BlackBox | None


class QuestionOptions(TypedDict):
    """How the model is asked."""

    query_log: Path | None
    repeats: int | None
    draws: int
    ask_until_sure: bool
    budget_of_questions: int | None
    proxies: bool
    twins: str | Mapping[str, object] | None


class WorkOptions(TypedDict):
    """How long and in how much memory an audit may work."""

    time_limit: float | None
    search_rounds: int | None
    memory: str | None


class ComparisonOptions(TypedDict):
    """Who is compared with whom, and by which loss."""

    similarity: str | Similarity
    loss: str
    loss_range: list[float] | None
    budget: float
    disagreement: str
