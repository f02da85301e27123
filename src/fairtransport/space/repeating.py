"""Whether the lines of files repeat, told by pieces from all over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PIECES, PIECE = 16, 1 << 16
"""How many pieces are looked at, and how many bytes each is."""


def lines_repeat(paths: Sequence[Path]) -> bool:
    """Say whether there seem to be at most half as many distinct lines as lines.

    Of N lines of which N/2 are distinct, n of them show about N/2 (1 - exp(-2n/N)) distinct ones.
    """
    sizes = [path.stat().st_size for path in paths]
    seen = [line for piece in _pieces(paths, sizes) for line in piece]
    if not seen:
        return False
    length = sum(map(len, seen)) / len(seen) + 1
    lines = max(len(seen), sum(sizes) / length)
    return len(set(seen)) <= lines / 2 * -math.expm1(-2 * len(seen) / lines)


def _pieces(paths: Sequence[Path], sizes: Sequence[int]) -> Iterator[list[bytes]]:
    """Yield the whole lines of pieces that begin at even steps through all files."""
    step = max(PIECE, sum(sizes) / PIECES)
    before = 0
    for path, size in zip(paths, sizes, strict=True):
        steps = range(math.ceil(before / step), math.ceil((before + size) / step))
        with path.open("rb") as file:
            for place in (int(at * step) - before for at in steps):
                file.seek(place)
                lines = file.read(PIECE).splitlines()
                is_last = place + PIECE >= size
                yield lines[bool(place) : None if is_last else -1]
        before += size
