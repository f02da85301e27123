"""ψ of stated twins in the population of `proxies`, worked out without the package's solvers.

Steps, scales and the metric are those of the similarity: they say which twins are meant. How they
move people, where they stop, who is plausible and what a budget buys is written here once more, and
averaged over people who are spread evenly over the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree
from scipy.stats import norm

from tests.validity.proxies import FEATURES, LEAST, MEANS, SPREAD

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.similarity import SensitiveSubspace
    from fairtransport.similarity.twins import Twins

PLACES = 10
MOST_NEIGHBOURS = 2000


@dataclass(frozen=True)
class Stated:
    """The twins of anybody: what they depend on but for the person."""

    like: SensitiveSubspace
    fitting: pd.DataFrame
    twins: Twins
    budget: float
    seed: int = 0

    @property
    def metric(self) -> np.ndarray:
        """(columns, dimensions) A: z and z' are |A'(z − z')|² apart, in standardised units."""
        return self.like.making(None).metric

    @property
    def units(self) -> tuple[np.ndarray, np.ndarray]:
        """The centres and the scales of the columns."""
        parts = [self.like.encoding_.parts[name] for name in FEATURES]
        return np.array([one.centre for one in parts]), np.array([one.scale for one in parts])

    def of(self, people: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return where a step leads people: in the units of the columns."""
        seen = self.fitting[FEATURES].to_numpy()
        low, high = np.minimum(people, seen.min(axis=0)), np.maximum(people, seen.max(axis=0))
        by = step * self.units[1]
        if self.budget > 0:
            return np.clip(people + by, low, high)
        room = np.where(by > 0, high - people, people - low)
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(by == 0, np.inf, room / np.abs(by))
        return people + np.minimum(1.0, lengths.min(axis=1))[:, None] * by

    def plausible(self, people: np.ndarray, made: np.ndarray) -> np.ndarray:
        """Say who is as near to somebody of the fitting data as these are, or as their person."""
        if not self.twins.plausibility:
            return np.ones(len(people), bool)
        tree, limit = self._neighbours()
        centre, scale = self.units
        far, own = (tree.query((x - centre) / scale)[0] for x in (made, people))
        return far <= np.maximum(limit, own) * (1 + 1e-9)

    def _neighbours(self) -> tuple[cKDTree, float]:
        centre, scale = self.units
        rows = np.unique((self.fitting[FEATURES].to_numpy() - centre) / scale, axis=0)
        if len(rows) > MOST_NEIGHBOURS:
            order = np.random.default_rng([self.seed, 17]).permutation(len(rows))
            rows = rows[order[:MOST_NEIGHBOURS]]
        tree = cKDTree(rows)
        apart = np.sort(tree.query(rows, k=2)[0][:, 1])
        return tree, float(apart[int(np.ceil(self.twins.plausibility * len(apart))) - 1])

    def gains_and_costs(self, people: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return (people, steps) what each twin adds to the loss, and costs; nothing if none."""
        scale = self.units[1]
        gains, costs = np.zeros((2, len(people), len(steps)))
        for at, step in enumerate(steps):
            made = self.of(people, step)
            apart = (made - people) / scale @ self.metric
            counts = self.plausible(people, made)
            if self.budget == 0:
                counts &= (np.abs(apart) < 10.0**-PLACES).all(axis=1)
            gains[:, at] = np.where(counts, loss(people, made) - loss(people, people), 0.0)
            costs[:, at] = np.where(counts, (apart**2).sum(axis=1), 0.0)
        return gains, costs

    def value(self, people: np.ndarray, steps: np.ndarray) -> float:
        """Return ψ: the least over prices ν of νε + the mean of the best net gain, 0 at least."""
        gains, costs = self.gains_and_costs(people, steps)
        if self.budget == 0:
            return float(gains.max(axis=1, initial=0.0).mean())

        def bought(price: float) -> float:
            net = (gains - price * costs).max(axis=1, initial=0.0)
            return price * self.budget + float(net.mean())

        # a price above 1/ε buys nothing: no gain is above 1
        found = minimize_scalar(bought, bounds=(0.0, 1 / self.budget), method="bounded")
        return min(float(found.fun), bought(0.0))


def loss(people: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Return whether the model errs on made-up people who keep their person's label."""
    good = people[:, 1] > 0
    accepted = (made[:, 1] > 0) & (made[:, 0] > LEAST)
    return (good != accepted).astype(float)


def population(heights: int, grades: int, rng: np.random.Generator) -> np.ndarray:
    """Return people of the population: one at random of each of many equally likely parts."""
    made = []
    for mean in MEANS.values():
        height = (np.arange(heights)[:, None] + rng.random((heights, grades))) / heights
        grade = (np.arange(grades)[None, :] + rng.random((heights, grades))) / grades
        made.append(
            np.column_stack([mean + SPREAD * norm.ppf(height).ravel(), norm.ppf(grade).ravel()])
        )
    return np.vstack(made)
