"""Odd types, values and models are refused in a sentence, never with a traceback."""

import os
import subprocess
import sys
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairtransport as ft
from fairtransport.errors import DataError, FairtransportError, InputError, ModelError

GROUP, LABEL = ["a", "b"] * 8, [0, 1] * 8
PEOPLE = pd.DataFrame({"g": GROUP, "x": [1, 2] * 8, "y": LABEL})


def ones(points):
    return np.ones(len(points), int)


def audited(people=PEOPLE, model=ones, **more):
    return ft.audit(people, "y", model=model, sensitive_features="g", rng=0, **more)


UUIDS = pa.ExtensionArray.from_storage(
    pa.uuid(), pa.array([b"0" * 16, b"1" * 16] * 8, pa.binary(16))
)
ARROW = {
    "string view": pa.array(GROUP).cast(pa.string_view()),
    "binary view": pa.array([b"1", b"2"] * 8).cast(pa.binary_view()),
    "run-end": pa.RunEndEncodedArray.from_arrays([8, 16], [1, 2]),
    "map": pa.array([[("k", 1)], [("k", 2)]] * 8, pa.map_(pa.string(), pa.int64())),
    "uuid": UUIDS,
}


@pytest.mark.parametrize("kind", ARROW)
def test_types_that_arrow_cannot_group_by(kind):
    with pytest.raises(DataError, match="must have types that pyarrow can group by"):
        audited(pa.table({"g": GROUP, "x": ARROW[kind], "y": LABEL}))


@pytest.mark.odd
def test_numbers_that_are_none():
    with pytest.raises(DataError, match="types that pandas can group by"):
        audited(PEOPLE.assign(x=[Decimal("sNaN"), Decimal(1)] * 8))
    wide = pl.Series([1, 2**100] * 8, dtype=pl.Int128)
    with pytest.raises(DataError, match="types that polars can group by"):
        audited(pl.DataFrame({"g": GROUP, "x": wide, "y": LABEL}))


@pytest.mark.odd
def test_names_of_columns(tmp_path):
    names = pd.Index(["g", "x\ud800", "y"], dtype=object)
    with pytest.raises(InputError, match="valid Unicode text as column names"):
        audited(PEOPLE.set_axis(names, axis=1))
    (tmp_path / "a.csv").write_bytes(b"g,x\x00,y\n" + b"a,1,0\nb,2,1\n" * 8)
    with pytest.raises(DataError, match="must have no null bytes"):
        audited(tmp_path / "a.csv")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_sensitive_column_may_have_an_empty_name(library):
    people = library({"": GROUP, "x": [1, 2] * 8, "y": LABEL})
    assert ft.audit(people, "y", model=ones, sensitive_features="", rng=0).n == 16


class Plain:
    def predict(self, points):
        return ones(points)


def failing(name, error=RuntimeError):
    """Return a model of which reading an attribute fails."""

    def fail(_):
        msg = "boom"
        raise error(msg)

    return type("Failing", (Plain,), {name: property(fail)})()


@pytest.mark.parametrize("error", [RuntimeError, GeneratorExit, StopIteration, SystemExit])
@pytest.mark.parametrize("name", ["feature_names_in_", "predict", "classes_", "steps"])
def test_models_whose_attributes_fail(name, error):
    sentence = f"failed when its attributes were read: {error.__name__}"
    with pytest.raises(ModelError, match=sentence):
        audited(model=failing(name, error))
    with pytest.raises(KeyboardInterrupt):
        audited(model=failing(name, KeyboardInterrupt))


@pytest.mark.parametrize("error", [RuntimeError, GeneratorExit, StopIteration, SystemExit])
def test_models_that_fail(error):
    def model(_):
        raise error

    with pytest.raises(ModelError, match=f"failed on 4 rows: {error.__name__}"):
        audited(model=model)


def run_with_source_date(value, *line):
    """Run Python in a process of its own: parts of NumPy read the variable when they are loaded."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": value}
    command = [sys.executable, "-B", *line]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


AUDIT = """
import pandas as pd
people = pd.DataFrame({"g": ["a", "b"] * 4, "y": [0, 1] * 4, "guess": [1, 1, 0, 0] * 2})
try:
    import fairtransport as ft
    print(ft.audit(people, "y", y_pred="guess", sensitive_features="g", rng=0).n)
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("value", ["x", "1e5", "", "9" * 18, "-" + "9" * 30])
def test_a_source_date_that_is_none(value, tmp_path):
    sentence = (
        "the variable SOURCE_DATE_EPOCH must be the whole number of seconds from 1970 to a date, "
        f"got {value!r}"
    )
    printed = run_with_source_date(value, "-c", AUDIT).stdout
    assert printed.strip() == f"InputError {sentence}"
    (tmp_path / "a.csv").write_text("g,y,guess\n" + "a,1,0\nb,0,0\n" * 4)
    result = run_with_source_date(
        value, "-m", "fairtransport", "audit", tmp_path / "a.csv", "--label", "y",
        "--prediction", "guess", "--sensitive", "g",
    )  # fmt: skip
    assert result.returncode == 2
    assert sentence in " ".join(result.stderr.split())


def test_a_source_date():
    assert run_with_source_date("1700000000", "-c", AUDIT).stdout == "8\n"


def test_a_source_date_that_is_set_later(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "x")
    with pytest.raises(InputError, match=r"SOURCE_DATE_EPOCH must be the .* date, got 'x'"):
        audited()


@pytest.mark.parametrize("library", ["pandas", "polars", "csv"])
def test_many_bins(tmp_path, library):
    people = PEOPLE.assign(x=np.arange(16.0))
    data = {"pandas": people, "polars": pl.from_pandas(people), "csv": tmp_path / "a.csv"}[library]
    people.to_csv(tmp_path / "a.csv", index=False)
    edges = np.linspace(-100, 100, 1000).tolist()
    points = audited(data, bins={"x": edges}, features=["x"]).space.columns["x"]
    assert len(np.unique(points.codes)) == 16
    start = time.process_time()
    with pytest.raises(FairtransportError, match=r"at most 1,000 edges, got 1,000,000"):
        audited(data, bins={"x": np.linspace(0, 1, 10**6)})
    assert time.process_time() - start < 5
