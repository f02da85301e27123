"""Rows of several widths: no line is left out in silence, and the one that is unlike is named."""

import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.data.files import FileSource


def rows(many, more="", end="\n", job="j"):
    return "".join(f"{'mf'[at % 2]},{job}{at % 3},{at % 2}{more}{end}" for at in range(many))


NAMES = "g,job,y\n"
UNEVEN = {
    "a wider part": (NAMES + rows(1000) + "g,job,y,office\n" + rows(200, ",x"), 1002, 4),
    "a short wider part": (NAMES + rows(5000) + "g,job,y,office\n" + rows(20, ",x"), 5002, 4),
    "a few rows before": (NAMES + rows(3) + rows(200, ",x"), 5, 4),
    "cut off": (NAMES + rows(1000) + "m,j1", 1002, 2),
    "in the middle of the first value": (NAMES + rows(1000) + "m", 1002, 1),
    "one value too many": (NAMES + rows(1000) + "m,j1,1,9", 1002, 4),
    "no two lines alike": (NAMES + "".join(f"m,{at},1\n" for at in range(500)) + "f,1", 502, 2),
}


@pytest.mark.parametrize(("text", "line", "many"), UNEVEN.values(), ids=UNEVEN)
def test_a_row_with_another_number_of_values_is_named(text, line, many, tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(text)
    some = "1 value" if many == 1 else f"{many} values"

    with pytest.raises(ft.DataError) as raised:
        _ = FileSource(path).columns
    assert str(raised.value) == (
        f"rows must have as many values as there are columns, but line {line} of {str(path)!r} has "
        f"{some} and line 1 has 3"
    )


@pytest.mark.parametrize("repeating", [True, False])
def test_lines_of_one_file_that_end_in_two_ways_are_named(repeating, tmp_path):
    path = tmp_path / "cases.csv"
    second = rows(50) if repeating else "".join(f"m,k{at},1\n" for at in range(50))
    path.write_bytes((NAMES + rows(50) + second.replace("\n", "\r\n")).encode())

    with raises(ft.DataError, "line 1 of ", " ends in \\n and line 52 in \\r\\n"):
        _ = FileSource(path).columns


@pytest.mark.parametrize("before", ["", "A title\n", "# made, by us\n", "\n\n", "\ufeff"])
def test_titles_remarks_and_empty_lines_may_stand_before_the_names(before, tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(before + NAMES + rows(60), "utf-8")
    source = FileSource(path)

    assert source.columns == ["g", "job", "y"]
    assert source.count(["g", "y"], {}, None).counts.sum() == 60


def test_of_several_files_the_one_is_named(tmp_path):
    (tmp_path / "a.csv").write_text(NAMES + rows(90))
    (tmp_path / "b.csv").write_text(NAMES + rows(90) + "m,j1")

    with raises(ft.DataError, "line 92 of ", "b.csv' has 2 values and line 1 has 3"):
        _ = FileSource(tmp_path).columns


@pytest.mark.parametrize("repeating", [True, False])
@pytest.mark.parametrize(("first", "other"), [("\n", "\r\n"), ("\r\n", "\n")])
@pytest.mark.parametrize("last", ["", "end"])
def test_each_file_may_end_its_lines_in_its_own_way(repeating, first, other, last, tmp_path):
    def written(name, end, many):
        lines = [f"{'mf'[at % 2]},{name}{at % 3 if repeating else at},1" for at in range(many)]
        text = end.join(["g,job,y", *lines]) + (end if last else "")
        (tmp_path / f"{name}.csv").write_bytes(text.encode())

    written("a", first, 100)
    for name in "bcd":
        written(name, other, 1)
    written("e", first, 30)
    source = FileSource(tmp_path)

    assert source.count(["g", "job"], {}, None).counts.sum() == 133
    table = source.table()
    assert len(table) == 133
    assert set(table["y"].to_list()) == {1}


def test_a_first_file_of_names_alone_is_no_part_of_the_next(tmp_path):
    (tmp_path / "a.csv").write_text("g,job,y")
    (tmp_path / "b.csv").write_text(NAMES + "".join(f"m,k{at},1\n" for at in range(100)))
    source = FileSource(tmp_path)

    assert source.columns == ["g", "job", "y"]
    assert source.count(["g", "job"], {}, None).counts.sum() == 100
