"""Similarities: who is comparable with whom, and at which cost."""

from fairtransport.similarity.base import Similarity
from fairtransport.similarity.comparable_groups import ComparableGroups
from fairtransport.similarity.comparable_pairs import ComparablePairs
from fairtransport.similarity.counterparts import Counterparts
from fairtransport.similarity.custom import Custom
from fairtransport.similarity.ignore_sensitive import IgnoreSensitive
from fairtransport.similarity.mixed_tabular import MixedTabular
from fairtransport.similarity.precomputed import Precomputed, load_precomputed
from fairtransport.similarity.registry import (
    SIMILARITIES,
    as_similarity,
    similarity_from_settings,
    suggest_scales,
)
from fairtransport.similarity.sensitive_subspace import SensitiveSubspace
from fairtransport.similarity.similarity_check import (
    ColumnDistance,
    SimilarityCheck,
    SimilarPair,
    check,
)

__all__ = [
    "SIMILARITIES",
    "ColumnDistance",
    "ComparableGroups",
    "ComparablePairs",
    "Counterparts",
    "Custom",
    "IgnoreSensitive",
    "MixedTabular",
    "Precomputed",
    "SensitiveSubspace",
    "SimilarPair",
    "Similarity",
    "SimilarityCheck",
    "as_similarity",
    "check",
    "load_precomputed",
    "similarity_from_settings",
    "suggest_scales",
]

SIMILARITIES |= {
    kind.name: kind
    for kind in (
        IgnoreSensitive,
        MixedTabular,
        SensitiveSubspace,
        ComparablePairs,
        ComparableGroups,
        Counterparts,
        Precomputed,
    )
}
