"""Exit codes, and errors in the words of the command line: one sentence that names the flag."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from cyclopts import CycloptsError, exceptions

from fairtransport._core.validation import percent_as_fraction, short_repr
from fairtransport.documents.verdicts import FailOn, exit_code, worst_row
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclopts import Token


RAN, FAILED, WRONG_USAGE = 0, 1, 2
"""Exit codes that do not depend on a verdict; `VERDICTS` has the others."""
UNIT_FLAGS = ("clusters", "sample-weight")
"""Flags of commands that audit a whole sample."""
INTERRUPTED, CLOSED_PIPE = 130, 141
"""Exit codes by which shells report a program that was ended by a signal."""


def check_fail_on(fail_on: FailOn | None, delta: float | None) -> None:
    """Check that there will be a verdict if only a certificate passes."""
    if fail_on == "not-certified" and delta is None:
        msg = (
            "`--delta` must be given with `--fail-on not-certified`: there is no verdict without it"
        )
        raise InputError(msg)


def family_exit_code(verdicts: Iterable[str | None], fail_on: FailOn | None) -> int:
    """Return the exit code of the worst verdict; an audit without δ counts as inconclusive."""
    return exit_code(worst_row(verdict or "inconclusive" for verdict in verdicts).value, fail_on)


LISTS = (
    "--sensitive", "--features", "--favourable", "--score", "--labels", "--trust", "--classes",
    "--loss-range",
)  # fmt: skip
KINDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false",
    "Several": "a list of at least one value",
}  # fmt: skip


def usage_sentence(error: CycloptsError) -> str:
    """Return an error of cyclopts as one sentence."""
    command = " ".join(("fairtransport", *(error.command_chain or ())))
    for kind, sentence in SENTENCES:
        if isinstance(error, kind):
            return sentence(error, command)
    return str(error)


def _missing(error: exceptions.MissingArgumentError, command: str) -> str:
    """Return that a flag needs a value, or an argument is missing."""
    if error.keyword:
        return f"`{error.keyword}` needs a value"
    name = _name_on_line(_argument(error))
    hint = ", your limit (3 % is 0.03)" if name == "--delta" else ""
    return f"`{command}` needs `{name}`{hint}"


def _repeated(error: exceptions.RepeatArgumentError, _: str) -> str:
    """Return that a flag was given twice."""
    return f"`{error.token.keyword}` must be given once"


def _left_over(error: exceptions.UnusedCliTokensError, command: str) -> str:
    """Return that the line has more than the command takes."""
    rest = " ".join(error.unused_tokens or ())
    return f"`{command}` takes no further argument, got {rest!r}{_commas(error)}"


def _commas(error: exceptions.UnusedCliTokensError) -> str:
    """Return how to write a list, if one seems to continue after a blank."""
    line, rest = error.root_input_tokens or [], error.unused_tokens or [""]
    at = line.index(rest[0]) if rest[0] in line else 0
    if at < 2 or line[at - 2] not in LISTS:  # noqa: PLR2004
        return ""
    parts = f"{line[at - 1].rstrip(',')},{rest[0]}"
    return f"; the parts of a list have a comma between them: {line[at - 2]} {parts}"


def _invalid(error: exceptions.ValidationError, _: str) -> str:
    """Return the rule that a value breaks, and the value."""
    got = [token.value for token in error.argument.tokens] if error.argument else []
    return f"`{_name_on_line(_argument(error))}` {error.exception_message}, got {' '.join(got)}"


def _unknown_command(error: exceptions.UnknownCommandError, command: str) -> str:
    """Return that there is no such command, with the nearest one."""
    word = (error.unused_tokens or ["?"])[0]
    names = [] if error.app is None else [name for name in error.app if name[0] != "-"]
    nearest = get_close_matches(word, names, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(names)}"
    return f"{word!r} is no command of `{command}`; {hint}"


def _unknown(error: exceptions.UnknownOptionError, command: str) -> str:
    """Return that there is no such flag or setting, with the nearest one."""
    token = error.token
    if token.source != "cli":
        return f"{_key(token)!r} in {token.source!r} is no setting of `{command}`{_nearest(error)}"
    return f"`{token.keyword or token.value}` is no flag of `{command}`{_nearest(error)}"


def _nearest(error: exceptions.UnknownOptionError) -> str:
    """Return the flag or setting that was probably meant, or which commands take it."""
    word = (error.token.keyword or error.token.value).split("=")[0].strip("-[]")
    if word in UNIT_FLAGS:
        return ", which is for independent people; `audit` and `compare` take it"
    names = {name.lstrip("-"): name for one in error.argument_collection for name in one.names}
    nearest = get_close_matches(word, names, n=1)
    is_flag = error.token.source == "cli"
    return f"; did you mean {names[nearest[0]] if is_flag else nearest[0]}?" if nearest else ""


def _not_converted(error: exceptions.CoercionError, _: str) -> str:
    """Return the rule of a value, and the value; with its place, if it is in a file."""
    token = error.token
    if token is None:
        return str(error)
    where = "" if token.source in {"", "cli"} else f" in {token.source!r}"
    name = _key(token) if where else _name_on_line(token.keyword or _argument(error))
    if error.target_type is dict:
        return f"`{name}`{where} needs a column's name after a dot, as in --{name.lstrip('-')}.NAME"
    if error.target_type is tuple:
        return f"`{name}`{where} needs a value"
    if error.msg is not None:
        return f"`{name}`{where} cannot be read: {error.msg}"
    percent = percent_as_fraction(token.value) if "%" in token.value else None
    hint = "" if percent is None else f"; {percent}"
    rule = _rule(error.target_type)
    return f"`{name}`{where} must be {rule}, got {short_repr(token.value)}{hint}"


def _rule(kind: object) -> str:
    """Return the values that a flag's type takes, as text."""
    kinds = [one for one in (get_args(kind) or (kind,)) if one is not type(None)]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(repr(word) for word in kinds)}"
    name = getattr(kinds[0], "__name__", str(kinds[0]))
    return KINDS.get(name, "one value" if name == "str" else f"of type {name}")


def _argument(error: CycloptsError) -> str:
    """Return the name of the argument that an error is about."""
    return error.argument.name if error.argument else "an argument"


def _name_on_line(name: str) -> str:
    """Return a flag as it is typed; positional arguments are in capitals."""
    return name if name not in {"--data", "--pilot"} else name.lstrip("-").upper()


def _key(token: Token) -> str:
    """Return a key in the form of a settings file: a.b instead of [a][b]."""
    parts = re.findall(r"\[([^\]]*)\]", token.keyword or "")
    return ".".join(parts) or token.keyword or token.value


SENTENCES: tuple[tuple[type[CycloptsError], Callable[[Any, str], str]], ...] = (
    (exceptions.UnknownCommandError, _unknown_command),
    (exceptions.UnknownOptionError, _unknown),
    (exceptions.CoercionError, _not_converted),
    (exceptions.ValidationError, _invalid),
    (exceptions.MissingArgumentError, _missing),
    (exceptions.RepeatArgumentError, _repeated),
    (exceptions.UnusedCliTokensError, _left_over),
)
"""The message of each kind of wrong usage, given the command."""
