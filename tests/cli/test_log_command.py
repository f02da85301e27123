"""fairtransport log: whose answers are kept, and how they are handed over."""

import csv
import json

import pytest

import fairtransport as ft
from fairtransport.cli import main

TOLD = ["--label", "good", "--sensitive", "race", "--features", "race,age", "--seed", "1"]


@pytest.fixture
def log(tmp_path, folder):
    """A log that an audit from the command line made."""
    path = tmp_path / "a.sqlite"
    line = ["audit", str(folder / "people.csv"), *TOLD, "--model", str(folder / "model.skops")]
    assert main([*line, "--query-log", str(path), "--quiet"]) == 0
    return path


def test_show_tells_whose_answers_there_are(log, capsys):
    capsys.readouterr()
    assert main(["log", "show", str(log)]) == 0
    out = capsys.readouterr().out
    assert "DecisionTreeClassifier" in out
    assert "20 queries about race, age, kind label" in " ".join(out.split())


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".sqlite"])
def test_export_writes_what_others_can_read(log, tmp_path, folder, ending, capsys):
    target = tmp_path / f"b{ending}"
    assert main(["log", "export", str(log), str(target)]) == 0
    assert f"Wrote {target}" in capsys.readouterr().out.replace("\n", "")
    if ending == ".csv":
        rows = list(csv.DictReader(target.read_text().splitlines()))
        assert len(rows) == 20
        assert set(rows[0]) == {
            "identity", "kind", "question.race", "question.age", "draw", "answer",
        }  # fmt: skip
    elif ending == ".jsonl":
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        assert {tuple(row["question"]) for row in rows} == {("age", "race")}
    else:
        line = ["audit", str(folder / "people.csv"), *TOLD, "--quiet", "--repeats", "0", "--json"]
        assert main([*line, str(tmp_path / "1.json"), "--model", str(folder / "model.skops")]) == 0
        assert main([*line, str(tmp_path / "2.json"), "--model", str(target)]) == 0
        assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["show", "absent.sqlite"], "there is no query log 'absent.sqlite'"),
        (["show", "people.csv"], "`FILE` must be the path of a file that ends in .sqlite"),
        (
            ["export", "a.sqlite", "b.xlsx"],
            "`OUTPUT` must end in .csv, .jsonl, .sqlite, got 'b.xls",
        ),
        (["export", "a.sqlite", "a.sqlite"], "`OUTPUT` must not be another file of this command"),
        (["export", "a.sqlite", "no/b.csv"], "`OUTPUT` must be in an existing folder"),
        (["export", "a.sqlite", "b.csv", "--identity", "me"], "`--identity` must be one that"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(log, monkeypatch, capsys, line, sentence):
    monkeypatch.chdir(log.parent)
    assert main(["log", *line]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_an_interrupted_audit_says_how_to_go_on(tmp_path, folder, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ft.access.FileModel, "answer", stop)
    path = tmp_path / "a.sqlite"
    line = ["audit", str(folder / "people.csv"), *TOLD, "--model", str(folder / "model.skops")]
    assert main([*line, "--query-log", str(path)]) == 130
    err = " ".join(capsys.readouterr().err.split())
    assert (
        "Stopped: 0 of 20 answers are in the query log 'a.sqlite': run the same audit again" in err
    )


def test_ways_of_asking_are_flags(folder, capsys):
    line = ["audit", str(folder / "people.csv"), *TOLD, "--model", str(folder / "model.skops")]
    more = ["--delta", "0.9", "--until-sure", "--query-limit", "6", "--repeats", "2"]
    assert main([*line, *more, "--price-per-1000", "3"]) in {0, 5}
    assert "4 queries, when the limit of queries was reached" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main([*line, "--price-per-1000", "-3"]) == 2
    assert "`--price-per-1000` must be a number of at least 0" in capsys.readouterr().err
