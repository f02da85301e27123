"""Costs from functions and files are the costs of the audit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, save_npz
from tests.messages import raises

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import Custom, Precomputed, custom, load_precomputed
from fairtransport.similarity.precomputed import expand_to_points

FRAME = pd.DataFrame({"g": ["a", "b", "a"], "x": [1.0, 1.0, 2.5], "good": [1, 1, 1]})


def costs_of(similarity, space):
    everyone = np.arange(space.size)
    return similarity.geometry(space).costs(everyone, everyone)


def by_frames(first, second):
    rises = first["g"].to_numpy() > second["g"].to_numpy()
    return (first["x"] - second["x"]).to_numpy() ** 2 + 3 * rises


def by_rows(first, second):
    return (first["x"] - second["x"]) ** 2 + 3 * (first["g"] > second["g"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("most", [1, 4, 500_000])
def test_functions_of_frames_and_of_rows_agree_with_the_formula(make, most, monkeypatch):
    monkeypatch.setattr(custom, "MAX_CHUNK_PAIRS", most)
    data = make(FRAME.to_dict("list"))
    space = build_space(data, "good", sensitive_features="g")
    g, x = np.array(space.columns["g"].to_list()), space.values("x")
    wanted = (x[:, None] - x[None, :]) ** 2 + 3 * (g[:, None] > g[None, :])

    np.testing.assert_allclose(costs_of(Custom(by_frames), space), wanted)
    np.testing.assert_allclose(costs_of(Custom(by_rows, takes="rows"), space), wanted)


def test_people_of_another_label_stay_apart_and_equal_profiles_are_free():
    frame = pd.DataFrame({"g": ["a", "a", "a"], "good": [1, 1, 0], "guess": [0, 1, 1]})
    space = build_space(frame, "good", sensitive_features="g", predictions="guess")
    costs = costs_of(Custom(lambda a, b: 7, takes="rows"), space)
    good = space.values("good")

    np.testing.assert_array_equal(costs, np.where(good[:, None] == good[None, :], 0, np.inf))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: -1, "`costs(rows, cols)` must be >= 0"),
        (lambda a, b: float("nan"), "must be >= 0"),
        (lambda a, b: "far", "`function(first, second)` must be numeric"),
    ],
)
def test_costs_that_are_none_are_refused(function, message):
    space = build_space(FRAME, "good", sensitive_features="g")

    with raises(ft.InputError, message):
        costs_of(Custom(function, takes="rows"), space)


def test_a_function_of_frames_answers_for_every_pair():
    space = build_space(FRAME, "good", sensitive_features="g")

    with raises(ft.InputError, "`function(first, second)` must have shape (9)"):
        costs_of(Custom(lambda a, b: [1.0]), space)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(ft.InputError, match="`function` must be callable, got 3"):
        Custom(3)
    with pytest.raises(ft.InputError, match="`takes` must be one of 'frames', 'rows'"):
        Custom(by_rows, takes="columns")


def test_it_says_what_it_does():
    assert "by_rows" in Custom(by_rows).describe()
    assert Custom(by_rows).to_json()["settings"]["function"] == "by_rows"
    assert not Custom(by_rows).moves_only_to_twins


MATRIX = np.array([[0.0, 1.0, np.inf], [2.0, 0.0, 3.0], [0.0, 5.0, 0.0]])
POINTS = pd.DataFrame({"g": ["b", "a", "a"], "x": [1.0, 2.5, 1.0]})


def sparse(dense):
    at = np.nonzero(np.isfinite(dense))
    return csr_array((dense[at], at), shape=dense.shape)


def edges(folder, **changes):
    source, target = np.nonzero(np.isfinite(MATRIX))
    table = pd.DataFrame({
        **{f"{name}_from": POINTS[name].to_numpy()[source] for name in POINTS},
        **{f"{name}_to": POINTS[name].to_numpy()[target] for name in POINTS},
        "cost": MATRIX[source, target], **changes,
    })  # fmt: skip
    table.sample(frac=1, random_state=0).to_parquet(folder / "edges.parquet", index=False)
    return folder / "edges.parquet"


def dense_file(folder):
    np.savez(folder / "dense.npz", matrix=MATRIX, g=["b", "a", "a"], x=[1.0, 2.5, 1.0])
    return folder / "dense.npz", None


def sparse_file(folder):
    save_npz(folder / "sparse.npz", sparse(MATRIX))
    POINTS.to_csv(folder / "points.csv", index=False)
    return folder / "sparse.npz", folder / "points.csv"


def edge_file(folder):
    return edges(folder), None


@pytest.mark.parametrize("write", [dense_file, sparse_file, edge_file])
def test_a_file_holds_the_costs_that_were_written(write, tmp_path):
    path, points = write(tmp_path)
    space = build_space(FRAME, "good", sensitive_features="g")

    for loaded in (load_precomputed(path, points), load_precomputed(str(path), points)):
        np.testing.assert_array_equal(
            costs_of(loaded, space), costs_of(Precomputed(MATRIX, POINTS), space)
        )


def test_sparse_and_dense_matrices_give_one_statistic():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "g": rng.integers(0, 4, 60), "x": rng.integers(0, 3, 60),
        "good": rng.integers(0, 2, 60), "guess": rng.integers(0, 2, 60),
    })  # fmt: skip
    points = frame[["g", "x"]].drop_duplicates()
    matrix = rng.choice([0.0, 0.5, 1.0, np.inf], (len(points), len(points)))
    np.fill_diagonal(matrix, 0)
    statistics = [
        ft.audit(
            frame, "good", y_pred="guess", sensitive_features="g", budget=0.1,
            similarity=Precomputed(form, points),
        ).statistic
        for form in (matrix, sparse(matrix))
    ]  # fmt: skip

    assert statistics[0] == pytest.approx(statistics[1], abs=1e-12)
    assert statistics[0] > 0


def test_a_sparse_matrix_spreads_over_the_points_of_its_profiles():
    row_of = np.array([2, 0, 0, 2])
    spread = expand_to_points(sparse(MATRIX), row_of)
    dense = np.full((4, 4), np.inf)
    entries = spread.tocoo()
    dense[entries.row, entries.col] = entries.data

    wanted = MATRIX[np.ix_(row_of, row_of)]
    np.testing.assert_array_equal(dense, wanted)


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (lambda f: (f / "no.npz", None), ft.InputError, "there is no .*file .* for `path`"),
        (lambda f: (f / "no.parquet", None), ft.InputError, "there is no .*file .* for `path`"),
        (
            lambda f: (sparse_file(f)[0], None),
            ft.InputError,
            "`points` must be given: 'sparse.npz'",
        ),
        (lambda f: (edges(f), POINTS), ft.InputError, "`points` must be left out for a table"),
        (lambda f: (edges(f, more=1), None), ft.DataError, "must have the column cost and, for"),
    ],
)
def test_files_that_do_not_fit_are_refused(write, error, message, tmp_path):
    with pytest.raises(error, match=message):
        load_precomputed(*write(tmp_path))


def test_broken_archives_are_refused(tmp_path):
    path = tmp_path / "costs.npz"
    path.write_bytes(b"not an archive")
    with raises(ft.DataError, "'costs.npz' could not be read"):
        load_precomputed(path)
    np.savez(path, g=[1, 2])
    with pytest.raises(ft.DataError, match="must hold the array 'matrix', got g"):
        load_precomputed(path)
    np.savez(path, matrix=MATRIX, g=[1, 2])
    with pytest.raises(ft.DataError, match="'g' must have one value for each of the 3 rows"):
        load_precomputed(path)
    np.savez(path, matrix=MATRIX, g=np.array([print, print, print], object))
    with pytest.raises(ft.DataError, match=r"could not be read: .*pickle"):
        load_precomputed(path)


def test_an_edge_is_listed_once(tmp_path):
    table = pd.DataFrame({"g_from": ["a", "a"], "g_to": ["b", "b"], "cost": [1.0, 2.0]})
    table.to_csv(tmp_path / "edges.csv", index=False)

    with pytest.raises(ft.DataError, match="must list an edge once, got 1 again"):
        load_precomputed(tmp_path / "edges.csv")


def test_the_provenance_knows_a_matrix_by_its_digest():
    settings = Precomputed(MATRIX, POINTS).to_json()["settings"]
    other = Precomputed(MATRIX * 2, POINTS).to_json()["settings"]

    assert (settings["profiles"], settings["columns"]) == (3, ["g", "x"])
    assert settings["sha256"] != other["sha256"]
    assert Precomputed(sparse(MATRIX), POINTS).to_json()["settings"]["profiles"] == 3


def test_a_file_of_costs_cannot_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("fairtransport._core.files.MAX_UNPACKED_BYTES", 1000)
    np.savez(tmp_path / "stored.npz", matrix=np.zeros((300, 300)), x=np.arange(300))
    np.savez_compressed(tmp_path / "packed.npz", matrix=np.zeros((300, 300)), x=np.arange(300))

    assert load_precomputed(tmp_path / "stored.npz").matrix.shape == (300, 300)
    with pytest.raises(ft.DataError, match=r"'packed.npz' must not unpack to more than"):
        load_precomputed(tmp_path / "packed.npz")
