"""As many threads as compiled work is worth: waking more costs time on a busy machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS_A_THREAD = 500_000
"""Inner steps of a compiled loop that make another thread worth while."""


@contextmanager
def threads_for(steps: float) -> Iterator[None]:
    """Let compiled loops of about so many inner steps use a fitting number of threads."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(int(min(before, max(1, steps // STEPS_A_THREAD))))
    try:
        yield
    finally:
        numba.set_num_threads(before)
