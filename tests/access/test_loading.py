"""The recipe for a model protocol: a class in a file of its own, and one entry in `PLACES`."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.access import BlackBox, load, loading
from fairtransport.cli import main

PEOPLE = pd.DataFrame({"g": ["a", "b"] * 4, "x": [1, 1, 2, 2] * 2, "good": [1, 0] * 4})


@dataclass(frozen=True)
class Toy(BlackBox):
    """A model behind an address: it says yes to one group."""

    address: str
    library: str | None = "pandas"
    features: tuple[str, ...] | None = ("g", "x")
    classes: tuple[int, ...] | None = (0, 1)

    @property
    def name(self):
        return "toy"

    def answer(self, points, kind):
        said = (points["g"] == self.address.removeprefix("toy:")).to_numpy()
        return np.column_stack([~said, said]) if kind == "score" else said.astype(int)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(loading.PLACES, "toy:", lambda place, _: Toy(place))
    monkeypatch.setitem(loading.PLACES, ".toy", lambda place, _: Toy(f"toy:{place[0]}"))


@pytest.mark.parametrize("place", ["toy:a", "a.toy", "a.TOY"])
def test_a_registered_place_is_opened(place):
    box = load(place)

    assert isinstance(box, BlackBox)
    assert box.address == "toy:a"


@pytest.mark.parametrize("loss", ["zero-one", "brier"])
def test_audits_and_monitors_ask_it(loss):
    options = {"model": load("toy:a"), "sensitive_features": "g", "loss": loss}
    result = ft.audit(PEOPLE, "good", rng=0, **options)
    state = ft.Monitor(y="good", levels={"g": ["a", "b"]}, delta=0.1, **options).update(PEOPLE)

    assert result.statistic == state.statistic == 1
    assert result.queried == 4
    assert result.summary.provenance.model == "toy"


def test_the_command_line_asks_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("cases.csv", index=False)
    code = main(["audit", "cases.csv", "--label", "good", "--sensitive", "g", "--model", "toy:a",
                 "--verbose"])  # fmt: skip

    assert code == 0
    out = capsys.readouterr().out
    assert "8 of 8 people (100 %; with 95 % confidence 63.0–100.0 %) would get another" in out
    assert "Errors would go from 0 % to 100 %" in out


def test_the_kinds_of_places_are_named_to_who_typed_another():
    with pytest.raises(ft.InputError, match=r"one of .skops, .*toy:, .toy, got 'model.txt'"):
        load("model.txt")
