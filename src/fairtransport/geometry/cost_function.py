"""Costs from a callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fairtransport.checks import FloatArray, IntArray, calling, float_array
from fairtransport.geometry.cost import Cost
from fairtransport.geometry.magnitudes import refuse_bad_costs

CostCallable: TypeAlias = Callable[[IntArray, IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class CostFunction(Cost):
    """Costs from a callable ``function(rows, cols)`` that returns a (rows, cols) array.

    Attributes
    ----------
    function
        Asked for pieces as they are needed, never for all pairs at once. It must give the same
        answer every time: plans and their certificates are computed in several passes.
    """

    function: CostCallable

    def between(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the callable's answer, checked.

        Parameters
        ----------
        rows, cols
            As in `Cost.between`.

        Raises
        ------
        InputError
            If the callable fails, or its answer has a wrong shape or costs that cannot be.
        """
        name = "costs(rows, cols)"
        with calling(name):
            given = self.function(rows, cols)
        part = float_array(name, given, (len(rows), len(cols)))
        refuse_bad_costs(part, name)
        return part

    def at(self, points: IntArray) -> CostFunction:
        """Return the callable for some of the points.

        Parameters
        ----------
        points
            As in `Cost.at`.
        """
        return CostFunction(lambda rows, cols: self.function(points[rows], points[cols]))
