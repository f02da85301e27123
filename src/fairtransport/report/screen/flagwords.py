"""Messages about Python's parameters, said in the flags of the command line."""

from __future__ import annotations

import re

FLAGS = {
    "X": "DATA",
    "y": "--label",
    "y_pred": "--prediction",
    "y_score": "--score",
    "sensitive_features": "--sensitive",
    "pos_label": "--positive",
    "loss_range": "--loss-range",
    "n_resamples": "--resamples",
    "n_simulations": "--simulations",
    "rng": "--seed",
    "allow_pickle": "--allow-pickle",
    "trusted": "--trust",
} | {
    name: f"--{name}"
    for name in (
        "alpha", "bins", "budget", "cache", "counts", "delta", "favourable", "features", "goal",
        "jobs", "labels", "levels", "loss", "method", "missing", "model", "output", "plot", "power",
        "privileged", "share", "similarity", "splits", "targets", "train", "value",
    )
}  # fmt: skip
"""The flag that stands for each parameter."""

NAMED = re.compile(r"`(?P<name>\w+)(?:\[(?P<quote>['\"])(?P<key>.*?)(?P=quote)\])?`")
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
    """
    flags = FLAGS | (renamed or {})

    def flag(found: re.Match[str]) -> str:
        name, key = found["name"], found["key"]
        if name not in flags:
            return found[0]
        return f"`{flags[name]}`" if key is None else f"`{flags[name]}.{key}`"

    said = NAMED.sub(flag, message).removesuffix(", got None")
    for phrase, words in PHRASES.items():
        said = said.replace(phrase, words)
    return said
