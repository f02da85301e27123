"""The TOML file: a table for each command, whose keys are the command's flags."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts.config import Dict

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

USUAL = Path("fairtransport.toml")
COMMANDS = ("audit", "monitor", "sample-size")
"""The commands that have a table."""
NOT_IN_A_FILE = ("config", "debug")


def read_config(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what the line left open: the command line's library calls this and merges."""
    given = [token.value for token in arguments["--config"].tokens]
    path = Path(given[-1]) if given else USUAL
    if given or path.is_file():
        Dict(_tables(path), source=path.name)(app, commands, arguments)


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
