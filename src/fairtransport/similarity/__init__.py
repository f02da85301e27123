"""Who is comparable, in a user's terms: each similarity makes a Geometry over a SampleSpace."""

from fairtransport.similarity.base import Similarity
from fairtransport.similarity.checking import (
    ColumnDistance,
    SimilarityCheck,
    SimilarPair,
    check,
)
from fairtransport.similarity.comparable_groups import ComparableGroups
from fairtransport.similarity.comparable_pairs import ComparablePairs
from fairtransport.similarity.custom import Custom
from fairtransport.similarity.ignore_sensitive import IgnoreSensitive
from fairtransport.similarity.mixed_tabular import MixedTabular
from fairtransport.similarity.precomputed import Precomputed, load_precomputed
from fairtransport.similarity.registry import (
    SIMILARITIES,
    as_similarity,
    similarity_from_settings,
)
from fairtransport.similarity.scales import suggest_scales
from fairtransport.similarity.sensitive_subspace import SensitiveSubspace
from fairtransport.similarity.twins import Twins

__all__ = [
    "SIMILARITIES",
    "ColumnDistance",
    "ComparableGroups",
    "ComparablePairs",
    "Custom",
    "IgnoreSensitive",
    "MixedTabular",
    "Precomputed",
    "SensitiveSubspace",
    "SimilarPair",
    "Similarity",
    "SimilarityCheck",
    "Twins",
    "as_similarity",
    "check",
    "load_precomputed",
    "similarity_from_settings",
    "suggest_scales",
]
