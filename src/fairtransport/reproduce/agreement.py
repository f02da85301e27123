"""Ours beside theirs: when two means over runs agree, and how they are written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.01
"""Published figures have two decimals, so that a difference of one in the last is none."""
MISS = "✗"


def beside(
    paper_mean: float, paper_sd: float, paper_runs: int, values: pd.Series
) -> dict[str, float]:
    """Compare values over runs with a published mean ± sd.

    Parameters
    ----------
    paper_mean, paper_sd, paper_runs
        As published.
    values
        Ours, one a run; NaN where undefined.

    Returns
    -------
    dict
        Both means and spreads, their difference, what is allowed of it, and whether they agree.

    Notes
    -----
    They agree if the means differ by at most two standard errors of their difference,
    √(s₁²/n₁ + s₂²/n₂), or by at most .01. An undefined value is left out of the mean and
    counted in ``undefined``.
    """
    known = values.dropna()
    mean, sd = float(known.mean()), float(known.std())
    # one run has no spread of its own
    own = paper_sd if math.isnan(sd) else sd
    error = math.sqrt(paper_sd**2 / paper_runs + own**2 / max(len(known), 1))
    allowed = max(2 * error, TOLERANCE)
    return {
        "paper_mean": paper_mean,
        "paper_sd": paper_sd,
        "mean": mean,
        "sd": sd,
        "difference": mean - paper_mean,
        "allowed": allowed,
        # a difference of .01 itself agrees, also when it is a bit more in binary
        "agrees": abs(mean - paper_mean) <= allowed + 1e-12,
        "splits": len(known),
        "undefined": len(values) - len(known),
    }


def mean_and_sd(mean: float, sd: float, decimals: int) -> str:
    """Write a mean and a standard deviation.

    Parameters
    ----------
    mean, sd
        The numbers; NaN is a dash.
    decimals
        Of both.

    Examples
    --------
    >>> mean_and_sd(-0.05, 0.13, 2), mean_and_sd(3.68, 2.05, 2)
    ('−.05 ± .13', '3.68 ± 2.05')
    """
    return f"{_short(mean, decimals)} ± {_short(sd, decimals)}"


def _short(value: float, decimals: int) -> str:
    """Write a number without its leading zero, as the paper does.

    Parameters
    ----------
    value, decimals
        A value that rounds to 0 has no sign.
    """
    if math.isnan(value):
        return "–"
    text = f"{abs(value):.{decimals}f}".removeprefix("0")
    return f"−{text}" if value < 0 and text.strip(".0") else text


def markdown_table(header: tuple[str, ...], lines: list[tuple[str, ...]], notes: list[str]) -> str:
    """Return a table and what a reader of it should know, as Markdown.

    Parameters
    ----------
    header, lines
        Words, cell by cell.
    notes
        Sentences below the table.
    """
    rows = [header, ("---",) * len(header), *lines]
    drawn = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return drawn + "\n\n" + "\n".join(f"* {note}" for note in notes) + "\n"
