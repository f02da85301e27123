"""What the public entries check, and the array types they hand on."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager, suppress
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Values: TypeAlias = NDArray[np.generic]
"""An array of values of a table or a model, of whichever type they are."""


def cut(text: str, width: int = 60) -> str:
    """Return a text, or its beginning if it is long.

    Parameters
    ----------
    text
        One line.
    width
        The most characters, an ellipsis included.

    Examples
    --------
    >>> cut("a long sentence", 7)
    'a long…'
    """
    return text if len(text) <= width else text[: width - 1] + "…"


def shown(value: object, width: int = 60) -> str:
    """Return a short, one-line picture of a received value for an error message.

    Parameters
    ----------
    value
        Anything, also what fails to describe itself.
    width
        The most characters.

    Examples
    --------
    >>> shown([1, 2, 3]), shown("a" * 100, width=10)
    ('[1, 2, 3]', "'aaaaaaaa…")
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a value that cannot even be shown is still to be refused
        text = f"an object of type {type(value).__name__}"
    return cut(text, width)


def said(error: BaseException, width: int = 200) -> str:
    r"""Return what somebody else's error says, as the short end of a sentence.

    Parameters
    ----------
    error
        From a model, a callback or a library.
    width
        The most characters.

    Examples
    --------
    >>> said(ValueError("no\nsuch thing"))
    'ValueError: no such thing'
    >>> said(SystemExit())
    'SystemExit: no reason given'
    """
    return cut(f"{type(error).__name__}: {reason(error) or 'no reason given'}", width)


def sentence_of(error: BaseException) -> str | None:
    """Return what went wrong around an audit, in a sentence; None: it is a defect of ours."""
    if isinstance(error, FairtransportError):
        return str(error)
    if isinstance(error, OSError):
        what = "the output" if error.filename is None else repr(os.fsdecode(error.filename))
        return f"{what} could not be read or written: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this audit; bins make fewer distinct points"
    if not isinstance(error, Exception):  # such as a model's own sys.exit
        return f"the program was ended from inside, before its work was done: {said(error)}"
    return None


def reason(error: BaseException) -> str:
    """Return all that somebody else's error says, in one line; nothing if it cannot say it.

    Parameters
    ----------
    error
        Its ``str`` may fail in turn; that is no reason to lose the first error.
    """
    try:
        # halves of characters could not be printed
        return " ".join(str(error).split()).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 - it is not ours
        return ""


def number(
    name: str,
    value: object,
    *,
    at_least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Return ``value`` as a finite float inside its limits, or say what the limits are.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        What the caller passed; a truth value is no number here.
    at_least, above, below
        Limits: the first may be reached, the others may not.

    Raises
    ------
    InputError
        In one sentence: the parameter, the rule, what was received.

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


def threshold(delta: object, limits: tuple[float, float] | None, name: str = "delta") -> float:
    """Return δ if it can be exceeded: it must be below the width of a loss's range.

    Examples
    --------
    >>> threshold(5, (0.0, 1.0))
    Traceback (most recent call last):
    fairtransport.errors.InputError: `delta` must be below 1, as no loss can grow by more, got 5; 5 % is 0.05
    """  # noqa: E501
    value = number(name, delta, at_least=0)
    width = math.inf if limits is None else limits[1] - limits[0]
    if value < width:
        return value
    hint = f"; {value:g} % is {value / 100:g}" if value > width == 1 else ""
    msg = f"`{name}` must be below {width:g}, as no loss can grow by more, got {shown(delta)}{hint}"
    raise InputError(msg)


def whole(name: str, value: object, *, at_least: int = 1, at_most: int | None = None) -> int:
    """Return ``value`` if it is a whole number inside its limits.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        What the caller passed; 3.0 is no whole number here.
    at_least, at_most
        Limits that may be reached; None: there is no upper one.

    Raises
    ------
    InputError
        In one sentence: the parameter, the rule, what was received.

    Examples
    --------
    >>> whole("m", 3)
    3
    >>> whole("m", 2.5)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `m` must be a whole number >= 1, got 2.5
    """
    limit = ""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if value >= at_least and (at_most is None or value <= at_most):
            return int(value)
        # the upper limit is news only to those who exceed it
        limit = f" and <= {at_most:,}" if at_most and value > at_most else ""
    msg = f"`{name}` must be a whole number >= {at_least}{limit}, got {shown(value)}"
    raise InputError(msg)


def generator(name: str, value: object) -> np.random.Generator:
    """Return the random generator behind a seed, a generator or None.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        A seed gives the same numbers every time, None gives new ones, and a generator goes on
        from where it stands.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    A seed gives the same numbers every time; a generator is taken as it is.

    >>> float(generator("rng", 1).random()) == float(generator("rng", 1).random())
    True
    """
    if value is None or isinstance(value, np.random.Generator):
        return np.random.default_rng(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0:
        return np.random.default_rng(value)
    msg = f"`{name}` must be a seed >= 0, a numpy generator or None, got {shown(value)}"
    raise InputError(msg)


def choice(name: str, value: object, allowed: Collection[str]) -> str:
    """Return ``value`` if it is one of the allowed words.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        What the caller passed.
    allowed
        The words, listed in the message.

    Raises
    ------
    InputError
        If it is none of them.

    Examples
    --------
    >>> choice("goal", "reject", ("reject", "certify"))
    'reject'
    """
    if isinstance(value, str) and value in allowed:
        return value
    raise _not_among(name, value, allowed)


def one_of(name: str, value: object, allowed: Collection[object]) -> None:
    """Refuse a value that is none of the allowed ones, of any kind.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        What the caller passed.
    allowed
        The values, listed in the message.

    Raises
    ------
    InputError
        If it is none of them.
    """
    if not is_among(value, allowed):
        raise _not_among(name, value, allowed)


def is_among(value: object, allowed: Collection[object]) -> bool:
    """Say whether a value is one of some; one that cannot be compared, as an array, is not.

    Parameters
    ----------
    value
        Anything.
    allowed
        The values; they need not be hashable.

    Examples
    --------
    >>> is_among(1, [1, 2]), is_among(np.array([1, 2]), [1, 2])
    (True, False)
    """
    try:
        return bool(value in list(allowed))
    except (TypeError, ValueError):
        return False


def _not_among(name: str, value: object, allowed: Collection[object]) -> InputError:
    """Return the error that a value is none of the allowed ones."""
    words = ", ".join(repr(word) for word in allowed) or "(there are none)"
    return InputError(f"`{name}` must be one of {words}, got {shown(value)}")


@contextmanager
def calling(name: str) -> Iterator[None]:
    """Say of a caller's function that it failed, and why, in one sentence.

    Parameters
    ----------
    name
        What the function is called in the message.

    Raises
    ------
    InputError
        In place of whatever the function raised; our own errors pass as they are.

    Examples
    --------
    >>> with calling("model"):
    ...     1 / 0
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `model` failed: ZeroDivisionError: division by zero
    """
    try:
        yield
    except FairtransportError:
        raise
    except Exception as error:
        msg = f"`{name}` failed: {said(error)}"
        raise InputError(msg) from error


def float_array(name: str, value: object, shape: tuple[int | None, ...]) -> FloatArray:
    """Return ``value`` as a C-contiguous float array of the given shape (None: any length).

    Parameters
    ----------
    name
        The parameter, for messages.
    value
        Real numbers in any form that NumPy takes. Text is refused, also where it looks like a
        number.
    shape
        The length of each axis.

    Raises
    ------
    InputError
        If it is not numeric, or of another shape.

    Examples
    --------
    >>> float_array("losses", [0, 1], (None,))
    array([0., 1.])
    >>> float_array("losses", [0, 1], (3,))
    Traceback (most recent call last):
    fairtransport.errors.InputError: `losses` must have shape (3), got (2,)
    """
    refuse_masked(name, value)
    try:
        given = np.asarray(value)
        array = np.asarray(given, dtype=np.float64, order="C") if is_real(given) else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        msg = f"`{name}` must be numeric, got {shown(value)}"
        raise InputError(msg)
    if not array.flags.writeable:
        array = array.copy()  # kernels would be compiled once more for read-only arrays
    fits = array.ndim == len(shape) and all(
        want is None or have == want for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        msg = f"`{name}` must have shape ({wanted}), got {array.shape}"
        raise InputError(msg)
    return array


def shape_of(value: object) -> tuple[int, ...] | str:
    """Return the shape that an array of ``value`` would have; lists of unequal length have none.

    Parameters
    ----------
    value
        Anything that an array can be made of.

    Returns
    -------
    tuple or str
        Words for what has no shape; they go into messages as they are.

    Examples
    --------
    >>> shape_of([[1, 2], [3, 4]]), shape_of([[1, 2], [3]])
    ((2, 2), 'rows of unequal length')
    """
    try:
        return tuple(value.shape if hasattr(value, "shape") else np.asarray(value).shape)
    except ValueError:
        return "rows of unequal length"


def is_real(array: Values) -> bool:
    """Say whether an array holds real numbers; text and complex numbers would pass for some.

    Parameters
    ----------
    array
        Of any type; of objects each is looked at.

    Examples
    --------
    >>> is_real(np.array([True, False])), is_real(np.array(["1"])), is_real(np.array([1j]))
    (True, False, False)
    """
    if array.dtype == object:
        return not any(isinstance(one, str | bytes | complex) for one in array.flat)
    return array.dtype.kind in "biuf"


def refuse_masked(name: str, value: object) -> None:
    """Refuse a masked array in which something is masked: numpy forgets what.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        Anything; masked arrays without a masked entry pass.

    Raises
    ------
    InputError
        If something is masked.

    Examples
    --------
    >>> refuse_masked("y", np.ma.array([1, 2], mask=[False, True]))
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `y` must not have masked entries, got 1
    """
    if np.ma.is_masked(value):
        hidden = int(np.ma.getmaskarray(np.ma.asarray(value)).sum())
        msg = f"`{name}` must not have masked entries, got {hidden}"
        raise InputError(msg)


def finite(name: str, array: FloatArray, *, nonnegative: bool = False) -> FloatArray:
    """Return ``array`` if all of its entries are finite (and not negative).

    Parameters
    ----------
    name
        The parameter, for the message.
    array
        Of any shape.
    nonnegative
        Whether negative entries are refused too.

    Raises
    ------
    InputError
        Naming the first entry that is bad, and where it is.

    Examples
    --------
    >>> finite("losses", np.array([0.0, np.inf]))
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: `losses` must be finite, got inf at [1]
    """
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
