"""Shared by the reproductions: agreement with the paper, cached splits, optional imports, torch."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Self

from fairtransport._core.files import write_text
from fairtransport.errors import FairtransportError, param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    import pandas as pd


MEAN_TOLERANCE = 0.01
"""Tolerance of published figures, which have two decimals."""
MISS_MARK = "✗"


def compare_with_paper(
    paper_mean: float, paper_sd: float, paper_runs: int, values: pd.Series
) -> dict[str, float]:
    """Compare values over runs with a published mean ± sd.

    They agree if the means differ by at most two standard errors of their difference,
    √(s₁²/n₁ + s₂²/n₂), or by at most .01. An undefined value is left out of the mean and
    counted in ``undefined``.
    """
    defined = values.dropna()
    mean, sd = float(defined.mean()), float(defined.std())
    # a single run has no standard deviation
    own = paper_sd if math.isnan(sd) else sd
    error = math.sqrt(paper_sd**2 / paper_runs + own**2 / max(len(defined), 1))
    allowed = max(2 * error, MEAN_TOLERANCE)
    return {
        "paper_mean": paper_mean,
        "paper_sd": paper_sd,
        "mean": mean,
        "sd": sd,
        "difference": mean - paper_mean,
        "allowed": allowed,
        # .01 itself agrees, even if it is slightly more in binary
        "agrees": abs(mean - paper_mean) <= allowed + 1e-12,
        "splits": len(defined),
        "undefined": len(values) - len(defined),
    }


def format_mean_and_sd(mean: float, sd: float, decimals: int) -> str:
    """Write a mean and a standard deviation."""
    return f"{_short(mean, decimals)} ± {_short(sd, decimals)}"


def _short(value: float, decimals: int) -> str:
    """Write a number without its leading zero, as the paper does."""
    if math.isnan(value):
        return "–"
    text = f"{abs(value):.{decimals}f}".removeprefix("0")
    return f"−{text}" if value < 0 and text.strip(".0") else text


def markdown_table(header: tuple[str, ...], lines: list[tuple[str, ...]], notes: list[str]) -> str:
    """Return a table and its notes, as Markdown."""
    rows = [header, ("---",) * len(header), *lines]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return table + "\n\n" + "\n".join(f"* {note}" for note in notes) + "\n"


@dataclass(frozen=True)
class SplitCache:
    """A folder with one small file for each seed, under one set of settings."""

    folder: Path

    @classmethod
    def under(cls, cache: Path, settings: Mapping[str, Any]) -> Self:
        """Create the folder of some settings; files of other settings do not count."""
        text = json.dumps(settings, sort_keys=True)
        folder = cache / hashlib.sha256(text.encode()).hexdigest()[:12]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{param('cache')} could not be made at {str(cache)!r}: {error.strerror or error}"
            raise FairtransportError(msg) from error
        return cls(folder)

    def file(self, seed: int) -> Path:
        """Return the file of a seed."""
        return self.folder / f"split-{seed:04}.json"

    def read(self, seed: int) -> dict[str, Any]:
        """Return the outcomes of a seed so far."""
        try:
            outcomes = json.loads(self.file(seed).read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            msg = f"The kept split {str(self.file(seed))!r} cannot be read; delete it: {error}"
            raise FairtransportError(msg) from error
        return dict(outcomes)

    def keep(self, seed: int, outcomes: Mapping[str, Any]) -> None:
        """Write the outcomes of a seed, atomically."""
        write_text(self.file(seed), json.dumps(outcomes, indent=1), "cache")


def find_versions(libraries: Sequence[str]) -> dict[str, str | None]:
    """Return the versions of libraries; None for those that are not installed."""
    return {name: _version(name) for name in libraries}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def import_extra(module: str) -> ModuleType:
    """Import a module of the extra ``reproduce``.

    AIF360 warns on import about each optional package that is missing; these are not needed here,
    so warnings are suppressed.
    """
    if module in sys.modules:
        return sys.modules[module]
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        msg = (
            f"This reproduction needs {package}, which is not installed: "
            "pip install 'fairtransport[reproduce]'"
        )
        raise FairtransportError(msg) from None
    finally:
        logging.disable(before)


@contextmanager
def seed_torch(seed: int) -> Iterator[None]:
    """Compute on one thread, with random numbers from a seed.

    Such small products are slower on several threads, and sums depend on their number.
    """
    torch = import_extra("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)
