"""What the command line's library says of wrong usage, as one sentence of ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from cyclopts import exceptions

if TYPE_CHECKING:
    from cyclopts import CycloptsError, Token

KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def usage_sentence(error: CycloptsError) -> str:
    """Return what was wrong, in one sentence that names the flag."""
    command = " ".join(("fairtransport", *(error.command_chain or ())))
    if isinstance(error, exceptions.UnknownOptionError):
        return _unknown(error, command)
    if isinstance(error, exceptions.CoercionError):
        return _not_converted(error)
    if isinstance(error, exceptions.MissingArgumentError):
        name = _called(error.keyword or (error.argument.name if error.argument else "a flag"))
        given = bool(error.keyword)
        return f"`{name}` needs a value" if given else f"`{name}` must be given to `{command}`"
    if isinstance(error, exceptions.RepeatArgumentError):
        return f"`{error.token.keyword}` must be given once"
    if isinstance(error, exceptions.UnusedCliTokensError):
        rest = " ".join(error.unused_tokens or ())
        return f"`{command}` takes no further argument, got {rest!r}"
    return str(error)


def _unknown(error: exceptions.UnknownOptionError, command: str) -> str:
    token = error.token
    if token.source != "cli":
        return f"{_key(token)!r} in {token.source!r} is no setting of `{command}`{_nearest(error)}"
    return f"`{token.keyword or token.value}` is no flag of `{command}`{_nearest(error)}"


def _nearest(error: exceptions.UnknownOptionError) -> str:
    from difflib import get_close_matches

    typed = (error.token.keyword or error.token.value).split("=")[0].strip("-[]")
    names = {name.lstrip("-"): name for one in error.argument_collection for name in one.names}
    found = get_close_matches(typed, names, n=1)
    is_flag = error.token.source == "cli"
    return f"; did you mean {names[found[0]] if is_flag else found[0]}?" if found else ""


def _not_converted(error: exceptions.CoercionError) -> str:
    token = error.token
    if token is None:
        return str(error)
    where = "" if token.source in {"", "cli"} else f" in {token.source!r}"
    name = _key(token) if where else _called(token.keyword or _argument(error))
    if error.msg is not None:
        return f"`{name}`{where} cannot be read: {error.msg}"
    return f"`{name}`{where} must be {_rule(error.target_type)}, got {token.value!r}"


def _rule(kind: Any) -> str:
    kinds = [one for one in (get_args(kind) or (kind,)) if one is not type(None)]
    if get_origin(kind) is Literal:
        return f"one of {', '.join(repr(word) for word in kinds)}"
    name = getattr(kinds[0], "__name__", str(kinds[0]))
    if get_origin(kinds[0]) is dict or name == "dict":
        return "given with a name after a dot, as in --bins.age 25,45"
    return KINDS.get(name, "one value" if name == "str" else f"of type {name}")


def _argument(error: CycloptsError) -> str:
    return error.argument.name if error.argument else "an argument"


def _called(name: str) -> str:
    """Return a flag as it is typed; arguments by position are written large."""
    return name if name not in {"--data", "--pilot"} else name.lstrip("-").upper()


def _key(token: Token) -> str:
    """Return a key as it is written in a file: a.b instead of [a][b]."""
    parts = re.findall(r"\[([^\]]*)\]", token.keyword or "")
    return ".".join(parts) or token.keyword or token.value
