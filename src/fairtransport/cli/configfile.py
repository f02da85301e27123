"""The TOML file: a table for each command, whose keys are the command's flags."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts.config import Dict

from fairtransport.checks import shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

USUAL = Path("fairtransport.toml")
COMMANDS = ("audit", "monitor", "sample-size")
"""The commands that have a table."""
NOT_IN_A_FILE = ("config", "debug")
ALTERNATIVES = (("model", "prediction", "score"), ("pilot", "value"))
"""Of each of these one is given; one on the line displaces all in the file."""
SWITCHES = ("allow-pickle", "quiet", "share")
FILES = ("fit", "path", "points")
"""The settings of similarities that name files."""


def read_config(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what the line left open: the command line's library calls this and merges."""
    given = [token.value for token in arguments["--config"].tokens]
    path = Path(given[-1]) if given else USUAL
    if given or path.is_file():
        tables = _tables(path)
        for table in tables.values():
            _leave_out_displaced(table, arguments)
            _check_switches(table, path.name)
            _place_files(table, path.parent)
        Dict(tables, source=path.name)(app, commands, arguments)


def _leave_out_displaced(table: dict[str, Any], arguments: ArgumentCollection) -> None:
    """Take out of a table what a flag on the line stands in for."""
    typed = {name for one in arguments if one.tokens for name in one.names}
    for alternatives in ALTERNATIVES:
        if typed & {f"--{name}" for name in alternatives}:
            for name in alternatives:
                table.pop(name, None)


def _check_switches(table: dict[str, Any], file: str) -> None:
    for name, value in table.items():
        if name.replace("_", "-") in SWITCHES and not isinstance(value, bool):
            msg = f"{name!r} in {file!r} must be true or false, without quotes, got {shown(value)}"
            raise InputError(msg)


def _place_files(table: dict[str, Any], folder: Path) -> None:
    """Make the files of a similarity's settings relative to where the settings stand."""
    for name in ("similarity-settings", "similarity_settings"):
        settings = table.get(name)
        if isinstance(settings, dict):
            for key in FILES:
                if isinstance(settings.get(key), str):
                    settings[key] = str(folder / settings[key])


def _tables(path: Path) -> dict[str, Any]:
    if not path.is_file():
        msg = f"`--config` must be an existing file, got {str(path)!r}"
        raise InputError(msg)
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        msg = f"{path.name!r} could not be read: {error.strerror or error}"
        raise InputError(msg) from error
    except ValueError as error:  # no TOML, or no UTF-8
        msg = f"{path.name!r} must be a TOML file: {error}"
        raise InputError(msg) from error
    for name, table in tables.items():
        if name not in COMMANDS or not isinstance(table, dict):
            known = ", ".join(f"[{command}]" for command in COMMANDS)
            msg = f"{path.name!r} must hold the tables {known} and nothing else, got {name!r}"
            raise InputError(msg)
        for key in NOT_IN_A_FILE:
            if key in table:
                msg = f"{key!r} must not be in the table [{name}] of {path.name!r}: it is a flag"
                raise InputError(msg)
    return tables
