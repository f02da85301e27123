"""Audits of COMPAS as the paper does them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.audit import audit
from fairtransport.datasets.compas import (
    DELTA,
    FEATURES,
    LABEL,
    LEVELS,
    SENSITIVE,
    logistic_regression,
    split_compas,
)

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.audit import AuditResult

N_RESAMPLES = 1000
ORDERS = {
    "age_cat": ["Less than 25", "25 - 45", "Greater than 45"],
    "priors": ["0", "1 to 3", "More than 3"],
}


def audit_model(
    model: object, people: pd.DataFrame, seed: int, *, n_resamples: int = N_RESAMPLES
) -> AuditResult:
    """Audit as the paper does: all twins are asked about, the bootstrap is m out of n.

    Parameters
    ----------
    model
        An estimator or a callable over COMPAS' features.
    people
        Those it was not trained on.
    seed
        Of the bootstrap.
    n_resamples
        Its draws; the paper's are 1000.
    """
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


def audit_of_split(seed: int = 0) -> AuditResult:
    """Audit the logistic regression of one 70/30 split with the people it was not trained on.

    Parameters
    ----------
    seed
        Which split. Bounds are our own, valid at every n.
    """
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
    """Return the people with ages and prior crimes in their natural order, for tables.

    Parameters
    ----------
    people
        COMPAS profiles.
    """
    import pandas as pd

    return people.assign(
        **{name: pd.Categorical(people[name], levels) for name, levels in ORDERS.items()}
    )
