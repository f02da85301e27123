"""COMPAS profiles as the numbers that AIF360 and the networks take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.datasets.compas import LABEL

if TYPE_CHECKING:
    import pandas as pd

PROTECTED, PRIVILEGED, UNPRIVILEGED = "race", "Caucasian", "African-American"
FAVOURABLE = 0
"""Not arrested again: the label that is good to receive."""

FULL_CODING = {
    "female": ("sex", "Female"),
    "race": ("race", PRIVILEGED),
    "age < 25": ("age_cat", "Less than 25"),
    "age 25 to 45": ("age_cat", "25 - 45"),
    "age > 45": ("age_cat", "Greater than 45"),
    "no priors": ("priors", "0"),
    "1 to 3 priors": ("priors", "1 to 3"),
    "> 3 priors": ("priors", "More than 3"),
    "felony": ("charge", "F"),
    "misdemeanor": ("charge", "M"),
}
"""Every level has a column of its own, as in AIF360's preprocessed COMPAS; race 1: Caucasian."""

SELECTABLE = ("no priors", "> 3 priors", "race", "age > 45", "misdemeanor", "age < 25", "female")
"""The columns of the paper's Figure 4: people of 25 to 45 with 1 to 3 priors and a felony are
the reference."""


def coded(people: pd.DataFrame, columns: tuple[str, ...] = tuple(FULL_CODING)) -> pd.DataFrame:
    """Return 0/1 columns for people's features.

    Parameters
    ----------
    people
        COMPAS profiles.
    columns
        Names of ``FULL_CODING``; default: all.
    """
    import pandas as pd

    sources = {name: FULL_CODING[name] for name in columns}
    return pd.DataFrame(
        {name: (people[column] == level).astype(float) for name, (column, level) in sources.items()}
    )


def labelled(people: pd.DataFrame) -> pd.DataFrame:
    """Return the coded people with their label, which AIF360 wants in one frame of numbers.

    People without a label, whom a model is only asked about, get 0 for it.

    Parameters
    ----------
    people
        COMPAS profiles.
    """
    labels = people[LABEL].astype(float) if LABEL in people else 0.0
    return coded(people).assign(**{LABEL: labels}).reset_index(drop=True)
