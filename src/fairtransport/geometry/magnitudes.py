"""How large and how small costs and losses may be, so that products stay exact numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray

LARGEST_COST = 1e200
SMALLEST_COST = 1e-200
"""Costs other than 0 and infinity lie between these."""
LARGEST_LOSS = 1e100


AT_A_TIME = 32_768
"""Costs that are looked at together: they stay in the fastest memory."""


def refuse_bad_costs(values: FloatArray, name: str) -> None:
    """Refuse costs that are no numbers, negative, or too large or small to compute with.

    Parameters
    ----------
    values
        Costs in any shape.
    name
        The parameter, for messages.

    Raises
    ------
    InputError
        Naming the first that is bad.

    Notes
    -----
    Slopes are quotients and hulls compare products of two costs and a loss: within these limits
    none of them overflows or underflows to 0.

    Examples
    --------
    >>> refuse_bad_costs(np.array([0.0, 1.0, np.inf]), "costs")
    >>> refuse_bad_costs(np.array([-1.0]), "costs")
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `costs` must be >= 0 (infinity forbids a move), got -1
    """
    flat = values.ravel()
    if not all(_are_good(flat[at : at + AT_A_TIME]) for at in range(0, len(flat), AT_A_TIME)):
        _refuse(values, name)


def _are_good(costs: FloatArray) -> bool:
    fit = costs >= SMALLEST_COST
    fit &= costs <= LARGEST_COST
    if fit.all():
        return True
    others = costs[~fit]
    return bool(np.all((others == 0) | (others == np.inf)))


def _refuse(values: FloatArray, name: str) -> None:
    bad = values[np.isnan(values) | (values < 0)]
    if len(bad):
        msg = f"`{name}` must be >= 0 (infinity forbids a move), got {bad[0]:g}"
        raise InputError(msg)
    odd = (values > 0) & (values < SMALLEST_COST) | (values > LARGEST_COST) & (values < np.inf)
    if odd.any():
        msg = (
            f"`{name}` must be 0, infinity or between {SMALLEST_COST:g} and {LARGEST_COST:g}, "
            f"got {values[odd][0]:g}"
        )
        raise InputError(msg)
