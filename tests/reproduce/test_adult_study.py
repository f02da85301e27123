"""Adult as the follow-up's networks take it."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairtransport.datasets.adult import (
    LABEL,
    PEOPLE_LEVELS,
    PEOPLE_NUMBERS,
    load_adult,
    load_adult_people,
)
from fairtransport.reproduce.adult_study import COLUMNS, basis, split_adult


@pytest.fixture(scope="module")
def split():
    return split_adult(3)


def test_people_are_those_of_the_counts_but_for_unknowns():
    people, counts = load_adult_people(), load_adult()
    assert people.columns.tolist() == [*COLUMNS, "sex", "race", LABEL, "count"]
    assert not people.isna().any().any()
    assert not people.drop(columns="count").duplicated().any()
    known = counts[counts["occupation"] != "Unknown"]
    of_country_unknown = known["count"].sum() - people["count"].sum()
    assert 0 < of_country_unknown < 1000
    assert set(people["sex"]) == set(counts["sex"])
    assert set(people["race"]) == set(counts["race"])


def test_everybody_is_either_trained_on_or_audited(split):
    training, audit = split.training, split.audit
    assert (len(training.labels), len(audit.labels)) == (36_177, 9045)
    both = np.r_[training.frame.to_numpy(), audit.frame.to_numpy()]
    cells = load_adult_people()
    whole = cells.loc[cells.index.repeat(cells["count"])]
    assert sorted(both[:, 0]) == sorted(whole["age"])
    assert both[:, -1].sum() == whole[LABEL].sum()
    assert len(split_adult(3, 100).audit.labels) == 100
    assert split_adult(3, 100).audit.frame.equals(audit.frame.iloc[:100])


def test_points_are_standardised_numbers_and_columns_of_levels(split):
    numbers, levels = list(PEOPLE_NUMBERS), list(PEOPLE_LEVELS)
    coding = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), levels)
    )
    coding.fit(split.training.frame)
    for people in (split.training, split.audit):
        np.testing.assert_allclose(people.points, coding.transform(people.frame), atol=1e-12)
        assert people.points.shape[1] == 39
    male, white = split.audit.groups.T
    assert (male == (split.audit.frame["sex"] == "Male")).all()
    assert (white == (split.audit.frame["race"] == "White")).all()


def test_directions_tell_sex_and_race(split):
    directions = split.audit.directions()
    score = split.audit.points @ directions[0]
    male = split.audit.groups[:, 0] == 1
    assert np.median(score[male]) > np.quantile(score[~male], 0.9)
    found = basis(directions)
    assert found.T @ found == pytest.approx(np.eye(2))
    assert found @ found.T @ directions.T == pytest.approx(directions.T)
