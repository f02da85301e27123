"""fairtransport audit and demo: every flag does what its parameter does."""

import json
import sys

import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.cli import main

CASES = pd.DataFrame({
    "race": ["a", "b", "a", "b", "a", "b"],
    "sex": ["f", "f", "m", "m", "f", "m"],
    "age": [20, 20, 30, 30, 60, 60],
    "good": [1, 1, 0, 0, 1, 1],
    "fine": [True, True, False, False, True, True],
    "word": ["yes", "yes", "no", "no", "yes", "yes"],
    "guess": [1, 0, 0, 0, 1, 1],
    "score": [0.9, 0.2, 0.3, 0.3, 0.8, 0.7],
    "other": [0.1, 0.8, 0.7, 0.7, 0.2, 0.3],
    "gap": [1.0, None, 1.0, 1.0, 1.0, 1.0],
    "people": [1, 2, 1, 1, 1, 1],
})  # fmt: skip
PROFILE = "race,sex,age"
NO_DELTA = "Note: There is no --delta, so no result can end with an error code.\n"


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.csv"
    CASES.to_csv(path, index=False)
    return str(path)


def statistic_in(folder):
    return json.loads((folder / "audit.json").read_text("utf-8"))["statistic"]


def run(*arguments):
    """Return the exit code, whichever way it comes."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


def audit(
    cases, *more, label="good", predictions=("--prediction", "guess"), sensitive="race,sex",
    features=PROFILE,
):  # fmt: skip
    return run("audit", cases, "--label", label, *predictions, "--sensitive", sensitive,
               "--features", features, *more)  # fmt: skip


def test_the_demo_audits_a_logistic_regression_on_compas(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--seed", 3, "--verbose") == 0
    out = " ".join(capsys.readouterr().out.split())

    assert "1,584 people" in out
    assert "Model queries 72" in out
    assert "Compared with the same person in another group" in out


def test_help_and_version_exit_with_zero(capsys):
    assert not run("--help")
    assert not run("--version")
    out = capsys.readouterr().out

    assert "demo" in out
    assert ft.__version__ in out


@pytest.mark.parametrize(
    "flags",
    [["--sensitive", "race,sex"], ["--sensitive", "race", "--sensitive", "sex"],
     ["--sensitive", "race, sex"], ["--sensitive=race,sex"]],
)  # fmt: skip
def test_comma_lists_and_repeated_flags_both_work(flags, cases, tmp_path):
    code = run("audit", cases, "--label", "good", "--prediction", "guess", *flags, "--features",
               PROFILE, "--json", tmp_path / "audit.json")  # fmt: skip
    expected = ft.audit(
        CASES, "good", y_pred="guess", sensitive_features=["race", "sex"],
        features=PROFILE.split(","),
    )  # fmt: skip

    assert code == 0
    assert statistic_in(tmp_path) == expected.statistic


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ("--prediction guess", {"y_pred": "guess"}),
        ("--prediction guess --bins.age 25,45", {"y_pred": "guess", "bins": {"age": [25, 45]}}),
        ("--prediction guess --counts people", {"y_pred": "guess", "counts": "people"}),
        ("--prediction guess --missing level", {"y_pred": "guess", "missing": "level"}),
        ("--prediction guess --budget 0.5", {"y_pred": "guess", "budget": 0.5}),
        ("--prediction guess --similarity ignore-sensitive", {"y_pred": "guess"}),
        ("--prediction guess --loss outcome --positive 1.0",
         {"y_pred": "guess", "loss": "outcome", "pos_label": 1}),
        ("--prediction score --loss absolute --loss-range 0,1",
         {"y_pred": "score", "loss": "absolute", "loss_range": (0, 1)}),
        ("--score score --loss brier", {"y_score": "score", "loss": "brier"}),
        ("--score other,score --loss log", {"y_score": ["other", "score"], "loss": "log"}),
        ("--score score --loss log --positive 0",
         {"y_score": "score", "loss": "log", "pos_label": 0}),
        ("--score score --loss log --label word --positive yes",
         {"y_score": "score", "loss": "log", "y": "word", "pos_label": "yes"}),
        ("--score score --loss log --label fine --positive True",
         {"y_score": "score", "loss": "log", "y": "fine", "pos_label": True}),
    ],
)  # fmt: skip
def test_every_flag_does_what_its_parameter_does(flags, options, cases, tmp_path, capsys):
    features = ["age", "gap"] if "missing" in options else PROFILE.split(",")
    defaults = {"y": "good", "features": features, "sensitive_features": ["race"]}
    expected = ft.audit(CASES, **(defaults | options))
    label = () if "--label" in flags else ("--label", "good")

    code = run("audit", cases, "--sensitive", "race", "--features", ",".join(features), *label,
               *flags.split(), "--json", tmp_path / "audit.json", "--verbose")  # fmt: skip
    out = " ".join(capsys.readouterr().out.split())

    assert code == 0
    assert statistic_in(tmp_path) == expected.statistic
    assert f"cases.csv, {expected.n} people" in out
    assert f"Distinct rows {expected.points}, " in out


def test_quiet_prints_nothing(cases, capsys):
    assert audit(cases, "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_arguments_default_to_those_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fairtransport", "--version"])

    assert not main()
    assert ft.__version__ in capsys.readouterr().out


# -- verdicts and their exit codes


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    """400 people; in group b the model errs on a tenth of those it gets right in group a."""
    rows = ["group,skill,good,said"]
    for skill in range(40):
        wrong = skill % 10 == 0
        rows += [f"a,{skill},1,1"] * 5 + [f"b,{skill},1,{0 if wrong else 1}"] * 5
    path = tmp_path_factory.mktemp("biased") / "people.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return [str(path), "--label", "good", "--prediction", "said", "--sensitive", "group"]


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["--delta", "0.01"], 3, "δ-fairness rejected at level 5 %: δ = 0.01"),
        (["--delta", "0.01", "--fail-on", "never"], 0, "δ-fairness rejected"),
        (["--delta", "0.2"], 0, "Not settled at level 5 %: δ = 0.2"),
        (["--delta", "0.2", "--fail-on", "not-certified"], 4, "no upper bound"),
        ([], 0, "Errors, among people with equal skill and good"),
        (["--delta", "0.01", "--method", "limit-law", "--alpha", "0.1"], 3, "at level 10 %"),
    ],
)
def test_exit_codes_follow_the_verdict(biased, flags, code, words, capsys):
    assert main(["audit", *biased, "--seed", "1", "--verbose", *flags]) == code
    assert words in capsys.readouterr().out


def test_a_certificate_is_said_in_words(capsys):
    from dataclasses import replace

    from fairtransport.audits import audit
    from fairtransport.audits.summarise import summarise_headline
    from fairtransport.report.terminal import print_result

    people = pd.DataFrame({"group": ["a", "b"] * 200, "good": [1, 1] * 198 + [0, 1] * 2})
    people["last"] = [0] * 398 + [1] * 2
    result = audit(
        people, "good", model=lambda x: 1 - x["last"] * (x["group"] == "b"),
        features=["group", "last"], sensitive_features="group", delta=0.05, rng=0,
    )  # fmt: skip
    assert result.verdict == "certified"
    print_result(summarise_headline(result), "people", verbose=True)
    assert "δ-fairness certified at level 5 %: δ = 0.05" in capsys.readouterr().out
    lower = replace(result, settings=replace(result.settings, delta=0.001))
    assert lower.verdict == "inconclusive"


def test_overwhelming_evidence_is_shown_as_such(folder, capsys):
    run("audit", folder / "people.csv", "--label", "good", "--sensitive", "race", "--delta", "0",
        "--model", folder / "model.skops", "--seed", "1", "--verbose")  # fmt: skip
    assert "p<0.0001" in capsys.readouterr().out


def test_sharing_without_a_file_is_told_of(cases, capsys, tmp_path):
    assert audit(cases, "--share") == 0
    assert "`--share` is for files, and there is no --report or --json" in capsys.readouterr().out
    assert audit(cases, "--share", "--json", tmp_path / "a.json") == 0
    assert "`--share` is for files" not in capsys.readouterr().out


def test_a_model_that_fails_on_bins_is_told_to_receive_their_names(tmp_path, capsys):
    import skops.io as skops
    from sklearn.linear_model import LogisticRegression

    people = CASES.assign(race=(CASES["race"] == "a").astype(int))
    people.to_csv(tmp_path / "cases.csv", index=False)
    model = LogisticRegression().fit(people[["race", "age"]], people["good"])
    skops.dump(model, tmp_path / "model.skops")
    code = run("audit", tmp_path / "cases.csv", "--label", "good", "--sensitive", "race",
               "--model", tmp_path / "model.skops", "--bins.age", "25,45")  # fmt: skip

    assert code == 1
    assert "; it receives the names of the bins of age, as text" in capsys.readouterr().err


@pytest.mark.slow
def test_figures_can_be_made_without_a_word(tmp_path, capsys):
    assert run("reproduce", "figure2", "--output", tmp_path, "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "figure2.png").is_file()


PREDICTED = ("audit", "people.csv", "--label", "good", "--sensitive", "race", "--prediction",
             "guess")  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--fail-on", "rejected"], NO_DELTA),
        (["--fail-on", "rejected", "--delta", "0.5"], ""),
        (["--fail-on", "never"], ""),
        (["--junit", "FOLDER/audit.xml"], NO_DELTA),
        (["--junit", "FOLDER/audit.xml", "--fail-on", "never"], ""),
        ([], ""),
    ],
)
def test_a_forgotten_delta_is_said_even_where_nothing_else_is(more, message, run, tmp_path):
    more = [word.replace("FOLDER", str(tmp_path)) for word in more]

    assert run(*PREDICTED, "--quiet", *more) == (0, "", message)
    assert (
        "With --fail-on or --junit also warn if --delta is missing" in run("audit", "--help").words
    )


def test_the_help_starts_with_a_complete_command(run):
    words = run("audit", "--help").words
    example = "fairtransport audit people.csv --model model.skops --label outcome \\ --sensitive"

    assert example in words
    assert words.index(example) < words.index("--prediction")
