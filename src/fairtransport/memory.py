"""Amounts of memory: how they are written, and how much is allowed."""

from __future__ import annotations

import re

from fairtransport.checks import shown
from fairtransport.errors import InputError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
         "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip
"""What letters before "B" stand for."""


def memory_size(name: str, value: object) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> memory_size("memory", "2GB"), memory_size("memory", "512 MiB")
    (2000000000, 536870912)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]i?|)b?\s*", str(value), re.IGNORECASE)
    if not isinstance(value, str) or found is None or not float(found[1]) > 0:
        msg = f'`{name}` must be an amount of memory such as "2GB" or "500MB", got {shown(value)}'
        raise InputError(msg)
    return int(float(found[1]) * UNITS[found[2].lower()])


def in_words(amount: float) -> str:
    """Return an amount of memory as people write it.

    Examples
    --------
    >>> in_words(1.23e9), in_words(450e6), in_words(2000)
    ('1.2 GB', '450 MB', '1 MB')
    """
    if amount >= UNITS["g"]:
        return f"{amount / UNITS['g']:.1f} GB"
    return f"{max(1.0, amount / UNITS['m']):.0f} MB"
