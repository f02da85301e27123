"""The entry point: runs a command and turns whatever happens into an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from cyclopts import CycloptsError

from fairtransport.cli.app import app
from fairtransport.cli.exits import CLOSED_PIPE, FAILED, INTERRUPTED, RAN, WRONG_USAGE
from fairtransport.cli.usage import usage_sentence
from fairtransport.console import in_flags, print_error, print_note, readable
from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

DEBUG = "--debug"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    line = sys.argv[1:] if arguments is None else list(arguments)
    tokens, debug = _without_debug(line)
    _replace_unprintable()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            code = _run(tokens)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_stdout()
            return CLOSED_PIPE
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the boundary: no traceback unless asked for
            return _explain(error, debug=debug)
    return code


def _run(tokens: list[str]) -> int:
    from fairtransport.console.screen import screen

    return int(
        app(
            tokens,
            console=screen(),
            result_action="return_value",
            exit_on_error=False,
            print_error=False,
        )
        or RAN
    )


def _explain(error: Exception, *, debug: bool) -> int:
    """Print one sentence about an error, with --debug also where it comes from."""
    if debug:
        import traceback

        for one in "".join(traceback.format_exception(error)).splitlines():
            sys.stderr.write(f"{readable(one)}\n")
    if isinstance(error, OSError) and error.filename is None:
        _leave_stdout()  # the screen or a pipe is what cannot be written
    print_error(_sentence(error, debug=debug))
    return WRONG_USAGE if isinstance(error, InputError | CycloptsError) else FAILED


def _sentence(error: Exception, *, debug: bool) -> str:
    if isinstance(error, FairtransportError):
        return in_flags(str(error))
    if isinstance(error, CycloptsError):
        return usage_sentence(error)
    if isinstance(error, OSError):
        what = "the output" if error.filename is None else repr(os.fsdecode(error.filename))
        return f"{what} could not be read or written: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this audit; bins make fewer distinct points"
    more = "" if debug else f"; run it again with {DEBUG} to see where, and please report it"
    return f"This is a defect of fairtransport ({type(error).__name__}: {error}){more}"


def _without_debug(line: list[str]) -> tuple[list[str], bool]:
    """Take --debug out, wherever it stands before a lone --."""
    end = line.index("--") if "--" in line else len(line)
    before = [token for token in line[:end] if token != DEBUG]
    return [*before, *line[end:]], len(before) < end


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


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_note(str(message), error=True)
