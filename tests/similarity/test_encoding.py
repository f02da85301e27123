"""Mixed columns become the coordinates that are recorded."""

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.similarity.encoding import fingerprint, fit_encoding

PEOPLE = pd.DataFrame({
    "age": [20, 30, 40, 30], "job": ["b", "a", None, "b"], "ok": [True, False, True, True]
})  # fmt: skip


def columns_of(frame):
    return encode_columns(read_table(frame, "X"), list(frame.columns), "X")


def test_numbers_are_standardised_and_levels_are_one_hot():
    encoding = fit_encoding(columns_of(PEOPLE))
    half, spread = np.sqrt(0.5), np.sqrt(50)

    assert encoding.names == ["age", "job=a", "job=b", "job=None", "ok=False", "ok=True"]
    np.testing.assert_allclose(
        encoding.coordinates(columns_of(PEOPLE)),
        [
            [-10 / spread, 0, half, 0, 0, half],
            [0, half, 0, 0, half, 0],
            [10 / spread, 0, 0, half, 0, half],
            [0, 0, half, 0, 0, half],
        ],
    )
    assert encoding.record() == {
        "age": {"centre": 30.0, "scale": spread},
        "job": {"levels": ["a", "b", None]},
        "ok": {"levels": [False, True]},
    }


def test_a_constant_number_keeps_its_scale():
    encoding = fit_encoding(columns_of(pd.DataFrame({"age": [3.0, 3.0]})))

    assert encoding.coordinates(columns_of(pd.DataFrame({"age": [3.0, 5.0]}))).tolist() == [
        [0],
        [2],
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"job": ["c", "a", None, "b"]},
            "'job' has the value 'c', which is not in the data of `fit`",
        ),
        ({"age": [1.0, None, 2.0, 3.0]}, "'age' must not have missing values: it is used as a"),
    ],
)
def test_points_that_the_encoding_does_not_know_are_refused_where_distances_are_learned(
    change, message
):
    encoding = fit_encoding(columns_of(PEOPLE))
    encoding.check_known_levels(columns_of(PEOPLE))

    with pytest.raises(ft.DataError, match=message):
        encoding.check_known_levels(columns_of(PEOPLE.assign(**change)))


def test_numbers_stay_numbers():
    with pytest.raises(ft.DataError, match="'age' must be numeric, as in the data of `fit`"):
        fit_encoding(columns_of(PEOPLE)).coordinates(columns_of(PEOPLE.assign(age=["x"] * 4)))


def squared(points):
    return ((points[:, None] - points[None]) ** 2).sum(axis=2)


def test_levels_that_are_new_are_as_far_from_each_other_and_from_the_others_as_levels_are():
    encoding = fit_encoding(columns_of(pd.DataFrame({"job": ["a", "b"]})))
    columns = columns_of(pd.DataFrame({"job": ["a", "c", "d", None, "c"]}))
    both = np.hstack([encoding.coordinates(columns), encoding.new_levels(columns)])

    assert encoding.unknown(columns).ravel().tolist() == [False, True, True, True, True]
    apart = np.array([[one != other for one in "acd-c"] for other in "acd-c"])
    np.testing.assert_allclose(squared(both), apart)


def test_a_missing_number_is_fitted_where_it_was_allowed_alone():
    with pytest.raises(ft.DataError, match="'age' must not have missing values"):
        fit_encoding(columns_of(PEOPLE.assign(age=[1.0, None, 2.0, 3.0])))


def test_a_missing_number_is_told_by_a_coordinate_of_its_own():
    people = columns_of(pd.DataFrame({"age": [20.0, 40.0, None]}))
    encoding = fit_encoding(people, allow_missing=True)

    half = np.sqrt(0.5)
    assert encoding.names == ["age", "age=None"]
    np.testing.assert_allclose(encoding.coordinates(people), [[-1, 0], [1, 0], [0, half]])
    assert encoding.record() == {"age": {"centre": 30.0, "scale": 10.0, "missing": True}}
    assert not encoding.unknown(people).any()


def test_a_missing_number_that_is_new_is_a_new_level():
    encoding = fit_encoding(columns_of(pd.DataFrame({"age": [20.0, 40.0]})))
    later = columns_of(pd.DataFrame({"age": [30.0, None, None]}))

    np.testing.assert_allclose(encoding.coordinates(later), [[0], [0], [0]])
    np.testing.assert_allclose(encoding.new_levels(later), np.sqrt(0.5) * np.array([[0], [1], [1]]))


def test_a_column_without_any_value_is_a_level():
    encoding = fit_encoding(columns_of(pd.DataFrame({"age": [None, None]}, dtype=float)))

    assert encoding.names == ["age=None"]


def test_the_same_people_have_one_fingerprint_in_any_order():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (20, 2)).astype(float)
    once = np.ones(20, np.int64)

    assert fingerprint(rows, once) == fingerprint(rows[::-1], once)
    assert fingerprint(-0.0 * rows, once) == fingerprint(0.0 * rows, once)
    assert fingerprint(rows, once) != fingerprint(rows[1:], once[1:])
    assert fingerprint(rows, once) != fingerprint(rows, 2 * once)


def test_tables_are_read_in_order_from_frames_and_files(tmp_path):
    PEOPLE[["age", "job"]].to_csv(tmp_path / "people.csv", index=False)
    frame = read_table(tmp_path / "people.csv", "X")
    columns = encode_columns(frame, ["age", "job"], "X")

    assert columns["age"].to_list() == [20, 30, 40, 30]
    assert columns["job"].to_list() == ["b", "a", None, "b"]


def test_tables_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(ft.InputError, match="`X` must be an eager data frame, got 3"):
        read_table(3, "X")
    with pytest.raises(ft.InputError, match=r"there is no .*file .* for `X`"):
        read_table("nowhere.csv", "X")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with raises(ft.DataError, "'broken.parquet' could not be read"):
        read_table(tmp_path / "broken.parquet", "X")
    with pytest.raises(ft.InputError, match="`X` must have the column 'height', got age, job, ok"):
        encode_columns(read_table(PEOPLE, "X"), ["height"], "X")
    with pytest.raises(ft.DataError, match="`X` must have at least one row, got none"):
        encode_columns(read_table(PEOPLE[:0], "X"), ["age"], "X")
