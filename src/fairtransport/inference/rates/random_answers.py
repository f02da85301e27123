"""Random answers: a lower bound for ψ of mean losses, over the sample and the draws.

People are moved to the twin that looks worst on draws that are unsealed; what that adds is
measured on draws that are not. A tuple has A movers, all with the same draws, and D, the mean
of target's less own loss over them and the tuple's draws. Wealth is multiplied by 1 + f·D. Who
is in a tuple depends on the people alone, the target and f on what was unsealed before, and
f <= λA with a λ fixed beforehand: see "Random answers" in ``docs/theory.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.checks import number
from fairtransport.inference.laws import SamplingLaw
from fairtransport.inference.rates.bets import FILL, KELLY, MOST, MOST_STAKE
from fairtransport.inference.rates.model import Seen, fit

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray

ORDERS = 2
"""Random orders of the clusters; evidence is averaged over them."""
VARIANCES = (0.25, 0.05, 0.01)
"""Guesses of a gain's variance, a λ for each; evidence is averaged over them."""
FITS = 8
"""How often means are guessed anew on the way through the clusters."""
HALVINGS, MOST_LOG = 60, 690.0


class DrawnLosses(NamedTuple):
    """People, and several draws of the loss at each of their points and those of their twins.

    Attributes
    ----------
    losses
        (K, m) the loss at each point in each draw, in [0, 1].
    counts
        (K,) the people at each point.
    blocks, groups, clusters
        (K,) the numbers of the points' comparable sets, of their sensitive groups (a block has
        at most one point of each), and of the sets of points whose draws may depend on each
        other: a block is in one of these.
    strata
        (K,) what else group effects may differ by, such as the label.
    """

    losses: FloatArray
    counts: IntArray
    blocks: IntArray
    groups: IntArray
    clusters: IntArray
    strata: IntArray

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def draws(self) -> int:
        """Answers to each question, m."""
        return int(self.losses.shape[1])


@dataclass(frozen=True, eq=False)
class RandomAnswersLaw(SamplingLaw):
    """What people and draws say about ψ of mean losses: a lower bound, and no upper one.

    Attributes
    ----------
    wealths
        (λ, orders) the logarithms of wealth.
    stakes
        (λ,) the λ.
    width
        The width of the loss's range.
    """

    wealths: FloatArray
    stakes: FloatArray
    width: float

    @property
    def guarantee(self) -> str:
        """The bound holds at every n and every number of draws."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return where the evidence falls to 1/α: it falls in δ.

        Parameters
        ----------
        alpha
            The level, over the sample and the model's own randomness together.
        """
        enough = math.log(1 / self._level(alpha))
        low, high = 0.0, 1.0
        if self._log_evidence(low) < enough:
            return 0.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._log_evidence(middle) >= enough else (low, middle)
        return low * self.width

    def upper_bound(self, alpha: float = 0.05) -> float:  # noqa: ARG002
        """Return infinity: no upper bound was proved.

        Parameters
        ----------
        alpha
            Not looked at.
        """
        return math.inf

    def evalue(self, delta: float) -> float:
        """Return evidence against ψ <= δ whose mean is at most 1 under it.

        Parameters
        ----------
        delta
            The threshold, in units of the loss.
        """
        scaled = number("delta", delta, at_least=0) / self.width
        return math.exp(min(self._log_evidence(scaled), MOST_LOG))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of ψ <= δ: one over the evidence, by Markov's inequality."""
        return min(1.0, 1 / self.evalue(max(delta, 0.0)))

    def _p_less(self, delta: float) -> float:  # noqa: ARG002
        """Return 1: nothing speaks against ψ >= δ without an upper bound."""
        return 1.0

    def _log_evidence(self, delta: float) -> float:
        """Return log of the mean over stakes and orders of W/(1 + λδ)^n.

        Parameters
        ----------
        delta
            The threshold, in units of the loss's range.
        """
        # E W <= (1 + λψ)^n, so that W/(1 + λδ)^n has a mean of at most 1 under ψ <= δ
        logs = self.wealths - self.n * np.log1p(self.stakes * delta)[:, None]
        top = float(logs.max())
        return top + math.log(float(np.mean(np.exp(logs - top))))


def random_answers_law(
    drawn: DrawnLosses, *, alpha: float, seed: int, width: float, notes: tuple[str, ...] = ()
) -> RandomAnswersLaw:
    """Return what draws of losses say about ψ of mean losses.

    Parameters
    ----------
    drawn
        People, and draws of the loss at their points and those of their twins.
    alpha
        The level that stakes are made for; bounds at other levels hold too.
    seed
        Of the orders of clusters.
    width
        The width of the loss's range, in which bounds are told.
    notes
        What a reader of the numbers should know.

    Returns
    -------
    RandomAnswersLaw
        Its estimate is what movers gained on sealed draws, a person: its mean is at most ψ.
    """
    game = _Game(drawn)
    stakes = np.array([_stake(drawn.n, alpha, variance) for variance in VARIANCES])
    rng = np.random.default_rng([seed, 15])
    orders = [rng.permutation(game.many) for _ in range(ORDERS)]
    played = [[game.play(order, float(stake)) for order in orders] for stake in stakes]
    wealths = np.array([[one[0] for one in row] for row in played])
    moved = np.array([[one[1] for one in row] for row in played])
    estimate = float(moved.mean()) / drawn.n * width
    return RandomAnswersLaw(
        "draws", estimate, drawn.n, notes, wealths, stakes, width, fixed_targets=False
    )


def _stake(n: int, alpha: float, variance: float) -> float:
    """Return λ, from nothing but what is known before the data.

    Parameters
    ----------
    n, alpha
        The number of people and the level.
    variance
        A guess of the variance of a person's gain; the λ that wins most against it.
    """
    return min(MOST_STAKE, math.sqrt(2 * math.log(1 / alpha) / (n * variance)))


class _Game:
    """The tuples, cluster by cluster, and the bets on them.

    Parameters
    ----------
    drawn
        People and draws.

    Attributes
    ----------
    many
        The number of clusters.
    points
        By cluster: its points.
    shape
        Blocks and groups.
    pilot
        How many of the draws are unsealed beforehand.
    """

    def __init__(self, drawn: DrawnLosses) -> None:
        self.drawn = drawn
        self.many = int(drawn.clusters.max()) + 1
        order = np.argsort(drawn.clusters, kind="stable")
        ends = np.cumsum(np.bincount(drawn.clusters, minlength=self.many))
        self.points = np.split(order, ends[:-1])
        self.shape = (int(drawn.blocks.max()) + 1, int(drawn.groups.max()) + 1)
        # the first half of the draws chooses targets; of a single one nothing is left for that
        self.pilot = drawn.draws // 2

    @cached_property
    def strata(self) -> IntArray:
        """(blocks,) the stratum of each block."""
        found = np.zeros(self.shape[0], np.int64)
        found[self.drawn.blocks] = self.drawn.strata
        return found

    def play(self, order: IntArray, stake: float) -> tuple[float, float]:
        """Bet on all clusters in an order; return the log-wealth and the sum of gains measured.

        Parameters
        ----------
        order
            The clusters in a random order that depends on the seed alone.
        stake
            λ.
        """
        seen, drawn = self._start(), self.drawn
        means, variances = np.zeros(self.shape), np.zeros(self.shape[0])
        strata, often = int(self.strata.max()) + 1, max(len(order) // FITS, 1)
        log_wealth, moved = 0.0, 0.0
        for at, cluster in enumerate(order.tolist()):
            if at % often == 0:
                fit(seen, strata, means, variances)
            points = self.points[cluster]
            wealth, gain = self._bet(points, means, variances, stake)
            log_wealth += wealth
            moved += gain
            # unsealed after the cluster was bet on; later guesses may use them
            kept = drawn.losses[points, self.pilot :]
            seen.people[drawn.blocks[points], drawn.groups[points]] += kept.shape[1]
            seen.losses[drawn.blocks[points], drawn.groups[points]] += kept.sum(axis=1)
        return log_wealth, moved

    def _start(self) -> Seen:
        """Return what the pilot draws say: they are unsealed before the first bet."""
        drawn, people, losses = self.drawn, np.zeros(self.shape), np.zeros(self.shape)
        people[drawn.blocks, drawn.groups] = self.pilot
        losses[drawn.blocks, drawn.groups] = drawn.losses[:, : self.pilot].sum(axis=1)
        return Seen(people, losses, self.strata)

    def _tuples(self, points: IntArray, stake: float) -> list[tuple[IntArray, IntArray]]:
        """Return the people and the draws of a cluster's tuples, so many that λA is not too large.

        A person is in one tuple, and so is a draw.

        Parameters
        ----------
        points
            The cluster's points.
        stake
            λ. With λA above ``FILL`` the limit of f, .9, would waste what people have to say.

        Returns
        -------
        list of tuple
            By tuple: the people at each point, and the numbers of the draws.
        """
        counts, left = self.drawn.counts[points], self.drawn.draws - self.pilot
        wanted = max(1, min(left, math.ceil(stake * counts.sum() / FILL)))
        # a draw is in one tuple only: those of the next tuple are fresh given this one's
        draws = np.array_split(np.arange(self.pilot, self.drawn.draws), wanted)
        return [
            (counts * (part + 1) // wanted - counts * part // wanted, draws[part])
            for part in range(wanted)
        ]

    def _bet(
        self, points: IntArray, means: FloatArray, variances: FloatArray, stake: float
    ) -> tuple[float, float]:
        """Return the logarithm of the factor of a cluster's tuples, and the gain measured.

        Parameters
        ----------
        points
            The cluster's points.
        means, variances
            Guesses from what was unsealed before.
        stake
            λ.
        """
        blocks = self.drawn.blocks[points]
        guess = means[blocks, self.drawn.groups[points]]
        target = _worst(blocks, guess)
        rise = guess[target] - guess
        # nobody has a twin that looks worse: no movers, and a factor of 1
        if not rise.any():
            return 0.0, 0.0
        log_wealth, moved = 0.0, 0.0
        for people, draws in self._tuples(points, stake):
            movers = np.where(rise > 0, people, 0)
            many = int(movers.sum())
            if many == 0:
                continue
            mean = float(movers @ rise) / many
            spread = 2 * float(movers @ variances[blocks]) / many / len(draws) + mean * mean
            # λA for the lemma, .9 for a positive factor, Kelly's for power
            bet = min(stake * many, MOST, KELLY * mean / spread)
            # the sealed draws are looked at only now that target and bet are fixed
            losses = self.drawn.losses[points][:, draws].mean(axis=1)
            gain = float(movers @ (losses[target] - losses))
            log_wealth += math.log1p(bet * gain / many)
            moved += gain
        return log_wealth, moved


def _worst(blocks: IntArray, guess: FloatArray) -> IntArray:
    """Return for each point the place of the one in its block that is guessed to fare worst.

    Parameters
    ----------
    blocks
        The block of each point.
    guess
        The guessed mean loss of each; of equals the later point is taken.

    Examples
    --------
    >>> _worst(np.array([0, 0, 1]), np.array([0.1, 0.4, 0.2])).tolist()
    [1, 1, 2]
    """
    order = np.lexsort((guess, blocks))
    last = np.r_[np.flatnonzero(np.diff(blocks[order])), len(order) - 1]
    worst = dict(zip(blocks[order[last]].tolist(), order[last].tolist(), strict=True))
    return np.array([worst[block] for block in blocks.tolist()], np.int64)
