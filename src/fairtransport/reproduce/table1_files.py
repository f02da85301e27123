"""Table 1 as Markdown, CSV and JSON, and on the screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairtransport.filesystem import write_text
from fairtransport.reproduce.agreement import MISS, markdown_table, mean_and_sd
from fairtransport.reproduce.evaluation import COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fairtransport.reproduce.table1 import Table1

FEW = 20
"""Fewer splits than this say little of agreement."""
HEADER = ("Method", "", *COLUMNS.values(), "Agrees")


def comparison(table: Table1) -> dict[str, list[tuple[str, str, str, bool]]]:
    """Return each method's cells as words: the column, the paper's, ours, whether they agree.

    Parameters
    ----------
    table
        What was found.
    """
    return {
        method: [
            (
                title,
                mean_and_sd(cell["paper_mean"], cell["paper_sd"], 2),
                mean_and_sd(cell["mean"], cell["sd"], 3),
                bool(cell["agrees"]),
            )
            for title, cell in (
                (title, table.cell(method, column)) for column, title in COLUMNS.items()
            )
        ]
        for method in table.methods
    }


def lines(table: Table1) -> list[tuple[str, ...]]:
    """Return two lines of words a method, the paper's and ours; a cross marks a disagreement.

    Parameters
    ----------
    table
        What was found.
    """
    found = []
    for method, cells in comparison(table).items():
        paper = [words for _, words, _, _ in cells]
        ours = [words if agrees else f"{words} {MISS}" for _, _, words, agrees in cells]
        agreeing = sum(agrees for *_, agrees in cells)
        verdict = "all" if agreeing == len(cells) else f"{agreeing} of {len(cells)}"
        found += [(method, "paper", *paper, ""), ("", "ours", *ours, verdict)]
    return found


def notes(table: Table1) -> list[str]:
    """Return what a reader of the table should know.

    Parameters
    ----------
    table
        What does not agree, is undefined or rests on few splits is said.
    """
    first, last = table.splits[0]["seed"], table.splits[-1]["seed"]
    over = f"Mean ± standard deviation over {len(table.splits)} splits (seeds {first} to {last})"
    rule = "the means differ by at most two standard errors of their difference, or .01"
    told = [f"{over}; the paper's over 50.", f"Agrees: {rule}; {MISS} marks where not."]
    if len(table.splits) < FEW:
        told.append("So few splits are a look, not a comparison: their spread is itself rough.")
    if "LFR" in table.methods and not _all_agree(table, "LFR"):
        tried = table.settings["representation"]
        told.append(
            f"LFR is not reproduced: AIF360's own Az = 50 leaves no signal, and no setting tried "
            f"gives all of the paper's figures at once. Shown: k = {tried['prototypes']:g}, "
            f"Ax = {tried['reconstruction']:g}, Ay = {tried['prediction']:g}, "
            f"Az = {tried['parity']:g}."
        )
    left_out = table.summary[table.summary["undefined"] > 0]
    told += [
        f"{row['column']} of {row['method']} is undefined in {row['undefined']} splits, "
        "which its mean leaves out."
        for _, row in left_out.iterrows()
    ]
    return told


def as_markdown(table: Table1) -> str:
    """Return the table with its notes, as Markdown."""
    return markdown_table(HEADER, lines(table), notes(table))


def as_json(table: Table1) -> str:
    """Return the summary, the claims, the settings and each split's figures, as JSON."""
    document = {
        "settings": table.settings,
        "summary": plain(table.summary),
        "claims": table.claims,
        "splits": list(table.splits),
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write_table1(table: Table1, folder: Path) -> list[Path]:
    """Write table1.md, table1.csv and table1.json, each whole or not at all.

    Parameters
    ----------
    table
        What was found.
    folder
        Made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "table1.md": as_markdown(table),
        "table1.csv": table.summary.to_csv(index=False, lineterminator="\n", float_format="%.6f"),
        "table1.json": as_json(table),
    }
    return [write_text(folder / name, text, "output") for name, text in texts.items()]


def _all_agree(table: Table1, method: str) -> bool:
    """Say whether all of a method's figures agree with the paper's."""
    rows = table.summary["method"] == method
    return bool(table.summary.loc[rows, "agrees"].all())


def plain(summary: pd.DataFrame) -> list[dict[str, object]]:
    """Return a table as plain records; undefined figures are null.

    Parameters
    ----------
    summary
        A pandas table.
    """
    # through pandas' own JSON, which writes undefined figures as null
    return list(json.loads(summary.to_json(orient="records", double_precision=10)))


def print_table1(table: Table1) -> None:
    """Print the paper's figures beside ours, and notes.

    Parameters
    ----------
    table
        What was found.
    """
    from rich.table import Table

    from fairtransport.report.screen.lines import line, terminal

    drawn = Table("Method", "Column", "Paper", "Ours", "Agrees", title="Table 1")
    for method, rows in comparison(table).items():
        for place, (column, paper, ours, agrees) in enumerate(rows):
            verdict = line("yes") if agrees else line(("no", "bold red"))
            last = place == len(rows) - 1
            drawn.add_row("" if place else method, column, paper, ours, verdict, end_section=last)
    terminal().print(drawn)
    for note in notes(table):
        terminal().print(line(note))
