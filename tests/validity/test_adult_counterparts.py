"""Counterparts of real people: nobody is accused by a coin, and nobody is a female husband."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.datasets.adult import load_adult_people

pytestmark = pytest.mark.slow

TOSSES = 10


@pytest.fixture(scope="module")
def blind():
    """Return a model without sex and race, the columns that it receives, and people to audit."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    people = load_adult_people()
    people = people.loc[people.index.repeat(people["count"])].drop(columns="count")
    people = people.sample(frac=1, random_state=0, ignore_index=True)
    (label,) = [name for name in people if "50" in name or name in {"income", "label"}]
    columns = [name for name in people if name not in {label, "sex", "race"}]
    words = [name for name in columns if not pd.api.types.is_numeric_dtype(people[name])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = make_pipeline(
        make_column_transformer((encoder, words), remainder="passthrough"),
        HistGradientBoostingClassifier(random_state=0),
    )
    half = len(people) // 2
    model.fit(people[columns][:half], people[label][:half])
    return model, columns, people[half:].reset_index(drop=True), label


def audit(blind, people, **settings):
    model, columns, _, label = blind
    return ft.audit(people, label, model=model, features=columns, **settings)


def test_a_coin_is_accused_at_most_once(blind):
    people = blind[2][:8000]
    verdicts = []
    for seed in range(TOSSES):
        toss = np.random.default_rng(100 + seed).integers(0, 2, len(people)).astype(str)
        result = audit(blind, people.assign(coin=toss), sensitive_features="coin",
                       similarity="counterparts", delta=0.0, rng=seed)  # fmt: skip
        verdicts.append(result.verdict)

    assert verdicts.count("not-applicable") >= TOSSES - 1
    assert "certified" not in verdicts


@pytest.mark.parametrize("legitimate", [[], ["age", "education_years", "marital"]])
def test_impossible_people_are_rare(blind, legitimate):
    legitimate = [name for name in legitimate if name in blind[1]]
    similarity = ft.similarity.Counterparts(legitimate=legitimate)
    result = audit(blind, blind[2], sensitive_features="sex", similarity=similarity, delta=0.02,
                   rng=0)  # fmt: skip
    counterparts = result.space.frame()[result.space.counts == 0]
    husbands = (counterparts["sex"] == "Female") & (counterparts["relationship"] == "Husband")
    wives = (counterparts["sex"] == "Male") & (counterparts["relationship"] == "Wife")

    assert husbands.mean() < 0.01
    assert wives.mean() < 0.01
    assert result.verdict == "rejected"
    # what may rightly count explains most of it
    assert (result.statistic < 0.06) == bool(legitimate)
