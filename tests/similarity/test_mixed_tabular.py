"""What an auditor states in words is the squared distance that comes out."""

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.geometry import Embedding
from fairtransport.similarity import MixedTabular

PEOPLE = pd.DataFrame(
    {
        "sex": ["f", "m", "m", "f"],
        "age": [20.0, 25.0, 35.0, 20.0],
        "job": ["clerk", "clerk", "cook", None],
        "area": [1, 2, 2, 1],
    }
)
RULES = {"scales": {"age": 5}, "mismatch": {"job": 1.5, "area": 0.25}}


def space_of(frame=PEOPLE, **options):
    return build_space(frame, sensitive_features="sex", missing="level", **options)


def costs_of(similarity, space):
    everyone = np.arange(space.size)
    return similarity.geometry(space).costs(everyone, everyone)


@pytest.mark.parametrize("twins", [True, False])
def test_costs_add_up_as_stated(twins):
    space = space_of(twins=twins)
    rows = list(zip(*(space.columns[k].to_list() for k in ("age", "job", "area")), strict=True))
    stated = [
        [((a - b) / 5) ** 2 + 1.5 * (j != k) + 0.25 * (p != q) for b, k, q in rows]
        for a, j, p in rows
    ]

    np.testing.assert_allclose(costs_of(MixedTabular(**RULES), space), stated, atol=1e-12)


def test_twins_cost_exactly_nothing():
    space = space_of(twins=True)
    same = space.groups(["age", "job", "area"])

    costs = costs_of(MixedTabular(**RULES), space)
    assert (costs[same[:, None] == same[None, :]] == 0).all()


def test_it_is_an_embedding_with_the_solvers_fast_path():
    assert isinstance(MixedTabular(**RULES).geometry(space_of()).cost, Embedding)


def test_exact_columns_forbid():
    space = space_of()
    costs = costs_of(MixedTabular({"age": 5}, {"area": 0}, exact=["job"]), space)
    job = np.array(space.columns["job"].to_list(), object)

    np.testing.assert_array_equal(np.isinf(costs), job[:, None] != job[None, :])


def test_sensitive_columns_are_free_unless_named():
    space = space_of()
    sex = space.codes(["sex"])[:, 0]
    priced = costs_of(MixedTabular(RULES["scales"], {**RULES["mismatch"], "sex": 2}), space)

    np.testing.assert_allclose(
        priced - costs_of(MixedTabular(**RULES), space),
        2.0 * (sex[:, None] != sex[None, :]),
        atol=1e-12,
    )


def test_defaults_stand_for_columns_that_are_not_named():
    named = MixedTabular({"age": 5, "area": 5}, {"job": 2})
    default = MixedTabular(default_scale=5, default_mismatch=2)

    np.testing.assert_allclose(costs_of(named, space_of()), costs_of(default, space_of()))


def test_nothing_but_sensitive_columns_is_free_everywhere():
    space = build_space(PEOPLE[["sex"]], sensitive_features="sex")

    np.testing.assert_array_equal(costs_of(MixedTabular(), space), np.zeros((2, 2)))


def test_the_audit_spends_its_budget_on_the_cheapest_mistakes():
    people = pd.DataFrame({"sex": ["f", "f", "m", "m"], "age": [20.0, 30.0, 40.0, 45.0]})
    result = ft.audit(
        people, model=lambda x: (x["age"] > 42).astype(int), loss="outcome", pos_label=1,
        sensitive_features="sex", similarity=MixedTabular({"age": 5}), budget=0.25,
    )  # fmt: skip

    # by hand: to make 45 of 40, 30 and 20 years costs 1, 9 and 25 a person
    assert result.statistic == pytest.approx(0.25)
    assert result.budget_curve.budgets == pytest.approx([0, 0.25, 2.5, 8.75])


def test_the_table_says_what_costs_what():
    similarity = MixedTabular({"age": 5}, {"job": 1.5}, default_scale=2)

    assert similarity.cost_table() == [
        {"column": "age", "change": "5", "cost": "1 (grows with the square)"},
        {"column": "job", "change": "another level", "cost": "1.5"},
    ]
    assert similarity.cost_table(space_of())[1:] == [
        {"column": "area", "change": "2", "cost": "1 (grows with the square)"},
        {"column": "job", "change": "another level", "cost": "1.5"},
        {"column": "sex", "change": "any", "cost": "free"},
    ]
    exact = MixedTabular(mismatch={"job": 0}, exact=["area"]).cost_table()
    assert [row["cost"] for row in exact] == ["free", "not allowed"]


def test_it_says_what_it_does():
    words = MixedTabular(
        {"age": 5}, {"job": 1.5}, exact=["area"], default_scale=3, default_mismatch=4
    ).describe()

    for part in ("5 in age counts 1", "3 in any other number", "another job counts 1.5"):
        assert part in words
    for part in ("any other column counts 4", "area must be equal"):
        assert part in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scales": 5}, "`scales` must map columns to numbers, got 5"),
        ({"scales": {"age": 0}}, "`scales['age']` must be a finite number > 0, got 0"),
        ({"mismatch": {"job": -1}}, "`mismatch['job']` must be a finite number >= 0, got -1"),
        (
            {"scales": {"age": 1}, "mismatch": {"age": 1}},
            "must name a column once, got 'age' twice",
        ),
        ({"default_scale": 0}, "`default_scale` must be a finite number > 0"),
        ({"default_mismatch": -1}, "`default_mismatch` must be a finite number >= 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with raises(ft.InputError, message):
        MixedTabular(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mismatch": {"job": 1, "area": 1}}, "`scales` must say what a change of 'age' costs"),
        ({"scales": {"age": 1, "area": 1}}, "`mismatch` must say what a change of 'job' costs"),
        ({"scales": {"height": 1}}, "`scales` must name columns of the profile .* got 'height'"),
        ({"scales": {"age": 1, "job": 1, "area": 1}}, "but 'job' is not numeric"),
    ],
)
def test_rules_that_do_not_fit_the_data_are_refused(options, message):
    with pytest.raises(ft.InputError, match=message):
        MixedTabular(**options).geometry(space_of())


def test_a_missing_number_wants_another_rule():
    space = space_of(PEOPLE.assign(age=[20, None, 35, 20]))

    with pytest.raises(ft.InputError, match="'age' has missing values"):
        MixedTabular(**RULES).geometry(space)
    priced = costs_of(MixedTabular(mismatch={"age": 1, "job": 0, "area": 0}), space)
    age = space.codes(["age"])[:, 0]
    np.testing.assert_allclose(priced, age[:, None] != age[None, :], atol=1e-12)
