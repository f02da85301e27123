"""Torch on one thread and from a seed, left as it was afterwards."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from fairtransport.reproduce.extras import needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.checks import FloatArray, IntArray

Tensor: TypeAlias = Any
"""Torch is an extra, so its types are not at hand."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread.

    Such small products are slower on several, and sums then depend on how many.
    """
    torch = needed("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Compute on one thread, with random numbers from a seed.

    Parameters
    ----------
    seed
        Torch's global generator is left as it was.
    """
    torch = needed("torch")
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def tensor(values: FloatArray | IntArray) -> Tensor:
    """Return numbers in single precision, as networks take them.

    Parameters
    ----------
    values
        Of any shape.
    """
    torch = needed("torch")
    return torch.tensor(values, dtype=torch.float32)
