"""COMPAS: risk scores, and arrests within two years."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SENSITIVE = ("race", "sex")
FEATURES = ("sex", "race", "age_cat", "priors", "charge")
LABEL = "two_year_recid"
LEVELS = {"race": ("African-American", "Caucasian"), "sex": ("Female", "Male")}
"""All levels of the sensitive features, for audits that declare them."""
DELTA = 0.0365
"""The paper's δ: the midpoint of published rates of innocent prisoners in the United States."""
TRAINING_SHARE = 0.7


def load_compas() -> pd.DataFrame:
    """Return the COMPAS data of the paper as counts of 5278 people.

    Returns
    -------
    DataFrame
        One row per cell, with the columns ``sex``, ``race``, ``age_cat``, ``priors``, ``charge`` (F
        felony, M misdemeanor), ``two_year_recid`` (1: arrested again within two years),
        ``high_risk`` (1: COMPAS decile score 5 or more) and ``count``. Summed over ``high_risk``
        the cells are the paper's 144, of which 142 are occupied.

    Notes
    -----
    Source: the two-year file that ProPublica published with "Machine Bias" (2016), 7214
    people scored in Broward County, Florida, in 2013 and 2014. ProPublica's filter (screened
    within 30 days of the arrest, recidivism known, no traffic offence, score present) leaves
    6172; African-American and Caucasian people only: 5278. Priors are binned as AIF360 does
    (0, 1 to 3, more than 3); ``age_cat`` is the file's own column, in which 45 belongs to
    "Greater than 45". ``scripts/make_compas.py`` remakes the table from the raw file.

    Known problems: the label is a new arrest, not a new crime, and arrests depend on
    policing; two-year recidivists were included over a longer time window than others, which
    inflates their share; race is as recorded by the sheriff's office; one county, two years.

    Examples
    --------
    >>> import fairtransport as ft
    >>> compas = ft.datasets.load_compas()
    >>> int(compas["count"].sum())
    5278
    >>> compas.groupby("race")["count"].sum().to_dict()
    {'African-American': 3175, 'Caucasian': 2103}
    """
    import pandas as pd

    with files("fairtransport.datasets").joinpath("compas.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, dtype={"priors": str})


@dataclass(frozen=True, eq=False)
class Split:
    """Training and audit data, one person per row.

    Attributes
    ----------
    training, audit
        The two parts.

    Examples
    --------
    >>> import fairtransport as ft
    >>> split = ft.datasets.split_compas(seed=0)
    >>> sorted(split.audit["race"].unique())
    ['African-American', 'Caucasian']
    """

    training: pd.DataFrame
    audit: pd.DataFrame


def split_compas(seed: int) -> Split:
    """Split the 5278 people at random into 70 % for training and 30 % for the audit.

    Parameters
    ----------
    seed
        Seed of the random split.

    Returns
    -------
    Split
        ``training`` and ``audit``, frames with one row per person.

    Examples
    --------
    >>> import fairtransport as ft
    >>> split = ft.datasets.split_compas(seed=0)
    >>> len(split.training), len(split.audit)
    (3694, 1584)
    """
    counts = load_compas()
    people = counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")
    order = np.random.default_rng(seed).permutation(len(people))
    training_size = int(TRAINING_SHARE * len(people))
    shuffled = people.iloc[order].reset_index(drop=True)
    return Split(shuffled.iloc[:training_size], shuffled.iloc[training_size:])


def logistic_regression(training: pd.DataFrame, weights: Any = None) -> Any:
    """Fit the paper's vanilla logistic regression on dummy-coded features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    model = make_pipeline(OneHotEncoder(drop="first"), LogisticRegression())
    return model.fit(
        training[list(FEATURES)], training[LABEL], logisticregression__sample_weight=weights
    )


def all_profiles() -> pd.DataFrame:
    """Return the 72 combinations of the features, one per row."""
    import pandas as pd

    counts = load_compas()
    levels = [sorted(counts[name].unique()) for name in FEATURES]
    return pd.MultiIndex.from_product(levels, names=list(FEATURES)).to_frame(index=False)
