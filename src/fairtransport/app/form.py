"""The form of an audit: from what is typed to what is asked, with a sentence beside each field.

Columns are named by their places, so that no name of a file gets into the names of fields.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.app.asked import Answering, Asked, check, resolve
from fairtransport.audit import compare
from fairtransport.audit.applicability import FIT_SHARE
from fairtransport.errors import FairtransportError, InputError
from fairtransport.literals import literal, numbers
from fairtransport.settings import SETTINGS, AuditSettings, checked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtransport.app.tables import Table
    from fairtransport.app.uploads import Upload

CASE, LABEL, SENSITIVE, PREDICTION, SCORE, COUNTS, UNUSED = (
    "case", "label", "sensitive", "prediction", "score", "counts", "unused",
)  # fmt: skip
ROLES = {
    CASE: "describes a case",
    LABEL: "true label",
    SENSITIVE: "sensitive feature",
    PREDICTION: "prediction",
    SCORE: "score of the positive label",
    COUNTS: "number of cases a row stands for",
    UNUSED: "left out",
}
"""What a column can be."""
SIMILARITIES = {
    "ignore-sensitive": "People who differ in nothing but sensitive features are similar; nobody "
    "else is.",
    "mixed-tabular": "People are the more similar, the less they differ: I say below how much a "
    "difference in each column counts.",
    "sensitive-subspace": "People are similar who differ in what tells sensitive features from "
    "the other columns: learned from a part of the people, who are set aside.",
}
"""What can be chosen without a further file, in words."""
NUMBERS = ("delta", "budget", "alpha", "rng", "n_resamples")
WHOLE = ("rng", "n_resamples")
WORDS = ("loss", "method", "missing", "judge", "disagreement", "title", "date", "data_name",
         "auditor")  # fmt: skip
VALUES = ("pos_label", "favourable")
FIELDS = {
    "y": "columns", "sensitive_features": "columns", "counts": "columns", "features": "columns",
    "y_pred": "answers", "y_score": "answers", "model": "answers", "models": "answers",
    "path": "model_path", "allow_pickle": "model_path", "X": "columns",
    "scales": "similarity", "mismatch": "similarity", "exact": "similarity",
    "fit": "similarity", "fit_share": "similarity", "privileged": "favourable",
}  # fmt: skip
"""The field beside which a sentence about a parameter stands, if not the one of its name."""
_NAMED = re.compile(r"`(\w+)")


@dataclass
class Filled:
    """What was typed into a form, what it asks for, and what is wrong with it, by field."""

    typed: Mapping[str, str]
    asked: Asked | None = None
    errors: dict[str, str] = field(default_factory=dict)

    def refuse(self, sentence: str, place: str | None = None) -> None:
        """Put a sentence beside its field; the first one there stays."""
        self.errors.setdefault(place or field_of(sentence), sentence)


def field_of(sentence: str) -> str:
    """Return the field that a sentence is about; "form" where it names none.

    Examples
    --------
    >>> field_of("`y_pred` must be a column"), field_of("`alpha` must be …"), field_of("no memory")
    ('answers', 'alpha', 'form')
    """
    found = _NAMED.search(sentence)
    name = "form" if found is None else found[1]
    known = name in FIELDS or name in (
        *NUMBERS,
        *WORDS,
        *VALUES,
        "similarity",
        "bins",
        "tolerance",
        "loss_range",
    )
    return FIELDS.get(name, name) if known else "form"


def fill(table: Table, typed: Mapping[str, str], models: Mapping[str, Upload]) -> Filled:
    """Read a form.

    Parameters
    ----------
    table
        The file it is about.
    typed
        Its words, by field.
    models
        Model files that were handed over, "model" and "second_model".
    """
    found = Filled(typed)
    roles = roles_of(table, typed)
    settings = _settings(table, found, roles)
    answering = _answering(table, found, roles, models)
    similarity = typed.get("similarity") or str(AuditSettings.similarity)
    like = similarity_settings(table, found, similarity)
    tolerance = _number(found, "tolerance") or 0.0
    if found.errors:
        return found
    if len(answering) > 1:
        taken = signature(compare).parameters
        settings = {name: value for name, value in settings.items() if name in taken}
    described = [name for name, role in roles.items() if role in {CASE, SENSITIVE}]
    asked = Asked(
        data=table.path,
        shown=table.shown,
        label=_only(found, roles, LABEL),
        answering=answering,
        described=tuple(described) if UNUSED in roles.values() else None,
        similarity=similarity,
        similarity_settings=like,
        tolerance=tolerance,
        settings=settings,
    )
    if found.errors:
        return found
    try:
        check(_with_features(asked))
    except FairtransportError as error:
        found.refuse(str(error))
        return found
    found.asked = _with_features(asked)
    return found


def _with_features(asked: Asked) -> Asked:
    """Name the columns that describe a case, where no model could tell others."""
    if asked.described is None or asked.first.model is not None:
        return asked
    return resolve(asked, [])


def roles_of(table: Table, typed: Mapping[str, str]) -> dict[str, str]:
    """Return what each column is."""
    return {
        column.name: role if (role := typed.get(f"role.{at}", CASE)) in ROLES else CASE
        for at, column in enumerate(table.columns)
    }


def _only(found: Filled, roles: Mapping[str, str], role: str) -> str | None:
    """Return the one column that has a role."""
    names = [name for name, one in roles.items() if one == role]
    if len(names) > 1:
        listed = ", ".join(map(repr, names))
        found.refuse(f"one column can be the {ROLES[role]}, got {listed}", "columns")
    return names[0] if names else None


def _settings(table: Table, found: Filled, roles: Mapping[str, str]) -> dict[str, Any]:
    """Return what is said otherwise than by default; the seed always."""
    sensitive = [name for name, role in roles.items() if role == SENSITIVE]
    said: dict[str, Any] = {"sensitive_features": sensitive}
    counts = _only(found, roles, COUNTS)
    bins = dict(_bins(table, found))
    values: dict[str, Any] = {
        "counts": counts,
        "bins": bins or None,
        "loss_range": _range(found),
        **{name: _number(found, name) for name in NUMBERS},
        **{name: _typed(found, name) for name in WORDS},
        **{name: literal(_typed(found, name)) for name in VALUES},
        "privileged": dict(_privileged(table, found)) or None,
    }
    if values["rng"] is None:  # recorded, so that the audit can be repeated
        values["rng"] = secrets.randbelow(2**32)
    said |= {
        name: value
        for name, value in values.items()
        if value is not None and value != SETTINGS[name].default
    }
    for name, value in said.items():
        try:
            checked(name, value)
        except InputError as error:
            found.refuse(str(error), FIELDS.get(name, name))
    return said


def _typed(found: Filled, name: str) -> str | None:
    return found.typed.get(name, "").strip() or None


def _number(found: Filled, name: str) -> float | None:
    text = _typed(found, name)
    if text is None:
        return None
    try:
        return int(text) if name in WHOLE else float(text)
    except ValueError:
        kind = "a whole number" if name in WHOLE else "a number"
        found.refuse(f"`{name}` must be {kind}, got {text!r}", name)
        return None


def _range(found: Filled) -> list[float] | None:
    text = _typed(found, "loss_range")
    if text is None:
        return None
    try:
        return numbers("loss_range", text.split(","))
    except InputError as error:
        found.refuse(str(error), "loss_range")
        return None


def _bins(table: Table, found: Filled) -> Iterator[tuple[str, list[float]]]:
    for at, column in enumerate(table.columns):
        text = _typed(found, f"bins.{at}")
        if text is not None:
            try:
                yield column.name, numbers(f"bins[{column.name!r}]", text.split(","))
            except InputError as error:
                found.refuse(str(error), "bins")


def _privileged(table: Table, found: Filled) -> Iterator[tuple[str, object]]:
    for at, column in enumerate(table.columns):
        text = _typed(found, f"privileged.{at}")
        if text is not None and found.typed.get(f"role.{at}") == SENSITIVE:
            yield column.name, literal(text)


def similarity_settings(table: Table, found: Filled, name: str) -> dict[str, Any]:
    """Return what is said of a similarity: how much a difference counts, or the share to learn."""
    if name not in SIMILARITIES:
        listed = ", ".join(map(repr, SIMILARITIES))
        found.refuse(f"`similarity` must be one of {listed}, got {name!r}", "similarity")
        return {}
    if name == "sensitive-subspace":
        return {"fit": FIT_SHARE}
    if name != "mixed-tabular":
        return {}
    said: dict[str, dict[str, float]] = {"scales": {}, "mismatch": {}}
    exact = []
    for at, column in enumerate(table.columns):
        if found.typed.get(f"role.{at}", CASE) == CASE:
            value = _number(found, f"scale.{at}")
            if value is None:
                exact.append(column.name)
            else:
                kind = (
                    "scales" if is_scaled(found.typed, at, numeric=column.numeric) else "mismatch"
                )
                said[kind][column.name] = value
    stated: dict[str, Any] = {kind: rules for kind, rules in said.items() if rules}
    if exact:  # one alone as a line has it
        stated["exact"] = exact if len(exact) > 1 else exact[0]
    return stated


def is_scaled(typed: Mapping[str, str], at: int, *, numeric: bool) -> bool:
    """Say whether differences of a column are differences of numbers."""
    return numeric and not typed.get(f"bins.{at}", "").strip()


def _answering(
    table: Table, found: Filled, roles: Mapping[str, str], models: Mapping[str, Upload]
) -> tuple[Answering, ...]:
    """Return where answers come from; of two models the first is the one to compare with."""
    compares = found.typed.get("compares") == "on"
    if found.typed.get("answers") == "model":
        first = _model(table, found, "model", models)
        second = _model(table, found, "second_model", models) if compares else None
    else:
        first = Answering(
            y_pred=_only(found, roles, PREDICTION), y_score=_only(found, roles, SCORE)
        )
        second = _second_column(table, found, first) if compares else None
    if second is None:
        return (first,)
    names = [found.typed.get(name, "").strip() for name in ("first_name", "second_name")]
    names = [name or default for name, default in zip(names, ("first", "second"), strict=True)]
    if names[0] == names[1]:
        found.refuse(
            f"the two models must have different names, got {names[0]!r} twice", "compares"
        )
    return tuple(
        Answering(**{**vars(one), "name": name})
        for one, name in zip((first, second), names, strict=True)
    )


def _model(table: Table, found: Filled, name: str, models: Mapping[str, Upload]) -> Answering:
    """Return a model file: one just handed over, one kept from before, or one at a path."""
    kept = table.models.get(found.typed.get(f"kept_{name}", ""))
    upload = models.get(name) or kept
    path = _typed(found, f"{name}_path")
    if upload is None and path is None:
        found.refuse("`model` must be a model file: give its path, or hand it over", f"{name}_path")
    place = Path(path or "") if upload is None else upload.path
    shown = str(place) if upload is None else upload.shown
    allow = found.typed.get("allow_pickle") == "on"
    return Answering(model=place, shown=shown, allow_pickle=allow)


def _second_column(table: Table, found: Filled, first: Answering) -> Answering | None:
    text = found.typed.get("second_column", "")
    names = [column.name for column in table.columns]
    if not text.isdecimal() or int(text) >= len(names):
        found.refuse("choose the column of the second model's predictions", "compares")
        return None
    name = names[int(text)]
    return Answering(y_pred=name) if first.y_score is None else Answering(y_score=name)
