"""The same audit through every door, with real servers behind two of them; a real llama.cpp."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pandas as pd
import pytest
import skops.io as skops
from tests.access import servers
from tests.access.faulty import Faulty
from tests.access.models_of_people import FEATURES, as_onnx, fitted, people

import fairtransport as ft
from fairtransport.access import connect, load, prompt

pytestmark = pytest.mark.slow

PEOPLE = people()
FIGURES = ("statistic", "interval", "lower_bound", "upper_bound", "pvalue", "verdict",
           "baseline_risk", "worst_case_risk", "queried")  # fmt: skip


def figures(model, **options):
    result = ft.audit(
        PEOPLE, "good", model=model, features=FEATURES, sensitive_features=["race"], rng=0,
        delta=0.1, queries=ft.Queries(repeats=0), **options,
    )  # fmt: skip
    return {name: getattr(result, name) for name in FIGURES}


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def pipeline():
    return fitted()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if servers.missing("mlflow"):
        pytest.skip("`make servers` makes the environment of MLflow")
    made = tmp_path_factory.mktemp("mlflow")
    servers.run_in("mlflow", servers.SAVE_MLFLOW, made)
    return made


@pytest.fixture(scope="module")
def served(request, tmp_path_factory):
    """All servers by name, with their addresses and process ids, started at the same time."""
    place, starting = tmp_path_factory.mktemp("servers"), {}
    if not servers.missing("mlflow"):
        made = request.getfixturevalue("folder")
        for method in ("predict", "predict_proba"):
            starting[method] = servers.mlflow(made / method, place / f"{method}.log")
    if not servers.missing("mlserver"):
        starting["mlserver"] = servers.mlserver(place)
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        there = list(pool.map(stack.enter_context, starting.values()))
        yield dict(zip(starting, there, strict=True))
    assert not any(is_alive(pid) for _, pid in there)


def address(served, name):
    if name not in served:
        pytest.skip("`make servers` makes the environments of MLflow and MLServer")
    return served[name][0]


def test_files_and_folders(pipeline, folder, tmp_path):
    skops.dump(pipeline, tmp_path / "model.skops")
    (tmp_path / "model.onnx").write_bytes(as_onnx(pipeline).SerializeToString())
    expected = figures(pipeline)

    assert figures(load(tmp_path / "model.skops")) == expected
    assert figures(load(folder / "predict")) == expected
    assert figures(load(tmp_path / "model.onnx")) == expected  # the same labels
    scores = figures(pipeline, loss="brier")
    assert figures(load(tmp_path / "model.skops"), loss="brier") == scores
    assert figures(load(folder / "predict"), loss="brier") == scores


@pytest.mark.parametrize(("method", "loss"), [("predict", "zero-one"), ("predict_proba", "brier")])
def test_mlflow_serves_the_same_audit(method, loss, pipeline, served):
    url = address(served, method)
    assert figures(connect(url), loss=loss) == figures(pipeline, loss=loss)
    with Faulty(url, ["500", None, "cut", "429", "hang-up"]) as between:
        box = connect(f"{between.url}/invocations", batch_size=50)
        assert figures(box, loss=loss) == figures(pipeline, loss=loss)
    assert between.most_often == 1
    assert not between.faults
    with pytest.raises(ft.ModelError, match="answered with status 400: "):
        connect(url).answer(PEOPLE[["race"]], "label")


@pytest.mark.parametrize("loss", ["zero-one", "brier"])
def test_mlserver_serves_the_same_audit(loss, pipeline, served):
    url, expected = address(served, "mlserver"), figures(pipeline, loss=loss)
    assert figures(connect(f"{url}/v2/models/people"), loss=loss) == expected
    with Faulty(url, ["503", None, "cut", "429", "hang-up"]) as between:
        box = connect(between.url, model="people", batch_size=50)
        assert box.protocol == "Open Inference v2"
        assert figures(box, loss=loss) == expected
    assert between.most_often == 1


NAMES = pd.DataFrame({"race": ["a", "a", "b", "b"], "name": ["Emily", "Anne", "Jamal", "Aisha"]})
HIRING = "Answer yes or no. Invite, aged {age}, with {income}: {name}?"


def test_llama_answers_prompts_with_a_key_a_grammar_and_chances(tmp_path, monkeypatch):
    few = PEOPLE.head(60).assign(good=PEOPLE["good"].map({0: "no", 1: "yes"}))
    options = dict(sensitive_features=["race"], rng=0)
    with servers.llama(tmp_path) as (url, pid):
        asked = dict(answers=["yes", "no"], stand_ins=NAMES, retries=0)
        with pytest.raises(ft.ModelError, match=r"answered with status 401: .*Invalid API Key"):
            prompt(HIRING, url, model="tiny-llama", **asked).answer(few, "label")
        monkeypatch.setenv("FAIRTRANSPORT_TOKEN", servers.KEY)

        box = prompt(HIRING, url, constrain="grammar", **asked)
        assert box.sampling.model == "tiny-llama"
        first = ft.audit(few, "good", model=box, **options)
        assert set(first.answers.predictions) == {"yes", "no"}
        assert first.statistic > 0  # it answers at random, and names are a part of the question
        assert first.statistic == ft.audit(few, "good", model=box, **options).statistic

        by_schema = prompt(HIRING, url, constrain="json-schema", max_tokens=100, **asked)
        labels = by_schema.answer(few.head(10), "label")
        assert set(labels) <= {"yes", "no", "refusal"}
        assert len(set(labels)) > 1

        free = prompt(HIRING, url, **asked)
        assert "refusal" in free.answer(few.head(10), "label")
        scores = free.answer(few.head(10), "score")
        assert all(abs(sum(row) - 1) < 1e-9 for row in scores)
        assert len({row[0] for row in scores}) > 1
    assert not is_alive(pid)
