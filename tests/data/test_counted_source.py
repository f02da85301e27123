"""A table that was counted once gives the counts that the table itself gives."""

import numpy as np
import pandas as pd
import pytest

from fairtransport.data.database import CountedSource
from fairtransport.data.sources import as_source
from fairtransport.errors import DataError, InputError

NAMES = ["race", "age", "site", "good"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({
        "race": pd.Categorical(rng.choice(["b", "a"], 300), categories=["b", "a", "c"]),
        "age": rng.integers(18, 70, 300).astype(float),
        "site": rng.choice(["x", "y", None], 300),
        "good": rng.integers(0, 2, 300),
        "people": rng.integers(0, 4, 300),
    })  # fmt: skip
    frame.loc[::17, "age"] = np.nan
    return frame


def table(counted):
    """Return counted rows with the levels that they are coded over."""
    columns = counted.columns
    rows = zip(*(column.to_list() for column in columns.values()), strict=True)
    levels = {name: column.levels.tolist() for name, column in columns.items()}
    kept = {name: column.categories for name, column in columns.items()}
    return dict(zip(rows, counted.counts.tolist(), strict=True)), levels, kept


@pytest.mark.parametrize("weight", [None, "people"])
@pytest.mark.parametrize("bins", [{}, {"age": (25.0, 45.0)}])
@pytest.mark.parametrize("names", [["race"], ["good", "age"], NAMES])
def test_counting_again_is_counting(people, names, bins, weight):
    source = as_source(people)
    own = {name: edges for name, edges in bins.items() if name in names}
    wanted = source.count(names, own, weight)
    for counted_with in ({}, own):
        counted = CountedSource.of(source, NAMES, counted_with, weight)
        found = as_source(counted).count(names, own, weight)
        assert table(found) == table(wanted)


@pytest.mark.parametrize("bins", [{}, {"age": (25.0, 45.0)}])
@pytest.mark.parametrize(
    "where", [{"site": "x"}, {"site": ["x", None], "good": 1}, {"race": ("a",)}, {"age": [20, 21]}]
)
def test_a_slice_is_what_a_filtered_table_is(people, where, bins):
    keep = np.ones(len(people), bool)
    for name, values in where.items():
        listed = list(values) if isinstance(values, list | tuple) else [values]
        missing = people[name].isna() if None in listed else False
        keep &= people[name].isin([one for one in listed if one is not None]) | missing
    early = {} if "age" in where else bins
    counted = CountedSource.of(as_source(people), NAMES, early, None).where(where)

    wanted = as_source(people[keep]).count(NAMES, bins, None)
    assert table(counted.count(NAMES, bins, None)) == table(wanted)


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ({}, InputError, "`where` must map columns to values, as in {'site': 'a'}, got {}"),
        ("x", InputError, "`where` must map columns to values"),
        ({"site": "z"}, InputError, r"`where\['site'\]` must be values of that column"),
        ({"site": [["x"]]}, InputError, r"got \['x'\]"),
        ({"good": 1, "age": 18, "site": "y", "race": "a"}, DataError, "leave at least one row"),
    ],
)
def test_a_slice_that_is_none_is_said(where, error, message):
    frame = pd.DataFrame({
        "race": ["a", "b"], "age": [18, 19], "site": ["x", "y"], "good": [1, 0],
    })  # fmt: skip
    counted = CountedSource.of(as_source(frame), NAMES, {}, None)

    with pytest.raises(error, match=message):
        counted.where(where)


def test_what_was_counted_takes_no_arrays_and_no_other_counts(people):
    counted = CountedSource.of(as_source(people), NAMES, {}, None)

    with pytest.raises(InputError, match="`y` must be a column's name"):
        counted.attach("label", [1], "y")
    with pytest.raises(InputError, match="`counts` must be the same column for all audits"):
        counted.count(["race"], {}, "people")
