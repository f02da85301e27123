"""Numbers as text: how each kind is rounded, so that what is shown still holds."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

SMALLEST_PVALUE = 0.0001
MOST_DIGITS = 9
MOST_DECIMALS = 6
"""Decimals of a percentage that is told apart from another one."""
ROUNDING = 1e-6
"""Sums of shares miss whole numbers of people by less."""
NONE = "none"
NOT_TOLD = "not told"
NO_LOWER, NO_UPPER = "no lower bound", "no upper bound"
MINUS = "−"
NEAREST, DOWN, UP = ROUND_HALF_UP, ROUND_FLOOR, ROUND_CEILING
"""Halves go up, as they do in the charts' own numbers: one number is never told as two."""


def decimal(number: float | None, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals; a minus is a minus sign.

    Parameters
    ----------
    number
        None and infinite ones are "none".
    digits
        Decimals.

    Examples
    --------
    >>> decimal(-0.25, 2), decimal(None), decimal(-0.00001)
    ('−0.25', 'none', '0.0000')
    """
    if number is None or not math.isfinite(number):
        return NONE
    text = f"{_rounded(number, NEAREST, digits):.{digits}f}"
    bare = text.lstrip("-")
    return bare if float(text) == 0 else text.replace("-", MINUS)


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage, with no more decimals than it needs.

    Parameters
    ----------
    share
        Between 0 and 1, as a rule.
    digits
        Decimals at the most.

    Examples
    --------
    >>> percent(0.334), percent(0.05), percent(0.999)
    ('33.4 %', '5 %', '99.9 %')
    >>> percent(97 / 400), percent(0.2 + 0.0425 + 1e-16)
    ('24.3 %', '24.3 %')
    """
    text = f"{_rounded(100 * share, NEAREST, digits):.{digits}f}".replace("-", MINUS)
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def level(share: float) -> str:
    """Return a level or a confidence as a percentage that never rounds to 0 or 100.

    Examples
    --------
    >>> level(0.05), level(0.0001), level(1 - 0.0001)
    ('5 %', '0.01 %', '99.99 %')
    """
    return f"{Decimal(f'{100 * share:.12g}'):f} %"


def people(number: float | None) -> str:
    """Return a number of people; parts of a person only where a budget ends half way.

    Examples
    --------
    >>> people(1584), people(12.5), people(None)
    ('1,584', '12.5', 'not told')
    """
    if number is None:
        return NOT_TOLD
    text = f"{number:,.0f}" if abs(number - round(number)) < ROUNDING else f"{number:,.1f}"
    return "0" if text in {"-0", "-0.0"} else text.replace("-", MINUS)


def signed(number: float) -> str:
    """Return a change in people with its sign.

    Examples
    --------
    >>> signed(31), signed(-19), signed(0)
    ('+31', '−19', '0')
    """
    text = people(number)
    return f"+{text}" if number > 0 and text not in {"0", "0.0"} else text


def pvalue(value: float) -> str:
    """Return "p = …", or "p < …" for what is too small to be shown.

    Examples
    --------
    >>> pvalue(0.034), pvalue(1e-9)
    ('p = 0.034', 'p < 0.0001')
    """
    return f"p = {value:.2g}" if value >= SMALLEST_PVALUE else f"p < {SMALLEST_PVALUE}"


def short_pvalue(value: float | None) -> str:
    """Return a p-value without its letter.

    Examples
    --------
    >>> short_pvalue(0.0342), short_pvalue(1e-9), short_pvalue(1.0)
    ('0.034', '< 0.0001', '1')
    """
    if value is None:
        return NONE
    return f"{value:.2g}" if value >= SMALLEST_PVALUE else f"< {SMALLEST_PVALUE}"


def bound(number: float | None, rounding: str, digits: int = 4) -> str:
    """Return a bound, rounded so that it still holds: a lower one `DOWN`, an upper one `UP`.

    Parameters
    ----------
    number
        None or infinite where there is none.
    rounding
        `DOWN`, `UP`, or `NEAREST` for what is no bound.
    digits
        Decimals.

    Examples
    --------
    >>> bound(0.05089, DOWN), bound(0.07101, UP), bound(None, UP)
    ('0.0508', '0.0711', 'no upper bound')
    """
    if number is None or not math.isfinite(number):
        return NO_UPPER if rounding == UP else NO_LOWER
    return decimal(_rounded(number, rounding, digits), digits)


def _rounded(number: float, rounding: str, digits: int) -> float:
    """Return a number rounded in decimal arithmetic."""
    # what is behind the twelfth decimal is the noise of arithmetic, and no reason to round away
    known = Decimal(f"{number:.12f}")
    return float(known.quantize(Decimal(1).scaleb(-digits), rounding))


def interval_text(lower: float | None, upper: float | None, digits: int = 4) -> str:
    """Return an interval, rounded outwards; an end that does not exist is said so.

    Examples
    --------
    >>> interval_text(0.02919, 0.07341), interval_text(0.02919, None)
    ('0.0291 to 0.0735', 'at least 0.0291, no upper bound')
    """
    if lower is None and upper is None:
        return NONE
    if upper is None:
        return f"at least {bound(lower, DOWN, digits)}, {NO_UPPER}"
    if lower is None:
        return f"at most {bound(upper, UP, digits)}, {NO_LOWER}"
    return f"{bound(lower, DOWN, digits)} to {bound(upper, UP, digits)}"


def told_apart(
    first: float, second: float, digits: int = 4, rounding: str = NEAREST
) -> tuple[str, str]:
    """Return two numbers with as many decimals as it takes to see which one is larger.

    The first is rounded as asked, the second to the nearest; equal numbers look equal.

    Parameters
    ----------
    first, second
        A bound and δ, as a rule: "0.0365 is more than 0.0365" would be no sentence.
    digits
        Decimals at least.
    rounding
        Of the first.

    Examples
    --------
    >>> told_apart(0.03652, 0.0365)
    ('0.03652', '0.03650')
    >>> told_apart(0.03659, 0.03656, rounding=DOWN)
    ('0.03659', '0.03656')
    """
    if first == second:
        return decimal(first, digits), decimal(second, digits)
    while digits < MOST_DIGITS:
        shown = _rounded(first, rounding, digits), _rounded(second, NEAREST, digits)
        if shown[0] != shown[1] and (shown[0] < shown[1]) == (first < second):
            break
        digits += 1
    return decimal(_rounded(first, rounding, digits), digits), decimal(second, digits)


def percents_apart(first: float, second: float) -> tuple[str, str]:
    """Return two shares as percentages, with as many decimals as it takes to tell them apart.

    Examples
    --------
    >>> percents_apart(0.334, 0.3341)
    ('33.4 %', '33.41 %')
    """
    digits = 1
    while (
        digits < MOST_DECIMALS
        and first != second
        and percent(first, digits) == percent(second, digits)
    ):
        digits += 1
    return percent(first, digits), percent(second, digits)
