"""Shared documents of all tables of four cells: none fixes the size of a small one.

``python tests/audits/test_shared_tables.py 30 5`` goes through all tables of 30 people, for all
designs; ``… 30 5 jobs`` for one. The slow tests do so for the first design and for 12, 20 and 30
people.
"""

import json
import sys
from collections import defaultdict
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.errors import FairtransportError, InputError


class Design(NamedTuple):
    """Four cells (group, job, true label, prediction), and how they are audited."""

    cells: tuple
    options: dict
    predictions: bool = False


def hires(people):
    return ((people["group"] == "a") | (people["job"] == "cook")).astype(int)


MODEL = {"model": hires, "features": ["group", "job"]}
JOBS = (("a", "clerk", 1, 1), ("a", "cook", 1, 1), ("b", "clerk", 1, 0), ("b", "cook", 1, 1))
DESIGNS = {
    "jobs": Design(JOBS, MODEL),
    "labels": Design(
        (("a", "clerk", 1, 1), ("a", "clerk", 0, 1), ("b", "clerk", 1, 0), ("b", "clerk", 0, 0)),
        MODEL,
    ),
    "two features": Design(JOBS, {**MODEL, "sensitive_features": ["group", "job"]}),
    "predictions": Design(
        (("a", "clerk", 1, 1), ("a", "clerk", 1, 0), ("b", "clerk", 1, 0), ("b", "clerk", 1, 1)),
        {"y_pred": "said"}, predictions=True,
    ),
}  # fmt: skip


ENUMERATED = DESIGNS | {
    "controls": Design(JOBS, {**MODEL, "controls": ["job"], "delta": 0.05}),
}  # fmt: skip
"""What the script below goes through: where cells are small a control may have one value left."""


def document(design, table, at_least):
    """Return the shared document of a table; nothing for one that cannot be audited."""
    result = audit(design, table)
    if result is None:
        return ""
    return json.dumps(result.document(at_least).as_json(), sort_keys=True)


def audit(design, table, **more):
    """Audit the people of a table; None where a label or a group is missing."""
    rows = [(*cell, count) for cell, count in zip(design.cells, table, strict=True) if count]
    people = pd.DataFrame(rows, columns=["group", "job", "good", "said", "count"])
    options = {"sensitive_features": "group", "counts": "count", "rng": 0, "favourable": 1}
    if not design.predictions:
        people = people.drop(columns="said")
    try:
        return ft.audit(people, "good", **options | design.options | more)
    except FairtransportError:
        return None


def tables(n):
    """Yield all tables of n people in four cells."""
    for cells in product(range(n + 1), repeat=3):
        if sum(cells) <= n:
            yield (*cells, n - sum(cells))


def tables_of_small_cells(n, at_least, place):
    """Yield all tables in which three cells are small or empty."""
    for cells in product(range(at_least), repeat=3):
        yield (*cells[:place], n - sum(cells), *cells[place:])


def find_fixed(documents, at_least):
    """Return the tables of which a document fixes the size of a small cell."""
    same = defaultdict(list)
    for table, text in documents.items():
        same[text].append(table)
    return [
        table
        for table, text in documents.items()
        if text
        and any(
            0 < size < at_least and len({other[cell] for other in same[text]}) == 1
            for cell, size in enumerate(table)
        )
    ]


def collapse(table, at_least):
    """Return the table with few people counted in the largest cell."""
    largest = int(np.argmax(table))
    cells = [size if size >= at_least else 0 for size in table]
    cells[largest] += sum(table) - sum(cells)
    return tuple(cells)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", [20, 300, 3000])
def test_a_document_is_as_if_small_cells_had_nobody(name, n):
    rng, design, compared = np.random.default_rng(n), DESIGNS[name], 0
    for _ in range(4):
        table = [*rng.integers(0, 5, 2), int(rng.integers(0, n // 2))]
        table = tuple(map(int, rng.permutation([*table, n - sum(table)])))
        emptied = document(design, collapse(table, 5), 5)
        compared += bool(emptied)

        assert not emptied or document(design, table, 5) == emptied
    assert compared > 1


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", [40, 300, 3000])
def test_bounds_of_people_who_are_counted_elsewhere_hold(name, n):
    design, features = DESIGNS[name], DESIGNS[name].options.get("sensitive_features", ["group"])
    levels = {"group": ["a", "b"], "job": ["clerk", "cook"]}
    # declared, as levels that few people have are not compared
    more = {} if design.predictions else {"levels": {one: levels[one] for one in features}}
    for largest, few in product(range(4), [(4, 4), (1, 4)]):
        rest = [cell for cell in range(4) if cell != largest]
        table = dict(zip(rest, [*few, n // 4], strict=True)) | {largest: n - n // 4 - sum(few)}
        result = audit(design, [table[cell] for cell in range(4)], **more)
        shared = result.document(5)

        assert shared.interval.lower <= result.interval.lower
        assert (shared.interval.upper or np.inf) >= result.interval.upper


HARMED = Design(JOBS, {**MODEL, "sensitive_features": ["group", "job"], "delta": 0.1})


RATES = DESIGNS["predictions"]._replace(options={"y_pred": "said", "delta": 0.05})


@pytest.mark.parametrize(
    ("design", "table"),
    [*((HARMED, (many, 0, 260 - many, 0)) for many in (32, 36, 40, 44)), (RATES, (90, 0, 0, 170))],
)
def test_beyond_the_verdict_small_cells_change_nothing_about_a_limit(design, table):
    told = set()
    for few in ((0, 0), (0, 4), (4, 4)):
        cells = np.array([0, *few[:1], 0, *few[1:]])
        cells[2] = 40 - cells.sum()
        document_of_few = json.loads(document(design, (*(np.array(table) + cells).tolist(),), 5))
        told.add((document_of_few["verdict"], document_of_few["pvalue"]))

    assert len(told) == len({verdict for verdict, _ in told})
    assert {pvalue for _, pvalue in told} <= {0.05, 1.0}


@pytest.mark.parametrize("queries", [ft.Queries(until_sure=True), ft.Queries(draws=2)])
def test_few_people_are_not_shared_where_not_everybody_was_asked_once(queries):
    design = DESIGNS["jobs"]._replace(
        options={**MODEL, "queries": queries, "levels": {"group": ["a", "b"]}, "delta": 0.01}
    )
    result = audit(design, (3, 100, 100, 97))
    with pytest.raises(InputError, match=r"`share` must be .* 3 of 300 people are among"):
        result.document(5)
    assert result.document(3).suppression.at_least == 3
    assert result.document().n == 300


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_no_document_of_few_people_fixes_a_small_cell(name):
    documents = {table: document(DESIGNS[name], table, 3) for table in tables(9)}

    assert find_fixed(documents, 3) == []
    assert len({*documents.values()}) > 10


@pytest.mark.slow
@pytest.mark.parametrize(("n", "at_least", "number"), [(12, 3, 455), (20, 5, 1771)])
def test_no_document_of_all_tables_of_the_main_design_fixes_a_small_cell(n, at_least, number):
    documents = {table: document(DESIGNS["jobs"], table, at_least) for table in tables(n)}

    assert len(documents) == number
    assert find_fixed(documents, at_least) == []
    assert len({*documents.values()}) > 10


def move_one(table, cell, number):
    """Return the table with so many people of the largest cell moved to another."""
    moved = list(table)
    moved[cell] += number
    moved[int(np.argmax(table))] -= number
    return tuple(moved)


@pytest.mark.slow
def test_documents_of_thirty_people_fit_another_size_of_each_small_cell():
    # all 5,456 tables take minutes: `python tests/audits/test_shared_tables.py 30 5 jobs`
    design, every = DESIGNS["jobs"], [*tables(30)]
    seen = 0
    for at in np.random.default_rng(30).choice(len(every), 300, replace=False):
        table = every[at]
        text = document(design, table, 5)
        for cell, size in enumerate(table):
            if text and 0 < size < 5:
                seen += 1
                others = (move_one(table, cell, step) for step in (-1, 1) if size + step < 5)
                assert text in {document(design, other, 5) for other in others}
    assert len(every) == 5456
    assert seen > 100


EIGHT_CELLS = [
    (group, job, label, int(group == "a" or job == "cook"))
    for group, job, label in product("ab", ("clerk", "cook"), (0, 1))
]
EIGHT = {"asked": Design(EIGHT_CELLS, MODEL),
         "predictions": Design(EIGHT_CELLS, {"y_pred": "said"}, predictions=True)}  # fmt: skip


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize(
    ("table", "at_least"),
    [
        ((2,) * 8, 3), ((3, 2, 2, 2, 2, 2, 2, 1), 3), ((4,) * 8, 5), ((100, *(4,) * 7), 5),
        ((3, 3, 3, 3, 3, 3, 2, 2), 5),
    ],
)  # fmt: skip
def test_small_cells_that_are_nearly_full_are_not_shared(name, table, at_least):
    result = audit(EIGHT[name], table)
    few = [size for size in table if size < at_least]
    sentence = (
        f"`share` must be larger, or left out: {sum(few)} people are in {len(few)} groups of fewer "
        f"than {at_least}, which hold {len(few) * (at_least - 1)} at most"
    )
    with pytest.raises(InputError) as error:
        result.document(at_least)
    assert str(error.value).startswith(sentence)
    # then all of them are few in all
    assert result.document(sum(few)).suppression.at_least == sum(few)


def test_every_table_of_sixteen_people_with_more_than_twelve_in_small_cells_is_refused():
    nearly = {
        tuple(1 if at == one else 3 if at == many else 2 for at in range(8))
        for one, many in permutations(range(8), 2)
    }
    tables_of_thirteen = [(2,) * 8, *nearly]

    assert len(tables_of_thirteen) == 57
    for table in tables_of_thirteen:
        with pytest.raises(InputError, match="so that a reader could work out how many"):
            audit(EIGHT["asked"], table).document(3)


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize(("n", "at_least"), [(16, 3), (22, 5), (32, 5), (300, 5)])
def test_of_eight_cells_small_ones_count_elsewhere_or_nothing_is_shared(name, n, at_least):
    rng, design, compared = np.random.default_rng(n), EIGHT[name], 0
    for _ in range(12):
        table = rng.integers(0, at_least, 8)
        table[rng.integers(8)] += max(0, n - table.sum())
        table = tuple(map(int, table))
        hidden = sum(size for size in table if size < at_least)
        if hidden > 4 * at_least:
            with pytest.raises(InputError, match="so that a reader could work out how many"):
                audit(design, table).document(at_least)
        elif emptied := document(design, collapse(table, at_least), at_least):
            compared += 1
            assert document(design, table, at_least) == emptied
    assert compared > 0


TWELVE = Design(
    [
        (group, job, label, int(group == "a" or job == "cook"))
        for group, job, label in product("ab", ("clerk", "cook", "guard"), (0, 1))
    ],
    MODEL,
)


def move_between(table, cell):
    """Yield the tables with one person more or fewer in a cell, from or in another one."""
    for other, step in product(range(len(table)), (-1, 1)):
        moved = list(table)
        moved[cell] += step
        moved[other] -= step
        if other != cell and min(moved) >= 0:
            yield tuple(moved)


@pytest.mark.slow
@pytest.mark.parametrize("large", [0, 270])
def test_where_many_small_cells_have_room_each_fits_another_size(large):
    rng, seen = np.random.default_rng(12), 0
    for _ in range(4):
        table = tuple(map(int, [*rng.permutation([1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4]), large or 3]))
        text = document(TWELVE, table, 5)
        for cell in range(11):
            seen += bool(text)
            assert any(document(TWELVE, other, 5) == text for other in move_between(table, cell))
    assert seen == 44


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("name", DESIGNS)
def test_no_document_fixes_one_of_three_small_cells(name, n):
    documents = {
        table: document(DESIGNS[name], table, 5)
        for place in (0, 2)
        for table in tables_of_small_cells(n, 5, place)
    }

    assert find_fixed(documents, 5) == []
    assert len({*documents.values()}) > 1


def test_decisions_and_group_rates_are_shared_where_cells_are_large():
    shared = json.loads(document(DESIGNS["jobs"], (1003, 4, 1201, 792), 5))
    decisions = shared["decisions"]

    assert decisions["worse_off"]["people"] == 1205  # the four are counted among them
    assert [one["worse_off"] for one in decisions["by_group"]] == [0, 1205]
    assert decisions["worse_off"]["lower"] < 1201 / 3000 < decisions["worse_off"]["upper"]
    assert decisions["cases"] == []
    (comparison,) = shared["group_metrics"]
    assert comparison["rates"]


if __name__ == "__main__":
    n, at_least = map(int, sys.argv[1:3])
    for name in sys.argv[3:] or ENUMERATED:
        documents = {table: document(ENUMERATED[name], table, at_least) for table in tables(n)}
        fixed = find_fixed(documents, at_least)
        sys.stdout.write(f"{name}: {len(fixed)} of {len(documents)} tables, {fixed[:3]}\n")
