"""What a move costs: the class that every cost is one of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray


class Moves(NamedTuple):
    """Moves one by one: from which point, to which, at what cost.

    Attributes
    ----------
    row, col
        The points that mass leaves and arrives at.
    cost
        What a unit of mass pays; 0 is free, infinity forbids.
    """

    row: IntArray
    col: IntArray
    cost: FloatArray


class Cost(ABC):
    """What a move costs, before blocks and forbidden moves are laid over it.

    A new one needs `between` and `at`; the other members tell solvers of short cuts.

    Notes
    -----
    Costs are squared distances, c_ij = d(z_i, z_j)², as in the paper. Staying put costs nothing,
    which `Geometry.costs` sees to. A short cut must give the same numbers as `between`.

    Examples
    --------
    Years apart, squared, as a cost of one's own:

    >>> class Years(Cost):
    ...     def __init__(self, age):
    ...         self.age = age
    ...
    ...     def between(self, rows, cols):
    ...         return np.square(np.subtract.outer(self.age[rows], self.age[cols]))
    ...
    ...     def at(self, points):
    ...         return Years(self.age[points])
    >>> Years(np.array([30.0, 32.0, 40.0])).between(np.array([0]), np.array([1, 2])).tolist()
    [[4.0, 100.0]]
    """

    @abstractmethod
    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the (rows, cols) array of costs; infinity forbids a move.

        Parameters
        ----------
        rows, cols
            Numbers of the points that mass leaves, and that it arrives at.
        """

    @abstractmethod
    def at(self, points: IntArray) -> Cost:
        """Return the costs between some of the points, numbered anew.

        Parameters
        ----------
        points
            Which, in the order of their new numbers.
        """

    @property
    def size(self) -> int | None:
        """The number of points that it is about, where it is about certain points."""
        return None

    @property
    def allows_all(self) -> bool:
        """Whether every move is allowed and free.

        Returns
        -------
        bool

        Examples
        --------
        >>> cost.allows_all
        False
        """
        return False

    @property
    def charges(self) -> bool:
        """Whether some move may cost something; else each is free or forbidden.

        Returns
        -------
        bool

        Examples
        --------
        >>> cost.charges
        True
        """
        return True

    @property
    def points(self) -> FloatArray | None:
        """Coordinates of which the costs are squared Euclidean distances, if there are any.

        With them frontiers are searched by trees instead of through all pairs.
        """
        return None

    @property
    def dense(self) -> FloatArray | None:
        """The costs of all moves as a matrix, where there is one already.

        Returns
        -------
        FloatArray | None

        Examples
        --------
        >>> print(cost.dense)
        None
        """
        return None

    @property
    def listed(self) -> Moves | None:
        """All moves that are allowed, where they are few and listed.

        Returns
        -------
        Moves | None

        Examples
        --------
        >>> print(cost.listed)
        None
        """
        return None

    def perturbed(self, eta: float, size: int, rng: np.random.Generator) -> Cost:
        """Return costs of ``size`` points within (1 ± η) times these, at random.

        Unless a kind of cost has something better, each point gives its moves a factor.

        Parameters
        ----------
        eta
            η in [0, 1).
        size
            The number of points, for costs that do not know it.
        rng
            Draws.
        """
        if not self.charges:
            return self
        # two weights of at most η/2 each: a factor inside 1 ± η, symmetric and without a K × K
        # array
        return Perturbed(self, eta * rng.uniform(-0.5, 0.5, size))


class Perturbed(Cost):
    """Another cost with a factor 1 + w_i + w_j on the move from i to j.

    Parameters
    ----------
    cost
        The other.
    weights
        (K,) w; with |w| <= η/2 no cost changes by more than the share η.
    """

    def __init__(self, cost: Cost, weights: FloatArray) -> None:
        self.cost, self.weights = cost, weights

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the other's costs times the factors.

        Parameters
        ----------
        rows, cols
            As in `Cost.between`.
        """
        factors = 1 + self.weights[rows][:, None] + self.weights[cols][None, :]
        return np.asarray(self.cost.between(rows, cols) * factors)

    def at(self, points: IntArray) -> Perturbed:
        """Return the same for some of the points.

        Parameters
        ----------
        points
            As in `Cost.at`.
        """
        return Perturbed(self.cost.at(points), self.weights[points])
