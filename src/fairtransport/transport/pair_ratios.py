"""How much what is said of two points differs for their distance: a compiled look at all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit, prange

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray


@njit(cache=True, parallel=True)
def largest_ratios(
    rows: IntArray, cols: IntArray, place: FloatArray, said: FloatArray, labels: bool,  # noqa: FBT001
    floor: float, result: FloatArray,
) -> None:  # fmt: skip
    """Fill ``result`` with the largest squared ratio of difference and distance of each row.

    Differences are sums over the columns of ``said``, or 1 for ``labels`` that differ. Ratios up
    to ``floor`` are not looked for: a distance is left as soon as it is too long to matter.
    """
    for at in prange(len(rows)):
        i, best = rows[at], floor
        for j in cols:
            apart = 0.0
            for column in range(said.shape[1]):
                apart += abs(said[i, column] - said[j, column])
            gap = apart * apart
            if labels and apart > 0.0:
                gap = 1.0
            cost = 0.0
            for column in range(place.shape[1]):
                cost += (place[i, column] - place[j, column]) ** 2
                if cost * best >= gap:
                    break
            if cost > 0.0 and cost * best < gap:
                best = gap / cost
        result[at] = best if best > floor else 0.0
