"""The power of an audit by simulation, and the sample size that it asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.errors import InputError
from fairtransport.inference.methods import limit_at, sampling_law
from fairtransport.inference.planning.binomial_power import MOST_CASES
from fairtransport.inference.verdict import reaches
from fairtransport.progress import track

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, IntArray
    from fairtransport.inference.planning.pilot import Pilot

SPAN = 1.7
"""The grid of sizes goes from the centre divided by this to the centre times this."""
GRID = 7
ROUGH = 50
"""Simulations a size, at least, while the grid's centre is looked for."""
ROUNDS = 6
"""Grids tried before the best so far is taken."""
LOCAL = 0.3
"""How far from the wanted power a measured one may be and still count in the fit."""
BOOTSTRAPS = 200


class Crossing(NamedTuple):
    """Where the simulated power reaches the wanted one, with the Monte-Carlo error of that.

    Attributes
    ----------
    n
        The size.
    error
        Its standard error; 0 where the power jumps past the wanted one between two neighbouring
        sizes, NaN where no fit was possible.
    """

    n: int
    error: float


@dataclass(eq=False)
class Simulation:
    """Audits of people drawn from known frequencies, and how many reach their goal.

    Attributes
    ----------
    pilot
        The population, and what an audit of people from it sees.
    goal, delta, alpha
        "reject" or "certify", the threshold and the level.
    method, n_resamples
        As for `sampling_law`.
    n_simulations
        How many audits are simulated at each size.
    rng
        Spawns a stream for each simulated audit.
    counted
        For each size tried at full length: how many audits reached the goal, and of how many.
    """

    pilot: Pilot
    goal: str
    delta: float
    alpha: float
    method: str
    n_resamples: int
    n_simulations: int
    rng: np.random.Generator
    counted: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The population's ψ."""
        return self.pilot.problem.value(self.pilot.frequencies)

    def outcomes(self, sizes: IntArray, many: int) -> BoolArray:
        """Return which of many audits reach the goal at each of some rising sizes.

        The audits grow: a larger sample contains the smaller one. That is the common random
        numbers that keep the differences between sizes quiet.

        Parameters
        ----------
        sizes
            Rising sample sizes.
        many
            How many audits.

        Returns
        -------
        ndarray
            (many, sizes).
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
        """Return the outcomes of a full number of audits, and remember how many were good.

        Parameters
        ----------
        sizes
            Rising sample sizes; what was counted there before is added to.
        """
        outcomes = self.outcomes(sizes, self.n_simulations)
        for size, good in zip(sizes.tolist(), outcomes.sum(axis=0).tolist(), strict=True):
            had, of = self.counted.get(size, (0, 0))
            self.counted[size] = (had + good, of + self.n_simulations)
        return outcomes

    def count_afresh(self, n: int) -> int:
        """Return how many of as many new audits reach the goal, whatever the search found.

        Parameters
        ----------
        n
            The size that was chosen. Audits that chose it would make it look better than it is,
            and no longer count.
        """
        self.counted.pop(n, None)
        return int(self.count(np.array([n])).sum())

    def _reaches(self, counts: IntArray, rng: np.random.Generator) -> bool:
        """Whether the audit of one simulated sample reaches the goal.

        Parameters
        ----------
        counts
            By point of the pilot's problem: the simulated people.
        rng
            This audit's own stream.
        """
        problem, sample = self.pilot.audited(counts)
        law = sampling_law(
            problem, sample, method=self.method, n_resamples=self.n_resamples, rng=rng,
            alpha=self.alpha, delta=self.delta, loss_range=self.pilot.loss_range,
            binary_losses=self.pilot.binary_losses, most_gain=self.pilot.most_gain,
            fixed_targets=self.pilot.fixed_targets,
        )  # fmt: skip
        return reaches(law, self.goal, self.delta, self.alpha)

    def sample_size(self, wanted: float) -> Crossing:
        """Return the size at which a fit to the simulated power reaches ``wanted``.

        Parameters
        ----------
        wanted
            The power.
        """
        centre, span = self._rough_centre(wanted), SPAN
        for _ in range(ROUNDS):
            sizes = np.unique(np.rint(centre * np.geomspace(1 / span, span, GRID)).astype(np.int64))
            sizes = sizes[(sizes >= 1) & (sizes <= MOST_CASES)]
            outcomes = self.count(sizes)
            power = outcomes.mean(axis=0)
            good = np.flatnonzero(power >= wanted)
            if not len(good):
                # the whole grid is too small, or too large: move it by its own width
                centre = min(centre * span, MOST_CASES)
            elif good[0] == 0 and sizes[0] > 1:
                centre = max(1.0, centre / span)
            elif good[0] == 0 or span < 1 + 1 / sizes[0]:
                return Crossing(int(sizes[good[0]]), 0.0)
            elif (near := np.abs(power - wanted) < LOCAL).sum() >= 3 and near[good[0] - 1]:  # noqa: PLR2004
                return _crossing(sizes, outcomes, wanted, self.rng.spawn(1)[0])
            else:
                # the power jumps between two sizes: look closer there
                low, high = sizes[good[0] - 1 : good[0] + 1].tolist()
                centre, span = math.sqrt(low * high), math.sqrt(high / low)
        return Crossing(int(sizes[good[0]] if len(good) else sizes[-1]), math.nan)

    def _rough_centre(self, wanted: float) -> float:
        """Return the middle of two sizes, one twice the other, between which the power crosses.

        Parameters
        ----------
        wanted
            The power.

        Raises
        ------
        InputError
            If more than ``MOST_CASES`` would be needed.
        """
        many = max(ROUGH, self.n_simulations // 4)

        def enough(n: int) -> bool:
            """Whether a few audits of this size reach the goal often enough."""
            return bool(self.outcomes(np.array([n]), many).mean() >= wanted)

        n = self._normal_guess(wanted)
        if enough(n):
            while n > 1 and enough(n // 2):
                n //= 2
            return max(1.0, n / math.sqrt(2))
        while not enough(2 * n):
            n *= 2
            if 2 * n > MOST_CASES:
                msg = (
                    f"`delta` must be farther from the pilot's value {self.value:g}, got "
                    f"{self.delta:g}: more than {MOST_CASES:,} cases would be needed"
                )
                raise InputError(msg)
        return n * math.sqrt(2)

    def _normal_guess(self, wanted: float) -> int:
        """Return n = ((z_{1−α} + z_power)·σ/|ψ − δ|)², or the rule of three if that is more.

        Parameters
        ----------
        wanted
            The power.
        """
        from scipy.special import ndtri

        law = limit_at(self.pilot.problem, self.pilot.frequencies)
        gap = abs(self.value - self.delta)
        reach = max(0.0, float(ndtri(1 - self.alpha) + ndtri(wanted)))
        guess = (reach * max(law.sd_x, law.sd_y) / gap) ** 2
        largest = float(np.ptp(self.pilot.problem.losses))
        if self.goal == "certify" and self.delta < largest:
            guess = max(guess, math.log(self.alpha) / math.log1p(-self.delta / largest))
        return int(min(max(1.0, guess), MOST_CASES))


def _crossing(
    sizes: IntArray, outcomes: BoolArray, wanted: float, rng: np.random.Generator
) -> Crossing:
    """Fit the power as Φ(a + b√n) near the wanted one, and resample whole audits for the error.

    Parameters
    ----------
    sizes
        Rising sample sizes.
    outcomes
        (audits, sizes). Audits are resampled as rows, since sizes of one row share their people.
    wanted
        The power.
    rng
        Resamples.
    """
    n = _fitted(sizes, outcomes, wanted)
    draws = rng.integers(0, len(outcomes), (BOOTSTRAPS, len(outcomes)))
    again = [_fitted(sizes, outcomes[rows], wanted) for rows in draws]
    return Crossing(max(1, math.ceil(n)), float(np.std(again)))


def _fitted(sizes: IntArray, outcomes: BoolArray, wanted: float) -> float:
    """Return n with Φ(a + b√n) = wanted, by weighted least squares on the probits.

    Parameters
    ----------
    sizes, outcomes, wanted
        As in `_crossing`.

    Returns
    -------
    float
        Within the sizes; the first that is good where no rising line fits.

    Notes
    -----
    A bound is z standard errors from its estimate, and a standard error falls as 1/√n: the
    probit of the power is about linear in √n. Weights are the probits' precisions.

    Examples
    --------
    Six of ten audits succeed at 400 people, four at 100: half of them where √n is half way.

    >>> outcomes = np.array([[at < 4, at < 6] for at in range(10)])
    >>> round(_fitted(np.array([100, 400]), outcomes, 0.5))
    225
    """
    from scipy.special import ndtri

    many = len(outcomes)
    # half a success and half a failure more: shares of 0 and 1 have no probit
    share = (outcomes.sum(axis=0) + 0.5) / (many + 1)
    probit = ndtri(share)
    weight = np.exp(-(probit**2)) / (share * (1 - share)) * (np.abs(share - wanted) < LOCAL + 0.05)
    x = np.sqrt(sizes)
    if weight.any():
        centre, middle = np.average(x, weights=weight), np.average(probit, weights=weight)
        spread = float(weight @ (x - centre) ** 2)
        slope = float(weight @ ((x - centre) * (probit - middle))) / spread if spread else 0.0
        if slope > 0:
            root = centre + (float(ndtri(wanted)) - middle) / slope
            return float(np.clip(root, x[0], x[-1]) ** 2)
    good = np.flatnonzero(share >= wanted)
    return float(sizes[good[0] if len(good) else -1])
