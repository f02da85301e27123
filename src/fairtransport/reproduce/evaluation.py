"""One line of Table 1: a model audited as a black box, with its group metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.datasets.compas import FEATURES, LABEL
from fairtransport.localise import group_metrics
from fairtransport.reproduce.coding import FAVOURABLE, PRIVILEGED, PROTECTED
from fairtransport.reproduce.compas_study import audit_model

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.reproduce.baselines import Model

COLUMNS = {
    "faith": "FaiTH",
    "ci2_lower": "CI2 lower",
    "ci2_upper": "CI2 upper",
    "ci1_lower": "CI1 lower",
    "accuracy": "Accuracy",
    "aod": "AOD",
    "eod": "EOD",
    "spd": "SPD",
}
"""The columns of Table 1 and their titles. CI2 is the two-sided interval, CI1 the one-sided one;
AOD, EOD and SPD compare the odds, opportunity and share of the label 0 between races,
African-American minus Caucasian."""


def evaluate(model: Model, people: pd.DataFrame, seed: int) -> dict[str, float | None]:
    """Return the eight figures of a model on the audit people.

    Parameters
    ----------
    model
        An estimator with ``predict`` or a callable over a frame of features.
    people
        The audit data, one person a row.
    seed
        The seed of the bootstrap.
    """
    result = audit_model(model, people, seed)
    answer = getattr(model, "predict", model)
    metrics = group_metrics(
        people[LABEL].to_numpy(),
        answer(people[list(FEATURES)]),
        people[PROTECTED].tolist(),
        favourable=FAVOURABLE,
        privileged=PRIVILEGED,
    )
    return {
        "faith": result.statistic,
        "ci2_lower": result.interval.lower,
        "ci2_upper": result.interval.upper,
        "ci1_lower": result.lower_bound,
        "accuracy": metrics.accuracy,
        "aod": metrics.average_odds_difference,
        "eod": metrics.equal_opportunity_difference,
        "spd": metrics.statistical_parity_difference,
    }
