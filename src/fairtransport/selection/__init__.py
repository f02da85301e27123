"""Choose a model under the δ-fairness constraint (Section 5.2 of the paper)."""

from fairtransport.selection.scorer import (
    DeltaFairRefit,
    FaithScorer,
    delta_fair_refit,
    faith_scorer,
)
from fairtransport.selection.search import DeltaFairSearch

__all__ = ["DeltaFairRefit", "DeltaFairSearch", "FaithScorer", "delta_fair_refit", "faith_scorer"]
