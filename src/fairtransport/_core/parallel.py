"""Threads of compiled loops, joblib workers, and the check that an audit fits into memory."""

from __future__ import annotations

import math
import os
import sys
import threading
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from fairtransport.errors import DataError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


STEPS_PER_THREAD = 500_000
"""Inner steps that make another thread worthwhile: waking a thread costs time."""


_kernel_lock = threading.RLock()
T = TypeVar("T")
MEGABYTE, GIGABYTE = 10**6, 10**9
BASE_BYTES = 400_000_000
"""Memory of Python, libraries, compiled code and blocks of resamples during an audit."""
CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Files with the memory limit of a Linux container."""


@contextmanager
def threads_for(steps: float) -> Iterator[None]:
    """Limit the threads of compiled loops of about ``steps`` inner steps.

    Call every kernel with parallel loops inside this context. Numba's threading layer "workqueue",
    used without OpenMP, aborts the process if two threads run such loops at once; here, one waits.
    """
    import numba

    before = numba.get_num_threads()  # also starts the layer, which then has a name
    layer = numba.threading_layer()  # type: ignore[attr-defined]
    with _kernel_lock if layer == "workqueue" else nullcontext():
        numba.set_num_threads(int(min(before, max(1, steps // STEPS_PER_THREAD))))
        try:
            yield
        finally:
            numba.set_num_threads(before)


def _restart_threads_in_child() -> None:
    """Restart the threading layer in a forked process.

    Threads do not survive a fork. GNU OpenMP would wait for them for ever, and numba would end
    the process; a team of one thread needs no other, so the child restarts the layer with one.
    """
    global _kernel_lock  # noqa: PLW0603 - a thread lost in the fork may hold it
    _kernel_lock = threading.RLock()
    layer = sys.modules.get("numba.np.ufunc.omppool")
    if layer is None or layer.openmp_vendor != "GNU":
        return
    from ctypes import CFUNCTYPE, c_int

    for function in (layer.launch_threads, layer.set_num_threads):
        CFUNCTYPE(None, c_int)(function)(1)


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_restart_threads_in_child)


def count_workers() -> int:
    """Return the number of workers of the active joblib backend; 1 without joblib."""
    joblib = sys.modules.get("joblib")
    return 1 if joblib is None else int(joblib.effective_n_jobs(None))


def spread(function: Callable[..., T], blocks: Iterable[tuple[Any, ...]]) -> list[T]:
    """Return the results of ``function`` for each block of arguments, in their order."""
    from joblib import Parallel, delayed

    # arguments are part of the task, as one tuple: Dask would store large arrays on a worker and
    # lose them with it
    return cast("list[T]", Parallel()(delayed(_call)((function, *block)) for block in blocks))


def _call(task: tuple[Any, ...]) -> Any:
    function, *arguments = task
    return function(*map(_writable, arguments))


def _writable(value: Any) -> Any:
    """Return writable arrays: loops would be compiled again for read-only ones."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return np.array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_writable, value))
    return value


def check_fits(amount: float, what: str) -> float:
    """Return bytes in use plus ``amount``; raise if they exceed the machine's memory."""
    required, limit = max(BASE_BYTES, resident()) + amount, machine_memory()
    if limit is not None and required > limit:
        msg = (
            f"{what} need about {format_bytes(required, up=True)} of memory, and this machine has "
            f"{format_bytes(limit)}; audit a random sample of the rows, name fewer "
            f"{param('levels')}, or cut numbers with {param('bins')}"
        )
        raise DataError(msg)
    return required


def machine_memory() -> int | None:
    """Return the memory of this machine or container in bytes; None if unknown."""
    sizes = []
    with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # "max": there is no limit
            sizes.append(int(file.read_text("ascii")))
    return min((size for size in sizes if size > 0), default=None)  # -1: not known


def resident() -> int:
    """Return the memory of this process in bytes, or a guess if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return BASE_BYTES
    return pages * os.sysconf("SC_PAGE_SIZE")


def format_bytes(amount: float, *, up: bool = False) -> str:
    """Return an amount of memory as text, rounded or rounded up."""
    integer = math.ceil if up else round
    if amount >= GIGABYTE:
        return f"{integer(amount / GIGABYTE * 10) / 10:.1f} GB"
    return f"{integer(amount / MEGABYTE)} MB"
