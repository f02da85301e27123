"""Coverage by simulation: many samples from a known population, every bound against the truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.inference import sampling_law

if TYPE_CHECKING:
    from fairtransport.reproduce.populations import Population

ALPHA = 0.05
ROUNDING = 1e-12
LARGEST_FOR_NUMERICAL = 20
METHODS = (
    "finite-sample",
    "m-out-of-n",
    "numerical",
    "subsampling",
    "efron",
    "plug-in",
    "limit-law",
)


@dataclass(frozen=True)
class Coverage:
    """How often bounds at level 95 % held, and how far from the estimate they were.

    ``lower_distance`` and ``upper_distance`` are medians over the samples.
    """

    case: str
    method: str
    n: int
    repetitions: int
    two_sided: float
    lower: float
    upper: float
    lower_distance: float
    upper_distance: float

    @property
    def false_alarms(self) -> float:
        """How often δ-fairness at δ = ψ(f*) was rejected at level 5 %."""
        return 1 - self.lower

    def as_json(self) -> dict[str, object]:
        """Return the fields, rounded for a file that people read too."""
        return {
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in asdict(self).items()
        }


def applies(case: Population, method: str) -> bool:
    """Whether a method ends in reasonable time on a case."""
    return method != "numerical" or case.problem.size <= LARGEST_FOR_NUMERICAL


def measure(case: Population, method: str, n: int, repetitions: int, n_resamples: int) -> Coverage:
    """Draw samples of size n and count how often the bounds cover ψ(f*).

    The samples depend on the case and n only, so all methods see the same ones.
    """
    samples = np.random.default_rng([n, *case.name.encode()])
    resampling = np.random.default_rng([n, repetitions, *method.encode()])
    truth, hits, distances = case.truth, np.zeros(3), np.zeros((repetitions, 2))
    for repetition in range(repetitions):
        counts = samples.multinomial(n, case.frequencies)
        law = sampling_law(
            case.problem, counts, method=method, n_resamples=n_resamples, rng=resampling
        )
        interval, lower, upper = law.interval(ALPHA), law.lower_bound(ALPHA), law.upper_bound(ALPHA)
        held = (
            interval.lower <= truth + ROUNDING and truth - ROUNDING <= interval.upper,
            lower <= truth + ROUNDING,
            truth - ROUNDING <= upper,
        )
        hits += held
        distances[repetition] = law.estimate - lower, upper - law.estimate
    two_sided, lower_share, upper_share = (hits / repetitions).tolist()
    down, up = np.median(distances, axis=0).tolist()
    return Coverage(
        case.name, method, n, repetitions, two_sided, lower_share, upper_share, down, up
    )
