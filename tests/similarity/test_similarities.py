"""Who is comparable: people who differ in sensitive features alone, or as a matrix says."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import IgnoreSensitive, Precomputed, Similarity, as_similarity

FRAME = pd.DataFrame({"g": ["a", "b", "a"], "x": [1, 1, 2], "good": [1, 1, 0]})


def costs_between_points(similarity, space):
    geometry = similarity.geometry(space)
    everyone = np.arange(space.size)
    return geometry.costs(everyone, everyone)


def rows(space):
    return list(zip(*(column.to_list() for column in space.columns.values()), strict=True))


def test_people_who_differ_in_sensitive_features_alone_are_the_same_person():
    space = build_space(FRAME, "good", sensitive_features="g", twins=True)
    costs = costs_between_points(IgnoreSensitive(), space)

    for i, (_, x, good) in enumerate(rows(space)):
        for j, (_, other_x, other_good) in enumerate(rows(space)):
            assert costs[i, j] == (0 if (x, good) == (other_x, other_good) else np.inf)


def test_without_a_label_only_the_features_must_agree():
    space = build_space(FRAME.drop(columns="good"), sensitive_features="g", twins=True)

    assert len(IgnoreSensitive().geometry(space).members) == 2


@pytest.mark.parametrize("twins", [True, False])
def test_a_reference_limits_targets_only_where_twins_are_not_complete(twins):
    space = build_space(FRAME, "good", sensitive_features="g", targets=FRAME[:1], twins=twins)

    assert (IgnoreSensitive().geometry(space).targets is None) is twins


MATRIX = np.array([[0.0, 1.0, np.inf], [2.0, 0.0, 3.0], [0.0, 5.0, 0.0]])


def keyed(matrix=MATRIX, make=pd.DataFrame):
    return Precomputed(matrix, points=make({"g": ["b", "a", "a"], "x": [1, 2, 1]}))


def sparse(dense):
    at = np.nonzero(np.isfinite(dense))
    return csr_array((dense[at], at), shape=dense.shape)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("form", [np.array, np.ndarray.tolist, sparse])
def test_a_matrix_is_keyed_by_profile_not_by_order(make, form):
    space = build_space(FRAME.assign(good=1), "good", sensitive_features="g")
    costs = costs_between_points(keyed(form(MATRIX), make), space)
    place = {("b", 1): 0, ("a", 2): 1, ("a", 1): 2}
    order = [place[row[:2]] for row in rows(space)]

    np.testing.assert_array_equal(costs, MATRIX[np.ix_(order, order)])


def test_a_matrix_connects_no_people_of_different_label():
    space = build_space(FRAME, "good", sensitive_features="g")
    costs = costs_between_points(keyed(), space)
    label = space.values("good")

    assert np.isinf(costs[label[:, None] != label[None, :]]).all()


def test_one_profile_with_different_predictions_is_a_free_move_without_a_diagonal():
    frame = pd.DataFrame({"g": ["a", "a"], "good": [1, 1], "guess": [0, 1]})
    no_diagonal = Precomputed(csr_array((1, 1)), points=pd.DataFrame({"g": ["a"]}))
    result = ft.audit(frame, "good", y_pred="guess", sensitive_features="g", similarity=no_diagonal)

    assert result.statistic == 0.5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("values", [["a", None], [1.5, None], [2, None]])
def test_a_missing_level_has_its_row_in_the_matrix(make, values):
    points = make({"g": values})
    space = build_space(points, sensitive_features="g", missing="level")
    costs = costs_between_points(Precomputed([[0, 7], [1, 0]], points), space)

    np.testing.assert_array_equal(costs, [[0, 7], [1, 0]])


def test_a_reference_limits_the_targets_of_a_matrix():
    space = build_space(FRAME, "good", sensitive_features="g", targets=FRAME[:1], twins=True)
    geometry = keyed(np.zeros((4, 4)), lambda _: pd.DataFrame(
        {"g": ["a", "a", "b", "b"], "x": [1, 2, 1, 2]}
    )).geometry(space)  # fmt: skip

    np.testing.assert_array_equal(geometry.targets, space.targets)


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        (pd.DataFrame({"g": ["a"]}), ft.InputError, "`points` must have one row .* 3, got 1"),
        (pd.DataFrame({"h": [1, 2, 3]}), ft.InputError, "`points` must have audited .* 'h'"),
        (pd.DataFrame(index=range(3)), ft.InputError, "`points` must have audited .* none"),
        (pd.DataFrame({"g": ["a", "b", "a"]}), ft.InputError, "must have each row once, .*'a'"),
        (pd.DataFrame({"x": [3, 2, 4]}), ft.DataError, "lacks 2 of .* such as {'x': 1}"),
        (pl.LazyFrame({"x": [1]}), ft.InputError, "`points` must be an eager data frame, got"),
        (None, ft.InputError, "`points` must be an eager data frame, got None"),
    ],
)
def test_points_that_do_not_fit_the_matrix_are_refused(points, error, message):
    space = build_space(FRAME, "good", sensitive_features="g")

    with pytest.raises(error, match=message):
        Precomputed(MATRIX, points).geometry(space)


def test_each_similarity_describes_itself():
    assert "sensitive features" in IgnoreSensitive().describe()
    assert "3 different rows" in keyed().describe()
    assert "3 different rows" in keyed(MATRIX.tolist()).describe()
    assert IgnoreSensitive().moves_only_to_twins
    assert not keyed().moves_only_to_twins


def test_a_similarity_is_named_or_made():
    made = keyed()

    assert as_similarity("ignore-sensitive") == IgnoreSensitive()
    assert as_similarity(made) is made
    assert isinstance(made, Similarity)


@pytest.mark.parametrize("value", ["mahalanobis", None, IgnoreSensitive, np.eye(2)])
def test_an_unknown_similarity_is_refused(value):
    with pytest.raises(
        ft.InputError, match=r"`similarity` must be one of 'ignore-sensitive', .* or a"
    ):
        as_similarity(value)
