"""Files of cases: CSV, Parquet and JSON lines with odd columns and values."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import fairtransport as ft
from fairtransport import DataError
from tests.campaign.kinds import Kind, folder
from tests.campaign.people import PEOPLE, SWAPPED

TABLE = PEOPLE[["race", "age", "good", "guess"]]
ASKED = {"y": "good", "y_pred": "guess", "sensitive_features": ["race"]}


def given(path, **changed):
    asked = ASKED | changed
    return ft.audit(path, asked.pop("y"), rng=0, **asked).statistic


def text(name, content, **changed):
    path = folder() / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return given(path, **changed)


def csv(name, frame=TABLE, **changed):
    return text(f"{name}.csv", frame.to_csv(index=False), **changed)


def parquet(name, column, values, **changed):
    path = folder() / f"{name}.parquet"
    columns = {other: pa.array(TABLE[other]) for other in TABLE if other != column}
    pq.write_table(pa.table(columns | {column: values}), path)
    return given(path, **changed)


def renamed(name, column="age"):
    frame = TABLE.rename(columns={column: name})
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder() / "renamed.parquet")
    sensitive = [name] if column == "race" else ["race"]
    return given(folder() / "renamed.parquet", sensitive_features=sensitive)


AGES = TABLE["age"].to_numpy()
LINES = TABLE.to_json(orient="records", lines=True)
NAMES = [
    Kind("audit file", f"a column called {name!r}", lambda n=name: renamed(n), right=SWAPPED)
    for name in ("fairtransport_count", "fairtransport_bad", "c", "b", "ccc", "select", 'a"b', "a b",
                 "a.b", "ä", "count", "sum", "*", "x" * 200, "a;b", "--", "0", " ")
] + [
    Kind("audit file", f"a sensitive column called {name!r}", lambda n=name: renamed(n, "race"),
         right=SWAPPED)
    for name in ("fairtransport_count", "fairtransport_bad", "group", "order")
]  # fmt: skip
VALUES = [
    Kind("audit file", what, lambda n=at, v=values: parquet(f"odd{n}", "age", v()), right=SWAPPED)
    for at, (what, values) in enumerate({
        "bytes": lambda: pa.array([b"%d" % age for age in AGES]),
        "bytes that are no text": lambda: pa.array([bytes([255, age]) for age in AGES]),
        "half precision": lambda: pa.array(AGES.astype(np.float16)),
        "single precision": lambda: pa.array(AGES.astype(np.float32)),
        "decimals": lambda: pa.array(AGES).cast(pa.decimal128(22, 3)),
        "decimals beyond floats": lambda: pa.array(AGES).cast(pa.decimal128(38, 10)),
        "unsigned 64 bits": lambda: pa.array(AGES.astype(np.uint64) + np.uint64(2**63)),
        "dates": lambda: pa.array(AGES.astype("M8[D]")),
        "times": lambda: pa.array(AGES.astype("M8[ns]")),
        "times of day": lambda: pa.array(AGES, pa.int32()).cast(pa.time32("s")),
        "dictionaries of text": lambda: pa.array(AGES.astype(str)).dictionary_encode(),
        "large text": lambda: pa.array(AGES.astype(str), pa.large_string()),
        "text with quotes": lambda: pa.array([f"'{age}\"" for age in AGES]),
        "text with line breaks": lambda: pa.array([f"{age}\n" for age in AGES]),
        "emoji": lambda: pa.array(["😀" * int(age) for age in AGES]),
    }.items())
] + [
    Kind("audit file", what, lambda n=at, v=values: parquet(f"bad{n}", "age", v()), says, DataError)
    for at, (what, values, says) in enumerate((
        ("infinity", lambda: pa.array([np.inf] * 8), "^the column 'age' must hold finite numbers"),
        ("NaN", lambda: pa.array([np.nan] * 8), "^the column 'age' must not have missing"),
        ("nothing", lambda: pa.nulls(8), "^the column 'age' must not have missing"),
        ("times with a zone", lambda: pa.array(
            pd.to_datetime(AGES, unit="D", utc=True).tz_convert("Asia/Tokyo")),
         "^the column 'age' holds times with a time zone"),
        ("lengths of time", lambda: pa.array(AGES.astype("m8[s]")),
         "^the column 'age' holds durations"),
        ("lists", lambda: pa.array([[1]] * 8), "^the column 'age' must hold single values"),
        ("structures", lambda: pa.array([{"a": 1}] * 8), "^the column 'age' must hold single"),
        ("mappings", lambda: pa.array([[("a", 1)]] * 8, pa.map_(pa.string(), pa.int64())),
         "^the column 'age' must hold single values"),
        ("minus infinity in half precision", lambda: pa.array(np.full(8, -np.inf, np.float16)),
         "^the column 'age' must hold finite numbers"),
    ))
] + [
    Kind("audit file counts", what, lambda n=at, v=values: parquet(
        f"count{n}", "people", v(), counts="people", features=["race", "age"]), says, DataError)
    for at, (what, values, says) in enumerate((
        ("NaN", lambda: pa.array([np.nan] * 8), "^the counts in 'people' must be whole"),
        ("fractions", lambda: pa.array([0.5] * 8), "^the counts in 'people' must be whole"),
        ("negative", lambda: pa.array([-1] * 8), "^the counts in 'people' must be whole"),
        ("text", lambda: pa.array(["1"] * 8), "^the counts in 'people' must be whole"),
        ("too many in all", lambda: pa.array([2**53] * 8), "^the counts in 'people' must be at most"),
        ("beyond 64 bits", lambda: pa.array([10**30] * 8, pa.decimal128(38, 0)),
         "^the counts in 'people' must be whole"),
        ("bytes", lambda: pa.array([b"1"] * 8), "^the counts in 'people' must be whole"),
        ("all zero", lambda: pa.array([0] * 8), "^the audit data must have at least one row"),
        ("nothing", lambda: pa.nulls(8), "^the counts in 'people' must be whole"),
    ))
] + [
    Kind("audit file counts", what, lambda n=at, v=values: parquet(
        f"counted{n}", "people", v(), counts="people", features=["race", "age"]), right=SWAPPED)
    for at, (what, values) in enumerate({
        "whole floats": lambda: pa.array([3.0] * 8),
        "decimals": lambda: pa.array([3] * 8).cast(pa.decimal128(22, 3)),
        "small unsigned integers": lambda: pa.array(np.full(8, 200, np.uint8)),
        "very many": lambda: pa.array([10**15] * 8),
    }.items())
]  # fmt: skip
TEXTS = [
    Kind("audit file", what, call, says, DataError)
    for what, call, says in (
        ("an empty CSV file", lambda: text("empty.csv", ""), "^the file 'empty.csv' is empty"),
        ("nothing but a header", lambda: csv("header", TABLE[:0]), "^the audit data must have at le"),
        ("labels of text and numbers", lambda: csv("mixed", TABLE.assign(guess=["x", *"0001110"])),
         "^true labels and predictions must have the same values"),
        ("names that differ in capitals", lambda: csv("capitals", TABLE.assign(GOOD=1)),
         "^the header must have distinct column names"),
        ("infinity in text", lambda: csv("inf", TABLE.assign(age=["inf", *["2"] * 7])),
         "^the column 'age' must hold finite numbers, got 'inf'"),
        ("NaN in text", lambda: csv("nan", TABLE.assign(age=["NaN", *["2.5"] * 7])),
         "^the column 'age' must not have missing values, but 1"),
        ("no JSON", lambda: text("no.jsonl", "{'a': 1}\nno"), "^the file 'no.jsonl' could not be re"),
        ("no Parquet", lambda: text("no.parquet", b"PAR1" + b"x" * 100),
         "^the file 'no.parquet' could not be read"),
        ("a label that is missing", lambda: csv("gap", TABLE.assign(good=[None, *[1, 0] * 3, 1])),
         "^the column 'good' must not have missing"),
    )
] + [
    Kind("audit file", "a label nobody knows", lambda: given(folder(), y="x"), "^`X` must be "),
    Kind("audit file", "an array of labels", lambda: csv("array", y=[1] * 8),
         "^`y` must be a column's name when the data is a file"),
    Kind("audit file", "arrays of predictions", lambda: csv("array", y_pred=[1] * 8),
         "^`y_pred` must be a column's name when the data is a file"),
] + [
    Kind("audit file", what, call, right=SWAPPED)
    for what, call in {
        "CSV": lambda: csv("plain"),
        "JSON lines": lambda: text("plain.jsonl", LINES),
        "JSON": lambda: text("plain.json", TABLE.to_json(orient="records")),
        "tabs": lambda: text("plain.tsv", TABLE.to_csv(index=False, sep="\t")),
        "semicolons": lambda: text("semi.csv", TABLE.to_csv(index=False, sep=";")),
        "Windows line ends": lambda: text("crlf.csv", TABLE.to_csv(index=False).replace("\n", "\r\n")),
        "a byte order mark": lambda: text("bom.csv", "\ufeff" + TABLE.to_csv(index=False)),
        "no line end at the end": lambda: text("end.csv", TABLE.to_csv(index=False).rstrip()),
        "quotes everywhere": lambda: text("quoted.csv", TABLE.to_csv(index=False, quoting=1)),
        "labels of truth": lambda: csv("truth", TABLE.assign(
            good=TABLE["good"] == 1, guess=TABLE["guess"] == 1)),
        "labels of words": lambda: csv("words", TABLE.replace(
            {"good": {0: "no", 1: "yes"}, "guess": {0: "no", 1: "yes"}})),
        "capitals at the end": lambda: text("CAPITALS.CSV", TABLE.to_csv(index=False)),
        "further columns": lambda: csv("more", TABLE.assign(more=1), features=["race", "age"]),
        "many columns": lambda: csv(
            "wide", pd.concat([TABLE, pd.DataFrame(np.ones((8, 300))).add_prefix("x")], axis=1),
            features=["race", "age"]),
    }.items()
]  # fmt: skip

KINDS = [*NAMES, *VALUES, *TEXTS]
