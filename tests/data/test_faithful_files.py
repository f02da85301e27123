"""What a file says reaches the audit as it is there, or is refused."""

from base64 import b64encode
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.data.arrow_schema import find_durations
from fairtransport.data.database import Database
from fairtransport.errors import DataError

GROUP = ["a", "b"] * 4


def write_zoned(path):
    times = pd.date_range("2024-01-01", periods=8, freq="h", tz="America/New_York")
    pd.DataFrame({"g": GROUP, "t": times}).to_parquet(path)


def write_durations(kind):
    values = pa.array(range(8), pa.duration(kind))
    return lambda path: pq.write_table(pa.table({"g": GROUP, "x": range(8), "t": values}), path)


def write_far_times(path):
    times = pa.array([np.datetime64("12000-01-01", "us"), np.datetime64("2024-01-01", "us")] * 4)
    pq.write_table(pa.table({"g": GROUP, "t": times}), path)


def write_twice(path, names=("age", "age", "g")):
    pq.write_table(pa.table([pa.array([1, 2] * 4)] * 2 + [pa.array(GROUP)], names=names), path)


def write_decimals(path):
    values = pa.array([Decimal(10**20), Decimal(10**20 + 1)] * 4)
    pq.write_table(pa.table({"g": GROUP, "x": values}), path)


def write_text(text):
    return lambda path: path.write_text(text)


BIG_ROWS = "".join(f"{group},{10**20 + at % 2}\n" for at, group in enumerate(GROUP))
BIG_LINES = "".join(f'{{"g": "{group}", "x": {10**20 + at % 2}}}\n'
                    for at, group in enumerate(GROUP))  # fmt: skip


@pytest.mark.parametrize(
    ("name", "write", "sentence"),
    [
        ("a.parquet", write_zoned, "'t' holds times with a time zone"),
        ("a.parquet", write_durations("s"), "'t' holds durations"),
        ("a.parquet", write_durations("ns"), "'t' holds durations"),
        ("a.parquet", write_far_times, "'t' holds times before the year 1 or after 9999"),
        ("a.parquet", write_twice, "must have distinct column names"),
        ("a.parquet", lambda path: write_twice(path, ("age", "Age", "g")), "distinct column names"),
        ("a.parquet", write_decimals, "'x' has numbers with too many digits to be told apart"),
        ("a.csv", write_text('g,x\n"a,1\n' + "b,2\na,1\n" * 4), "a quote that is not closed"),
        ("a.csv", write_text('g,"x\na,1\nb,2\n'), "the header has a quote that is not closed"),
        ("a.csv", write_text('g,"x\n' + "a,1\nb,2\n" * 99), "header has a quote that is not"),
        ("a.csv", write_text("g,x,g\n" + "a,1,a\nb,2,b\n" * 99), "column 1 is 'g' and column 3 is"),
        ("a.csv", write_text('g;x;" X"\na;1;2\nb;2;1\n'), "column 2 is 'x' and column 3 is ' X'"),
    ],
)
def test_what_would_be_read_as_something_else_is_refused(tmp_path, name, write, sentence):
    write(tmp_path / name)
    with pytest.raises(DataError, match=sentence):
        build_space(tmp_path / name, sensitive_features="g")


def test_columns_that_nobody_needs_may_have_time_zones(tmp_path):
    write_zoned(tmp_path / "a.parquet")
    space = build_space(tmp_path / "a.parquet", sensitive_features="g", features=["g"])
    assert space.n == 8


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_reach_the_model_as_from_a_frame(tmp_path, unit):
    times = pd.Series(pd.date_range("2024-01-01", periods=8, freq="5h", unit=unit))
    frame = pd.DataFrame({"g": GROUP, "t": times, "y": [1, 0] * 4})
    frame.loc[3, "t"] = None
    frame.to_parquet(tmp_path / "a.parquet")

    def model(points):
        return [
            int(isinstance(time, pd.Timestamp) and time.hour > 11 and group == "a")
            for time, group in zip(points["t"], points["g"], strict=True)
        ]

    of_frame, of_file = (
        ft.audit(data, "y", model=model, sensitive_features="g", missing="level", rng=0)
        for data in (frame, tmp_path / "a.parquet")
    )
    assert 0 < of_file.statistic == of_frame.statistic
    points = of_file.space.frame()["t"]
    assert points.equals(of_frame.space.frame()["t"].astype(points.dtype))


def test_durations_that_nobody_needs_and_schemas_that_are_none(tmp_path):
    write_durations("us")(tmp_path / "a.parquet")
    assert build_space(tmp_path / "a.parquet", sensitive_features="g", features=["g", "x"]).n == 8
    schema = pa.schema([("a", pa.duration("s")), ("b", pa.int64()), ("c", pa.list_(pa.int8()))])
    encoded = b64encode(schema.serialize().to_pybytes())
    assert find_durations(encoded) == {"a"}
    for end in range(len(encoded)):
        assert find_durations(encoded[:end]) <= {"a"}
    assert find_durations(b"no base 64") == find_durations(b64encode(b"\xff" * 99)) == set()


def test_large_floats_and_quotes_inside_of_values_are_fine(tmp_path):
    frame = pd.DataFrame({"g": GROUP, "x": [1e20, 2e20] * 4})
    frame.to_parquet(tmp_path / "a.parquet")
    assert build_space(tmp_path / "a.parquet", sensitive_features="g").n == 8
    (tmp_path / "a.csv").write_text('g,x\n"say ""a""",1\nb,2\n' * 1 + '"""a""",1\nb,5"\n')
    space = build_space(tmp_path / "a.csv", sensitive_features="g")
    assert '"a"' in space.columns["g"].levels.tolist()


def test_the_database_reads_the_files_that_were_named_and_installs_nothing(tmp_path):
    import duckdb

    for name in ("a.csv", "b.csv", "odd[1]*.csv"):
        (tmp_path / name).write_text("g,x\na,1\nb,2\n")
    database = Database([tmp_path / "a.csv", tmp_path / "odd[1]*.csv"])
    assert database.size(f"'{tmp_path / 'a.csv'}'") == 2
    with pytest.raises(duckdb.PermissionException):
        database.size(f"'{tmp_path / 'b.csv'}'")
    settings = "autoinstall_known_extensions", "enable_external_access"
    for setting in settings:
        assert database.run(f"SELECT current_setting('{setting}')").fetchall() == [(False,)]
    assert np.array_equal(build_space(tmp_path / "odd[1]*.csv", sensitive_features="g").counts,
                          [1, 1])  # fmt: skip
