"""Blocks of work through joblib, where the caller has made one of its backends active."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


def count_workers() -> int:
    """Return how many workers the active joblib backend has; 1: work stays in this process.

    Nobody has made a backend active who has not imported joblib.
    """
    joblib = sys.modules.get("joblib")
    return 1 if joblib is None else int(joblib.effective_n_jobs(None))


def spread(function: Callable[..., T], blocks: Iterable[tuple[Any, ...]]) -> list[T]:
    """Return what ``function`` returns for the arguments of each block, in their order."""
    from joblib import Parallel, delayed

    # arguments travel within the task, as one tuple: Dask would place large arrays on a worker,
    # and they would be lost with it
    return cast("list[T]", Parallel()(delayed(_call)((function, *block)) for block in blocks))


def _call(task: tuple[Any, ...]) -> Any:
    function, *arguments = task
    return function(*map(_writable, arguments))


def _writable(value: Any) -> Any:
    """Return arrays that may be written to: loops would be compiled once more for others."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return np.array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_writable, value))
    return value
