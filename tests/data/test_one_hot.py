"""One-hot columns: which are recognised, how they are named, what the model receives."""

import re

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
    with pytest.raises(
        ft.InputError, match=r"pass together=\[\['race_Asian', .* together=\[\['race_W"
    ):
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
    with pytest.raises(ft.InputError, match=r"which sum to 1 in several ways: pass together="):
        build_space(people, sensitive_features="female", twins=True)


def unprefixed(names=("white", "black", "asian"), n=900, seed=0, kind=int):
    """Columns of one feature without a common prefix, of which the last level was dropped."""
    rng = np.random.default_rng(seed)
    race = rng.choice(len(names), n, p=[0.6, 0.25, 0.15])
    columns = {name: (race == at).astype(kind) for at, name in enumerate(names[:-1])}
    return pd.DataFrame({**columns, "member": rng.integers(0, 2, n), "age": rng.integers(0, 9, n)})


@pytest.mark.parametrize("names", [("white", "black", "x"), ("is_white", "is_black", "is_asian")])
def test_columns_that_exclude_each_other_are_refused_with_a_way_out(names):
    people = unprefixed(names)
    first, second = names[:2]
    with pytest.raises(ft.InputError) as caught:
        build_space(people, sensitive_features=first, twins=True)
    ways = f"together=[['{first}', '{second}']] to change them .* together=[['{first}']] to change"
    assert re.search(ways.replace("[", r"\["), str(caught.value))
    assert "of which hardly anybody has two" in str(caught.value)

    every = build_space(people, sensitive_features=first, twins=True, together=[names[:2]])
    assert every.alternatives.tolist() == [2] * every.size
    alone = build_space(people, sensitive_features=first, twins=True, together=[[first]])
    assert alone.sensitive == (first,)
    # predictions are compared as they are
    assert build_space(people, sensitive_features=first).sensitive == (first,)


def test_the_refusal_names_rare_levels_too():
    people = unprefixed()
    white_or_black = (people["white"] + people["black"]).astype(bool)
    people["roma"] = np.where(white_or_black, 0, np.arange(900) % 12 == 0).astype(int)
    with pytest.raises(ft.InputError, match=r"\[\['white', 'black', 'roma'\]\]"):
        build_space(people, sensitive_features="black", twins=True)


def test_columns_of_clusters_exclude_each_other_by_chance():
    people = unprefixed(n=12, seed=4)
    assert not (people["white"] & people["black"]).any()
    visits = people.loc[people.index.repeat(40)].assign(patient=np.repeat(np.arange(12), 40))
    call = dict(sensitive_features="white", features=[*people], twins=True)
    assert build_space(visits, **call, clusters=ft.Clusters("patient")).sensitive == ("white",)
    with pytest.raises(ft.InputError, match="hardly anybody has two"):
        build_space(visits, **call)


def test_a_level_of_another_feature_that_excludes_a_column_is_no_reason():
    """Hardly any man is a wife, but wives are a level of a feature that is complete or prefixed."""
    rng = np.random.default_rng(1)
    male = rng.integers(0, 2, 600)
    role = np.where(rng.integers(0, 2, 600), np.where(male, "husband", "wife"), "single")
    for prefix, dropped in (("", []), ("role_", ["role_single"])):
        people = pd.get_dummies(role, prefix=prefix, prefix_sep="", dtype=int)
        people = people.drop(columns=dropped).assign(male=male)
        assert build_space(people, sensitive_features="male", twins=True).one_hot == ()


@pytest.mark.parametrize("n", [50, 1000, 20_000])
@pytest.mark.parametrize("columns", [2, 10, 50])
def test_independent_columns_are_hardly_ever_refused(n, columns):
    rng = np.random.default_rng(n + columns)
    for _ in range(20):
        rows = rng.random((n, columns)) < rng.uniform(0.005, 0.6, columns)
        people = pd.DataFrame({f"c{at}": values for at, values in enumerate(rows.T)})
        build_space(people, sensitive_features="c0", twins=True)


@pytest.mark.parametrize("load", [ft.datasets.load_compas, ft.datasets.load_adult])
@pytest.mark.parametrize("prefix", [None, ""])
@pytest.mark.parametrize("drop_first", [False, True])
def test_a_flag_of_known_data_is_not_refused(load, prefix, drop_first):
    table = load()
    for feature in ("sex", "race"):
        others = [name for name in table if name not in {feature, "count"}]
        separator = "_" if prefix is None else ""
        flags = pd.get_dummies(table[others].astype(str), prefix=prefix, prefix_sep=separator,
                               dtype=int, drop_first=drop_first)  # fmt: skip
        flags = flags.loc[:, ~flags.columns.duplicated()]
        for level in table[feature].unique():
            people = flags.assign(flag=(table[feature] == level).astype(int), count=table["count"])
            build_space(people, sensitive_features="flag", counts="count", twins=True)


@pytest.mark.parametrize(
    "words", [("no", "yes"), ("False", "True"), ("N", "Y"), ("0", "1"), ("no", "Yes")]
)
@pytest.mark.parametrize("kind", ["str", "category"])
def test_text_that_stands_for_0_and_1_is_read_as_such(words, kind):
    people = dummies()
    names = list(people)[:3]
    people[names] = people[names].apply(lambda column: column.map(dict(enumerate(words))))
    people = people.astype(dict.fromkeys(names, kind))
    space = build_space(people, sensitive_features="race_White", twins=True)

    assert space.sensitive == ("race",)
    assert space.frame()["race"].isin(RACES).all()
    asked = space.encoded.frame()
    assert (asked.dtypes == people.dtypes).all()
    assert ((asked[names] == words[1]).sum(axis=1) == 1).all()
    assert asked[names].isin(words).all(axis=None)


def test_a_flag_that_everybody_has_is_set():
    people = dummies().assign(race_White=1, race_Asian=0, race_Black=0)
    space = build_space(people, sensitive_features="race_White", twins=True)
    assert set(space.frame()["race"][space.counts > 0]) == {"White"}


def test_other_text_is_no_flag():
    people = dummies()
    people["race_White"] = people["race_White"].map({0: "no", 1: "perhaps"})
    people["race_Black"] = "no"
    assert build_space(people, sensitive_features="race_White", twins=True).one_hot == ()


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
    with pytest.raises(ft.InputError, match=r"`levels` must hold values of 'race' .* got 'Green'"):
        build_space(dummies(), sensitive_features="race_White", twins=True,
                    levels={"race": ["White", "Green"]})  # fmt: skip


def test_a_column_of_the_features_name_keeps_it():
    people = dummies().assign(race="x")
    space = build_space(people, sensitive_features="race_White", twins=True)
    assert space.sensitive == ("race_",)
