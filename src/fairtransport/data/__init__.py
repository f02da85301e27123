"""Audit data: frames, files and databases are counted into a `SampleSpace`."""

from fairtransport.data.build import build_space
from fairtransport.data.controls import Controls
from fairtransport.data.design import Clusters, Weights
from fairtransport.data.sample_space import SampleSpace

__all__ = ["Clusters", "Controls", "SampleSpace", "Weights", "build_space"]
