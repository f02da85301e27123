"""What a query log holds, for others: as a table, line by line, or as a log of one system."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from fairtransport.access.query_log import QueryLog, Store, System, as_query_log, create, encoded
from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.filesystem import write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.space.columns import Value

ENDINGS = (".csv", ".jsonl", ".sqlite")


def contents(path: str | Path) -> list[tuple[System, int, int]]:
    """Return who answered, and how many questions and answers there are of each.

    Parameters
    ----------
    path
        The query log; it is only read.
    """
    with as_query_log("FILE", path).opened(reading=True) as store:
        return [(system, *store.count(number)) for number, system in store.systems()]


class Row(TypedDict):
    """An answer as an export tells it, with the order of its scores if it is made of these.

    Attributes
    ----------
    identity, kind
        Who answered, and what was asked for.
    question
        The columns by name.
    draw
        Which of several answers to the question this is, from 0.
    answer
        A label, a number or scores.
    classes
        The labels that scores belong to; absent where there are none.
    """

    identity: str
    kind: str
    question: dict[str, object]
    draw: int
    answer: object
    classes: NotRequired[list[Value]]


def export(path: str | Path, output: str | Path, identity: str | None = None) -> Path:
    """Write what a log holds to a file that others can read.

    Parameters
    ----------
    path
        The query log.
    output
        A table (.csv), one answer a line (.jsonl), or another query log (.sqlite).
    identity
        Whose answers; default: all.
    """
    target, log = Path(output), as_query_log("FILE", path)
    if target.suffix.lower() not in ENDINGS:
        msg = f"`OUTPUT` must end in {', '.join(ENDINGS)}, got {target.name!r}"
        raise InputError(msg)
    with log.opened(reading=True) as store:
        systems = [
            one for _, one in store.systems() if identity is None or one.identity == identity
        ]
        if not systems:
            got = "an empty log" if identity is None else shown(identity)
            msg = f"`identity` must be one that {log.name} has answers of, got {got}"
            raise InputError(msg)
        if target.suffix.lower() == ".sqlite":
            return write_bytes(target, _copy(log, store, systems), "OUTPUT")
        rows = [row for system in systems for row in _rows(store, system)]
    text = _lines(rows) if target.suffix.lower() == ".jsonl" else _table(rows)
    return write_text(target, text, "OUTPUT")


def _rows(store: Store, system: System) -> Iterator[Row]:
    """Yield the answers of one system, each with its question's columns by name.

    Parameters
    ----------
    store
        The open log.
    system
        Who answered, of which kind, and in which order a question's values are kept.
    """
    for (question, draw), answer in store.entries(system):
        values = dict(zip(system.columns, json.loads(question), strict=True))
        row: Row = {
            "identity": system.identity, "kind": system.kind, "question": values, "draw": draw,
            "answer": answer,
        }  # fmt: skip
        if system.classes:
            row["classes"] = list(system.classes)
        yield row


def _lines(rows: list[Row]) -> str:
    """Return one JSON object a line."""
    return "".join(f"{encoded(row)}\n" for row in rows)


def _table(rows: list[Row]) -> str:
    r"""Return a table: a column each for what is asked about, its name after "question.".

    Parameters
    ----------
    rows
        Answers, perhaps of systems with different columns; what one lacks is empty.

    Examples
    --------
    >>> row = {"identity": "m", "kind": "label", "question": {"age": 30}, "draw": 0, "answer": "no"}
    >>> print(_table([row]).replace("\r", ""), end="")
    identity,kind,question.age,draw,answer
    m,label,30,0,no
    """
    columns = list(dict.fromkeys(name for row in rows for name in row["question"]))
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(
        ["identity", "kind", *(f"question.{name}" for name in columns), "draw", "answer"]
    )
    for row in rows:
        values = [row["question"].get(name) for name in columns]
        answer = encoded(row["answer"]) if isinstance(row["answer"], list) else row["answer"]
        writer.writerow([row["identity"], row["kind"], *values, row["draw"], answer])
    return made.getvalue()


def _copy(log: QueryLog, store: Store, systems: list[System]) -> bytes:
    """Return the bytes of a query log with some of the systems.

    Parameters
    ----------
    log, store
        The log that is copied from, and its open file.
    systems
        Whose answers are copied, each checked on the way.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        create(made)
        copy = Store(made, log)
        for system in systems:
            copy.keep(system, store.entries(system))
        return made.serialize()
