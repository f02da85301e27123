"""The query log: an SQLite file that keeps every answer as it arrives, whoever asks next."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b, sha256
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeAlias

from fairtransport.checks import shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from fairtransport.space.columns import Value

ENDING = ".sqlite"
APPLICATION = 0x66745131
"""What SQLite's header says of a file that is a query log: "ftQ1" in its application_id."""
SCHEMA = 1
"""The version of the tables; a log of a later one is refused."""
FEW = 32
"""Questions that are looked up one by one; of more the whole log is read."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes to the same log."""
PAUSE = 0.01
"""Seconds until one that SQLite turned away comes again."""

TABLES = """
CREATE TABLE systems (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, identity TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE answers (
    system INTEGER NOT NULL REFERENCES systems (id), question TEXT NOT NULL,
    draw INTEGER NOT NULL, answer TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (system, question, draw)) WITHOUT ROWID;
"""

OF_SYSTEM = (
    "SELECT question, draw, answer, digest FROM answers WHERE system = "
    "(SELECT id FROM systems WHERE key = ?) "
)
ALL, ONE = OF_SYSTEM + "ORDER BY question, draw", OF_SYSTEM + "AND question = ? AND draw = ?"

Asked: TypeAlias = tuple[str, int]
"""A question as the log writes it, and which of its draws this is; 0 is the first."""


@dataclass(frozen=True)
class System:
    """Who answers what: answers are reused where all of it is the same, and else never.

    Attributes
    ----------
    identity
        What the model, its version, its prompt and its settings are known by.
    columns
        The columns that make up a question, in their order.
    kind
        What is asked for: "label", "score", "value" or "any".
    classes, positive
        For scores: the labels in the order of the columns of an answer, and the label that a
        single score belongs to; else empty.
    about
        What else a reader of the log wants to know, for the record: the model's name,
        description, library, columns and classes.
    """

    identity: str
    columns: tuple[str, ...]
    kind: str
    classes: tuple[Value, ...] = ()
    positive: Value = None
    about: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """The hash of all that tells answers apart; ``about`` is no part of it."""
        parts = [self.identity, self.columns, self.kind, self.classes, self.positive]
        return sha256(encoded(parts).encode()).hexdigest()

    def to_json(self) -> str:
        """Return it as the log keeps it."""
        return encoded({
            "columns": self.columns, "kind": self.kind, "classes": self.classes,
            "positive": self.positive, **dict(self.about),
        })  # fmt: skip

    @classmethod
    def from_json(cls, identity: str, text: str) -> System:
        """Return what the log kept.

        Parameters
        ----------
        identity
            As the log has it.
        text
            What `to_json` returned.
        """
        about = json.loads(text)
        own = {name: about.pop(name) for name in ("columns", "kind", "classes", "positive")}
        return cls(
            identity, tuple(own["columns"]), own["kind"], tuple(own["classes"]), own["positive"],
            tuple(about.items()),
        )  # fmt: skip


@dataclass(frozen=True)
class QueryLog:
    """The log at a path; each use opens it, so that a killed process leaves nothing locked.

    Attributes
    ----------
    path
        Of an SQLite file. Nothing but this is kept between uses.
    """

    path: Path

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"the query log {self.path.name!r}"

    @contextmanager
    def opened(self, *, reading: bool = False) -> Iterator[Store]:
        """Open the file for one audit; it is made if it is not there and answers will come.

        Parameters
        ----------
        reading
            Whether nothing will be written: the file must be there, and may lie where nothing can
            be written.

        Raises
        ------
        InputError
            With one sentence for whatever SQLite could not do.
        """
        with self._saying():
            connection = self._connected(reading=reading)
        try:
            with self._saying():
                yield Store(connection, self)
        finally:
            with suppress(sqlite3.Error):
                connection.close()

    def _connected(self, *, reading: bool) -> sqlite3.Connection:
        """Return a connection to the file, which is a query log of a version that can be read.

        Parameters
        ----------
        reading
            Whether nothing is to be written: then the file must be there, and stays as it is.

        Notes
        -----
        Others may write to the log at the same time; a connection waits ``PATIENCE`` seconds for
        them.
        """
        if reading and not self.path.is_file():
            msg = f"{self.name} must be an existing file"
            raise InputError(msg)
        connection = self._open_file(reading=reading)
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")
            self._check(connection, reading=reading)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_file(self, *, reading: bool) -> sqlite3.Connection:
        """Return a connection to the file, whatever it is."""
        address = f"{self.path.absolute().as_uri()}?mode={'ro' if reading else 'rwc'}"
        # a log that nobody writes may lie where even a lock cannot be put beside it
        if reading and not self.path.with_name(f"{self.path.name}-wal").exists():
            address += "&immutable=1"
        return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)

    def _check(self, connection: sqlite3.Connection, *, reading: bool) -> None:
        """Refuse what is no query log; make an empty file one.

        Parameters
        ----------
        connection
            To the file.
        reading
            Whether it may not be changed.

        Raises
        ------
        InputError
            If it is another program's, or of a later version.
        """
        if not reading:
            _let_many_in(connection)
            # an answer that was paid for survives a power failure too
            connection.execute("PRAGMA synchronous = FULL")
            _made(connection)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            msg = f"{self.name} is an SQLite file, but no query log of fairtransport"
            raise InputError(msg)
        if version > SCHEMA:
            msg = (
                f"{self.name} was written by a later fairtransport (schema {version}); this one "
                f"reads schema {SCHEMA}"
            )
            raise InputError(msg)

    @contextmanager
    def _saying(self) -> Iterator[None]:
        """Say in one sentence what SQLite could not do.

        Raises
        ------
        InputError
            In place of every error of SQLite inside, which it is made from: damaged, not writable,
            held by another process, or what SQLite says.
        """
        try:
            yield
        except sqlite3.Error as error:
            words = str(error)
            if "not a database" in words or "malformed" in words or "no such table" in words:
                msg = f"{self.name} is damaged or no query log: {words}"
            elif "readonly" in words or "unable to open" in words or "read-only" in words:
                msg = f"{self.name} could not be opened for writing: {words}"
            elif "locked" in words:
                msg = f"{self.name} is held by another process: {words}"
            else:
                msg = f"{self.name} could not be used: {words}"
            raise InputError(msg) from error


def create(connection: sqlite3.Connection) -> None:
    """Make an empty log of an empty file.

    Parameters
    ----------
    connection
        To the file.
    """
    for statement in TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _let_many_in(connection: sqlite3.Connection) -> None:
    """Let others read and write beside this connection, which the file remembers.

    Parameters
    ----------
    connection
        To the file. SQLite waits for nobody here: it reads the mode before it writes it, and of two
        that have read it neither could go on, so that one is turned away at once and comes again.
    """
    until = monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(PAUSE)
        else:
            return


def _made(connection: sqlite3.Connection) -> None:
    """Make the tables in a file that is new; two processes may come at the same time.

    Parameters
    ----------
    connection
        To the file; the transaction lets one of them in.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        (things,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if things == 0:
            create(connection)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@dataclass(frozen=True)
class Store:
    """A log that is open.

    Attributes
    ----------
    connection
        To its file.
    log
        Whose it is, for messages.
    """

    connection: sqlite3.Connection
    log: QueryLog

    def systems(self) -> list[tuple[int, System]]:
        """Return all who answered, with their numbers, each checked against its key.

        Raises
        ------
        ModelError
            If an entry was changed by hand.
        """
        found = []
        for number, key, identity, text in self.connection.execute(
            "SELECT id, key, identity, about FROM systems ORDER BY id"
        ):
            system = _read_system(identity, text)
            if system is None or system.key != key:
                msg = f"{self.log.name} was changed: entry {number} is not what was written"
                raise ModelError(msg)
            found.append((number, system))
        return found

    def answers(self, system: System, among: Collection[Asked]) -> dict[Asked, object]:
        """Return what a system said to some questions, by question and draw.

        A few are looked up, so that streams do not read the whole log at every record.

        Parameters
        ----------
        system
            Who answers what.
        among
            The questions that are of interest; more may be returned.
        """
        if len(among) > FEW:
            return dict(self.entries(system))
        found = [self._checked(system, ONE, *asked) for asked in among]
        return dict(pair for pairs in found for pair in pairs)

    def entries(self, system: System) -> Iterator[tuple[Asked, object]]:
        """Yield questions, draws and answers, each checked against what was written.

        Parameters
        ----------
        system
            Whose.
        """
        return self._checked(system, ALL)

    def _checked(
        self, system: System, statement: str, *values: object
    ) -> Iterator[tuple[Asked, object]]:
        """Yield what a statement finds, each entry checked by its digest.

        Raises
        ------
        ModelError
            If an answer was changed after it was written.
        """
        rows = self.connection.execute(statement, (system.key, *values))
        for question, draw, answer, digest in rows:
            if digest != _digest(system.key, question, draw, answer):
                msg = f"{self.log.name} was changed: an answer to {question} is not what came"
                raise ModelError(msg)
            yield (question, draw), json.loads(answer)

    def keep(self, system: System, said: Iterable[tuple[Asked, object]]) -> dict[Asked, object]:
        """Write answers down, all of them or none, and return those that count.

        Where another process was faster its answer is the one that is kept.

        Parameters
        ----------
        system
            Who answered.
        said
            Questions with draws, and answers.

        Returns
        -------
        dict
            What the log now has, which an audit must use: whoever repeats it will read that.

        Raises
        ------
        InputError
            If an answer is none that JSON can hold.
        """
        key, connection = system.key, self.connection
        given = {asked: _kept(answer) for asked, answer in said}
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(
                "INSERT OR IGNORE INTO systems (key, identity, about) VALUES (?, ?, ?)",
                (key, system.identity, system.to_json()),
            )
            (number,) = connection.execute(
                "SELECT id FROM systems WHERE key = ?", (key,)
            ).fetchone()
            rows = [(number, *asked, text) for asked, text in given.items()]
            connection.executemany(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)",
                [(*row, _digest(key, *row[1:])) for row in rows],
            )
            kept = [
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
        return {asked: json.loads(text) for asked, text in zip(given, kept, strict=True)}

    def count(self, number: int) -> tuple[int, int]:
        """Return how many questions and answers there are of a system, by its number.

        Parameters
        ----------
        number
            From `systems`.
        """
        found = self.connection.execute(
            "SELECT COUNT(DISTINCT question), COUNT(*) FROM answers WHERE system = ?", (number,)
        ).fetchone()
        return int(found[0]), int(found[1])


def as_query_log(name: str, value: object) -> QueryLog:
    """Return the log that a user names.

    Parameters
    ----------
    name
        The parameter, for the message.
    value
        A path, or a log.

    Raises
    ------
    InputError
        If it does not end as a log does.
    """
    if isinstance(value, QueryLog):
        return value
    if not isinstance(value, str | Path) or Path(value).suffix.lower() != ENDING:
        msg = f"`{name}` must be the path of a file that ends in {ENDING}, got {shown(value)}"
        raise InputError(msg)
    return QueryLog(Path(value))


def written(question: Collection[object]) -> str:
    """Return a question as the log writes it: 1, 1.0 and true stay apart.

    Parameters
    ----------
    question
        Values in the order of the columns.

    Examples
    --------
    >>> written((1, 1.0, True, None))
    '[1, 1.0, true, null]'
    """
    return encoded(list(question))


def encoded(value: object) -> str:
    """Return JSON that is the same for the same value.

    Parameters
    ----------
    value
        Keys are sorted; dates and the like are written with their type.

    Examples
    --------
    >>> encoded({"b": 1, "a": "ü"})
    '{"a": "ü", "b": 1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_of_another_type)


def _kept(answer: object) -> str:
    """Return an answer as JSON from which the same answer can be read.

    Parameters
    ----------
    answer
        A label, a number or a list of scores.

    Raises
    ------
    InputError
        If it is something else, or not finite.

    Examples
    --------
    >>> _kept([0.25, 0.75])
    '[0.25, 0.75]'
    """
    try:
        return json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError):
        msg = f"`query_log` keeps text, numbers and truth values, got the answer {shown(answer)}"
        raise InputError(msg) from None


def _of_another_type(value: object) -> str:
    """Return what stands for a date and the like.

    Parameters
    ----------
    value
        Its type is part of the text: a date is not the word that it is written as.

    Examples
    --------
    >>> from datetime import date
    >>> _of_another_type(date(2024, 2, 29))
    'datetime.date: 2024-02-29'
    """
    return f"{type(value).__module__}.{type(value).__qualname__}: {value}"


def _read_system(identity: str, text: str) -> System | None:
    """Return a system as the log has it, None if that cannot be read."""
    try:
        return System.from_json(identity, text)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _digest(key: str, question: str, draw: int, answer: str) -> bytes:
    """Return what a changed answer no longer has: a hash of all that stands beside it."""
    return blake2b(encoded([key, question, draw, answer]).encode(), digest_size=16).digest()
