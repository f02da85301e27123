"""Sparse matrices as compressed rows that can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.checks import is_real
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def is_sparse(value: object) -> bool:
    """Say whether a value is a sparse matrix.

    Parameters
    ----------
    value
        Anything. What can be turned into compressed rows counts, without importing scipy.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array((2, 2))), is_sparse(np.zeros((2, 2)))
    (True, False)
    """
    # scipy.sparse is imported only by those who hold such a matrix already
    return hasattr(value, "tocsr") and not isinstance(value, np.ndarray)


def float_csr(name: str, value: Any) -> csr_array[np.float64]:
    """Return a sparse matrix as compressed rows of floats whose indices lie inside its shape.

    Parameters
    ----------
    name
        The parameter, for messages.
    value
        Any scipy sparse matrix or array.

    Returns
    -------
    csr_array
        With sorted columns and no entry twice; explicit zeros stay.

    Raises
    ------
    InputError
        If it is not numeric, or its indices are broken: compiled loops would run outside of it.

    Examples
    --------
    Entries that stand twice are added up.

    >>> from scipy.sparse import coo_array
    >>> twice = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    >>> float_csr("costs", twice).toarray().tolist()
    [[0.0, 3.0], [0.0, 0.0]]
    """
    from scipy.sparse import csr_array

    if not is_real(np.asarray(value.data)):
        msg = f"`{name}` must be numeric, got a sparse matrix of type {value.dtype}"
        raise InputError(msg)
    try:
        matrix: Any = csr_array(value, dtype=np.float64)
        if matrix.ndim == 2:  # noqa: PLR2004
            # a matrix put together by hand may point outside of itself, where compiled loops go
            matrix.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        msg = f"`{name}` must be a well-formed sparse matrix: {' '.join(str(error).split())}"
        raise InputError(msg) from None
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix  # type: ignore[no-any-return]
