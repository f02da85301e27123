"""What memory an audit will need, said before the model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.errors import InputError
from fairtransport.memory import LIBRARIES, in_words, resident
from fairtransport.progress import tell

if TYPE_CHECKING:
    from fairtransport.settings import AuditSettings
    from fairtransport.space import SampleSpace

POINT, COLUMN, MOVE = 130, 92, 270
"""Bytes for each point, for each of its columns, and for a move to another at a cost, as measured
at the largest of all stages, the report included."""
WORTH_TELLING = 1_000_000_000
"""Bytes from which on an audit says what it needs, without being asked to keep within limits."""


def memory_needed(settings: AuditSettings, space: SampleSpace) -> int:
    """Return the bytes that a process will hold at most, as far as that is known before losses are.

    With a loss of many values points may have many moves that matter; how many is found out
    with some points when losses are known (`transport.embedded`).
    """
    moves = 0 if settings.chosen_similarity.moves_only_to_twins else MOVE
    points = space.size * (POINT + COLUMN * len(space.columns) + moves)
    return points + max(LIBRARIES, resident())


def check_memory(settings: AuditSettings, space: SampleSpace) -> None:
    """Say what an audit needs, and refuse it where that is more than it may take."""
    needed, limit = memory_needed(settings, space), settings.memory_limit
    if limit is None and needed < WORTH_TELLING:
        return
    what = f"{space.size:,} points of {len(space.columns)} columns"
    if limit is not None and needed > limit:
        msg = (
            f"`memory` must be at least {in_words(needed, up=True)} for {what}, got "
            f"{in_words(limit)}"
        )
        raise InputError(msg)
    tell(f"The audit of {what} needs about {in_words(needed, up=True)} of memory.")
