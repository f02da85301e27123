"""Any data frame or file becomes a SampleSpace: the distinct points, labels, counts, targets."""

from fairtransport.space.build import build_space
from fairtransport.space.sample_space import SampleSpace

__all__ = ["SampleSpace", "build_space"]
