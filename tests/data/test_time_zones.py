"""Times with a zone reach the model in that zone, whatever library they come in."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairtransport as ft

# DuckDB calls what pandas will do away with
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.drop")

ZONES = ["Europe/Berlin", "UTC", "America/New_York"]
AUTUMN = "2024-10-27"
"""The night in which clocks in Berlin repeat an hour."""


def people(zone, day="2024-06-01"):
    """Eight people at eight hours of a day."""
    times = pd.date_range(day, periods=8, freq="h", tz=zone).as_unit("us")
    return pd.DataFrame({"g": ["a", "b"] * 4, "y": [1, 0] * 4, "t": times})


CONNECTIONS = []
"""Kept open: relations of older versions do not keep theirs."""


def relation(frame):
    connection = duckdb.connect()
    CONNECTIONS.append(connection)
    connection.execute(f"SET TimeZone = '{frame['t'].dt.tz}'")
    return connection.from_arrow(pa.Table.from_pandas(frame))


LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas, arrow types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda frame: frame.astype({"t": "category"}),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
    "DuckDB": relation,
}


def zone_of(points):
    """Return the zone of the column of times in a frame of any library."""
    if isinstance(points, pa.Table):
        return points["t"].type.tz
    if isinstance(points, pl.DataFrame):
        return points["t"].dtype.time_zone
    return str(getattr(points["t"].dtype, "categories", points["t"]).dtype.tz)


def hours(points):
    """Return the hour of each time on the clocks of its zone."""
    times = points["t"]
    return [time.hour for time in (times.to_pylist() if isinstance(points, pa.Table) else times)]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_receives_times_in_their_zone(library, zone):
    received = []

    def model(points):
        received.append(points)
        groups = points["g"].to_pylist() if isinstance(points, pa.Table) else list(points["g"])
        late = [hour >= 20 for hour in hours(points)]
        return [int(group == "a" and is_late) for group, is_late in zip(groups, late, strict=True)]

    frame = LIBRARIES[library](people(zone))
    result = ft.audit(frame, "y", model=model, sensitive_features="g", rng=0)
    assert {zone_of(points) for points in received} == {zone}
    assert set().union(*map(hours, received)) == set(range(8))
    assert result.statistic == 0
    assert zone_of(result.space.frame()) == zone


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_hour_that_clocks_repeat_stays_two_hours(library):
    received = []

    def model(points):
        received.append(points)
        return [0] * len(points)

    frame = LIBRARIES[library](people("Europe/Berlin", AUTUMN))
    result = ft.audit(frame, "y", model=model, sensitive_features="g", rng=0)
    assert len(result.space.columns["t"].levels) == 8
    assert sorted(hours(received[0])) == sorted(2 * [0, 1, 2, 2, 3, 4, 5, 6])


@pytest.mark.parametrize("day", ["2024-06-01", AUTUMN])
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "records"])
def test_a_monitored_model_receives_times_in_their_zone(library, zone, day):
    received = []

    def model(points):
        received.append(points)
        return [0] * len(points)

    frame = people(zone, day)
    batch = pl.from_pandas(frame).to_dicts() if library == "records" else LIBRARIES[library](frame)
    monitor = ft.Monitor(
        y="y", model=model, sensitive_features="g", delta=0.1, levels={"g": ["a", "b"]}
    )
    monitor.update(batch)
    assert {zone_of(points) for points in received} == {zone}
    expected = frame["t"].dt.hour.tolist()
    assert sorted(hour for points in received for hour in hours(points)) == sorted(2 * expected)
