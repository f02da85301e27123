"""A folder of cases and models, and two ways to run the command line in it."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(sys.executable).with_name("fairtransport")

CASES = pd.DataFrame({
    "race": ["a", "b", "a", "b", "a", "b"],
    "age": [20, 20, 30, 30, 60, 60],
    "good": [1, 1, 0, 0, 1, 1],
    "word": ["yes", "yes", "no", "no", "yes", "yes"],
    "guess": [1, 0, 0, 0, 1, 1],
    "score": [0.9, 0.2, 0.3, 0.3, 0.8, 0.7],
    "gap": [1.0, None, 1.0, 1.0, 1.0, 1.0],
})  # fmt: skip


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def words(self):
        """What was printed, without line breaks and frames."""
        return " ".join(self.out.replace("│", " ").split())


def fitted(frame, columns):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    model = make_pipeline(OrdinalEncoder(), DecisionTreeClassifier(random_state=0))
    return model.fit(frame[columns], frame["guess"])


def biased_people(rng):
    """400 people; in group b the model errs on some whom it gets right in group a."""
    frame = pd.DataFrame({"race": rng.choice(["a", "b"], 400), "age": rng.integers(20, 30, 400)})
    frame["good"] = 1
    frame["guess"] = ((frame["race"] == "a") | (frame["age"] != 20)).astype(int)
    return frame


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Files that a command can read, good ones and bad ones; nobody writes here."""
    import pickle

    import skops.io as skops

    made = tmp_path_factory.mktemp("cli")
    CASES.to_csv(made / "cases.csv", index=False)
    people = biased_people(np.random.default_rng(0))
    people.to_csv(made / "people.csv", index=False)
    model = fitted(people, ["race", "age"])
    skops.dump(model, made / "model.skops")
    (made / "model.pkl").write_bytes(pickle.dumps(model))
    (made / "dict.pkl").write_bytes(pickle.dumps({}))
    other = people.rename(columns={"age": "years"})
    skops.dump(fitted(other, ["race", "years"]), made / "other.skops")
    model.surprise_ = __import__("random").Random(1)
    skops.dump(model, made / "own.skops")
    texts = {
        "damaged.skops": "PK no", "empty.csv": "", "broken.parquet": "PAR1 no", "cases.txt": "a",
        "cases.xlsx": "",
        "broken.toml": "[audit\n", "table.toml": "[adit]\n", "key.toml": "[audit]\nsensitve = 1\n",
        "nested.toml": "[audit.bin]\nage = [1]\n", "value.toml": '[audit]\nbudget = "lots"\n',
        "list.toml": '[audit]\ncounts = ["a", "b"]\n', "choice.toml": '[audit]\nloss = "pain"\n',
        "debug.toml": "[audit]\ndebug = true\n", "top.toml": "audit = 3\n", "other.json": "{}",
    }  # fmt: skip
    for name, text in texts.items():
        (made / name).write_text(text)
    return made


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run a line in the folder through the installed entry point, in this process.

    What a process of its own cannot change is tried so: it starts a hundred times as fast.
    """
    (script,) = entry_points(group="console_scripts", name="fairtransport")

    def once(*arguments, cwd=folder):
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("COLUMNS", "100")
        code = script.load()([str(argument) for argument in arguments])
        return Done(code, *capsys.readouterr())

    return once


@pytest.fixture
def shell(folder):
    """Run a line in the folder as a user does: the installed script, a process of its own."""

    def once(*arguments, **more):
        environment = os.environ | {"COLUMNS": "100"} | more.pop("env", {})
        done = subprocess.run(
            [SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False,
            cwd=more.pop("cwd", folder), env=environment, encoding="utf-8", **more,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    return once
