"""The entry point: runs a command and turns whatever happens into an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import CycloptsError

from fairtransport.cli.app import COMMANDS, app, app_of
from fairtransport.cli.exits import CLOSED_PIPE, FAILED, INTERRUPTED, RAN, WRONG_USAGE
from fairtransport.cli.typed_line import LINE
from fairtransport.errors import FairtransportError, InputError
from fairtransport.report.screen.lines import print_error, print_note, readable, terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

DEBUG = "--debug"
NUMBA_SETTINGS = ".numba_config.yaml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        Default: those of the process.

    Returns
    -------
    int
        See `cli.exits`; never an exception, and no traceback unless --debug asks for it.
    """
    line = sys.argv[1:] if arguments is None else list(arguments)
    tokens, debug = _without_debug(line)
    _open_closed_streams()
    _replace_unprintable()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            _refuse_foreign_settings()
            _refuse_empty(tokens)
            code = _run(tokens)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_stdout()
            return CLOSED_PIPE
        except KeyboardInterrupt as error:
            if error.args:  # a query log knows how to go on
                print_note(f"Stopped: {error.args[0]}.", error=True)
            return INTERRUPTED
        except BaseException as error:  # noqa: BLE001 - the boundary: no traceback unless asked for
            return _explain(error, debug=debug)
    return code


def _refuse_foreign_settings() -> None:
    """Refuse to run where numba would take settings from the folder.

    They choose whence it loads compiled code, and whoever fills the folder could bring his own.
    """
    if Path(NUMBA_SETTINGS).exists():
        msg = (
            f"{NUMBA_SETTINGS!r} must not be in the working directory, as it can make numba run "
            "foreign code; its settings can be variables of the environment, NUMBA_…"
        )
        raise InputError(msg)


def _run(tokens: list[str]) -> int:
    """Run a line; without a command only the list of all is needed, and none is loaded."""
    LINE.set(tuple(tokens))
    asked = app if COMMANDS.keys() & set(tokens) else app_of(listed=True)
    return int(
        asked(
            tokens,
            console=terminal(),
            result_action="return_value",
            exit_on_error=False,
            print_error=False,
        )
        or RAN
    )


def _explain(error: BaseException, *, debug: bool) -> int:
    """Print one sentence about an error, with --debug also where it comes from.

    Parameters
    ----------
    error
        Whatever was raised.
    debug
        Whether its traceback is shown.

    Returns
    -------
    int
        2 for what the user can put right on the line, else 1.
    """
    if debug:
        import traceback

        for one in "".join(traceback.format_exception(error)).splitlines():
            sys.stderr.write(f"{readable(one)}\n")
    if isinstance(error, OSError) and error.filename is None:
        _leave_stdout()  # the screen or a pipe is what cannot be written
    print_error(_sentence(error, debug=debug))
    return WRONG_USAGE if isinstance(error, InputError | CycloptsError) else FAILED


def _sentence(error: BaseException, *, debug: bool) -> str:
    from fairtransport.checks import said, sentence_of
    from fairtransport.cli.wording import usage_sentence
    from fairtransport.report.screen.flagwords import in_flags

    if isinstance(error, FairtransportError):
        return in_flags(str(error))
    if isinstance(error, CycloptsError):
        return usage_sentence(error)
    if broken := sentence_of(error):
        return broken
    more = "" if debug else f"; run it again with {DEBUG} to see where, and please report it"
    return f"This is a defect of fairtransport ({said(error)}){more}"


def _without_debug(line: list[str]) -> tuple[list[str], bool]:
    """Take --debug out, wherever it stands before a lone --.

    Parameters
    ----------
    line
        What was typed.

    Examples
    --------
    >>> _without_debug(["audit", "--debug", "--", "--debug"])
    (['audit', '--', '--debug'], True)
    """
    end = line.index("--") if "--" in line else len(line)
    before = [token for token in line[:end] if token != DEBUG]
    return [*before, *line[end:]], len(before) < end


def _refuse_empty(tokens: list[str]) -> None:
    """Refuse a flag without anything, which a variable of a shell can be that was not set.

    Parameters
    ----------
    tokens
        What was typed.

    Raises
    ------
    InputError
        Naming the flag.
    """
    for before, token in zip(["", *tokens], tokens, strict=False):
        flag, sign, value = token.partition("=")
        if not (token.startswith("--") and sign):
            flag, value = before, token
        if not value.strip():
            from fairtransport.checks import shown

            what = f"`{flag}`" if flag.startswith("-") else "an argument"
            msg = f"{what} must not be empty, got {shown(value)}"
            raise InputError(msg)


def _open_closed_streams() -> None:
    """Give each standard stream something, or the next file that is opened would become it.

    Writing to a standard output that was closed stays an error; to standard error nobody listens.
    """
    for number, how in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # takes the lowest number that is free
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _replace_unprintable() -> None:
    """Let a terminal without Greek letters show something else instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
        if encoding != "utf8" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _leave_stdout() -> None:
    """Nobody reads what is left over; Python would complain about it at exit."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):
        return  # not a stream of the system
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), target)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a note; standard output may belong to a document."""
    print_note(str(message), error=True)
