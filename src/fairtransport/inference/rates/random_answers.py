"""Random answers: a lower bound for ψ of mean losses, over the sample and the draws.

People are moved to the twin that looks worst on draws that are observed; what that adds is
measured on draws that are not. A tuple has A movers, all with the same draws, and D, the mean
of target's less own loss over them and the tuple's draws. Wealth is multiplied by 1 + f·D. Who
is in a tuple depends on the people alone, the target and f on what was observed before, and
f <= λA with a λ fixed beforehand: see "Random answers" in ``docs/theory.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.validation import check_number
from fairtransport.inference.finite.least_wealth import log_mean
from fairtransport.inference.laws import MAX_LOG_EVIDENCE, SamplingLaw
from fairtransport.inference.rates.betting import MAX_STAKE
from fairtransport.inference.rates.kernels import (
    MAX_BET,
    MAX_KELLY_MULTIPLE,
    MAX_TUPLE_STAKE,
    ObservedLosses,
    fit_cell_means,
)
from fairtransport.inference.rates.law import find_lower_bound

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray

ORDERS = 2
"""Random orders of the clusters; evidence is averaged over them."""
VARIANCES = (0.25, 0.05, 0.01)
"""Guesses of a gain's variance, a λ for each; evidence is averaged over them."""
REFITS = 8
"""How often means are guessed anew on the way through the clusters."""


class LossDraws(NamedTuple):
    """People, and several draws of the loss at each of their points and those of their twins."""

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
    """Lower bounds and tests of ψ of mean losses; there is no upper bound."""

    wealths: FloatArray
    stakes: FloatArray
    width: float

    @property
    def guarantee(self) -> str:
        """The bound holds at every n and every number of draws."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return where the evidence falls to 1/α: it falls in δ."""
        return find_lower_bound(self._log_evidence, self._level(alpha)) * self.width

    def upper_bound(self, alpha: float = 0.05) -> float:  # noqa: ARG002
        """Return infinity: no upper bound was proved."""
        return math.inf

    def evalue(self, delta: float) -> float:
        """Return evidence against ψ <= δ whose mean is at most 1 under it."""
        scaled = check_number("delta", delta, at_least=0) / self.width
        return math.exp(min(self._log_evidence(scaled), MAX_LOG_EVIDENCE))

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of ψ <= δ: one over the evidence, by Markov's inequality."""
        return min(1.0, 1 / self.evalue(max(delta, 0.0)))

    def _p_less(self, delta: float) -> float:  # noqa: ARG002
        """Return 1: nothing speaks against ψ >= δ without an upper bound."""
        return 1.0

    def _log_evidence(self, delta: float) -> float:
        """Return log of the mean over stakes and orders of W/(1 + λδ)^n."""
        # E W <= (1 + λψ)^n, so that W/(1 + λδ)^n has a mean of at most 1 under ψ <= δ
        logs = self.wealths - self.n * np.log1p(self.stakes * delta)[:, None]
        return log_mean(logs)


def random_answers_law(
    sample: LossDraws, *, alpha: float, seed: int, width: float, notes: tuple[str, ...] = ()
) -> RandomAnswersLaw:
    """Return the law of ψ of mean losses from draws of losses."""
    bets = _TupleBets(sample)
    stakes = np.array([_choose_stake(sample.n, alpha, variance) for variance in VARIANCES])
    rng = np.random.default_rng([seed, 15])
    orders = [rng.permutation(bets.n_clusters) for _ in range(ORDERS)]
    results = [[bets.run_order(order, float(stake)) for order in orders] for stake in stakes]
    wealths = np.array([[result[0] for result in row] for row in results])
    gains = np.array([[result[1] for result in row] for row in results])
    estimate = float(gains.mean()) / sample.n * width
    return RandomAnswersLaw(
        "draws", estimate, sample.n, notes, wealths, stakes, width, fixed_targets=False
    )


def _choose_stake(n: int, alpha: float, variance: float) -> float:
    """Return λ, from nothing but what is known before the data."""
    return min(MAX_STAKE, math.sqrt(2 * math.log(1 / alpha) / (n * variance)))


class _TupleBets:
    """The tuples, cluster by cluster, and the bets on them."""

    def __init__(self, sample: LossDraws) -> None:
        self.sample = sample
        self.n_clusters = int(sample.clusters.max()) + 1
        order = np.argsort(sample.clusters, kind="stable")
        ends = np.cumsum(np.bincount(sample.clusters, minlength=self.n_clusters))
        self.points = np.split(order, ends[:-1])
        self.shape = (int(sample.blocks.max()) + 1, int(sample.groups.max()) + 1)
        # the first half of the draws chooses targets; of a single one nothing is left for that
        self.pilot = sample.draws // 2

    @cached_property
    def strata(self) -> IntArray:
        """(blocks,) the stratum of each block."""
        strata_of_blocks = np.zeros(self.shape[0], np.int64)
        strata_of_blocks[self.sample.blocks] = self.sample.strata
        return strata_of_blocks

    def run_order(self, order: IntArray, stake: float) -> tuple[float, float]:
        """Bet on all clusters in an order; return the log-wealth and the sum of gains measured."""
        past, sample = self._observe_pilot(), self.sample
        means, variances = np.zeros(self.shape), np.zeros(self.shape[0])
        strata, interval = int(self.strata.max()) + 1, max(len(order) // REFITS, 1)
        log_wealth, gains = 0.0, 0.0
        for at, cluster in enumerate(order.tolist()):
            if at % interval == 0:
                fit_cell_means(past, strata, means, variances)
            points = self.points[cluster]
            wealth, gain = self._bet_on_cluster(points, means, variances, stake)
            log_wealth += wealth
            gains += gain
            # observed after the cluster was bet on; later guesses may use them
            losses = sample.losses[points, self.pilot :]
            past.people[sample.blocks[points], sample.groups[points]] += losses.shape[1]
            past.losses[sample.blocks[points], sample.groups[points]] += losses.sum(axis=1)
        return log_wealth, gains

    def _observe_pilot(self) -> ObservedLosses:
        """Return what the pilot draws say: they are observed before the first bet."""
        sample, people, losses = self.sample, np.zeros(self.shape), np.zeros(self.shape)
        people[sample.blocks, sample.groups] = self.pilot
        losses[sample.blocks, sample.groups] = sample.losses[:, : self.pilot].sum(axis=1)
        return ObservedLosses(people, losses, self.strata)

    def _cut_tuples(self, points: IntArray, stake: float) -> list[tuple[IntArray, IntArray]]:
        """Return the people and the draws of a cluster's tuples, so many that λA is not too large.

        A person is in one tuple, and so is a draw.
        """
        counts, fresh = self.sample.counts[points], self.sample.draws - self.pilot
        parts = max(1, min(fresh, math.ceil(stake * counts.sum() / MAX_TUPLE_STAKE)))
        # a draw is in one tuple only: those of the next tuple are fresh given this one's
        draws = np.array_split(np.arange(self.pilot, self.sample.draws), parts)
        return [
            (counts * (part + 1) // parts - counts * part // parts, draws[part])
            for part in range(parts)
        ]

    def _bet_on_cluster(
        self, points: IntArray, means: FloatArray, variances: FloatArray, stake: float
    ) -> tuple[float, float]:
        """Return the logarithm of the factor of a cluster's tuples, and the gain measured."""
        blocks = self.sample.blocks[points]
        guess = means[blocks, self.sample.groups[points]]
        target = _find_worst(blocks, guess)
        rise = guess[target] - guess
        # nobody has a twin that looks worse: no movers, and a factor of 1
        if not rise.any():
            return 0.0, 0.0
        log_wealth, gains = 0.0, 0.0
        for people, draws in self._cut_tuples(points, stake):
            movers = np.where(rise > 0, people, 0)
            n_movers = int(movers.sum())
            if n_movers == 0:
                continue
            mean = float(movers @ rise) / n_movers
            spread = 2 * float(movers @ variances[blocks]) / n_movers / len(draws) + mean * mean
            # λA for the lemma, .9 for a positive factor, Kelly's for power
            bet = min(stake * n_movers, MAX_BET, MAX_KELLY_MULTIPLE * mean / spread)
            # these draws are looked at only now that target and bet are fixed
            losses = self.sample.losses[points][:, draws].mean(axis=1)
            gain = float(movers @ (losses[target] - losses))
            log_wealth += math.log1p(bet * gain / n_movers)
            gains += gain
        return log_wealth, gains


def _find_worst(blocks: IntArray, guess: FloatArray) -> IntArray:
    """Return for each point the place of the one in its block that is guessed to fare worst."""
    order = np.lexsort((guess, blocks))
    last = np.r_[np.flatnonzero(np.diff(blocks[order])), len(order) - 1]
    worst = dict(zip(blocks[order[last]].tolist(), order[last].tolist(), strict=True))
    return np.array([worst[block] for block in blocks.tolist()], np.int64)
