"""How a hypothesis is bet against: the prices in parts, each with paths of stakes of its own."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray


class Stakes(NamedTuple):
    """Paths of stakes for the prices of one part.

    Attributes
    ----------
    values
        (orders, blocks) the stakes.
    until
        (orders,) the block from which on an order was given up, else the number of blocks.
    """

    values: FloatArray
    until: IntArray

    @property
    def lost(self) -> BoolArray:
        """(orders,) which orders were given up."""
        return np.asarray(self.until < self.values.shape[1])


@dataclass(frozen=True, eq=False)
class Plan:
    """How "ψ <= aim" is bet against at a level: the prices in parts, each with its own stakes.

    Near a corner of the budget curve two prices far apart both matter, and what wins at the one
    loses at the other. Every price is tested by itself, so each may have its own stakes.

    Attributes
    ----------
    aim, level
        The threshold and the level.
    cuts
        The ends of the parts, rising, known before the data.
    held
        The plan whose stakes are laid until an order is given up there, with the same cuts.
    gives_up
        Whether an order that is as good as lost stakes nothing any more.
    """

    aim: float
    level: float
    cuts: tuple[float, ...]
    held: Plan | None = None
    gives_up: bool = False
    stakes: dict[int, Stakes] = field(default_factory=dict)

    @property
    def target(self) -> float:
        """The log-wealth that rejects: log(1/level)."""
        return -math.log(self.level)

    def part_of(self, price: float) -> int:
        """Return the part that a price belongs to.

        Parameters
        ----------
        price
            A price between the first cut and the last. A cut between two parts belongs to the upper
            one, the last cut to the last part.

        Examples
        --------
        >>> plan = Plan(0.1, 0.05, (0.0, 0.5, 1.0))
        >>> [plan.part_of(price) for price in (0.0, 0.4, 0.5, 1.0)]
        [0, 0, 1, 1]
        """
        return min(bisect_right(self.cuts, price), len(self.cuts) - 1) - 1
