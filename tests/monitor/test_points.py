"""Records become points, whatever they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.messages import raises
from tests.monitor.people import asking, people, told, with_guess

import fairtransport as ft


def test_records_one_by_one_are_the_same_as_a_frame_of_any_library():
    frame = with_guess(people(120))
    states = []
    for points in (frame, pl.from_pandas(frame), frame.to_dict("records")):
        monitor = told()
        states.append(monitor.update(points))
    single = told()
    for record in frame.to_dict("records"):
        single.update({name: np.asarray(value)[()] for name, value in record.items()})

    assert states[0] == states[1] == states[2] == single.state
    assert single.state.n == 120


def test_bins_tell_their_levels():
    def strict(points):
        return (points["age"] == "< 30").astype(int)

    monitor = ft.Monitor(y="good", model=strict, sensitive_features="age", features=["age"],
                         bins={"age": [30, 60]}, delta=0.1)  # fmt: skip
    state = monitor.update({"age": 44, "good": 0})

    assert state.statistic == 1
    assert monitor.queried == 3
    with raises(ft.DataError, "`bins['age']` needs a column of numbers, got 'old'"):
        monitor.update({"age": "old", "good": 0})


def test_missing_values():
    gap = {"group": "a", "x": None, "good": 1, "guess": 1}
    with pytest.raises(
        ft.DataError, match=r"'x' must not have missing values, but 1 is .* missing="
    ):
        told().update(gap)
    with pytest.raises(
        ft.DataError, match=r"'good' .* 1 is missing; fill them .* leave these people out$"
    ):
        told(missing="level").update(gap | {"good": float("nan")})
    assert told(missing="level").update(gap).n == 1


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        ({"group": "c", "x": 1, "good": 1}, ft.DataError, "every value, but lacks 'c'"),
        ({"group": "a", "good": 1}, ft.DataError, "but lack 'x'"),
        ({"group": ["a"], "x": 1, "good": 1}, ft.DataError, "'group' must hold single values"),
        (
            {"group": "a", "x": 1, "good": "yes"},
            ft.DataError,
            "text or numbers, not both, got .*'yes'",
        ),
        (7, ft.InputError, "`points` must be a record"),
    ],
)
def test_bad_records_are_refused_and_not_counted(points, error, message):
    monitor = asking()
    before = monitor.update(people(20))
    with pytest.raises(error, match=message):
        monitor.update(points)

    assert monitor.state == before


def test_columns_are_settled_by_the_first_records():
    monitor = told(bins={"z": [1]})
    with pytest.raises(ft.InputError, match=r"`bins` must name audited columns .*, got 'z'"):
        monitor.update(with_guess(people(5)))
    with pytest.raises(ft.DataError, match="'x' must hold single values"):
        told().update(pd.DataFrame({"group": ["a"], "x": [[1]], "good": [1], "guess": [1]}))
