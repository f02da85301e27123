"""How sure an audit is: laws of ψ(f_n), confidence bounds, tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fairtransport.compilation  # noqa: F401 - before any compiled function
from fairtransport.inference.laws import Interval, SamplingLaw
from fairtransport.inference.methods import (
    METHODS,
    default_size,
    difference_law,
    limit_at,
    sampling_law,
)
from fairtransport.lazy import lazily

if TYPE_CHECKING:
    from fairtransport.inference.paper.min_of_normals import MinOfNormals
    from fairtransport.inference.paper.quantile_laws import DrawnLaw, LimitLaw, PlugInLaw
    from fairtransport.inference.planning.pilot import Pilot
    from fairtransport.inference.planning.smallest_sample import PowerCurve, SamplePlan, sample_size
    from fairtransport.inference.rates.entry import outcome_rate_law, rate_law, rate_laws
    from fairtransport.inference.rates.lower_bound import RateLaw
    from fairtransport.inference.rates.tables import RateTable, rate_table
    from fairtransport.inference.rates.upper_bound import RateCertificate

__all__ = [
    "METHODS",
    "DrawnLaw",
    "Interval",
    "LimitLaw",
    "MinOfNormals",
    "Pilot",
    "PlugInLaw",
    "PowerCurve",
    "RateCertificate",
    "RateLaw",
    "RateTable",
    "SamplePlan",
    "SamplingLaw",
    "default_size",
    "difference_law",
    "limit_at",
    "outcome_rate_law",
    "rate_law",
    "rate_laws",
    "rate_table",
    "sample_size",
    "sampling_law",
]

_HOMES = {
    "DrawnLaw": "paper.quantile_laws",
    "LimitLaw": "paper.quantile_laws",
    "MinOfNormals": "paper.min_of_normals",
    "Pilot": "planning.pilot",
    "PlugInLaw": "paper.quantile_laws",
    "PowerCurve": "planning.smallest_sample",
    "RateCertificate": "rates.upper_bound",
    "RateLaw": "rates.lower_bound",
    "RateTable": "rates.tables",
    "SamplePlan": "planning.smallest_sample",
    "outcome_rate_law": "rates.entry",
    "rate_law": "rates.entry",
    "rate_laws": "rates.entry",
    "rate_table": "rates.tables",
    "sample_size": "planning.smallest_sample",
}

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
