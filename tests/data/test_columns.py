"""Columns as codes over sorted levels."""

import datetime as dt
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairtransport.data.columns import (
    CodedColumn,
    encode_series,
    merge_columns,
    object_array,
    plain_list,
    sort_levels,
)

NAN = float("nan")
JANUARY, MAY = dt.date(2020, 1, 31), dt.date(2020, 5, 1)


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([2, 1, 2], [1, 2]),
        ([2.5, None, NAN, 1.0], [1.0, 2.5]),
        ([True, None, False], [False, True]),
        ([3, None, 1], [1, 3]),
        (["b", None, "a"], ["a", "b"]),
        ([MAY, None, JANUARY], [JANUARY, MAY]),
        ([Decimal("2.5"), None, Decimal("1.5")], [Decimal("1.5"), Decimal("2.5")]),
        ([None, None], []),
    ],
    ids=["int", "float", "bool", "int with null", "text", "date", "decimal", "nothing"],
)  # fmt: skip
def test_levels_are_sorted_and_values_come_back(series, values, levels):
    column = encode_series(nw.from_native(series(values), series_only=True))
    plain = [None if value is None or value != value else value for value in values]  # noqa: PLR0124

    assert column.levels.tolist() == levels
    assert column.to_list() == plain


def test_values_of_unlike_types_are_sorted_by_type():
    assert sort_levels(["b", 2, "a", 1]).tolist() == [1, 2, "a", "b"]


def test_missing_numbers_are_nan_and_other_missing_values_are_none():
    numbers = CodedColumn(np.array([1, 2]), np.array([1, -1, 0])).values()
    words = CodedColumn(object_array(["a"]), np.array([0, -1])).values()

    np.testing.assert_array_equal(numbers, [2, NAN, 1])
    assert words.tolist() == ["a", None]


def test_the_missing_value_is_last():
    column = CodedColumn(np.array([1, 2]), np.array([-1, 1, 0]))

    assert column.ranks.tolist() == [2, 1, 0]


def test_merged_columns_share_their_levels():
    first = CodedColumn(object_array(["b"]), np.array([0, -1]), categories=("b",))
    merged = merge_columns(first, CodedColumn(object_array(["a"]), np.array([0])))

    assert merged.levels.tolist() == ["a", "b"]
    assert merged.to_list() == ["b", None, "a"]


def test_a_plain_list_does_not_make_text_of_numbers():
    assert plain_list([1, "a"]) == [1, "a"]
    assert plain_list(np.array([1, 2])) == [1, 2]
    assert plain_list(pl.Series(["a", None])) == ["a", None]
