"""Strings and values of the data as text that a reader can trust: nothing hidden or endless."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from fairtransport.report.numbers import decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairtransport.summary import Value

LONGEST = 120
"""Longer texts from the data are shortened where they stand in a line."""
MISSING = "missing"
LOSS_NAMES = {"brier": "Brier"}
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

    Parameters
    ----------
    text
        Anything of the data.

    Examples
    --------
    >>> visible("a\u202eb\n")
    'a⟨U+202E⟩b⟨U+000A⟩'
    """
    return "".join(f"⟨U+{ord(sign):04X}⟩" if _is_hidden(sign) else sign for sign in str(text))


def _is_hidden(sign: str) -> bool:
    r"""Say whether a character would not be seen where it stands.

    Examples
    --------
    A mark that turns the direction of writing, and a letter:

    >>> _is_hidden("\u202e"), _is_hidden("a")
    (True, False)
    """
    return unicodedata.category(sign) in _HIDDEN and sign not in _JOINERS


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return the text, or its beginning with an ellipsis.

    Parameters
    ----------
    text
        Made visible before: what is cut off must not be the end of an override.
    longest
        Characters at the most.

    Examples
    --------
    >>> shorten("a long name", 8)
    'a long…'
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def value_text(value: Value | tuple[float, ...], write: Callable[[object], str] = visible) -> str:
    """Return a cell of the audit data, or a prediction, as text; ``write`` writes strings.

    Examples
    --------
    >>> value_text(0.25), value_text(None), value_text((0.2, 0.8)), value_text("Male")
    ('0.25', 'missing', '0.2, 0.8', 'Male')
    """
    if value is None:
        return MISSING
    if isinstance(value, tuple | list):
        return ", ".join(value_text(part, write) for part in value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return write(value)


def texts_apart(before: Value, after: Value) -> tuple[str, str]:
    """Return two different values as texts that differ, with as many digits as that takes.

    Examples
    --------
    >>> texts_apart(188.712, 188.731), texts_apart("a", "b"), texts_apart(1.0, 2.0)
    (('188.71', '188.73'), ('a', 'b'), ('1', '2'))
    """
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
    """Return a prediction; of two classes' scores the last one, which tells the other.

    Examples
    --------
    >>> prediction_text((0.802, 0.198)), prediction_text((0.2, 0.3, 0.5)), prediction_text("yes")
    ('0.198', '0.200, 0.300, 0.500', 'yes')
    >>> prediction_text((0.2, 0.3, 0.5), ["low", "middle", "high"])
    'low 0.200, middle 0.300, high 0.500'
    """
    if not isinstance(value, tuple | list):
        return value_text(value, write)
    if len(value) == 2:  # noqa: PLR2004
        return decimal(value[-1], SCORE_DIGITS)
    names = [f"{shorten(value_text(label, write), 40)} " for label in classes] or [""] * len(value)
    told = zip(names, value, strict=True)
    return ", ".join(name + decimal(score, SCORE_DIGITS) for name, score in told)


def loss_name(name: str) -> str:
    """Return a loss's name as it is written in a sentence.

    Examples
    --------
    >>> loss_name("brier"), loss_name("log")
    ('Brier', 'log')
    """
    return LOSS_NAMES.get(name, visible(name))


def profile_text(profile: Mapping[str, Value]) -> str:
    """Return a person's columns in a line.

    Examples
    --------
    >>> profile_text({"race": "Caucasian", "priors": 0})
    'race Caucasian, priors 0'
    """
    return ", ".join(f"{visible(name)} {value_text(value)}" for name, value in profile.items())


def group_text(group: Mapping[str, Value]) -> str:
    """Return the levels that make a group, each with its column: a "yes" alone says nothing.

    Examples
    --------
    >>> group_text({"race": "Caucasian", "foreign": "yes"})
    'race: Caucasian, foreign: yes'
    """
    return ", ".join(level_texts(group)) or "everybody"


def level_texts(group: Mapping[str, Value]) -> list[str]:
    """Return the levels that make a group, one by one.

    Parameters
    ----------
    group
        Levels by sensitive feature.

    Examples
    --------
    >>> level_texts({"race": "B", "sex": None})
    ['race: B', 'sex: missing']
    """
    return [f"{visible(name)}: {value_text(value)}" for name, value in group.items()]
