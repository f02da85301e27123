"""Runs the splits of Table 1 side by side, and keeps each so that a run can be taken up again."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from fairtransport.datasets.compas import DELTA, split_compas
from fairtransport.progress import track
from fairtransport.reproduce.adversarial import AdversarialSettings
from fairtransport.reproduce.baselines import BASELINES, RepresentationSettings
from fairtransport.reproduce.claims import Details, details_of
from fairtransport.reproduce.compas_study import N_RESAMPLES
from fairtransport.reproduce.evaluation import evaluate
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.fair_path import STRENGTHS
from fairtransport.reproduce.keeping import Kept, versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FORMAT = 1
"""To be raised when the same settings come to mean something else."""
LIBRARIES = ("aif360", "numpy", "scikit-learn", "torch")
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


class RunSettings(TypedDict):
    """What decides the figures of a split.

    Attributes
    ----------
    format
        Raised when the same settings come to mean something else.
    delta, n_resamples
        Of the audits.
    strengths
        First, last and number of the path's 1/λ.
    adversarial, representation
        Settings of these two methods.
    libraries
        Versions on which figures may depend.
    """

    format: int
    delta: float
    n_resamples: int
    strengths: list[float]
    adversarial: dict[str, float]
    representation: dict[str, float]
    libraries: dict[str, str | None]


class Outcome(TypedDict):
    """What a method comes to on a split.

    Attributes
    ----------
    figures
        The columns of Table 1.
    details
        What the claims need.
    """

    figures: dict[str, float | None]
    details: Details


Split: TypeAlias = dict[str, Outcome]
"""A split's outcomes by method."""


def settings() -> RunSettings:
    """Return what decides the figures of a split; kept splits count only under the same."""
    return {
        "format": FORMAT,
        "delta": DELTA,
        "n_resamples": N_RESAMPLES,
        "strengths": [float(STRENGTHS[0]), float(STRENGTHS[-1]), len(STRENGTHS)],
        "adversarial": AdversarialSettings().as_dict(),
        "representation": RepresentationSettings().as_dict(),
        "libraries": versions(LIBRARIES),
    }


def run_splits(
    seeds: Sequence[int], methods: Sequence[str], cache: Path, *, jobs: int = 1
) -> list[dict[str, Any]]:
    """Return the figures of each split, from the cache where it has them.

    Parameters
    ----------
    seeds
        One a split.
    methods
        Names of ``BASELINES``.
    cache
        The folder that keeps the splits, one small file each.
    jobs
        How many processes work at the same time, each on one thread.

    Raises
    ------
    FairtransportError
        If a library is not installed, or the cache cannot be made or read.
    """
    for module in ("aif360", "torch"):
        needed(module)
    kept = Kept.under(cache, settings())
    done: dict[int, Split] = {seed: kept.read(seed) for seed in seeds}
    open_seeds = [seed for seed in seeds if not set(methods) <= set(done[seed])]
    finished = _finished(open_seeds, methods, kept, jobs)
    done |= dict(track(finished, len(open_seeds), "Splits"))
    return [{"seed": seed, **{name: done[seed][name] for name in methods}} for seed in seeds]


def _finished(
    seeds: list[int], methods: Sequence[str], kept: Kept, jobs: int
) -> Iterator[tuple[int, Split]]:
    """Yield seeds and their splits as they are finished, in one process or several.

    Parameters
    ----------
    seeds, methods
        What is still to be done.
    folder
        Where splits are kept.
    jobs
        How many processes.
    """
    if jobs == 1 or len(seeds) <= 1:
        for seed in seeds:
            yield seed, finish_split(seed, methods, kept)
        return
    # new processes, not forks: a fork of a process with compiled parallel loops may hang
    with (
        _environment(ONE_THREAD),
        ProcessPoolExecutor(min(jobs, len(seeds)), mp_context=get_context("spawn")) as pool,
    ):
        tasks = {pool.submit(finish_split, seed, methods, kept): seed for seed in seeds}
        try:
            for task in as_completed(tasks):
                yield tasks[task], task.result()
        finally:
            pool.shutdown(cancel_futures=True)


def finish_split(seed: int, methods: Sequence[str], kept: Kept) -> Split:
    """Compute what a kept split still lacks, keeping it after each method.

    Parameters
    ----------
    seed
        Which split.
    methods
        What it should have.
    folder
        Where it is kept.
    """
    found: Split = kept.read(seed)
    split = split_compas(seed)
    for name in methods:
        if name not in found:
            model = BASELINES[name](split.training, seed)
            figures = evaluate(model, split.audit, seed)
            found[name] = {"figures": figures, "details": details_of(model)}
            kept.keep(seed, found)
    return found


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started meanwhile.

    Parameters
    ----------
    changes
        By name; what was there before is given back.
    """
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
