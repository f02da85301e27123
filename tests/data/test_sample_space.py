"""What a SampleSpace says of its points."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairtransport.data import build_space

FRAME = pd.DataFrame({"g": ["a", "b", "b"], "x": [1.5, 1.5, None], "good": [1, 0, 1]})


@pytest.fixture
def space():
    return build_space(FRAME, "good", sensitive_features="g", missing="level", twins=True)


def test_counts_frequencies_and_size(space):
    assert (space.size, space.n) == (6, 3)
    assert space.frequencies.sum() == pytest.approx(1)
    np.testing.assert_array_equal(space.observed, space.counts > 0)


def test_groups_are_equal_exactly_where_all_columns_agree(space):
    rows = list(zip(space.values("g"), space.values("good"), strict=True))
    groups = space.groups(["g", "good"])

    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (groups[i] == groups[j]) == (one == other)


def test_without_columns_all_points_are_one_group(space):
    assert space.groups([]).tolist() == [0] * space.size
    assert space.codes([]).shape == (space.size, 0)


def test_points_come_back_in_the_library_of_the_data(space):
    frame = space.frame(["x", "g"], rows=[0, 5])
    expected = pd.DataFrame({"x": [1.5, None], "g": ["a", "b"]})

    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)


def test_points_can_be_had_in_another_library(space):
    frame = space.frame(library="polars")

    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["g", "x", "good"]
    assert frame.height == space.size
