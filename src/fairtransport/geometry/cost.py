"""What a move costs: the class that every cost is one of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray


class Moves(NamedTuple):
    """Moves one by one: from which point, to which, at what cost."""

    row: IntArray
    col: IntArray
    cost: FloatArray


class Cost(ABC):
    """What a move costs, before blocks and forbidden moves are laid over it.

    A new one needs `between` and `at`; the other members tell solvers of short cuts.
    """

    @abstractmethod
    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the (rows, cols) array of costs; infinity forbids a move."""

    @abstractmethod
    def at(self, points: IntArray) -> Cost:
        """Return the costs between some of the points, numbered anew."""

    @property
    def size(self) -> int | None:
        """The number of points that it is about, where it is about certain points."""
        return None

    @property
    def allows_all(self) -> bool:
        """Whether every move is allowed and free."""
        return False

    @property
    def charges(self) -> bool:
        """Whether some move may cost something; else each is free or forbidden."""
        return True

    @property
    def points(self) -> FloatArray | None:
        """Coordinates of which the costs are squared Euclidean distances, if there are any."""
        return None

    @property
    def dense(self) -> FloatArray | None:
        """The costs of all moves as a matrix, where there is one already."""
        return None

    @property
    def listed(self) -> Moves | None:
        """All moves that are allowed, where they are few and listed."""
        return None

    def perturbed(self, eta: float, size: int, rng: np.random.Generator) -> Cost:
        """Return costs of ``size`` points within (1 ± η) times these, at random.

        Unless a kind of cost has something better, each point gives its moves a factor.
        """
        if not self.charges:
            return self
        return Perturbed(self, eta * rng.uniform(-0.5, 0.5, size))


class Perturbed(Cost):
    """Another cost with a factor 1 + w_i + w_j on the move from i to j."""

    def __init__(self, cost: Cost, weights: FloatArray) -> None:
        self.cost, self.weights = cost, weights

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the other's costs times the factors."""
        factors = 1 + self.weights[rows][:, None] + self.weights[cols][None, :]
        return np.asarray(self.cost.between(rows, cols) * factors)

    def at(self, points: IntArray) -> Perturbed:
        """Return the same for some of the points."""
        return Perturbed(self.cost.at(points), self.weights[points])
