"""Safe lines on a terminal, the flags of Python's parameters, and query logs."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

    from fairtransport._core.notes import DocumentT
    from fairtransport.access.query_log import System


DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them."""
UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Controls, lone surrogates, and breaks of lines and paragraphs."""


def readable(text: object) -> str:
    r"""Return text in which control characters are spelled out."""
    return "".join(
        character.encode("unicode_escape", "surrogatepass").decode("ascii")
        if character in DIRECTIONS or unicodedata.category(character) in UNPRINTABLE
        else character
        for character in str(text)
    )


def terminal(*, error: bool = False, soft_wrap: bool = False) -> Console:
    """Return the console that everything is printed on."""
    from rich.console import Console

    class Terminal(Console):
        """A console that leaves a closed pipe to the entry point."""

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return Terminal(stderr=error, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)


def line(*parts: str | tuple[str, str], short: bool = False) -> Text:
    """Return text, parts of it with a style, all of it readable; cut with … if ``short``."""
    from rich.text import Text

    text_line = Text(overflow="ellipsis" if short else None)
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        text_line.append(readable(text), style or None)
    return text_line


def print_error(message: str) -> None:
    """Print one sentence about what went wrong."""
    sentence = " ".join(message.split())
    terminal(error=True, soft_wrap=True).print(line(("Error: ", "bold red"), sentence))


def print_note(message: str, *, error: bool = False) -> None:
    """Print a note for readers of the numbers."""
    sentence = " ".join(message.split())
    terminal(error=error).print(line(("Note: ", "bold yellow"), sentence))


def print_failure(*sentences: str) -> None:
    """Print why a command fails, if nothing else is printed."""
    for sentence in sentences:
        print_note(sentence, error=True)


def print_written(paths: Sequence[Path]) -> None:
    """Print the names of the files that were written."""
    for path in paths:
        terminal(soft_wrap=True).print(line(f"Wrote {path}"))


OTHERS = (
    "cache", "goal", "jobs", "output", "plot", "power", "share", "splits", "value",
)  # fmt: skip
"""What only some commands ask, under the same name in Python."""
OF_COUNTERPARTS = ("fit_share", "given", "legitimate")
"""Settings of a similarity that advice names."""


@cache
def flag_names() -> dict[str, str]:
    """Return the flag of each parameter."""
    from fairtransport.settings import COMMAND_LINE, DOCUMENT, MONITOR, PYTHON_ONLY, QUERIES

    return {
        **{
            name: f"--{setting.flag}"
            for name, setting in (MONITOR | QUERIES | DOCUMENT | COMMAND_LINE).items()
            if name not in PYTHON_ONLY
        },
        **{name: f"--{name}" for name in OTHERS},
        **{name: f"--similarity-settings.{name.replace('_', '-')}" for name in OF_COUNTERPARTS},
        "X": "DATA",
        "n_simulations": "--simulations",
        "allow_pickle": "--allow-pickle",
        "trusted": "--trust",
    }


def name_flags(document: DocumentT) -> DocumentT:
    """Return a document whose notes name the flags of the command line."""
    from fairtransport._core.notes import spell_notes

    return spell_notes(document, flag_names())


def print_log(systems: list[tuple[System, int, int]], name: str) -> None:
    """Print the systems in a log, with their numbers of answers."""
    screen = terminal(soft_wrap=True)
    if not systems:
        screen.print(line(f"{name}: a query log without answers"))
    for system, questions, answers in systems:
        about = dict(system.about)
        screen.print(line((str(about.get("name")), "bold"), f"  {system.identity}"))
        more = "" if questions == answers else f" ({answers} answers)"
        columns = ", ".join(system.columns)
        screen.print(line(f"  {questions} queries about {columns}, kind {system.kind}{more}"))
