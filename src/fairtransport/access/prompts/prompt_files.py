"""Prompts written down in TOML files, for the command line."""

from __future__ import annotations

import tomllib
from inspect import signature
from typing import TYPE_CHECKING, Any

from fairtransport.access.opening import bytes_of, existing_file, reading
from fairtransport.access.prompts.prompting import prompt
from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.filesystem import is_file

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fairtransport.access.prompts.prompting import Prompt

ELSEWHERE = frozenset(
    {"url", "token_variable", "at_a_time", "timeout", "retries", "max_answer"}
)  # fmt: skip
"""What is no part of a prompt but of how a server is asked."""
KEYS = tuple(name for name in signature(prompt).parameters if name not in ELSEWHERE)
NEEDED = ("template", "answers")


def read_prompt(path: str | Path, url: str, **limits: Any) -> Prompt:
    """Return the black box of a prompt that stands in a TOML file.

    Parameters
    ----------
    path
        The file. Its keys are parameters of `prompt`; ``stand_ins`` is the path of a CSV file,
        seen from the folder of this one.
    url
        The address of the server.
    limits
        How it is asked; parameters of `prompt`, too.

    Raises
    ------
    InputError
        If a key is unknown or missing. Addresses and tokens are no keys: a prompt file is shared.
    """
    file = existing_file(str(path))
    with reading(file):
        told = tomllib.loads(bytes_of(file).decode())
    for key in told:
        if key not in KEYS:
            msg = f"{file.name!r} must have the keys {', '.join(KEYS)} alone, got {shown(key)}"
            raise InputError(msg)
    for key in NEEDED:
        if key not in told:
            msg = f"{file.name!r} must have the key {key!r}, got {shown(list(told))}"
            raise InputError(msg)
    if "stand_ins" in told:
        told["stand_ins"] = _table(file, str(told["stand_ins"]))
    template = told.pop("template")
    return prompt(template, url, **told, **limits)


def _table(prompt_file: Path, name: str) -> pd.DataFrame:
    """Return the names that stand for groups, "NA" and the like read as the words they are.

    Parameters
    ----------
    prompt_file
        The file that names the table.
    name
        Where the table is, from there.

    Raises
    ------
    InputError
        If no such file is there, or it cannot be read.
    """
    import pandas as pd

    file = prompt_file.parent / name
    if not is_file(file):
        msg = f"`stand_ins` of {prompt_file.name!r} must be an existing file, got {shown(name)}"
        raise InputError(msg)
    with reading(file):
        return pd.read_csv(file, keep_default_na=False)
