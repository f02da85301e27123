"""Text as values: what is typed on a line, in a settings file or in a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def literal(text: str | None) -> str | float | bool | None:
    """Read a value as a truth value or a number where it is one: files hold typed columns.

    Quotes keep text text.

    Examples
    --------
    >>> [literal(text) for text in ("True", "7", "0.5", "'7'", "seven")]
    [True, 7, 0.5, '7', 'seven']
    """
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


def numbers(name: str, parts: Sequence[str]) -> list[float]:
    """Return the numbers of a list."""
    try:
        return [float(part) for part in parts]
    except ValueError:
        msg = f"`{name}` must be numbers separated by commas, got {','.join(parts)!r}"
        raise InputError(msg) from None
