"""Table 1: five methods over seeded splits, with the paper's figures and ours."""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from fairtransport._core.files import write_text
from fairtransport._core.progress import track
from fairtransport._core.validation import short_repr
from fairtransport.datasets.compas import DELTA, split_compas
from fairtransport.errors import InputError, param
from fairtransport.reproduce.common import (
    MISS_MARK,
    SplitCache,
    compare_with_paper,
    find_versions,
    format_mean_and_sd,
    import_extra,
    markdown_table,
)
from fairtransport.reproduce.compas import COLUMNS, N_RESAMPLES, evaluate
from fairtransport.reproduce.fair_path import (
    STRENGTHS,
    Details,
    find_details,
    path_claims,
    race_coefficient_claims,
)
from fairtransport.reproduce.methods import BASELINES, AdversarialSettings, RepresentationSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
    """The splits' figures, their summary with the paper's, and the claims counted over them."""

    splits: tuple[dict[str, Any], ...]
    methods: tuple[str, ...]
    summary: pd.DataFrame
    claims: dict[str, dict[str, object]]
    settings: RunSettings

    def cell(self, method: str, column: str) -> pd.Series:
        """Return one cell: paper, ours, difference, tolerance and whether they agree."""
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
    """Remake Table 1."""
    for name, value in (("splits", splits), ("jobs", jobs)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            msg = f"{param(name)} must be a whole number of at least 1, got {short_repr(value)}"
            raise InputError(msg)
    results = run_splits(range(seed, seed + splits), methods, cache, jobs=jobs)
    details = {name: [split[name]["details"] for split in results] for name in methods}
    claims = {}
    if "RLR" in details:
        claims["l1_path"] = path_claims(details["RLR"])
    if {"LR", "RWT"} <= set(details):
        claims["race_coefficient"] = race_coefficient_claims(details["LR"], details["RWT"])
    return Table1(
        tuple(results), tuple(methods), summarise(results, methods), claims, build_run_settings()
    )


def summarise(results: Sequence[dict[str, Any]], methods: Sequence[str]) -> pd.DataFrame:
    """Return the paper's and our mean ± sd, one row per method and column."""
    import pandas as pd

    rows = []
    for method in methods:
        paper = zip(COLUMNS, PAPER_MEANS[method], PAPER_SDS[method], strict=True)
        for column, mean, spread in paper:
            values = pd.Series([split[method]["figures"][column] for split in results], dtype=float)
            cell = compare_with_paper(mean, spread, PAPER_SPLITS, values)
            rows.append({"method": method, "column": column, **cell})
    return pd.DataFrame(rows)


MIN_COMPARABLE_SPLITS = 20
"""Minimum number of splits for statements about agreement."""
HEADER = ("Method", "", *COLUMNS.values(), "Agrees")


def format_cells(table: Table1) -> dict[str, list[tuple[str, str, str, bool]]]:
    """Return each method's cells as text: the column, the paper's, ours, whether they agree."""
    return {
        method: [
            (
                title,
                format_mean_and_sd(cell["paper_mean"], cell["paper_sd"], 2),
                format_mean_and_sd(cell["mean"], cell["sd"], 3),
                bool(cell["agrees"]),
            )
            for title, cell in (
                (title, table.cell(method, column)) for column, title in COLUMNS.items()
            )
        ]
        for method in table.methods
    }


def build_lines(table: Table1) -> list[tuple[str, ...]]:
    """Return two lines per method, the paper's and ours; a cross marks a disagreement."""
    rows = []
    for method, cells in format_cells(table).items():
        paper = [words for _, words, _, _ in cells]
        ours = [words if agrees else f"{words} {MISS_MARK}" for _, _, words, agrees in cells]
        agreeing = sum(agrees for *_, agrees in cells)
        verdict = "all" if agreeing == len(cells) else f"{agreeing} of {len(cells)}"
        rows += [(method, "paper", *paper, ""), ("", "ours", *ours, verdict)]
    return rows


def build_notes(table: Table1) -> list[str]:
    """Return the notes for readers of the table."""
    first, last = table.splits[0]["seed"], table.splits[-1]["seed"]
    over = f"Mean ± standard deviation over {len(table.splits)} splits (seeds {first} to {last})"
    rule = "the means differ by at most two standard errors of their difference, or .01"
    texts = [f"{over}; the paper's over 50.", f"Agrees: {rule}; {MISS_MARK} marks where not."]
    if len(table.splits) < MIN_COMPARABLE_SPLITS:
        texts.append("So few splits are a look, not a comparison: their spread is itself rough.")
    if "LFR" in table.methods and not _all_agree(table, "LFR"):
        tried = table.settings["representation"]
        texts.append(
            f"LFR is not reproduced: AIF360's own Az = 50 leaves no signal, and no setting tried "
            f"gives all of the paper's figures at once. Shown: k = {tried['prototypes']:g}, "
            f"Ax = {tried['reconstruction']:g}, Ay = {tried['prediction']:g}, "
            f"Az = {tried['parity']:g}."
        )
    left_out = table.summary[table.summary["undefined"] > 0]
    texts += [
        f"{row['column']} of {row['method']} is undefined in {row['undefined']} splits, "
        "which its mean leaves out."
        for _, row in left_out.iterrows()
    ]
    return texts


def format_markdown(table: Table1) -> str:
    """Return the table with its notes, as Markdown."""
    return markdown_table(HEADER, build_lines(table), build_notes(table))


def format_json(table: Table1) -> str:
    """Return the summary, the claims, the settings and each split's figures, as JSON."""
    document = {
        "settings": table.settings,
        "summary": to_records(table.summary),
        "claims": table.claims,
        "splits": list(table.splits),
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write_table1(table: Table1, folder: Path) -> list[Path]:
    """Write table1.md, table1.csv and table1.json, each atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "table1.md": format_markdown(table),
        "table1.csv": table.summary.to_csv(index=False, lineterminator="\n", float_format="%.6f"),
        "table1.json": format_json(table),
    }
    return [write_text(folder / name, text, "output") for name, text in texts.items()]


def _all_agree(table: Table1, method: str) -> bool:
    """Return whether all of a method's figures agree with the paper's."""
    rows = table.summary["method"] == method
    return bool(table.summary.loc[rows, "agrees"].all())


def to_records(summary: pd.DataFrame) -> list[dict[str, object]]:
    """Return a table as plain records; undefined figures are null."""
    # through pandas' own JSON, which writes undefined figures as null
    return list(json.loads(summary.to_json(orient="records", double_precision=10)))


def print_table1(table: Table1) -> None:
    """Print the paper's figures with ours, and notes."""
    from rich.table import Table

    from fairtransport.report.console import line, terminal

    grid = Table("Method", "Column", "Paper", "Ours", "Agrees", title="Table 1")
    for method, rows in format_cells(table).items():
        for place, (column, paper, ours, agrees) in enumerate(rows):
            verdict = line("yes") if agrees else line(("no", "bold red"))
            last = place == len(rows) - 1
            grid.add_row("" if place else method, column, paper, ours, verdict, end_section=last)
    terminal().print(grid)
    for note in build_notes(table):
        terminal().print(line(note))


FORMAT = 1
"""Version of the cache; raise it when the same settings give other figures."""
LIBRARIES = ("aif360", "numpy", "scikit-learn", "torch")
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


class RunSettings(TypedDict):
    """Settings that decide the figures of a split."""

    format: int
    delta: float
    n_resamples: int
    strengths: list[float]
    adversarial: dict[str, float]
    representation: dict[str, float]
    libraries: dict[str, str | None]


class Outcome(TypedDict):
    """Figures and details of a method on a split."""

    figures: dict[str, float | None]
    details: Details


Split: TypeAlias = dict[str, Outcome]
"""A split's outcomes by method."""


def build_run_settings() -> RunSettings:
    """Return the settings that determine the figures of a split; cached splits must match them."""
    return {
        "format": FORMAT,
        "delta": DELTA,
        "n_resamples": N_RESAMPLES,
        "strengths": [float(STRENGTHS[0]), float(STRENGTHS[-1]), len(STRENGTHS)],
        "adversarial": AdversarialSettings().as_dict(),
        "representation": RepresentationSettings().as_dict(),
        "libraries": find_versions(LIBRARIES),
    }


def run_splits(
    seeds: Sequence[int], methods: Sequence[str], cache: Path, *, jobs: int = 1
) -> list[dict[str, Any]]:
    """Return the figures of each split, from the cache if it has them."""
    for module in ("aif360", "torch"):
        import_extra(module)
    store = SplitCache.under(cache, build_run_settings())
    outcomes: dict[int, Split] = {seed: store.read(seed) for seed in seeds}
    open_seeds = [seed for seed in seeds if not set(methods) <= set(outcomes[seed])]
    finished = _run_open_splits(open_seeds, methods, store, jobs)
    outcomes |= dict(track(finished, len(open_seeds), "Splits"))
    return [{"seed": seed, **{name: outcomes[seed][name] for name in methods}} for seed in seeds]


def _run_open_splits(
    seeds: list[int], methods: Sequence[str], store: SplitCache, jobs: int
) -> Iterator[tuple[int, Split]]:
    """Yield seeds and finished splits, from one process or several."""
    if jobs == 1 or len(seeds) <= 1:
        for seed in seeds:
            yield seed, complete_split(seed, methods, store)
        return
    # new processes, not forks: a fork of a process with compiled parallel loops may hang
    with (
        _environment(ONE_THREAD),
        ProcessPoolExecutor(min(jobs, len(seeds)), mp_context=get_context("spawn")) as pool,
    ):
        tasks = {pool.submit(complete_split, seed, methods, store): seed for seed in seeds}
        try:
            for task in as_completed(tasks):
                yield tasks[task], task.result()
        finally:
            pool.shutdown(cancel_futures=True)


def complete_split(seed: int, methods: Sequence[str], store: SplitCache) -> Split:
    """Compute the missing parts of a cached split, storing it after each method."""
    outcomes: Split = store.read(seed)
    split = split_compas(seed)
    for name in methods:
        if name not in outcomes:
            model = BASELINES[name](split.training, seed)
            figures = evaluate(model, split.audit, seed)
            outcomes[name] = {"figures": figures, "details": find_details(model)}
            store.keep(seed, outcomes)
    return outcomes


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """Set environment variables for processes started inside."""
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
