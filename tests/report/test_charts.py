"""Charts are drawn from tables alone and say in words what they show."""

from importlib.metadata import PackageNotFoundError

import pandas as pd
import pytest

from fairtransport.errors import FairtransportError, InputError
from fairtransport.inference import sample_size
from fairtransport.report import power_chart, power_table, save_chart
from fairtransport.report.charts import chart_bytes, check_ending
from tests.messages import raises

SIMULATED = pd.DataFrame({
    "n": [100, 200, 400], "power": [0.3, 0.7, 0.9], "low": [0.2, 0.6, 0.85],
    "high": [0.4, 0.8, 0.95], "goal": "certify",
})  # fmt: skip


def titles(chart):
    """Return the titles of all axes."""
    axes = ("x", "y")
    return {
        layer["encoding"][axis].get("title")
        for layer in chart["layer"]
        for axis in axes
        if "field" in layer["encoding"].get(axis, {})
    }


def test_a_plan_becomes_a_table_and_a_chart_that_describes_itself():
    plan = sample_size(value=0.06, delta=0.0365)
    table = power_table(plan)

    chart = power_chart(table, target_power=plan.power, sample_size=plan.n).to_dict()

    assert list(table.columns) == ["n", "power", "low", "high", "goal"]
    assert titles(chart) == {"Number of people, n", "Probability to reject"}
    assert "wanted probability, 80%" in chart["description"]
    assert "enough for it, 555" in chart["description"]
    assert chart["layer"][0]["encoding"]["color"]["scale"]["range"] == ["#0072B2"]


def test_a_simulated_power_shows_its_points_and_two_goals_a_legend():
    one = power_chart(SIMULATED, target_power=0.8, sample_size=300).to_dict()
    both = pd.concat([SIMULATED, power_table(sample_size(value=0.06, delta=0.0365))])
    two = power_chart(both, target_power=0.8, sample_size=555).to_dict()

    assert one["layer"][-1]["mark"]["type"] == "point"
    assert one["layer"][0]["encoding"]["color"]["legend"] is None
    assert two["layer"][0]["encoding"]["color"]["legend"] is not None
    assert two["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["reject", "certify"]


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<svg")])
def test_a_chart_is_written_whole(tmp_path, name, start):
    chart = power_chart(SIMULATED, target_power=0.8, sample_size=300)

    path = save_chart(chart, tmp_path / name)

    assert path.read_bytes().startswith(start)
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_a_chart_that_cannot_be_written_is_an_error(tmp_path):
    chart = power_chart(SIMULATED, target_power=0.8, sample_size=300)

    with raises(InputError, "`plot` must end in .png or .svg, got 'a.pdf'"):
        save_chart(chart, tmp_path / "a.pdf")
    with pytest.raises(FairtransportError, match="could not be written"):
        save_chart(chart, tmp_path / "nowhere" / "a.png")


def test_a_picture_without_the_extra_names_it(tmp_path, monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    chart = power_chart(SIMULATED, target_power=0.8, sample_size=300)
    said = r"^PNG and SVG files of charts need .* pip install 'fairtransport\[images\]'$"

    # a command asks this before an audit that may take minutes
    with pytest.raises(FairtransportError, match=said):
        check_ending(tmp_path / "a.png")
    with pytest.raises(FairtransportError, match=said):
        chart_bytes(chart, ".svg")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (SIMULATED.drop(columns="low"), "must have the columns .*, got none named 'low'"),
        (SIMULATED.assign(goal="win"), "goal reject or certify, got 'win'"),
        (SIMULATED.iloc[:0], "got no row"),
    ],
)
def test_a_table_that_is_no_power_curve_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        power_chart(table, target_power=0.8, sample_size=300)
