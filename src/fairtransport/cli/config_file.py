"""The TOML file: a table for each command, whose keys are the command's flags."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cyclopts import UNSET

from fairtransport._core.files import check_file, is_file, is_folder
from fairtransport._core.validation import short_repr
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclopts import App
    from cyclopts.argument import ArgumentCollection


Table: TypeAlias = dict[str, object]
"""A table of a TOML file."""
Bind: TypeAlias = Callable[[Table], tuple[dict[str, Any], tuple[str, ...]]]


USUAL = Path("fairtransport.toml")
COMMANDS = ("audit", "compare", "monitor", "sample-size")
"""The commands that have a table."""
FAMILY = "audits"
"""The tables of a family of audits, [[audits]]; each overrides [audit]."""
NOT_IN_A_FILE = ("config", "debug")
ALTERNATIVES = (("model", "prediction", "score"), ("pilot", "value"))
"""Alternatives, of which one is given; one on the line replaces all in the file."""
FILES = ("fit", "path", "points")
"""The settings of similarities that name files."""
DEEPEST = 20
"""Maximum depth of nested tables."""


# A stranger can leave a file in the working directory. So a file that was found, and not named, may
# only describe the cases and their columns, which screen and documents show. Models run code,
# outputs overwrite files, and δ, α, method, loss, similarity, budget and `fail-on` decide the exit
# code.
WITHOUT_A_NAME = frozenset(
    {
        "bins", "counts", "data", "favourable", "features", "label", "labels", "levels", "missing",
        "pilot", "positive", "prediction", "privileged", "score", "sensitive", "together",
    }
)  # fmt: skip
"""Settings that a file may make if it was found, and not named with --config."""


@dataclass(frozen=True)
class SettingsFile:
    """The settings of a command in a settings file: its flags, and the tables of a family.

    ``bind`` overrides the command's table by one of a family and returns the command's arguments by
    name, as far as there are any, with the names of the flags that the file sets.
    """

    name: str = ""
    names: tuple[str, ...] = ()
    family: tuple[Table, ...] = ()
    bind: Bind = lambda _: ({}, ())


NO_FILE = SettingsFile()
_file: ContextVar[SettingsFile] = ContextVar("file", default=NO_FILE)


def settings_file() -> SettingsFile:
    """Return what the settings file has for this command."""
    return _file.get()


def read_config(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what the command line leaves open; cyclopts calls this and merges.

    Its own TOML reader is not used, as the content is checked before merging (settings replaced by
    the line, quoted switches, relative files, nested tables) and errors name the file.
    """
    _file.set(NO_FILE)
    paths = [token.value for token in arguments["--config"].tokens]
    path = Path(paths[-1]) if paths else USUAL
    if not paths and not path.is_file():
        return
    tables, family = _tables(path)
    table = tables.get(commands[-1], {})
    family = family if commands[-1] == "audit" else ()
    line_tokens = [list(one.tokens) for one in arguments]

    def bind(entry: Table) -> tuple[dict[str, Any], tuple[str, ...]]:
        line = app.assemble_argument_collection()
        for one, tokens in zip(line, line_tokens, strict=True):
            for token in tokens:
                one.append(token)
        names = _merge(app, commands, line, _override(table, entry), path)
        values = {one.field_info.name: one.convert_and_validate() for one in line if not one.keys}
        return {name: one for name, one in values.items() if one is not UNSET}, (*names, FAMILY)

    if family and not paths:
        _check_names_allowed((FAMILY,), path)
    names = _merge(app, commands, arguments, table, path)
    if not paths:
        _check_names_allowed(names, path)
    _file.set(SettingsFile(path.name, (*names, FAMILY) if family else names, family, bind))


def _merge(
    app: App, commands: tuple[str, ...], arguments: ArgumentCollection, table: Table, path: Path
) -> tuple[str, ...]:
    """Apply a table to the arguments that the line leaves open; return the flags that it sets."""
    from cyclopts.config import Dict

    own = dict(table)
    _leave_out_displaced(own, arguments)
    _check_switches(own, arguments, path.name)
    _place_files(own, path.parent)
    _join_sets(own)
    Dict({commands[-1]: own}, source=path.name)(app, commands, arguments)
    _check_data(arguments, path.name)
    # checked after merging, so that no spelling of a key escapes
    return tuple(
        one.name.lstrip("-")
        for one in arguments
        if any(token.source == path.name for token in one.tokens)
    )


def _check_data(arguments: ArgumentCollection, file: str) -> None:
    """Check that the data named by a file exist; the error shows where they were sought."""
    tokens = [token for one in arguments if one.name == "--data" for token in one.tokens]
    for token in tokens:
        place = Path(token.value)
        is_pattern = any(mark in token.value for mark in "*?[")
        if token.source == file and not (is_pattern or is_file(place) or is_folder(place)):
            msg = (
                f"there is no file {short_repr(token.value, 200)} for 'data' in {file!r}; it was "
                f"looked for from the working folder, {str(Path.cwd())!r}"
            )
            raise InputError(msg)


def _override(table: Table, entry: Table) -> Table:
    """Return a table overridden by the keys of another one, with dashes or underscores."""
    own = {name.replace("_", "-"): value for name, value in entry.items()}
    # an entry's model replaces the table's predictions, as exactly one source must remain
    displaced = {
        name for names in ALTERNATIVES if own.keys() & set(names) for name in names
    } | own.keys()  # fmt: skip
    rest = {name: value for name, value in table.items() if name.replace("_", "-") not in displaced}
    return rest | own


def _check_names_allowed(names: tuple[str, ...], path: Path) -> None:
    """Reject settings that a file may make only if it was named."""
    refused = [name for name in names if name not in WITHOUT_A_NAME]
    if refused:
        msg = (
            f"{path.name!r} must be named to set {', '.join(refused)}, as it was only found in the "
            f"working directory: add --config {path} if you trust it"
        )
        raise InputError(msg)


def _leave_out_displaced(table: Table, arguments: ArgumentCollection) -> None:
    """Remove settings from a table that flags on the line replace."""
    flags = {name for one in arguments if one.tokens for name in one.names}
    for alternatives in ALTERNATIVES:
        if flags & {f"--{name}" for name in alternatives}:
            for name in alternatives:
                table.pop(name, None)


def _check_switches(table: Table, arguments: ArgumentCollection, file: str) -> None:
    """Reject a switch given as text: "false" in quotes would turn it on."""
    switches = {one.name.lstrip("-") for one in arguments if one.hint is bool}
    for name, value in table.items():
        if name.replace("_", "-") in switches and not isinstance(value, bool):
            msg = (
                f"{name!r} in {file!r} must be true or false, without quotes, got "
                f"{short_repr(value)}"
            )
            raise InputError(msg)


def _place_files(table: Table, folder: Path) -> None:
    """Make the files of a similarity's settings relative to the settings file."""
    for name in ("similarity-settings", "similarity_settings"):
        settings = table.get(name)
        if isinstance(settings, dict):
            files = {key: settings[key] for key in FILES if isinstance(settings.get(key), str)}
            table[name] = settings | {key: str(folder / file) for key, file in files.items()}


def _join_sets(table: Table) -> None:
    """Write sets of columns as comma lists, as on the line: lists in lists would become one."""
    sets = table.get("together")
    if isinstance(sets, list):
        table["together"] = [
            ",".join(map(str, names)) if isinstance(names, list) else names for names in sets
        ]


def _tables(path: Path) -> tuple[dict[str, Table], tuple[Table, ...]]:
    """Return the commands' tables by name, and those of a family."""
    import tomllib

    check_file("--config", path)
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        msg = f"{path.name!r} could not be read: {error.strerror or error}"
        raise InputError(msg) from error
    except (ValueError, RecursionError) as error:  # invalid TOML or UTF-8, or too many brackets
        msg = f"{path.name!r} must be a TOML file: {short_repr(str(error), 120)[1:-1]}"
        raise InputError(msg) from error
    if _depth(tables) > DEEPEST:
        msg = f"{path.name!r} must not have more than {DEEPEST} tables inside each other"
        raise InputError(msg)
    family = tables.pop(FAMILY, None)
    for name, table in tables.items():
        if name not in COMMANDS or not isinstance(table, dict):
            tables_text = ", ".join([*(f"[{command}]" for command in COMMANDS), f"[[{FAMILY}]]"])
            msg = f"{path.name!r} must hold the tables {tables_text} and nothing else, got {name!r}"
            raise InputError(msg)
        for key in NOT_IN_A_FILE:
            if key in table:
                msg = f"{key!r} must not be in the table [{name}] of {path.name!r}: it is a flag"
                raise InputError(msg)
    return tables, () if family is None else _checked_family(family, path.name)


def _checked_family(entries: object, file: str) -> tuple[Table, ...]:
    """Return the tables [[audits]]; reject invalid and indistinguishable ones."""
    tables = entries if isinstance(entries, list) else []
    names = [one.get("name") for one in tables if isinstance(one, dict)]
    are_names = all(isinstance(name, str) and name.strip() for name in names)
    if not tables or len(names) < len(tables) or not are_names or len(set(names)) < len(names):
        msg = f"each table [[{FAMILY}]] in {file!r} must have a {param('name')} of its own, got "
        raise InputError(msg + short_repr(names if tables else entries))
    return tuple(tables)


def _depth(tables: Table) -> int:
    """Return the nesting depth of tables and lists, without recursion."""
    depth = 0
    # level by level, as deep nesting could exhaust the stack
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
