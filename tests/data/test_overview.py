"""What is in a file, before anybody has said what its columns mean."""

import pandas as pd
import pytest

from fairtransport.data.files import FileSource
from fairtransport.data.preview import fetch_row, preview_file

PEOPLE = pd.DataFrame({
    'a "quoted" name': ["x", None, "y", "x"], "n": [3, 1, 4, 1], "share": [0.5, None, 0.25, 0.5],
})  # fmt: skip


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def source(request, tmp_path):
    path = tmp_path / f"people.{request.param}"
    if request.param == "csv":
        PEOPLE.to_csv(path, index=False)
    elif request.param == "parquet":
        PEOPLE.to_parquet(path)
    else:
        PEOPLE.to_json(path, orient="records", lines=True)
    return FileSource(path)


def test_columns_are_told_with_their_kind_values_and_gaps(source):
    found = preview_file(source)
    text, whole, share = found.columns

    assert found.rows == 4
    assert (text.name, text.numeric, text.missing, text.examples) == (
        'a "quoted" name', False, 1, ("x", "y"),
    )  # fmt: skip
    assert (whole.numeric, whole.distinct, whole.missing) == (True, 3, 0)
    assert (share.numeric, share.missing, share.examples) == (True, 1, ("0.5", "0.25"))


def test_cases_are_rows_or_what_a_column_of_counts_says(source):
    preview = preview_file(source)

    assert preview.count_people(None) == 4
    assert preview.count_people("n") == 9


def test_a_row_is_as_the_file_has_it(source):
    assert fetch_row(source, 2, 4) == {'a "quoted" name': None, "n": 1, "share": None}
    assert fetch_row(source, 3, 4) == {'a "quoted" name': "y", "n": 4, "share": 0.25}
