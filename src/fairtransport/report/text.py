"""Strings and numbers of documents as text: nothing hidden or infinite, bounds that hold."""

from __future__ import annotations

import math
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairtransport._core.schema import Document
    from fairtransport.documents.audit import AuditSummary, SampledUnits
    from fairtransport.explain.moves import Value


MAX_LINE_CHARACTERS = 120
"""Maximum characters of a text from the data before it is shortened."""
MISSING = "missing"
LOSS_NAMES = {"brier": "Brier"}
FOR_INDEPENDENT = " for independent people"
ERROR, OUTCOME = "zero-one", "outcome"
"""Losses whose mean is a share of errors, or the mean prediction."""
SCORE_DIGITS = 3
# joiners are part of Persian, Indic scripts and emoji and change no order of reading
_JOINERS = "\u200c\u200d"
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(text: object) -> str:
    r"""Return text with control and direction characters spelled out.

    A name with a right-to-left override could otherwise make a table say the opposite of
    what is in it.
    """
    return "".join(f"⟨U+{ord(sign):04X}⟩" if _is_hidden(sign) else sign for sign in str(text))


def _is_hidden(sign: str) -> bool:
    r"""Return whether a character is invisible."""
    return unicodedata.category(sign) in _HIDDEN and sign not in _JOINERS


def shorten(text: str, longest: int = MAX_LINE_CHARACTERS) -> str:
    """Return the text, or its beginning with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


LARGE_NUMBER, HUGE_NUMBER = 1e3, 1e15


def value_text(value: Value | tuple[float, ...], write: Callable[[object], str] = visible) -> str:
    """Return a cell of the audit data, or a prediction, as text; ``write`` writes strings."""
    if value is None:
        return MISSING
    if isinstance(value, tuple | list):
        return ", ".join(value_text(part, write) for part in value)
    if isinstance(value, float):
        return _number_text(value)
    return write(value)


def _number_text(value: float) -> str:
    """Return a number of the data: four digits, or all integer digits of large ones."""
    if LARGE_NUMBER <= abs(value) < HUGE_NUMBER:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def distinct_texts(before: Value, after: Value) -> tuple[str, str]:
    """Return two different values as different texts, with as many digits as needed."""
    texts = value_text(before), value_text(after)
    if isinstance(before, float) and isinstance(after, float) and before != after:
        digits = 4
        while texts[0] == texts[1]:
            digits += 1
            texts = f"{before:.{digits}g}", f"{after:.{digits}g}"
    return texts


def prediction_text(
    value: Value | tuple[float, ...], classes: Sequence[Value] = (),
    write: Callable[[object], str] = visible,
) -> str:  # fmt: skip
    """Return a prediction; of two classes' scores the last one, which determines the other."""
    if not isinstance(value, tuple | list):
        return value_text(value, write)
    if len(value) == 2:  # noqa: PLR2004
        return decimal(value[-1], SCORE_DIGITS)
    names = [f"{shorten(value_text(label, write), 40)} " for label in classes] or [""] * len(value)
    scores = zip(names, value, strict=True)
    return ", ".join(name + decimal(score, SCORE_DIGITS) for name, score in scores)


def loss_name(name: str) -> str:
    """Return a loss's name for a sentence."""
    return LOSS_NAMES.get(name, visible(name))


def profile_text(profile: Mapping[str, Value]) -> str:
    """Return a person's columns in a line."""
    return ", ".join(f"{visible(name)} {value_text(value)}" for name, value in profile.items())


AMBIGUOUS = frozenset({"yes", "no", "true", "false"})
"""Levels that mean nothing without the name of their column."""


def is_telling(value: object) -> bool:
    """Return whether a level is clear without its column, unlike a number, a bin or "yes"."""
    return isinstance(value, str) and value[:1].isalpha() and value.lower() not in AMBIGUOUS


def group_text(group: Mapping[str, Value]) -> str:
    """Return the levels of a group, each with its column, as "yes" alone means nothing."""
    return ", ".join(level_texts(group)) or "everybody"


def level_texts(group: Mapping[str, Value]) -> list[str]:
    """Return the levels of a group as a list."""
    return [f"{visible(name)}: {value_text(value)}" for name, value in group.items()]


MIN_PVALUE = 0.0001
MAX_DECIMALS = 9
MAX_PERCENT_DECIMALS = 6
"""Maximum decimals of percentages that must differ."""
ROUNDING = 1e-6
"""Rounding errors of numbers of people are smaller."""
NONE = "none"
NOT_TOLD = "not shown"
NO_LOWER, NO_UPPER = "no lower bound", "no upper bound"
MINUS = "−"
NEAREST, DOWN, UP = ROUND_HALF_UP, ROUND_FLOOR, ROUND_CEILING
"""Halves round up, as in charts, so that a number looks the same everywhere."""


def decimal(number: float | None, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals; a minus is a minus sign."""
    if number is None or not math.isfinite(number):
        return NONE
    text = f"{_round_decimal(number, NEAREST, digits):.{digits}f}"
    bare = text.lstrip("-")
    # what rounds to 0 has no sign: −0.0000 would look like a finding
    return bare if float(text) == 0 else text.replace("-", MINUS)


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage, with no more decimals than it needs."""
    text = f"{_round_decimal(100 * share, NEAREST, digits):.{digits}f}".replace("-", MINUS)
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def level(share: float) -> str:
    """Return a level or a confidence as a percentage that never rounds to 0 or 100."""
    return f"{Decimal(f'{100 * share:.12g}'):f} %"


def for_units(*units: SampledUnits | None) -> str:
    """Return the units that bounds are for; empty if all of them are independent people."""
    if not any(units):
        return ""
    names = ("independent people" if one is None else visible(one.sampled) for one in units)
    return f" for {' and '.join(dict.fromkeys(names))}"


def people(number: float | None) -> str:
    """Return a number of people; with a fraction only if the budget splits a person."""
    if number is None:
        return NOT_TOLD
    text = f"{number:,.0f}" if abs(number - round(number)) < ROUNDING else f"{number:,.1f}"
    return "0" if text in {"-0", "-0.0"} else text.replace("-", MINUS)


def signed(number: float) -> str:
    """Return a change in people with its sign."""
    text = people(number)
    return f"+{text}" if number > 0 and text not in {"0", "0.0"} else text


def pvalue(value: float) -> str:
    """Return "p = …", or "p < …" for very small values."""
    text = short_pvalue(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def short_pvalue(value: float | None) -> str:
    """Return a p-value without its letter, rounded up: one shown as α rejects at level α."""
    if value is None:
        return NONE
    if value < MIN_PVALUE:
        return f"< {MIN_PVALUE}"
    # twelve digits: further ones are rounding errors, and no reason to round up
    exact = Decimal(f"{value:.12g}")
    return f"{float(Context(prec=2, rounding=UP).plus(exact)):.2g}"


def bound(number: float | None, rounding: str, digits: int = 4) -> str:
    """Return a bound, rounded so that it still holds: a lower one `DOWN`, an upper one `UP`."""
    if number is None or not math.isfinite(number):
        return NO_UPPER if rounding == UP else NO_LOWER
    return decimal(_round_decimal(number, rounding, digits), digits)


def _round_decimal(number: float, rounding: str, digits: int) -> float:
    """Return a number rounded in decimal arithmetic."""
    # decimals after the twelfth are rounding errors, and no reason to round outwards
    exact = Decimal(f"{number:.12f}")
    return float(exact.quantize(Decimal(1).scaleb(-digits), rounding))


def interval_text(lower: float | None, upper: float | None, digits: int = 4) -> str:
    """Return an interval, rounded outwards; missing ends are named."""
    if lower is None and upper is None:
        return NONE
    if upper is None:
        return f"at least {bound(lower, DOWN, digits)}, {NO_UPPER}"
    if lower is None:
        return f"at most {bound(upper, UP, digits)}, {NO_LOWER}"
    return f"{bound(lower, DOWN, digits)} to {bound(upper, UP, digits)}"


def distinct_decimals(
    first: float, second: float, digits: int = 4, rounding: str = NEAREST
) -> tuple[str, str]:
    """Return two numbers with enough decimals to see which one is larger.

    The first is rounded as requested, the second to the nearest; equal numbers look equal.
    """
    if first == second:
        return decimal(first, digits), decimal(second, digits)
    while digits < MAX_DECIMALS:
        rounded = _round_decimal(first, rounding, digits), _round_decimal(second, NEAREST, digits)
        # rounding outwards may reverse the order: decimals are added until it is right
        if rounded[0] != rounded[1] and (rounded[0] < rounded[1]) == (first < second):
            break
        digits += 1
    return decimal(_round_decimal(first, rounding, digits), digits), decimal(second, digits)


def distinct_percents(first: float, second: float) -> tuple[str, str]:
    """Return two shares as percentages, with enough decimals to differ."""
    digits = 1
    while (
        digits < MAX_PERCENT_DECIMALS
        and first != second
        and percent(first, digits) == percent(second, digits)
    ):
        digits += 1
    return percent(first, digits), percent(second, digits)


def subtitle(document: Document) -> str:
    """Return the line under a report's heading."""
    return " · ".join(
        f"{name}: {shorten(visible(value))}"
        for name, value in document.report_subtitle.items()
        if value
    )


LEFT_OUT = "left out"
"""The value of a fact that a shared document does not have."""
SHOWN_MOVES = "of the swaps shown"


def shows_swaps(summary: AuditSummary) -> bool:
    """Return whether swaps mean anything: those of given predictions may be noise."""
    return summary.rates is None or summary.rates.deterministic


def is_shared(summary: AuditSummary) -> bool:
    """Return whether small cells were left out."""
    return summary.suppression is not None


def suppression_sentence(summary: AuditSummary) -> str | None:
    """Return what was left out of a shared document; None if nothing was."""
    rule = summary.suppression
    if rule is None:
        return None
    return (
        f"This report is made to be shared. Numbers about fewer than {rule.at_least} people were "
        "left out, and so were others from which they could be worked out. Also left out are the "
        "hash of the data, the seed, the histogram of the statistic, the statistic at other "
        "budgets, other methods, and how many swaps and different rows there are. Numbers of "
        f"people are multiples of {rule.at_least}. The statistic, mean losses and bounds are "
        f"multiples of {rule.step:g} (or the limit δ), so that no count can be worked out from "
        "them; bounds are rounded outwards and still hold. The verdict is that of the numbers "
        "before rounding."
    )


def hidden_moves_sentence(summary: AuditSummary) -> str | None:
    """Return how many people are in moves that are left out; None if there are none."""
    rule = summary.suppression
    if rule is None or not rule.moved_hidden:
        return None
    return f"Swaps of about {people(rule.moved_hidden)} people are not shown."


def few_people(summary: AuditSummary, number: float) -> str | None:
    """Return a number of people too small to be published, as a limit; None for others."""
    rule = summary.suppression
    if rule is None or number >= rule.at_least:
        return None
    return f"Fewer than {rule.at_least} of {summary.n:,} people"


def about(summary: AuditSummary) -> str:
    """Return "about " before numbers that were rounded, and nothing before exact ones."""
    return "about " if is_shared(summary) else ""


def pvalue_text(summary: AuditSummary, value: float | None) -> str:
    """Return a p-value; in a shared document, which side of a round number it is on."""
    if value is None:
        return NONE
    if not is_shared(summary):
        return pvalue(value)
    return f"p ≤ {value:g}" if value <= summary.alpha else f"p > {summary.alpha:g}"


def moves_title(summary: AuditSummary, title: str) -> str:
    """Return a heading, which says that moves were left out if they were."""
    return f"{title}, {SHOWN_MOVES}" if is_shared(summary) else title


def moves_phrase(summary: AuditSummary) -> str:
    """Return which moves are counted."""
    return "the swaps shown" if is_shared(summary) else "all swaps"


def shown_text(summary: AuditSummary, text: str, number: float) -> str:
    """Return a number's text, "0 shown" where others may be hidden."""
    return "0 shown" if is_shared(summary) and number == 0 else text


def allowed_people(limit: float, n: int) -> int:
    """Return how many of n people a limit allows, which is a share."""
    return math.floor(limit * n + ROUNDING)
