"""Free moves between people who differ in sensitive features alone, tightened or loosened."""

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.geometry import WithinTolerance
from fairtransport.similarity import IgnoreSensitive

PEOPLE = pd.DataFrame(
    {
        "race": ["a", "b", "a", "b", "a"],
        "sex": ["f", "m", "m", "f", "f"],
        "age": [20, 20, 22, 25, 40],
        "job": ["x", "x", "x", "x", "y"],
        "good": [1, 1, 1, 1, 0],
    }
)


def space_of(frame=PEOPLE, **options):
    return build_space(frame, "good", sensitive_features=["race", "sex"], **options)


def costs_of(similarity, space):
    everyone = np.arange(space.size)
    return similarity.geometry(space).costs(everyone, everyone)


def expected(space, allowed):
    rows = list(zip(*(column.to_list() for column in space.columns.values()), strict=True))
    people = [dict(zip(space.columns, row, strict=True)) for row in rows]
    return np.array([[0.0 if i is j or allowed(i, j) else np.inf for j in people] for i in people])


@pytest.mark.parametrize("twins", [True, False])
def test_exact_columns_must_agree_although_they_are_sensitive(twins):
    space = space_of(twins=twins)
    costs = costs_of(IgnoreSensitive(exact=["sex"]), space)

    wanted = expected(space, lambda i, j: all(i[k] == j[k] for k in ("sex", "age", "job", "good")))
    np.testing.assert_array_equal(costs, wanted)


def test_columns_with_a_tolerance_need_only_be_close():
    space = space_of(twins=True)
    costs = costs_of(IgnoreSensitive(tolerance={"age": 3}), space)

    wanted = expected(
        space,
        lambda i, j: abs(i["age"] - j["age"]) <= 3 and all(i[k] == j[k] for k in ("job", "good")),
    )
    np.testing.assert_array_equal(costs, wanted)
    # 20 to 22 to 25 is allowed step by step, but 20 to 25 is not
    assert np.isinf(costs).any()


def test_a_sensitive_column_can_have_a_tolerance():
    frame = PEOPLE.drop(columns=["race", "sex"])
    space = build_space(frame, "good", sensitive_features="age", twins=True)
    costs = costs_of(IgnoreSensitive(tolerance={"age": 2}), space)

    wanted = expected(
        space,
        lambda i, j: abs(i["age"] - j["age"]) <= 2 and all(i[k] == j[k] for k in ("job", "good")),
    )
    np.testing.assert_array_equal(costs, wanted)


def test_decimals_that_are_a_tolerance_apart_are_within_it():
    cost = WithinTolerance(np.array([[0.3], [0.4], [0.7], [0.1 + 0.2]]), np.array([0.1]))
    everyone = np.arange(4)

    np.testing.assert_array_equal(
        np.isfinite(cost.between(everyone, everyone)),
        [[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 0, 1]],
    )


def test_the_statistic_grows_with_what_may_change():
    def model(x):
        return ((x["race"] == "a") & (x["sex"] == "f") | (x["age"] > 24)).astype(int)

    def statistic(**options):
        return ft.audit(
            PEOPLE, "good", model=model, sensitive_features=["race", "sex"],
            similarity=IgnoreSensitive(**options),
        ).statistic  # fmt: skip

    # by hand: of five people, 20 a f and 25 b f are predicted well, 40 a f is not
    assert statistic(exact=["race", "sex"]) == 0
    assert statistic(exact=["sex"]) == pytest.approx(1 / 5)
    assert statistic() == pytest.approx(1 / 5)
    assert statistic(tolerance={"age": 3}) == pytest.approx(2 / 5)


def test_only_twins_of_a_full_set_do_not_depend_on_the_sample():
    assert IgnoreSensitive(exact=["sex"]).moves_only_to_twins
    assert not IgnoreSensitive(tolerance={"age": 1}).moves_only_to_twins

    audit = {"model": lambda x: np.ones(len(x)), "sensitive_features": ["race", "sex"]}
    close = IgnoreSensitive(tolerance={"age": 1})
    assert ft.audit(PEOPLE, "good", similarity=close, **audit).target_scope == "observed"
    assert ft.audit(PEOPLE, "good", similarity=IgnoreSensitive(), **audit).target_scope == "twins"


def test_a_reference_limits_moves_within_a_tolerance():
    space = space_of(twins=True, targets=PEOPLE[:1])
    geometry = IgnoreSensitive(tolerance={"age": 3}).geometry(space)

    np.testing.assert_array_equal(geometry.targets, space.targets)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exact": 3}, "`exact` must be distinct column names, got 3"),
        ({"exact": ["sex", "sex"]}, "`exact` must be distinct column names"),
        ({"tolerance": ["age"]}, "`tolerance` must map columns to numbers, got ['age']"),
        ({"tolerance": {"age": -1}}, "`tolerance['age']` must be a number of at least 0, got -1"),
        ({"exact": ["age"], "tolerance": {"age": 1}}, "must not name columns of `exact`"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with raises(ft.InputError, message):
        IgnoreSensitive(**options)


@pytest.mark.parametrize(
    ("options", "space", "message"),
    [
        ({"exact": ["height"]}, {}, "`exact` must name audited columns .* got 'height'"),
        ({"tolerance": {"height": 1}}, {}, "`tolerance` must name audited columns"),
        ({"tolerance": {"job": 1}}, {}, "numeric column .* but 'job' is not numeric"),
        ({"tolerance": {"age": 1}}, {"bins": {"age": [25]}}, "'age' was cut into bins"),
    ],
)
def test_settings_that_do_not_fit_the_data_are_refused(options, space, message):
    with pytest.raises(ft.InputError, match=message):
        IgnoreSensitive(**options).geometry(space_of(**space))


def test_a_tolerance_needs_values():
    frame = PEOPLE.assign(age=[20, None, 22, 25, 40])

    with pytest.raises(ft.InputError, match="'age' has missing values"):
        IgnoreSensitive(tolerance={"age": 1}).geometry(space_of(frame, missing="level"))


def test_it_says_what_it_does():
    words = IgnoreSensitive(exact=["sex"], tolerance={"age": 2}).describe()

    assert "(but not in sex)" in words
    assert "age by at most 2" in words


def test_a_stream_obeys_exact_columns_as_an_audit_does():
    options = dict(
        model=lambda x: (x["sex"] == "f").astype(int), sensitive_features=["race", "sex"],
        delta=0.1, levels={"race": ["a", "b"], "sex": ["f", "m"]},
        similarity=IgnoreSensitive(exact=["sex"]), features=["race", "sex", "age", "job"],
    )  # fmt: skip
    monitor = ft.Monitor(y="good", labels=[0, 1], **options)

    assert monitor.update(PEOPLE).statistic == ft.audit(PEOPLE, "good", **options).statistic == 0
