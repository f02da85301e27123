"""The command line and the Python code that repeat an audit."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fairtransport.literals import literal
from fairtransport.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.app.asked import Answering, Asked

REPORT, DOCUMENT = "report.html", "audit.json"
"""What a repeated audit writes."""
LITERALS = ("pos_label", "favourable", "privileged")
"""Settings whose text is read as a number where it is one."""
IN_NO_KEY = set(".=[]'\"")
"""What cannot be in a column's name that is part of a flag."""
NO_LINE = (
    "A column is called so that a command line cannot name it, for a comma, a dot, a quote or a "
    "blank in its name; the Python code can."
)


class _CannotSayError(Exception):
    """A line has no way to say something."""


def command_line(asked: Asked) -> str | None:
    """Return the line that repeats an audit; None where a column's name cannot stand on one."""
    try:
        flags = [shlex.join(words) for words in _flags(asked)]
    except _CannotSayError:
        return None
    begins = ["fairtransport", "compare" if asked.compares else "audit", asked.shown]
    return " \\\n  ".join([shlex.join(begins), *flags])


def _flags(asked: Asked) -> Iterator[tuple[str, ...]]:
    """Yield each flag with its value."""
    if asked.label is not None:
        yield _flag("--label", asked.label)
    for one in asked.answering:
        yield _answering(one, named=asked.compares)
    if any(one.allow_pickle for one in asked.answering):
        yield ("--allow-pickle",)
    if asked.compares:
        yield _flag("--tolerance", repr(asked.tolerance))
    yield _flag("--similarity", asked.similarity)
    for name, value in asked.similarity_settings.items():
        # a line cuts all of these at commas
        listed = [value] if isinstance(value, str) else value
        yield from _entry(f"--similarity-settings.{name.replace('_', '-')}", listed, literal_=True)
    for name, value in asked.settings.items():
        flag = f"--{SETTINGS[name].flag or name.replace('_', '-')}"
        yield from _entry(flag, value, literal_=name in LITERALS)
    yield "--report", REPORT
    yield "--json", DOCUMENT


def _flag(flag: str, value: str) -> tuple[str, ...]:
    """Return a flag and its value, which must not look like another flag."""
    if not value.strip():
        raise _CannotSayError
    return (f"{flag}={value}",) if value.startswith("-") else (flag, value)


def _answering(one: Answering, *, named: bool) -> tuple[str, ...]:
    begins = f"{_part(one.name)}=" if named else ""
    if one.model is not None:
        return _flag("--model", begins + (_part(one.shown) if named else one.shown))
    if one.y_pred is not None:
        return _flag("--prediction", begins + (_part(one.y_pred) if named else one.y_pred))
    return _flag("--score", begins + _part(one.y_score or ""))


def _entry(flag: str, value: object, *, literal_: bool) -> Iterator[tuple[str, ...]]:
    """Yield a setting; one by columns has a flag for each of them."""
    if isinstance(value, dict):
        for column, below in value.items():
            if set(column) & IN_NO_KEY or _part(column) != column:
                raise _CannotSayError
            yield from _entry(f"{flag}.{column}", below, literal_=literal_)
    elif isinstance(value, list | tuple):
        yield _flag(flag, ",".join(_part(_word(one, literal_=literal_)) for one in value))
    else:
        yield _flag(flag, _word(value, literal_=literal_))


def _word(value: object, *, literal_: bool) -> str:
    """Return a value as a line spells it; quotes keep a number text."""
    if not isinstance(value, str):
        return repr(value)
    return f"'{value}'" if literal_ and literal(value) != value else value


def _part(text: str) -> str:
    """Return a part of a list, which is cut at commas and stripped of blanks."""
    if not text or "," in text or text != text.strip():
        raise _CannotSayError
    return text


def python_code(asked: Asked) -> str:
    """Return the code that repeats an audit."""
    variables = {
        one.name: f"model_{at}" if asked.compares else "model"
        for at, one in enumerate(asked.answering, 1)
        if one.model is not None
    }
    lines = ["import fairtransport as ft", ""]
    lines += [
        f"{variables[one.name]} = ft.access.load({one.shown!r}"
        f"{', allow_pickle=True' if one.allow_pickle else ''})"
        for one in asked.answering
        if one.name in variables
    ]
    lines += _similarity(asked)
    lines += [
        f"result = ft.{'compare' if asked.compares else 'audit'}(",
        *(f"    {argument}," for argument in _arguments(asked, variables)),
        ")",
        "print(result)",
        f"result.to_html({REPORT!r})",
        f"result.to_json({DOCUMENT!r})",
    ]
    return "\n".join([*lines, ""])


def _arguments(asked: Asked, variables: dict[str, str]) -> Iterator[str]:
    yield repr(asked.shown)
    if asked.label is not None:
        yield repr(asked.label)
    yield _from_where(asked, variables)
    made = "similarity" if asked.similarity_settings else repr(asked.similarity)
    yield f"similarity={made}"
    for name, value in asked.settings.items():
        yield f"{name}={value!r}"
    if asked.compares:
        yield f"tolerance={asked.tolerance!r}"


def _from_where(asked: Asked, variables: dict[str, str]) -> str:
    kind = "y_pred" if asked.first.y_score is None else "y_score"
    if not asked.compares:
        return "model=model" if variables else f"{kind}={getattr(asked.first, kind)!r}"
    if variables:
        pairs = ", ".join(f"{name!r}: {variable}" for name, variable in variables.items())
        return f"models={{{pairs}}}"
    columns = {one.name: getattr(one, kind) for one in asked.answering}
    return f"{kind}={columns!r}"


def _similarity(asked: Asked) -> list[str]:
    """Return the lines that make a similarity with settings; a learned one is told the columns."""
    settings: dict[str, Any] = dict(asked.similarity_settings)
    if not settings:
        return []
    told = "" if asked.columns is None else f", defaults={dict(asked.columns)!r}"
    return [
        "similarity = ft.similarity.similarity_from_settings(",
        f"    {asked.similarity!r}, {settings!r}{told}",
        ")",
    ]
