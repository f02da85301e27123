"""What the values of many frequency vectors need to know of a problem: segments and a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fairtransport.checks import FloatArray, IntArray


class Filling(NamedTuple):
    """The budget, and the segments of the frontiers along which it is spent.

    Attributes
    ----------
    budget
        ε.
    base_gain
        (K,) what each point gains for nothing.
    row, cost, gain
        (S,) the segments by falling slope, see `Frontiers`.
    """

    budget: float
    base_gain: FloatArray
    row: IntArray
    cost: FloatArray
    gain: FloatArray

    def values(self, many: FloatArray | csr_array[np.float64]) -> FloatArray:
        """Return ψ of frequency vectors, one a row: a compiled pass over the segments each."""
        if self.budget == 0 or not len(self.row):
            return np.asarray(many @ self.base_gain)
        from fairtransport.transport import kernels

        values = np.empty(many.shape[0])
        with threads_for(len(values) * (len(self.base_gain) + len(self.row))):
            if isinstance(many, np.ndarray):
                kernels.fill_many(many, self, values)
            else:
                start, column = many.indptr.astype(np.int64), many.indices.astype(np.int64)
                rows = kernels.SparseRows(start, column, many.data)
                kernels.fill_many_sparse(rows, self, values)
        return values
