"""The types of flags: from words on a line, or values in a TOML file, to Python values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import CoercionError, Parameter

from fairtransport.literals import literal
from fairtransport.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cyclopts import Token

    from fairtransport.settings import Setting

    Tokens: TypeAlias = Mapping[str, "Tokens"] | Sequence[Token]
    Tree: TypeAlias = Mapping[str, "Tree"] | Sequence[str]

    DisagreementName: TypeAlias = str
    JudgeName: TypeAlias = str
    LossName: TypeAlias = str
    MethodName: TypeAlias = str
    MissingName: TypeAlias = str
    SimilarityName: TypeAlias = str
    TwinsName: TypeAlias = str
else:
    # the names there are in the registries, which the help lists and a line is held to
    DisagreementName, JudgeName, LossName, MethodName, MissingName, SimilarityName, TwinsName = (
        Literal[tuple(SETTINGS[name].choices)]
        for name in ("disagreement", "judge", "loss", "method", "missing", "similarity", "twins")
    )


def told(name: str, table: Mapping[str, Setting] = SETTINGS) -> Parameter:
    """Return the help of a flag: what the table of settings says of the parameter.

    Parameters
    ----------
    name
        The parameter in Python.
    table
        Settings of an audit, or of a monitor.
    """
    return Parameter(help=table[name].help)


class Several:
    """The type of a list that has at least one value, for messages."""


def words(_: object, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the parts of a comma list; a value in a file may hold a comma.

    Parameters
    ----------
    _
        The type that the flag declares.
    tokens
        What was typed, or stands in a file.

    Raises
    ------
    CoercionError
        If nothing is left of it.
    """
    found = tuple(part for token in tokens for part in _parts(token))
    if not found:
        raise CoercionError(target_type=Several, token=tokens[0])
    return found


def whole_number(_: object, tokens: Sequence[Token]) -> int:
    """Return a whole number; one with a fraction is a slip, not to be rounded.

    Parameters
    ----------
    _
        The type that the flag declares.
    tokens
        One.

    Raises
    ------
    CoercionError
        If it is no whole number.
    """
    try:
        return int(tokens[0].value)
    except ValueError:
        raise CoercionError(target_type=int, token=tokens[0]) from None


def tables(_: object, tokens: Tokens) -> dict[str, Tree]:
    """Return the lists under each dotted name, as in --bins.age 25,45.

    Parameters
    ----------
    _
        The type that the flag declares.
    tokens
        By the names after the dots, nested as they are.

    Raises
    ------
    CoercionError
        If the flag has no name after a dot.
    """
    if not isinstance(tokens, Mapping):
        raise CoercionError(target_type=dict, token=tokens[0])
    return {
        name: tables(_, below) if isinstance(below, Mapping) else words(_, below)
        for name, below in tokens.items()
    }


def not_negative(_: object, value: int | None) -> None:
    """Refuse a negative number.

    Parameters
    ----------
    _
        The type that the flag declares.
    value
        None where the flag was not given.
    """
    if value is not None and value < 0:
        msg = "must be a whole number >= 0"
        raise ValueError(msg)


def _parts(token: Token) -> Iterable[str]:
    """Return the parts of what was typed; a value of a file is one part, commas and all."""
    if token.source != "cli":
        return (token.value,) if token.value else ()
    return (part.strip() for part in token.value.split(",") if part.strip())


Names: TypeAlias = Annotated[tuple[str, ...] | None, Parameter(converter=words, n_tokens=1)]
"""A comma list, a repeated flag, or a list in a file."""
Lists: TypeAlias = Annotated[
    dict[str, tuple[str, ...]] | None, Parameter(converter=tables, accepts_keys=True)
]
"""Comma lists by dotted names, or a table of lists in a file."""
Tables: TypeAlias = Annotated[dict[str, Any] | None, Parameter(converter=tables, accepts_keys=True)]
"""The same where a name may have further names below it."""

Whole: TypeAlias = Annotated[int, Parameter(converter=whole_number)]
"""A whole number."""
Seed: TypeAlias = Annotated[int, Parameter(converter=whole_number, validator=not_negative)]
"""The seed of everything random."""
Switch: TypeAlias = Annotated[bool, Parameter(show_default=False)]
"""A flag without a value."""


def one_or_many(tree: Mapping[str, Tree]) -> dict[str, object]:
    """Return a settings tree with its leaves read: one value, or a list of several.

    Parameters
    ----------
    tree
        From `tables`.

    Examples
    --------
    >>> one_or_many({"fit": ("a.csv",), "scales": {"age": ("5",)}, "exact": ("x", "y")})
    {'fit': 'a.csv', 'scales': {'age': 5}, 'exact': ['x', 'y']}
    """
    return {
        name: one_or_many(below) if isinstance(below, Mapping) else _leaf(below)
        for name, below in tree.items()
    }


def _leaf(parts: Sequence[str]) -> object:
    """Return one value of a tree, or the list of several."""
    values = [literal(part) for part in parts]
    return values[0] if len(values) == 1 else values
