"""Coverage by simulation: many samples from a known population, every bound against the truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.inference import sampling_law

if TYPE_CHECKING:
    from fairtransport.inference import SamplingLaw
    from fairtransport.reproduce.figures import Population

ALPHA = 0.05
ROUNDING = 1e-12
LARGEST_FOR_NUMERICAL = 20


@dataclass(frozen=True)
class Coverage:
    """How often bounds at level 95 % held, and how far from the estimate they were.

    ``intervals`` says in how many samples bounds were made as an audit makes them, two-sided
    intervals too, which are the same bounds at half the level; ``lower_distance`` and
    ``upper_distance`` are medians over these. In the others only the tests were made that decide
    whether the bounds pass the truth (`bounds_cover`).
    """

    case: str
    method: str
    n: int
    repetitions: int
    intervals: int
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
        return rounded(asdict(self))


def rounded(row: dict[str, Any]) -> dict[str, object]:
    """Return a row with its numbers rounded for a file that people read too."""
    return {
        key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()
    }


def applies(case: Population, method: str) -> bool:
    """Whether a method ends in reasonable time on a case."""
    return method != "numerical" or case.problem.size <= LARGEST_FOR_NUMERICAL


def audited(case: Population, counts: Any, **settings: Any) -> SamplingLaw:
    """Return the law that `audit` makes: of the population it knows the losses' range, no more."""
    return sampling_law(
        case.problem, counts, loss_range=case.loss_range, binary_losses=case.binary_losses,
        **settings,
    )  # fmt: skip


def samples_of(case: Population, n: int) -> np.random.Generator:
    """Return a stream that depends on the case and n only, so all methods see the same samples."""
    return np.random.default_rng([n, *case.name.encode()])


def measure(
    case: Population, method: str, n: int, repetitions: int, n_resamples: int,
    intervals: int | None = None,
) -> Coverage:  # fmt: skip
    """Draw samples of size n and count how often the bounds cover ψ(f*)."""
    samples = samples_of(case, n)
    resampling = np.random.default_rng([n, repetitions, *method.encode()])
    intervals = repetitions if intervals is None else intervals
    truth, hits, distances = case.truth, np.zeros(3), np.zeros((intervals, 2))
    for repetition in range(repetitions):
        counts = samples.multinomial(n, case.frequencies)
        law = audited(case, counts, method=method, n_resamples=n_resamples, rng=resampling)
        if repetition >= intervals:
            hits[1:] += bounds_cover(law, truth)
            continue
        lower, upper = law.lower_bound(ALPHA), law.upper_bound(ALPHA)
        hits[1:] += lower <= truth + ROUNDING, truth - ROUNDING <= upper
        low, high = law.interval(ALPHA)
        hits[0] += low <= truth + ROUNDING and truth - ROUNDING <= high
        distances[repetition] = law.estimate - lower, upper - law.estimate
    two_sided, lower_share, upper_share = (hits / [intervals, repetitions, repetitions]).tolist()
    down, up = np.median(distances, axis=0).tolist()
    return Coverage(
        case.name, method, n, repetitions, intervals, two_sided, lower_share, upper_share, down, up
    )


def bounds_cover(law: SamplingLaw, truth: float) -> tuple[bool, bool]:
    """Whether the lower and the upper bound at level 95 % cover the truth.

    A bound by betting climbs a ladder and passes the truth only if the test on the truth's rung
    rejects it, or if the head start, which has a fiftieth of α, leads beyond. The test alone is
    a small part of the work. The head start is not looked at.
    """
    from fairtransport.inference.finite.bets import Certificate, Rejection
    from fairtransport.inference.finite.evidence import Ladder
    from fairtransport.inference.finite.law import FiniteSampleLaw

    bets = isinstance(law, FiniteSampleLaw) and not law.limits.two_valued
    if not (bets and 0 < truth < law.most_gain):
        lower, upper = law.lower_bound(ALPHA), law.upper_bound(ALPHA)
        return lower <= truth + ROUNDING, truth - ROUNDING <= upper
    evidence, level = law._evidence, Ladder.main_level(ALPHA)
    rung = evidence.ladder.rung_below(truth)
    bottom, top = (evidence.ladder.threshold(at) for at in (rung, rung + 1))
    rejection, certificate = Rejection(evidence), Certificate(evidence)
    plan = rejection._build_plan(top, level)
    rejected = rejection._find_least_wealth(plan, truth, plan.target).value >= plan.target
    rows, _ = certificate._run(bottom, np.array([truth]), level)
    return not rejected, not evidence.average(rows[0]) >= plan.target


@dataclass(frozen=True)
class Verdicts:
    """How often an audit with a declared δ rejects and certifies, rightly and wrongly.

    Attributes
    ----------
    delta
        A δ below ψ(f*), at which the test by the plug-in normal law has a power of about 80 %.
    rejected, normal_rejected
        How often that δ was rejected, by the audit and by the normal test.
    false_rejections, normal_false_rejections
        The same at δ = ψ(f*), where it is wrong.
    false_certificates
        How often a δ just below ψ(f*) was certified, which is wrong.
    """

    case: str
    n: int
    repetitions: int
    delta: float
    rejected: float
    normal_rejected: float
    false_rejections: float
    normal_false_rejections: float
    false_certificates: float

    def as_json(self) -> dict[str, object]:
        """Return the fields, rounded for a file that people read too."""
        return rounded(asdict(self))


def threshold_below(case: Population, n: int) -> float:
    """Return the δ at which the normal test has power .8, or half of ψ if that is more."""
    from fairtransport.inference.methods import limit_at

    law = limit_at(case.problem, case.frequencies)
    return max(case.truth - 2.4865 * max(law.sd_x, law.sd_y) / np.sqrt(n), case.truth / 2)


def measure_verdicts(case: Population, n: int, repetitions: int) -> Verdicts:
    """Draw samples of size n and count the verdicts at δ below, at and just below ψ(f*)."""
    samples, rng = samples_of(case, n), np.random.default_rng([n, 1])
    below, truth, hits = threshold_below(case, n), case.truth, np.zeros(5)
    almost = truth * (1 - 1e-9)
    for _ in range(repetitions):
        counts = samples.multinomial(n, case.frequencies)
        normal, law = audited(case, counts, method="plug-in"), audited(case, counts, rng=rng)
        hits += (
            law.rejects(below, ALPHA),
            normal.rejects(below, ALPHA),
            law.rejects(truth, ALPHA),
            normal.rejects(truth, ALPHA),
            law.certifies(almost, ALPHA),
        )
    return Verdicts(case.name, n, repetitions, float(below), *(hits / repetitions).tolist())
