"""Who is comparable, in a user's terms: each similarity makes a Geometry over a SampleSpace."""

from fairtransport.similarity.base import Similarity
from fairtransport.similarity.ignore_sensitive import IgnoreSensitive
from fairtransport.similarity.precomputed import Precomputed
from fairtransport.similarity.registry import SIMILARITIES, as_similarity

__all__ = ["SIMILARITIES", "IgnoreSensitive", "Precomputed", "Similarity", "as_similarity"]
