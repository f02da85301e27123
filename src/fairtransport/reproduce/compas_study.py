"""The paper's COMPAS set-up: people from counts, the 70/30 split, the logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit import audit
from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, LEVELS, SENSITIVE, load_compas

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.audit import AuditResult

TRAINING_SHARE = 0.7
N_RESAMPLES = 1000
ORDERS = {
    "age_cat": ["Less than 25", "25 - 45", "Greater than 45"],
    "priors": ["0", "1 to 3", "More than 3"],
}


@dataclass(frozen=True, eq=False)
class Split:
    """People to train on and people to audit with, one a row."""

    training: pd.DataFrame
    audit: pd.DataFrame


def split_compas(seed: int) -> Split:
    """Split the 5278 people at random into 70 % for training and 30 % for the audit."""
    counts = load_compas()
    people = counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")
    order = np.random.default_rng(seed).permutation(len(people))
    cut = int(TRAINING_SHARE * len(people))
    shuffled = people.iloc[order].reset_index(drop=True)
    return Split(shuffled.iloc[:cut], shuffled.iloc[cut:])


def logistic_regression(training: pd.DataFrame, weights: Any = None) -> Any:
    """Fit the paper's vanilla logistic regression on dummy-coded features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    model = make_pipeline(OneHotEncoder(drop="first"), LogisticRegression())
    return model.fit(
        training[list(FEATURES)], training[LABEL], logisticregression__sample_weight=weights
    )


def audit_model(
    model: Any, people: pd.DataFrame, seed: int, *, n_resamples: int = N_RESAMPLES
) -> AuditResult:
    """Audit as the paper does: all twins are asked about, the bootstrap is m out of n."""
    return audit(
        people[[*FEATURES, LABEL]],
        LABEL,
        model=model,
        features=list(FEATURES),
        sensitive_features=list(SENSITIVE),
        levels=LEVELS,
        delta=DELTA,
        method="m-out-of-n",
        n_resamples=n_resamples,
        rng=seed,
    )


def all_profiles() -> pd.DataFrame:
    """Return the 72 profiles that the features can make, one a row."""
    import pandas as pd

    counts = load_compas()
    levels = [sorted(counts[name].unique()) for name in FEATURES]
    return pd.MultiIndex.from_product(levels, names=list(FEATURES)).to_frame(index=False)


def audit_of_split(seed: int = 0) -> AuditResult:
    """Audit the logistic regression of one 70/30 split with the people it was not trained on."""
    split = split_compas(seed)
    return audit(
        _in_order(split.audit.drop(columns="high_risk")),
        LABEL,
        model=logistic_regression(split.training),
        sensitive_features=list(SENSITIVE),
        levels=LEVELS,
        delta=DELTA,
        rng=seed,
        favourable=0,
        privileged={"race": "Caucasian"},
    )


def _in_order(people: pd.DataFrame) -> pd.DataFrame:
    """Return the people with ages and prior crimes in their natural order, for tables."""
    import pandas as pd

    return people.assign(
        **{name: pd.Categorical(people[name], levels) for name, levels in ORDERS.items()}
    )
