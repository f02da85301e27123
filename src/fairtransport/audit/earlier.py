"""Earlier audits, read from the JSON documents that they left."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, cast

from fairtransport.audit.rates import METHOD
from fairtransport.checks import cut, number, shown, whole
from fairtransport.errors import FairtransportError, InputError
from fairtransport.family import FAMILY_SCHEMA
from fairtransport.filesystem import is_file
from fairtransport.summary import GUARANTEES, SCHEMA, SCOPES, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MOST_PEOPLE = 2**53
QUESTION = ("model", "loss", "loss_range", "similarity", "sensitive", "features", "label")
"""What a document's provenance tells of the question that was asked."""


@dataclass(frozen=True)
class Earlier:
    """What a document tells that matters beside others.

    Attributes
    ----------
    name
        What it is called: its file.
    question
        What was asked, name by name.
    lower, upper
        The two-sided interval at its own level.
    certificate_pvalue, evalue
        None where the document does not tell them.
    certified
        Whether it was certified, alone.
    applicable
        Whether the audit could find anything.
    fingerprint
        The hash of its data; None if it is not told.
    scope
        Whom people were compared with.
    shared
        Whether its numbers were rounded to be shared.
    content
        A hash of everything that the document says.
    """

    name: str
    question: Mapping[str, object]
    n: int
    statistic: float
    alpha: float
    delta: float | None
    lower: float | None
    upper: float | None
    pvalue: float | None
    certificate_pvalue: float | None
    evalue: float | None
    certified: bool
    applicable: bool
    guarantee: str
    fingerprint: str | None
    scope: str
    shared: bool
    content: str

    @property
    def model(self) -> str:
        """The model, in words."""
        return str(self.question["model"])


class _Document(TypedDict):
    """What is taken from an audit's document.

    Types are what a document of ours has; of a stranger's each value is looked at.
    """

    provenance: dict[str, object]
    interval: object
    method: str
    guarantee: str
    n: object
    statistic: object
    alpha: object
    budget: object
    delta: object
    pvalue: object
    verdict: str
    target_scope: str
    suppression: object


def read_earlier(path: Path, name: str | None = None) -> Earlier:
    """Read the document of an audit.

    Parameters
    ----------
    path
        A JSON file.
    name
        What it is called; default: its file.

    Raises
    ------
    InputError
        If it is no such document, saying what is wrong with it.
    """
    document = _document(path)
    try:
        return _earlier(document, path.name if name is None else name)
    except (KeyError, TypeError, AttributeError, FairtransportError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else cut(str(error), 120)
        msg = f"{path.name!r} must be the JSON document of an audit: {what}"
        raise InputError(msg) from error


def _document(path: Path) -> _Document:
    """Return a file's document, if it is one of a single audit.

    Raises
    ------
    InputError
        If there is no such file, it is no JSON, or of another kind.
    """
    if not is_file(path):
        msg = f"`files` must be existing files, got {shown(str(path), 200)}"
        raise InputError(msg)
    try:
        document = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or endless brackets
        msg = f"{path.name!r} must be the JSON document of an audit: {cut(str(error), 120)}"
        raise InputError(msg) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == FAMILY_SCHEMA:
        msg = f"{path.name!r} must be the document of one audit, got one of several"
        raise InputError(msg)
    if schema != SCHEMA:
        msg = f"{path.name!r} must be the JSON document of an audit ({SCHEMA}), got {shown(schema)}"
        raise InputError(msg)
    return cast("_Document", document)  # what is taken from it is looked at one by one


def _earlier(document: _Document, name: str) -> Earlier:
    """Return what a document tells, each value checked.

    Parameters
    ----------
    document
        Read from a file.
    name
        What it is called.
    """
    made = document["provenance"]
    guarantee = document["guarantee"]
    _one_of("guarantee", guarantee, GUARANTEES)
    _one_of("verdict", document["verdict"], (*VERDICTS, None))
    _one_of("target_scope", document["target_scope"], SCOPES)
    interval = document["interval"]
    if not isinstance(interval, dict):
        msg = f"`interval` must have a lower and an upper end, got {shown(interval)}"
        raise InputError(msg)
    lower, upper = _number(interval, "lower"), _number(interval, "upper")
    if lower is not None and upper is not None and lower > upper:
        msg = f"`interval` must not end before it begins, got {lower:g} to {upper:g}"
        raise InputError(msg)
    question = {key: made[key] for key in QUESTION}
    # of given predictions bounds and evidence can be about rates; earlier versions had none
    question["measure"] = "rates" if document["method"] == METHOD else "statistic"
    return Earlier(
        name=name,
        question=question | {"budget": document["budget"], "delta": document["delta"]},
        n=whole("n", document["n"], at_most=MOST_PEOPLE),
        statistic=number("statistic", document["statistic"]),
        alpha=number("alpha", document["alpha"], above=0, below=0.5),
        delta=_number(document, "delta", at_least=0),
        lower=lower,
        upper=upper,
        pvalue=_share(document, "pvalue"),
        # documents of earlier versions and shared ones do not have these
        certificate_pvalue=_share({"certificate_pvalue": None, **document}, "certificate_pvalue"),
        evalue=_number({"evalue": None, **document}, "evalue", at_least=0),
        certified=document["verdict"] == "certified",
        applicable=document["verdict"] != "not-applicable",
        guarantee=guarantee,
        fingerprint=None if made["data_sha256"] is None else str(made["data_sha256"]),
        scope=str(document["target_scope"]),
        shared=document["suppression"] is not None,
        content=hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest(),
    )


def _one_of(name: str, value: object, allowed: Sequence[str | None]) -> None:
    """Refuse a word that a document of ours cannot have."""
    if value not in allowed:
        names = ", ".join(one or "null" for one in allowed)
        msg = f"`{name}` must be one of {names}, got {shown(value)}"
        raise InputError(msg)


def _number(document: Mapping[str, object], name: str, **limits: float) -> float | None:
    """Return a number of a document, None for null."""
    value = document[name]
    return None if value is None else number(name, value, **limits)


def _share(document: Mapping[str, object], name: str) -> float | None:
    """Return a number between 0 and 1 of a document, None for null.

    Examples
    --------
    >>> _share({"pvalue": 0.25}, "pvalue"), _share({"pvalue": None}, "pvalue")
    (0.25, None)
    """
    found = _number(document, name, at_least=0)
    if found is not None and found > 1:
        msg = f"`{name}` must be at most 1, got {found:g}"
        raise InputError(msg)
    return found
