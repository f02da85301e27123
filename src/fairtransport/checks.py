"""What the public entries check, and the array types they hand on."""

from __future__ import annotations

import math
from contextlib import suppress
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


def shown(value: object, width: int = 60) -> str:
    """Return a short, one-line picture of a received value for an error message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def number(
    name: str,
    value: Any,
    *,
    at_least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Return ``value`` as a finite float inside its limits, or say what the limits are.

    Examples
    --------
    >>> number("budget", 1, at_least=0)
    1.0
    >>> number("budget", -1, at_least=0)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `budget` must be a finite number >= 0, got -1
    """
    # bool is a Real; True as a budget is a slip, not a number
    result = math.nan
    if not isinstance(value, bool | np.bool_) and isinstance(value, Real):
        with suppress(OverflowError):  # a whole number may be too large for a float
            result = float(value)
    if math.isfinite(result) and result >= at_least and above < result < below:
        return result
    limits = [
        f"{sign} {limit:g}"
        for sign, limit in ((">=", at_least), (">", above), ("<", below))
        if math.isfinite(limit)
    ]
    rule = " ".join(["a finite number", " and ".join(limits)]).strip()
    msg = f"`{name}` must be {rule}, got {shown(value)}"
    raise InputError(msg)


def threshold(delta: Any, limits: tuple[float, float] | None) -> float:
    """Return δ if it can be exceeded: it must be below the width of a loss's range.

    Examples
    --------
    >>> threshold(5, (0.0, 1.0))
    Traceback (most recent call last):
    fairtransport.errors.InputError: `delta` must be below 1, as no loss can grow by more, got 5; 5 % is 0.05
    """  # noqa: E501
    value = number("delta", delta, at_least=0)
    width = math.inf if limits is None else limits[1] - limits[0]
    if value < width:
        return value
    hint = f"; {value:g} % is {value / 100:g}" if value > width == 1 else ""
    msg = f"`delta` must be below {width:g}, as no loss can grow by more, got {shown(delta)}{hint}"
    raise InputError(msg)


def whole(name: str, value: Any, *, at_least: int = 1) -> int:
    """Return ``value`` if it is a whole number, not below its limit."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if is_whole and value >= at_least:
        return int(value)
    msg = f"`{name}` must be a whole number >= {at_least}, got {shown(value)}"
    raise InputError(msg)


def choice(name: str, value: Any, allowed: Collection[str]) -> str:
    """Return ``value`` if it is one of the allowed words."""
    if isinstance(value, str) and value in allowed:
        return value
    raise _not_among(name, value, allowed)


def one_of(name: str, value: Any, allowed: Collection[Any]) -> Any:
    """Return ``value`` if it is one of the allowed values of any kind."""
    if value in allowed:
        return value
    raise _not_among(name, value, allowed)


def _not_among(name: str, value: Any, allowed: Collection[Any]) -> InputError:
    words = ", ".join(repr(word) for word in allowed) or "(there are none)"
    return InputError(f"`{name}` must be one of {words}, got {shown(value)}")


def float_array(name: str, value: Any, shape: tuple[int | None, ...]) -> FloatArray:
    """Return ``value`` as a C-contiguous float array of the given shape (None: any length)."""
    try:
        array = np.asarray(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        msg = f"`{name}` must be numeric, got {shown(value)}"
        raise InputError(msg) from None
    fits = array.ndim == len(shape) and all(
        want is None or have == want for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        msg = f"`{name}` must have shape ({wanted}), got {array.shape}"
        raise InputError(msg)
    return array


def finite(name: str, array: FloatArray, *, nonnegative: bool = False) -> FloatArray:
    """Return ``array`` if all of its entries are finite (and not negative)."""
    bad = ~np.isfinite(array)
    if nonnegative:
        bad |= array < 0
    if bad.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(bad))
        place = ", ".join(map(str, where))
        rule = "finite and >= 0" if nonnegative else "finite"
        msg = f"`{name}` must be {rule}, got {array[where]:g} at [{place}]"
        raise InputError(msg)
    return array
