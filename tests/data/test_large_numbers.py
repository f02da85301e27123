"""Different numbers stay different people, or the column is refused."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.columns import (
    check_usable,
    encode,
    merge_columns,
    object_array,
    plain_values,
)
from fairtransport.errors import DataError
from fairtransport.monitor.growing_file import GrowingFile

GROUP = ["a", "b"] * 4
LARGE = 10**20
CLOSE = [Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002")]
ROUNDED = "the column 'x' holds whole numbers that would be rounded, as"
MERGED = "the column 'x' has numbers with too many digits to be told apart"


def csv_text(numbers):
    return "g,x\n" + "".join(f"{group},{x}\n" for group, x in zip(GROUP, numbers, strict=False))


def json_lines(numbers):
    lines = (f'{{"g": "{group}", "x": {x}}}\n' for group, x in zip(GROUP, numbers, strict=False))
    return "".join(lines)


def json_list(numbers):
    return f"[{','.join(json_lines(numbers).splitlines())}]"


TEXTS = {"a.csv": csv_text, "a.jsonl": json_lines, "a.json": json_list}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(
    "numbers",
    [
        [1, 2, LARGE, LARGE + 1, LARGE],
        [LARGE, LARGE + 1] * 4,
        [0.5, 2**53, 2**53 + 1],
        [-0.5, -(2**53), -(2**53) - 1],
        [1, LARGE + 1],
    ],
    ids=["beside small", "alone", "beside fractions", "negative", "one"],
)
def test_whole_numbers_of_a_text_that_would_be_rounded_are_refused(tmp_path, name, numbers):
    (tmp_path / name).write_text(TEXTS[name](numbers))
    with pytest.raises(DataError, match=ROUNDED):
        build_space(tmp_path / name, sensitive_features="g")


def test_repeated_lines_are_read_again_too(tmp_path):
    (tmp_path / "a.csv").write_text(csv_text([1, 2]) + f"a,{LARGE}\nb,{LARGE + 1}\n" * 500)
    with pytest.raises(DataError, match=ROUNDED):
        build_space(tmp_path / "a.csv", sensitive_features="g")
    assert build_space(tmp_path / "a.csv", sensitive_features="g", features=["g"]).n == 1002


@pytest.mark.parametrize("name", TEXTS)
def test_large_floats_of_a_text_stay(tmp_path, name):
    numbers = ["0.5", "1e20", "1.5E+300", "100000000000000000000.0", LARGE, 2**53, 2**60, "3.0"]
    (tmp_path / name).write_text(TEXTS[name](numbers))
    space = build_space(tmp_path / name, sensitive_features="g")
    assert space.columns["x"].levels.tolist() == [0.5, 3.0, 2.0**53, 2.0**60, 1e20, 1.5e300]


def test_whole_numbers_of_64_bits_stay(tmp_path):
    numbers = [1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    (tmp_path / "a.csv").write_text(csv_text(numbers))
    space = build_space(tmp_path / "a.csv", sensitive_features="g")
    assert space.columns["x"].levels.tolist() == sorted(numbers)


def test_folders_tell_whole_numbers_too(tmp_path):
    for x in ("0.5", LARGE, LARGE + 1):
        folder = tmp_path / f"x={x}"
        folder.mkdir()
        pq.write_table(pa.table({"g": ["a", "b"]}), folder / "a.parquet")
    with pytest.raises(DataError, match=ROUNDED):
        build_space(tmp_path, sensitive_features="g")


WHOLE = [Decimal(1), Decimal(LARGE), Decimal(LARGE + 1)]


def frames(values):
    """The same Decimals in frames of all libraries that have such a type."""
    group = GROUP[: len(values)]
    table = pa.table({"g": group, "x": pa.array(values)})
    return {
        "pandas": pd.DataFrame({"g": group, "x": values}),
        "pandas, arrow types": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow(table),
        "polars, lazy": pl.from_arrow(table).lazy(),
        "pyarrow": table,
        "DuckDB": duckdb.from_arrow(table),
    }


@pytest.mark.parametrize("values", [WHOLE, CLOSE], ids=["whole", "close"])
@pytest.mark.parametrize("library", frames(CLOSE))
def test_decimals_that_are_one_float_are_refused(library, values):
    with pytest.raises(DataError, match=MERGED):
        build_space(frames(values)[library], sensitive_features="g")


@pytest.mark.parametrize("values", [WHOLE, CLOSE], ids=["whole", "close"])
def test_decimals_of_a_file_that_are_one_float_are_refused(tmp_path, values):
    pq.write_table(frames(values)["pyarrow"], tmp_path / "a.parquet")
    with pytest.raises(DataError, match=MERGED):
        build_space(tmp_path / "a.parquet", sensitive_features="g")


@pytest.mark.parametrize("library", frames(CLOSE))
def test_decimals_that_are_different_floats_stay(library):
    values = [Decimal("0.1"), Decimal(LARGE), Decimal(2 * LARGE), None]
    space = build_space(frames(values)[library], sensitive_features="g", missing="level")
    assert space.columns["x"].levels.tolist() == [0.1, 1e20, 2e20]


def test_a_wide_type_of_duckdb_alone():
    numbers = duckdb.sql(f"VALUES ('a', {LARGE}::HUGEINT), ('b', {LARGE + 1}::HUGEINT)")
    with pytest.raises(DataError, match=MERGED):
        build_space(numbers.project("col0 AS g, col1 AS x"), sensitive_features="g")


def test_whole_numbers_beside_missing_ones_or_fractions():
    missing = pd.DataFrame({"g": GROUP[:3], "x": pd.array([None, 2**53, 2**53 + 1], "Int64")})
    with pytest.raises(DataError, match=f"{MERGED}, as {2**53} and {2**53 + 1}"):
        build_space(missing, sensitive_features="g", missing="level")
    whole = build_space(missing.iloc[1:], sensitive_features="g")
    assert whole.columns["x"].levels.tolist() == [2**53, 2**53 + 1]
    mixed = encode(object_array([0.5, 2**53, 2**53 + 1]), np.zeros(3, bool))
    assert mixed.to_list() == [0.5, 2**53, 2**53 + 1]
    with pytest.raises(DataError, match=MERGED):
        check_usable("x", mixed)


def test_a_reference_of_floats_does_not_round_the_sample():
    none = np.zeros(2, bool)
    whole = encode(np.array([2**53, 2**53 + 1]), none)
    merged = merge_columns(whole, encode(np.array([0.5, 1.0]), none))
    assert merged.to_list() == [2**53, 2**53 + 1, 0.5, 1.0]
    frame = pd.DataFrame({"g": ["a", "b"], "x": [2**53, 2**53 + 1]})
    reference = pd.DataFrame({"g": ["a", "b"], "x": [0.5, 1.0]})
    with pytest.raises(DataError, match=MERGED):
        build_space(frame, sensitive_features="g", targets=reference)


@pytest.mark.parametrize("numbers", [[1, LARGE, LARGE + 1], ["0.5", 2**53 + 1]])
def test_a_monitor_refuses_whole_numbers_that_would_be_rounded(tmp_path, numbers):
    (tmp_path / "a.csv").write_text(csv_text(numbers))
    with pytest.raises(DataError, match=ROUNDED):
        list(GrowingFile(tmp_path / "a.csv").pieces())


def test_a_monitor_refuses_decimals_with_more_digits_than_floats():
    assert plain_values("x", [Decimal("0.1"), Decimal("1E+20")]) == [Decimal("0.1"), LARGE]
    for value in (*CLOSE, Decimal(LARGE + 1)):
        with pytest.raises(DataError, match="must hold numbers of at most 15 digits, got Decimal"):
            plain_values("x", [value])
    monitor = ft.Monitor(y="y", y_pred="guess", sensitive_features="g", delta=0.1)
    with pytest.raises(DataError, match="'x' must hold numbers of at most 15 digits"):
        monitor.update({"g": "a", "y": 1, "guess": 1, "x": CLOSE[0]})
