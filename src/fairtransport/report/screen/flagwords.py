"""Messages about Python's parameters, said in the flags of the command line."""

from __future__ import annotations

import re

from fairtransport.settings import MONITOR

OTHERS = (
    "cache", "goal", "jobs", "output", "plot", "power", "share", "splits", "value",
)  # fmt: skip
"""What only some commands ask, under the same name in Python."""
FLAGS = {
    **{name: f"--{setting.flag or name}" for name, setting in MONITOR.items()},
    **{name: f"--{name}" for name in OTHERS},
    "X": "DATA",
    "n_simulations": "--simulations",
    "allow_pickle": "--allow-pickle",
    "trusted": "--trust",
}
"""The flag that stands for each parameter."""

NAMED = re.compile(r"`(?P<name>\w+)(?:\[(?P<quote>['\"])(?P<key>.*?)(?P=quote)\])?`")
KEYWORD = re.compile(r"\b(?P<name>loss|method)='(?P<value>[\w-]+)'")
PHRASES = {"missing='level'": "--missing level", " or a similarity object": ""}
"""What only a caller from Python can do, and how a line says it."""


def in_flags(message: str, renamed: dict[str, str] | None = None) -> str:
    """Return a message with flags where it names parameters.

    Parameters
    ----------
    message
        What an audit said; parameters are between backticks.
    renamed
        Further parameters and what the command calls them.

    Examples
    --------
    >>> in_flags("`y` must be given, got None")
    '`--label` must be given'
    >>> in_flags("`bins['age']` must be rising edges; see `path`", {"path": "--state"})
    '`--bins.age` must be rising edges; see `--state`'
    >>> in_flags("take loss='zero-one'")
    'take --loss zero-one'
    """
    flags = FLAGS | (renamed or {})

    def flag(found: re.Match[str]) -> str:
        """Return the flag in the place of a parameter, as it is if there is none."""
        name, key = found["name"], found["key"]
        if name not in flags:
            return found[0]
        return f"`{flags[name]}`" if key is None else f"`{flags[name]}.{key}`"

    said = NAMED.sub(flag, message).removesuffix(", got None")
    said = KEYWORD.sub(lambda found: f"--{found['name']} {found['value']}", said)
    for phrase, words in PHRASES.items():
        said = said.replace(phrase, words)
    return said
