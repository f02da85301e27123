"""Endpoints and prompts from the command line."""

import json

import pandas as pd
from tests.access.faulty import Faulty
from tests.access.test_prompts import NAMES, PEOPLE, Chat

from fairtransport.cli import main

PROMPT = """
template = "{name} is {age}. Invite?"
answers = ["yes", "no"]
stand_ins = "names.csv"
"""


def audited(tmp_path, monkeypatch, *line):
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("cases.csv", index=False)
    words = ["audit", "cases.csv", "--label", "good", "--sensitive", "group", "--seed", "1",
             "--json", "audit.json", "--quiet", *line]  # fmt: skip
    code = main(words)
    return code, json.loads((tmp_path / "audit.json").read_text())


def test_an_endpoint_is_asked_as_the_flags_say(tmp_path, monkeypatch):
    with Faulty(lambda rows: ["yes" if row["group"] == "a" else "no" for row in rows]) as server:
        code, found = audited(
            tmp_path, monkeypatch, "--model", server.url, "--batch-size", "5", "--at-a-time", "1",
            "--features", "group,sex,age", "--timeout", "5", "--retries", "0",
            "--repeats", "0",
        )  # fmt: skip

    assert code == 0
    assert found["statistic"] > 0
    assert found["provenance"]["model"] == f"MLflow endpoint at {server.url}/invocations"
    assert server.most_at_once == 1
    assert server.requests == -(-found["queried"] // 5)
    assert server.most_often == 1


def test_a_prompt_stands_in_a_file(tmp_path, monkeypatch):
    NAMES.to_csv(tmp_path / "names.csv", index=False)
    (tmp_path / "hiring.toml").write_text(PROMPT)
    with Chat(lambda text: "yes" if text.startswith(("Emily", "Anne")) else "no") as server:
        code, found = audited(
            tmp_path, monkeypatch, "--model", f"{server.url}/v1", "--prompt", "hiring.toml"
        )

    assert code == 0
    assert found["statistic"] > 0
    assert found["provenance"]["features"] == ["group", "age"]
    assert "language model toy at" in found["provenance"]["model"]
    assert found["queried"] == len(PEOPLE[["group", "age"]].drop_duplicates())


def test_models_behind_addresses_are_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(PEOPLE).to_csv("cases.csv", index=False)
    with (
        Faulty(lambda rows: ["yes" if row["group"] == "a" else "no" for row in rows]) as old,
        Faulty(lambda rows: ["yes" if row["age"] > 30 else "no" for row in rows]) as new,
    ):
        code = main(
            ["compare", "cases.csv", "--label", "good", "--sensitive", "group", "--model",
             f"old={old.url}", "--model", f"new={new.url}", "--features", "group,sex,age",
             "--seed", "1", "--json", "c.json", "--quiet", "--retries", "0"]
        )  # fmt: skip

    assert code == 0
    audits = json.loads((tmp_path / "c.json").read_text())["models"]
    assert [one["statistic"] > 0 for one in audits] == [True, False]


def test_an_endpoint_that_is_down_points_to_a_complete_query_log(tmp_path, monkeypatch, capsys):
    flags = ["--features", "group,sex,age", "--query-log", "log.sqlite", "--retries", "0"]
    with Faulty(lambda rows: ["yes" if row["group"] == "a" else "no" for row in rows]) as server:
        code, document = audited(tmp_path, monkeypatch, "--model", server.url, *flags)
    line = ["audit", "cases.csv", "--label", "good", "--sensitive", "group", "--seed", "1",
            "--quiet", *flags, "--model"]  # fmt: skip
    hint = "the query log has every answer: --model log.sqlite repeats the audit without the"
    capsys.readouterr()

    for address in (server.url, f"{server.url}/invocations"):
        assert main([*line, address]) == 1
        assert hint in capsys.readouterr().err
    PEOPLE.assign(age=PEOPLE["age"] + 1).to_csv("cases.csv", index=False)
    assert main([*line, f"{server.url}/invocations"]) == 1
    assert hint not in capsys.readouterr().err
    assert main([*line, "http://127.0.0.1:9/invocations"]) == 1
    assert hint not in capsys.readouterr().err

    PEOPLE.to_csv("cases.csv", index=False)
    replay = [word for word in line if word not in {"--query-log", "log.sqlite", "--retries", "0"}]
    assert main([*replay, "log.sqlite", "--json", "again.json"]) == code
    assert json.loads((tmp_path / "again.json").read_text())["statistic"] == document["statistic"]
