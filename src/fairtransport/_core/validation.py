"""Checks of arguments, short texts for error messages, array types, values typed as text."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from fairtransport.errors import FairtransportError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray


# as text, so that ``--help`` reads settings without loading numpy
FloatArray: TypeAlias = "NDArray[np.float64]"
IntArray: TypeAlias = "NDArray[np.int64]"
BoolArray: TypeAlias = "NDArray[np.bool_]"
Values: TypeAlias = "NDArray[np.generic]"
"""An array of values of a table or a model, of any type."""


MAX_CHOICES = 20
"""Maximum number of choices in an error message."""
MAX_VALUES = 8
"""Maximum number of values in an error message."""


def shorten(text: str, width: int = 60) -> str:
    """Return a text, shortened if it is long."""
    return text if len(text) <= width else text[: width - 1] + "…"


def short_repr(value: object, width: int = 60) -> str:
    """Return a short one-line repr of a value for an error message."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a value that cannot even be shown is still to be refused
        text = f"an object of type {type(value).__name__}"
    return shorten(text, width)


def list_values(values: Collection[object]) -> str:
    """Return the first of some values for an error message, as they are typed."""
    words = [short_repr(value, 20) for value, _ in zip(values, range(MAX_VALUES), strict=False)]
    if len(values) > MAX_VALUES:
        words.append(f"{len(values) - MAX_VALUES} more")
    return ", ".join(words) or "none"


def describe_error(error: BaseException) -> str:
    """Return the type and text of an error of other code, shortened."""
    return shorten(f"{type(error).__name__}: {error_text(error) or 'no reason given'}", 200)


def error_sentence(error: BaseException) -> str | None:
    """Return an error as a sentence for users; None if it is a bug of ours."""
    if isinstance(error, FairtransportError):
        return str(error)
    if isinstance(error, OSError):
        what = "the output" if error.filename is None else repr(os.fsdecode(error.filename))
        return f"{what} could not be read or written: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory for this audit; audit a random sample of the rows, or cut "
            "numbers into bins"
        )
    if not isinstance(error, Exception):  # such as a model's own sys.exit
        return (
            f"the program was ended from inside, before its work was done: {describe_error(error)}"
        )
    return None


def error_text(error: BaseException) -> str:
    """Return the text of an error of other code in one line; empty if it has none."""
    try:
        # lone surrogates cannot be printed
        return " ".join(str(error).split()).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 - it is not ours
        return ""


def check_number(
    name: str,
    value: object,
    *,
    at_least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Return ``value`` as a finite float inside its limits."""
    result = _as_float(value)
    if math.isfinite(result) and result >= at_least and above < result < below:
        return result
    limits = [
        f"{words} {limit:g}"
        for words, limit in (("of at least", at_least), ("above", above), ("below", below))
        if math.isfinite(limit)
    ]
    is_endless = isinstance(value, Real) and not math.isfinite(result)
    kind = "a finite number" if is_endless or not limits else "a number"
    percent = percent_as_fraction(value) if below <= 1 else None
    example = f" ({percent})" if percent else ""
    rule = f"{kind} {' and '.join(limits)}".strip()
    msg = f"{param(name)} must be {rule}{example}, got {short_repr(value)}"
    raise InputError(msg)


def _as_float(value: object) -> float:
    """Return a real number as a float; NaN for anything else."""
    # bool is a Real; True as a budget is a slip, not a number
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):  # a whole number may be too large for a float
            return float(value)
    return math.nan


def check_threshold(
    delta: object, limits: tuple[float, float] | None, name: str = "delta"
) -> float:
    """Return δ, which must be below the width of a loss's range."""
    width = math.inf if limits is None else limits[1] - limits[0]
    if width == 1:
        fraction = _as_float(delta)
        if 0 <= fraction < 1:
            return fraction
        example = percent_as_fraction(delta) or "5 % is 0.05"
        msg = (
            f"{param(name)} must be a fraction from 0 to below 1 ({example}), got "
            f"{short_repr(delta)}"
        )
        raise InputError(msg)
    value = check_number(name, delta, at_least=0)
    if value < width:
        return value
    msg = (
        f"{param(name)} must be below {width:g}, as no loss can grow by more, got "
        f"{short_repr(delta)}"
    )
    raise InputError(msg)


def percent_as_fraction(value: object) -> str | None:
    """Return a percentage as a fraction, as text; None if it is none."""
    percent = _as_float(value)
    if isinstance(value, str) and value.rstrip().endswith("%"):
        with suppress(ValueError):
            percent = float(value.rstrip(" %"))
    elif not percent > 1:
        return None
    return f"{percent:g} % is {percent / 100:g}" if 0 < percent < 100 else None  # noqa: PLR2004


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or numpy, but no bool."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def check_integer(
    name: str, value: object, *, at_least: int = 1, at_most: int | None = None
) -> int:
    """Return ``value`` if it is an integer inside its limits."""
    limit = ""
    if is_integer(value):
        if value >= at_least and (at_most is None or value <= at_most):
            return int(value)
        # mention the upper limit only if it is exceeded
        limit = f" and at most {at_most:,}" if at_most and value > at_most else ""
    rule = f"a whole number of at least {at_least}{limit}"
    msg = f"{param(name)} must be {rule}, got {short_repr(value)}"
    raise InputError(msg)


def check_generator(name: str, value: object) -> np.random.Generator:
    """Return the random generator of a seed, a generator or None."""
    import numpy as np

    if value is None or isinstance(value, np.random.Generator):
        return np.random.default_rng(value)
    if is_integer(value) and value >= 0:
        return np.random.default_rng(value)
    msg = f"{param(name)} must be a seed >= 0, a numpy generator or None, got {short_repr(value)}"
    raise InputError(msg)


def check_choice(name: str, value: object, allowed: Collection[str]) -> str:
    """Return ``value`` if it is one of the allowed words."""
    if isinstance(value, str) and value in allowed:
        return value
    raise _not_among(name, value, allowed)


def check_allowed(name: str, value: object, allowed: Collection[object]) -> None:
    """Check that a value is one of the allowed ones, of any type."""
    if not is_among(value, allowed):
        raise _not_among(name, value, allowed)


def is_among(value: object, allowed: Collection[object]) -> bool:
    """Return whether a value is allowed; False if it cannot be compared."""
    try:
        return bool(value in list(allowed))
    except (TypeError, ValueError, ArithmeticError):  # a signalling NaN raises an ArithmeticError
        return False


def _not_among(name: str, value: object, allowed: Collection[object]) -> InputError:
    """Return the error for a value that is not allowed."""
    first = [repr(word) for word, _ in zip(allowed, range(MAX_CHOICES), strict=False)]
    if len(allowed) > MAX_CHOICES:
        first.append(f"{len(allowed) - MAX_CHOICES} more")
    words = ", ".join(first) or "(there are none)"
    hint = nearest_hint(value, allowed)
    return InputError(f"{param(name)} must be one of {words}, got {short_repr(value)}{hint}")


def nearest_hint(word: object, names: Iterable[object]) -> str:
    """Return the name that was probably meant, as the end of a message."""
    spelled = {name.casefold(): name for name in names if isinstance(name, str)}
    near = get_close_matches(word.casefold(), spelled, n=1) if isinstance(word, str) else []
    return f"; did you mean {spelled[near[0]]!r}?" if near else ""


@contextmanager
def explain_failures(name: str) -> Iterator[None]:
    """Raise an `InputError` in one sentence if a user's function fails."""
    try:
        yield
    except FairtransportError:
        raise
    except Exception as error:
        msg = f"{param(name)} failed: {describe_error(error)}"
        raise InputError(msg) from error


def check_float_array(name: str, value: object, shape: tuple[int | None, ...]) -> FloatArray:
    """Return ``value`` as a C-contiguous float array of the given shape (None: any length)."""
    import numpy as np

    check_unmasked(name, value)
    try:
        raw = np.asarray(value)
        array = np.asarray(raw, dtype=np.float64, order="C") if is_real(raw) else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        msg = f"{param(name)} must be numeric, got {short_repr(value)}"
        raise InputError(msg)
    if not array.flags.writeable:
        array = array.copy()  # kernels would be compiled again for read-only arrays
    check_shape(name, array, shape)
    return array


def check_shape(name: str, array: Values, shape: tuple[int | None, ...]) -> None:
    """Check that an array has the given shape (None: any length)."""
    fits = array.ndim == len(shape) and all(
        want is None or have == want for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        expected = ", ".join("any" if length is None else str(length) for length in shape)
        msg = f"{param(name)} must have shape ({expected}), got {array.shape}"
        raise InputError(msg)


def shape_of(value: object) -> tuple[int, ...] | str:
    """Return the shape of ``value`` as an array, or text if it has none."""
    import numpy as np

    try:
        return tuple(value.shape if hasattr(value, "shape") else np.asarray(value).shape)
    except ValueError:
        return "rows of unequal length"


def is_real(array: Values) -> bool:
    """Return whether an array holds real numbers, no text or complex numbers."""
    if array.dtype == object:
        return not any(isinstance(item, str | bytes | complex) for item in array.flat)
    return array.dtype.kind in "biuf"


def check_unmasked(name: str, value: object) -> None:
    """Check that no entry of a masked array is masked."""
    import numpy as np

    if np.ma.is_masked(value):
        hidden = int(np.ma.getmaskarray(np.ma.asarray(value)).sum())
        msg = f"{param(name)} must not have masked entries, got {hidden}"
        raise InputError(msg)


def check_finite(name: str, array: FloatArray, *, nonnegative: bool = False) -> FloatArray:
    """Return ``array`` if all of its entries are finite (and not negative)."""
    import numpy as np

    bad = ~np.isfinite(array)
    if nonnegative:
        bad |= array < 0
    if bad.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(bad))
        place = ", ".join(map(str, where))
        rule = "finite and >= 0" if nonnegative else "finite"
        msg = f"{param(name)} must be {rule}, got {array[where]:g} at [{place}]"
        raise InputError(msg)
    return array


def parse_literal(text: str | None) -> str | float | bool | None:
    """Return text as a bool or a number if it is one; quotes keep it text."""
    if text is None:
        return None
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_numbers(name: str, parts: Sequence[str]) -> list[float]:
    """Return the numbers of a list of texts."""
    try:
        return [float(part) for part in parts]
    except ValueError:
        msg = f"{param(name)} must be numbers separated by commas, got {','.join(parts)!r}"
        raise InputError(msg) from None
