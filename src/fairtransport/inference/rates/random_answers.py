"""Random answers: a lower bound for ψ of mean losses, over the sample and the draws.

The worst twin is chosen on some draws and measured on others. For the population, people come in
random batches, and the stake of a batch depends on earlier batches only. For these cases, draws
come in rounds. The theorems are in "Random answers" of ``docs/theory.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.parallel import threads_for
from fairtransport._core.validation import check_number
from fairtransport.inference.finite.evidence import Ladder
from fairtransport.inference.finite.law import find_pvalue
from fairtransport.inference.finite.least_wealth import log_best_mean, log_mean
from fairtransport.inference.laws import SamplingLaw
from fairtransport.inference.rates.cell_means import (
    ObservedLosses,
    fit_effects,
    guess_means,
    sum_blocks,
)
from fairtransport.inference.rates.draw_kernels import (
    MAX_TUPLES,
    Arrivals,
    DrawAim,
    DrawOrders,
    DrawTable,
    Guesses,
    Observed,
    admit_batch,
    bet_on_draws,
    bet_on_round,
)

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray

ORDERS, FEW_ORDERS, MANY_DRAWS = 64, 16, 1_000_000
"""Number of random orders of people and draws; fewer if there are many draws in total."""
MIN_ORDERS_SHARE = 1 / 4
"""Minimum share of the orders whose mean wealth may decide without the others."""
PILOT, BATCHES = 0.1, 2
"""Share of the people in the first batch, which is not bet on, and number of further batches."""
RUNG_RECORDS = 4
"""Number of people per record of a ladder: draws add noise, so fewer thresholds suffice."""
MAX_ROUNDS = 20
"""Maximum number of rounds of draws for a statement about these cases."""
MAX_CELLS_AT_ONCE, MIN_ORDERS_AT_ONCE = 1_000_000, 4
"""Maximum number of cells of orders run together, to save memory, and minimum number of orders."""
PRIOR_VARIANCE_DRAWS = 4.0
"""Weight of the variance of two-valued losses in that of draws, in draws."""
MIN_DRAW_VARIANCE, MAX_SHIFT_VARIANCE = 1e-4, 0.5


class LossDraws(NamedTuple):
    """People, and several draws of the loss at each of their points and those of their twins.

    ``open_codes`` has a column for each set with observed levels.
    """

    losses: FloatArray
    counts: IntArray
    blocks: IntArray
    groups: IntArray
    clusters: IntArray
    strata: IntArray
    open_codes: IntArray

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def draws(self) -> int:
        """Number of answers to each question, m."""
        return int(self.losses.shape[1])


@dataclass(frozen=True, eq=False)
class RandomAnswersLaw(SamplingLaw):
    """Lower bounds and tests of ψ of mean losses; there is no upper bound.

    ``unit`` is the largest difference that counts, in the unit of the loss: thresholds are
    bet against in units of it.
    """

    table: DrawTable
    orders: DrawOrders
    alpha: float
    unit: float

    @property
    def guarantee(self) -> str:
        """The bound holds at every n and every number of draws."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return the last rung of the ladder of thresholds up to which all are rejected."""
        level, ladder = self._level(alpha), Ladder(math.ceil(self.n / RUNG_RECORDS), 1.0)
        if level not in self._bounds:
            guess = ladder.rung_below(max(self.estimate / self.unit, 0.0) / 2)
            rung = ladder.climb(
                level, lambda rung, at: self._rejects(ladder.threshold(rung), at), guess
            )
            self._bounds[level] = ladder.threshold(rung) * self.unit
        return self._bounds[level]

    def upper_bound(self, alpha: float = 0.05) -> float:  # noqa: ARG002
        """Return infinity: no upper bound was proved."""
        return math.inf

    def evalue(self, delta: float) -> float:
        """Return an e-value against ψ <= δ, with mean at most 1 under it."""
        scaled = check_number("delta", delta, at_least=0) / self.unit
        return math.exp(log_mean(self.log_wealths(scaled, self.alpha)))

    def log_wealths(self, delta: float, level: float) -> FloatArray:
        """Return the log-wealth of each order against ψ <= δ, in units, aimed at a level."""
        return _run_orders(self.table, self.orders, DrawAim(float(delta), float(level)))[:, 0]

    def _rejects(self, delta: float, level: float) -> bool:
        """Whether ψ <= δ, in units, and with it every smaller threshold, is rejected.

        Stakes aimed at δ win more against smaller thresholds.
        """
        if delta >= 1:
            return False
        logs = self.log_wealths(delta, level)
        return log_best_mean(logs, math.ceil(MIN_ORDERS_SHARE * len(logs))) >= -math.log(level)

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of ψ <= δ."""
        scaled = max(delta, 0.0) / self.unit
        return find_pvalue(
            lambda level: self._rejects(scaled, level), self.alpha,
            rejected=self.rejects(delta, self.alpha),
        )  # fmt: skip

    def _p_less(self, delta: float) -> float:  # noqa: ARG002
        """Return 1, as there is no upper bound."""
        return 1.0

    @cached_property
    def _bounds(self) -> dict[float, float]:
        """Cache of lower bounds, by level."""
        return {}


def random_answers_law(
    sample: LossDraws, *, alpha: float, seed: int, width: float, unit: float | None = None,
    about: str = "population", notes: tuple[str, ...] = (),
) -> RandomAnswersLaw:  # fmt: skip
    """Return the law of ψ of mean losses from draws of losses, which are in [0, 1].

    ``width`` is the difference that 1 stands for. Differences count up to ``unit``, if given.
    """
    unit = width if unit is None else unit
    sample = _sort_blocks(sample)
    table = build_draw_table(sample, unit / width)
    orders = draw_orders(table, sample, about, np.random.default_rng([seed, 15]))
    # measured gains hardly depend on the threshold
    estimate = float(_run_orders(table, orders, DrawAim(0.0, alpha))[:, 1].mean())
    return RandomAnswersLaw(
        "draws", estimate * unit, sample.n, notes, table, orders, alpha, unit, fixed_targets=False
    )


def _run_orders(table: DrawTable, orders: DrawOrders, aim: DrawAim) -> FloatArray:
    """Return (orders, 2) log-wealths and estimates of bets aimed at a threshold and a level."""
    many = len(orders.draws)
    size = max(MIN_ORDERS_AT_ONCE, MAX_CELLS_AT_ONCE // table.people.size)
    run = _run_batches if orders.batches.shape[1] else _run_rounds
    return np.concatenate([
        run(table, DrawOrders(*(part[low : low + size] for part in orders)), aim)
        for low in range(0, many, size)
    ])  # fmt: skip


def _run_rounds(table: DrawTable, orders: DrawOrders, aim: DrawAim) -> FloatArray:
    """Return log-wealths against R_n <= δ, and estimates of R_n."""
    m = table.losses.shape[2]
    rounds = min(m, MAX_ROUNDS)
    edges = np.arange(rounds + 1) * m // rounds
    past, result = _observe_nothing(table, orders), np.zeros((len(orders.draws), 2))
    with threads_for(len(result) * table.losses.size):
        for j in range(rounds):
            bet_on_round(table, orders, edges, j, aim, past, _guess_draws(past, table), result)
    result[:, 1] /= table.people.sum() * max(m - edges[1], 1)
    return result


def _run_batches(table: DrawTable, orders: DrawOrders, aim: DrawAim) -> FloatArray:
    """Return log-wealths against ψ <= δ, and estimates of ψ."""
    many, batches = orders.batches.shape[:2]
    past, result = _observe_nothing(table, orders), np.zeros((many, 2))
    clusters, counts = np.zeros((many, len(table.start) - 1)), np.zeros(orders.shifts.shape, int)
    arrivals = Arrivals(
        np.zeros_like(past.number), clusters, counts, np.zeros(many),
        np.zeros(past.number.shape, bool), counts.copy(), counts.copy(),
    )  # fmt: skip
    with threads_for(many * table.losses.size):
        for e in range(batches):
            admit_batch(table, orders, e, aim, past, _guess_draws(past, table), arrivals, result)
            for j in range(MAX_TUPLES - int(arrivals.tuples.max()), MAX_TUPLES):
                guesses = _guess_draws(past, table)
                bet_on_draws(table, orders, e, j, past, guesses, arrivals, result)
            arrivals.used[:] += arrivals.shares
    result[:, 1] /= table.people.sum()
    return result


def _observe_nothing(table: DrawTable, orders: DrawOrders) -> Observed:
    """Return the observations before the first draw."""
    return Observed(*np.zeros((3, len(orders.draws), *table.people.shape)))


def _guess_draws(past: Observed, table: DrawTable) -> Guesses:
    """Guess means of cells and the pooled variance of a draw, from each order's observations.

    The model of cells assumes two-valued losses. Draws of graded losses vary less, and have more
    weight.
    """
    number, total, squares = past
    mean = total.sum(axis=(1, 2)) / np.maximum(number.sum(axis=(1, 2)), 1.0)
    binary = np.maximum(mean * (1.0 - mean), 0.01)
    inside = squares - total**2 / np.maximum(number, 1.0)
    inside = np.where(number > 1.0, inside, 0.0).sum(axis=(1, 2))
    inside += PRIOR_VARIANCE_DRAWS * np.minimum(binary, MAX_SHIFT_VARIANCE * table.unit**2)
    free = PRIOR_VARIANCE_DRAWS + np.maximum(number - 1.0, 0.0).sum(axis=(1, 2))
    pooled = np.maximum(inside / free, MIN_DRAW_VARIANCE)
    scale = np.maximum(1.0, binary / pooled)[:, None, None]
    orders, blocks, groups = number.shape
    places = (np.arange(orders)[:, None] * table.n_strata + table.strata).ravel()
    people, losses = ((part * scale).reshape(-1, groups).T.copy() for part in (number, total))
    seen = ObservedLosses(people, losses, places)
    means, _ = guess_means(seen, fit_effects(sum_blocks(seen, orders, table.n_strata)))
    return Guesses(
        np.ascontiguousarray(means.T).reshape(orders, blocks, groups), pooled,
        np.minimum(pooled / table.unit**2, MAX_SHIFT_VARIANCE),
    )  # fmt: skip


def _sort_blocks(sample: LossDraws) -> LossDraws:
    """Return the sample with blocks numbered cluster by cluster."""
    keys = np.column_stack([sample.clusters, sample.blocks])
    blocks = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    return sample._replace(blocks=blocks)


def build_draw_table(sample: LossDraws, unit: float) -> DrawTable:
    """Return the draws by block and group; ``unit`` is the largest difference that counts."""
    shape = (int(sample.blocks.max()) + 1, int(sample.groups.max()) + 1)
    losses, people = np.zeros((*shape, sample.draws)), np.zeros(shape, np.int64)
    exists = np.zeros(shape, bool)
    strata, clusters = np.zeros((2, shape[0]), np.int64)
    cells = (sample.blocks, sample.groups)
    losses[cells], people[cells], exists[cells] = sample.losses, sample.counts, True
    strata[sample.blocks], clusters[sample.blocks] = sample.strata, sample.clusters
    start = np.r_[0, np.cumsum(np.bincount(clusters))]
    return DrawTable(losses, people, exists, strata, int(strata.max()) + 1, start, float(unit))


def draw_orders(
    table: DrawTable, sample: LossDraws, about: str, rng: np.random.Generator
) -> DrawOrders:
    """Draw random orders: of the draws of each cluster and, about the population, of people."""
    orders = ORDERS if table.losses.size <= MANY_DRAWS else FEW_ORDERS
    m, clusters = sample.draws, len(table.start) - 1
    # one permutation of the draws, shifted differently for each cluster, so that every order
    # combines other draws of two clusters
    draws = rng.permuted(np.tile(np.arange(m), (orders, 1)), axis=1)
    shifts = rng.integers(m, size=(orders, clusters))
    batches = np.zeros((orders, 0, *table.people.shape), np.int64)
    if about == "population":
        chances = [PILOT, *[(1 - PILOT) / BATCHES] * BATCHES]
        parts = rng.multinomial(table.people, chances, size=(orders, *table.people.shape))
        batches = np.ascontiguousarray(np.moveaxis(parts, -1, 1))
    return DrawOrders(draws, shifts, batches, find_available(sample, batches))


def find_available(sample: LossDraws, batches: IntArray) -> IntArray:
    """Return by order and cell the first batch in which its levels have occurred; −1: beforehand.

    Observed levels are known once somebody has them. Earlier bets that use them would disclose
    people to come.
    """
    available = np.full((len(batches), *batches.shape[2:]), -1, np.int8)
    for column in sample.open_codes.T:
        codes = np.zeros(batches.shape[2:], np.int64)
        codes[sample.blocks, sample.groups] = column
        for order, people in enumerate(batches):
            first = np.full(int(codes.max()) + 1, len(people), np.int8)
            for e in reversed(range(len(people))):
                first[codes[people[e] > 0]] = e
            available[order] = np.maximum(available[order], first[codes])
    return available
