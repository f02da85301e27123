"""Runs the splits of Table 1 side by side, and keeps each so that a run can be taken up again."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from fairtransport.datasets.compas import DELTA, split_compas
from fairtransport.errors import FairtransportError
from fairtransport.filesystem import write_text
from fairtransport.progress import track
from fairtransport.reproduce.adversarial import AdversarialSettings
from fairtransport.reproduce.baselines import BASELINES, RepresentationSettings
from fairtransport.reproduce.claims import Details, details_of
from fairtransport.reproduce.compas_study import N_RESAMPLES
from fairtransport.reproduce.evaluation import evaluate
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.fair_path import STRENGTHS

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
        "libraries": {name: _version(name) for name in LIBRARIES},
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
    folder = cache / _fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"`cache` could not be made at {str(cache)!r}: {error.strerror or error}"
        raise FairtransportError(msg) from error
    done = {seed: _read(folder, seed) for seed in seeds}
    open_seeds = [seed for seed in seeds if not set(methods) <= set(done[seed])]
    finished = _finished(open_seeds, methods, folder, jobs)
    done |= dict(track(finished, len(open_seeds), "Splits"))
    return [{"seed": seed, **{name: done[seed][name] for name in methods}} for seed in seeds]


def _finished(
    seeds: list[int], methods: Sequence[str], folder: Path, jobs: int
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
            yield seed, finish_split(seed, methods, folder)
        return
    # new processes, not forks: a fork of a process with compiled parallel loops may hang
    with (
        _environment(ONE_THREAD),
        ProcessPoolExecutor(min(jobs, len(seeds)), mp_context=get_context("spawn")) as pool,
    ):
        tasks = {pool.submit(finish_split, seed, methods, folder): seed for seed in seeds}
        try:
            for task in as_completed(tasks):
                yield tasks[task], task.result()
        finally:
            pool.shutdown(cancel_futures=True)


def finish_split(seed: int, methods: Sequence[str], folder: Path) -> Split:
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
    found = _read(folder, seed)
    split = split_compas(seed)
    for name in methods:
        if name not in found:
            model = BASELINES[name](split.training, seed)
            figures = evaluate(model, split.audit, seed)
            found[name] = {"figures": figures, "details": details_of(model)}
            _keep(folder, seed, found)
    return found


def _read(folder: Path, seed: int) -> Split:
    """Return a kept split, empty if there is none.

    Raises
    ------
    FairtransportError
        If its file is damaged; it is not overwritten unasked.
    """
    try:
        found = json.loads(_file(folder, seed).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        msg = f"The kept split {str(_file(folder, seed))!r} cannot be read; delete it: {error}"
        raise FairtransportError(msg) from error
    return dict(found)


def _keep(folder: Path, seed: int, found: Split) -> None:
    """Write a split down, whole or not at all."""
    write_text(_file(folder, seed), json.dumps(found, indent=1), "cache")


def _file(folder: Path, seed: int) -> Path:
    """Return where a split is kept."""
    return folder / f"split-{seed:04}.json"


def _fingerprint() -> str:
    """Return the folder's name for the settings: splits of others are never mixed in."""
    text = json.dumps(settings(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _version(package: str) -> str | None:
    """Return a package's version, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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
