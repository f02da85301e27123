"""The charts of an audit: drawn from tables alone, valid, and described in words."""

import html
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtransport.errors import InputError
from fairtransport.report.charts import (
    budget_curve_chart,
    confidence_sequence_chart,
    flow_heatmaps,
    flow_rows,
    law_chart,
    methods_chart,
    save_chart,
)
from fairtransport.report.charts.flows import wrap_label
from fairtransport.report.charts.specs import chart_specs
from tests.report.samples import OWN_NAMES, hostile, own_names, sample, with_budget

LOOKS = [
    {"n": 100, "lower": 0.0, "statistic": 0.07, "upper": 0.3},
    {"n": 200, "lower": 0.02, "statistic": 0.06, "upper": 0.1},
    {"n": 400, "lower": 0.04, "statistic": 0.06, "upper": 0.08},
]


def rows(table):
    return [vars(row) for row in table]


def heatmaps(number=0, **changes):
    settings = {"feature": "age_cat", "label": "two_year_recid", **changes}
    return flow_heatmaps(flow_rows(sample().flows[number]), **settings)


def curve(**changes):
    summary = with_budget()
    settings = {"budget": 0.01, "statistic": summary.statistic, "price": 1.7, **changes}
    return budget_curve_chart(rows(summary.budget_curve), **settings)


CHARTS = {
    "flows": heatmaps,
    "law": lambda: law_chart(
        rows(sample().law.bins), estimate=0.06, lower=0.05, upper=None, delta=0.0365
    ),
    "budget": curve,
    "methods": lambda: methods_chart(rows(sample().methods), estimate=0.06, delta=0.0365),
    "unbounded": lambda: methods_chart(rows(with_budget().methods), estimate=0.06),
    "sequence": lambda: confidence_sequence_chart(LOOKS, delta=0.0365),
}


def data(chart):
    """Return all rows that a chart holds."""
    return [row for table in chart["datasets"].values() for row in table]


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_valid_and_describe_themselves(name, tmp_path):
    chart = CHARTS[name]()
    document = chart.to_dict()

    assert len(document["description"]) > 40
    assert document["description"].endswith(".")
    assert document == CHARTS[name]().to_dict()
    assert save_chart(chart, tmp_path / "a.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.slow
def test_a_chart_of_every_sample_is_valid():
    from altair import Chart

    for summary in (sample(), with_budget(), hostile()):
        for spec in chart_specs(summary).values():
            assert Chart.from_dict(spec, validate=True)


def test_heat_maps_show_the_change_in_people():
    document = heatmaps().to_dict()

    assert [part["title"]["text"] for part in document["concat"]] == [
        "two_year_recid = 0",
        "two_year_recid = 1",
    ]
    shown = {(row["label"], row["level"], row["of"]): row["shown"] for row in data(document)}
    assert len(shown) == 24
    assert shown["1", "Greater than 45", "race: African-American, sex: Male"] == "−31"
    assert shown["1", "Greater than 45", "race: Caucasian, sex: Female"] == "+54"
    assert shown["0", "25 - 45", "race: Caucasian, sex: Male"] == "0"
    scale = document["concat"][0]["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [-54, 0, 54]
    largest = "+54 for Greater than 45, race: Caucasian, sex: Female, true label 1"
    assert largest in document["description"]


def luminance(colour):
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_numbers_can_be_read_on_every_colour_of_the_scale():
    layers = heatmaps().to_dict()["concat"][0]["layer"]
    ink = luminance(layers[1]["mark"]["color"])
    for colour in layers[0]["encoding"]["color"]["scale"]["range"]:
        assert (luminance(colour) + 0.05) / (ink + 0.05) > 4.5


def test_flows_without_labels_or_changes():
    still = [
        {
            "label": None,
            "level": "a",
            "group": "g",
            "people": None,
            "out": 0,
            "into": 0,
            "change": 0,
        }
    ]
    document = flow_heatmaps(still, feature="x").to_dict()

    assert document["concat"][0]["title"]["text"] == "Everybody"
    assert "Nothing changes" in document["description"]
    assert data(document)[0]["people"] == "not shown"


def test_tables_may_be_frames():
    listed = flow_heatmaps(flow_rows(sample().flows[0]), feature="f", label="l").to_dict()
    framed = flow_heatmaps(
        pd.DataFrame(flow_rows(sample().flows[0])), feature="f", label="l"
    ).to_dict()
    assert listed == framed


@given(st.text(st.characters(exclude_characters="\n")))
def test_a_wrapped_name_is_still_the_name(name):
    lines = wrap_label(name).split("\n")
    assert "".join(lines) == name
    assert len(lines) <= 3


def test_the_law_says_where_bounds_and_delta_are():
    document = CHARTS["law"]().to_dict()
    words = [row["words"] for row in data(document) if "words" in row]
    assert words == ["estimate 0.0600", "lower bound 0.0500", "δ 0.0365"]


def test_the_price_is_the_slope_that_is_drawn():
    document = curve().to_dict()
    tangent = next(rows for rows in document["datasets"].values() if len(rows) == 2)
    rise = tangent[1]["value"] - tangent[0]["value"]
    assert rise / (tangent[1]["budget"] - tangent[0]["budget"]) == pytest.approx(1.7)
    assert "price 1.7" in document["title"]["subtitle"]


@pytest.mark.parametrize("price", [None, float("inf"), 0.0])
def test_no_slope_is_drawn_without_a_finite_price(price):
    assert len(curve(price=price).to_dict()["layer"]) == len(curve().to_dict()["layer"]) - 1


def test_a_method_without_an_upper_end_reaches_the_edge():
    document = CHARTS["unbounded"]().to_dict()
    edge = document["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    assert {row["to"] for row in data(document) if "to" in row} == {edge}
    assert "at least 0.0291, no upper bound" in document["description"]
    arrows = [layer for layer in document["layer"] if layer["mark"].get("shape")]
    assert [layer["mark"]["shape"] for layer in arrows] == ["triangle-right"]


def test_a_curve_with_many_corners_has_no_circles():
    corners = [{"budget": at / 100, "value": (at / 100) ** 0.5} for at in range(100)]
    document = budget_curve_chart(corners, budget=0.5, statistic=0.7, price=0.7).to_dict()
    assert "circles" not in document["title"]["subtitle"]
    assert [layer["mark"]["type"] for layer in document["layer"]] == ["line", "line", "point"]


def test_a_sequence_without_upper_bounds():
    open_ended = [{**look, "upper": float("inf")} for look in LOOKS]
    document = confidence_sequence_chart(open_ended).to_dict()
    assert "area" not in {layer["mark"]["type"] for layer in document["layer"]}
    assert document["description"].endswith("lower bound 0.0400, no upper bound.")


@pytest.mark.parametrize(
    ("table", "message"),
    [([], "`table` must have rows, got none"), ([{"n": 1}], "got none named 'lower'")],
)
def test_a_table_that_cannot_be_drawn_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        confidence_sequence_chart(table)


def test_levels_and_groups_may_have_any_name():
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(chart_specs(own_names())["flows-1"])
    words = [html.unescape(text) for text in re.findall(r">([^<]*)</text>", drawn)]

    for name in (*OWN_NAMES, "valueOf", "a.b"):
        assert any(word == name or word.endswith(f": {name}") for word in words)
