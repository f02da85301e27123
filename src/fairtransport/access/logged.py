"""Black boxes with a query log: one that is asked what the log lacks, and the log alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from fairtransport.access.boxes import as_black_box, described
from fairtransport.access.identity import known_by
from fairtransport.access.query_log import QueryLog, System, as_query_log
from fairtransport.access.wrapping import Wrapped, layers
from fairtransport.checks import shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sized
    from pathlib import Path

    from fairtransport.access.boxes import BlackBox
    from fairtransport.access.opening import Permissions
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value

MOST_NAMED = 5
"""Systems that a message lists."""


@dataclass(frozen=True, eq=False)
class Logged(Wrapped):
    """A black box whose answers are kept: the oracle asks it what the log does not know.

    Attributes
    ----------
    known_by
        The identity under which answers are kept.
    log
        Where.
    """

    known_by: str
    log: QueryLog

    @property
    def identity(self) -> str:
        """What the log knows it by."""
        return self.known_by


@dataclass(frozen=True, eq=False)
class Recorded:
    """A system of which there is only what it said: an audit is repeated without it.

    Attributes
    ----------
    identity, name, description
        What the system is known by and how a report names it.
    log
        The query log.
    library, features, classes
        What its black box said of itself.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> model = ft.access.named(lambda asked: (asked["sex"] == "m").astype(int), "version 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = f"{folder}/answers.sqlite"
    ...     result = ft.audit(people, "good", model=model, query_log=log,
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

    def answer(self, points: Sized, kind: Answer) -> NoReturn:
        """Refuse: there is nobody to be asked.

        Parameters
        ----------
        points
            People whom the log does not know.
        kind
            What a loss needs.

        Raises
        ------
        ModelError
            Always.

        Examples
        --------
        >>> box.answer(people[:1], "label")
        Traceback (most recent call last):
        fairtransport.errors.ModelError: the query log 'answers.sqlite' has no label for 1 points,
        and the model is not here
        """
        msg = f"{self.log.name} has no {kind} for {len(points)} points, and the model is not here"
        raise ModelError(msg)


def logged(model: object, query_log: str | Path | QueryLog) -> Logged:
    """Keep a model's answers in a query log, and ask it what that does not know.

    Parameters
    ----------
    model
        A model as `audit` takes it. It needs an identity, which a callable gets by `named`.
    query_log
        The path of the log, which ends in .sqlite; it is made where there is none.

    Returns
    -------
    Logged
        The same model, asked once about everything.

    Raises
    ------
    InputError
        If the path ends otherwise, or the model has no identity.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> questions = []
    >>> def says(asked):
    ...     questions.extend(asked["sex"])
    ...     return (asked["sex"] == "m").astype(int)
    >>> model = ft.access.named(says, "version 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     box = ft.access.logged(model, f"{folder}/answers.sqlite")
    ...     first = ft.audit(people, "good", model=box, sensitive_features="sex", rng=0)
    ...     again = ft.audit(people, "good", model=box, sensitive_features="sex", rng=0)
    >>> first.statistic == again.statistic, questions
    (True, ['f', 'm'])
    """
    box = described(as_black_box(model))
    if (before := log_of(box)) is not None:
        msg = (
            f"`query_log` must be given once, and the model's answers are in {before.name} already"
        )
        raise InputError(msg)
    return Logged(box, known_by(box), as_query_log("query_log", query_log))


def with_log(model: object, query_log: str | Path | QueryLog | None) -> object:
    """Return a model with the query log that was asked for, if one was.

    Parameters
    ----------
    model
        As `audit` takes it, None with given predictions.
    query_log
        A path, a log or None.

    Raises
    ------
    InputError
        If there is a log and nobody to be asked.
    """
    if query_log is None:
        return model
    if model is None:
        msg = "`query_log` must be given with a `model`, as nobody is asked about predictions"
        raise InputError(msg)
    return logged(model, query_log)


def read_answers(path: str, _: Permissions) -> Recorded:
    """Return the one system whose answers are in a query log.

    Parameters
    ----------
    path
        The query log.
    _
        What files would be allowed; a log runs nothing.
    """
    return recorded(path)


def recorded(path: str | Path, identity: str | None = None) -> Recorded:
    """Return a model that says what a query log has, for an audit without the system.

    Parameters
    ----------
    path
        The query log.
    identity
        Which of the systems in it; not needed where there is one.

    Returns
    -------
    Recorded
        What `audit` takes as its ``model``.

    Raises
    ------
    InputError
        If there is no such log, or it has the answers of several systems and none is named.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> model = ft.access.named(lambda asked: (asked["sex"] == "m").astype(int), "version 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = f"{folder}/answers.sqlite"
    ...     result = ft.audit(people, "good", model=model, query_log=log,
    ...                       sensitive_features="sex", rng=0)
    ...     box = ft.access.recorded(log)
    ...     again = ft.audit(people, "good", model=box, sensitive_features="sex", rng=0)
    >>> box.identity, again.statistic == result.statistic
    ('named: version 1', True)
    """
    log = as_query_log("path", path)
    with log.opened(reading=True) as store:
        systems = [system for _, system in store.systems()]
    known = list(dict.fromkeys(system.identity for system in systems))
    chosen = known[0] if identity is None and len(known) == 1 else identity
    if chosen not in known:
        words = ", ".join(shown(one) for one in known[:MOST_NAMED]) or "no system at all"
        if identity is not None:
            msg = f"`identity` must be one of those in {log.name} ({words}), got {shown(identity)}"
        else:
            msg = (
                f"`path` must be a query log with the answers of one system, and {log.name} has "
                f"those of {words}; `fairtransport log export` makes a log of one"
            )
        raise InputError(msg)
    return _recorded(log, next(one for one in systems if one.identity == chosen))


def _recorded(log: QueryLog, system: System) -> Recorded:
    """Return the box of a system in a log, from what the log kept about it."""
    about = dict(system.about)
    features = about.get("features")
    return Recorded(
        system.identity, log, str(about.get("name")), str(about.get("description")),
        about.get("library"), None if features is None else tuple(features), about.get("own"),
    )  # fmt: skip


def about(box: BlackBox) -> tuple[tuple[str, object], ...]:
    """Return what a log records of a black box, so that others can take its place.

    Parameters
    ----------
    box
        The model.

    Returns
    -------
    tuple of pairs
        Sorted by name; none of it tells answers apart.
    """
    return (
        ("description", str(getattr(box, "description", box.name))),
        ("features", box.features),
        ("library", box.library),
        ("name", box.name),
        ("own", box.classes),
    )


def log_of(box: BlackBox) -> QueryLog | None:
    """Return the log that a black box was given, whatever it is wrapped in.

    Parameters
    ----------
    box
        The outermost box.
    """
    return next((one.log for one in layers(box) if isinstance(one, Logged | Recorded)), None)


def is_recorded(box: BlackBox) -> bool:
    """Say whether there is nobody behind a log who could be asked.

    Parameters
    ----------
    box
        The outermost box.
    """
    return any(isinstance(one, Recorded) for one in layers(box))
