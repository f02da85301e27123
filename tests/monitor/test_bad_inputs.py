"""Bad input to a monitor: one clear sentence, or a right result, and nothing half counted.

Each table has one line for a kind of input: what it is, how to make it, and what has to come.
"""

import datetime as dt
import gzip
import json
import os
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.messages import raises
from tests.monitor.people import asking, biased, told

import fairtransport as ft
from fairtransport.cli import main

NAN, INF = float("nan"), float("inf")
GOOD = {"group": "a", "x": 1, "good": 1}
SEEN = [{"group": g, "x": x, "good": y} for g in "ab" for x in (0, 1) for y in (0, 1)]


def is_one_sentence(message):
    return message and "\n" not in message and len(message) < 400


# -- models: the answers are refused as in an audit, and nothing is counted


def always(value):
    return lambda points: [value] * len(points)


def sometimes(value):
    return lambda points: [value if x == 0 else 1 for x in points["x"]]


def fails(_):
    raise OSError(2, "no\nsuch host")


MODELS = [
    pytest.param(always(NAN), r"labels?,? (got )?nan", id="nan"),
    pytest.param(always(None), r"labels?,? (got )?None", id="none"),
    pytest.param(sometimes(NAN), r"labels?,? (got )?nan", id="nan sometimes"),
    pytest.param(sometimes(None), r"labels?,? (got )?None", id="none sometimes"),
    pytest.param(always(INF), r"labels?,? (got )?inf", id="infinity"),
    pytest.param(always(0.3), r"not probabilities, got 0.3|label 0.3", id="scores"),
    pytest.param(sometimes(0.3), r"not probabilities, got 0.3|label 0.3", id="scores sometimes"),
    pytest.param(always(7), r"unknown label 7; known: 0, 1", id="another label"),
    pytest.param(sometimes(7), r"unknown label 7; known: 0, 1", id="another label sometimes"),
    pytest.param(always("1"), r"same type|label '1'", id="text beside numbers"),
    pytest.param(always(1j), r"labels, got 1j", id="complex"),
    pytest.param(always(b"1"), r"labels, got b'1'", id="bytes"),
    pytest.param(lambda p: 1, r"one (label|number) per row .* got shape \(\)", id="one number"),
    pytest.param(lambda p: [1] * (len(p) + 1), r"got shape", id="an answer too many"),
    pytest.param(lambda p: np.ones((len(p), 2), int), r"got shape \(\d+, 2\)", id="two columns"),
    pytest.param(lambda p: [], r"got shape \(0,\)", id="no answers"),
    pytest.param(lambda p: None, r"got shape \(\)", id="nothing"),
    pytest.param(lambda p: {"a": 1}, r"got shape \(\)", id="a dict"),
    pytest.param(lambda p: [[1]] * (len(p) - 1) + [[1, 2]], r"failed on|shape", id="ragged"),
    pytest.param(lambda p: [[1, 2], 3] * (len(p) // 2), r"failed on|shape|label", id="lists"),
    pytest.param(fails, r"failed on \d+ rows: FileNotFoundError: ", id="fails"),
    pytest.param(lambda p: p["z"], r"failed on \d+ rows: KeyError: 'z'", id="wants a column"),
]


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize(("model", "message"), MODELS)
def test_models(model, message, one_by_one):
    monitor = asking(model)

    def take_in():
        for batch in [[record] for record in SEEN] if one_by_one else [SEEN]:
            monitor.update(batch)

    with pytest.raises((ft.ModelError, ft.DataError), match=message):
        take_in()
    with pytest.raises((ft.ModelError, ft.DataError)):
        ft.audit(pd.DataFrame(SEEN), "good", model=model, sensitive_features="group",
                 features=["group", "x"], levels={"group": ["a", "b"]})  # fmt: skip

    assert monitor.state.verdict == "inconclusive"


@pytest.mark.parametrize("value", [NAN, None, INF, 0.3, "1"])
def test_models_while_one_label_alone_was_seen(value):
    monitor = asking(always(value))
    before = monitor.state
    with pytest.raises((ft.ModelError, ft.DataError)) as error:
        monitor.update([GOOD] * 300)

    assert is_one_sentence(str(error.value))
    assert monitor.state == before


def test_labels_that_answers_were_counted_for_are_looked_at_when_labels_become_known():
    monitor = asking(sometimes(7))
    monitor.update([{"group": "a", "x": 0, "good": 1}] * 5)
    with pytest.raises(ft.ModelError, match=r"label 7; known: 0, 1; `labels` may list all"):
        monitor.update({"group": "a", "x": 1, "good": 0})
    assert monitor.state.n == 5
    assert asking(sometimes(7), labels=[0, 1, 7]).update(SEEN).n == 8


def test_scores_and_numbers_are_checked_too():
    for loss, more, value in (
        ("brier", {"labels": [0, 1]}, 1.5),
        ("brier", {"labels": [0, 1]}, NAN),
        ("squared", {"loss_range": (0, 1)}, INF),
        ("squared", {"loss_range": (0, 1)}, "many"),
        ("outcome", {"loss_range": (0, 1)}, None),
    ):
        monitor = asking(always(value), loss=loss, **more)
        with pytest.raises(ft.ModelError, match="must give"):
            monitor.update(SEEN)
        assert monitor.state.n == 0


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (always(NAN), {"pos_label": 1}, "must give labels, got nan"),
        (always("yes"), {"pos_label": 1}, "must be of the same type, got 1 and 'yes'"),
        (biased, {"pos_label": 7}, "`pos_label` must be a prediction (0, 1), got 7"),
        (biased, {"pos_label": 7, "labels": [0, 1]}, "`pos_label` must be one of 0, 1, got 7"),
    ],
)
def test_outcomes_that_are_no_label(model, options, message):
    with raises((ft.ModelError, ft.InputError, ft.DataError), message):
        asking(model, y=None, loss="outcome", **options).update([{"group": "a", "x": 0}])


def test_a_model_that_changes_its_answers_is_found_out_when_the_monitor_goes_on(tmp_path):
    monitor = asking()
    monitor.update(SEEN)
    monitor.save(tmp_path / "s")
    again = ft.Monitor.resume(tmp_path / "s", model=lambda p: 1 - biased(p))
    before = again.state
    with raises(ft.ModelError, "must not change its answers, but for ('a', 0) it"):
        again.update({"group": "a", "x": 2, "good": 1})

    assert again.state == before
    assert ft.Monitor.resume(tmp_path / "s", model=biased).update(GOOD | {"x": 2}).n == 9


# -- records: refused as a batch, and the next good one counts as if nothing had been

RECORDS = [
    pytest.param(GOOD | {"x": INF}, r"'x' must hold finite numbers, got inf", id="infinite"),
    pytest.param(GOOD | {"x": np.float32(-INF)}, r"'x' must hold finite", id="infinite float32"),
    pytest.param(GOOD | {"x": Decimal("Infinity")}, r"'x' must hold finite", id="infinite decimal"),
    pytest.param(GOOD | {"good": INF}, r"'good' must hold finite numbers", id="infinite label"),
    pytest.param(GOOD | {"group": INF}, r"'group' must hold finite", id="infinite level"),
    pytest.param(GOOD | {"good": "yes"}, r"text or numbers, not both", id="text label"),
    pytest.param(GOOD | {"good": NAN}, r"'good' must not have missing", id="no label"),
    pytest.param(GOOD | {"x": NAN}, r"'x' must not have missing", id="no feature"),
    pytest.param(GOOD | {"x": pd.NA}, r"'x' must not have missing", id="pandas NA"),
    pytest.param(GOOD | {"x": pd.NaT}, r"'x' must not have missing", id="pandas NaT"),
    pytest.param(GOOD | {"x": np.datetime64("NaT", "D")}, r"'x' must not have", id="numpy NaT"),
    pytest.param(GOOD | {"x": Decimal("NaN")}, r"'x' must not have missing", id="decimal NaN"),
    pytest.param(GOOD | {"x": Decimal("sNaN")}, r"'x' must hold single", id="signalling NaN"),
    pytest.param(GOOD | {"group": None}, r"'group' must not have missing", id="no level"),
    pytest.param(GOOD | {"group": "c"}, r"`levels\['group'\]` must hold every value", id="level"),
    pytest.param(GOOD | {"group": True}, r"`levels\['group'\]` .* lacks True", id="true as level"),
    pytest.param(GOOD | {"x": [1]}, r"'x' must hold single values .* got \[1\]", id="list"),
    pytest.param(GOOD | {"x": {}}, r"'x' must hold single values", id="dict"),
    pytest.param(GOOD | {"x": np.ones(2)}, r"'x' must hold single values", id="array"),
    pytest.param(GOOD | {"x": (1, [2])}, r"'x' must hold single values", id="tuple of list"),
    pytest.param(GOOD | {"x": (1,)}, r"'x' must hold single values", id="tuple"),
    pytest.param(GOOD | {"x": 1j}, r"'x' must hold single values", id="complex"),
    pytest.param(GOOD | {"x": b"1"}, r"'x' must hold single values", id="bytes"),
    pytest.param(GOOD | {"x": len}, r"'x' must hold single values", id="function"),
    pytest.param(GOOD | {"x": Fraction(1, 2)}, r"'x' must hold single values", id="fraction"),
    pytest.param(GOOD | {"x": 10**400}, r"'x' must hold whole numbers of 64 bits", id="huge"),
    pytest.param(GOOD | {"x": -(10**9999)}, r"'x' must hold whole numbers", id="huge, negative"),
    pytest.param(GOOD | {"x": "\ud800"}, r"'x' must hold valid Unicode", id="lone surrogate"),
    pytest.param({"group": "a", "good": 1}, r"but lack 'x'", id="no key"),
    pytest.param({"GROUP": "a", "x": 1, "good": 1}, r"but lack 'group'", id="wrong key"),
    pytest.param(GOOD | {1: 1}, r"text as names of columns, got 1", id="number as key"),
    pytest.param({}, r"but lack 'group'", id="empty record"),
    pytest.param([GOOD, {}], r"but lack 'group'", id="empty record in a batch"),
    pytest.param([GOOD, 7], r"`points` must be a record", id="number in a batch"),
    pytest.param(None, r"`points` must be a record", id="none"),
    pytest.param("cases.csv", r"`points` must be a record", id="path"),
    pytest.param((GOOD, GOOD), r"`points` must be a record", id="tuple of records"),
    pytest.param(iter([GOOD]), r"`points` must be a record", id="iterator"),
    pytest.param(pd.DataFrame([GOOD]).iloc[0], r"`points` must be a record", id="series"),
    pytest.param(pl.LazyFrame([GOOD]), r"`points` must be a record", id="lazy frame"),
    pytest.param(np.ones((2, 3)), r"`points` must be a record", id="matrix"),
    pytest.param(pd.DataFrame([["a", 1, 1, 1]], columns=["group", "x", "good", "x"]),
                 r"`points` must have distinct column names", id="frame with a name twice"),
    pytest.param(pd.DataFrame([GOOD]).rename(columns={"x": 3}), r"text as column names, got 3",
                 id="frame with a number as name"),
    pytest.param(pd.DataFrame([GOOD]).drop(columns="x"), r"but lack 'x'", id="frame without one"),
    pytest.param(pd.DataFrame([GOOD | {"x": INF}]), r"'x' must hold finite", id="infinite frame"),
    pytest.param(pd.DataFrame([GOOD | {"x": 1j}]), r"'x' must hold single", id="complex in frame"),
    pytest.param(pd.DataFrame([GOOD | {"x": [1]}]), r"'x' must hold single", id="list in frame"),
    pytest.param(pl.DataFrame([GOOD | {"x": [1]}]), r"'x' must hold single", id="list in polars"),
    pytest.param(pl.DataFrame([GOOD | {"x": b"1"}]), r"'x' must hold single", id="bytes in polars"),
]  # fmt: skip


@pytest.mark.parametrize(("points", "message"), RECORDS)
def test_records(points, message):
    monitor, other, fresh = asking(), asking(), asking(features=None)
    before = monitor.update(SEEN)
    with pytest.raises((ft.DataError, ft.InputError), match=message) as error:
        monitor.update(points)
    with pytest.raises((ft.DataError, ft.InputError, ft.ModelError)):
        fresh.update([*SEEN, points] if isinstance(points, dict) else points)
    other.update(SEEN)

    assert is_one_sentence(str(error.value))
    assert monitor.state == before
    assert monitor.update(SEEN) == other.update(SEEN)
    # what was refused settled nothing, neither columns nor labels
    assert fresh.state.n == 0
    assert fresh.update(SEEN) == asking().update(SEEN)


ALRIGHT = [
    pytest.param([], 0, id="no records"),
    pytest.param(pd.DataFrame([GOOD]).iloc[:0], 0, id="empty frame"),
    pytest.param({name: np.asarray(value)[()] for name, value in GOOD.items()}, 1, id="numpy"),
    pytest.param(GOOD | {"good": True}, 1, id="true as label"),
    pytest.param(GOOD | {"x": 1.0}, 1, id="1.0"),
    pytest.param(GOOD | {"x": np.uint64(2**64 - 1)}, 1, id="uint64"),
    pytest.param(GOOD | {"more": [1]}, 1, id="a column nobody asked for"),
    pytest.param(dict(reversed(GOOD.items())), 1, id="another order"),
    pytest.param(pd.DataFrame([GOOD], dtype=object), 1, id="objects"),
    pytest.param(pd.DataFrame([GOOD]).astype({"x": "float32"}), 1, id="float32"),
    pytest.param(pd.DataFrame([GOOD]).astype({"x": "Int8"}), 1, id="nullable"),
    pytest.param(pd.DataFrame([GOOD]).astype({"group": "category"}), 1, id="categories"),
]


@pytest.mark.parametrize(("points", "more"), ALRIGHT)
def test_unusual_records_that_are_alright(points, more):
    monitor = asking(lambda p: [int(g == "a" and str(x) == "0") for g, x in zip(p.group, p.x)])  # noqa: B905
    monitor.update(SEEN)
    same = {one["x"] for one in [points] if isinstance(one, dict)} <= {1}
    state = monitor.update(points)

    assert state.n == len(SEEN) + more
    assert len(monitor._stream.cell_of) == len(SEEN) + (not same)


@pytest.mark.parametrize("value", [20.5, "1", True, Decimal("0.5"), dt.date(2020, 1, 1)])
@pytest.mark.parametrize("batch", [dict, lambda record: pd.DataFrame([record])])
def test_a_column_of_whole_numbers_goes_on_to_hold_them(value, batch):
    (monitor := asking()).update(SEEN)
    before = monitor.state
    with pytest.raises(
        ft.DataError, match="'x' held whole numbers when the monitor began"
    ) as error:
        monitor.update(batch(GOOD | {"x": value}))

    assert is_one_sentence(str(error.value))
    assert monitor.state == before


def test_a_resumed_monitor_keeps_what_its_columns_hold(tmp_path):
    numbers, whole = asking(), asking()
    numbers.update([GOOD, GOOD | {"x": 2.0}])
    whole.update(GOOD)
    whole.update(pd.DataFrame([GOOD | {"x": 3.0}]))
    whole.save(tmp_path / "s")
    again = ft.Monitor.resume(tmp_path / "s", model=biased)

    assert numbers.update(GOOD | {"x": 20.5}).n == 3
    assert [repr(key[1]) for key in again._stream.cell_of] == ["1", "3"]
    with pytest.raises(ft.DataError, match=r"'x' held whole numbers when .*, got 20.5; a new"):
        again.update(GOOD | {"x": 20.5})


def test_columns_that_come_late_are_refused_where_all_are_features():
    monitor = told()
    monitor.update(GOOD | {"guess": 1})
    with pytest.raises(ft.DataError, match="and no others, got 'z'; `features` names those"):
        monitor.update(GOOD | {"guess": 1, "z": 1})
    assert monitor.state.n == 1


# -- settings

SETTINGS = [
    pytest.param({"sensitive_features": ["good"]}, r"`sensitive_features` and .* must not name the",
                 id="label as sensitive"),
    pytest.param({"sensitive_features": ["guess"], "model": None, "levels": None,
                  "y_pred": "guess"}, r"`sensitive_features` and .* must not name the",
                 id="prediction as sensitive"),
    pytest.param({"loss": "outcome", "pos_label": 1, "sensitive_features": ["good"]},
                 r"`sensitive_features` and .* must not name the", id="unused label as sensitive"),
    pytest.param({"sensitive_features": []}, r"`sensitive_features` must name at least", id="none"),
    pytest.param({"sensitive_features": 3}, r"`sensitive_features` must be distinct", id="number"),
    pytest.param({"sensitive_features": ["a", "a"]}, r"`sensitive_features` must", id="twice"),
    pytest.param({"features": []}, r"`features` must be distinct column names", id="no features"),
    pytest.param({"levels": {"group": ["a", NAN]}}, r"`levels\['group'\]` must not hold NaN",
                 id="nan level"),
    pytest.param({"levels": {"group": [INF]}}, r"`levels\['group'\]` must hold finite",
                 id="infinite level"),
    pytest.param({"levels": {"group": [["a"], ["b"]]}}, r"`levels\['group'\]` must hold single",
                 id="unhashable levels"),
    pytest.param({"levels": {"group": np.ones((2, 2))}}, r"`levels\['group'\]` must list values",
                 id="matrix of levels"),
    pytest.param({"levels": {"group": 5}}, r"`levels\['group'\]` must list values, got 5",
                 id="number of levels"),
    pytest.param({"levels": {"group": {"a"}}}, r"`levels\['group'\]` must list values", id="set"),
    pytest.param({"levels": {"group": "ab"}}, r"`levels\['group'\]` must list all", id="text"),
    pytest.param({"levels": {"group": None}}, r"`levels\['group'\]` must list all", id="no levels"),
    pytest.param({"levels": {"group": [10**400]}}, r"`levels\['group'\]` must hold whole numbers",
                 id="huge level"),
    pytest.param({"sensitive_features": list("abcde"), "features": list("abcde"),
                  "levels": {name: list(range(50)) for name in "abcde"}},
                 r"have 312,500,000 combinations, .* more than 25,000,000", id="too many twins"),
    pytest.param({"sensitive_features": ["race_a"], "features": ["race_a", "race_b", "x"],
                  "levels": {"race_a": [0, 1]}},
                 r"`sensitive_features` must not hold one-hot columns in a monitor", id="one-hot"),
    pytest.param({"labels": [0, NAN]}, r"`labels` must not hold NaN", id="nan label"),
    pytest.param({"labels": [0, None]}, r"`labels` must list labels, none", id="missing label"),
    pytest.param({"labels": []}, r"`labels` must list labels", id="no labels"),
    pytest.param({"labels": [0, "yes"]}, r"`labels` do not fit: .* not both", id="mixed labels"),
    pytest.param({"labels": [[0], [1]]}, r"`labels` must hold single", id="unhashable labels"),
    pytest.param({"labels": 2}, r"`labels` must list values, got 2", id="number of labels"),
    pytest.param({"labels": "01"}, r"`labels` must list values, got '01'", id="labels as text"),
    pytest.param({"labels": [0, 1], "pos_label": 5}, r"`pos_label` must be one of", id="positive"),
    pytest.param({"pos_label": NAN}, r"`pos_label` must not hold NaN", id="nan positive"),
    pytest.param({"pos_label": [1]}, r"`pos_label` must hold single", id="list positive"),
    pytest.param({"delta": NAN}, r"`delta` must be a fraction", id="nan delta"),
    pytest.param({"delta": True}, r"`delta` must be a fraction", id="true delta"),
    pytest.param({"delta": 10**400}, r"`delta` must be a fraction from 0", id="huge delta"),
    pytest.param({"alpha": "0.05"}, r"`alpha` must be a number above 0", id="text alpha"),
    pytest.param({"budget": INF}, r"`budget` must be a finite number", id="infinite budget"),
    pytest.param({"model": dict}, r"`model` must be a fitted estimator", id="class as model"),
    pytest.param({"model": 3}, r"`model` must have `predict`", id="number as model"),
    pytest.param({"bins": {"x": [1, NAN]}}, r"`bins\['x'\]` must be finite", id="nan edge"),
    pytest.param({"bins": {"x": [2, 1]}}, r"`bins\['x'\]` must be one or more", id="falling edges"),
    pytest.param({"loss": "nought"}, r"`loss` must be one of", id="loss"),
    pytest.param({"similarity": "nought"}, r"`similarity` must be", id="similarity"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), SETTINGS)
def test_settings(options, message):
    with pytest.raises(ft.InputError, match=message) as error:
        asking(**options)
    assert is_one_sentence(str(error.value))


def test_the_twins_of_all_records_together_are_limited(monkeypatch):
    from fairtransport.data import twins

    monkeypatch.setattr(twins, "MAX_TWIN_POINTS", 8)
    monitor = asking()
    before = monitor.update(SEEN)
    with pytest.raises(
        ft.InputError, match="2 combinations, which make 10 different rows, more than 8"
    ):
        monitor.update(GOOD | {"x": 2})
    assert monitor.state == before


# -- files, by the command line

HEAD = "group,x,good,guess\n"
ROWS = "".join(f"{'ab'[i % 2]},{i % 3},{i % 2},1\n" for i in range(20))
TABLE = HEAD + ROWS
LINES = "".join(json.dumps({"group": g, "x": 1, "good": 1, "guess": 1}) + "\n" for g in "abab")


def grown(more):
    """A file of which 20 rows were counted before."""
    return [TABLE.encode(), TABLE.encode() + more]


FILES = [
    pytest.param("c.csv", grown(b'a,"1,1,1\n' + ROWS.encode()), 1,
                 r"'c.csv' must close every quote, but none closes the one in 'a,\"1,1,1",
                 id="unclosed quote"),
    pytest.param("c.csv", grown(b'a,"1,1,1\nb,"y, z",1,1\n'), 1, r"is there a quote too many\?",
                 id="unclosed quote before quotes"),
    pytest.param("c.csv", grown(b'a,"' + b"y" * 200_000), 0, r"The last 200003 bytes of the file",
                 id="a long value that goes on"),
    pytest.param("c.csv", grown(b'a,"' + b"y\n" * 100_000 + b'",1,1\n'), 1, r"field larger than",
                 id="a value longer than any"),
    pytest.param("c.csv", grown(b'a,"one\ntwo'), 0, r"The last \d+ bytes .* not counted yet",
                 id="value of two lines that goes on"),
    pytest.param("c.csv", grown(b"a,1,"), 0, r"The last 4 bytes .* not counted yet",
                 id="row that goes on"),
    pytest.param("c.csv", [b'"group,x,good,guess\na,1,1,1\nb,1,1,1\n'], 1, r"must close every",
                 id="unclosed quote in the header"),
    pytest.param("c.csv", [b"group,x,good"], 0, r"0 people.*The last 12 bytes", id="half a header"),
    pytest.param("c.csv", grown(b'a,5" pipe,1,1\nb,7,1,1\n'), 1, r"held whole", id="inch 2"),
    pytest.param("c.csv", [HEAD.encode() + b'a,5" pipe,1,1\nb,7,1,1\n'], 0, r"2 people", id="inch"),
    pytest.param("c.csv", [TABLE.replace("\n", "\r").encode()], 0, r"20 people", id="returns"),
    pytest.param("c.csv", [TABLE.replace("\n", "\r\n").encode()], 0, r"20 people", id="both ends"),
    pytest.param("c.csv", [TABLE.replace("\n", "\r\n").encode()[:-1], TABLE.replace(
        "\n", "\r\n").encode() + b"a,1,1,1\r\n"], 0, r"21 people", id="half a line end"),
    pytest.param("c.csv", [b"\xef\xbb\xbf" + TABLE.encode()], 0, r"20 people", id="mark at begin"),
    pytest.param("c.csv", [HEAD.encode()], 0, r"0 people", id="header alone"),
    pytest.param("c.csv", [b""], 0, r"0 people", id="empty file"),
    pytest.param("c.csv", [b"\n\n" + TABLE.encode()], 0, r"20 people", id="empty lines"),
    pytest.param("c.csv", [b"<!DOCTYPE html><html><p>Not found"], 1, r"an HTML or XML", id="html"),
    pytest.param("c.csv", [b"\n <html>\n<body>a,b\n</html>\n"], 1, r"an HTML or XML", id="html 2"),
    pytest.param("c.csv", grown(b"<html>\n<p>Bad gateway\n"), 1, r"must have 4 values, got 1",
                 id="html at the end"),
    pytest.param("c.jsonl", [b"<html>"], 1, r"an HTML or XML page", id="html as json"),
    pytest.param("c.csv", [gzip.compress(TABLE.encode(), mtime=0)], 1, r"must be UTF-8", id="gzip"),
    pytest.param("c.csv", grown(gzip.compress(b"a,1,1,1", mtime=0)), 1, r"must be UTF-8 text",
                 id="gzip at the end"),
    pytest.param("c.csv", [TABLE.encode("utf-16")], 1, r"must be UTF-8 text", id="utf-16"),
    pytest.param("c.csv", [TABLE.encode("utf-16-le")], 1, r"it has null bytes", id="utf-16-le"),
    pytest.param("c.csv", [pd.DataFrame(SEEN).to_parquet()], 1, r"must be UTF-8 text",
                 id="parquet"),
    pytest.param("c.csv", grown("ä,1,1,1".encode()[:1]), 0, r"The last 1 bytes", id="half letter"),
    pytest.param("c.csv", [b"group;x;good;guess\na;1;1;1\n"], 1, r"but lack 'group'",
                 id="semicolons"),
    pytest.param("c.csv", [b"x,y\n"], 1, r"must have the columns .* but lack 'group'",
                 id="header without the columns"),
    pytest.param("c.csv", [b"group,x,good,guess,x\na,1,1,1,1\n"], 1, r"got 'x' twice",
                 id="a name twice"),
    pytest.param("c.csv", grown(b"a,1,1\n"), 1, r"must have 4 values, got 3", id="short row"),
    pytest.param("c.csv", grown(b"a,1,1,1,1\n"), 1, r"must have 4 values, got 5", id="long row"),
    pytest.param("c.csv", grown(b"a,1,yes,1\n"), 1, r"'good' held whole numbers", id="text label"),
    pytest.param("c.csv", grown(b"a,1,,1\n"), 1, r"'good' must not have missing", id="no label"),
    pytest.param("c.csv", [HEAD.encode() + b"a,inf,1,1\n"], 0, r"1 person", id="inf is text"),
    pytest.param("c.csv", [HEAD.encode() + b"a,1e999,1,1\n"], 1, r"'x' must hold finite",
                 id="a number too large"),
    pytest.param("c.csv", [HEAD.encode() + b"a,1,1,0.4\n"], 1, r"not prob.*, got 0.4", id="scores"),
    pytest.param("c.csv", [b"a" * 5_000_000], 1, r"must end within 4,194,304 bytes", id="no ends"),
    pytest.param("c.tsv", [TABLE.replace(",", "\t").encode()], 0, r"20 people", id="tabs"),
    pytest.param("c.jsonl", [LINES.encode()], 0, r"4 people", id="json"),
    pytest.param("c.jsonl", [LINES.replace("\n", "\r").encode()], 0, r"4 people", id="returns too"),
    pytest.param("c.jsonl", [LINES.encode() + b'{"group": "a"'], 0, r"last 13 bytes", id="half"),
    pytest.param("c.jsonl", [LINES.encode() + b"[1"], 1, r"must be a JSON object", id="json list"),
    pytest.param("c.jsonl", [LINES.encode() + b'{"group": "a"}\n'], 1, r"but lack", id="json less"),
    pytest.param("c.jsonl", [b'{"group": 1, "group": 2}\n'], 1, r"got 'group' twice", id="twice"),
    pytest.param("c.jsonl", [b'{"a":' * 5000 + b"\n"], 1, r"must be a JSON object", id="json deep"),
    pytest.param("c.jsonl", [LINES.replace('"x": 1', '"x": Infinity').encode()], 1,
                 r"'x' must hold finite", id="json infinity"),
    pytest.param("c.jsonl", [LINES.replace('"x": 1', '"x": NaN').encode()], 1,
                 r"'x' must not have missing", id="json nan"),
    pytest.param("c.jsonl", [LINES.replace('"x": 1', '"x": [1]').encode()], 1,
                 r"'x' must hold single", id="json nested"),
    pytest.param("c.jsonl", [LINES.replace('"x": 1', '"x": ' + "9" * 400).encode()], 1,
                 r"'x' must hold whole numbers of 64 bits", id="json huge"),
    pytest.param("c.jsonl", [LINES.replace('"x": 1', '"x": "\\ud800"').encode()], 1,
                 r"'x' must hold valid Unicode", id="json surrogate"),
    pytest.param("c.jsonl", [LINES.encode() + LINES.replace('"good": 1', '"good": "y"').encode()],
                 1, r"text or numbers, not both", id="json mixed labels"),
    pytest.param("c.csv", [TABLE.encode(), TABLE.encode()[:-9]], 1, r"must only grow", id="shrunk"),
    pytest.param("c.csv", [TABLE.encode(), TABLE.replace("a", "c").encode()], 1, r"bytes changed",
                 id="changed"),
    pytest.param("c.parquet", [b""], 2, r"`DATA` must be of type .csv", id="another type"),
]  # fmt: skip


@pytest.fixture
def follow(tmp_path, capsys):
    def once(name, *more, delta="0.9", state="s"):
        try:
            code = main([
                "monitor", str(tmp_path / name), "--state", str(tmp_path / state), "--label",
                "good", "--prediction", "guess", "--sensitive", "group", "--delta", delta, *more,
            ])  # fmt: skip
        except SystemExit as stop:
            code = stop.code
        printed = capsys.readouterr()
        return code, " ".join((printed.out + printed.err).replace("│", "").split())

    return once


@pytest.mark.parametrize(("name", "contents", "code", "message"), FILES)
def test_files(tmp_path, follow, name, contents, code, message):
    (tmp_path / "s").unlink(missing_ok=True)
    for content in contents[:-1]:
        (tmp_path / name).write_bytes(content)
        assert follow(name)[0] == 0
    before = (tmp_path / "s").read_bytes() if contents[1:] else None
    (tmp_path / name).write_bytes(contents[-1])
    found, out = follow(name)

    assert re.search(message, out), out
    assert found == code
    assert "defect" not in out
    assert {entry.name for entry in tmp_path.iterdir()} - {"s"} == {name}
    if code:
        assert out.startswith("Error: ")
        assert before is None or (tmp_path / "s").read_bytes() == before
    else:
        assert follow(name) == (found, out)


# -- state files


def rewritten(text, **changes):
    return json.dumps(json.loads(text) | changes)


STATES = [
    pytest.param(lambda text: text.replace('"n": 20', '"n": -4'), 1, r"checksum does not fit",
                 id="a count"),
    pytest.param(lambda text: rewritten(text, history=[]), 1, r"checksum does not fit", id="part"),
    pytest.param(lambda text: rewritten(text, more=1), 1, r"checksum does not fit", id="more"),
    pytest.param(lambda text: text.replace('"settings"', '"set"'), 1, r"checksum", id="a key"),
    pytest.param(lambda text: text.replace("0.9", "NaN", 1), 1, r"checksum", id="nan"),
    pytest.param(lambda text: rewritten(text, sha256=None), 1, r"checksum", id="no checksum"),
    pytest.param(lambda text: rewritten(text, sha256="0" * 64), 1, r"checksum", id="another sum"),
    pytest.param(lambda text: text[: len(text) // 2], 1, r"incomplete or no state", id="truncated"),
    pytest.param(lambda text: text[:-1], 1, r"incomplete or no state", id="a byte less"),
    pytest.param(lambda text: "", 1, r"it is empty", id="empty"),
    pytest.param(lambda text: "\0" * 100, 1, r"incomplete or no state", id="zeros"),
    pytest.param(lambda text: "[" * 100_000, 1, r"nested too deep", id="deep"),
    pytest.param(lambda text: "{}", 2, r"`--state` must be a state file of .*/3, got another file",
                 id="another document"),
    pytest.param(lambda text: "[1]", 2, r"got another file", id="a list"),
    pytest.param(lambda text: "group,x\na,1\n", 1, r"incomplete or no state file", id="a table"),
    pytest.param(lambda text: rewritten(text, schema="fairtransport-monitor/2"), 2,
                 r"got one of fairtransport-monitor/2; begin a new state", id="an older one"),
    pytest.param(lambda text: rewritten(text, schema="fairtransport-monitor/9"), 2,
                 r"got one of fairtransport-monitor/9", id="a newer one"),
]  # fmt: skip


@pytest.mark.parametrize(("tamper", "code", "message"), STATES)
def test_states(tmp_path, follow, tamper, code, message):
    (tmp_path / "c.csv").write_text(TABLE)
    follow("c.csv")
    state = tmp_path / "s"
    changed = tamper(state.read_text())
    assert changed != state.read_text()
    state.write_text(changed)
    found, out = follow("c.csv")

    assert re.search(message, out), out
    assert found == code
    assert out.startswith("Error: ")
    assert state.read_text() == changed
    with pytest.raises((ft.DataError, ft.InputError)):
        ft.Monitor.resume(state)


def test_states_that_are_no_files(tmp_path, follow):
    (tmp_path / "c.csv").write_text(TABLE)
    os.mkfifo(tmp_path / "pipe")

    assert follow("c.csv", state="pipe")[0] == 1
    assert "it is not an ordinary file" in follow("c.csv", state="pipe")[1]
    assert follow("c.csv", state="none/s")[0] == 2
    assert follow("c.csv", state=".")[0] == 2
    assert (tmp_path / "pipe").is_fifo()


def test_a_state_that_python_saved_without_a_file_is_refused(tmp_path, follow):
    (tmp_path / "c.csv").write_text(TABLE)
    monitor = told(delta=0.9)
    monitor.update(GOOD | {"guess": 1})
    monitor.save(tmp_path / "s")
    code, out = follow("c.csv")

    assert (code, "must be a state of this command, got one without a file" in out) == (2, True)


def test_a_private_state_stays_private(tmp_path, follow):
    (tmp_path / "c.csv").write_text(TABLE)
    follow("c.csv")
    (tmp_path / "s").chmod(0o600)
    (tmp_path / "c.csv").write_text(TABLE + "a,1,1,1\n")
    assert follow("c.csv")[0] == 0

    assert ft.Monitor.resume(tmp_path / "s").state.n == 21
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
