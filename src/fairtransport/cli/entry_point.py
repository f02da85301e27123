"""The entry point: the list of commands, exit codes, and a protected standard output."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cyclopts import App, CycloptsError, Parameter

from fairtransport import __version__
from fairtransport._core.environment import check_environment
from fairtransport.cli.errors import CLOSED_PIPE, FAILED, INTERRUPTED, RAN, WRONG_USAGE
from fairtransport.documents.verdicts import EXIT_CODES
from fairtransport.errors import FairtransportError, InputError
from fairtransport.report.console import print_error, print_note, readable, terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cyclopts.argument import ArgumentCollection


DEBUG = "--debug"
HELP = (["--help"], ["-h"])
NUMBA_SETTINGS = ".numba_config.yaml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; no traceback unless --debug asks for it."""
    line = sys.argv[1:] if arguments is None else list(arguments)
    tokens, debug = _without_debug(line)
    _open_closed_streams()
    _replace_unprintable()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            check_environment()
            _check_own_settings()
            _check_not_empty(tokens)
            code = _run(tokens)
            # flushed here, where a full disk or a closed pipe can still be reported
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_stdout()
            return CLOSED_PIPE
        except KeyboardInterrupt as error:
            if error.args:  # a query log explains how to continue
                print_note(f"Stopped: {error.args[0]}.", error=True)
            return INTERRUPTED
        except BaseException as error:  # noqa: BLE001 - no traceback without --debug
            code = _explain(error, debug=debug)
            if code == WRONG_USAGE:
                _remove_stale_result(tokens)
    return code


def _remove_stale_result(tokens: list[str]) -> None:
    """Remove the --junit file of an earlier run, which would be mistaken for that of this one."""
    if any(token.partition("=")[0] == "--junit" for token in tokens):
        from fairtransport.cli.outputs import remove_junit_of_line

        with suppress(OSError, ValueError):
            remove_junit_of_line(tokens)


def _check_own_settings() -> None:
    """Refuse to run if numba would read settings from the working directory.

    They choose where compiled code is loaded from, and so could load somebody else's.
    """
    if Path(NUMBA_SETTINGS).exists():
        msg = (
            f"{NUMBA_SETTINGS!r} must not be in the working directory, as it can make numba run "
            "foreign code; set environment variables (NUMBA_…) instead"
        )
        raise InputError(msg)


def _run(tokens: list[str]) -> int:
    """Run a command line; without a command, list all of them and load none."""
    if tokens[1:] in HELP and tokens[0] in COMMANDS:
        # handled here: to find it in a line, cyclopts reads all flags of the command
        app.help_print(tokens[:1], console=terminal())
        return RAN
    command_line = app if COMMANDS.keys() & set(tokens) else app_of(as_list=True)
    return int(
        command_line(
            tokens,
            console=terminal(),
            result_action="return_value",
            exit_on_error=False,
            print_error=False,
        )
        or RAN
    )


def _explain(error: BaseException, *, debug: bool) -> int:
    """Print one sentence about an error, with --debug also its traceback."""
    if debug:
        import traceback

        for one in "".join(traceback.format_exception(error)).splitlines():
            sys.stderr.write(f"{readable(one)}\n")
    if isinstance(error, OSError) and error.filename is None:
        _leave_stdout()  # the screen or the pipe itself cannot be written to
    print_error(_sentence(error, debug=debug))
    return WRONG_USAGE if isinstance(error, InputError | CycloptsError) else FAILED


def _sentence(error: BaseException, *, debug: bool) -> str:
    from fairtransport._core.validation import describe_error, error_sentence
    from fairtransport.cli.errors import usage_sentence
    from fairtransport.errors import render_message
    from fairtransport.report.console import flag_names

    if isinstance(error, FairtransportError):
        message = render_message(error.message, flag_names() | error.flags)
        return message.removesuffix(", got None")  # the flag is missing on the line
    if isinstance(error, CycloptsError):
        return usage_sentence(error)
    if broken := error_sentence(error):
        return broken
    more = "" if debug else f"; run it again with {DEBUG} to see where, and please report it"
    return f"This is a defect of fairtransport ({describe_error(error)}){more}"


def _without_debug(line: list[str]) -> tuple[list[str], bool]:
    """Remove --debug before a lone --."""
    # nothing after -- is a flag
    end = line.index("--") if "--" in line else len(line)
    before = [token for token in line[:end] if token != DEBUG]
    return [*before, *line[end:]], len(before) < end


def _check_not_empty(tokens: list[str]) -> None:
    """Reject an empty flag, such as an unset variable of a shell."""
    for before, token in zip(["", *tokens], tokens, strict=False):
        flag, sign, value = token.partition("=")
        if not (token.startswith("--") and sign):
            flag, value = before, token
        if not value.strip():
            from fairtransport._core.validation import short_repr

            what = f"`{flag}`" if flag.startswith("-") else "an argument"
            msg = f"{what} must not be empty, got {short_repr(value)}"
            raise InputError(msg)


def _open_closed_streams() -> None:
    """Open closed standard streams, or the next file that is opened would become one.

    Writing to a closed standard output remains an error; standard error is discarded.
    """
    for number, how in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _replace_unprintable() -> None:
    """Replace characters, such as Greek letters, that a terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
        if encoding != "utf8" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _leave_stdout() -> None:
    """Discard the rest of the output, about which Python would complain at exit."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):
        return  # not a system stream
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), target)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a note; standard output may belong to a document."""
    print_note(str(message), error=True)


class Command(NamedTuple):
    """A command: its module, its line in the list, and whether a settings file applies.

    ``last`` ends its help; ``usage`` saves cyclopts from reading all flags again.
    """

    place: str
    sentence: str
    configured: bool = False
    usage: str | None = None
    last: str | None = None


COMPARED_CODES = {
    0: "the last model is not shown to have more bias than the first",
    3: "it is shown to have more, by more than the tolerance",
    4: "it may have more, with --fail-on not-certified",
    5: "this audit cannot tell: its numbers are no evidence",
}
"""What the exit codes of a comparison mean, where that is not what those of an audit do."""


def _list_codes(meanings: Mapping[int, str]) -> str:
    """Return exit codes with their meanings, one a line."""
    return "\n".join(["Exit codes:", *(f"{code}  {meanings[code]}" for code in meanings)])


COMMANDS = {
    "demo": Command(
        "audit_command:demo",
        "Audit a logistic regression on public data about arrests (COMPAS).",
    ),
    "audit": Command(
        "audit_command:audit",
        "Audit a model, or a file of decisions.",
        configured=True,
        usage="[OPTIONS] DATA",
        last=_list_codes(EXIT_CODES),
    ),
    "app": Command(
        "commands:app",
        "Audit in the browser, without programming.",
    ),
    "compare": Command(
        "compare_command:compare",
        "Compare models on one file of people: which has less individual bias, and how sure that "
        "is.",
        configured=True,
        usage="[OPTIONS] DATA",
        last=_list_codes(EXIT_CODES | COMPARED_CODES),
    ),
    "log": Command("commands:log", "Show or export the answers in a query log."),
    "monitor": Command(
        "commands:monitor",
        "Process rows added to a file and report the evidence so far.",
        configured=True,
        usage="--state PATH --delta FLOAT [OPTIONS] DATA",
    ),
    "sample-size": Command(
        "commands:sample_size",
        "Compute how many people an audit needs to show a model over the limit, or within it.",
        configured=True,
        usage="--delta FLOAT [OPTIONS] [ARGS]",
    ),
    "reproduce": Command("commands:reproduce", "Remake the paper's figures and table."),
    "completion": Command("commands:completion", "Print the completion script of a shell."),
}


def _read_config(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in flags from a settings file, whose reader is loaded only then."""
    from fairtransport.cli.config_file import read_config

    read_config(app, commands, arguments)


def app_of(*, as_list: bool) -> App:
    """Return the command line."""
    root = App(
        name="fairtransport",
        help="Audit machine-learning models for individual bias.",
        version=__version__,
        version_format="plaintext",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
        # help has no markup, and a markup parser takes as long to load as all the rest
        help_format="plaintext",
    )
    for name, command in COMMANDS.items():
        place = f"{__package__}.{command.place}"
        words = command.sentence if as_list else None
        # a command that is an App itself takes no options
        options: dict[str, Any] = {"config": _read_config} if command.configured else {}
        if command.usage is not None:
            options["usage"] = f"Usage: fairtransport {name} {command.usage}"
        if command.last is not None:
            options["help_epilogue"] = command.last
        root.command(place, name=name, help=words, **options)
    return root


app = app_of(as_list=False)


STDOUT, STDERR = 1, 2


@contextmanager
def stdout_aside() -> Iterator[None]:
    """Reserve standard output for the command; other output goes to standard error.

    This redirects Python's stream and the system's below it, to which libraries and programs of a
    model write.
    """
    with redirect_stdout(sys.stderr), _system_stream_aside():
        yield


@contextmanager
def _system_stream_aside() -> Iterator[None]:
    """Redirect the system's standard output to standard error inside."""
    _flush()
    try:
        stdout = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
    except OSError:  # one of them is closed
        yield
        return
    try:
        yield
    finally:
        # flushed while it still leads to standard error
        _flush()
        os.dup2(stdout, STDOUT)
        os.close(stdout)


def _flush() -> None:
    """Flush Python's own standard output."""
    with suppress(AttributeError, OSError, ValueError):  # there is none, or it is closed
        sys.__stdout__.flush()  # type: ignore[union-attr]
