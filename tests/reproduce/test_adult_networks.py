"""The follow-up's Adult study: the command on a tiny run, and the published table."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtransport import audit
from fairtransport.cli import main
from fairtransport.datasets.adult import LABEL
from fairtransport.errors import InputError
from fairtransport.reproduce import adult_networks as study
from fairtransport.reproduce.adult_networks_files import as_markdown, lines, notes
from fairtransport.reproduce.adult_study import AdultSplit, People, split_adult
from fairtransport.reproduce.gradient_flow import GradientFlow
from fairtransport.reproduce.networks import TrainingSettings
from fairtransport.reproduce.sensr import SenSRSettings
from fairtransport.similarity import Twins

DOCS = Path(__file__).parents[2] / "docs"
RESULT = ("statistic", "lower_bound", "worst_case_risk", "baseline_risk")
TINY = study.StudySettings(
    training=TrainingSettings(hidden=6, steps=60, batch=40, rate=1e-2),
    sensr=SenSRSettings(hidden=6, steps=20, batch=40, rate=1e-2),
    flow=GradientFlow(steps=30),
    people=120,
)


def small_split(seed, people):
    """A split with few people to train on."""
    whole, few = split_adult(seed, people), slice(0, 600)
    training = People(*(getattr(whole.training, name)[few] for name in People.__annotations__))
    return AdultSplit(training, whole.audit, whole.coding)


def audit_with_few_questions(*data, twins, **settings):
    """An audit whose searches are short."""
    return audit(*data, twins=Twins("search", questions=800) if twins == "search" else twins,
                 **settings)  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("networks")


@pytest.fixture(scope="module")
def found(cache):
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "split_adult", small_split)
        patch.setattr(study, "audit", audit_with_few_questions)
        return study.adult_networks(2, cache=cache, seed=5, settings=TINY)


@pytest.mark.reproduce
@pytest.mark.slow
def test_each_model_is_tested_and_audited_on_each_seed(found):
    assert [run["seed"] for run in found.runs] == [5, 6]
    for run in found.runs:
        for name in study.PAPER_BOUNDS:
            figures = run[name]
            assert figures["bound"] < figures["ratio"] <= figures["largest_ratio"]
            assert figures["rejected"] == (figures["bound"] > 1.25)
            for kind in study.KINDS:
                assert 0 <= figures[f"{kind}_lower_bound"] <= figures[f"{kind}_statistic"]
                assert figures[f"{kind}_ratio"] >= 1
    row = found.summary.set_index("model").loc["Reduction"]
    bounds = [run["Reduction"]["bound"] for run in found.runs]
    assert row["mean"] == pytest.approx(np.mean(bounds))
    assert row["sd"] == pytest.approx(np.std(bounds, ddof=1))
    assert (row["paper_mean"], row["paper_sd"], row["paper_rejected"]) == (5.71, 2.15, 10)
    assert found.settings["flow"] == {"step": 0.005, "steps": 30, "penalty": 50.0}


@pytest.mark.reproduce
@pytest.mark.slow
def test_what_is_kept_is_not_computed_again(found, cache, monkeypatch):
    monkeypatch.setattr(study, "split_adult", lambda *_: pytest.fail("a kept seed was made again"))
    again = study.adult_networks(2, cache=cache, seed=5, settings=TINY)
    assert again.runs == found.runs


@pytest.mark.slow
@pytest.mark.reproduce
def test_the_audit_asks_the_same_model_about_the_same_people(monkeypatch):
    pytest.importorskip("torch")
    split = small_split(5, 60)
    seen = {}

    def audit(frame, label, **settings):
        answers = settings["model"](frame[settings["features"]])
        seen.update(settings, frame=frame, label=label, answers=answers)
        return type("Result", (), dict.fromkeys(RESULT, 1.0))

    monkeypatch.setattr(study, "audit", audit)
    model = study.baseline(split.training, 0, TINY.training)
    study.audited(model, split, "similarity", 0.5, {"method": "limit-law"})
    wanted = 1 / (1 + np.exp(-model(study.tensor(split.audit.points)).numpy()))
    assert seen["answers"] == pytest.approx(wanted, rel=1e-5)
    assert seen["frame"] is split.audit.frame
    assert (seen["label"], seen["loss"], seen["budget"]) == (LABEL, "log", 0.5)
    assert seen["method"] == "limit-law"
    assert not {"sex", "race", LABEL} & set(seen["features"])


@pytest.mark.reproduce
@pytest.mark.slow
@pytest.mark.usefixtures("found")  # what it kept is not computed again
def test_the_command_writes_and_prints_ours_beside_theirs(cache, tmp_path, capsys, monkeypatch):
    quick = partial(study.StudySettings, training=TINY.training, sensr=TINY.sensr, flow=TINY.flow)
    monkeypatch.setattr(study, "StudySettings", quick)
    command = ["reproduce", "adult-networks", "--seed", "5", "--seeds", "2", "--people", "120"]
    assert main([*command, "--output", str(tmp_path), "--cache", str(cache)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("Wrote") == 3
    drawn = [line for line in printed.splitlines() if not line.startswith("Wrote")]
    assert max(map(len, drawn)) <= 80
    for name, (mean, sd) in study.PAPER_BOUNDS.items():
        assert name in printed
        assert f"{mean:g} ± {sd:g}".replace("± 0.", "± .") in printed
    document = json.loads((tmp_path / "adult-networks.json").read_text("utf-8"))
    assert [run["seed"] for run in document["runs"]] == [5, 6]
    assert document["settings"]["people"] == 120
    assert len(pd.read_csv(tmp_path / "adult-networks.csv")) == 4
    assert "over 2 runs (seeds 5 to 6)" in (tmp_path / "adult-networks.md").read_text("utf-8")


def made(bound):
    """A study of ten seeds in which every model has the same figures."""
    figures = {
        "ratio": bound + 0.1, "bound": bound, "rejected": bound > 1.25, "largest_ratio": 9.0,
        "flow_ratio_of_means": 1.5, "flow_distance": 0.001, "balanced_accuracy": 0.8,
    }  # fmt: skip
    for kind in study.KINDS:
        audit = {"statistic": 0.02, "lower_bound": 0.01, "ratio": 1.05}
        figures |= {f"{kind}_{name}": value for name, value in audit.items()}
    runs = [{"seed": seed, **dict.fromkeys(study.PAPER_BOUNDS, figures)} for seed in range(10)]
    return study.AdultNetworks(tuple(runs), study.summarise(runs), {"budget": 0.01})


def test_lines_show_published_and_ours_and_mark_what_differs():
    table = made(1.8)
    baseline, projected, _, robust = lines(table)
    assert baseline[:6] == ("Baseline", "3.68 ± 2.05", "1.800 ± .000", "✗", "10 of 10", "10 of 10")
    assert projected[1:4] == ("1.66 ± .34", "1.800 ± .000", "yes")
    assert robust[1:6] == ("1.021 ± .008", "1.800 ± .000", "✗", "0 of 10", "10 of 10")
    assert "10 runs (seeds 0 to 9)" in notes(table)[0]
    assert not any("So few runs" in note for note in notes(table))


@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_numbers_of_seeds_and_people_are_checked(value):
    with pytest.raises(InputError, match="`seeds` must be a whole number >= 1"):
        study.adult_networks(value, cache=DOCS)
    with pytest.raises(InputError, match="`people` must be a whole number >= 1"):
        study.adult_networks(1, cache=DOCS, settings=study.StudySettings(people=value))


@pytest.mark.parametrize("flag", ["--seeds", "--people"])
def test_the_command_names_the_flag_that_is_wrong(flag, capsys):
    assert main(["reproduce", "adult-networks", flag, "0"]) in {1, 2}
    assert f"`{flag}` must be a whole number >= 1, got 0" in capsys.readouterr().err


def test_the_published_table_is_that_of_its_runs():
    folder = DOCS / "reproduction"
    document = json.loads((folder / "adult-networks.json").read_text("utf-8"))
    runs = document["runs"]
    table = study.AdultNetworks(tuple(runs), study.summarise(runs), document["settings"])
    text = as_markdown(table)
    assert text == (folder / "adult-networks.md").read_text("utf-8")
    assert text in (DOCS / "reproduction.md").read_text("utf-8")
    assert document["settings"] == {**study.StudySettings().as_dict(), "audit_settings": {}}
