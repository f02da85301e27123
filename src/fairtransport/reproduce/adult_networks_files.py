"""The follow-up's Adult study as Markdown, CSV and JSON, and on the screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairtransport.filesystem import write_text
from fairtransport.reproduce.adult_networks import KINDS, PAPER_RUNS
from fairtransport.reproduce.agreement import MISS, markdown_table, mean_and_sd
from fairtransport.reproduce.loss_ratio import ALPHA, DELTA
from fairtransport.reproduce.table1_files import plain

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fairtransport.reproduce.adult_networks import AdultNetworks

HEADER = (
    "Model", "T, published", "T, ours", "Agrees", "Rejected, published", "Rejected, ours",
    "Mean ratio", "Worst / base, flow", "Worst / base, observed", "Worst / base, generated",
    "Worst / base, searched", "ψ, observed", "ψ, generated", "ψ, searched", "Balanced accuracy",
)  # fmt: skip


def lines(study: AdultNetworks) -> list[tuple[str, ...]]:
    """Return a line of words a model; a cross marks a disagreement.

    Parameters
    ----------
    study
        What was found.
    """
    return [_line(row, len(study.runs)) for _, row in study.summary.iterrows()]


def _line(row: pd.Series, runs: int) -> tuple[str, ...]:
    """Return one model's line; small spreads are told with three decimals."""
    decimals = 3 if row["paper_sd"] < 0.1 else 2  # noqa: PLR2004
    return (
        row["model"],
        mean_and_sd(row["paper_mean"], row["paper_sd"], decimals),
        mean_and_sd(row["mean"], row["sd"], 3),
        "yes" if row["agrees"] else MISS,
        f"{row['paper_rejected']} of {PAPER_RUNS}",
        f"{row['rejected']} of {runs}",
        *(
            mean_and_sd(row[name], row[f"{name}_sd"], 3)
            for name in (
                "ratio", "flow_ratio_of_means", *(f"{kind}_ratio" for kind in KINDS),
                *(f"{kind}_lower_bound" for kind in KINDS), "balanced_accuracy",
            )
        ),
    )  # fmt: skip


def notes(study: AdultNetworks) -> list[str]:
    """Return what a reader of the table should know.

    Parameters
    ----------
    study
        With fewer runs than published, a note says that they are a look.
    """
    first, last = study.runs[0]["seed"], study.runs[-1]["seed"]
    over = f"1 run (seed {first})"
    if len(study.runs) > 1:
        over = f"{len(study.runs)} runs (seeds {first} to {last})"
    means = f"Mean ± standard deviation over {over}; published: over {PAPER_RUNS}."
    bound = (
        "T: the lower bound of the mean ratio of losses after and before the attack, at level "
        f"{ALPHA}; rejected: T > {DELTA}."
    )
    agrees = (
        "Agrees: the means of T differ by at most two standard errors of their difference, or "
        f".01; {MISS} marks where not."
    )
    worst = (
        "Worst / base: the mean loss after over that before, by the attack and by audits with "
        f"the budget {study.settings['budget']}. The attack follows gradients to points that "
        "need not be people; the audits ask a black box about people who were observed, and about "
        "twins that are made up by fixed steps and by steps that were searched for."
    )
    lower = "ψ: the audits' lower bounds of what swaps add to the mean loss, at the same level."
    told = [means, bound, agrees, worst, lower]
    if len(study.runs) < PAPER_RUNS:
        told.append("So few runs are a look, not a comparison: their spread is itself rough.")
    return told


def as_markdown(study: AdultNetworks) -> str:
    """Return the table with its notes, as Markdown."""
    return markdown_table(HEADER, lines(study), notes(study))


def as_json(study: AdultNetworks) -> str:
    """Return the summary, the settings and each run's figures, as JSON."""
    document = {
        "settings": study.settings,
        "summary": plain(study.summary),
        "runs": list(study.runs),
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write_adult_networks(study: AdultNetworks, folder: Path) -> list[Path]:
    """Write adult-networks.md, .csv and .json, each whole or not at all.

    Parameters
    ----------
    study
        What was found.
    folder
        Made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = study.summary.to_csv(index=False, lineterminator="\n", float_format="%.6f")
    texts = {"md": as_markdown(study), "csv": table, "json": as_json(study)}
    return [
        write_text(folder / f"adult-networks.{ending}", text, "output")
        for ending, text in texts.items()
    ]


def print_adult_networks(study: AdultNetworks) -> None:
    """Print what was published beside ours, and notes.

    Parameters
    ----------
    study
        What was found.
    """
    from rich.table import Table

    from fairtransport.report.screen.lines import line, terminal

    drawn = Table("Model", "Figure", "Published", "Ours", "Agrees", title="Adult networks")
    for words in lines(study):
        cells = dict(zip(HEADER, words, strict=True))
        agrees = line("yes") if cells["Agrees"] == "yes" else line(("no", "bold red"))
        drawn.add_row(words[0], "T", cells["T, published"], cells["T, ours"], agrees)
        drawn.add_row("", "Rejected", cells["Rejected, published"], cells["Rejected, ours"], "")
        rest = HEADER[6:]
        for name in rest:
            drawn.add_row("", name, "", cells[name], "", end_section=name == rest[-1])
    terminal().print(drawn)
    for note in notes(study):
        terminal().print(line(note))
