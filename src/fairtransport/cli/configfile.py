"""The TOML file: a table for each command, whose keys are the command's flags."""

from __future__ import annotations

import tomllib
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cyclopts.config import Dict

from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.filesystem import is_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

Table: TypeAlias = dict[str, object]
"""A table of a TOML file."""

USUAL = Path("fairtransport.toml")
COMMANDS = ("audit", "compare", "monitor", "sample-size")
"""The commands that have a table."""
FAMILY = "audits"
"""The tables of a family of audits, [[audits]]; each overrides [audit]."""
NOT_IN_A_FILE = ("config", "debug")
ALTERNATIVES = (("model", "prediction", "score"), ("pilot", "value"))
"""Of each of these one is given; one on the line displaces all in the file."""
FILES = ("fit", "path", "points")
"""The settings of similarities that name files."""
DEEPEST = 20
"""How many tables may stand inside each other."""

# A stranger can leave a file in the working directory. So what was not named may tell which
# cases there are and what their columns mean, which the screen and the documents show, and
# nothing else: models run or crash, outputs overwrite, and δ, α, method, loss, similarity,
# budget and `fail-on` decide which verdict ends in which exit code.
WITHOUT_A_NAME = frozenset(
    {
        "bins", "counts", "data", "favourable", "features", "label", "labels", "levels", "missing",
        "pilot", "positive", "prediction", "privileged", "score", "sensitive",
    }
)  # fmt: skip
"""What a settings file may set that was found and not named with --config."""

_taken: ContextVar[tuple[str, tuple[str, ...]]] = ContextVar("taken", default=("", ()))
_family: ContextVar[tuple[Table, ...]] = ContextVar("family", default=())
_entry: ContextVar[Table | None] = ContextVar("entry", default=None)


def read_config(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what the line left open: the command line's library calls this and merges.

    Its own reader of TOML files would do for the merging alone. The file is read here because
    what it says is looked at before it counts: what the line displaces, switches in quotes,
    files beside it, tables too deep; and because errors are sentences that name the file.

    Parameters
    ----------
    app, commands
        The command line, and which of its commands runs.
    arguments
        Its flags with what was typed; filled in.

    Raises
    ------
    InputError
        If the file cannot be read, holds what no command has, or would set without being named
        what only a named file may.
    """
    given = [token.value for token in arguments["--config"].tokens]
    path = Path(given[-1]) if given else USUAL
    taken: tuple[str, ...] = ()
    family: tuple[Table, ...] = ()
    if given or path.is_file():
        tables, listed = _tables(path)
        family = listed if commands[-1] == "audit" else ()
        if family and not given:
            _refuse_what_needs_a_name((FAMILY,), path)
        table = tables[commands[-1]] = overridden(tables.get(commands[-1], {}), _entry.get() or {})
        _leave_out_displaced(table, arguments)
        _check_switches(table, arguments, path.name)
        _place_files(table, path.parent)
        Dict(tables, source=path.name)(app, commands, arguments)
        # what was merged is looked at, so that no spelling of a key gets past
        taken = tuple(
            one.name.lstrip("-")
            for one in arguments
            if any(token.source == path.name for token in one.tokens)
        )
        if not given:
            _refuse_what_needs_a_name(taken, path)
        taken += (FAMILY,) if family else ()
    _taken.set((path.name, taken))
    _family.set(family)


def settings_taken() -> tuple[str, tuple[str, ...]]:
    """Return the name of the settings file of this command and which settings are from it."""
    return _taken.get()


def family_entries() -> tuple[Table, ...]:
    """Return the tables [[audits]] of the settings file of this command; none if it has none."""
    return _family.get()


@contextmanager
def reading(entry: Table) -> Iterator[None]:
    """Let a table of a family override the command's while a line is read once more.

    Parameters
    ----------
    entry
        A table [[audits]] without its name.
    """
    before = _entry.set(entry)
    try:
        yield
    finally:
        _entry.reset(before)


def overridden(table: Table, entry: Table) -> Table:
    """Return a table with the keys of another one over it, however dashes are written.

    Parameters
    ----------
    table, entry
        The command's, and one of a family's; a way to predictions in the second displaces all of
        the first.

    Examples
    --------
    >>> overridden({"model": "a.skops", "loss_range": [0, 1]}, {"score": "s", "loss-range": [0, 2]})
    {'score': 's', 'loss-range': [0, 2]}
    """
    own = {name.replace("_", "-"): value for name, value in entry.items()}
    displaced = {
        name for names in ALTERNATIVES if own.keys() & set(names) for name in names
    } | own.keys()  # fmt: skip
    kept = {name: value for name, value in table.items() if name.replace("_", "-") not in displaced}
    return kept | own


def _refuse_what_needs_a_name(taken: tuple[str, ...], path: Path) -> None:
    """Refuse settings that a file may make only if it was named.

    Parameters
    ----------
    taken
        Flags that the file set.
    path
        The file, found in the working directory.
    """
    refused = [name for name in taken if name not in WITHOUT_A_NAME]
    if refused:
        msg = (
            f"{path.name!r} must be named to set {', '.join(refused)}, as it was only found in the "
            f"working directory: add --config {path} if you trust it"
        )
        raise InputError(msg)


def _leave_out_displaced(table: Table, arguments: ArgumentCollection) -> None:
    """Take out of a table what a flag on the line stands in for.

    Parameters
    ----------
    table
        Changed in place.
    arguments
        Flags with what was typed.
    """
    typed = {name for one in arguments if one.tokens for name in one.names}
    for alternatives in ALTERNATIVES:
        if typed & {f"--{name}" for name in alternatives}:
            for name in alternatives:
                table.pop(name, None)


def _check_switches(table: Table, arguments: ArgumentCollection, file: str) -> None:
    """Refuse a switch that is text: "false" in quotes would turn it on."""
    switches = {one.name.lstrip("-") for one in arguments if one.hint is bool}
    for name, value in table.items():
        if name.replace("_", "-") in switches and not isinstance(value, bool):
            msg = f"{name!r} in {file!r} must be true or false, without quotes, got {shown(value)}"
            raise InputError(msg)


def _place_files(table: Table, folder: Path) -> None:
    """Make the files of a similarity's settings relative to where the settings stand.

    Parameters
    ----------
    table
        Changed in place.
    folder
        Where the settings file lies.
    """
    for name in ("similarity-settings", "similarity_settings"):
        settings = table.get(name)
        if isinstance(settings, dict):
            for key in FILES:
                if isinstance(file := settings.get(key), str):
                    settings[key] = str(folder / file)


def _tables(path: Path) -> tuple[dict[str, Table], tuple[Table, ...]]:
    """Return the commands' tables by name, and those of a family.

    Parameters
    ----------
    path
        The TOML file.

    Raises
    ------
    InputError
        If it cannot be read, or holds tables that there are not.
    """
    if not is_file(path):
        msg = f"`--config` must be an existing file, got {shown(str(path), 200)}"
        raise InputError(msg)
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        msg = f"{path.name!r} could not be read: {error.strerror or error}"
        raise InputError(msg) from error
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or endless brackets
        msg = f"{path.name!r} must be a TOML file: {shown(str(error), 120)[1:-1]}"
        raise InputError(msg) from error
    if _depth(tables) > DEEPEST:
        msg = f"{path.name!r} must not have more than {DEEPEST} tables inside each other"
        raise InputError(msg)
    family = tables.pop(FAMILY, None)
    for name, table in tables.items():
        if name not in COMMANDS or not isinstance(table, dict):
            known = ", ".join([*(f"[{command}]" for command in COMMANDS), f"[[{FAMILY}]]"])
            msg = f"{path.name!r} must hold the tables {known} and nothing else, got {name!r}"
            raise InputError(msg)
        for key in NOT_IN_A_FILE:
            if key in table:
                msg = f"{key!r} must not be in the table [{name}] of {path.name!r}: it is a flag"
                raise InputError(msg)
    return tables, () if family is None else _checked_family(family, path.name)


def _checked_family(entries: object, file: str) -> tuple[Table, ...]:
    """Return the tables [[audits]], or refuse those that are none or cannot be told apart.

    Parameters
    ----------
    entries, file
        What stands under the name, and the file's name for messages.
    """
    listed = entries if isinstance(entries, list) else []
    names = [one.get("name") for one in listed if isinstance(one, dict)]
    are_names = all(isinstance(name, str) and name.strip() for name in names)
    if not listed or len(names) < len(listed) or not are_names or len(set(names)) < len(names):
        msg = f"each table [[{FAMILY}]] in {file!r} must have a `name` of its own, got "
        raise InputError(msg + shown(names if listed else entries))
    return tuple(listed)


def _depth(tables: Table) -> int:
    """Return how many tables or lists stand inside each other, without following them down.

    Parameters
    ----------
    tables
        Level by level, so that no depth exhausts Python's stack; beyond ``DEEPEST`` it stops.
    """
    depth = 0
    level: list[Iterable[object]] = [tables.values()]
    while level and depth <= DEEPEST:
        depth += 1
        level = [
            value.values() if isinstance(value, dict) else value
            for one in level
            for value in one
            if isinstance(value, dict | list)
        ]
    return depth
