"""Labels, predictions and sensitive features whose rows are labelled otherwise than the data's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtransport as ft

PEOPLE = pd.DataFrame({"age": [20, 30, 20, 30], "sex": ["f", "f", "m", "m"]})
LABELS, SAID = pd.Series([1, 0, 0, 0], name="good"), pd.Series([1, 1, 0, 0], name="said")
SCORES = pd.DataFrame({"no": [0.2, 0.9, 0.4, 0.6], "yes": [0.8, 0.1, 0.6, 0.4]})
SEX = PEOPLE[["sex"]]


def audited(y=LABELS, y_pred=SAID, **more):
    return ft.audit(
        PEOPLE, y, **({"y_pred": y_pred, "sensitive_features": "sex", "rng": 0} | more)
    ).baseline_risk


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("y", {"y": LABELS.iloc[::-1]}),
        ("y", {"y": LABELS.set_axis([1, 2, 3, 4])}),
        ("y_pred", {"y_pred": SAID.iloc[::-1]}),
        ("y_score", {"y_pred": None, "y_score": SCORES.iloc[::-1], "loss": "brier"}),
        ("sensitive_features", {"sensitive_features": SEX.iloc[::-1].rename(columns=str.upper)}),
    ],
)
def test_another_index_is_refused(parameter, call):
    with pytest.raises(ft.InputError, match=f"`{parameter}` must have the index of `X`, row by"):
        audited(**call)


def test_the_same_index_and_none_are_taken():
    shuffled = [2, 0, 3, 1]
    same = ft.audit(
        PEOPLE.iloc[shuffled], LABELS.iloc[shuffled], y_pred=SAID.iloc[shuffled],
        sensitive_features="sex", rng=0,
    )  # fmt: skip

    assert same.baseline_risk == audited()
    assert audited(y=LABELS.to_numpy(), y_pred=SAID.tolist()) == audited()
    assert audited(y=pl.Series("good", LABELS.tolist())) == audited()
    assert audited(y=LABELS.to_numpy()[np.arange(4)]) == audited()
    # whoever goes by position says so
    turned = LABELS.iloc[::-1]
    assert audited(y=turned.to_numpy()) != audited()
