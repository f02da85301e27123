"""The best targets of some points at one price: a forest that is planted once for many searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.transport.problem import AuditProblem


class PriceSearch:
    """All targets of a problem whose costs are squared distances, ready to be searched.

    At one price a search leaves out far more than one for whole frontiers, which have to know
    the best target at every price.
    """

    def __init__(self, problem: AuditProblem) -> None:
        from fairtransport.transport.forest import by_place, plant
        from fairtransport.transport.forest_search import Points

        points = problem.geometry.searchable
        assert points is not None  # noqa: S101 - the caller's duty
        self.forest = plant(problem.losses, problem.geometry, points, flat=False)
        profiles = np.empty((problem.size, 0), np.int64)
        self.points = Points(np.ascontiguousarray(points), problem.losses, profiles)
        # where each point stands when neighbours are close together
        self.place = np.empty(problem.size, np.int64)
        self.place[by_place(self.forest.place, problem.geometry.blocks)] = np.arange(problem.size)

    def best(
        self, price: float, rows: IntArray, begin: IntArray
    ) -> tuple[IntArray, FloatArray, IntArray]:
        """Return points, neighbours close together, max_j (l_j − ν c_ij) of each, and who has it.

        Parameters
        ----------
        price
            ν above 0, which may be infinite.
        rows
            The points, in any order.
        begin
            For each a target that is known to be good.
        """
        from fairtransport.transport.forest_search import best_in_forest

        order = np.argsort(self.place[rows])
        near, best, target = rows[order], np.empty(len(rows)), begin[order]
        with threads_for(float(len(rows)) * len(self.forest.target)):
            best_in_forest(near, self.forest, self.points, price, best, target)
        return near, best, target
