"""Threads of compiled loops: as many as the work is worth, and safe among threads and forks."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS_A_THREAD = 500_000
"""Inner steps of a compiled loop that make another thread worth while: waking more costs time
on a busy machine."""

_one_at_a_time = threading.RLock()


@contextmanager
def threads_for(steps: float) -> Iterator[None]:
    """Let compiled loops of about so many inner steps use a fitting number of threads.

    All calls of kernels with parallel loops stand in this context. Numba's layer "workqueue",
    which it takes where there is no OpenMP, aborts the process when two threads are in such
    loops at once; there, one waits for the other.

    Parameters
    ----------
    steps
        About how often the innermost line of the loop runs. The number of threads changes how fast
        a result comes, never a bit of it.
    """
    import numba

    before = numba.get_num_threads()  # this also starts the layer, which then has a name
    layer = numba.threading_layer()  # type: ignore[attr-defined]
    with _one_at_a_time if layer == "workqueue" else nullcontext():
        numba.set_num_threads(int(min(before, max(1, steps // STEPS_A_THREAD))))
        try:
            yield
        finally:
            numba.set_num_threads(before)


def _in_a_forked_child() -> None:
    """Make compiled loops run in a process that was forked after its parent had run some.

    Threads do not survive a fork. GNU OpenMP would wait for its lost ones for ever, and
    numba ends the process instead; a team of one thread needs nobody else, so the child
    starts the layer again with that.
    """
    global _one_at_a_time  # noqa: PLW0603 - the parent's may be held by a lost thread
    _one_at_a_time = threading.RLock()
    layer = sys.modules.get("numba.np.ufunc.omppool")
    if layer is None or layer.openmp_vendor != "GNU":
        return
    from ctypes import CFUNCTYPE, c_int

    for function in (layer.launch_threads, layer.set_num_threads):
        CFUNCTYPE(None, c_int)(function)(1)


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_in_a_forked_child)
