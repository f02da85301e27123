"""All moves as a file, and how many of them documents list."""

import csv
import io
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.cli import main
from fairtransport.data.database import Database
from fairtransport.explain.moves import encode_moves
from fairtransport.report.sections.moves import move_count_sentence
from fairtransport.report.terminal import print_moves

RNG = np.random.default_rng(3)
SIZE = 400
PEOPLE = pd.DataFrame({
    "sex": RNG.choice(["f", "m"], SIZE), "age": RNG.integers(20, 60, SIZE),
    "job": RNG.choice(["clerk", "cook"], SIZE), "good": RNG.integers(0, 2, SIZE),
})  # fmt: skip
PROFILE = ["sex", "age", "job"]


def model(points):
    return ((points["age"] > 40) ^ (points["sex"] == "m")).astype(int)


def audited(**more):
    return ft.audit(
        PEOPLE, "good", model=model, features=PROFILE, sensitive_features="sex", rng=0, **more
    )


def test_screen_report_and_document_agree_on_how_many_there_are(tmp_path, capsys):
    result = audited()
    found = len(result.moves)
    document = json.loads(result.to_json(tmp_path / "a.json", max_moves=12).read_text("utf-8"))
    page = result.to_html(tmp_path / "a.html", max_moves=12).read_text("utf-8")
    table = re.search(r'<table id="table-moves">.*?</table>', page, re.DOTALL)[0]

    assert found > 12
    assert document["moves_found"] == found
    assert len(document["moves"]) == table.count("<tr>") - 1 == 12
    assert f"12 of {found} swaps are shown" in page
    assert f"10 of {found} swaps are shown" in result.to_markdown()
    decisions = result.decisions
    listed = sum(case.people for case in decisions.cases[:5])
    assert listed < decisions.changed.people
    assert f"{listed} of the {decisions.changed.people} people" in result._repr_html_()
    print_moves(result.headline)
    shown = " ".join(capsys.readouterr().out.split())
    file = pd.read_csv(result.write_moves(tmp_path / "moves.csv"))
    assert f"10 of {len(file)} swaps are shown" in shown


def test_where_all_are_shown_nothing_is_said():
    result = audited()

    assert len(result.summary.moves) == len(result.moves)
    assert move_count_sentence(result.summary) is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_file_has_all_moves(tmp_path, ending):
    result = audited()
    path = result.write_moves(tmp_path / f"moves.{ending}")
    back = pd.read_csv(path) if ending == "csv" else _read_parquet(path)

    pd.testing.assert_frame_equal(back, result.moves, check_dtype=False)
    assert len(back) > 3


def test_scores_have_a_column_a_class(tmp_path):
    people = PEOPLE.assign(kind=RNG.choice(["high", "low", "mid"], SIZE))
    scores = (np.abs(RNG.normal(size=(SIZE, 3))) + 0.1)[people.groupby(PROFILE).ngroup()]
    result = ft.audit(
        people.drop(columns="good"), "kind", y_score=scores / scores.sum(axis=1, keepdims=True),
        sensitive_features="sex", features=PROFILE, loss="brier", rng=0, deterministic=True,
    )  # fmt: skip
    back = _read_parquet(result.write_moves(tmp_path / "m.parquet"))

    firsts = [one[1] for one in result.moves["prediction_after"]]
    assert back["prediction_after_low"].tolist() == firsts
    assert result.summary.provenance.classes == ("high", "low", "mid")
    assert re.search(r"high 0\.\d{3}, low 0\.\d{3}, mid 0\.\d{3}", result.to_markdown())
    assert result.document(5).provenance.classes == ()


def _read_parquet(path):
    import duckdb

    with duckdb.connect() as connection:
        return connection.read_parquet(str(path)).df()


def test_the_file_cannot_be_shared_and_its_ending_is_checked_before_any_work(tmp_path, capsys):
    PEOPLE.assign(guess=0).to_csv(tmp_path / "p.csv", index=False)
    line = ["audit", tmp_path / "p.csv", "--label", "good", "--prediction", "guess", "--sensitive"]
    line = [str(one) for one in [*line, "sex", "--fail-on", "never", "--quiet"]]

    assert main([*line, "--moves", str(tmp_path / "m.csv"), "--share"]) == 2
    assert "`--moves` must not be given with `--share`" in capsys.readouterr().err
    assert main([*line, "--moves", str(tmp_path / "m.xlsx")]) == 2
    assert "`--moves` must end in .csv or .parquet" in capsys.readouterr().err
    assert not list(tmp_path.glob("m.*"))
    with raises(ft.InputError, "`path` must end in .csv or .parquet"):
        audited().write_moves(tmp_path / "m.txt")


def test_a_table_of_many_moves_costs_a_few_calls_a_move():
    size = 100_000
    people = pd.DataFrame({
        "sex": RNG.choice(["f", "m"], size), "age": RNG.integers(20, 60, size),
        "pay": RNG.integers(0, 10_000, size), "good": RNG.integers(0, 2, size),
    })  # fmt: skip
    result = ft.audit(
        people, "good", model=model, features=["sex", "age", "pay"], sensitive_features="sex",
        delta=0.1, rng=0,
    )  # fmt: skip
    _ = result.verdict, result.moved
    calls = 0

    def count(_frame, event, _told):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        moves = result.moves
    finally:
        sys.setprofile(None)

    assert len(moves) > 40_000
    assert calls < 5 * len(moves), (calls, len(moves))


def test_a_table_without_a_place_for_it_is_a_sentence():
    database = Database()
    shutil.rmtree(database.folder)
    with pytest.raises(ft.DataError, match=r"a Parquet file could not be made in .*IO Error"):
        database.as_parquet(PEOPLE)


def test_text_that_a_spreadsheet_would_run_is_no_formula():
    texts = ["=1+1", "+49", "-1", "@SUM(A1)", "\t=1", "\n=1", "\r=1", "plain", ""]
    columns = {"from_x": texts, "=name": range(9), "people": [-1.0] * 9}
    table = pd.read_csv(io.BytesIO(encode_moves(Path("moves.csv"), columns, ())), dtype=str,
                        keep_default_na=False)  # fmt: skip
    assert table["from_x"].tolist() == [*(f"'{text}" for text in texts[:7]), "plain", ""]
    assert "'=name" in table.columns
    assert set(table["people"]) == {"-1.0"}


@pytest.mark.parametrize("text", ["x\r=1+1", "x\n=1+1", "x\r\n=1+1", 'x"\r=1+1'])
def test_a_value_of_several_lines_stays_one_cell(text):
    data = encode_moves(Path("moves.csv"), {"from_x": [text, "y"], f"to_{text}": [1, 2]}, ())
    header, *rows = csv.reader(io.StringIO(data.decode(), newline=""))
    assert header == ["from_x", f"to_{text}"]
    assert rows == [[text, "1"], ["y", "2"]]
    table = pd.read_csv(io.BytesIO(data))
    assert table["from_x"].tolist() == [text, "y"]
    assert table.columns.tolist() == header
