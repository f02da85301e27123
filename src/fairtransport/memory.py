"""How much memory work may take: amounts in words, parts that fit, and what cannot fit."""

from __future__ import annotations

import math
import os
import re
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from fairtransport.checks import shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARIES = 400_000_000
"""What Python, the libraries and compiled code hold while an audit runs, and blocks of resamples,
which are always of one size."""
BLOCKS = 16
"""A block of work takes one part in so many of the memory that is allowed."""
DUCKDB = 2
"""DuckDB may take one part in so many of it."""
MOST = 10**18
"""More than any machine has; DuckDB takes no larger numbers than a little above it."""

_limit: ContextVar[int | None] = ContextVar("limit", default=None)
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


def in_words(amount: float, *, up: bool = False) -> str:
    """Return an amount of memory as people write it, rounded, or rounded up.

    Examples
    --------
    >>> in_words(1.23e9), in_words(1.23e9, up=True), in_words(450e6), in_words(2000), in_words(10)
    ('1.2 GB', '1.3 GB', '450 MB', '2 kB', '10 B')
    """
    whole = math.ceil if up else round
    if amount >= UNITS["g"]:
        return f"{whole(amount / UNITS['g'] * 10) / 10:.1f} GB"
    if amount >= UNITS["m"]:
        return f"{whole(amount / UNITS['m'])} MB"
    return f"{whole(amount / UNITS['k'])} kB" if amount >= UNITS["k"] else f"{whole(amount)} B"


@contextmanager
def working_within(limit: int | None) -> Iterator[None]:
    """Cut work inside into parts that fit into so many bytes; None: as large as is quick."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def entries_at_a_time(most: int, size: int) -> int:
    """Return how many entries of some bytes a block of work may have, ``most`` without a limit."""
    limit = _limit.get()
    return most if limit is None else max(1, min(most, limit // (BLOCKS * size)))


def for_duckdb() -> dict[str, str | bool | int | float | list[str]]:
    """Return what DuckDB is told of the limit; what does not fit it keeps in files."""
    limit = _limit.get()
    if limit is None:
        return {}
    # no less than what a table can be read with: an audit that is too large is refused later
    return {"memory_limit": f"{min(max(limit, LIBRARIES), MOST) // DUCKDB} B"}


def expect(amount: float, what: str) -> None:
    """Refuse work that will take so many bytes more, if the limit has no room for them."""
    limit, needed = _limit.get(), resident() + amount
    if limit is not None and needed > limit:
        msg = f"`memory` must be at least {in_words(needed, up=True)} for {what}, "
        msg += f"got {in_words(limit)}"
        raise InputError(msg)


def resident() -> int:
    """Return the bytes that this process holds, or a guess where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return LIBRARIES
    return pages * os.sysconf("SC_PAGE_SIZE")
