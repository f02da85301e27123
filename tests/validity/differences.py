"""Differences of two audits: coverage, what pairing saves, and power beside other tests.

`python -m tests.validity.differences` measures all cases and writes docs/differences.json.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.inference import difference_law, sampling_law
from fairtransport.inference.finite.bets import Rejection
from fairtransport.inference.finite.evidence import Ladder

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.inference.finite.difference import DifferenceLaw, PairedEvidence

DOCS = Path(__file__).parents[2] / "docs"
ALPHA, RANGE = 0.05, (0.0, 1.0)
SIZES = (150, 1000)
REPETITIONS, WITH_INTERVALS = 600, 40
SHIFTS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
"""Differences at which power is measured."""


@dataclass(frozen=True)
class Pair:
    """Two audits of one population, Δ = ψ of the first minus ψ of the second."""

    name: str
    first: AuditProblem
    second: AuditProblem
    frequencies: np.ndarray

    @property
    def truth(self) -> float:
        """Δ(f*)."""
        return self.first.value(self.frequencies) - self.second.value(self.frequencies)

    @property
    def seed(self) -> list[int]:
        """A seed of its own."""
        return list(self.name.encode())

    def law(self, counts: np.ndarray, rng: object) -> DifferenceLaw:
        """Return the law that `compare` makes: it knows the losses' range, no more."""
        return difference_law(self.first, self.second, counts, rng=rng, loss_range=RANGE)


def free(name: str, changed: float, seed: int) -> Pair:
    """Two models under 0-1 loss that disagree on a share of 90 cells, in 30 blocks of twins."""
    rng = np.random.default_rng(seed)
    old = (rng.random(90) < 0.3).astype(float)
    new = np.where(rng.random(90) < changed, (rng.random(90) < 0.3).astype(float), old)
    blocks = Geometry(np.repeat(np.arange(30), 3))
    return Pair(
        name, AuditProblem(old, blocks), AuditProblem(new, blocks), rng.dirichlet(np.full(90, 2.0))
    )


def priced(name: str, noise: float, seed: int) -> Pair:
    """Two scores on 30 points in the plane, with a budget."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 2))
    old = 1 / (1 + np.exp(-1.5 * points[:, 0] - 0.7 * rng.normal(size=30)))
    new = (1 - noise) * old + noise * rng.random(30)
    geometry = Geometry(np.zeros(30, np.int64), Embedding(points))
    problems = (AuditProblem(losses, geometry, budget=0.1) for losses in (old, new))
    return Pair(name, *problems, rng.dirichlet(np.ones(30)))


def corners(name: str, slack: float) -> Pair:
    """Two rare profiles whose moves the budget just allows, valued differently."""
    costs = np.full((6, 6), np.inf)
    np.fill_diagonal(costs, 0)
    costs[1, 4] = costs[2, 5] = 1
    budget = 0.1 * slack
    old = AuditProblem([0, 0, 0, 0, 1.0, 1.0], costs, budget=budget)
    new = AuditProblem([0, 0, 0, 0, 1.0, 0.3], costs, budget=budget)
    return Pair(name, old, new, np.array([0.5, 0.06, 0.04, 0.4, 0.0, 0.0]))


PAIRS: list[Callable[[], Pair]] = [
    lambda: free("no budget, models agree on 90 %", 0.1, 41),
    lambda: free("no budget, unrelated models", 1.0, 42),
    lambda: free("no budget, the same model twice", 0.0, 43),
    lambda: priced("budget, similar scores", 0.1, 44),
    lambda: priced("budget, unrelated scores", 1.0, 45),
    lambda: corners("near a corner, 1.05 times", 1.05),
    lambda: corners("near a corner, 1.5 times", 1.5),
]


@dataclass(frozen=True)
class Row:
    """How often the bounds of a difference held, and how wide they are."""

    case: str
    n: int
    truth: float
    repetitions: int
    intervals: int
    lower: float
    upper: float
    paired_over_apart: float


@dataclass(frozen=True)
class Power:
    """How often a difference is found, by bounds of the difference, McNemar, two intervals."""

    n: int
    truth: float
    repetitions: int
    paired: float
    mcnemar: float
    apart: float


def passes(evidence: PairedEvidence, truth: float) -> bool:
    """Whether the lower bound passes the truth: whether the test on the truth's rung rejects it.

    The head start of the climb, which has a fiftieth of α, is not looked at.
    """
    if not evidence.min_value < truth < evidence.max_value:
        return False
    rung = evidence.ladder.rung_below(truth)
    rejection = Rejection(evidence)
    plan = rejection._build_plan(evidence.ladder.threshold(rung + 1), Ladder.main_level(ALPHA))
    return rejection._find_least_wealth(plan, truth, plan.target).value >= plan.target


def apart(pair: Pair, counts: np.ndarray, rng: object) -> tuple[float, float]:
    """Return the interval from two separate ones that hold together."""
    two_valued = pair.first.budget == 0
    first, second = (
        sampling_law(one, counts, rng=rng, loss_range=RANGE, binary_losses=two_valued).interval(
            ALPHA / 2
        )
        for one in (pair.first, pair.second)
    )
    return first.lower - second.upper, first.upper - second.lower


def measure(pair: Pair, n: int, repetitions: int, intervals: int) -> Row:
    """Draw samples and count how often the bounds cover Δ."""
    rng, truth = np.random.default_rng([n, *pair.seed]), pair.truth
    hits, ratios = np.zeros(2), []
    for repetition in range(repetitions):
        counts = rng.multinomial(n, pair.frequencies)
        law = pair.law(counts, rng)
        if repetition < intervals:
            hits += law.lower_bound(ALPHA) <= truth, law.upper_bound(ALPHA) >= truth
            low, high = law.interval(ALPHA)
            below, above = apart(pair, counts, rng)
            ratios.append((high - low) / (above - below))
        else:
            hits += not passes(law.forward, truth), not passes(law.backward, -truth)
    lower, upper = (hits / repetitions).tolist()
    ratio = float(np.median(ratios)) if ratios else float("nan")
    return Row(pair.name, n, truth, repetitions, intervals, lower, upper, ratio)


def shifted(shift: float) -> Pair:
    """Two models under 0-1 loss: 4 % of people gain under either alone, ``shift`` more there."""
    twins = Geometry([0, 0, 1, 1, 2, 2])
    first, second = (
        AuditProblem(losses, twins) for losses in ([0, 1, 0, 1, 0, 0.0], [0, 1, 0, 0, 0, 1.0])
    )
    # cells 0, 2, 4 gain where their twin has a loss: under both, the first alone, the second alone
    more = 0.04 + shift
    f = np.array([0.1, 0.2, more, 0.2, 0.04, 0.46 - more])
    return Pair(f"shift {shift}", first, second, f)


def measure_power(shift: float, n: int, repetitions: int) -> Power:
    """Count how often three ways of comparing find a difference, at level 5 % two-sided."""
    pair, rng = shifted(shift), np.random.default_rng([n, int(1000 * shift)])
    gains = pair.first.frontiers.base_gain - pair.second.frontiers.base_gain
    found = np.zeros(3)
    for _ in range(repetitions):
        counts = rng.multinomial(n, pair.frequencies)
        law = difference_law(
            pair.first, pair.second, counts, rng=rng, loss_range=RANGE,
            alpha=ALPHA / 2,
        )  # fmt: skip
        ups, downs = int(counts[gains > 0].sum()), int(counts[gains < 0].sum())
        test = binomtest(ups, ups + downs).pvalue if ups + downs else 1.0
        below, above = apart(pair, counts, rng)
        found += law.pvalue(0.0, "two-sided") <= ALPHA, test <= ALPHA, below > 0 or above < 0
    return Power(n, pair.truth, repetitions, *(found / repetitions).tolist())


def main() -> None:
    """Measure everything and write it down."""
    rows = [
        asdict(measure(make(), n, REPETITIONS, WITH_INTERVALS)) for make in PAIRS for n in SIZES
    ]
    powers = [asdict(measure_power(shift, n, 400)) for n in (300, 1000) for shift in SHIFTS]
    found = {"coverage": rows, "power": powers}
    rounded = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 5))
    (DOCS / "differences.json").write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
