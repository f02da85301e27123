"""Table 1: five methods over seeded splits, the paper's figures beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.reproduce.agreement import beside
from fairtransport.reproduce.baselines import BASELINES
from fairtransport.reproduce.claims import path_claims, race_coefficient_claims
from fairtransport.reproduce.evaluation import COLUMNS
from fairtransport.reproduce.runs import RunSettings, run_splits, settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

PAPER_SPLITS = 50

PAPER_MEANS = {
    "LR": (0.06, 0.05, 0.07, 0.05, 0.67, -0.23, -0.19, -0.26),
    "ADB": (0.18, 0.16, 0.20, 0.16, 0.65, -0.05, -0.01, -0.08),
    "RWT": (0.15, 0.13, 0.17, 0.14, 0.66, -0.02, 0.01, -0.06),
    "LFR": (0.07, 0.06, 0.08, 0.06, 0.66, -0.09, -0.06, -0.13),
    "RLR": (0.02, 0.01, 0.02, 0.01, 0.66, -0.19, -0.15, -0.22),
}
PAPER_SDS = {
    "LR": (0.02, 0.02, 0.03, 0.02, 0.01, 0.04, 0.04, 0.03),
    "ADB": (0.06, 0.05, 0.06, 0.05, 0.01, 0.13, 0.12, 0.13),
    "RWT": (0.02, 0.02, 0.02, 0.02, 0.01, 0.04, 0.04, 0.04),
    "LFR": (0.05, 0.04, 0.05, 0.05, 0.01, 0.09, 0.07, 0.08),
    "RLR": (0.02, 0.02, 0.02, 0.02, 0.01, 0.03, 0.03, 0.03),
}


@dataclass(frozen=True, eq=False)
class Table1:
    """The splits' figures, their summary beside the paper's, and the claims counted over them.

    Attributes
    ----------
    splits
        A split each: figures and details by method.
    methods
        The rows.
    summary
        A row for each method and column.
    claims
        Of the l1 path and of the race coefficient, as far as their methods were run.
    settings
        What decided the figures.
    """

    splits: tuple[dict[str, Any], ...]
    methods: tuple[str, ...]
    summary: pd.DataFrame
    claims: dict[str, dict[str, object]]
    settings: RunSettings

    def cell(self, method: str, column: str) -> pd.Series:
        """Return one cell: paper, ours, difference, tolerance and whether they agree.

        Parameters
        ----------
        method, column
            Row and column of the table.
        """
        part = self.summary[(self.summary["method"] == method) & (self.summary["column"] == column)]
        return part.iloc[0]


def table1(
    splits: int = PAPER_SPLITS,
    *,
    seed: int = 0,
    methods: Sequence[str] = tuple(BASELINES),
    cache: Path,
    jobs: int = 1,
) -> Table1:
    """Remake Table 1.

    Parameters
    ----------
    splits
        The number of random splits.
    seed
        The first split's seed; the others' follow it.
    methods
        Which rows.
    cache
        The folder that keeps finished splits.
    jobs
        How many processes.

    Raises
    ------
    InputError
        If a number is not whole, or below 1.
    """
    for name, value in (("splits", splits), ("jobs", jobs)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            msg = f"`{name}` must be a whole number >= 1, got {shown(value)}"
            raise InputError(msg)
    found = run_splits(range(seed, seed + splits), methods, cache, jobs=jobs)
    details = {name: [one[name]["details"] for one in found] for name in methods}
    claims = {}
    if "RLR" in details:
        claims["l1_path"] = path_claims(details["RLR"])
    if {"LR", "RWT"} <= set(details):
        claims["race_coefficient"] = race_coefficient_claims(details["LR"], details["RWT"])
    return Table1(tuple(found), tuple(methods), summarise(found, methods), claims, settings())


def summarise(found: Sequence[dict[str, Any]], methods: Sequence[str]) -> pd.DataFrame:
    """Return the paper's and our mean ± sd, a row for each method and column.

    Parameters
    ----------
    found, methods
        The splits, and which rows.
    """
    import pandas as pd

    rows = []
    for method in methods:
        paper = zip(COLUMNS, PAPER_MEANS[method], PAPER_SDS[method], strict=True)
        for column, mean, spread in paper:
            values = pd.Series([one[method]["figures"][column] for one in found], dtype=float)
            cell = beside(mean, spread, PAPER_SPLITS, values)
            rows.append({"method": method, "column": column, **cell})
    return pd.DataFrame(rows)
