"""fairtransport audit with a model, with targets, and the files it writes."""

import json
import os
import pickle
from pathlib import Path

import pandas as pd
import pytest

import fairtransport as ft

TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race", "--seed", "1"]
ASKED = ["--label", "good", "--sensitive", "race", "--seed", "1"]
REJECTED = [*ASKED, "--model", "model.skops", "--delta", "0.001"]


@pytest.mark.parametrize(
    "flags", [["--model", "model.skops"], ["--model", "model.pkl", "--allow-pickle"]]
)
def test_a_model_from_a_file_is_asked(flags, run, folder):
    model = pickle.loads((folder / "model.pkl").read_bytes())  # noqa: S301
    expected = ft.audit(
        folder / "people.csv", "good", model=model, sensitive_features=["race"],
        delta=0.01, rng=1,
    )  # fmt: skip

    done = run("audit", "people.csv", *ASKED, *flags, "--delta", "0.01", "--verbose")

    assert done.code == 3
    assert f"FaiTH statistic {expected.statistic:.4f}" in done.words
    assert f"Model queries {expected.queried}" in done.words
    assert "Compared with the same person in another group" in done.words


def test_a_type_can_be_trusted(run):
    line = ["audit", "people.csv", *ASKED, "--model", "own.skops"]

    assert run(*line).code == 1
    assert run(*line, "--trust", "random.Random").code == 0


def test_declared_levels_leave_no_note(run):
    line = ["audit", "people.csv", *ASKED, "--model", "model.skops", "--delta", "0.3"]
    note = "The verdict covers the values of race that occur in the data (race: a, b)"

    assert note in run(*line).words
    assert note not in run(*line, "--levels.race", "a,b").words


def test_levels_may_leave_some_out_but_not_all(run):
    line = ["audit", "people.csv", *ASKED, "--model", "model.skops", "--levels.race"]
    done = run(*line, "z")

    assert done.code == 2
    message = "Error: `--levels.race` must hold at least one value that occurs, got ['z']\n"
    assert done.err == message
    assert (
        "are compared only with copies that have the named values of race" in run(*line, "a").words
    )


def test_columns_change_together_by_flag_and_by_file(run, folder):
    line = ["audit", "people.csv", "--model", "model.skops", "--seed", "1"]
    by_flag = run(*line, "--label", "good", "--sensitive", "race", "--together", "race,age")
    note = "Copies have the combinations of race and age that occur in the data"

    assert note in by_flag.words
    for sets in ('["race,age"]', '[["race", "age"]]'):
        text = f'[audit]\nlabel = "good"\nsensitive = ["race"]\ntogether = {sets}\n'
        (folder / "sets.toml").write_text(text)
        assert note in run(*line, "--config", "sets.toml").words


ORDER = ["bronze", "silver", "gold"]


def test_an_order_of_labels_by_flag_and_by_file(run, folder):
    from tests.cli.conftest import fitted

    people = pd.read_csv(folder / "people.csv")
    ranks = ((people["age"] - 20) // 3 - (people["race"] == "b")).clip(0, 2)
    people["tier"] = [ORDER[rank] for rank in ranks]
    people.to_csv(folder / "tiers.csv", index=False)
    model = fitted(people.assign(guess=people["tier"]), ["race", "age"])
    (folder / "tiers.pkl").write_bytes(pickle.dumps(model))
    line = ["audit", "tiers.csv", "--model", "tiers.pkl", "--allow-pickle", "--label", "tier",
            "--sensitive", "race", "--seed", "1", "--json", "-"]  # fmt: skip
    result = ft.audit(people, "tier", model=model, favourable=ORDER, sensitive_features="race",
                      rng=1)  # fmt: skip
    (folder / "order.toml").write_text(f"[audit]\nfavourable = {json.dumps(ORDER)}\n")
    repeated = [part for label in ORDER for part in ("--favourable", label)]

    assert result.decisions.worse_off.people > 0
    for more in (["--favourable", ",".join(ORDER)], repeated, ["--config", "order.toml"]):
        decisions = json.loads(run(*line, *more).out)["decisions"]
        assert decisions["favourable"] == ORDER
        assert decisions["worse_off"]["people"] == result.decisions.worse_off.people
    one = json.loads(run(*line, "--favourable", "gold").out)["decisions"]
    assert one["favourable"] == ["gold"]
    assert run(*line, "--favourable", "bronze,", "gold").err.endswith(
        "the parts of a list have a comma between them: --favourable bronze,gold\n"
    )


def test_targets_are_people_to_compare_with(run, folder):
    expected = ft.audit(
        folder / "people.csv", "good", y_pred="guess", sensitive_features=["race"],
        targets=folder / "people.csv",
    )  # fmt: skip

    done = run("audit", "people.csv", *TOLD, "--targets", "people.csv", "--verbose")

    assert done.code == 0
    assert "Compared with the people of `targets`" in done.words
    assert f"FaiTH statistic {expected.statistic:.4f}" in done.words


def test_a_report_and_json_are_written(run, folder, tmp_path):
    report, result = tmp_path / "report.html", tmp_path / "audit.json"
    expected = ft.audit(
        folder / "people.csv", "good", y_pred="guess", sensitive_features=["race"], rng=1
    )

    done = run("audit", "people.csv", *TOLD, "--report", report, "--json", result)

    assert done.code == 0
    assert report.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(result.read_text("utf-8")) == expected.summary.as_json()
    assert f"Wrote {report}\nWrote {result}\n" in done.out


def test_markdown_is_written_by_its_ending(run, tmp_path):
    report = tmp_path / "report.md"
    assert run("audit", "people.csv", *REJECTED, "--report", report).code == 3
    assert "δ-fairness rejected" in report.read_text("utf-8")


def test_json_on_standard_output_stands_alone(run):
    done = run("audit", "people.csv", *REJECTED, "--json", "-")

    assert (done.code, done.err) == (3, "")
    document = json.loads(done.out)
    assert document["statistic"] > 0
    assert document["verdict"] == "rejected"


@pytest.mark.parametrize(
    ("flags", "at_least"),
    [
        (["--share"], 5),
        (["--share-at-least", "8"], 8),
        (["--share", "--share-at-least", "8"], 8),
    ],
)
def test_what_is_shared_hides_small_cells_in_every_document(flags, at_least, run, tmp_path):
    report = tmp_path / "a.html"
    plain = json.loads(run("audit", "people.csv", *TOLD, "--json", "-").out)
    done = run("audit", "people.csv", *TOLD, *flags, "--json", "-", "--report", report)
    shared = json.loads(done.out)

    assert shared["suppression"]["at_least"] == at_least
    assert shared["provenance"]["data_sha256"] is None
    assert all(move["people"] >= at_least for move in shared["moves"])
    page = report.read_text("utf-8")
    assert plain["provenance"]["data_sha256"] not in page
    assert f"fewer than {at_least} people" in page


def test_quiet_still_writes(run, tmp_path):
    report = tmp_path / "a.html"
    done = run("audit", "people.csv", *TOLD, "--quiet", "--report", report)

    assert done == (0, "", "")
    assert report.exists()


@pytest.mark.parametrize(
    ("flag", "name"), [("--report", "a.html"), ("--report", "a.md"), ("--json", "a.json")]
)
def test_a_file_that_cannot_be_written_is_said(flag, name, run, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = run("audit", "people.csv", *TOLD, flag, tmp_path / name)

    assert done.code == 1
    assert done.err == (
        f"Error: `{flag}` could not be written to '{tmp_path}/{name}': No space left on device\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_links_in_a_circle_are_no_place_for_files(run, tmp_path):
    (tmp_path / "a.html").symlink_to("b.html")
    (tmp_path / "b.html").symlink_to("a.html")
    circle = tmp_path / "a.html"
    for line in (["--report", circle], ["--json", circle], ["--json", circle / "x.json"]):
        done = run("audit", "people.csv", *TOLD, *line)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"Error: `{line[0]}` must be ")
    for flag in ("--targets", "--train", "--model", "--config"):
        done = run("audit", "people.csv", *TOLD, flag, circle)
        assert (done.code, done.out) == (2, "")
        assert flag in done.err


def test_devices_are_written_to(run):
    done = run("audit", "people.csv", *TOLD, "--json", os.devnull)

    assert (done.code, done.err) == (0, "")
    assert Path(os.devnull).is_char_device()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no such device")  # noqa: PTH110
def test_json_can_name_standard_output(shell):
    done = shell("audit", "people.csv", *TOLD, "--json", "/dev/stdout")

    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["statistic"] > 0


def test_group_metrics_learn_the_favourable_label_and_the_privileged_group(run):
    line = ["audit", "people.csv", *TOLD, "--json", "-"]
    plain = json.loads(run(*line).out)["group_metrics"]
    signed = json.loads(run(*line, "--favourable", "1", "--privileged.race", "a").out)

    assert plain[0]["statistical_parity_difference"] is None
    (race,) = signed["group_metrics"]
    assert (race["favourable"], race["reference"]) == (1, {"race": "a"})
    assert race["statistical_parity_difference"] < 0
    done = run(*line, "--favourable", "1", "--privileged.race", "z")
    assert done.code == 2
    assert "must be one of 'a', 'b', 'highest', got 'z'" in done.err


@pytest.mark.slow
def test_the_same_audit_writes_the_same_bytes_in_another_process(run, shell, tmp_path):
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    line = ["audit", "people.csv", *TOLD, "--report"]

    assert run(*line, tmp_path / "own.html").code == 0
    assert shell(*line, tmp_path / "other.html", env={"PYTHONHASHSEED": seed}).code == 0
    assert (tmp_path / "own.html").read_bytes() == (tmp_path / "other.html").read_bytes()


STALE = '<?xml version="1.0"?>\n<testsuites>\n  <testsuite name="fairtransport: old">'


def test_a_result_is_written_through_a_link_and_not_in_its_place(run, tmp_path):
    target, path = tmp_path / "target.xml", tmp_path / "link.xml"
    target.write_text(STALE)
    path.symlink_to(target)

    assert run("audit", "people.csv", *REJECTED, "--junit", path).code == 3
    assert path.is_symlink()
    assert "<failure" in target.read_text("utf-8")


def test_a_result_is_written_into_a_pipe(run, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("audit", "people.csv", *REJECTED, "--junit", path).code == 3
        assert path.is_fifo()
        assert b"<failure" in os.read(reader, 1 << 16)
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    "wrong",
    [["--delta", "five"], ["--no-such-flag"], ["--config", "key.toml"], ["--label", "none"]],
    ids=" ".join,
)
def test_no_error_leaves_the_result_of_an_earlier_run(run, tmp_path, wrong):
    path = tmp_path / "audit.xml"
    for given in (["--junit", path], [f"--junit={path}"]):
        path.write_text(STALE)
        assert (
            run("audit", "people.csv", *ASKED, "--model", "model.skops", *given, *wrong).code == 2
        )
        assert not path.exists()


def test_an_error_removes_nothing_that_no_audit_wrote(run, tmp_path):
    data = tmp_path / "people.csv"
    data.write_text("race,good\na,1\n")
    line = ["audit", data, *TOLD, "--junit", data]

    assert "must not be another file of this command" in run(*line).err
    assert run(*line, "--delta", "five").code == 2
    assert data.read_text() == "race,good\na,1\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--report", "-"], "`--report` must end in .html or .md, got '-'"),
        (["--junit", "-"], "`--junit` must be a file, got '-'"),
        (["--moves", "-"], "`--moves` must end in .csv or .parquet, got '-'"),
        (
            ["--model", "none.skops"],
            "there is no model file 'none.skops' for `--model`",
        ),
    ],
)
def test_a_rule_is_told_of_what_was_given(run, given, message):
    model = [] if "--model" in given else ["--model", "model.skops"]
    done = run("audit", "people.csv", *ASKED, *model, *given)

    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_the_help_says_how_tests_are_told_apart(run):
    assert "is named after --title or --data-name" in run("audit", "--help").words
