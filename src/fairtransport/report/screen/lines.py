"""Lines on a terminal: nothing in the data can colour, move or hide what is printed."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them."""
UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Controls, halves of characters, and breaks of lines and paragraphs."""


def readable(text: object) -> str:
    r"""Return text in which controls are spelled out instead of obeyed.

    Parameters
    ----------
    text
        Perhaps of the data: no escape sequence of it may reach a terminal.

    Examples
    --------
    >>> print(readable("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return "".join(
        character.encode("unicode_escape", "surrogatepass").decode("ascii")
        if character in DIRECTIONS or unicodedata.category(character) in UNPRINTABLE
        else character
        for character in str(text)
    )


def terminal(*, error: bool = False, soft_wrap: bool = False) -> Console:
    """Return the console that everything is printed on.

    Parameters
    ----------
    error
        Whether it is standard error.
    soft_wrap
        Whether long lines stay whole, for programs that read them.
    """
    from rich.console import Console

    class Terminal(Console):
        """A console that leaves a closed pipe to the entry point."""

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return Terminal(stderr=error, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)


def line(*parts: str | tuple[str, str], short: bool = False) -> Text:
    """Return text, parts of it with a style, all of it readable; cut with … if ``short``.

    Parameters
    ----------
    parts
        Text, or text with a style.
    short
        Whether it may be cut at the frame's width.
    """
    from rich.text import Text

    made = Text(overflow="ellipsis" if short else None)
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        made.append(readable(text), style or None)
    return made


def print_error(message: str) -> None:
    """Print one sentence about what went wrong.

    Parameters
    ----------
    message
        Line breaks become blanks; it goes to standard error.
    """
    sentence = " ".join(message.split())
    terminal(error=True, soft_wrap=True).print(line(("Error: ", "bold red"), sentence))


def print_note(message: str, *, error: bool = False) -> None:
    """Print what a reader of the numbers should know.

    Parameters
    ----------
    message
        Line breaks become blanks.
    error
        Whether to standard error, where the screen holds a document.
    """
    sentence = " ".join(message.split())
    terminal(error=error).print(line(("Note: ", "bold yellow"), sentence))


def print_written(paths: Sequence[Path]) -> None:
    """Say which files were written."""
    for path in paths:
        terminal(soft_wrap=True).print(line(f"Wrote {path}"))
