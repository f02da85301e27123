"""Adult: incomes above 50 000 dollars a year in the United States in 1994."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SENSITIVE = ("race", "sex")
FEATURES = ("sex", "race", "age", "education", "marital", "occupation", "hours")
LABEL = "over_50k"
LEVELS = {
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "sex": ("Female", "Male"),
}
"""All levels of the sensitive features, for audits that declare them."""


def load_adult() -> pd.DataFrame:
    """Return the Adult data as counts of 48 842 people.

    Returns
    -------
    DataFrame
        One row per cell, with the columns ``sex``, ``race`` (five levels), ``age``, ``education``,
        ``marital``, ``occupation``, ``hours`` (a week), ``over_50k`` (1: income of more than 50 000
        dollars a year) and ``count``. Other columns than sex and race are banded or grouped, so
        that people who differ only in sensitive features occur.

    Notes
    -----
    Source: the files ``adult.data`` and ``adult.test`` of the UCI Machine Learning Repository
    (CC BY 4.0), which Barry Becker extracted from the Census Bureau's 1994 database and Ronny
    Kohavi and he donated in 1996. All people are included; an unknown occupation is the level
    "Unknown". The survey weights, and columns not named above, are left out.
    ``scripts/make_adult.py`` remakes the table from the raw files.

    Known problems: the threshold of 50 000 dollars was high in 1994, few women and few Black
    people are above it, and conclusions change with it; the weights are left out, so the counts
    are of records and not of the population; only people older than 16 who worked and had an
    income are included; ``marital`` and ``occupation`` are themselves entangled with sex; three of
    the five races have fewer than 1600 people.

    Examples
    --------
    >>> import fairtransport as ft
    >>> adult = ft.datasets.load_adult()
    >>> int(adult["count"].sum()), int(adult.loc[adult["over_50k"] == 1, "count"].sum())
    (48842, 11687)
    """
    import pandas as pd

    with files("fairtransport.datasets").joinpath("adult.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, dtype={"hours": str})


def load_adult_people() -> pd.DataFrame:
    """Return the people whose occupation and country are known, with the original columns."""
    import pandas as pd

    table = files("fairtransport.datasets").joinpath("adult_people.csv.gz")
    with table.open("rb") as content:
        return pd.read_csv(content, compression="gzip")
