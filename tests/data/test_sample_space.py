"""What a SampleSpace says of its points."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairtransport.data import build_space
from fairtransport.data.sample_space import data_sha256

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


def test_the_fingerprint_tells_values_of_different_kinds_apart():
    columns = {
        "whole": [1, 2, 3], "numbers": [1.0, 2.0, 3.0], "text": ["1", "2", "3"],
        "truth": [True, False, True], "missing": [1.0, 2.0, None], "other": [1, 2, 4],
        "large": np.array([1, 2, 2**64 - 1], np.uint64), "negative": [1, 2, -1],
        "mixed": pd.Series([1, 2, "3"], dtype=object),
    }  # fmt: skip
    hashes = {name: _fingerprint(FRAME.assign(x=values)) for name, values in columns.items()}

    assert len(set(hashes.values())) == len(columns)
    for kind in (np.int8, np.uint16, np.uint64):
        assert _fingerprint(FRAME.assign(x=np.array([1, 2, 3], kind))) == hashes["whole"]
    assert _fingerprint(FRAME.assign(x=np.float32([1, 2, 3]))) == hashes["numbers"]


def test_the_fingerprint_is_of_people_and_of_columns_by_name():
    first = _fingerprint(FRAME)

    assert _fingerprint(FRAME.iloc[[2, 0, 1]]) == first
    assert _fingerprint(pd.concat([FRAME, FRAME.iloc[:1]])) != first
    assert _fingerprint(FRAME.rename(columns={"x": "y"})) != first
    # levels that nobody has are not part of it
    assert _fingerprint(FRAME, levels={"g": ["a", "b", "c"]}) == first


def test_text_is_not_taken_for_the_beginning_of_the_next_value():
    one, other = (FRAME.assign(x=words) for words in (["a", "b\nc", "d"], ["a\nb", "c", "d"]))

    assert _fingerprint(one) != _fingerprint(other)


def _fingerprint(frame, **options):
    space = build_space(
        frame, "good", sensitive_features="g", missing="level", twins=True, **options
    )
    return data_sha256(space)
