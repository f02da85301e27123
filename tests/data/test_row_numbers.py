"""Rows are numbered as if they were sorted whole."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairtransport._core import ranks as module
from fairtransport._core.ranks import find_firsts, number_rows, sort_rows

CODES = st.integers(-1, 3) | st.sampled_from([-(2**61), 2**61, 2**62])


@given(st.integers(1, 5).flatmap(lambda width: st.lists(st.tuples(*[CODES] * width), min_size=1)))
def test_they_are_those_of_numpy(rows):
    table = np.array(rows, np.int64)
    expected = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)

    assert number_rows(list(table.T)).tolist() == expected.tolist()


def test_keys_that_would_overflow_are_numbered_anew(monkeypatch):
    table = np.random.default_rng(0).integers(0, 50, (500, 6))
    expected = number_rows(list(table.T))
    monkeypatch.setattr(module, "MAX_ROW_KEY", 500 * 50)

    assert number_rows(list(table.T)).tolist() == expected.tolist()


def test_no_rows_have_no_numbers():
    assert number_rows([np.empty(0, np.int64)] * 2).tolist() == []


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 2**61)), min_size=1))
def test_rows_are_sorted_by_their_first_column_and_equal_ones_stay(rows):
    first, second = np.array(rows, np.int64).T

    assert sort_rows([first, second]).tolist() == np.lexsort((second, first)).tolist()


@given(st.lists(st.integers(0, 5), min_size=1))
def test_the_first_of_a_group_is_the_first_row_of_it(values):
    groups = number_rows([np.array(values)])
    expected = [groups.tolist().index(group) for group in range(groups.max() + 1)]

    assert find_firsts(groups, groups.max() + 1).tolist() == expected
