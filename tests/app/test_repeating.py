"""The line and the code that the app hands over do the same audit again."""

import json
import shlex
import subprocess
import sys
from dataclasses import replace

import joblib
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairtransport.app.form import Table, fill
from fairtransport.cli import main
from tests.app.conftest import LOANS

pytestmark = pytest.mark.slow

FORMS = {
    "predictions": {},
    "everything": {
        "title": 'A "title", with commas', "auditor": "-dash", "date": "2026-03-31", "alpha": "0.1",
        "privileged.0": "m", "bins.1": "3, 5", "method": "m-out-of-n",
        "n_resamples": "300", "judge": "attributable", "missing": "level",
    },
    "stated distance": {"similarity": "mixed-tabular", "scale.1": "2", "budget": "0.1"},
    "nothing stated": {"similarity": "mixed-tabular", "budget": "0.1"},
    "scores": {
        "role.3": "score", "good.3": "1", "limit": "0.03", "loss": "brier", "pos_label": "1",
    },
    "squared": {"loss": "squared", "limit": "0.03", "loss_range": "0, 1"},
    "no label": {"role.2": "unused"},
    "neither better": {"role.2": "unused", "good.3": ""},
    "two columns": {"compares": "on", "second_column": "4", "second_name": "new", "title": "x"},
}  # fmt: skip
MODELS = {
    "model": {"answers": "model", "model_path": "model.joblib", "allow_pickle": "on"},
    "model without outcomes": {
        "answers": "model", "model_path": "model.joblib", "allow_pickle": "on", "role.2": "unused",
    },
    "sets": {
        "answers": "model", "model_path": "model.joblib", "allow_pickle": "on",
        "together": "sex, income",
    },
    "learned": {
        "answers": "model", "model_path": "model.joblib", "allow_pickle": "on",
        "similarity": "sensitive-subspace", "budget": "0.5",
    },
    "two models": {
        "answers": "model", "model_path": "model.joblib", "allow_pickle": "on", "compares": "on",
        "second_model_path": "second.joblib", "first_name": "old", "tolerance": "0.01", "limit": "",
    },
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch, loans):
    """A working directory with the loans and two models."""
    monkeypatch.chdir(tmp_path)
    people = pd.read_csv(loans)
    people.to_csv("loans.csv", index=False)
    features = people[["income"]].assign(sex=(people["sex"] == "m").astype(int))
    people["sex"] = features["sex"]
    people.to_csv("coded.csv", index=False)
    for name, column in (("model", "granted"), ("second", "later")):
        model = LogisticRegression().fit(features[["sex", "income"]], people[column])
        joblib.dump(model, f"{name}.joblib")
    return tmp_path


def request_of(form, file):
    table = Table(file, file.name)
    filled = fill(table, LOANS | form, {})
    assert filled.errors == {}
    return filled.request


@pytest.mark.parametrize("name", [*FORMS, *MODELS])
def test_line_and_code_say_what_the_app_says(folder, name, capsys):
    file = folder / ("loans.csv" if name in FORMS else "coded.csv")
    request = request_of((FORMS | MODELS)[name], file)
    models = request.read_models()
    request = request.resolve(models)
    result = request.run(models)
    document = result.summary if request.compares else result.document(**request.document)
    wanted = json.loads(document.to_json())

    line = shlex.split(request.as_command().replace("\\\n", " "))
    code = main([*line[1:], "--fail-on", "never"])
    by_line = json.loads((folder / "audit.json").read_text("utf-8"))
    (folder / "audit.json").unlink()
    program = request.as_python()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert line[0] == "fairtransport"
    assert code == 0, capsys.readouterr().err
    assert by_line == wanted
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "audit.json").read_text("utf-8")) == wanted


@pytest.mark.parametrize(
    ("favourable", "words"),
    [
        ("yes", "--favourable yes"), ("yes, later", None), (1, "--favourable 1"),
        (["no", "yes"], "--favourable no,yes"),
    ],
)  # fmt: skip
def test_a_line_cuts_labels_at_commas(loans, favourable, words):
    request = request_of({}, loans)
    settings = vars(request)["values"] | {"favourable": favourable}
    line = replace(request, values=settings).as_command()

    assert line is None if words is None else words in line


@pytest.mark.parametrize("column", ["a,b", "a.b"])
def test_what_a_line_cannot_say_the_code_can(tmp_path, monkeypatch, loans, column):
    monkeypatch.chdir(tmp_path)
    pd.read_csv(loans).rename(columns={"sex": column}).to_csv("odd.csv", index=False)
    request = request_of({"privileged.0": "m"}, tmp_path / "odd.csv")

    done = subprocess.run(
        [sys.executable, "-c", request.as_python()], capture_output=True, text=True, check=False
    )

    assert request.as_command() is None
    assert done.returncode == 0, done.stderr
