"""Text files: the distinct lines say what all lines say, and how often a file is read for that."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairtransport as ft
from fairtransport.cli import main
from fairtransport.data import text_files
from fairtransport.data.database import Database, duckdb_path
from fairtransport.data.files import FileSource
from fairtransport.data.text_files import lines_repeat

# of numbers with blanks behind them, infinities and dates, DuckDB makes what the first row says
WORDS = [
    "1", "2", "1.5", "1e3", "007", "+3", " 7", "", "a", "b", "yes", "no", "True", "False", "true",
    "T", "F", "2020-01-31", "2021-05-01", "12:30:15", '"8"', '"y;z"', '"q,r"', '"a ""b"""', "'x'",
    "o'neil", "#2", "NULL", "NA", "-0", "00.5", "0x10", "é", "a b", '"two\\nlines"', '""',
    '"x\\\\"y"', '5" pipe', "1_000", "-", "1 to 3", "0", "100%", "a|b", "x;y",
]  # fmt: skip


def counted(path, monkeypatch, *, by_lines):
    """Return all that is found in a file, by its distinct lines or by looking through it."""
    monkeypatch.setattr(text_files, "lines_repeat", lambda paths: by_lines)
    try:
        source = FileSource(path)
        names = source.columns
        found = source.count(names, {}, None)
        listed = source.table().rows()
    except ft.DataError as error:
        return str(error), False
    values = [column.to_list() for column in found.columns.values()]
    rows = sorted(map(repr, zip(*values, found.counts.tolist(), strict=True)))
    kinds = [column.levels.dtype.kind for column in found.columns.values()]
    return (names, kinds, rows, sorted(map(repr, listed))), source.relation.times is not None


@st.composite
def text_of_rows(draw):
    """Return a file of few distinct rows, with whatever separates and ends them."""
    separator = draw(st.sampled_from([",", ",", ";", "\t", "|"]))
    width = draw(st.integers(1, 4))
    words = [draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)) for _ in range(width)]
    row = st.tuples(*(st.sampled_from(column) for column in words)).map(separator.join)
    rows = draw(st.lists(row, min_size=1, max_size=12)) * draw(st.integers(1, 3))
    if draw(st.integers(0, 5)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(st.sampled_from(["", "x", "a,b"])))
    names = separator.join(draw(st.permutations(["a", "b c", "x'y", "n"]))[:width])
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    before = draw(st.sampled_from(["", "", "", "\ufeff", f"A title{end}"]))
    return before + end.join([names, *rows]) + draw(st.sampled_from(["", end]))


@pytest.mark.slow
@pytest.mark.versions
@settings(max_examples=60)
@given(text_of_rows())
def test_distinct_lines_say_what_the_file_says(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("text") / "rows.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patched:
        found, _ = counted(path, patched, by_lines=True)
        expected, _ = counted(path, patched, by_lines=False)

    assert found == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_with_quotes_empty_lines_and_its_own_names_among_the_rows(
    end, mark, tmp_path, monkeypatch
):
    rows = ['"a, b",1', "c,2", "", "g,x", '"a, b",1', '"say ""no""",3']
    path = tmp_path / "rows.csv"
    path.write_bytes((mark + end.join(["g,x", *rows * 3])).encode())
    found, was_by_lines = counted(path, monkeypatch, by_lines=True)

    assert was_by_lines
    assert found == counted(path, monkeypatch, by_lines=False)[0]
    assert found[2] == sorted([
        "('a, b', '1', 6)", "('c', '2', 3)", "('g', 'x', 3)", "('say \"no\"', '3', 3)"
    ])  # fmt: skip


@pytest.mark.parametrize(
    "row", ['"two\nlines",1', "a,1,2", "#b", 'a,5" pipe', "a\x1f,b"],
    ids=["two lines", "too many", "a comment", "half a quote", "a sign of our own"],
)  # fmt: skip
def test_lines_that_are_no_rows_are_left_to_the_file(row, tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("g,x\n" + "a,1\n" * 30 + f"{row}\n" + "b,1\n" * 30)
    found, was_by_lines = counted(path, monkeypatch, by_lines=True)

    assert not was_by_lines
    assert found == counted(path, monkeypatch, by_lines=False)[0]


def test_the_order_of_rows_does_not_matter(tmp_path):
    rows = [f"{group},{day},{x}" for group in "ab" for day in ("2020-01-31", "") for x in (1, 2.5)]
    seen = set()
    for seed in range(4):
        path = tmp_path / f"{seed}.csv"
        path.write_text("\n".join(["g,day,x", *np.random.default_rng(seed).permutation(rows * 9)]))
        space = ft.data.build_space(path, sensitive_features="g", missing="level")
        seen.add(str([column.to_list() for column in space.columns.values()] + [*space.counts]))

    assert len(seen) == 1


def test_whether_lines_repeat_is_told_by_pieces(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.csv"
    lines = 400_000
    for distinct, repeat in ((1_000, True), (lines // 8, True), (lines * 8, False)):
        numbers = rng.integers(distinct, size=lines)
        path.write_text("\n".join(map(str, numbers.tolist())))
        assert lines_repeat([path]) is repeat
        half = path.read_bytes()[: path.stat().st_size // 2]
        (tmp_path / "other.csv").write_bytes(half)
        assert lines_repeat([path, tmp_path / "other.csv"]) is repeat


@pytest.fixture
def statements(monkeypatch):
    """What databases are asked from now on."""
    asked, run = [], Database.run
    monkeypatch.setattr(
        Database, "run", lambda database, text: asked.append(text) or run(database, text)
    )
    return asked


def scans(statements, path):
    """Return the statements that read a file."""
    return [text for text in statements if duckdb_path(path) in text]


def test_a_text_file_of_lines_that_repeat_is_read_once(tmp_path, statements):
    path = tmp_path / "rows.csv"
    path.write_text("g,x,y\n" + "a,1,0\nb,2.5,1\n" * 500)
    source = FileSource(path)
    assert source.columns == ["g", "x", "y"]
    source.count(["g", "x"], {}, None)
    source.count(["g", "y"], {}, None)

    assert len(scans(statements, path)) == 1


@pytest.mark.parametrize("similarity", ["ignore-sensitive", "sensitive-subspace"])
def test_an_audit_by_the_command_line_reads_a_file_once(similarity, tmp_path, statements):
    path, fitted_on = tmp_path / "rows.csv", tmp_path / "others.csv"
    for file in (path, fitted_on):
        file.write_text("g,x,y,p\n" + "a,1,0,1\nb,2.5,1,1\nb,1,1,0\n" * 300)
    words = ["audit", str(path), "--label", "y", "--prediction", "p", "--sensitive", "g",
             "--similarity", similarity, "--quiet"]  # fmt: skip
    if similarity != "ignore-sensitive":  # which has to know what columns there are
        words += ["--similarity-settings.fit", str(fitted_on)]
    assert main(words) in {0, 5}

    assert len(scans(statements, path)) == 1


def test_a_text_file_of_distinct_lines_is_looked_through_once(tmp_path, statements):
    path = tmp_path / "rows.csv"
    path.write_text("g,x\n" + "".join(f"{'ab'[at % 2]},{at}\n" for at in range(500)))
    source = FileSource(path)
    source.count(source.columns, {}, None)

    looked, described, read = scans(statements, path)
    assert "FROM sniff_csv" in looked
    assert described.startswith("DESCRIBE")  # for which no row is read
    assert "GROUP BY" in read
    assert "auto_detect = false" in read
