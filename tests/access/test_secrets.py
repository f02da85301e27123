"""A token is in no file, log, error, report or object that an audit with one makes."""

import json
import logging
import pickle
import traceback

import numpy as np
import pytest
from tests.access.faulty import Faulty
from tests.access.models_of_people import FEATURES, people

import fairtransport as ft
from fairtransport._core import progress
from fairtransport.access import connect, prompt
from fairtransport.cli import main

TOKEN = "sesame-open-0123456789-abcdef"  # noqa: S105
PEOPLE = people(80)


class Parrot(Faulty):
    """A server that wants the token and repeats it whenever it can."""

    def __init__(self, says, **options):
        super().__init__(says, **options)
        self.status = 200

    def _handed_on(self, handler, body):
        heard = handler.headers.get("Authorization", "nothing")
        if handler.command == "POST" and (heard != f"Bearer {TOKEN}" or self.status != 200):
            return self.status if self.status != 200 else 401, json.dumps({"heard": heard}).encode()
        return super()._handed_on(handler, body)


def good(rows):
    return [int(row["race"] == "a") for row in rows]


@pytest.fixture(autouse=True)
def token(monkeypatch, caplog):
    monkeypatch.setenv("FAIRTRANSPORT_TOKEN", TOKEN)
    caplog.set_level(logging.DEBUG)


def is_hushed(text):
    return "sesame" not in text and "0123456789-abc" not in text


def files_in(folder):
    """Return all files and what they hold, whatever that is."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name: path.read_bytes().decode("latin-1") for path in found}


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_files_screens_logs_and_errors_of_the_command_line(
    status, tmp_path, monkeypatch, capfd, caplog
):
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("cases.csv", index=False)
    with Parrot(good) as server:
        server.status = status
        line = ["audit", "cases.csv", "--label", "good", "--sensitive", "race", "--features",
                ",".join(FEATURES), "--model", f"{server.url}/invocations", "--retries", "1",
                "--report", "report.html", "--json", "audit.json", "--delta", "0.65", "--seed", "1",
                "--debug"]  # fmt: skip
        assert main(line) == (status != 200)
    out, err = capfd.readouterr()

    assert ("Traceback" in err) == (f"{status}" in err) == (status != 200)
    assert is_hushed(out + err)
    assert is_hushed(caplog.text)
    assert "urllib3" in caplog.text
    files = files_in(tmp_path)
    assert len(files) == (3 if status == 200 else 1)
    assert all(map(is_hushed, files.values()))
    assert all(one.get("Authorization") == f"Bearer {TOKEN}" for one in server.headers)


class Searching(Parrot):
    """A parrot that reads all files of a folder whenever it is asked."""

    def __init__(self, says, folder):
        super().__init__(says)
        self.folder, self.read = folder, {}

    def _handed_on(self, handler, body):
        for name, text in files_in(self.folder).items():
            self.read[name] = self.read.get(name, "") + text
        return super()._handed_on(handler, body)


@pytest.mark.parametrize(
    ("says", "labels"), [(good, [0, 1]), (lambda rows: [TOKEN] * len(rows), ["no", "-"])],
    ids=["well-behaved", "repeats the token"],
)  # fmt: skip
def test_query_logs_and_what_is_made_of_them(says, labels, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    cases = PEOPLE.assign(good=np.array(labels)[PEOPLE["good"]])
    with Searching(says, tmp_path) as server:
        result = ft.audit(
            cases, "good", model=connect(server.url, batch_size=20, at_a_time=1),
            features=FEATURES, sensitive_features=["race"], rng=0,
            queries=ft.Queries(log="a.sqlite"),
        )  # fmt: skip
    # the log was open then, with its journal
    assert {"a.sqlite", "a.sqlite-wal", "a.sqlite-shm"} <= server.read.keys()
    assert all(map(is_hushed, server.read.values()))

    result.to_html("report.html")
    result.to_json("audit.json")
    assert main(["log", "show", "a.sqlite"]) == 0
    for name in ("b.csv", "b.jsonl", "b.sqlite"):
        assert main(["log", "export", "a.sqlite", name]) == 0
    made = files_in(tmp_path)
    assert {"a.sqlite", "b.csv", "b.jsonl", "b.sqlite", "report.html", "audit.json"} == made.keys()
    assert all(map(is_hushed, made.values()))
    out, err = capfd.readouterr()
    assert "queries" in err
    assert is_hushed(out + err)


@pytest.mark.parametrize("fault", ["shape", "text", "cut", "redirect", "huge"])
def test_errors_hold_no_token_whatever_goes_wrong(fault):
    repeated = f"http://me:{TOKEN}@127.0.0.1:1/{TOKEN}"
    with Parrot(good, always=fault, elsewhere=repeated) as server:
        box = connect(server.url, retries=0)
        with pytest.raises(ft.ModelError) as caught:
            box.answer(PEOPLE[FEATURES], "label")
    assert is_hushed("".join(traceback.format_exception(caught.value)))


def test_answers_that_repeat_the_token_do_not():
    with Parrot(lambda rows: [TOKEN] * len(rows)) as server:
        said = connect(server.url).answer(PEOPLE[FEATURES].head(2), "label")
    assert is_hushed(repr(said))


def test_boxes_do_not_keep_the_token():
    with Parrot(good) as server:
        boxes = [
            connect(server.url),
            prompt("{age}", server.url, answers=["yes", "no"], model="toy"),
        ]
        for box in boxes:
            for text in (repr(box), repr(vars(box)), box.identity, box.description, box.name):
                assert is_hushed(text)
            assert is_hushed(pickle.dumps(box).decode("latin-1"))


def test_a_token_goes_nowhere_in_the_open(monkeypatch):
    with pytest.raises(ft.InputError, match="`url` must begin with https: where a token is sent"):
        connect("http://example.org/invocations")
    monkeypatch.setenv("SHORT", "abc")
    with pytest.raises(ft.InputError, match="must be 8 or more printable ASCII") as caught:
        connect("https://example.org/invocations", token_variable="SHORT")  # noqa: S106
    assert "abc" not in str(caught.value)


def test_a_token_of_another_name(monkeypatch):
    monkeypatch.setenv("OTHER", "another-token-of-mine")
    with Faulty(good) as server:
        connect(server.url, token_variable="OTHER").answer(PEOPLE[FEATURES], "label")  # noqa: S106
    assert {one["Authorization"] for one in server.headers} == {"Bearer another-token-of-mine"}
