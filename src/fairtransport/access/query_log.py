"""The query log: an SQLite file that stores every answer as it arrives.

Black boxes that use one (`logged`, `recorded`), and exports of a log.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NoReturn, NotRequired, TypeAlias, TypedDict

from fairtransport._core.files import escape_formula, write_bytes, write_text
from fairtransport._core.validation import short_repr
from fairtransport.access.black_box import (
    BlackBox,
    Wrapper,
    as_black_box,
    check_box,
    find_identity,
    layers,
)
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized

    from fairtransport.access.model_files import Permissions
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer


SUFFIX = ".sqlite"
APPLICATION = 0x66745131
"""Application_id in SQLite's header of a query log: "ftQ1"."""
SCHEMA = 1
"""Version of the tables; later ones are rejected."""
MAX_SINGLE_LOOKUPS = 32
"""Maximum number of single lookups; for more questions the whole log is read."""
MAX_LOCK_SECONDS = 30.0
"""Seconds to wait for another process that writes to the same log."""
PAUSE_SECONDS = 0.01
"""Seconds between attempts if SQLite is busy."""


TABLES = """
CREATE TABLE systems (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, identity TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE answers (
    system INTEGER NOT NULL REFERENCES systems (id), question TEXT NOT NULL,
    draw INTEGER NOT NULL, answer TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (system, question, draw)) WITHOUT ROWID;
"""


SELECT_ANSWERS = (
    "SELECT question, draw, answer, digest FROM answers WHERE system = "
    "(SELECT id FROM systems WHERE key = ?) "
)
SELECT_ALL, SELECT_ONE = (
    SELECT_ANSWERS + "ORDER BY question, draw",
    SELECT_ANSWERS + "AND question = ? AND draw = ?",
)


QuestionKey: TypeAlias = tuple[str, int]
"""A question as stored in the log, and the number of its draw, from 0."""


@dataclass(frozen=True)
class System:
    """The source of answers: a log reuses answers only where all fields but ``about`` agree."""

    identity: str
    columns: tuple[str, ...]
    kind: str
    classes: tuple[Value, ...] = ()
    positive: Value = None
    about: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def key(self) -> str:
        """Hash of all fields except ``about``."""
        parts = [self.identity, self.columns, self.kind, self.classes, self.positive]
        return sha256(to_sorted_json(parts).encode()).hexdigest()

    def to_json(self) -> str:
        """Return the system as the log stores it."""
        return to_sorted_json({
            "columns": self.columns, "kind": self.kind, "classes": self.classes,
            "positive": self.positive, **dict(self.about),
        })  # fmt: skip

    @classmethod
    def from_json(cls, identity: str, text: str) -> System:
        """Return a stored system."""
        about = json.loads(text)
        own = {name: about.pop(name) for name in ("columns", "kind", "classes", "positive")}
        return cls(
            identity, tuple(own["columns"]), own["kind"], tuple(own["classes"]), own["positive"],
            tuple(about.items()),
        )  # fmt: skip


@dataclass(frozen=True)
class QueryLog:
    """The log at a path; each use opens it, so that a killed process leaves no lock."""

    path: Path

    @property
    def name(self) -> str:
        """Name in messages."""
        return f"the query log {self.path.name!r}"

    @contextmanager
    def open(self, *, read_only: bool = False) -> Iterator[Store]:
        """Open the file, which is created if needed and not ``read_only``."""
        with self._explain_errors():
            connection = self._connect(read_only=read_only)
        try:
            with self._explain_errors():
                yield Store(connection, self)
        finally:
            with suppress(sqlite3.Error):
                connection.close()

    def _connect(self, *, read_only: bool) -> sqlite3.Connection:
        """Return a connection to the file, checked.

        Others may write to the log at the same time; a connection waits for them up to
        ``MAX_LOCK_SECONDS``.
        """
        if read_only and not self.path.is_file():
            msg = f"there is no query log {str(self.path)!r}"
            raise InputError(msg)
        connection = self._open_file(read_only=read_only)
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * MAX_LOCK_SECONDS)}")
            self._check(connection, read_only=read_only)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_file(self, *, read_only: bool) -> sqlite3.Connection:
        """Return a connection to the file, unchecked."""
        address = f"{self.path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        # an unused log may be in a folder where no lock can be created
        if read_only and not self.path.with_name(f"{self.path.name}-wal").exists():
            address += "&immutable=1"
        return sqlite3.connect(address, uri=True, timeout=MAX_LOCK_SECONDS, isolation_level=None)

    def _check(self, connection: sqlite3.Connection, *, read_only: bool) -> None:
        """Check that the file is a query log; make an empty file one."""
        if not read_only:
            _share_file(connection)
            # paid answers must survive a power failure
            connection.execute("PRAGMA synchronous = FULL")
            _create_if_empty(connection)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            msg = f"{self.name} is an SQLite file, but not a query log of fairtransport"
            raise InputError(msg)
        if version > SCHEMA:
            msg = (
                f"{self.name} was written by a later fairtransport (schema {version}); this one "
                f"reads schema {SCHEMA}"
            )
            raise InputError(msg)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Raise an `InputError` in one sentence for errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            words = str(error)
            if "not a database" in words or "malformed" in words or "no such table" in words:
                msg = f"{self.name} is damaged or not a query log ({words})"
            elif "readonly" in words or "unable to open" in words or "read-only" in words:
                msg = f"{self.name} could not be opened for writing ({words})"
            elif "locked" in words:
                msg = f"{self.name} is in use by another process ({words}); try again later"
            else:
                msg = f"{self.name} could not be used ({words})"
            raise InputError(msg) from error


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty log."""
    for statement in TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _share_file(connection: sqlite3.Connection) -> None:
    """Let others read and write at the same time; the file stores this mode."""
    until = monotonic() + MAX_LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(PAUSE_SECONDS)
        else:
            return


def _create_if_empty(connection: sqlite3.Connection) -> None:
    """Create the tables in a new file; two processes may try at the same time."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (count,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if count == 0:
            create_tables(connection)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@dataclass(frozen=True)
class Store:
    """An open log."""

    connection: sqlite3.Connection
    log: QueryLog

    def systems(self) -> list[tuple[int, System]]:
        """Return all systems with their numbers, each checked against its key."""
        result = []
        for number, key, identity, text in self.connection.execute(
            "SELECT id, key, identity, about FROM systems ORDER BY id"
        ):
            system = _read_system(identity, text)
            if system is None or system.key != key:
                msg = f"{self.log.name} was changed: entry {number} is not what was written"
                raise ModelError(msg)
            result.append((number, system))
        return result

    def answers(
        self, system: System, questions: Collection[QuestionKey]
    ) -> dict[QuestionKey, object]:
        """Return a system's answers to questions, by question and draw.

        Few questions are looked up singly, so that streams do not read the whole log each time.
        """
        if len(questions) > MAX_SINGLE_LOOKUPS:
            return dict(self.entries(system))
        results = [self._read_checked(system, SELECT_ONE, *question) for question in questions]
        return dict(pair for pairs in results for pair in pairs)

    def entries(self, system: System) -> Iterator[tuple[QuestionKey, object]]:
        """Yield questions, draws and answers, each checked by its digest."""
        return self._read_checked(system, SELECT_ALL)

    def _read_checked(
        self, system: System, statement: str, *values: object
    ) -> Iterator[tuple[QuestionKey, object]]:
        """Yield the entries that a statement selects, each checked by its digest."""
        rows = self.connection.execute(statement, (system.key, *values))
        for question, draw, answer, digest in rows:
            if digest != _digest(system.key, question, draw, answer):
                msg = f"{self.log.name} was changed: an answer to {question} is not the model's"
                raise ModelError(msg)
            yield (question, draw), json.loads(answer)

    def add(
        self, system: System, answers: Iterable[tuple[QuestionKey, object]]
    ) -> dict[QuestionKey, object]:
        """Write answers atomically and return the stored ones.

        Earlier answers of another process take precedence.
        """
        key, connection = system.key, self.connection
        answer_of = dict(answers)
        texts = {question: _to_exact_json(answer) for question, answer in answer_of.items()}
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(
                "INSERT OR IGNORE INTO systems (key, identity, about) VALUES (?, ?, ?)",
                (key, system.identity, system.to_json()),
            )
            (number,) = connection.execute(
                "SELECT id FROM systems WHERE key = ?", (key,)
            ).fetchone()
            rows = [(number, *question, text) for question, text in texts.items()]
            connection.executemany(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)",
                [(*row, _digest(key, *row[1:])) for row in rows],
            )
            stored = [
                connection.execute(
                    "SELECT answer FROM answers WHERE system = ? AND question = ? AND draw = ?",
                    row[:3],
                ).fetchone()[0]
                for row in rows
            ]
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        return {
            question: answer_of[question] if text == texts[question] else json.loads(text)
            for question, text in zip(texts, stored, strict=True)
        }

    def count(self, number: int) -> tuple[int, int]:
        """Return the numbers of questions and answers of a system, by its number."""
        counts = self.connection.execute(
            "SELECT COUNT(DISTINCT question), COUNT(*) FROM answers WHERE system = ?", (number,)
        ).fetchone()
        return int(counts[0]), int(counts[1])


def as_query_log(name: str, value: object) -> QueryLog:
    """Return the log at a path."""
    if isinstance(value, QueryLog):
        return value
    if not isinstance(value, str | Path) or Path(value).suffix.lower() != SUFFIX:
        msg = (
            f"{param(name)} must be the path of a file that ends in {SUFFIX}, got "
            f"{short_repr(value)}"
        )
        raise InputError(msg)
    return QueryLog(Path(value))


def write_question(question: Collection[object]) -> str:
    """Return a question as stored in the log; 1, 1.0 and true stay distinct."""
    return to_sorted_json(list(question))


def to_sorted_json(value: object) -> str:
    """Return canonical JSON of a value."""
    return _SORTED.encode(value)


def _to_exact_json(answer: object) -> str:
    """Return an answer as JSON without loss."""
    try:
        return _EXACT.encode(answer)
    except (TypeError, ValueError):
        msg = (
            f"{param('queries.log')} keeps text, numbers and truth values, got the answer "
            f"{short_repr(answer)}"
        )
        raise InputError(msg) from None


def _describe_value(value: object) -> str:
    """Return text for a value that JSON lacks, such as a date."""
    return f"{type(value).__module__}.{type(value).__qualname__}: {value}"


_SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=_describe_value)
_EXACT = json.JSONEncoder(allow_nan=False)


def _read_system(identity: str, text: str) -> System | None:
    """Return a stored system; None if it cannot be read."""
    try:
        return System.from_json(identity, text)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _digest(key: str, question: str, draw: int, answer: str) -> bytes:
    """Return a hash of an answer with its question and system, to detect changes."""
    return blake2b(to_sorted_json([key, question, draw, answer]).encode(), digest_size=16).digest()


MAX_SYSTEMS_LISTED = 5
"""Maximum number of systems in a message."""


@dataclass(frozen=True, eq=False)
class Logged(Wrapper):
    """A black box with a query log; only missing answers are queried."""

    identity: str
    log: QueryLog


@dataclass(frozen=True, eq=False)
class Recorded(BlackBox):
    """A system whose answers come from a query log, to repeat an audit without it.

    Attributes
    ----------
    identity, name, description
        Identity, name and description of the system.
    log
        The query log.
    library, features, classes, controls
        Properties of its black box.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> model = ft.access.named(lambda points: (points["sex"] == "m").astype(int), "version 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = f"{folder}/answers.sqlite"
    ...     result = ft.audit(people, "good", model=model, queries=ft.Queries(log=log),
    ...                       sensitive_features="sex", rng=0)
    ...     box = ft.access.recorded(log)
    >>> print(box.description)
    <lambda>, known as 'version 1'
    """

    identity: str
    log: QueryLog
    name: str
    description: str
    library: str | None
    features: tuple[str, ...] | None
    classes: list[Value] | None
    controls: Mapping[str, Sequence[Value]] | None = None

    def answer(self, points: Sized, kind: Answer) -> NoReturn:
        """Raise a `ModelError`: there is no model to query.

        Examples
        --------
        >>> box.answer(people[:1], "label")
        Traceback (most recent call last):
        fairtransport.errors.ModelError: the query log 'answers.sqlite' has no label for 1 rows,
        and there is no model to query
        """
        msg = (
            f"{self.log.name} has no {kind} for {len(points)} rows, and there is no model to query"
        )
        raise ModelError(msg)


def logged(model: object, query_log: str | Path | QueryLog) -> Logged:
    """Store a model's answers in a query log, and query only what is missing there.

    Parameters
    ----------
    model
        A model as `audit` takes it, with an identity, which `named` gives to a callable.
    query_log
        Path of the log, ending in .sqlite; it is created if missing.

    Returns
    -------
    Logged
        The model, which gets each question once, apart from those of `Queries.repeats`.

    Raises
    ------
    InputError
        If the path has another ending, or the model has no identity.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> questions = []
    >>> def grants(points):
    ...     questions.extend(points["sex"])
    ...     return (points["sex"] == "m").astype(int)
    >>> model = ft.access.named(grants, "version 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     box = ft.access.logged(model, f"{folder}/answers.sqlite")
    ...     queries = ft.Queries(repeats=0)
    ...     settings = dict(model=box, sensitive_features="sex", rng=0, queries=queries)
    ...     first = ft.audit(people, "good", **settings)
    ...     again = ft.audit(people, "good", **settings)
    >>> first.statistic == again.statistic, questions
    (True, ['f', 'm'])
    """
    box = check_box(as_black_box(model))
    if (other := find_log(box)) is not None:
        msg = (
            f"{param('queries.log')} must be given once, and the model's answers are in "
            f"{other.name} already"
        )
        raise InputError(msg)
    return Logged(box, find_identity(box), as_query_log("queries.log", query_log))


def with_log(model: object, query_log: str | Path | QueryLog | None) -> object:
    """Return a model with a query log, if there is one."""
    if query_log is None:
        return model
    if model is None:
        msg = (
            f"{param('queries.log')} must be given with a {param('model')}: predictions need no "
            "queries"
        )
        raise InputError(msg)
    return logged(model, query_log)


def read_query_log(path: str, _: Permissions) -> Recorded:
    """Return the only system in a query log, for `load`."""
    return recorded(path)


def recorded(path: str | Path, identity: str | None = None) -> Recorded:
    """Return a model that replays the answers of a query log.

    Parameters
    ----------
    path
        The query log.
    identity
        Identity of the system; not needed if the log has only one.

    Returns
    -------
    Recorded
        The ``model`` for `audit`.

    Raises
    ------
    InputError
        If the log does not exist, or has several systems and ``identity`` is missing.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> model = ft.access.named(lambda points: (points["sex"] == "m").astype(int), "version 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = f"{folder}/answers.sqlite"
    ...     result = ft.audit(people, "good", model=model, queries=ft.Queries(log=log),
    ...                       sensitive_features="sex", rng=0)
    ...     box = ft.access.recorded(log)
    ...     again = ft.audit(people, "good", model=box, sensitive_features="sex", rng=0)
    >>> box.identity, again.statistic == result.statistic
    ('named: version 1', True)
    """
    log = as_query_log("path", path)
    with log.open(read_only=True) as store:
        systems = [system for _, system in store.systems()]
    identities = list(dict.fromkeys(system.identity for system in systems))
    name = identities[0] if identity is None and len(identities) == 1 else identity
    if name not in identities:
        words = (
            ", ".join(short_repr(item) for item in identities[:MAX_SYSTEMS_LISTED]) or "no model"
        )
        if identity is not None:
            msg = (
                f"{param('identity')} must be one of those in {log.name} ({words}), got "
                f"{short_repr(identity)}"
            )
        else:
            msg = (
                f"{param('path')} must be a query log with the answers of one model, and "
                f"{log.name} has those of {words}; `fairtransport log export` makes a log of one"
            )
        raise InputError(msg)
    return _recorded(log, next(item for item in systems if item.identity == name))


def _recorded(log: QueryLog, system: System) -> Recorded:
    """Return the box of a system in a log."""
    about = dict(system.about)
    features = about.get("features")
    return Recorded(
        system.identity, log, str(about.get("name")), str(about.get("description")),
        about.get("library"), None if features is None else tuple(features), about.get("own"),
        about.get("controls"),
    )  # fmt: skip


def describe_box(box: BlackBox) -> tuple[tuple[str, object], ...]:
    """Return the stored properties of a black box, with which `recorded` replaces it."""
    controls = () if box.controls is None else (("controls", dict(box.controls)),)
    return (
        *controls,
        ("description", str(box.description)),
        ("features", box.features),
        ("library", box.library),
        ("name", box.name),
        ("own", box.classes),
    )


def find_log(box: BlackBox) -> QueryLog | None:
    """Return the log of a black box, also inside wrappers."""
    return next((layer.log for layer in layers(box) if isinstance(layer, Logged | Recorded)), None)


def is_recorded(box: BlackBox) -> bool:
    """Return whether a black box is only a log, without a model."""
    return any(isinstance(layer, Recorded) for layer in layers(box))


EXPORT_SUFFIXES = (".csv", ".jsonl", ".sqlite")


def contents(path: str | Path) -> list[tuple[System, int, int]]:
    """Return the systems of a log, with their numbers of questions and answers."""
    with as_query_log("FILE", path).open(read_only=True) as store:
        return [(system, *store.count(number)) for number, system in store.systems()]


class Row(TypedDict):
    """An answer in an export, with the order of its scores if it has any."""

    identity: str
    kind: str
    question: dict[str, object]
    draw: int
    answer: object
    classes: NotRequired[list[Value]]


def export(path: str | Path, output: str | Path, identity: str | None = None) -> Path:
    """Write the content of a log to a CSV, JSON Lines or SQLite file."""
    target, log = Path(output), as_query_log("FILE", path)
    if target.suffix.lower() not in EXPORT_SUFFIXES:
        msg = f"`OUTPUT` must end in {', '.join(EXPORT_SUFFIXES)}, got {target.name!r}"
        raise InputError(msg)
    with log.open(read_only=True) as store:
        systems = [
            system
            for _, system in store.systems()
            if identity is None or system.identity == identity
        ]
        if not systems:
            got = "an empty log" if identity is None else short_repr(identity)
            msg = f"{param('identity')} must be one that {log.name} has answers of, got {got}"
            raise InputError(msg)
        if target.suffix.lower() == ".sqlite":
            return write_bytes(target, _copy(log, store, systems), "OUTPUT")
        rows = [row for system in systems for row in _rows(store, system)]
    text = _lines(rows) if target.suffix.lower() == ".jsonl" else _table(rows)
    return write_text(target, text, "OUTPUT")


def _rows(store: Store, system: System) -> Iterator[Row]:
    """Yield the answers of one system, each with its question's columns by name."""
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
    """Return one JSON object per line."""
    return "".join(f"{to_sorted_json(row)}\n" for row in rows)


def _table(rows: list[Row]) -> str:
    """Return a CSV table with a column "question.NAME" for each feature."""
    columns = list(dict.fromkeys(name for row in rows for name in row["question"]))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["identity", "kind", *(f"question.{name}" for name in columns), "draw", "answer"]
    )
    for row in rows:
        values = [row["question"].get(name) for name in columns]
        answer = to_sorted_json(row["answer"]) if isinstance(row["answer"], list) else row["answer"]
        cells = [row["identity"], row["kind"], *values, row["draw"], answer]
        writer.writerow(map(escape_formula, cells))
    return text.getvalue()


def _copy(log: QueryLog, store: Store, systems: list[System]) -> bytes:
    """Return the bytes of a query log with some of the systems."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        copy = Store(connection, log)
        for system in systems:
            copy.add(system, store.entries(system))
        return connection.serialize()
