"""The audit of a stream: evidence, batches, questions, state files, the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairtransport as ft
from fairtransport.cli import main

LEVELS = {"group": ["a", "b"]}


def people(n, seed=0, harmed=0.5):
    """People of two groups; in some profiles the model errs on group b."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < harmed, 0, rng.integers(1, 5, n))
    return pd.DataFrame({
        "group": rng.choice(["a", "b"], n), "x": x, "good": rng.integers(0, 2, n)
    })  # fmt: skip


def with_guess(frame):
    wrong = (frame["x"] == 0) & (frame["group"] == "b")
    return frame.assign(guess=np.where(wrong, 1 - frame["good"], frame["good"]))


def biased(points):
    """Says yes to group a whenever x is 0, and to nobody else."""
    return ((points["x"] == 0) & (points["group"] == "a")).astype(int)


def asking(model=biased, **options):
    chosen = dict(y="good", model=model, sensitive_features=["group"], features=["group", "x"],
                  levels=LEVELS, delta=0.1) | options  # fmt: skip
    return ft.Monitor(**chosen)


def told(**options):
    chosen = dict(y="good", y_pred="guess", sensitive_features="group", delta=0.05) | options
    return ft.Monitor(**chosen)


def test_bias_is_rejected_and_its_absence_certified():
    rejected = asking().update(people(500))
    certified = asking(model=lambda points: points["x"] % 2).update(people(500))

    assert rejected.verdict == "rejected"
    assert 0 < rejected.stopped_at < 500
    assert rejected.e_value >= 20
    assert certified.verdict == "certified"
    assert certified.e_value_certificate >= 20
    assert (rejected.target_scope, rejected.warnings) == ("twins", ())


def test_the_statistic_is_that_of_an_audit():
    frame = people(400)
    state = asking().update(frame)
    result = ft.audit(frame, "good", model=biased, sensitive_features="group",
                      features=["group", "x"], levels=LEVELS)  # fmt: skip

    assert state.statistic == pytest.approx(result.statistic, rel=1e-12)
    assert state.lower <= result.statistic <= state.upper


def test_given_predictions_have_the_statistic_of_an_audit_and_are_never_certified():
    frame = with_guess(people(400))
    state = told().update(frame)
    result = ft.audit(frame, "good", y_pred="guess", sensitive_features="group")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-12)
    assert state.verdict == "rejected"
    assert state.upper is None
    assert state.e_value_certificate is None
    assert "nothing can be certified" in state.warnings[0]
    assert told(delta=0.9).update(frame).verdict == "inconclusive"


@pytest.mark.parametrize("kind", ["model", "predictions"])
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 299), unique=True, max_size=8))
def test_the_same_records_in_any_batches_give_the_same_state(kind, cuts):
    make = asking if kind == "model" else told
    frame = with_guess(people(300, seed=3))
    whole, parts = make(), make()
    whole.update(frame)
    for part in np.split(np.arange(300), sorted(cuts)):
        parts.update(frame.iloc[part])

    assert parts.state == whole.state


def test_records_one_by_one_are_the_same_as_a_frame_of_any_library():
    frame = with_guess(people(120))
    states = []
    for points in (frame, pl.from_pandas(frame), frame.to_dict("records")):
        monitor = told()
        states.append(monitor.update(points))
    single = told()
    for record in frame.to_dict("records"):
        single.update({name: np.asarray(value)[()] for name, value in record.items()})

    assert states[0] == states[1] == states[2] == single.state
    assert single.state.n == 120


def test_late_arrivals_revise_what_earlier_records_gained():
    """After the worst twin is known, evidence is that of the final gains."""
    good = {"group": "a", "x": 1, "good": 1, "guess": 1}
    bad = {"group": "b", "x": 1, "good": 1, "guess": 0}
    late, early = told(), told()
    late.update([good] * 40 + [bad])
    early.update([bad] + [good] * 40)

    assert late.state.statistic == early.state.statistic == 40 / 41
    assert late.state.e_value == pytest.approx(early.state.e_value, rel=1e-9)
    assert late.state.stopped_at == 41
    assert early.state.stopped_at < 41


def test_each_question_is_asked_once_over_the_monitors_life(tmp_path):
    asked = []

    def model(points):
        asked.extend(points.itertuples(index=False, name=None))
        return biased(points)

    monitor = asking(model)
    frame = people(300)
    for at in range(0, 300, 50):
        monitor.update(frame.iloc[at : at + 50])
    monitor.save(tmp_path / "state")
    again = ft.Monitor.resume(tmp_path / "state", model=model)
    again.update(frame)

    assert len(asked) == len(set(asked)) == again.queried == 10


def test_history_is_thinned_and_ends_with_the_records():
    history = asking().update(people(2000)).history

    assert [look.n for look in history[:21]] == list(range(1, 22))
    assert 100 < len(history) < 200
    assert all(a.lower <= b.lower and a.upper >= b.upper
               for a, b in pairwise(history))  # fmt: skip


def test_if_both_verdicts_fall_neither_is_given():
    never = people(400).assign(x=1)
    always = people(2000).assign(x=0)
    state = asking().update(pd.concat([never, always]))

    assert state.verdict == "inconclusive"
    assert state.stopped_at is None
    assert "certified at record" in state.warnings[0]


# -- losses, bins, missing values


def test_scores_of_a_fitted_model():
    from sklearn.linear_model import LogisticRegression

    frame = people(300).assign(group=lambda f: (f["group"] == "b").astype(int))
    model = LogisticRegression().fit(frame[["group", "x"]], frame["good"])
    monitor = ft.Monitor(y="good", model=model, sensitive_features="group", loss="brier",
                         levels={"group": [0, 1]}, delta=0.2)  # fmt: skip
    state = monitor.update(frame)
    result = ft.audit(frame, "good", model=model, sensitive_features="group", loss="brier")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-9)


def test_given_scores_need_to_know_the_labels():
    frame = people(50).assign(score=lambda f: 0.2 + 0.6 * (f["group"] == "a"))
    options = dict(y="good", y_score="score", sensitive_features="group", loss="log", delta=0.1)
    state = ft.Monitor(**options, labels=[0, 1]).update(frame)
    result = ft.audit(frame, "good", y_score="score", sensitive_features="group", loss="log")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-9)
    with pytest.raises(ft.InputError, match="`labels` must list all labels"):
        ft.Monitor(**options)
    with pytest.raises(ft.DataError, match="`labels` must hold every label, but lacks 1"):
        ft.Monitor(**options, labels=[0, 2], pos_label=2).update(frame)


def test_outcomes_need_no_labels():
    frame = with_guess(people(60))
    options = dict(sensitive_features="group", features=["x"], loss="outcome", delta=0.5)
    state = ft.Monitor(y_pred="guess", pos_label=1, **options).update(frame)
    ranged = ft.Monitor(y_pred="guess", loss_range=(0, 1), **options).update(frame)
    result = ft.audit(frame, y_pred="guess", pos_label=1, sensitive_features="group",
                      features=["x"], loss="outcome")  # fmt: skip

    assert state.statistic == ranged.statistic == pytest.approx(result.statistic)
    with pytest.raises(ft.InputError, match="`loss_range` must be given"):
        ft.Monitor(y_pred="guess", **options)


def test_bins_tell_their_levels():
    def strict(points):
        return (points["age"] == "< 30").astype(int)

    monitor = ft.Monitor(y="good", model=strict, sensitive_features="age", features=["age"],
                         bins={"age": [30, 60]}, delta=0.1)  # fmt: skip
    state = monitor.update({"age": 44, "good": 0})

    assert state.statistic == 1
    assert monitor.queried == 3
    with pytest.raises(ft.DataError, match=r"`bins\['age'\]` needs a numeric column, got 'old'"):
        monitor.update({"age": "old", "good": 0})


def test_missing_values():
    gap = {"group": "a", "x": None, "good": 1, "guess": 1}
    with pytest.raises(ft.DataError, match="'x' must not have missing values, got 1; missing="):
        told().update(gap)
    with pytest.raises(ft.DataError, match=r"'good' must not have missing values, got 1$"):
        told(missing="level").update(gap | {"good": float("nan")})
    assert told(missing="level").update(gap).n == 1


# -- what goes wrong, loses nothing


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        ({"group": "c", "x": 1, "good": 1}, ft.DataError, "every value, but lacks 'c'"),
        ({"group": "a", "good": 1}, ft.DataError, "but lack 'x'"),
        ({"group": ["a"], "x": 1, "good": 1}, ft.DataError, "'group' must hold single values"),
        (
            {"group": "a", "x": 1, "good": "yes"},
            ft.DataError,
            "text or numbers, not both, got .*'yes'",
        ),
        (7, ft.InputError, "`points` must be a record"),
    ],
)
def test_bad_records_are_refused_and_not_counted(points, error, message):
    monitor = asking()
    before = monitor.update(people(20))
    with pytest.raises(error, match=message):
        monitor.update(points)

    assert monitor.state == before


def test_a_failing_model_loses_nothing():
    calls = []

    def flaky(points):
        calls.append(len(points))
        if len(calls) == 2:
            raise TimeoutError
        return biased(points)

    monitor, steady = asking(flaky), asking()
    monitor.update(people(30).assign(x=1))
    with pytest.raises(ft.ModelError, match="TimeoutError"):
        monitor.update(people(100))
    assert monitor.state.n == 30
    monitor.update(people(100))
    steady.update(people(30).assign(x=1))
    steady.update(people(100))

    assert monitor.state == steady.state


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "`delta` must be below 1, as no loss can grow by more, got 1"),
        ({"alpha": 0}, "`alpha` must be a finite number > 0 and < 1, got 0"),
        ({"budget": -1}, "`budget` must be"),
        ({"levels": None}, r"`levels\['group'\]` must list all values"),
        ({"levels": {"x": [1]}}, "`levels` must name sensitive features"),
        ({"levels": 3}, "`levels` must map"),
        ({"y": None}, "`y` must be given"),
        ({"y": [1, 0]}, "`y` must be distinct column names in a monitor"),
        (
            {"features": ["good", "x"]},
            "`features` must not hold label, counts or predictions, got 'good'",
        ),
        ({"bins": {"z": [1]}}, "`bins` must name columns of the points, got 'z'"),
        ({"loss": "absolute"}, "`loss_range` must be given"),
        ({"y_pred": "guess"}, "exactly one of"),
        ({"targets": pd.DataFrame()}, "`targets` must be left out with `model`"),
        ({"missing": "drop"}, "`missing` must be one of"),
    ],
)
def test_wrong_settings_are_named(options, message):
    with pytest.raises(ft.InputError, match=message):
        asking(**options)


def test_levels_without_a_model_are_refused():
    with pytest.raises(ft.InputError, match="`levels` needs `model`"):
        told(levels=LEVELS)


# -- moves that cost


def line(size=5, step=0.3):
    """A similarity over x: squared distances."""
    at = step * np.arange(size)
    return ft.similarity.Precomputed((at[:, None] - at) ** 2, pd.DataFrame({"x": np.arange(size)}))


def test_moves_that_cost_have_the_statistic_of_an_audit():
    frame = with_guess(people(300)).drop(columns="group").assign(group="a")
    options = dict(y_pred="guess", sensitive_features="group", similarity=line(), budget=0.02)
    frame["guess"] = (frame["x"] > 2).astype(int)
    monitor = ft.Monitor(y="good", **options, delta=0.02)
    for at in range(0, 300, 60):
        state = monitor.update(frame.iloc[at : at + 60])
    result = ft.audit(frame, "good", **options)

    assert state.statistic == pytest.approx(result.statistic, rel=1e-9)
    assert state.verdict == "rejected"
    assert state.stopped_at in range(60, 301, 60)
    assert 0.02 < state.lower < result.statistic
    assert state.upper is None
    assert [look.n for look in state.history] == [60, 120, 180, 240, 300]


@pytest.mark.parametrize("budget", [0.0, 0.001])
def test_a_reference_frame_allows_certificates_and_survives_a_file(tmp_path, budget):
    frame = people(600).assign(group="a", guess=lambda f: f["good"])
    frame.loc[(frame["x"] == 4) & (frame.index % 3 == 0), "guess"] = 0
    reference = pd.DataFrame({"group": "a", "x": [0, 1, 2, 3, 4] * 2, "good": [0] * 5 + [1] * 5,
                              "guess": [0] * 5 + [1] * 4 + [0]})  # fmt: skip
    options = dict(y="good", y_pred="guess", sensitive_features="group", similarity=line(),
                   budget=budget, delta=0.6, targets=reference)  # fmt: skip
    whole = ft.Monitor(**options)
    whole.update(frame.iloc[:250])
    whole.save(tmp_path / "state")
    whole.update(frame.iloc[250:])
    saved = ft.Monitor.resume(tmp_path / "state", similarity=line(), targets=reference)
    saved.update(frame.iloc[250:])

    assert saved.state == whole.state
    assert whole.state.verdict == "certified"
    assert whole.state.target_scope == "reference"
    assert whole.state.upper < 0.6
    with pytest.raises(ft.InputError, match="`targets` must be those"):
        ft.Monitor.resume(tmp_path / "state", similarity=line())
    with pytest.raises(ft.InputError, match="`similarity` must be given again"):
        ft.Monitor.resume(tmp_path / "state", targets=reference)
    with pytest.raises(ft.InputError, match="`loss` must be that of the saved"):
        ft.Monitor.resume(tmp_path / "state", similarity=line(), targets=reference, loss="log")


def test_a_model_and_costs_move_to_observed_points_and_their_twins():
    frame = people(200)
    options = dict(model=biased, sensitive_features="group", features=["group", "x"],
                   levels=LEVELS, similarity=line(), budget=0.05)  # fmt: skip
    state = ft.Monitor(y="good", **options, delta=0.05).update(frame)

    assert state.statistic == pytest.approx(ft.audit(frame, "good", **options).statistic, rel=1e-9)
    assert state.target_scope == "observed"


# -- files


@pytest.mark.parametrize("make", [asking, told])
def test_a_saved_monitor_goes_on_as_if_nothing_had_happened(tmp_path, make):
    frame, whole = with_guess(people(200)), make()
    whole.update(frame)
    monitor, path = make(), tmp_path / "state"
    for at in range(0, 200, 23):
        monitor.update(frame.iloc[at : at + 23])
        monitor.position = at + 23
        monitor.save(path)
        monitor = ft.Monitor.resume(path, model=biased if make is asking else None)
        assert monitor.position == at + 23

    assert monitor.state == whole.state
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]
    assert "n=200" in repr(monitor)


def test_values_that_json_cannot_hold_are_refused(tmp_path):
    monitor = told()
    monitor.update({"group": pd.Timestamp(0), "x": 1, "good": 1, "guess": 1})
    with pytest.raises(ft.DataError, match="a monitor can be saved if values are text"):
        monitor.save(tmp_path / "state")


def test_files_that_are_no_state_are_refused(tmp_path):
    path = tmp_path / "state"
    with pytest.raises(ft.DataError, match="could not be read"):
        ft.Monitor.resume(path)
    path.write_text("{}")
    with pytest.raises(ft.InputError, match="`path` must be a state file"):
        ft.Monitor.resume(path)


WORKER = """
import sys
from pathlib import Path
import pandas as pd
import fairtransport as ft
frame, path = pd.read_csv(sys.argv[1]), Path(sys.argv[2])
monitor = ft.Monitor.resume(path) if path.exists() else ft.Monitor(
    y="good", y_pred="guess", sensitive_features="group", delta=0.05)
print("ready", flush=True)
while (at := monitor.position or 0) < len(frame):
    monitor.update(frame.iloc[at:at + 7])
    monitor.position = at + 7
    monitor.save(path)
"""


def test_killed_in_the_middle_nothing_is_lost_or_counted_twice(tmp_path):
    frame = with_guess(people(3000, seed=9))
    frame.to_csv(tmp_path / "people.csv", index=False)
    path, command = tmp_path / "state", [sys.executable, "-c", WORKER, str(tmp_path / "people.csv")]
    kills = 0
    for attempt in range(40):
        with subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            if attempt < 4:
                time.sleep(0.05 + 0.04 * attempt)
                os.kill(process.pid, signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        if path.exists() and ft.Monitor.resume(path).state.n == len(frame):
            break
    whole = told()
    whole.update(frame)

    assert kills >= 2
    assert ft.Monitor.resume(path).state == whole.state


# -- the command line


def run(*arguments):
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


@pytest.fixture
def follow(tmp_path, capsys):
    """Runs the command on a file that grows; returns the exit code and what was printed."""

    def once(name="cases.csv", *more, delta=0.05):
        options = ["--label", "good", "--prediction", "guess", "--sensitive", "group"]
        where = [tmp_path / name, "--state", tmp_path / "s"]
        code = run("monitor", *where, *options, "--delta", delta, *more)
        printed = capsys.readouterr()
        return code, " ".join((printed.out + printed.err).split())

    return once


def saved_state(tmp_path):
    return ft.Monitor.resume(tmp_path / "s").state


@pytest.mark.parametrize("name", ["cases.csv", "cases.jsonl", "cases.tsv"])
def test_what_was_added_is_taken_in(tmp_path, follow, name):
    frame, path = with_guess(people(90)), tmp_path / name
    if name.endswith("jsonl"):
        text = frame.to_json(orient="records", lines=True)
    else:
        text = frame.to_csv(index=False, sep="\t" if name.endswith("tsv") else ",")
    # cut anywhere, also inside a line
    codes = []
    for end in (5, 100, 333, 334, len(text) - 3, len(text)):
        path.write_text(text[:end])
        code, out = follow(name)
        codes.append(code)
    whole = told()
    whole.update(frame)

    assert saved_state(tmp_path) == whole.state
    assert (codes[0], codes[-1]) == (0, 3)
    assert f"{name}, 90 cases" in out
    assert "δ-fairness rejected at level 5 %, since case" in out
    assert follow(name) == (3, out)


@pytest.fixture(scope="module")
def compas(tmp_path_factory):
    """The people of the paper's audit split as a text file, and the model it was fitted for."""
    import skops.io as skops

    from fairtransport.reproduce.compas_study import FEATURES, logistic_regression, split_compas

    folder = tmp_path_factory.mktemp("compas")
    split = split_compas(0)
    model = logistic_regression(split.training)
    skops.dump(model, folder / "model.skops")
    # numbers of years, among which not all are whole
    years = split.audit["age_cat"].map({"Less than 25": 20, "25 - 45": 35.5}).fillna(60)
    people = split.audit.assign(guess=model.predict(split.audit[list(FEATURES)]), years=years)
    people.to_csv(folder / "cases.csv", index=False)
    return folder


@pytest.mark.parametrize("has_model", [True, False])
def test_a_text_file_has_the_statistic_of_an_audit(compas, tmp_path, has_model):
    features = ["sex", "race", "age_cat", "priors", "charge"]
    if has_model:
        model = ft.access.load(compas / "model.skops")
        options = {"model": model, "features": features}
        flags = ["--model", compas / "model.skops", "--levels.race", "African-American,Caucasian",
                 "--levels.sex", "Female,Male"]  # fmt: skip
    else:
        model, features = None, [*features, "years"]
        options = {"y_pred": "guess", "features": features}
        flags = ["--prediction", "guess", "--features", ",".join(features)]
    whole = (compas / "cases.csv").read_text()
    grown = tmp_path / "cases.csv"
    # a piece without text among the priors comes last
    lines = sorted(whole.splitlines()[1:], key=lambda line: ",0," in line)
    whole = "\n".join([whole.splitlines()[0], *lines, ""])
    for end in (len(whole) - 200, len(whole)):
        grown.write_text(whole[:end])
        run("monitor", grown, "--state", tmp_path / "s", "--label", "two_year_recid",
            "--sensitive", "race,sex", *flags, "--delta", 0.2)  # fmt: skip
    kinds = json.loads((tmp_path / "s").read_text())["position"]["kinds"]
    expected = ft.audit(grown, "two_year_recid", sensitive_features=["race", "sex"], **options)
    found = ft.Monitor.resume(tmp_path / "s", model=model).state

    assert found.n == 1584
    assert found.statistic == pytest.approx(expected.statistic)
    assert expected.statistic > 0
    assert (kinds["priors"], kinds["years"], kinds["guess"]) == ("text", "numbers", "whole numbers")


def test_what_a_column_holds_is_kept_and_later_values_have_to_fit(tmp_path, follow):
    head = "group,rank,good,guess\n"
    (tmp_path / "cases.csv").write_text(f"{head}a,1,1,1\nb,2,1,0\n")
    assert follow(delta=0.5)[0] == 0
    (tmp_path / "cases.csv").write_text(f"{head}a,1,1,1\nb,2,1,0\na,low,1,1\n")
    code, out = follow(delta=0.5)

    assert code == 1
    assert "the column 'rank' held whole numbers when the monitor began and must go on to" in out
    assert saved_state(tmp_path).n == 2


def test_a_column_without_values_is_settled_by_its_first(tmp_path, follow):
    head = "group,note,good,guess\n"
    first = f"{head}a,,1,1\n"
    (tmp_path / "cases.csv").write_text(first)
    follow("cases.csv", "--missing", "level", delta=0.5)
    (tmp_path / "cases.csv").write_text(f"{first}a,7,1,1\nb,x,1,0\n")
    follow("cases.csv", "--missing", "level", delta=0.5)
    saved = json.loads((tmp_path / "s").read_text())

    assert saved["position"]["kinds"]["note"] == "text"
    assert [point[1] for point in saved["stream"]["points"]] == [None, "7", "x"]


@pytest.mark.parametrize(
    "words",
    [["0", "1 to 3"], ["0", "7"], ["007", "7"], ["0", "0.5"], ["1e3", "2"], ["True", "False"],
     ["true", "True"], ["F", "M"], ["F", "T"], ["yes", "no"], ["1_000", "2"], ["-1", "+2"],
     ["9223372036854775808", "1"], ["1.", ".5"], ["a", ""], ["1", ""], ["nan", "1.5"],
     ["inf", "1.5"], ["-0", "5"], ["00.5", "5"], [" 7", "5"]],
)  # fmt: skip
def test_columns_hold_what_an_audit_of_the_file_reads(tmp_path, words):
    from fairtransport.monitor.growing import GrowingFile
    from fairtransport.space.file_source import FileSource

    path = tmp_path / "one.csv"
    path.write_text("x,y\n" + "".join(f"{word},1\n" for word in words))
    (records, _), *_ = GrowingFile(path).pieces()
    column = FileSource(path).count(["x"], {}, None).columns["x"]
    read = {record["x"] for record in records}

    assert read == set(column.to_list())
    assert {type(one) for one in read} == {type(one) for one in column.to_list()}


def test_inconclusive_is_no_failure(tmp_path, follow):
    with_guess(people(30)).to_csv(tmp_path / "cases.csv", index=False)
    code, out = follow(delta=0.6)

    assert code == 0
    assert "δ = 0.6: inconclusive." in out
    assert follow("cases.csv", "--quiet", delta=0.6) == (0, "")


def test_line_breaks_inside_quotes_belong_to_a_value(tmp_path, follow):
    path = tmp_path / "cases.csv"
    path.write_text('group,x,good,guess\na,"one\ntwo",1,1\nb,"one\n')
    assert follow()[0] == 0
    assert saved_state(tmp_path).n == 1
    with path.open("a") as file:
        file.write('two",1,0\n')
    follow()
    assert saved_state(tmp_path).statistic == 0.5


def test_a_file_that_changed_is_refused(tmp_path, follow):
    path = tmp_path / "cases.csv"
    text = with_guess(people(30)).to_csv(index=False)
    path.write_text(text)
    follow()
    before = saved_state(tmp_path)
    path.write_text(text[:-20])
    code, out = follow()
    assert code == 1
    assert f"must only grow: {len(text)} bytes were read, now it has {len(text) - 20}" in out
    path.write_text(text.replace("a,", "b,", 1) + "a,1,1,1\n")
    code, out = follow()
    assert code == 1
    assert f"its first {len(text)} bytes changed" in out
    assert saved_state(tmp_path) == before


def test_other_settings_than_the_saved_ones_are_refused(tmp_path, follow):
    with_guess(people(30)).to_csv(tmp_path / "cases.csv", index=False)
    follow()

    assert follow(delta=0.2) == (2, "Error: `--delta` must be as in the saved state, 0.05, got 0.2")


@pytest.mark.parametrize(
    ("name", "content", "code", "message"),
    [
        ("cases.csv", b"group,x,good,guess\na,1,1\n", 1, "must have 4 values, got 3"),
        ("cases.csv", b"group,x,good,guess\n\xff,1,1,1\n", 1, "must be UTF-8 text"),
        ("cases.jsonl", b"[1]\n", 1, "must be a JSON object, got '[1]'"),
        ("cases.jsonl", b"{\n", 1, "must be a JSON object, got '{'"),
        ("cases.xlsx", b"", 2, "`DATA` must be of type .csv"),
        ("absent.csv", None, 2, "`DATA` must be an existing file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, follow, name, content, code, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    found, out = follow(name)

    assert found == code
    assert message in out
    assert not (tmp_path / "s").exists()


def test_scores_bins_and_ranges_from_the_command_line(tmp_path, capsys):
    frame = people(40).assign(
        age=lambda f: 20 + 10 * f["x"], score=lambda f: (f["group"] == "a") / 2
    )
    frame.drop(columns="x").to_csv(tmp_path / "cases.csv", index=False)
    code = run("monitor", tmp_path / "cases.csv", "--state", tmp_path / "s", "--label", "good",
               "--score", "score", "--labels", "0,1", "--sensitive", "group", "--bins.age", "30,50",
               "--loss", "brier", "--delta", "0.5")  # fmt: skip

    assert code == 0
    assert "cases.csv, 40 cases" in capsys.readouterr().out
    saved = json.loads((tmp_path / "s").read_text())
    assert saved["settings"]["bins"] == {"age": [30.0, 50.0]}
    assert len(saved["stream"]["counts"]) <= 12


def test_a_state_can_be_compared():
    state = told().update(with_guess(people(10)))

    assert replace(state, n=11) != state


def test_columns_are_settled_by_the_first_records():
    monitor = told(bins={"z": [1]})
    with pytest.raises(ft.InputError, match="`bins` must name columns of the points, got 'z'"):
        monitor.update(with_guess(people(5)))
    with pytest.raises(ft.DataError, match="'x' must hold single values"):
        told().update(pd.DataFrame({"group": ["a"], "x": [[1]], "good": [1], "guess": [1]}))


def test_a_fitted_model_gets_the_columns_it_knows():
    from sklearn.tree import DecisionTreeClassifier

    frame = people(80).assign(group=lambda f: (f["group"] == "b").astype(int))
    model = DecisionTreeClassifier(random_state=0).fit(frame[["x", "group"]], frame["good"])
    options = dict(y="good", model=model, sensitive_features="group", levels={"group": [0, 1]})
    state = ft.Monitor(**options, delta=0.1).update(frame)
    result = ft.audit(frame, "good", model=model, sensitive_features="group")

    assert state.statistic == pytest.approx(result.statistic, rel=1e-12)
    with pytest.raises(ft.InputError, match=r"fitted on \(x, group\), got group"):
        ft.Monitor(**options, features=["group"], delta=0.1).update(frame)


def test_outcomes_of_a_fitted_model_lie_between_its_labels():
    from sklearn.tree import DecisionTreeClassifier

    frame = people(80).assign(group=lambda f: (f["group"] == "b").astype(int))
    model = DecisionTreeClassifier(random_state=0).fit(frame[["x", "group"]], 3 * frame["good"])
    monitor = ft.Monitor(model=model, sensitive_features="group", levels={"group": [0, 1]},
                         loss="outcome", delta=0.1)  # fmt: skip

    assert monitor.settings.most_gain == 3
    assert monitor.update(frame).n == 80


def test_numbers_as_labels():
    frame = with_guess(people(40))
    options = dict(loss="absolute", loss_range=(0, 1))
    result = ft.audit(frame, "good", y_pred="guess", sensitive_features="group", **options)

    assert told(**options).update(frame).statistic == pytest.approx(result.statistic)
    with pytest.raises(ft.DataError, match="`y` must be numeric for the loss 'absolute'"):
        told(**options).update(frame.assign(good="yes"))


def test_combinations_that_are_not_offered():
    with pytest.raises(ft.InputError, match="`y_pred` must be one column"):
        told(y_pred=["guess", "x"])
    with pytest.raises(ft.InputError, match="`bins` must be left out with `targets`"):
        told(targets=people(3), bins={"x": [1]})


def test_the_picture_shows_the_statistic_and_the_bounds_at_each_look():
    monitor = asking()
    with pytest.raises(ft.InputError, match="a monitor can be drawn once it has taken in a record"):
        monitor.plot()
    state = monitor.update(people(200))
    chart = monitor.plot().to_dict()
    rows = max(chart["datasets"].values(), key=len)

    looks = [look for look in state.history if look.n < 200]
    assert [row["n"] for row in rows] == [*(look.n for look in looks), 200]
    assert [row["statistic"] for row in rows] == [
        *(look.statistic for look in looks), state.statistic,
    ]  # fmt: skip
    assert all(row["lower"] <= row["upper"] for row in rows)
