"""Roles of columns, twins over declared levels, and the reference frame of targets."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.twins import MAX_TWIN_POINTS

FRAME = pd.DataFrame(
    {"race": ["a", "b", "a"], "sex": ["f", "m", "m"], "x": [1, 1, 2], "good": [0, 1, 1]}
)


def rows(space):
    return list(zip(*(column.to_list() for column in space.columns.values()), strict=True))


def test_points_are_sorted_by_features_then_label_with_missing_last():
    frame = pl.DataFrame({"x": [2, None, 1, 2], "g": ["b", "a", "b", None], "good": [1, 0, 1, 0]})
    space = build_space(frame, "good", sensitive_features="g", missing="level")

    assert rows(space) == [(1, "b", 1), (2, "b", 1), (2, None, 0), (None, "a", 0)]


def test_features_default_to_all_but_label_counts_and_predictions():
    frame = FRAME.assign(guess=1, people=2)
    space = build_space(
        frame, "good", sensitive_features=["race"], predictions="guess", counts="people"
    )

    assert space.features == ("race", "sex", "x")
    assert (space.label, space.predictions) == ("good", ("guess",))


def test_a_sensitive_feature_that_the_model_does_not_receive_is_part_of_a_point():
    space = build_space(FRAME, "good", sensitive_features="race", features=["x"])

    assert list(space.columns) == ["x", "race", "good"]
    assert space.profile == ("x", "race")


def test_an_attached_array_never_takes_the_name_of_a_column():
    frame = FRAME.rename(columns={"x": "label", "sex": "prediction"})
    space = build_space(
        frame, np.array([0, 1, 0]), sensitive_features="race", predictions=[1, 1, 1]
    )

    assert (space.label, space.predictions) == ("label_", ("prediction_",))


def test_an_array_keeps_the_name_it_comes_with():
    space = build_space(FRAME[["race"]], FRAME["good"], sensitive_features="race")

    assert space.label == "good"


def test_an_unnamed_sensitive_series_gets_a_name():
    space = build_space(FRAME, sensitive_features=pd.Series(["u", "v", "u"]))

    assert space.sensitive == ("sensitive",)


def test_twins_are_all_combinations_of_the_observed_levels_with_the_same_label():
    space = build_space(FRAME, "good", sensitive_features=["race", "sex"], twins=True)
    expected = {
        (race, sex, x, good)
        for race in "ab" for sex in "fm" for x, good in ((1, 0), (1, 1), (2, 1))
    }  # fmt: skip

    assert set(rows(space)) == expected
    assert len(rows(space)) == len(expected)
    assert space.n == 3
    assert [row for row, seen in zip(rows(space), space.observed, strict=True) if seen] == sorted(
        zip(*(FRAME[name] for name in FRAME), strict=True)
    )


def test_declared_levels_add_twins():
    space = build_space(
        FRAME, "good", sensitive_features="race", twins=True,
        levels={"race": np.array(["c", "a", "b"])},
    )  # fmt: skip

    assert space.columns["race"].levels.tolist() == ["a", "b", "c"]
    assert space.size == 3 * 3


def test_a_declared_number_keeps_the_type_of_the_column():
    space = build_space(
        FRAME, sensitive_features="x", twins=True, levels={"x": np.array([1, 2, 3])}
    )

    assert space.frame()["x"].dtype == np.int64
    assert space.columns["x"].levels.tolist() == [1, 2, 3]


def test_missing_is_a_level_of_the_twins_when_it_was_observed():
    frame = FRAME.assign(race=["a", None, "b"])
    space = build_space(frame, "good", sensitive_features="race", missing="level", twins=True)

    assert set(space.columns["race"].to_list()) == {"a", "b", None}


@pytest.mark.parametrize(("levels", "seen"), [(["a", "b", None], True), (["a", "b"], False)])
def test_missing_can_be_declared_as_a_level(levels, seen):
    space = build_space(FRAME, sensitive_features="race", twins=True, levels={"race": levels})

    assert (None in space.columns["race"].to_list()) is seen


@pytest.mark.parametrize(
    ("levels", "twins", "message"),
    [
        ({"race": ["a", "b"]}, False, "`levels` needs `model`"),
        (["a", "b"], True, r"`levels` must map sensitive features to values, got \['a', 'b'\]"),
        ({"x": [1, 2]}, True, "`levels` must name sensitive features, got 'x'"),
        ({"race": []}, True, r"`levels\['race'\]` must hold at least one value, got none"),
        ({"race": ["z"]}, True, r"`levels\['race'\]` must hold at least one value that occurs"),
        ({"race": "ab"}, True, r"`levels\['race'\]` must list values, got 'ab'"),
        ({"race": 5}, True, r"`levels\['race'\]` must list values, got 5"),
    ],
)
def test_levels_that_cannot_be_used_are_refused(levels, twins, message):
    with pytest.raises(ft.InputError, match=message):
        build_space(FRAME, sensitive_features="race", levels=levels, twins=twins)


def test_too_many_twins_are_refused_before_they_are_made():
    many = pd.DataFrame({name: 7 * np.arange(2000) for name in ("income", "height", "weight")})

    with pytest.raises(
        ft.InputError, match=f"8,000,000,000 combinations, .* than {MAX_TWIN_POINTS:,}"
    ):
        build_space(many, sensitive_features=list(many), twins=True)


def test_reference_points_are_added_at_count_zero_and_are_the_targets():
    reference = pd.DataFrame({"race": ["a", "c"], "sex": "f", "x": 1, "good": 0})
    space = build_space(FRAME, "good", sensitive_features="race", targets=reference)
    found = dict(zip(rows(space), zip(space.counts, space.targets, strict=True), strict=True))

    assert found == {
        ("a", "f", 1, 0): (1, True),
        ("a", "m", 2, 1): (1, False),
        ("b", "m", 1, 1): (1, False),
        ("c", "f", 1, 0): (0, True),
    }


def test_the_twins_of_reference_points_are_targets_too():
    reference = FRAME.iloc[:1].assign(race="c")
    space = build_space(FRAME, "good", sensitive_features="race", targets=reference, twins=True)
    targets = [row for row, is_target in zip(rows(space), space.targets, strict=True) if is_target]

    assert targets == [("a", "f", 1, 0), ("b", "f", 1, 0), ("c", "f", 1, 0)]


def test_a_reference_may_have_other_types_further_columns_and_missing_values():
    reference = pl.DataFrame({"x": [1.5, None], "race": ["a", "a"], "sex": ["f", "f"], "more": 0})
    space = build_space(FRAME.drop(columns="good"), sensitive_features="race", targets=reference,
                        missing="level")  # fmt: skip

    assert space.columns["x"].to_list() == [1, 1.5, None, 2, 1]
    assert space.n == len(FRAME)


@pytest.mark.parametrize(
    ("targets", "error", "message"),
    [
        (FRAME[["race", "x"]], ft.InputError, "`targets` must have .* but lacks sex, good"),
        (7, ft.InputError, "`targets` must be a data frame or a path to a file, got 7"),
        ("absent.csv", ft.InputError, "there is no file 'absent.csv' for `targets`"),
        (FRAME.assign(x=None), ft.DataError, "'x' must not have missing values"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(targets, error, message):
    with pytest.raises(error, match=message):
        build_space(FRAME, "good", sensitive_features="race", targets=targets)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sensitive_features": []}, "`sensitive_features` must name at least one column"),
        ({"sensitive_features": pd.DataFrame(index=FRAME.index)}, "`sensitive_features` must name"),
        ({"sensitive_features": "age"}, r"`sensitive_features` must name columns .*, got 'age'"),
        ({"sensitive_features": ["race", "race"]}, "`sensitive_features` must be distinct column"),
        (
            {"sensitive_features": "good"},
            "`sensitive_features` and `y` must not name the same column, got 'good' for both",
        ),
        ({"sensitive_features": None}, "`sensitive_features` must be column names, or .* got None"),
        ({"sensitive_features": FRAME[["race"]].shift()}, "the name 'race' of a column of the"),
        (
            {"sensitive_features": pd.DataFrame({"h": [1, 2]})},
            r"`sensitive_features` must have one value per row, shape \(3,\), got \(2,\)",
        ),
        ({"features": ["height"]}, "`features` must name columns of the data .* got 'height'"),
        (
            {"features": ["x", "good"]},
            "`features` and `y` must not name the same column, got 'good' for both",
        ),
        ({"features": 5}, "`features` must be distinct column names, got 5"),
        ({"features": ["x", "x"]}, "`features` must be distinct column names"),
        ({"features": []}, "`features` must name at least one column, got none"),
        ({"label": "bad"}, r"`y` must name columns of the data \(race, .*\), got 'bad'"),
        ({"label": [0, 1]}, r"`y` must have one value per row, shape \(3,\), got \(2,\)"),
        (
            {"label": np.ones((3, 1))},
            r"`y` must have one value per row, shape \(3,\), got \(3, 1\)",
        ),
        ({"counts": "people"}, "`counts` must name columns of the data .* got 'people'"),
        ({"counts": np.ones(3)}, "`counts` must name columns of the data .* got array"),
        ({"predictions": "guess"}, "`y_pred` must name columns of the data .* got 'guess'"),
        ({"predictions": [1, 0]}, r"`y_pred` must have one value per row, shape \(3,\)"),
        ({"predictions": []}, r"`y_pred` must have one value per row, shape \(3,\), got \(0,\)"),
        ({"missing": "drop"}, "`missing` must be one of 'error', 'level', got 'drop'"),
    ],
)
def test_roles_that_cannot_be_given_are_refused(change, message):
    options = {"label": "good", "sensitive_features": "race", "prediction_parameter": "y_pred"}

    with pytest.raises(ft.InputError, match=message):
        build_space(FRAME, **(options | change))


def test_a_list_of_text_is_labels_unless_all_of_it_names_columns():
    labels = build_space(FRAME, sensitive_features="race", predictions=["race", "yes", "no"])
    columns = build_space(FRAME, sensitive_features="race", predictions=["x", "good"])

    assert labels.predictions == ("prediction",)
    assert columns.predictions == ("x", "good")


def test_given_predictions_may_be_about_sensitive_features_alone():
    frame = FRAME[["race", "good"]].assign(guess=0)
    space = build_space(frame, "good", sensitive_features="race", predictions="guess", features=[])

    assert space.profile == ("race",)
