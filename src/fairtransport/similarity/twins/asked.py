"""Twins: which twins an audit asks about, how many, and which of them count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from fairtransport.checks import choice, number, shown, whole
from fairtransport.errors import InputError

KINDS = ("observed", "generate", "search")
MOST_TWINS = 10_000
"""The most twins of a person."""


@dataclass(frozen=True)
class Twins:
    """How twins are made up.

    Parameters
    ----------
    kind
        "observed": people are compared with people of the audit data; "generate": with twins
        that are made up for each of them; "search": with twins that are made up where the model
        was found to do worse, on people who are set aside for that.
    per_person
        How many twins are proposed for each person, at most.
    plausibility
        The share of the fitting data that would pass as plausible: a twin must lie no farther
        from someone there than all but the others do from each other. 0: every twin counts.
    questions
        How many questions a search may ask.
    share
        The share of people who are set aside for a search, and are then not audited.

    Raises
    ------
    InputError
        If a parameter breaks its rule.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.similarity.Twins("generate", per_person=20)
    Twins(kind='generate', per_person=20, plausibility=0.99, questions=10000, share=0.3)
    >>> ft.similarity.Twins("guess")
    Traceback (most recent call last):
    fairtransport.errors.InputError: `twins` must be one of 'observed', 'generate', 'search', got
    'guess'
    """

    kind: str = "generate"
    per_person: int = 50
    plausibility: float = 0.99
    questions: int = 10_000
    share: float = 0.3

    def __post_init__(self) -> None:
        choice("twins", self.kind, KINDS)
        whole("per_person", self.per_person, at_most=MOST_TWINS)
        number("plausibility", self.plausibility, at_least=0, below=1)
        whole("questions", self.questions)
        number("share", self.share, above=0, below=1)


def as_twins(value: object) -> Twins | None:
    """Return the twins that a user named or described; None where nothing was said.

    Examples
    --------
    >>> as_twins({"kind": "search", "questions": 500}).questions
    500
    """
    if value is None or isinstance(value, Twins):
        return value
    if isinstance(value, str):
        return Twins(choice("twins", value, KINDS))
    if isinstance(value, Mapping):
        known = [one.name for one in fields(Twins)]
        for name in value:
            if name not in known:
                msg = f"`twins` must have settings among {', '.join(known)}, got {shown(name)}"
                raise InputError(msg)
        return Twins(**value)
    words = ", ".join(repr(kind) for kind in KINDS)
    msg = f"`twins` must be one of {words} or a `Twins`, got {shown(value)}"
    raise InputError(msg)
