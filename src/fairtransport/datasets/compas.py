"""COMPAS: who was scored, what the score was, who was arrested again within two years."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SENSITIVE = ("race", "sex")
FEATURES = ("sex", "race", "age_cat", "priors", "charge")
LABEL = "two_year_recid"
LEVELS = {"race": ("African-American", "Caucasian"), "sex": ("Female", "Male")}
"""All levels of the sensitive features, for audits that declare them."""
DELTA = 0.0365
"""The paper's δ: the midpoint of published rates of innocent prisoners in the United States."""


def load_compas() -> pd.DataFrame:
    """Return the COMPAS data of the paper as counts of 5278 people.

    Returns
    -------
    A frame with one row a cell and the columns ``sex``, ``race``, ``age_cat``, ``priors``,
    ``charge`` (F felony, M misdemeanor), ``two_year_recid`` (1: arrested again within two
    years), ``high_risk`` (1: COMPAS decile score 5 or more) and ``count``. Summed over
    ``high_risk`` the cells are the paper's 144, of which 142 are occupied.

    Notes
    -----
    Source: the two-year file that ProPublica published with "Machine Bias" (2016), 7214
    people scored in Broward County, Florida, in 2013 and 2014. ProPublica's filter (screened
    within 30 days of the arrest, recidivism known, no traffic offence, score present) leaves
    6172; African-American and Caucasian people only: 5278. Priors are binned as AIF360 does
    (0, 1 to 3, more than 3); ``age_cat`` is the file's own column, in which 45 belongs to
    "Greater than 45". ``scripts/make_compas.py`` remakes the table from the raw file.

    Known problems: the label is a new arrest, not a new crime, and arrests depend on
    policing; two-year recidivists were kept on a longer time window than others, which
    inflates their share; race is as recorded by the sheriff's office; one county, two years.

    Examples
    --------
    >>> compas = load_compas()
    >>> int(compas["count"].sum())
    5278
    """
    import pandas as pd

    with files("fairtransport.datasets").joinpath("compas.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, dtype={"priors": str})
