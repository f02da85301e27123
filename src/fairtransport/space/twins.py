"""Twins, before any is made: whose levels a user declared, and how many there may be."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from fairtransport.checks import shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_POINTS = 2_000_000
"""Twins beyond this many points are refused: a sensitive feature then wants bins.

An audit of so many takes some minutes and a gigabyte.
"""


def check_declared(
    levels: object, sensitive: Sequence[str], *, twins: bool
) -> Mapping[str, object]:
    """Return which sensitive features have declared levels, and which; without twins none has.

    Parameters
    ----------
    levels
        What the user passed: levels by feature, or None.
    sensitive
        The sensitive features.
    twins
        Whether a model is there that can be asked about twins.

    Raises
    ------
    InputError
        If levels are declared for nothing, or for a column that is not sensitive.

    Examples
    --------
    >>> dict(check_declared({"sex": ["f", "m"]}, ["sex"], twins=True))
    {'sex': ['f', 'm']}
    """
    if levels is None:
        return {}
    if not twins:
        msg = "`levels` needs `model`: without one there are no twins to ask about"
        raise InputError(msg)
    if not isinstance(levels, Mapping):
        msg = f"`levels` must map sensitive features to values, got {shown(levels)}"
        raise InputError(msg)
    for name in levels:
        if name not in sensitive:
            msg = f"`levels` must name sensitive features, got {shown(name)}"
            raise InputError(msg)
    return levels


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
