"""How sure an audit is: laws of ψ(f_n), confidence bounds, tests."""

import fairtransport.compilation  # noqa: F401 - before any compiled function
from fairtransport.inference.laws import Interval, SamplingLaw
from fairtransport.inference.methods import (
    METHODS,
    default_size,
    difference_law,
    limit_at,
    sampling_law,
)
from fairtransport.inference.paper.min_of_normals import MinOfNormals
from fairtransport.inference.paper.quantile_laws import DrawnLaw, LimitLaw, PlugInLaw
from fairtransport.inference.planning.pilot import Pilot
from fairtransport.inference.planning.smallest_sample import PowerCurve, SamplePlan, sample_size

__all__ = [
    "METHODS",
    "DrawnLaw",
    "Interval",
    "LimitLaw",
    "MinOfNormals",
    "Pilot",
    "PlugInLaw",
    "PowerCurve",
    "SamplePlan",
    "SamplingLaw",
    "default_size",
    "difference_law",
    "limit_at",
    "sample_size",
    "sampling_law",
]
