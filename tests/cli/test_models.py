"""Models that print, end the program or fail at length while they are read and asked."""

import json
import os
import pickle
import sys
from types import ModuleType

import pytest

ASKED = ["--label", "good", "--sensitive", "race", "--seed", "1", "--allow-pickle"]

SOURCE = """
import os, sys

class Model:
    classes_ = [0, 1]

    def __init__(self, deed="", at="predict"):
        self.deed, self.at = deed, at

    def __setstate__(self, state):
        self.__dict__ = state
        if self.at == "load":
            self.act()

    @property
    def feature_names_in_(self):
        if self.at == "attribute":
            self.act()
        return ["race", "age"]

    def act(self):
        exec(self.deed)

    def predict(self, points):
        if self.at == "predict":
            self.act()
        return [int(race == "a" or age != 20) for race, age in zip(points["race"], points["age"])]
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Write a model that does something, whose class can be imported in any process."""
    (tmp_path / "odd_model.py").write_text(SOURCE)
    module = ModuleType("odd_model")
    exec(SOURCE, module.__dict__)  # noqa: S102
    monkeypatch.setitem(sys.modules, "odd_model", module)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    def write(deed, at="predict"):
        made = tmp_path / "model.pkl"
        made.write_bytes(pickle.dumps(module.Model(deed, at)))
        return made

    return write


def document(done):
    """Return the document without its model, whose hash differs from file to file."""
    read = json.loads(done.out)
    del read["provenance"]["model"]
    return read


WAYS = {
    "print": "print('by print')",
    "stream": "sys.stdout.write('by stream')",
    "first stream": "sys.__stdout__.write('by first stream')",
    "system": "os.write(1, b'by system')",
    "program": "os.system('echo by program')",
}


@pytest.mark.slow
def test_what_a_model_prints_is_no_part_of_the_document(model, shell):
    line = ["audit", "people.csv", *ASKED, "--json", "-", "--model"]
    quiet = shell(*line, model(""))
    assert (quiet.code, quiet.err) == (0, "")
    for at in ("predict", "load"):
        loud = shell(*line, model("; ".join(WAYS.values()), at))

        assert loud.code == 0
        for way in WAYS:
            assert f"by {way}" in loud.err
        assert document(loud) == document(quiet)


def test_what_a_model_prints_is_no_part_of_the_screen(model, run, tmp_path):
    line = ["people.csv", *ASKED, "--model", model("print('hello')"), "--delta", "0.3"]
    for command in (
        ["audit", *line],
        ["monitor", *[word for word in line if word not in {"--seed", "1"}],
         "--state", tmp_path / "s", "--levels.race", "a,b"],
        ["sample-size", *line, "--goal", "certify", "--simulations", "2"],
    ):  # fmt: skip
        done = run(*command)
        assert done.code == 0, done.err
        assert "hello" in done.err
        assert "hello" not in done.out
        assert done.out


@pytest.mark.parametrize("at", ["predict", "load", "attribute"])
@pytest.mark.parametrize(
    "deed", ["sys.exit(0)", "raise SystemExit", "raise GeneratorExit", "raise BaseException('no')"]
)
@pytest.mark.parametrize("command", ["audit", "monitor"])
def test_a_model_cannot_end_the_command_well(command, deed, at, model, run, tmp_path):
    line = [command, "people.csv", *ASKED, "--model", model(deed, at)]
    if command == "monitor":
        line = [word for word in line if word not in {"--seed", "1"}]
        line += ["--state", tmp_path / "s", "--delta", "0.3", "--levels.race", "a,b"]
    done = run(*line)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1


def test_an_interrupt_while_a_model_is_asked_stays_one(model, run):
    assert run("audit", "people.csv", *ASKED, "--model", model("raise KeyboardInterrupt")) == (
        130, "", "",
    )  # fmt: skip


@pytest.mark.parametrize(
    "deed",
    ["raise ValueError('long ' * 10_000)",
     "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})",
     "raise type('O' * 10_000, (Exception,), {})"],
)  # fmt: skip
def test_what_a_model_complains_of_is_one_sentence(deed, model, run):
    done = run("audit", "people.csv", *ASKED, "--model", model(deed))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: the model Model failed on 20 rows: ")
    assert len(done.err) < 300


def test_a_wrong_column_is_refused_before_the_model_is_loaded(model, run, tmp_path):
    marker = tmp_path / "loaded"
    line = ["audit", "people.csv", *ASKED, "--model", model(f"os.mkdir({str(marker)!r})", "load")]
    wrong = run(*["rce" if word == "race" else word for word in line])

    assert (wrong.code, wrong.out) == (2, "")
    assert "`--sensitive` must name columns of the data" in wrong.err
    assert not marker.exists()
    assert run(*line).code == 0
    assert marker.exists()
