"""One-hot columns: which are recognised, how they are named, what the model receives."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.data import build_space

RNG = np.random.default_rng(0)
RACES = np.array(["Asian", "Black", "White"])
RACE = RACES[RNG.integers(0, 3, 200)]
AGE = RNG.integers(20, 23, 200)


def dummies(separator="_", drop=(), kind=int, prefix="race"):
    columns = {f"{prefix}{separator}{race}": (race == RACE).astype(kind)
               for race in RACES if race not in drop}  # fmt: skip
    return pd.DataFrame({**columns, "age": AGE})


@pytest.mark.parametrize("separator", ["_", "-", ".", "=", " "])
@pytest.mark.parametrize("kind", [int, bool, float, np.uint8])
def test_columns_with_a_common_prefix_are_one_feature(separator, kind):
    people = dummies(separator, kind=kind)
    space = build_space(people, sensitive_features=people.columns[0], twins=True)

    assert space.sensitive == ("race",)
    assert space.features == ("race", "age")
    assert space.columns["race"].levels.tolist() == [*RACES]
    assert space.alternatives.tolist() == [2] * space.size
    asked = space.encoded.frame()
    assert asked.columns.tolist() == people.columns.tolist()
    assert (asked.dtypes == people.dtypes).all()
    assert (asked.drop(columns="age").sum(axis=1) == 1).all()


def test_a_dropped_level_is_the_one_where_no_column_is_set():
    space = build_space(dummies(drop=["Asian"]), sensitive_features="race_White", twins=True)

    assert space.columns["race"].levels.tolist() == ["Black", "White", "none of Black, White"]
    none = space.encoded.frame()[["race_Black", "race_White"]].sum(axis=1) == 0
    assert none.sum() == 3  # one for each age


@pytest.mark.parametrize("names", [["race_White"], ["race_White", "race_Black"]])
def test_one_column_stands_for_all(names):
    alone = build_space(dummies(), sensitive_features=names, twins=True)
    every = build_space(dummies(), sensitive_features=list(dummies())[:3], twins=True)

    assert alone.frame().equals(every.frame())


def test_columns_without_a_prefix_are_one_feature_if_they_sum_to_one():
    people = dummies(prefix="", separator="")
    people["member"] = RNG.integers(0, 2, 200)
    space = build_space(people, sensitive_features="Black", twins=True)

    assert space.sensitive == ("Asian or Black or White",)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [50, 500])
def test_independent_columns_are_left_alone(seed, n):
    rng = np.random.default_rng(seed)
    columns = {f"c{at}": rng.integers(0, 2, n) for at in range(50)}
    columns |= {"is_female": rng.integers(0, 2, n), "is_member": rng.integers(0, 2, n)}
    columns |= {"illness_a": rng.integers(0, 2, n), "illness_b": rng.integers(0, 2, n)}
    space = build_space(pd.DataFrame(columns), twins=True,
                        sensitive_features=["is_female", "c0", "illness_a"])  # fmt: skip

    assert space.one_hot == ()
    assert set(space.features) == set(columns)


def test_a_shorter_prefix_that_two_features_share_is_not_theirs():
    people = dummies(prefix="person_race")
    people["person_member_no"] = RNG.integers(0, 2, 200)
    people["person_member_yes"] = 1 - people["person_member_no"]
    space = build_space(people, sensitive_features="person_race_White", twins=True)

    assert space.sensitive == ("person_race",)
    assert "person_member_no" in space.features


def ambiguous():
    people = dummies()
    people.loc[0, ["race_White", "race_Black"]] = 1
    return people


def test_columns_that_may_be_one_feature_are_refused_with_a_way_out():
    with pytest.raises(ft.InputError, match=r"`together` with \[\['race_Asian', .* \[\['race_W"):
        build_space(ambiguous(), sensitive_features="race_White", twins=True)

    alone = build_space(
        ambiguous(), sensitive_features="race_White", twins=True, together=[["race_White"]]
    )
    assert alone.sensitive == ("race_White",)
    declared = build_space(ambiguous(), sensitive_features="race_White", twins=True,
                           together=[["race_White"]], levels={"race_White": [0, 1, 1]})  # fmt: skip
    assert declared.open_levels == ()
    names = list(dummies())[:3]
    every = build_space(ambiguous(), sensitive_features="race_White", twins=True, together=[names])
    assert every.alternatives.tolist() == [3] * every.size


def test_two_ways_to_sum_to_one_are_refused():
    female = RNG.integers(0, 2, 100)
    people = pd.DataFrame({"female": female, "male": 1 - female, "man": 1 - female})
    with pytest.raises(ft.InputError, match=r"which sum to 1 in several ways: pass `together`"):
        build_space(people, sensitive_features="female", twins=True)


def test_a_set_names_all_columns_of_a_feature():
    with pytest.raises(ft.InputError, match=r"`together` must name all one-hot columns"):
        build_space(dummies(), sensitive_features="race_White", twins=True,
                    together=[["race_White", "age"]])  # fmt: skip
    space = build_space(dummies(), sensitive_features="race_White", twins=True,
                        together=[["race", "age"]])  # fmt: skip
    assert space.sensitive == ("race", "age")


def test_levels_of_a_feature_are_those_of_its_columns():
    space = build_space(dummies(), sensitive_features="race_White", twins=True,
                        levels={"race": ["White", "Black"]})  # fmt: skip
    assert set(space.alternatives) == {1, 2}
    with pytest.raises(ft.InputError, match=r"`levels` must hold levels of 'race' .* got 'Green'"):
        build_space(dummies(), sensitive_features="race_White", twins=True,
                    levels={"race": ["White", "Green"]})  # fmt: skip


def test_a_column_of_the_features_name_keeps_it():
    people = dummies().assign(race="x")
    space = build_space(people, sensitive_features="race_White", twins=True)
    assert space.sensitive == ("race_",)
