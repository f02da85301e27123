import numpy as np
import pandas as pd
import pytest

from fairtransport.cli import main
from fairtransport.reproduce.figures import figure1_data


@pytest.fixture(scope="module")
def data():
    return figure1_data(seed=3)


def test_every_series_is_a_density(data):
    mass = (data["density"] * (data["right"] - data["left"])).groupby(
        [data["case"], data["panel"], data["series"]]
    )
    totals = mass.sum()
    assert len(totals) == 8
    assert totals.between(0.9, 1.0).all()


def distance(data, case, panel):
    """The largest difference between the two distribution functions, which ties do not inflate."""
    part = data[(data["case"] == case) & (data["panel"] == panel)]
    wide = part.pivot_table(index="left", columns="series", values="density")
    width = (part["right"] - part["left"]).iloc[0]
    return float(np.abs(np.diff(wide.to_numpy().cumsum(axis=0), axis=1)).max() * width)


def test_the_limit_law_fits_in_both_cases_and_better_than_the_bootstrap(data):
    for case in ("regular", "corner"):
        # 20,000 draws are off by about .01 by chance; the bootstrap's law is that of one
        # sample, whose own distance from the corner moves it
        assert distance(data, case, "asymptotic") < 0.03
        assert distance(data, case, "asymptotic") < distance(data, case, "bootstrap") < 0.3


def test_the_corner_is_visibly_skewed(data):
    part = data[(data["case"] == "corner") & (data["series"] == "sampling law")].iloc[:50]
    middle = (part["left"] + part["right"]) / 2
    weight = part["density"] / part["density"].sum()
    mean = (middle * weight).sum()
    spread = np.sqrt(((middle - mean) ** 2 * weight).sum())
    assert (((middle - mean) / spread) ** 3 * weight).sum() < -1


def test_the_command_writes_all_three_files(tmp_path, capsys, data):
    assert main(["reproduce", "figure1", "--output", str(tmp_path / "new"), "--seed", "3"]) == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["figure1.csv", "figure1.png", "figure1.svg"]
    assert (tmp_path / "new" / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "new" / "figure1.svg").read_text("utf-8")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "new" / "figure1.csv"), data)
    assert capsys.readouterr().out.count("Wrote") == 3
