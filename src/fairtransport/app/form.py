"""The form of an audit: from its fields to an AuditRequest, with messages beside fields."""

from __future__ import annotations

import math
import secrets
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from inspect import signature
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from fairtransport._core.validation import parse_literal, parse_numbers
from fairtransport.app.roles import (
    CASE,
    COUNTS,
    LABEL,
    PREDICTION,
    SCORE,
    SENSITIVE,
    UNUSED,
    guess_good,
    guess_roles,
    is_decision_list,
)
from fairtransport.audits import compare
from fairtransport.audits.from_text import AuditRequest, ModelSource
from fairtransport.data.files import FileSource
from fairtransport.data.preview import preview_file
from fairtransport.errors import FairtransportError, InputError, entry, param, render_message
from fairtransport.report.console import flag_names
from fairtransport.report.text import ERROR, OUTCOME, allowed_people, loss_name
from fairtransport.settings import SETTINGS, AuditSettings, checked
from fairtransport.similarity import SIMILARITIES, SensitiveSubspace, similarity_from_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtransport.app.uploads import Upload
    from fairtransport.data.preview import ColumnPreview, FilePreview


ROLES = {
    CASE: "describes a person",
    LABEL: "true label: the correct decision or outcome",
    COUNTS: "number of people that the row stands for",
    SCORE: "score of the decision",
    UNUSED: "not used",
}
"""Roles of a column besides the decision and the groups."""
CHOICES = {name: kind.choice for name, kind in SIMILARITIES.items() if kind.choice}
"""The similarities that need no further file, in words."""
LIKE_WORST = "if all groups got it as often as the one that gets it most often"
AMBIGUOUS = frozenset({"yes", "no", "y", "n", "t", "f"})
"""Decisions that mean nothing without the name of their column."""
PER_CENT = 100
HOLD_OUT = 0.3
"""Share of people on whom 'sensitive-subspace' is fitted."""
NUMBERS = ("budget", "alpha", "rng", "n_resamples")
WHOLE = ("rng", "n_resamples")
WORDS = ("method", "missing", "judge")
HEAD = ("title", "date", "data_name", "auditor")
VALUES = ("pos_label", "favourable")
FIELDS = {
    "y": "columns", "sensitive_features": "groups", "counts": "columns", "features": "columns",
    "y_pred": "decision", "y_score": "decision", "model": "answers", "models": "answers",
    "path": "model_path", "allow_pickle": "model_path", "X": "columns", "delta": "limit",
    "scales": "similarity", "mismatch": "similarity", "exact": "similarity",
    "legitimate": "similarity", "fit": "similarity", "hold_out": "similarity",
    "reference": "favourable",
}  # fmt: skip
"""Field of the messages about a parameter, if not the one of its name."""
FIELD_NAMES = {
    "X": "The file", "y": "True label", "y_pred": "Column with the decision",
    "y_score": "Column with the score", "sensitive_features": "Groups to compare",
    "features": "Columns that describe a person", "counts": "Number of people",
    "model": "The model file", "models": "The model files", "path": "Path",
    "allow_pickle": "Allow a pickle file", "delta": "Your limit", "budget": "Budget ε",
    "alpha": "Level α", "rng": "Seed", "n_resamples": "Resamples", "loss": "What is counted",
    "loss_range": "Range of what is counted", "method": "Method", "missing": "Missing values",
    "judge": "What the verdict is about", "bins": "Numbers into ranges",
    "similarity": "Who is similar", "legitimate": "Which columns may rightly count?",
    "scales": "Difference that counts 1", "mismatch": "How much another value counts",
    "exact": "Equal value", "pos_label": "Decision that is counted",
    "favourable": "Favourable decision", "reference": "Reference group", "title": "Title",
    "auditor": "Auditor", "date": "Date", "data_name": "Name of the data",
    "tolerance": "Tolerance", "row": "Row of the file",
    "together": "Columns that change together",
}  # fmt: skip
"""Names of parameters in the form."""


def parameter_names() -> dict[str, str]:
    """Return what parameters are called in notes: the form's fields; without one, the flags."""
    return flag_names() | FIELD_NAMES


@dataclass
class AuditForm:
    """The entries of a form, the audit they request, and messages by field."""

    entries: Mapping[str, str]
    request: AuditRequest | None = None
    errors: dict[str, str] = field(default_factory=dict)

    def refuse(self, message: str, place: str | None = None) -> None:
        """Put a message beside its field, unless it has one."""
        error = InputError(message)
        sentence = render_message(message, FIELD_NAMES)
        self.errors.setdefault(place or field_of(error.parameter), sentence)


def field_of(parameter: str | None) -> str:
    """Return the field of a parameter; "form" if it has none."""
    name = parameter or "form"
    is_field = name in FIELDS or name in (
        *NUMBERS,
        *WORDS,
        *VALUES,
        *HEAD,
        "loss",
        "similarity",
        "bins",
        "together",
        "tolerance",
        "loss_range",
    )
    return FIELDS.get(name, name) if is_field else "form"


def fill(table: Table, entries: Mapping[str, str], models: Mapping[str, Upload]) -> AuditForm:
    """Read a form."""
    form = AuditForm(entries)
    roles = roles_of(table, entries)
    sources = _sources(table, form, roles, models)
    settings = _settings(table, form, roles)
    document = _document(table, form)
    similarity = entries.get("similarity") or str(AuditSettings.similarity)
    like = similarity_settings(table, form, similarity)
    tolerance = _number(form, "tolerance") or 0.0
    if form.errors:
        return form
    if len(sources) > 1:
        names = signature(compare).parameters
        settings = {name: value for name, value in settings.items() if name in names}
    described = [name for name, role in roles.items() if role in {CASE, SENSITIVE}]
    # a model must not see the decisions in the file
    left_out = {UNUSED, PREDICTION, SCORE} if asks_model(entries) else {UNUSED}
    uses_truth = find_measure(table, entries).loss != OUTCOME
    if not uses_truth:
        left_out.add(LABEL)
    request = AuditRequest(
        data=table.path,
        shown=table.shown,
        label=_only(form, roles, LABEL) if uses_truth else None,
        sources=sources,
        described=tuple(described) if left_out & {*roles.values()} else None,
        similarity=similarity,
        similarity_settings=like,
        tolerance=tolerance,
        values=settings,
        document={} if len(sources) > 1 else document,
    )
    if form.errors:
        return form
    try:
        # a model may name other columns that describe a case
        complete = request.resolve([]) if request.first.model is None else request
        complete.settings()
    except FairtransportError as error:
        form.refuse(error.message)
        return form
    form.request = complete
    return form


def asks_model(entries: Mapping[str, str]) -> bool:
    """Return whether a model is queried, instead of reading the decisions of the file."""
    return entries.get("answers") == "model"


def decision_of(table: Table, entries: Mapping[str, str]) -> int | None:
    """Return the index of the decision's column; None if none was chosen."""
    text = entries.get("decision", "")
    return int(text) if text.isdecimal() and int(text) < len(table.columns) else None


def roles_of(table: Table, entries: Mapping[str, str]) -> dict[str, str]:
    """Return the role of each column."""
    roles = {}
    for at, column in enumerate(table.columns):
        role = entries.get(f"role.{at}", CASE)
        role = role if role in ROLES else CASE
        if at == decision_of(table, entries):
            role = SCORE if role == SCORE else PREDICTION
        elif entries.get(f"group.{at}") == "on":
            role = SENSITIVE
        roles[column.name] = role
    return roles


@dataclass(frozen=True)
class Measure:
    """What an audit counts: wrong decisions, one decision, or a loss in its own unit."""

    loss: str
    decision: str | None = None
    other: str | None = None
    column: str = ""
    by_model: bool = False
    groups: str = "group"

    @property
    def is_people(self) -> bool:
        """Whether the limit is a percentage of people."""
        return self.loss == ERROR or self.decision is not None

    @property
    def words(self) -> str:
        """What the limit is about, as it stands behind the number."""
        if not self.is_people:
            mean = "decision" if self.loss == OUTCOME else loss_name(self.loss)
            return f"more in the mean {mean}"
        decision = "a wrong decision"
        if self.decision is not None:
            decision = f"“{decision_name(self.decision, self.column)}”"
        if not self.by_model:
            return f"more people in 100 may get {decision} than now, {LIKE_WORST}"
        may = "may have a correct decision that would become wrong with"
        if self.decision is not None:
            may = f"may get {decision} only with"
        return f"% of all people {may} another {self.groups}"

    @property
    def sign(self) -> str:
        """What stands behind a number of people."""
        if not self.is_people:
            return ""
        return " %" if self.by_model else " more in 100"


def decision_name(text: str, column: str) -> str:
    """Return a decision in the file's own words; a number or a "yes" with its column."""
    return text if _says_itself(text) else f"{column} = {text}"


def _says_itself(text: str) -> bool:
    is_number = isinstance(parse_literal(text), int | float)
    return not is_number and text.strip().lower() not in AMBIGUOUS


def good_column(table: Table, entries: Mapping[str, str]) -> int | None:
    """Return the column that has the decisions as values: the decision's, or what happened."""
    at = decision_of(table, entries)
    if at is None and asks_model(entries):
        roles = [*roles_of(table, entries).values()]
        at = roles.index(LABEL) if LABEL in roles else None
    return at if at is not None and is_decision_list(table.columns[at]) else None


def find_measure(table: Table, entries: Mapping[str, str]) -> Measure:
    """Return what is counted, as far as the form is filled in, and between which groups."""
    roles = roles_of(table, entries)
    groups = " or ".join(name for name, role in roles.items() if role == SENSITIVE)
    return replace(_measure(table, entries), groups=groups or "group")


def _measure(table: Table, entries: Mapping[str, str]) -> Measure:
    """Return what is counted, as far as the form is filled in.

    With true labels in the words of the decisions, wrong decisions. Otherwise, in the file alone,
    the bad one of two decisions; with a model, the good one, which people who are worse off would
    get in another group.
    """
    by_model, at = asks_model(entries), good_column(table, entries)
    loss = entries.get("loss") or _default_loss(table, entries)
    if loss != OUTCOME:
        name = "the answer" if at is None else table.columns[at].name
        return Measure(loss, column=name, by_model=by_model)
    own_choice = entries.get("pos_label", "").strip() or None
    if at is None and by_model:
        own_choice = own_choice or entries.get("favourable", "").strip() or None
    if at is None or own_choice is not None:
        return Measure(loss, own_choice, column="the answer", by_model=by_model)
    column = table.columns[at]
    good = entries.get(f"good.{at}") or column.examples[-1]
    others = [value for value in column.examples if value != good]
    other = others[0] if len(others) == 1 else None
    if other is not None and entries.get(f"good.{at}") and not by_model:
        good, other = other, good
    return Measure(loss, good, other, column.name, by_model)


def _default_loss(table: Table, entries: Mapping[str, str]) -> str:
    """Return the loss of errors if true outcomes are in the words of decisions."""
    columns = dict(zip(roles_of(table, entries).values(), table.columns, strict=True))
    label = columns.get(LABEL)
    if label is None:
        return OUTCOME
    if asks_model(entries):
        return ERROR
    if SCORE in columns and PREDICTION not in columns:
        return "brier"
    decision = columns.get(PREDICTION)
    same_words = decision is None or {*decision.examples} & {*label.examples}
    return ERROR if same_words else OUTCOME


def _only(form: AuditForm, roles: Mapping[str, str], role: str) -> str | None:
    """Return the one column that has a role."""
    names = [name for name, one in roles.items() if one == role]
    if len(names) > 1:
        columns = ", ".join(map(repr, names))
        form.refuse(f"only one column can be “{ROLES[role]}”, got {columns}", "columns")
    return names[0] if names else None


def _settings(table: Table, form: AuditForm, roles: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that are not at their defaults, and the seed."""
    sensitive = [name for name, role in roles.items() if role == SENSITIVE]
    settings: dict[str, Any] = {"sensitive_features": sensitive}
    if not sensitive:
        form.refuse("choose at least one column of groups to compare", "groups")
    measure = find_measure(table, form.entries)
    values: dict[str, Any] = {
        "counts": _only(form, roles, COUNTS),
        "bins": dict(_bins(table, form)) or None,
        "together": _sets(form),
        "loss_range": _range(form),
        "delta": _limit(form, measure),
        **{name: _number(form, name) for name in NUMBERS},
        **{name: _typed(form, name) for name in WORDS},
        **_decisions(table, form, measure),
    }
    if values["rng"] is None:  # recorded, so that the audit can be repeated
        values["rng"] = secrets.randbelow(2**32)
    settings |= {
        name: value
        for name, value in values.items()
        if value is not None and value != SETTINGS[name].default
    }
    _check_values(form, settings)
    return settings


def _decisions(table: Table, form: AuditForm, measure: Measure) -> dict[str, Any]:
    """Return which decision is good, and which one is counted."""
    at = good_column(table, form.entries)
    values: dict[str, Any] = {"loss": measure.loss}
    if at is None:
        values |= {name: parse_literal(_typed(form, name)) for name in VALUES}
        if measure.loss == OUTCOME:
            values["pos_label"] = parse_literal(measure.decision)
        if asks_model(form.entries) and measure.loss == OUTCOME and not measure.decision:
            form.refuse(
                "say which answer of the model is favourable (good for the person)", "favourable"
            )
        return values
    column, good = table.columns[at], form.entries.get(f"good.{at}")
    if good is None or (good and good not in column.examples):
        examples = ", ".join(map(repr, column.examples))
        form.refuse(f"choose the favourable decision ({examples}), or that none is better", "good")
        return values
    values["favourable"] = table.literal(column, good) if good else None
    if measure.loss == OUTCOME and measure.decision is not None:
        values["pos_label"] = table.literal(column, measure.decision)
    elif _typed(form, "pos_label") is not None:
        values["pos_label"] = parse_literal(_typed(form, "pos_label"))
    return values


def _limit(form: AuditForm, measure: Measure) -> float | None:
    """Return the limit as the audit takes it: of a percentage, the share."""
    text = _typed(form, "limit")
    if text is None:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if measure.is_people and not (number.is_finite() and 0 <= number < PER_CENT):
        form.refuse(f"Your limit must be a number from 0 to below 100, got {text!r}", "limit")
        return None
    if not number.is_finite():
        form.refuse(f"Your limit must be a number, got {text!r}", "limit")
        return None
    return float(number / PER_CENT if measure.is_people else number)


def _document(table: Table, form: AuditForm) -> dict[str, Any]:
    """Return the options of documents that were filled in."""
    values: dict[str, Any] = {name: _typed(form, name) for name in HEAD}
    values["reference"] = dict(_privileged(table, form)) or None
    options = {name: value for name, value in values.items() if value is not None}
    _check_values(form, options)
    return options


def _check_values(form: AuditForm, values: Mapping[str, Any]) -> None:
    """Put a message beside each field with an invalid value."""
    for name, value in values.items():
        try:
            checked(name, value)
        except InputError as error:
            form.refuse(error.message, FIELDS.get(name, name))


def _typed(form: AuditForm, name: str) -> str | None:
    return form.entries.get(name, "").strip() or None


def _number(form: AuditForm, name: str) -> float | None:
    text = _typed(form, name)
    if text is None:
        return None
    try:
        return int(text) if name in WHOLE else float(text)
    except ValueError:
        kind = "a whole number" if name in WHOLE else "a number"
        form.refuse(f"{param(name)} must be {kind}, got {text!r}", name)
        return None


def _range(form: AuditForm) -> list[float] | None:
    text = _typed(form, "loss_range")
    if text is None:
        return None
    try:
        return parse_numbers("loss_range", text.split(","))
    except InputError as error:
        form.refuse(error.message, "loss_range")
        return None


def _bins(table: Table, form: AuditForm) -> Iterator[tuple[str, list[float]]]:
    for at, column in enumerate(table.columns):
        text = _typed(form, f"bins.{at}")
        if text is not None:
            try:
                yield column.name, parse_numbers(entry("bins", column.name), text.split(","))
            except InputError as error:
                form.refuse(error.message, "bins")


def _sets(form: AuditForm) -> list[list[str]] | None:
    """Return the sets of columns that change together."""
    text = _typed(form, "together")
    if text is None:
        return None
    sets = [[name.strip() for name in part.split(",")] for part in text.split(";")]
    return [[name for name in names if name] for names in sets]


def _privileged(table: Table, form: AuditForm) -> Iterator[tuple[str, object]]:
    for at, column in enumerate(table.columns):
        text = _typed(form, f"privileged.{at}")
        if text is not None and form.entries.get(f"group.{at}") == "on":
            yield column.name, parse_literal(text)


def similarity_settings(table: Table, form: AuditForm, name: str) -> dict[str, Any]:
    """Return the settings of a similarity, such as scales."""
    if name not in CHOICES:
        choices = ", ".join(map(repr, CHOICES))
        form.refuse(f"{param('similarity')} must be one of {choices}, got {name!r}", "similarity")
        return {}
    if name == "sensitive-subspace":
        return {"hold_out": HOLD_OUT}
    roles = roles_of(table, form.entries)
    if name == "counterparts":
        rightly = [
            column.name for at, column in enumerate(table.columns)
            if roles[column.name] == CASE and form.entries.get(f"legitimate.{at}") == "on"
        ]  # fmt: skip
        return {"legitimate": rightly} if rightly else {}
    if name != "mixed-tabular":
        return {}
    settings: dict[str, dict[str, float]] = {"scales": {}, "mismatch": {}}
    exact = []
    for at, column in enumerate(table.columns):
        if roles[column.name] == CASE:
            value = _number(form, f"scale.{at}")
            if value is None:
                exact.append(column.name)
            else:
                kind = (
                    "scales" if is_scaled(form.entries, at, numeric=column.numeric) else "mismatch"
                )
                settings[kind][column.name] = value
    stated: dict[str, Any] = {kind: rules for kind, rules in settings.items() if rules}
    if exact:  # a single one as text, like on the command line
        stated["exact"] = exact if len(exact) > 1 else exact[0]
    return stated


def typed_similarity(table: Table, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return a similarity and its budget as entries of the form."""
    rules = settings["similarity_settings"]
    costs = {**rules.get("scales", {}), **rules.get("mismatch", {})}
    entries = {"similarity": settings["similarity"], "budget": f"{settings.get('budget', 0.0):g}"}
    for at, column in enumerate(table.columns):
        entries[f"scale.{at}"] = f"{costs[column.name]!r}" if column.name in costs else ""
        entries[f"legitimate.{at}"] = "on" if column.name in rules.get("legitimate", ()) else ""
    return entries


def is_scaled(entries: Mapping[str, str], at: int, *, numeric: bool) -> bool:
    """Return whether differences of a column are differences of numbers."""
    return numeric and not entries.get(f"bins.{at}", "").strip()


def _sources(
    table: Table, form: AuditForm, roles: Mapping[str, str], models: Mapping[str, Upload]
) -> tuple[ModelSource, ...]:
    """Return the sources of answers; of two models the first is the one to compare with."""
    compares = form.entries.get("compares") == "on"
    if asks_model(form.entries):
        first = _model(table, form, "model", models)
        second = _model(table, form, "second_model", models) if compares else None
    else:
        first = ModelSource(
            y_pred=_only(form, roles, PREDICTION), y_score=_only(form, roles, SCORE)
        )
        if first.y_pred is None and first.y_score is None:
            form.refuse("choose the column with the decision", "decision")
        second = _second_column(table, form, first) if compares else None
    if second is None:
        return (first,)
    names = [form.entries.get(name, "").strip() for name in ("first_name", "second_name")]
    names = [name or default for name, default in zip(names, ("first", "second"), strict=True)]
    if names[0] == names[1]:
        form.refuse(f"the two models must have different names, got {names[0]!r} twice", "compares")
    return tuple(
        ModelSource(**{**vars(one), "name": name})
        for one, name in zip((first, second), names, strict=True)
    )


def _model(table: Table, form: AuditForm, name: str, models: Mapping[str, Upload]) -> ModelSource:
    """Return a model file: uploaded, kept from before, or at a path."""
    upload_kept = table.models.get(form.entries.get(f"kept_{name}", ""))
    upload = models.get(name) or upload_kept
    path = _typed(form, f"{name}_path")
    if upload is None and path is None:
        form.refuse(
            f"{param('model')} is missing: give its path, or choose the file", f"{name}_path"
        )
    place = Path(path or "") if upload is None else upload.path
    display_name = str(place) if upload is None else upload.shown
    allow = form.entries.get("allow_pickle") == "on"
    return ModelSource(model=place, shown=display_name, allow_pickle=allow)


def _second_column(table: Table, form: AuditForm, first: ModelSource) -> ModelSource | None:
    text = form.entries.get("second_column", "")
    names = [column.name for column in table.columns]
    if not text.isdecimal() or int(text) >= len(names):
        form.refuse("choose the column with the second model's decisions", "compares")
        return None
    name = names[int(text)]
    return ModelSource(y_pred=name) if first.y_score is None else ModelSource(y_score=name)


LEARNED = "sensitive-subspace"


def limit_means(table: Table, entries: Mapping[str, str], n: int) -> dict[str, str]:
    """Return the meaning of a limit, and its number of people in the file."""
    measure = find_measure(table, entries)
    number = _number_meaning(entries.get("limit", ""))
    is_limit = number is not None and measure.is_people and 0 <= number < PER_CENT
    count = f"({allowed_people((number or 0) / PER_CENT, n):,} of these {n:,})" if is_limit else ""
    return {"unit": measure.words, "limit": count}


def budget_means(table: Table, entries: Mapping[str, str]) -> str:
    """Return the meaning of a budget under the chosen similarity; empty without one."""
    budget = _number_meaning(entries.get("budget", "") or "0")
    name = entries.get("similarity") or str(AuditSettings.similarity)
    if budget is None or budget < 0:
        return ""
    try:
        if name == LEARNED:
            return SensitiveSubspace([]).describe_budget(budget)
        settings = similarity_settings(table, AuditForm(entries), name)
        similarity = similarity_from_settings(name, settings)
        return str(getattr(similarity, "describe_budget")(budget))  # noqa: B009
    except FairtransportError:
        return ""


def _number_meaning(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(eq=False)
class Table:
    """A file of cases."""

    path: Path
    shown: str
    is_ours: bool = False
    entries: Mapping[str, str] = field(default_factory=dict)
    models: dict[str, Upload] = field(default_factory=dict)
    key: str = field(default_factory=lambda: token_hex(8))

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return Path(self.shown).name

    @cached_property
    def overview(self) -> FilePreview:
        """Columns and number of rows; the database that reads them is closed again."""
        with closing(FileSource(self.path)) as source:
            return preview_file(source)

    @property
    def columns(self) -> tuple[ColumnPreview, ...]:
        """The columns."""
        return self.overview.columns

    def literal(self, column: ColumnPreview, text: str) -> object:
        """Return the value of a text of the preview."""
        return parse_literal(text) if column.numeric or column.is_boolean else text

    def guess(self) -> dict[str, str]:
        """Return form entries with the likely role of each column."""
        entries = {"answers": "column", "data_name": self.name}
        roles = guess_roles(self.columns, self.overview.rows)
        for at, column in enumerate(self.columns):
            role = roles[column.name]
            if role == PREDICTION:
                entries["decision"] = f"{at}"
            elif role == SENSITIVE:
                entries[f"group.{at}"] = "on"
            else:
                entries[f"role.{at}"] = role
            good = guess_good(column) if is_decision_list(column) else None
            if good is not None:
                entries[f"good.{at}"] = good
        return entries
