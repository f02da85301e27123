"""Power of an audit, exact for Clopper–Pearson bounds or simulated, and the sample size for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.progress import track
from fairtransport.errors import InputError, param
from fairtransport.inference.clopper_pearson import share_interval
from fairtransport.inference.finite.law import FiniteSampleLaw
from fairtransport.inference.laws import reaches
from fairtransport.inference.methods import limit_at, sampling_law

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.inference.laws import SamplingLaw
    from fairtransport.inference.pilot import Pilot


MAX_CASES = 10**9
"""Maximum number of cases, at which a search is given up."""
MIN_TEETH = 64
"""Minimum number of teeth to examine on either side of a crossing."""


@dataclass(frozen=True)
class BinomialTest:
    """Clopper–Pearson's bound against δ, when a share ``share`` of people is affected.

    To reject, the lower bound exceeds δ: at least c affected people among n, c the smallest
    number with P(Bin(n, δ) >= c) < α. To certify, the upper bound is at most δ: at most c of them,
    c the largest number with P(Bin(n, δ) <= c) <= α (−1: there is none). c never decreases with n.
    While it is constant, on a *tooth*, the power to reject increases and that to certify decreases;
    where it steps, the power jumps back.
    """

    share: float
    delta: float
    alpha: float
    certify: bool

    def power(self, n: IntArray) -> FloatArray:
        """Return the probability that the bound reaches its goal, at each of many n."""
        return self._power(n, self.critical(n))

    def critical(self, n: IntArray) -> IntArray:
        """Return c at each n."""
        if self.certify:
            # the first number for which it fails, less one
            return (
                _find_first(lambda k: binomial_at_most(k, n, self.delta) > self.alpha, 0 * n - 1, n)
                - 1
            )
        return _find_first(lambda k: binomial_at_least(k, n, self.delta) < self.alpha, 0 * n, n + 1)

    def least_certifying(self) -> int:
        """Return the least n that certifies if nobody is affected: n >= log(α)/log(1 − δ)."""
        return math.ceil(math.log(self.alpha) / math.log1p(-self.delta))

    def sample_size(self, target_power: float) -> int:
        """Return the smallest n from which on the power never falls below ``target_power``.

        A tooth is known by its ends, so teeth are searched instead of sizes: a crossing by
        bisection, then all teeth near it. The least power of a tooth is an increasing curve plus an
        effect of its end being an integer. In standard errors of the share, that effect is at most
        p/√(np(1 − p)), while the curve increases by |p − δ|/(2δ√(np(1 − p))) per tooth: successes
        and failures mix on about 2pδ/|p − δ| teeth. Four times as many are examined either way, and
        more until the last quarter of them has no failure.
        """
        n = self._without_tolerance(target_power) if self.delta == 0 else self._search(target_power)
        if n < MAX_CASES:
            return n
        msg = (
            f"{param('delta')} must be farther from the value {self.share:g}, got {self.delta:g}: "
            f"more than {MAX_CASES:,} people would be needed"
        )
        raise InputError(msg)

    def _search(self, target_power: float) -> int:
        """Return the smallest n with the target power from there on, for δ > 0."""
        crossing = self._crossing(target_power)
        # the tooth before fails; if it is beyond the maximum, so is the answer
        if self._tooth_start(np.array([crossing - 1]))[0] >= MAX_CASES:
            return MAX_CASES
        gap = abs(self.share - self.delta)
        ahead = MIN_TEETH + math.ceil(8 * self.share * self.delta / gap)
        while True:
            teeth = np.arange(max(self._first_tooth, crossing - ahead), crossing + ahead)
            failures = np.flatnonzero(self._least_power(teeth) < target_power)
            # the tooth before the crossing fails, unless there is none
            last = int(teeth[failures[-1]]) if len(failures) else self._first_tooth - 1
            if last < crossing + ahead // 2:
                return self._on_tooth(last, target_power)
            ahead *= 2

    @property
    def _first_tooth(self) -> int:
        """The lowest possible critical number: −1 to certify, 1 to reject."""
        return -1 if self.certify else 1

    def _power(self, n: IntArray, critical: IntArray) -> FloatArray:
        """Return the probability of reaching the goal at sizes with known critical numbers."""
        return (binomial_at_most if self.certify else binomial_at_least)(critical, n, self.share)

    def _tooth_start(self, tooth: IntArray) -> IntArray:
        """Return the least n whose critical number is at least ``tooth``, within `MAX_CASES`."""

        def done(n: IntArray) -> BoolArray:
            """Whether n is large enough for each of the teeth."""
            if self.certify:
                return binomial_at_most(tooth, n, self.delta) <= self.alpha
            # one affected person fewer no longer rejects
            return binomial_at_least(tooth - 1, n, self.delta) >= self.alpha

        high = np.clip(2 * tooth, 1, MAX_CASES)
        while not (enough := done(high) | (high == MAX_CASES)).all():
            high = np.where(enough, high, np.minimum(2 * high, MAX_CASES))
        return _find_first(done, np.clip(tooth - 2, -1, MAX_CASES - 1), high)

    def _least_power(self, teeth: IntArray) -> FloatArray:
        """Return the least power on each tooth: at its end to certify, at its start to reject."""
        where = self._tooth_start(teeth + 1) - 1 if self.certify else self._tooth_start(teeth)
        return self._power(where, teeth)

    def _crossing(self, target_power: float) -> int:
        """Return a sufficient tooth after an insufficient one, near where that changes."""
        low, high = self._first_tooth - 1, 1
        while not self._least_power(np.array([high]))[0] >= target_power:
            if high > MAX_CASES:
                break
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            good = self._least_power(np.array([middle]))[0] >= target_power
            low, high = (low, middle) if good else (middle, high)
        return high

    def _on_tooth(self, last_failing: int, target_power: float) -> int:
        """Return the first n that is sufficient up to the end of the tooth that fails last."""
        start, after = self._tooth_start(np.array([last_failing, last_failing + 1])).tolist()
        if self.certify or last_failing < self._first_tooth:
            return int(max(after, 1))

        # power increases on this tooth: it may be sufficient from some n on
        def good(n: IntArray) -> BoolArray:
            """Whether the power at n is enough, while this many affected people reject."""
            return binomial_at_least(np.array([last_failing]), n, self.share) >= target_power

        if not good(np.array([after - 1]))[0]:
            return int(after)
        return int(_find_first(good, np.array([start - 1]), np.array([after - 1]))[0])

    def _without_tolerance(self, target_power: float) -> int:
        """Return the n for δ = 0, where one affected person is enough to reject."""
        if self.share == 1:
            return 1
        return max(1, math.ceil(math.log1p(-target_power) / math.log1p(-self.share)))


def binomial_at_least(k: IntArray, n: IntArray, share: float) -> FloatArray:
    """Return P(Bin(n, share) >= k)."""
    from scipy.special import betainc

    inside = (k > 0) & (k <= n)
    tail = betainc(np.where(inside, k, 1), np.where(inside, n - k + 1, 1), share)
    return np.where(inside, tail, k <= 0)


def binomial_at_most(k: IntArray, n: IntArray, share: float) -> FloatArray:
    """Return P(Bin(n, share) <= k)."""
    from scipy.special import betaincc

    inside = (k >= 0) & (k < n)
    tail = betaincc(np.where(inside, k + 1, 1), np.where(inside, n - k, 1), share)
    return np.where(inside, tail, k >= n)


def _find_first(holds: Callable[[IntArray], BoolArray], low: IntArray, high: IntArray) -> IntArray:
    """Return the least numbers in (low, high] at which a condition holds, as it does at high."""
    low, high = np.broadcast_arrays(low, high)
    while (open_ := high - low > 1).any():
        middle = (low + high) // 2
        true = holds(middle)
        high = np.where(open_ & true, middle, high)
        low = np.where(open_ & ~true, middle, low)
    return np.asarray(high)


GRID_SPAN = 1.7
"""The grid of sizes goes from the centre divided by this to the centre times this."""
GRID_SIZES = 7
MIN_ROUGH_SIMULATIONS = 50
"""Minimum number of simulations per size in the search for the grid's centre."""
MAX_GRIDS = 6
"""Maximum number of grids before the best one so far is used."""
MAX_POWER_GAP = 0.3
"""Maximum distance from the target power of measurements in the fit."""
MIN_FIT_SIZES = 3
"""Minimum number of sizes near the target power for a fit."""
N_BOOTSTRAPS = 200


class Crossing(NamedTuple):
    """Where the simulated power reaches the target, with the Monte-Carlo error of that."""

    n: int
    error: float


@dataclass(eq=False)
class Simulation:
    """Audits of people drawn from known frequencies, and how many reach their goal."""

    pilot: Pilot
    goal: str
    delta: float
    alpha: float
    method: str
    n_resamples: int
    n_simulations: int
    rng: np.random.Generator
    successes: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The population's ψ."""
        return self.pilot.problem.value(self.pilot.frequencies)

    def outcomes(self, sizes: IntArray, many: int) -> BoolArray:
        """Return which of many audits reach the goal at each of some increasing sizes.

        Larger samples contain the smaller ones: common random numbers reduce the noise of
        differences between sizes.
        """
        result = np.zeros((many, len(sizes)), bool)
        steps = np.diff(sizes, prepend=0)
        streams = self.rng.spawn(many)
        for row, stream in zip(track(result, many, "Simulating audits"), streams, strict=True):
            counts = np.zeros(self.pilot.problem.size, np.int64)
            for at, step in enumerate(steps):
                counts = counts + stream.multinomial(step, self.pilot.frequencies)
                row[at] = self._reaches(counts, stream)
        return result

    def count(self, sizes: IntArray) -> BoolArray:
        """Return the outcomes of a full number of audits, and store how many succeeded."""
        outcomes = self.outcomes(sizes, self.n_simulations)
        for size, good in zip(sizes.tolist(), outcomes.sum(axis=0).tolist(), strict=True):
            had, of = self.successes.get(size, (0, 0))
            self.successes[size] = (had + good, of + self.n_simulations)
        return outcomes

    def count_afresh(self, n: int) -> int:
        """Return how many of the same number of new audits reach the goal."""
        self.successes.pop(n, None)
        return int(self.count(np.array([n])).sum())

    def law_of(
        self, counts: IntArray, rng: np.random.Generator, method: str | None = None
    ) -> SamplingLaw:
        """Return the law of one sample's audit."""
        problem, sample = self.pilot.audited(counts)
        return sampling_law(
            problem, sample, method=method or self.method, n_resamples=self.n_resamples, rng=rng,
            alpha=self.alpha, loss_range=self.pilot.loss_range,
            binary_losses=self.pilot.binary_losses, most_gain=self.pilot.most_gain,
            fixed_targets=self.pilot.fixed_targets, fixed_levels=self.pilot.open_levels is None,
        )  # fmt: skip

    def _reaches(self, counts: IntArray, rng: np.random.Generator) -> bool:
        """Whether the audit of one simulated sample reaches the goal."""
        law = self.law_of(counts, rng)
        # plans run thousands of audits, and bounds by betting take long
        if isinstance(law, FiniteSampleLaw):
            return law.passes_one_test(self.goal, self.delta, self.alpha)
        return reaches(law, self.goal, self.delta, self.alpha)

    def sample_size(self, target_power: float) -> Crossing:
        """Return the size at which a fit to the simulated power reaches ``target_power``."""
        centre, span = self._rough_centre(target_power), GRID_SPAN
        for _ in range(MAX_GRIDS):
            sizes = np.unique(
                np.rint(centre * np.geomspace(1 / span, span, GRID_SIZES)).astype(np.int64)
            )
            sizes = sizes[(sizes >= 1) & (sizes <= MAX_CASES)]
            outcomes = self.count(sizes)
            power = outcomes.mean(axis=0)
            good = np.flatnonzero(power >= target_power)
            if not len(good):
                # the whole grid is too small, or too large: move it by its own width
                centre = min(centre * span, MAX_CASES)
            elif good[0] == 0 and sizes[0] > 1:
                centre = max(1.0, centre / span)
            elif good[0] == 0 or span < 1 + 1 / sizes[0]:
                return Crossing(int(sizes[good[0]]), 0.0)
            elif _can_fit(np.abs(power - target_power) < MAX_POWER_GAP, int(good[0])):
                return _crossing(sizes, outcomes, target_power, self.rng.spawn(1)[0])
            else:
                # the power jumps between two sizes: look closer there
                low, high = sizes[good[0] - 1 : good[0] + 1].tolist()
                centre, span = math.sqrt(low * high), math.sqrt(high / low)
        return Crossing(int(sizes[good[0]] if len(good) else sizes[-1]), math.nan)

    def _rough_centre(self, target_power: float) -> float:
        """Return the middle of two sizes, one twice the other, between which the power crosses."""
        many = max(MIN_ROUGH_SIMULATIONS, self.n_simulations // 4)

        def enough(n: int) -> bool:
            """Whether a few audits of this size reach the goal often enough."""
            return bool(self.outcomes(np.array([n]), many).mean() >= target_power)

        n = self._normal_guess(target_power)
        if enough(n):
            while n > 1 and enough(n // 2):
                n //= 2
            return max(1.0, n / math.sqrt(2))
        while not enough(2 * n):
            n *= 2
            if 2 * n > MAX_CASES:
                msg = (
                    f"{param('delta')} must be farther from the pilot's value {self.value:g}, got "
                    f"{self.delta:g}: more than {MAX_CASES:,} people would be needed"
                )
                raise InputError(msg)
        return n * math.sqrt(2)

    def _normal_guess(self, target_power: float) -> int:
        """Return n = ((z_{1−α} + z_power)·σ/|ψ − δ|)², or the rule of three if that is more."""
        from scipy.special import ndtri

        law = limit_at(self.pilot.problem, self.pilot.frequencies)
        gap = abs(self.value - self.delta)
        reach = max(0.0, float(ndtri(1 - self.alpha) + ndtri(target_power)))
        guess = (reach * max(law.sd_x, law.sd_y) / gap) ** 2
        largest = float(np.ptp(self.pilot.problem.losses))
        if self.goal == "certify" and self.delta < largest:
            guess = max(guess, math.log(self.alpha) / math.log1p(-self.delta / largest))
        return int(min(max(1.0, guess), MAX_CASES))


def _can_fit(is_near: BoolArray, first_good: int) -> bool:
    """Return whether enough sizes near the target power, and the one before it, were measured."""
    return bool(is_near.sum() >= MIN_FIT_SIZES and is_near[first_good - 1])


def _crossing(
    sizes: IntArray, outcomes: BoolArray, target_power: float, rng: np.random.Generator
) -> Crossing:
    """Fit the power as Φ(a + b√n) near the target, and resample whole audits for the error."""
    n = _fitted(sizes, outcomes, target_power)
    draws = rng.integers(0, len(outcomes), (N_BOOTSTRAPS, len(outcomes)))
    again = [_fitted(sizes, outcomes[rows], target_power) for rows in draws]
    return Crossing(max(1, math.ceil(n)), float(np.std(again)))


def _fitted(sizes: IntArray, outcomes: BoolArray, target_power: float) -> float:
    """Return n with Φ(a + b√n) = target_power, by weighted least squares on the probits.

    A bound is z standard errors from its estimate, and a standard error decreases as 1/√n: the
    probit of the power is about linear in √n. Weights are the probits' precisions.
    """
    from scipy.special import ndtri

    many = len(outcomes)
    # half a success and half a failure more: shares of 0 and 1 have no probit
    share = (outcomes.sum(axis=0) + 0.5) / (many + 1)
    probit = ndtri(share)
    weight = (
        np.exp(-(probit**2))
        / (share * (1 - share))
        * (np.abs(share - target_power) < MAX_POWER_GAP + 0.05)
    )
    x = np.sqrt(sizes)
    if weight.any():
        centre, middle = np.average(x, weights=weight), np.average(probit, weights=weight)
        spread = float(weight @ (x - centre) ** 2)
        slope = float(weight @ ((x - centre) * (probit - middle))) / spread if spread else 0.0
        if slope > 0:
            root = centre + (float(ndtri(target_power)) - middle) / slope
            return float(np.clip(root, x[0], x[-1]) ** 2)
    good = np.flatnonzero(share >= target_power)
    return float(sizes[good[0] if len(good) else -1])


PILOT_ERROR = 0.05
"""Probability with which a pilot's range misses the population's value."""
MAX_TILT = 60.0
"""Largest logarithm of the weight that a tilt gives the largest gain, relative to the least."""


class PilotRange(NamedTuple):
    """Ranges due to the error of a pilot: of ψ, the cases needed, and the power with those planned.

    Each is from low to high. The cases end in None if possibly no number is enough.
    """

    value: tuple[float, float]
    n: tuple[int, int | None]
    power: tuple[float, float]


def find_share_range(test: BinomialTest, pilot_n: int, n: int, power: float) -> PilotRange:
    """Return the ranges for a share: exact, by the pilot's Clopper–Pearson interval.

    Power and cases are monotone in the share, so that their ranges cover if its interval does.
    """
    low, high = share_interval(round(test.share * pilot_n), pilot_n, PILOT_ERROR)
    hard, easy = (replace(test, share=share) for share in _by_ease(low, high, test.certify))
    powers = [float(one.power(np.array([n]))[0]) for one in (hard, easy)]
    sizes = [_exact_size(one, power) for one in (easy, hard)]
    return PilotRange((low, high), (sizes[0] or MAX_CASES, sizes[1]), (powers[0], powers[1]))


def _by_ease(low: float, high: float, certify: bool) -> tuple[float, float]:  # noqa: FBT001
    """Return the end of a range at which the goal is hardest to reach, and the other one."""
    return (high, low) if certify else (low, high)


def _exact_size(test: BinomialTest, power: float) -> int | None:
    """Return the cases that a share needs; None if no number is enough, or it is too large."""
    if (test.share >= test.delta) if test.certify else (test.share <= test.delta):
        return None
    try:
        return test.sample_size(power)
    except InputError:  # too close to δ
        return None


def find_simulated_range(
    simulation: Simulation, pilot_n: int, n: int, achieved: float, power: float
) -> PilotRange:
    """Return the approximate ranges for simulated audits.

    The interval of ψ comes from the pilot's own audit. At its ends the pilot's people are weighted
    by exp(t·gain), with t so that ψ is there, and the power is Φ(√n·|ψ − δ|/σ − c), with c from the
    pilot itself, where the power was simulated.
    """
    from scipy.special import ndtr, ndtri

    low, high = _pilot_interval(simulation, pilot_n)
    certify = simulation.goal == "certify"
    at_pilot = _signal(simulation, simulation.pilot.frequencies)
    if not math.isfinite(at_pilot):  # everybody gains the same, which says nothing about others
        return PilotRange((low, high), (1, None), (0.0, 1.0))
    smooth = (achieved * simulation.n_simulations + 0.5) / (simulation.n_simulations + 1)
    shift = math.sqrt(n) * at_pilot - float(ndtri(smooth))
    hard, easy = (_tilt(simulation, value) for value in _by_ease(low, high, certify))
    signals = [-math.inf if hard is None else _signal(simulation, hard),
               math.inf if easy is None else _signal(simulation, easy)]  # fmt: skip
    powers = [float(ndtr(math.sqrt(n) * signal - shift)) for signal in signals]
    reach = max(shift + float(ndtri(power)), 0.0)
    most, fewest = ((reach / s) ** 2 if s > 0 else math.inf for s in signals)
    cases = None if most > MAX_CASES else max(math.ceil(most), n)
    return PilotRange((low, high), (min(max(math.ceil(fewest), 1), n), cases),
                      (powers[0], powers[1]))  # fmt: skip


def _pilot_interval(simulation: Simulation, pilot_n: int) -> tuple[float, float]:
    """Return an interval of ψ by the pilot's own audit, α/2 on each side."""
    counts = np.rint(simulation.pilot.frequencies * pilot_n).astype(np.int64)
    rng = simulation.rng.spawn(1)[0]
    law = simulation.law_of(counts, rng)
    low, high = law.lower_bound(PILOT_ERROR / 2), law.upper_bound(PILOT_ERROR / 2)
    if not math.isfinite(high):  # targets of the sample give no upper bound
        high = simulation.law_of(counts, rng, "limit-law").upper_bound(PILOT_ERROR / 2)
    return min(low, simulation.value), max(high, simulation.value)


def _signal(simulation: Simulation, frequencies: FloatArray) -> float:
    """Return the distance of ψ from δ on the goal's side, in standard deviations of a gain."""
    problem = simulation.pilot.problem
    law = limit_at(problem, frequencies)
    side = 1 if simulation.goal == "reject" else -1
    apart = side * (problem.value(frequencies) - simulation.delta)
    spread = max(law.sd_x, law.sd_y)
    return apart / spread if spread else math.copysign(math.inf, apart)


def _tilt(simulation: Simulation, value: float) -> FloatArray | None:
    """Return the pilot's frequencies, tilted to a value of ψ; None if that is impossible."""
    problem, frequencies = simulation.pilot.problem, simulation.pilot.frequencies
    gains = problem.net_gains(problem.solve(frequencies).price)
    is_there = frequencies > 0
    top, span = float(gains[is_there].max()), float(np.ptp(gains[is_there]))
    if span == 0:
        return None
    rises = np.where(is_there, (gains - top) / span, 0.0)

    def tilted(rate: float) -> FloatArray:
        """Return the frequencies with weights that increase with the gain."""
        weights = frequencies * np.exp(rate * rises)
        return np.asarray(weights / weights.sum())

    low, high = -MAX_TILT, MAX_TILT
    if not problem.value(tilted(low)) <= value <= problem.value(tilted(high)):
        return None
    for _ in range(40):
        middle = (low + high) / 2
        is_low = problem.value(tilted(middle)) < value
        low, high = (middle, high) if is_low else (low, middle)
    return tilted(high)
