"""Rates of systems that know more than the audit: false alarms, misses, widths and power.

`python -m tests.validity.rates` measures all cases and writes docs/rates.json. The worlds on which
constants were chosen are others: see docs/rates-validity.md.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fairtransport.datasets import load_compas
from fairtransport.inference import rate_law
from fairtransport.inference.rates.permutation import permutation_pvalue

DOCS = Path(__file__).parents[2] / "docs"
ALPHA, Z = 0.05, 1.6448536269514722
RESAMPLES = 199
"""Draws of the permutation test here."""
BLIND_REPETITIONS, REPETITIONS, SEEDS = 500, 300, 20


@dataclass(frozen=True)
class Blind:
    """A system that sees x and an omitted column u, and no group: R = 0.

    People have x, one of half as many profiles as there are blocks, a group that depends on x,
    and u, which depends on x or on nothing. The system says whether a(x) + u > 0; the outcome y
    is another function of x, u and chance. The loss is an error, blocks are (x, y).
    """

    name: str
    n: int
    blocks: int
    shares: tuple[float, ...]
    follows_x: bool

    def draw(self, rng):
        """Return blocks, groups, losses, strata and the world: no rates differ."""
        profiles = self.blocks // 2
        effect = rng.normal(size=profiles)
        tilt = rng.normal(size=(profiles, len(self.shares))) * 0.5
        chances = np.array(self.shares) * np.exp(tilt)
        chances /= chances.sum(axis=1, keepdims=True)
        x = rng.integers(0, profiles, self.n)
        group = (rng.random((self.n, 1)) > np.cumsum(chances[x], axis=1)[:, :-1]).sum(axis=1)
        omitted = rng.normal(size=self.n) + (effect[x] if self.follows_x else 0.0)
        decision = effect[x] + omitted > 0
        y = (effect[x] + omitted + 1.5 * rng.normal(size=self.n) > 0).astype(int)
        return 2 * x + y, group, (decision != y).astype(float), y, None


@dataclass(frozen=True)
class Differing:
    """A system whose rates differ by ``effect`` between two groups, or among more, evenly spaced.

    The sign is one, or one for each block at random.
    """

    name: str
    n: int
    blocks: int
    shares: tuple[float, ...]
    effect: float
    random_sign: bool = False

    def draw(self, rng):
        """Return blocks, groups, losses, strata and the means of all cells."""
        groups = len(self.shares)
        steps = np.linspace(-0.5, 0.5, groups) * self.effect
        base = rng.uniform(0.2, 0.8, self.blocks)[:, None]
        sign = rng.choice([-1, 1], (self.blocks, 1)) if self.random_sign else 1
        means = base + sign * steps
        block = rng.integers(0, self.blocks, self.n)
        group = rng.choice(groups, self.n, p=self.shares)
        losses = (rng.random(self.n) < means[block, group]).astype(float)
        return block, group, losses, None, means

    def truth(self, means) -> float:
        """Return R."""
        return float(((means.max(axis=1, keepdims=True) - means) @ np.array(self.shares)).mean())


EVEN, SKEWED, THREE = (0.5, 0.5), (0.9, 0.1), (0.6, 0.3, 0.1)
OMITTED = {False: "omitted column of noise", True: "omitted column that follows x"}
BLIND = [
    Blind(OMITTED[follows], n, blocks, shares, follows)
    for follows in (False, True)
    for n in (500, 5000)
    for blocks in (20, 200, 2000)
    for shares in (EVEN, SKEWED)
] + [Blind(OMITTED[True], n, 200, THREE, follows_x=True) for n in (500, 5000)]
DIFFERING = [
    Differing("one sign", 500, 20, EVEN, 0.2),
    Differing("one sign", 500, 20, EVEN, 0.1),
    Differing("one sign", 500, 200, SKEWED, 0.2),
    Differing("one sign", 5000, 20, EVEN, 0.05),
    Differing("one sign", 5000, 200, EVEN, 0.1),
    Differing("one sign", 5000, 200, SKEWED, 0.1),
    Differing("one sign", 5000, 200, THREE, 0.2),
    Differing("one sign", 5000, 2000, EVEN, 0.1),
    Differing("signs at random", 5000, 20, EVEN, 0.1, random_sign=True),
    Differing("signs at random", 5000, 200, EVEN, 0.2, random_sign=True),
    Differing("one sign", 50_000, 2000, EVEN, 0.05),
]


def oracle_bound(block, group, losses, means) -> float:
    """Return the normal lower bound of somebody who knows the worst group and all variances.

    It sees the sample alone for the size of the difference, and covers R only as n grows.
    """
    blocks, groups = means.shape
    cell = block * groups + group
    people = np.bincount(cell, minlength=means.size).reshape(means.shape)
    sums = np.bincount(cell, losses, minlength=means.size).reshape(means.shape)
    every, worst = np.arange(blocks), means.argmax(axis=1)
    targets = people[every, worst]
    movers = np.where(np.arange(groups) == worst[:, None], 0, people)
    movers[targets == 0] = 0
    observed = sums / np.maximum(people, 1)
    rise = (movers * (observed[every, worst][:, None] - observed)).sum()
    variances = means * (1 - means)
    of_targets = movers.sum(axis=1) ** 2 * variances[every, worst] / np.maximum(targets, 1)
    spread = (of_targets + (movers * variances).sum(axis=1)).sum()
    return float(rise - Z * math.sqrt(spread)) / len(block)


@dataclass(frozen=True)
class Found:
    """What was measured in one case; None where it says nothing."""

    case: str
    n: int
    blocks: int
    shares: tuple[float, ...]
    effect: float
    orders: int
    repetitions: int
    value: float
    lower: float
    found: float
    permutation: float
    misses: float | None
    estimate: float
    oracle: float | None
    oracle_found: float | None
    upper: float | None
    upper_misses: float | None


def orders_of(case: Blind | Differing) -> int:
    """Return the orders of each bound here, fewer than the package's 64 to save time."""
    return 16 if case.blocks == 2000 else 32


def measure(case: Blind | Differing, repetitions: int, seed: int = 0) -> Found:
    """Draw samples of many worlds of a kind and compare what is said with the truth."""
    rows = [_one(case, np.random.default_rng([seed, at]), at) for at in range(repetitions)]
    known = [[one for one in column if one is not None] for column in zip(*rows, strict=True)]
    means = [float(np.mean(column)) if column else None for column in known]
    effect = getattr(case, "effect", 0.0)
    return Found(
        case.name, case.n, case.blocks, case.shares, effect, orders_of(case), repetitions, *means
    )


def _one(case, rng, at):
    block, group, losses, strata, means = case.draw(rng)
    law = rate_law(block, group, losses, strata=strata, alpha=ALPHA, rng=at, orders=orders_of(case))
    lower = law.lower_bound(ALPHA)
    pvalue = permutation_pvalue(law.table, RESAMPLES, rng)
    if means is None:
        truth, miss, oracle, bounds = 0.0, None, (None, None), (None, None)
    else:
        truth = case.truth(means)
        miss = lower > truth
        bound = oracle_bound(block, group, losses, means)
        oracle = (max(bound, 0.0), bound > 0)
        bounds = _certificate(case, law, block, group, means)
    return truth, lower, lower > 0, pvalue <= ALPHA, miss, law.estimate, *oracle, *bounds


def _certificate(case, law, block, group, means):
    """Return the upper bound and whether it fails for the people that it is about."""
    if len(case.shares) > 2 or case.n > 5000:
        return None, None
    people = np.bincount(block * 2 + group, minlength=means.size).reshape(means.shape)
    fit = people.min(axis=1) >= 2
    if not fit.any():
        return None, None
    rises = (people * (means.max(axis=1, keepdims=True) - means))[fit].sum() / people[fit].sum()
    upper = law.certificate(ALPHA).upper_bound
    return upper, upper < rises


def width_without_signs(case: Differing, blocks: int = 4000, seed: int = 0) -> float:
    """Return the width, over the oracle's, of somebody who knows everything but the signs.

    Knowing all rates up to the sign of each block's difference, people are unsealed in a random
    order, those up to the best share of them as a pilot; everybody else is moved by the sign that
    is likelier by then, and the sum has a normal bound.
    """
    rng = np.random.default_rng(seed)
    shares = np.arange(100) / 100
    sure, people = np.zeros(100), 0
    for base in rng.uniform(0.2, 0.8, blocks):
        many = rng.poisson(case.n / case.blocks)
        group = rng.integers(0, 2, many)
        means = np.array([base - case.effect / 2, base + case.effect / 2])
        loss = rng.random(many) < means[group]
        usual, turned = means[group], means[1 - group]
        odds = np.where(loss, np.log(usual / turned), np.log((1 - usual) / (1 - turned)))
        known = np.r_[0, np.cumsum(odds)][np.searchsorted(np.sort(rng.random(many)), shares)]
        sure += many * np.abs(np.tanh(known / 2))
        people += many
    variance = 0.22 - case.effect**2 / 4  # the mean of a loss's, with bases from .2 to .8
    value, error = case.effect / 2, Z * math.sqrt(variance / case.n)
    gains = value * sure / people
    widths = [
        value - gains[at:].mean() + error / math.sqrt(1 - share) for at, share in enumerate(shares)
    ]
    return float(min(widths)) / error


@dataclass(frozen=True)
class Compas:
    """What is said of the COMPAS scores, over seeds; the permutation test at the first."""

    loss: str
    feature: str
    lower: float
    least: float
    most: float
    estimate: float
    plug_in: float
    permutation: float
    upper: float | None
    people: int | None


def compas(seeds: int = SEEDS) -> list[Compas]:
    """Return R's bounds of the COMPAS scores: errors given x and y, low risk given x."""
    data = load_compas()
    y, risk = data["two_year_recid"].to_numpy(), data["high_risk"].to_numpy()
    alike = [data[name].to_numpy() for name in ("age_cat", "priors", "charge")]
    race, sex = data["race"].to_numpy(), data["sex"].to_numpy()
    features = {
        "race, sex held fixed": ([sex], race),
        "sex, race held fixed": ([race], sex),
        "race and sex": ([], [race, sex]),
    }
    rows = []
    for feature, (held, groups) in features.items():
        errors = dict(blocks=[*alike, *held, y], losses=(y != risk).astype(float), strata=y)
        low = dict(blocks=[*alike, *held], losses=1.0 - risk)
        for loss, asked in {"errors": errors, "low risk": low}.items():
            laws = [
                rate_law(groups=groups, counts=data["count"], alpha=ALPHA, rng=seed, **asked)
                for seed in range(seeds)
            ]
            bounds = [law.lower_bound(ALPHA) for law in laws]
            upper = laws[0].certificate(ALPHA)
            rows.append(Compas(
                loss, feature, float(np.mean(bounds)), min(bounds), max(bounds),
                float(np.mean([law.estimate for law in laws])), laws[0].plug_in,
                laws[0].permutation_pvalue, upper and upper.upper_bound, upper and upper.people,
            ))  # fmt: skip
    return rows


def main() -> None:
    """Measure all cases and write them down."""
    found = {
        "compas": [asdict(row) for row in compas()],
        "without_signs": [width_without_signs(case) for case in DIFFERING if case.random_sign],
        "cases": [],
    }
    for case in [*BLIND, *DIFFERING]:
        found["cases"].append(asdict(measure(case, repetitions_of(case))))
        text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
        (DOCS / "rates.json").write_text(text, encoding="utf-8")


def repetitions_of(case: Blind | Differing) -> int:
    """Return how many samples a case has."""
    if case.n > 5000:
        return 100
    return BLIND_REPETITIONS if isinstance(case, Blind) else REPETITIONS


if __name__ == "__main__":
    main()
