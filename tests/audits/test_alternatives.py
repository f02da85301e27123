"""Whom people are compared with: one-hot columns, together=, levels= that restrict."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits.warnings import find_impossible_twins
from fairtransport.data import build_space
from fairtransport.data.build import count_shared_people
from fairtransport.datasets.compas import FEATURES, LABEL, split_compas

EXACT = {"rel": 0, "abs": 1e-12}


def compas():
    """Return people of COMPAS with further races, and a score that uses all of it."""
    people = split_compas(0).audit[[*FEATURES, LABEL]].reset_index(drop=True)
    rng = np.random.default_rng(1)
    other = rng.random(len(people)) < 0.2
    people.loc[other, "race"] = rng.choice(["Asian", "Hispanic"], other.sum())
    return people


def rule(people):
    """Return a rating that depends on race and sex."""
    race = people["race"].map({"African-American": 2, "Hispanic": 1}).fillna(0).astype(float)
    points = race + (people["sex"] == "Male") + 2 * (people["priors"] == "More than 3")
    return (points + (people["age_cat"] == "Less than 25") >= 3).astype(int)


def decoded(asked):
    """Return one-hot columns as one, refusing anybody with two races or none."""
    people = asked.copy()
    for name in ("race", "sex"):
        columns = [one for one in asked if one.startswith(f"{name}_")]
        assert (asked[columns].sum(axis=1) == 1).all()
        people[name] = asked[columns].astype(int).to_numpy().argmax(axis=1)
        people[name] = people[name].map(lambda at, columns=columns: columns[at].split("_")[1])
    return people


@pytest.mark.parametrize(
    ("sensitive", "names"),
    [
        (["race_Asian"], ["race"]),
        (["sex_Male", "sex_Female"], ["sex"]),
        (["race_Caucasian", "sex_Male"], ["race", "sex"]),
    ],
)
def test_one_hot_columns_are_audited_as_the_feature_itself(sensitive, names):
    people = compas()
    encoded = pd.get_dummies(people, columns=["race", "sex"])
    options = {"delta": 0.02, "rng": 0}
    plain = ft.audit(people, LABEL, model=rule, sensitive_features=names, **options)
    result = ft.audit(encoded, LABEL, model=lambda asked: rule(decoded(asked)),
                      sensitive_features=sensitive, **options)  # fmt: skip

    assert result.space.sensitive == tuple(names)
    assert result.statistic == pytest.approx(plain.statistic, **EXACT)
    assert result.statistic > 0
    assert result.lower_bound == pytest.approx(plain.lower_bound, **EXACT)
    assert result.upper_bound == pytest.approx(plain.upper_bound, **EXACT)
    assert result.verdict == plain.verdict
    assert result.queried == plain.queried
    for name in names:
        assert set(result.moves[f"from_{name}"]) <= set(people[name])


def test_a_model_fitted_on_one_hot_columns_receives_its_own():
    from sklearn.linear_model import LogisticRegression

    people = compas()
    encoded = pd.get_dummies(people, columns=FEATURES_TO_ENCODE)
    columns = [name for name in encoded if name != LABEL]
    model = LogisticRegression(C=100).fit(encoded[columns], encoded[LABEL])
    result = ft.audit(encoded, LABEL, model=model, sensitive_features=["race_Asian", "sex_Male"],
                      rng=0)  # fmt: skip
    two = ft.compare(encoded, LABEL, models={"a": model, "b": rule_of_columns}, rng=0,
                     sensitive_features=["race_Asian", "sex_Male"])  # fmt: skip

    predictions = {}
    for race, sex in product(people["race"].unique(), people["sex"].unique()):
        twin = encoded.copy()
        for name in encoded:
            if name.startswith(("race_", "sex_")):
                twin[name] = name.split("_")[1] in (race, sex)
        predictions[race, sex] = model.predict(twin[columns]) != people[LABEL]
    wrong = model.predict(encoded[columns]) != people[LABEL]
    worst = np.max(list(predictions.values()), axis=0)
    assert result.statistic == pytest.approx(worst.mean() - wrong.mean(), **EXACT)
    assert two.audits["a"].statistic == pytest.approx(result.statistic, **EXACT)


def with_two_wordings(n=900):
    """Return people with a race as text, as 0/1 columns less one level, and a model of both."""
    rng = np.random.default_rng(3)
    race = rng.choice(["White", "Black", "Asian"], n, p=[0.6, 0.25, 0.15])
    years = rng.integers(0, 15, n)
    good = (years + rng.normal(0, 4, n) > 6).astype(int)
    people = pd.DataFrame({"years": years, "good": good})
    text = {
        f"race_{one}": np.where(race == one, "yes", "no") for one in ("White", "Black", "Asian")
    }
    numbers = {one.lower(): (race == one).astype(int) for one in ("White", "Black")}
    return people.assign(race=race), people.assign(**text), people.assign(**numbers)


def score(years, *, black):
    return (years - 6 * np.asarray(black) > 4).astype(int)


def test_one_hot_text_and_columns_without_a_prefix_get_no_false_certificate():
    plain, text, numbers = with_two_wordings()
    call = dict(delta=0.05, rng=0)
    truth = ft.audit(plain, "good", sensitive_features="race", **call,
                     model=lambda x: score(x["years"], black=x["race"] == "Black"))  # fmt: skip
    words = ft.audit(text, "good", sensitive_features="race_White", **call,
                     model=lambda x: score(x["years"], black=x["race_Black"] == "yes"))  # fmt: skip
    assert truth.verdict == words.verdict == "rejected"
    assert words.statistic == pytest.approx(truth.statistic, **EXACT)

    coded = dict(sensitive_features="white", **call,
                 model=lambda x: score(x["years"], black=x["black"] == 1))  # fmt: skip
    with pytest.raises(ft.InputError, match=r"pass together=\[\['white', 'black'\]\]"):
        ft.audit(numbers, "good", **coded)
    advised = ft.audit(numbers, "good", together=[["white", "black"]], **coded)
    assert advised.verdict == "rejected"
    assert advised.statistic == pytest.approx(truth.statistic, **EXACT)
    alone = ft.audit(numbers, "good", together=[["white"]], **coded)
    assert alone.statistic < truth.statistic


FEATURES_TO_ENCODE = list(FEATURES)


def rule_of_columns(asked):
    return (asked["sex_Male"] & asked["priors_More than 3"]).astype(int)


def test_predictions_of_one_hot_people_are_compared_across_the_feature():
    people = compas()
    people["said"] = rule(people)
    encoded = pd.get_dummies(people, columns=["race"])
    plain = ft.audit(people, LABEL, y_pred="said", sensitive_features="race", rng=0)
    result = ft.audit(encoded, LABEL, y_pred="said", sensitive_features="race_Asian", rng=0)
    assert result.statistic == pytest.approx(plain.statistic, **EXACT)


def brute_force(people, model, options_of):
    """Return the statistic where ``options_of(row)`` lists what a person is compared at."""
    gains = []
    for row in people.to_dict("records"):
        twins = pd.DataFrame([row, *({**row, **change} for change in options_of(row))])
        wrong = (np.asarray(model(twins)) != row["good"]).astype(int)
        gains.append(wrong.max() - wrong[0])
    return float(np.mean(gains))


RELATIONS = {"f": ["wife", "single", "child"], "m": ["husband", "single", "child"]}
OBSERVED = [(sex, relation) for sex, relations in RELATIONS.items() for relation in relations]


def married(n=300, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    relation = [RELATIONS[one][at] for one, at in zip(sex, rng.integers(0, 3, n), strict=True)]
    return pd.DataFrame({
        "sex": sex, "relationship": relation, "race": rng.choice(["a", "b", "c"], n),
        "x": rng.integers(0, 3, n), "good": rng.integers(0, 2, n),
    })  # fmt: skip


def hires(asked):
    bonus = 2 * asked["relationship"].isin(["husband", "wife"]) + (asked["sex"] == "m")
    return (bonus + (asked["race"] == "a") + asked["x"] >= 4).astype(int)


CHANGES = [{"sex": sex, "relationship": relation} for sex, relation in OBSERVED]
PAIRS = [("m", "husband"), ("f", "wife")]


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"together": [["sex", "relationship"]]}, lambda _: CHANGES),
        ({"together": {("relationship", "sex"): [(b, a) for a, b in OBSERVED]}}, lambda _: CHANGES),
        (
            {"together": {("sex", "relationship"): PAIRS}},
            lambda _: [{"sex": a, "relationship": b} for a, b in PAIRS],
        ),
        ({"levels": {"sex": ["m"]}}, lambda _: [{"sex": "m"}]),
        ({}, lambda _: [{"sex": "m"}, {"sex": "f"}]),
    ],
)
def test_statistics_are_those_of_brute_force(options, changes):
    people = married()
    result = ft.audit(people, "good", model=hires, sensitive_features="sex", rng=0, **options)
    assert result.statistic == pytest.approx(brute_force(people, hires, changes), **EXACT)


@pytest.mark.parametrize("levels", [["a"], ["a", "b"], ["b", "c"], ["a", "b", "c"], ["a", "d"]])
def test_people_keep_their_own_level_and_change_others(levels):
    people = married()
    result = ft.audit(people, "good", model=hires, sensitive_features=["race", "sex"], rng=0,
                      levels={"race": levels})  # fmt: skip

    def changes(row):
        races = {*levels, row["race"]}
        return [{"race": race, "sex": sex} for race, sex in product(races, "fm")]

    assert result.statistic == pytest.approx(brute_force(people, hires, changes), **EXACT)
    space = result.space
    for point in np.flatnonzero(space.observed):
        races = {*levels, space.columns["race"].at(point)}
        assert space.alternatives[point] == 2 * len(races) - 1
    # who is there is told of copies of points too
    everybody = people.groupby([*space.columns]).size()
    counts = space.counts[space.originals]
    rows = zip(*(column.to_list() for column in space.columns.values()), strict=True)
    assert counts.tolist() == [everybody.get(row, 0) for row in rows]
    partial = any("named values of race" in note for note in result.warnings)
    assert partial == (not {"a", "b", "c"} <= set(levels))


def test_declared_combinations_can_be_certified_and_observed_ones_cannot():
    people = married(3000)

    def fair(asked):
        wife = (asked["sex"] == "f") & (asked["relationship"] == "wife")
        return ((asked["x"] > 1) | (wife & (asked["x"] > 5))).astype(int)

    options = {"model": fair, "sensitive_features": "sex", "delta": 0.1, "rng": 0}
    free = ft.audit(people, "good", together=[["sex", "relationship"]], **options)
    declared = ft.audit(people, "good", together={("sex", "relationship"): OBSERVED}, **options)

    assert declared.bounds_verdict == "certified"
    assert free.bounds_verdict == "inconclusive"
    assert any("nothing can be certified" in note for note in free.warnings)
    assert not any("nothing can be certified" in note for note in declared.warnings)


def test_ways_of_asking_that_certify_by_themselves_need_declared_combinations():
    people = married()
    options = {"model": hires, "sensitive_features": "sex", "delta": 0.1, "rng": 0,
               "queries": ft.Queries(until_sure=True)}  # fmt: skip
    with pytest.raises(ft.InputError, match="needs `together` with its combinations"):
        ft.audit(people, "good", together=[["sex", "relationship"]], **options)
    ft.audit(people, "good", levels={"sex": ["m"]}, **options)


@pytest.mark.parametrize(
    ("together", "message"),
    [
        ("sex,relationship", "`together` must list sets of columns"),
        ([["sex", 3]], "`together` must list sets of columns"),
        ([["sex", "sex"]], "`together` must name each column once, got 'sex' twice"),
        ([["sex", "race"], ["race", "x"]], "`together` must name each column once, got 'race'"),
        ([["sex", "height"]], r"`together` must name columns of the data .* got 'height'"),
        ([["race", "x"]], r"`together` must have a sensitive feature in each set \(sex\), got"),
        ({("sex", "race"): [("f",)]}, r"must list combinations of 2 values, got \('f',\)"),
        ({("sex", "race"): []}, "must list at least one combination"),
        ({("sex", "race"): [("f", "z")]}, "must hold at least one combination that occurs"),
    ],
)
def test_sets_that_cannot_be_used_are_refused(together, message):
    with pytest.raises(ft.InputError, match=message):
        ft.audit(married(), "good", model=hires, sensitive_features="sex", together=together)


def test_together_needs_a_model_and_no_levels_of_its_columns():
    people, sets = married(), [["sex", "relationship"]]
    with pytest.raises(ft.InputError, match="`together` needs `model`"):
        ft.audit(people.assign(said=1), "good", y_pred="said", sensitive_features="sex",
                 together=sets)  # fmt: skip
    with pytest.raises(ft.InputError, match="`levels` must not name columns of `together`"):
        ft.audit(people, "good", model=hires, sensitive_features="sex", together=sets,
                 levels={"sex": ["f"]})  # fmt: skip


def test_levels_that_leave_some_out_need_a_similarity_of_twins():
    similarity = ft.similarity.MixedTabular(default_mismatch=1.0, default_scale=1.0)
    with pytest.raises(ft.InputError, match=r"`levels\['race'\]` must have all values of race"):
        ft.audit(married(), "good", model=hires, sensitive_features="race", similarity=similarity,
                 levels={"race": ["a", "b"]})  # fmt: skip


def test_impossible_twins_are_noted_until_their_columns_change_together():
    people = married()
    result = ft.audit(people, "good", model=hires, sensitive_features="sex", rng=0)
    (note,) = [one for one in result.warnings if "together" in one]
    assert "[['sex', 'relationship']]" in note
    # whoever follows the advice is not told again
    other = ft.audit(people, "good", model=hires, sensitive_features="sex", rng=0,
                     together=[["sex", "relationship"]])  # fmt: skip
    assert not any("combine" in one for one in other.warnings)


def test_impossible_twins_among_one_hot_columns_are_noted_by_the_name_of_the_feature():
    people = pd.get_dummies(married(), columns=["relationship"], dtype=int)
    options = {"model": lambda asked: asked["relationship_husband"], "sensitive_features": "sex"}
    result = ft.audit(people, "good", rng=0, **options)
    (note,) = [one for one in result.warnings if "together" in one]
    assert "[['sex', 'relationship']]" in note
    other = ft.audit(people, "good", rng=0, together=[["sex", "relationship"]], **options)
    assert not any("combine" in one for one in other.warnings)
    assert set(other.space.alternatives) == {len(OBSERVED) - 1}


@pytest.mark.parametrize("n", [50, 300, 5000])
def test_independent_columns_make_no_note(n):
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = {f"c{at}": rng.choice(list("abcde"), n, p=[0.6, 0.3, 0.06, 0.03, 0.01])
                   for at in range(10)}  # fmt: skip
        people = pd.DataFrame({**columns, "age": rng.integers(18, 90, n)})
        space = build_space(people, sensitive_features=["c0", "c1"], twins=True)
        alarms += bool(find_impossible_twins(space))
    assert alarms == 0


def test_many_audits_take_sets_and_one_hot_columns():
    people = pd.get_dummies(married(), columns=["race"])
    model = lambda asked: (asked["sex"] == "m").astype(int)  # noqa: E731
    family = ft.audit_many(
        people,
        "good",
        audits={
            "sex": {"sensitive_features": "sex", "together": [["sex", "relationship"]]},
            "race": {"sensitive_features": "race_a"},
        },
        model=model, delta=0.1, rng=0,
    )  # fmt: skip
    assert family["sex"].space.sensitive == ("sex", "relationship")
    assert family["race"].space.sensitive == ("race",)


def distance(first, second):
    return (first["x"] - second["x"]).abs() + (first["race_a"] != second["race_a"]) * 0.0


@pytest.mark.parametrize("name", ["custom", "sensitive-subspace", "mixed-tabular"])
def test_similarities_know_one_hot_columns_as_the_data_have_them(name):
    people = pd.get_dummies(married(), columns=["race"], dtype=int)
    columns = [one for one in people if one != "good"]
    races = ["race_a", "race_b", "race_c"]
    similarity = {
        "custom": lambda: ft.similarity.Custom(distance),
        "sensitive-subspace": lambda: ft.similarity.SensitiveSubspace(sensitive_features=races).fit(
            people[columns]
        ),
        "mixed-tabular": lambda: ft.similarity.MixedTabular(
            default_scale=1.0, default_mismatch=1.0
        ),
    }[name]()
    result = ft.audit(people, "good", model=lambda asked: asked["race_a"], rng=0, budget=0.01,
                      sensitive_features="race_b", similarity=similarity)  # fmt: skip
    assert result.statistic > 0


def test_training_people_are_found_among_one_hot_ones():
    people = pd.get_dummies(married(), columns=["race"])
    model = lambda asked: (asked["sex"] == "m").astype(int)  # noqa: E731
    result = ft.audit(people, "good", model=model, sensitive_features="race_a", rng=0)
    assert count_shared_people(result.space, people) == len(people)
