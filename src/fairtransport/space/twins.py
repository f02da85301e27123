"""How many twins an audit or a monitor may make: one limit, looked at before any is made."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_POINTS = 2_000_000
"""Twins beyond this many points are refused: a sensitive feature then wants bins.

An audit of so many takes some minutes and a gigabyte.
"""


def check_twins(levels: Iterable[int], profiles: int = 1) -> int:
    """Return how many twins each profile has, if all of them together are not too many.

    Parameters
    ----------
    levels
        The number of levels of each sensitive feature.
    profiles
        How many people there are that differ in more than these.

    Examples
    --------
    >>> check_twins([2, 5], profiles=100)
    10
    >>> check_twins([50] * 5)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `sensitive_features` make 312,500,000 combinations and so
    312,500,000 points, more than 2,000,000; `bins` or fewer levels make this feasible
    """
    size = prod(levels)
    total = profiles * size
    if total > MOST_POINTS:
        msg = (
            f"`sensitive_features` make {size:,} combinations and so {total:,} points, "
            f"more than {MOST_POINTS:,}; `bins` or fewer levels make this feasible"
        )
        raise InputError(msg)
    return size
