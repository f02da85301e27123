"""What a family of audits is asked: the entries, each the common settings and its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from fairtransport.access.boxes import choose_access
from fairtransport.access.remembering import Remembering
from fairtransport.checks import shown
from fairtransport.errors import FairtransportError, InputError
from fairtransport.settings import PEOPLE, SETTINGS, AuditSettings, checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FEWEST = 2
SHARED = ("X", "alpha", "counts")
"""What a family has one of."""
WHERE = "where"
"""An entry's slice of the cases, as in ``{"site": ["a", "b"]}``."""
OF_ONE = {
    "judge": "the verdicts of a family are all on the statistic",
    **dict.fromkeys(("title", "date", "data_name", "auditor"), "a family has one report"),
    "draws": "the models of a family give one answer to a question, which its audits share",
    "ask_until_sure": "a family asks about everybody, as its audits share the answers",
    **dict.fromkeys(
        ("time_limit", "search_rounds", "memory"), "the audits of a family share their searches"
    ),
    "budget_of_questions": "a family asks about everybody, as its audits share the answers",
    "proxies": "the columns that tell a feature are those of one audit",
}
"""What a family is not asked, and why."""
OWN = (*(name for name in SETTINGS if name not in {*SHARED, *OF_ONE}), WHERE)
"""What an entry may say for itself."""
ACCESS = ("model", "y_pred", "y_score")
"""The ways to predictions, of which an audit has one."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One audit of a family, checked as far as that needs no data.

    Attributes
    ----------
    name
        What it is called.
    settings
        What it is asked.
    people
        Labels, predictions and training data as `audit` takes them; a model that remembers.
    where
        Its slice of the cases, if it is not about all of them.
    """

    name: str
    settings: AuditSettings
    people: dict[str, Any]
    where: object = None


def check_entries(
    audits: object, common: Mapping[str, object]
) -> tuple[dict[str, Entry], list[Remembering]]:
    """Return the entries by name, and the models that are asked, each once.

    Parameters
    ----------
    audits
        What the user passed: settings by name.
    common
        Settings that hold for all.

    Returns
    -------
    entries, models
        A model that several audits share is one that remembers what it said.

    Raises
    ------
    InputError
        Before any data are read, naming the audit in which something is wrong.
    """
    if not isinstance(audits, Mapping) or len(audits) < FEWEST:
        got = shown(audits) if not isinstance(audits, Mapping) else f"{len(audits)}"
        msg = f"`audits` must map at least {FEWEST} names to settings, got {got}"
        raise InputError(msg)
    refuse_unknown(
        common, [name for name in SETTINGS if name not in {"X", *OF_ONE}], "`audit_many`"
    )
    common = {**common, "rng": checked("rng", common.get("rng"))}
    models: dict[int, Remembering] = {}
    entries = {}
    for name, own in audits.items():
        if not isinstance(name, str) or not name.strip():
            msg = f"`audits` must have names of text, got {shown(name)}"
            raise InputError(msg)
        with naming_entry(name):
            entries[name] = _entry(name, own, common, models)
    return entries, list(models.values())


@contextmanager
def naming_entry(name: str) -> Iterator[None]:
    """Say in which audit of a family something is wrong.

    Parameters
    ----------
    name
        The audit's.

    Examples
    --------
    >>> with naming_entry("women"):
    ...     raise InputError("`delta` must be given")
    Traceback (most recent call last):
        ...
    fairtransport.errors.InputError: audit 'women': `delta` must be given
    """
    try:
        yield
    except FairtransportError as error:
        msg = f"audit {shown(name)}: {error}"
        raise type(error)(msg) from error


def refuse_unknown(given: Iterable[object], known: Sequence[str], what: str) -> None:
    """Refuse keywords that mean nothing.

    Parameters
    ----------
    given
        Keywords.
    known
        Those that there are; the nearest one is proposed.
    what
        Whose settings they would be, for the message.
    """
    for name in given:
        if name in OF_ONE and name in SETTINGS:
            msg = f"`{name}` is for `audit` alone: {OF_ONE[name]}"
            raise InputError(msg)
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            msg = f"{shown(name)} is no setting of {what}{hint}"
            raise InputError(msg)


def _entry(
    name: str, own: object, common: Mapping[str, object], models: dict[int, Remembering]
) -> Entry:
    """Return one audit of a family, checked as far as that needs no data.

    Parameters
    ----------
    name, own
        Its name and its own settings.
    common
        Those of all audits, where it has none of its own.
    models
        By identity of the object: models seen so far; added to.
    """
    if not isinstance(own, Mapping):
        msg = f"its settings must be a mapping, as in {{'delta': 0.05}}, got {shown(own)}"
        raise InputError(msg)
    for one in SHARED:
        if one in own:
            msg = f"`{one}` must be the same for all audits of a family"
            raise InputError(msg)
    refuse_unknown(own, OWN, "an audit")
    given: dict[str, Any] = {**_left(common, own), **own}
    if given.get("sensitive_features") is None:
        msg = "`sensitive_features` must be given"
        raise InputError(msg)
    asked = {one.name for one in fields(AuditSettings)}
    settings = AuditSettings(**{key: value for key, value in given.items() if key in asked})
    people = {key: given.get(key) for key in PEOPLE if key != "X"}
    loss = settings.chosen_loss
    choose_access(people["model"], people["y_pred"], people["y_score"], loss)
    if loss.uses_truth and people["y"] is None:
        msg = f"`y` must be given for the loss {loss.name!r}, got None"
        raise InputError(msg)
    model = people["model"]
    if model is not None:
        people["model"] = models.setdefault(id(model), Remembering(model))
    return Entry(name, settings, people, given.get(WHERE))


def _left(common: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """Return what an entry takes over: of the ways to predictions none if it has its own.

    Parameters
    ----------
    common, own
        Settings of all audits, and of this one.

    Examples
    --------
    An audit with its own predictions does not take over a model that the others are asked.

    >>> _left({"model": "m", "y": "label"}, {"y_pred": "said"})
    {'y': 'label'}
    """
    displaced = ACCESS if any(own.get(name) is not None for name in ACCESS) else ()
    return {name: value for name, value in common.items() if name not in displaced}


def with_names(entry: Entry, names: Mapping[str, Any]) -> Entry:
    """Return an entry whose columns are told by their names.

    Parameters
    ----------
    entry
        With arrays or frames in their place.
    names
        By parameter.
    """
    asked = {name: names[name] for name in ("sensitive_features", "features")}
    return replace(
        entry,
        settings=replace(entry.settings, **asked),
        people=entry.people | {name: names[name] for name in names if name not in asked},
    )
