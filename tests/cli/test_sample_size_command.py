"""fairtransport sample-size: arguments in, a sentence, a table and a picture out."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.cli import main
from fairtransport.inference import sample_size
from fairtransport.report.text import percent


@pytest.fixture
def pilot(tmp_path):
    """People of two groups; the model errs on some of the second group's."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"race": rng.choice(["a", "b"], 400), "age": rng.integers(0, 20, 400)})
    people["y"] = rng.integers(0, 2, 400)
    wrong = (people["age"] < 3) & (people["race"] == "b")
    people["yhat"] = people["y"].where(~wrong, 1 - people["y"])
    path = tmp_path / "pilot.csv"
    people.to_csv(path, index=False)
    return path


def run(*arguments):
    """Return the exit code, whichever way it comes."""
    try:
        return main(["sample-size", *(str(argument) for argument in arguments)])
    except SystemExit as stop:
        return stop.code


def from_pilot(pilot, *more):
    columns = ("--label", "y", "--prediction", "yhat", "--features", "race,age")
    return run(pilot, *columns, "--sensitive", "race", *more)


def flat(text):
    return " ".join(text.split())


@pytest.mark.slow
def test_from_the_share_alone(capsys, tmp_path):
    plot = tmp_path / "power.png"

    assert run("--value", 0.06, "--delta", 0.0365, "--goal", "reject", "--plot", plot) == 0

    plan = sample_size(value=0.06, delta=0.0365)
    out = flat(capsys.readouterr().out)
    assert plan.words in out
    assert f"{plan.n} │ {percent(plan.achieved)} │ planned" in out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_certifying_mentions_the_rule_of_three(capsys):
    assert run("--value", 0.01, "--delta", 0.0365, "--goal", "certify", "--power", 0.9) == 0
    assert "Note: With fewer than" in flat(capsys.readouterr().out)


def test_from_a_pilot(pilot, capsys):
    result = ft.audit(
        pilot, "y", y_pred="yhat", sensitive_features=["race"], features=["race", "age"]
    )
    plan = sample_size(pilot=result, delta=0.02, n_simulations=40, rng=0)

    assert from_pilot(pilot, "--delta", 0.02, "--simulations", 40) == 0

    out = flat(capsys.readouterr().out)
    assert plan.words in out
    assert f"value {result.statistic:.4f} is itself an estimate, from 400 people" in out
    assert "only with people of its own sample" in out


def test_a_pilot_of_decisions_alone(pilot, capsys):
    people = pd.read_csv(pilot)
    people["decision"] = np.where((people["age"] < 3) & (people["race"] == "b"), "no", "yes")
    people.to_csv(pilot, index=False)
    more = ("--sensitive", "race", "--features", "age", "--delta", 0.02, "--simulations", 40)
    decisions = (pilot, "--prediction", "decision", *more)

    assert run(*decisions) == 2
    assert "`--favourable` must be given" in flat(capsys.readouterr().err)
    assert run(*decisions, "--favourable", "yes") == 0
    assert "With about" in flat(capsys.readouterr().out)
    assert run(pilot, "--prediction", "yhat", *more, "--favourable", 0) == 2
    assert "`PILOT` must be an audit whose verdict is about" in flat(capsys.readouterr().err)


def test_a_reference_that_the_planned_audit_will_have_too(pilot, capsys, tmp_path):
    grid = product(["a", "b"], range(20), [0, 1], [0, 1])
    everyone = pd.DataFrame(grid, columns=["race", "age", "y", "yhat"])
    everyone.to_csv(tmp_path / "everyone.csv", index=False)

    more = ("--delta", 0.95, "--goal", "certify", "--targets", tmp_path / "everyone.csv")
    assert from_pilot(pilot, *more) == 0

    assert "an audit certifies δ-fairness" in flat(capsys.readouterr().out)


def test_a_pilot_is_simulated_by_other_methods(pilot, capsys, tmp_path):
    more = ("--method", "limit-law", "--simulations", 40, "--seed", 1)

    assert from_pilot(pilot, "--delta", 0.02, *more, "--plot", tmp_path / "power.svg") == 0

    out = flat(capsys.readouterr().out)
    assert "With about" in out
    assert "±" in out
    assert "<svg" in (tmp_path / "power.svg").read_text("utf-8")


def test_predictions_alone_certify_nothing(pilot, capsys):
    assert from_pilot(pilot, "--delta", 0.2, "--goal", "certify") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert flat(err).startswith('Error: `--goal` must be "reject" where people are compared')


def test_quiet_prints_nothing_and_still_draws(capsys, tmp_path):
    plot = tmp_path / "power.svg"

    assert run("--value", 0.06, "--delta", 0.03, "--plot", plot, "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert plot.exists()
