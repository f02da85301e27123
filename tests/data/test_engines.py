"""The same audit gives the same result whatever library or file the rows come in."""

from decimal import Decimal
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairtransport as ft

SENSITIVE = ["race", "veteran"]
RNG_SEED = 7
TRUTH_VALUES = (True, False)


def people():
    """Columns of every type, three of them with missing values, as plain lists."""
    rng = np.random.default_rng(RNG_SEED)
    size = 120

    def pick(*values):
        return [values[at] for at in rng.integers(len(values), size=size)]

    return {
        "race": pick("green", "blue", "red"),
        "veteran": pick(*TRUTH_VALUES),
        "region": pick("north", "south", None),
        "kids": pick(0, 1, 2),
        "cars": pick(1, 2, None),
        "income": pick(0.5, 12.25, None),
        "age": pick(19, 25, 44, 45, 70),
        "good": pick(0, 1),
        "guess": pick(0, 1),
        "weight": pick(0, 1, 3),
    }


def pandas_frame(columns):
    return pd.DataFrame(columns).astype({"race": "category"})


def shuffled_pandas(columns):
    frame = pandas_frame(columns)
    return frame.set_axis(np.random.default_rng(1).permutation(len(frame)) + 50)


def arrow_table(columns):
    table = pa.table(columns)
    at = table.column_names.index("race")
    return table.set_column(at, "race", table["race"].dictionary_encode())


def duckdb_relation(columns):
    return duckdb.from_arrow(pa.table(columns))


FRAMES = {
    "pandas": pandas_frame,
    "pandas, shuffled index": shuffled_pandas,
    "pandas, nullable types": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, arrow types": lambda columns: pd.DataFrame(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas, object columns": lambda columns: pd.DataFrame(columns, dtype=object).astype(
        {"age": int, "weight": int}
    ),
    "polars": lambda columns: pl.DataFrame(
        columns, schema_overrides={"race": pl.Enum(["red", "green", "blue"])}
    ),
    "polars, categorical": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("race").cast(pl.Categorical)
    ),
    "polars, lazy": pl.LazyFrame,
    "pyarrow": arrow_table,
    "DuckDB": duckdb_relation,
}
FILES = {
    "rows.csv": lambda columns, path: pd.DataFrame(columns).to_csv(path, index=False),
    "rows.tsv": lambda columns, path: pd.DataFrame(columns).to_csv(path, index=False, sep="\t"),
    "rows.parquet": lambda columns, path: pq.write_table(arrow_table(columns), path),
    "rows.jsonl": lambda columns, path: pl.DataFrame(columns).write_ndjson(path),
    "rows.json": lambda columns, path: pl.DataFrame(columns).write_json(path),
}


def model(points):
    """Unfair, and sensitive to every column that can be missing."""
    veteran = points["veteran"].astype(bool)
    cars = points["cars"].isna()
    return (
        (points["race"].astype(str) == "red") & veteran
        | cars & (points["age"] == "25 to < 45")
        | (points["region"] == "north") & (points["income"] > 1)
    ).astype(int)


black_box = ft.access.Function(model, library="pandas")
AUDITS = {
    "query access": partial(ft.audit, model=black_box),
    "query access, counts": partial(ft.audit, model=black_box, counts="weight"),
    "predictions only": partial(ft.audit, y_pred="guess"),
    "predictions only, counts": partial(ft.audit, y_pred="guess", counts="weight"),
}
AUDITS = {
    name: partial(run, sensitive_features=SENSITIVE, missing="level", bins={"age": [25, 45]})
    for name, run in AUDITS.items()
}


def picture(result):
    """Everything that must not depend on the engine."""
    return {
        "statistic": result.statistic,
        "risks": (result.baseline_risk, result.worst_case_risk),
        "n": result.n,
        "values": {name: column.to_list() for name, column in result.space.columns.items()},
        "counts": result.space.counts.tolist(),
        "losses": result.problem.losses.tolist(),
        "plan": result.plan.toarray().tolist(),
        "queried": result.queried,
        "bins": result.space.bins,
        "scope": (result.target_scope, result.warnings),
    }


@pytest.fixture(scope="module", params=AUDITS)
def run_and_expected(request):
    run = AUDITS[request.param]
    return run, picture(run(pandas_frame(people()), "good"))


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_gives_the_same_audit(library, run_and_expected):
    run, expected = run_and_expected

    assert picture(run(FRAMES[library](people()), "good")) == expected


@pytest.mark.parametrize("name", FILES)
def test_every_file_type_gives_the_same_audit(name, run_and_expected, tmp_path):
    run, expected = run_and_expected
    FILES[name](people(), tmp_path / name)

    assert picture(run(tmp_path / name, "good")) == expected
    assert picture(run(str(tmp_path / name), "good")) == expected


def test_the_expected_audit_is_not_trivial(run_and_expected):
    _, expected = run_and_expected

    assert 0 < expected["statistic"] < 1
    for name in ("region", "cars", "income"):
        assert None in expected["values"][name]


EAGER = ["pandas", "pandas, shuffled index", "polars", "pyarrow"]
ARRAYS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "pandas": pd.Series,
    "pandas, categorical": pd.Categorical,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow, chunked": lambda values: pa.chunked_array([values[:5], values[5:]]),
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("library", EAGER)
def test_arrays_are_aligned_with_the_rows_by_position(library, kind):
    columns = people()
    expected = picture(AUDITS["predictions only"](pandas_frame(columns), "good"))
    truth, guess = (ARRAYS[kind](columns.pop(name)) for name in ("good", "guess"))
    frame = FRAMES[library](columns)
    if isinstance(frame, pd.DataFrame) and kind == "pandas":
        truth, guess = truth.set_axis(frame.index), guess.set_axis(frame.index)
    result = ft.audit(
        frame, truth, y_pred=guess, sensitive_features=SENSITIVE, missing="level",
        bins={"age": [25, 45]},
    )  # fmt: skip
    found = picture(result)
    found["values"] = dict(zip(expected["values"], found["values"].values(), strict=True))

    assert found == expected


PLAIN = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("library", PLAIN)
@pytest.mark.parametrize("given_in", PLAIN)
def test_sensitive_features_may_be_an_aligned_frame_of_any_library(library, given_in):
    columns = people()
    sensitive = {name: columns[name] for name in SENSITIVE}
    rest = {name: columns[name] for name in ("kids", "age", "good", "guess")}
    whole = ft.audit(
        pd.DataFrame(rest | sensitive), "good", y_pred="guess", sensitive_features=SENSITIVE
    )
    apart = ft.audit(
        PLAIN[library](rest), "good", y_pred="guess",
        sensitive_features=PLAIN[given_in](sensitive),
    )  # fmt: skip

    assert picture(apart) == picture(whole)


@pytest.mark.parametrize(
    ("library", "native"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("polars, lazy", pl.DataFrame),
     ("pyarrow", pa.Table), ("DuckDB", pd.DataFrame)],
)  # fmt: skip
def test_a_callable_receives_the_library_of_the_audit_data(library, native):
    seen = []

    def ask(points):
        seen.append(points)
        return np.zeros(len(points), int)

    result = AUDITS["query access"](FRAMES[library](people()), "good", model=ask)

    assert isinstance(seen[0], native)
    assert isinstance(result.space.frame(), native)


def test_a_pandas_model_receives_categories_in_their_declared_order():
    seen = []
    box = ft.access.Function(
        lambda points: seen.append(points) or np.zeros(len(points), int), library="pandas"
    )
    order = ["red", "green", "blue", "never seen"]
    frames = {
        "pandas": pd.DataFrame(people()).assign(
            race=lambda frame: pd.Categorical(frame["race"], categories=order)
        ),
        "pandas, ordered": pd.DataFrame(people()).assign(
            race=lambda frame: pd.Categorical(frame["race"], categories=order, ordered=True)
        ),
        "polars": pl.DataFrame(people(), schema_overrides={"race": pl.Enum(order)}),
    }
    for frame in frames.values():
        AUDITS["query access"](frame, "good", model=box)

    assert len(seen) >= 3
    assert all(points["race"].cat.categories.tolist() == order for points in seen)


def test_a_declared_level_outside_the_categories_reaches_the_model():
    seen = []
    frame = pd.DataFrame({"g": pd.Categorical(["a", "b"]), "good": [0, 1]})
    ft.audit(
        frame, "good", sensitive_features="g", levels={"g": ["a", "b", "c"]},
        model=lambda points: seen.append([*points["g"]]) or np.zeros(len(points), int),
    )  # fmt: skip

    assert seen[0] == ["a", "b", "c"]


ZEROS = pd.DataFrame({
    "sex": ["f", "m"] * 30, "change": np.tile([0.0, -0.0, 1.5, -0.0, 0.0], 12),
    "good": [0, 1, 1] * 20, "guess": [1, 0, 0, 1] * 15,
})  # fmt: skip


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_both_zeros_are_one_number_in_every_engine(kind, tmp_path):
    frame = ZEROS.astype({"change": kind})
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    turned = frame.iloc[::-1].reset_index(drop=True)
    sources = [
        frame,
        turned,
        pl.from_pandas(frame),
        pl.from_pandas(turned),
        pa.Table.from_pandas(frame),
        tmp_path / "a.parquet",
        frame.astype({"change": object}),
    ]
    found = [
        ft.audit(one, "good", y_pred="guess", sensitive_features="sex", rng=0) for one in sources
    ]

    assert len({one.summary.points for one in found}) == 1
    assert len({one.summary.provenance.data_sha256 for one in found}) == 1
    (zero, _) = found[0].space.columns["change"].levels
    assert not np.signbit(zero)


def test_decimals_are_numbers_in_every_engine(tmp_path):
    amounts = [Decimal(at % 23) / 10 for at in range(60)]
    table = pa.Table.from_pandas(ZEROS.drop(columns="change")).append_column(
        "income", pa.array(amounts, pa.decimal128(6, 2))
    )
    pq.write_table(table, tmp_path / "a.parquet")
    found = [
        ft.audit(one, "good", y_pred="guess", sensitive_features="sex", rng=0,
                 budget=0.01, similarity=ft.similarity.MixedTabular(scales={"income": 1.0}))
        for one in (tmp_path / "a.parquet", table, pl.from_arrow(table), table.to_pandas())
    ]  # fmt: skip

    assert {one.space.columns["income"].levels.dtype.kind for one in found} == {"f"}
    assert len({one.summary.provenance.data_sha256 for one in found}) == 1
    assert len({one.statistic for one in found}) == 1
