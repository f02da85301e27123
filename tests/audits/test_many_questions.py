"""What an audit of many distinct people does for each of them: counted, not timed."""

from collections import Counter

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.access import answers
from fairtransport.access.oracle import Questions
from fairtransport.data import sample_space
from fairtransport.data.columns import CodedColumn
from fairtransport.inference import resampling
from fairtransport.transport import AuditProblem

PEOPLE = 400


def table(people=PEOPLE):
    rng = np.random.default_rng(people)
    return pd.DataFrame({
        "sex": rng.choice(["f", "m"], people), "x": rng.normal(size=people),
        "job": rng.choice(["clerk", "nurse", "driver"], people),
        "age": rng.integers(18, 90, people), "good": rng.integers(0, 2, people),
    })  # fmt: skip


def model(points):
    return ((points["x"] > 0) & (points["sex"] == "m")).astype(int).to_numpy()


def count_items(monkeypatch, owner, name, count):
    """Count what a function is given or returns, over all its calls."""
    inner, totals = getattr(owner, name), Counter()

    def outer(*args, **kwargs):
        result = inner(*args, **kwargs)
        totals["calls"] += 1
        totals["items"] += count(result, *args)
        return result

    monkeypatch.setattr(owner, name, outer)
    return totals


def audit(**options):
    return ft.audit(
        table(), "good", model=model, sensitive_features="sex", delta=0.1, rng=0, **options
    )


def test_questions_are_not_written_out(monkeypatch):
    written = count_items(monkeypatch, Questions, "write_out", lambda questions, *_: len(questions))
    values = count_items(monkeypatch, CodedColumn, "to_list", lambda items, *_: len(items))
    result = audit()
    _ = result.summary

    assert result.query_record.repeats.count == 20
    assert result.queried == 2 * PEOPLE
    assert (written["items"], values["items"]) == (0, 0)


def test_questions_are_written_out_once_for_a_log(monkeypatch, tmp_path):
    written = count_items(monkeypatch, Questions, "write_out", lambda questions, *_: len(questions))
    queries = ft.Queries(log=tmp_path / "answers.sqlite")
    ft.audit(table(50), "good", model=ft.access.named(model, "rule 1"), sensitive_features="sex",
             rng=0, queries=queries)  # fmt: skip

    assert written["items"] == 2 * 50


def test_points_are_numbered_as_often_as_they_are_asked_about_and_compared(monkeypatch):
    numbered = count_items(monkeypatch, sample_space, "number_rows", lambda rows, *_: len(rows))
    result = audit()
    _ = result.verdict, result.summary

    # the order, the questions, the families, the blocks, the groups, each once, and some subsets
    assert numbered["items"] <= 11 * result.points


def test_a_fingerprint_encodes_levels_of_text_and_no_numbers(monkeypatch):
    space = audit().space
    encoder, encoded = sample_space._ENCODER, []
    counter = type("Encoder", (), {"encode": lambda _, item: (
        encoded.append(item), encoder.encode(item))[1]})  # fmt: skip
    monkeypatch.setattr(sample_space, "_ENCODER", counter())
    sample_space.data_sha256(space)

    heads = [item for item in encoded if isinstance(item, list)]
    assert [head[0] for head in heads] == list(space.columns)
    assert len(encoded) - len(heads) == len(["f", "m"]) + len(["clerk", "nurse", "driver"])


def test_text_is_converted_once_for_each_level(monkeypatch):
    converted = count_items(monkeypatch, nw, "new_series", lambda series, *_: len(series))
    space = audit().space
    converted.clear()
    frame = space.frame(["sex", "job", "x"])

    assert converted == {"calls": 2, "items": 2 + 3}
    rows = zip(*(space.columns[name].to_list() for name in frame.columns), strict=True)
    assert list(frame.itertuples(index=False, name=None)) == list(rows)


def test_answers_are_checked_once_for_each_label(monkeypatch):
    checked = count_items(monkeypatch, answers, "_list_distinct", lambda labels, *_: len(labels))
    audit(queries=ft.Queries(repeats=0))

    assert checked["items"] == 2


def test_resamples_of_few_people_come_in_few_blocks(monkeypatch):
    monkeypatch.setattr(resampling, "BLOCK_ENTRIES", 50_000)
    blocks = count_items(monkeypatch, AuditProblem, "values", lambda values, *_: len(values))
    result = audit(method="m-out-of-n", n_resamples=1000)
    _ = result.interval

    # 40 people each
    assert blocks == {"calls": 1, "items": 1000}


def test_shapes_of_flows_are_found_once(monkeypatch):
    from fairtransport.audits import result as results

    shapes = count_items(monkeypatch, results, "flow_shapes", lambda shapes, *_: len(shapes))
    result = audit()
    _ = result.summary, result.to_markdown()

    assert shapes == {"calls": 1, "items": 3}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_text_with_missing_values_comes_back_in_every_library(library):
    frame = table().assign(job=lambda people: people["job"].where(people["age"] > 30, None))
    space = ft.audit(frame, "good", model=model, sensitive_features="sex", missing="level",
                     rng=0).space  # fmt: skip
    series = nw.from_native(space.frame(["job"], library=library), eager_only=True)["job"]

    assert series.dtype == nw.String
    assert series.fill_null("-").to_list() == [job or "-" for job in space.columns["job"].to_list()]
