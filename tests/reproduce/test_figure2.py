"""Figure 2: the table it draws, and the files it writes."""

import pandas as pd
import pytest

from fairtransport.reproduce.compas import audit_of_split
from fairtransport.reproduce.figures import SHOWN, figure2_chart, figure2_data, write_figure


def test_each_feature_tells_of_the_same_moves():
    data = figure2_data(0)
    moved = audit_of_split(0).moved.total

    assert set(data["feature"]) == set(SHOWN)
    for _, part in data.groupby("feature"):
        assert part["people"].sum() == 1584
        assert part["out"].sum() == part["into"].sum() == moved == 84
    keys = ["label", "race", "sex"]
    by_feature = [part.groupby(keys)["change"].sum() for _, part in data.groupby("feature")]
    assert all(one.equals(by_feature[0]) for one in by_feature)


def test_the_chart_shows_both_labels_of_each_feature():
    drawn = figure2_chart(figure2_data(0)).to_dict()
    titles = [one["title"]["text"] for row in drawn["vconcat"] for one in row["hconcat"]]

    assert len(drawn["vconcat"]) == len(SHOWN)
    assert titles[:2] == ["true label = reoffended", "true label = did not reoffend"]
    assert "description" in drawn


@pytest.mark.slow
def test_the_figure_is_written_with_its_data(tmp_path):
    png, svg, csv = write_figure(tmp_path, 2, seed=1)

    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text("utf-8")
    assert len(pd.read_csv(csv)) == len(figure2_data(1))
