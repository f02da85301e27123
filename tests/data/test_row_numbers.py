"""Rows are numbered as if they were sorted whole."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairtransport.data import sample_space as module
from fairtransport.data.sample_space import number_rows

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
