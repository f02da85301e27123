"""A file that grows holds what an audit of it reads."""

import pytest


@pytest.mark.parametrize(
    "words",
    [["0", "1 to 3"], ["0", "7"], ["007", "7"], ["0", "0.5"], ["1e3", "2"], ["True", "False"],
     ["true", "True"], ["F", "M"], ["F", "T"], ["yes", "no"], ["1_000", "2"], ["-1", "+2"],
     ["9223372036854775808", "1"], ["1.", ".5"], ["a", ""], ["1", ""], ["nan", "1.5"],
     ["inf", "1.5"], ["-0", "5"], ["00.5", "5"], [" 7", "5"]],
)  # fmt: skip
def test_columns_hold_what_an_audit_of_the_file_reads(tmp_path, words):
    from fairtransport.data.files import FileSource
    from fairtransport.monitor.growing_file import GrowingFile

    path = tmp_path / "one.csv"
    path.write_text("x,y\n" + "".join(f"{word},1\n" for word in words))
    (records, _), *_ = GrowingFile(path).pieces()
    column = FileSource(path).count(["x"], {}, None).columns["x"]
    read = {record["x"] for record in records}

    assert read == set(column.to_list())
    assert {type(one) for one in read} == {type(one) for one in column.to_list()}
