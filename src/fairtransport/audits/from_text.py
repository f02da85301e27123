"""AuditRequest: an audit requested in text, on a command line or in a form.

Text holds no objects: columns are names, a similarity is a name with settings, and errors are to be
found before a model is read. They name the flags that the text stands for.
"""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fairtransport._core.progress import silence
from fairtransport._core.validation import parse_literal
from fairtransport.access.black_box import choose_access
from fairtransport.access.query_log import with_log
from fairtransport.audits.querying import check_loss_range
from fairtransport.data.build import find_roles
from fairtransport.data.columns import check_bins
from fairtransport.data.files import FileSource
from fairtransport.data.sources import as_source
from fairtransport.errors import FairtransportError, InputError, ModelError, name_parameters, option
from fairtransport.losses import as_loss
from fairtransport.settings import DESIGN, DOCUMENT, SETTINGS, AuditSettings, checked, missing_truth
from fairtransport.similarity import registry
from fairtransport.similarity.base import parameter_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from fairtransport.audits.comparison import Comparison
    from fairtransport.audits.family import Audits
    from fairtransport.audits.result import AuditResult
    from fairtransport.data.database import Source
    from fairtransport.data.sources import TableLike
    from fairtransport.similarity import Similarity

    Columns: TypeAlias = Callable[[], Mapping[str, list[str]]]
    """Finds out which columns of an audit are sensitive and which others describe a case."""

REPORT_FILE, JSON_FILE = "report.html", "audit.json"
"""Files that a repeated audit writes."""
LITERALS = ("pos_label", "favourable", "reference")
"""Settings whose text is read as a number if it is one."""
SLOW_SETTINGS = frozenset({"fit", "hold_out", "path"})
"""Settings of a similarity that make it read or fit a file."""
IN_NO_KEY = set(".=[]'\"")
"""Characters that no column's name may have as part of a flag."""


MODEL_FLAGS = {
    "path": "--model", "url": "--model", "model": "--served-model", "max_answer": "max_answer",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in ("protocol", "classes", "token_variable", "batch_size", "at_a_time", "timeout",
                     "retries")
    },
}  # fmt: skip
"""Flags of the parameters of `load`, `connect` and `prompt`."""


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """The source of one model's answers: a file, an address, or columns of the data.

    ``connection`` has keywords of `connect`, or of `prompt` with a prompt file.
    """

    name: str = "the model"
    model: Path | str | None = None
    allow_pickle: bool = False
    trusted: tuple[str, ...] = ()
    prompt: Path | None = None
    connection: tuple[tuple[str, Any], ...] = ()
    y_pred: str | None = None
    y_score: str | tuple[str, ...] | None = None
    shown: str = ""

    def read_model(self) -> object:
        """Return the model; one behind an address may be queried about itself."""
        from fairtransport.access import connect, load
        from fairtransport.access.prompts import read_prompt

        assert self.model is not None  # noqa: S101 - columns are read with the data
        with name_parameters(**MODEL_FLAGS):
            if self.prompt is not None:
                return read_prompt(self.prompt, str(self.model), **dict(self.connection))
            if self.connection:
                return connect(str(self.model), **dict(self.connection))
            return load(self.model, allow_pickle=self.allow_pickle, trusted=self.trusted)

    @property
    def predictions(self) -> tuple[str, str | list[str] | None]:
        """The parameter of `audit` for the columns of answers, and their names."""
        if self.y_score is None:
            return "y_pred", self.y_pred
        return "y_score", self.y_score if isinstance(self.y_score, str) else list(self.y_score)


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """An audit of one model, or a comparison of several, in plain values.

    ``values`` are keywords of `audit`, ``document`` those of `AuditResult.document`; ``shown`` is
    the path of the data to show. ``described`` are the columns that describe a case if the model
    does not name them, ``columns`` those that a similarity is fitted on. ``source`` is the open
    data, ``where`` the slice of an audit in a family, ``settings_taken`` the flags from a settings
    file.
    """

    data: Path
    shown: str
    label: str | None
    sources: tuple[ModelSource, ...]
    described: tuple[str, ...] | None = None
    similarity: str = str(AuditSettings.similarity)
    similarity_settings: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    values: Mapping[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, list[str]] | None = None
    source: FileSource | None = None
    where: object = None
    train: Path | None = None
    proxies: bool = False
    settings_taken: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return Path(self.shown).name

    @property
    def compares(self) -> bool:
        """Whether there are several models."""
        return len(self.sources) > 1

    @property
    def first(self) -> ModelSource:
        """The audited model, or the one to compare with."""
        return self.sources[0]

    def open_data(self) -> AuditRequest:
        """Return the request with its data open."""
        return replace(self, source=FileSource(self.data))

    @property
    def table(self) -> Path | FileSource:
        """The data as `audit` takes them; a source detects the format of a file once."""
        return self.data if self.source is None else self.source

    def settings(self) -> AuditSettings:
        """Return the settings, checked before a model is read."""
        return replace(self.check_settings(), similarity=self._chosen_similarity)

    def check(self) -> None:
        """Check everything possible before a model is read, which may take long."""
        from fairtransport.audits.family import slice_columns

        with name_parameters(**self._similarity_flags):
            source = as_source(self.table)
            self.check_settings()
            for name, table in (("targets", self.values.get("targets")), ("train", self.train)):
                if table is not None:
                    as_source(table, name)
            if not SLOW_SETTINGS & self.similarity_settings.keys():
                _ = self._chosen_similarity
            for one in self.sources:
                self._check_columns(source, one)
            slice_columns(self.where, source.columns)

    def check_settings(self) -> AuditSettings:
        """Return the settings without the similarity, checked without the data and the model."""
        values, first = self.values, self.first
        loss = as_loss(values.get("loss", AuditSettings.loss), values.get("loss_range"))
        # any callable can stand for the model
        model = None if first.model is None else len
        access = choose_access(model, first.y_pred, first.y_score, loss)
        settings = AuditSettings(**values).without_truth(
            self.label, has_scores=first.y_score is not None, has_model=first.model is not None
        )
        uses_truth = settings.chosen_loss.uses_truth
        if uses_truth or first.model is None:  # else the classes can determine the range
            check_loss_range(settings, access, has_other_methods="method" in values)
        if uses_truth and self.label is None:
            raise InputError(missing_truth(loss.name))
        return settings

    def _check_columns(self, source: Source, one: ModelSource) -> None:
        """Check that the data have the columns; a model may receive some of them only."""
        values = self.values
        _, roles = find_roles(
            source, self.label, values["sensitive_features"], one.predictions,
            values.get("features"), values.get("counts"),
            [checked(name, values.get(name)) for name in DESIGN],
        )  # fmt: skip
        check_bins(values.get("bins"), (*roles.features, *roles.sensitive))

    @property
    def _similarity_flags(self) -> dict[str, str]:
        """The flags of the similarity's parameters, unless another flag has that name."""
        from fairtransport.report.console import flag_names

        flags = similarity_flags(self.similarity)
        return {name: flag for name, flag in flags.items() if name not in flag_names()}

    @cached_property
    def _chosen_similarity(self) -> str | Similarity:
        unknown = {"sensitive_features": list(self.values["sensitive_features"]), "features": []}
        columns = self.columns or unknown
        with name_parameters(**similarity_flags(self.similarity)):
            return chosen_similarity(self.similarity, self.similarity_settings, lambda: columns)

    def read_models(self) -> list[object]:
        """Read the models; none where predictions are given."""
        return [one.read_model() for one in self.sources if one.model is not None]

    def resolve(self, models: Sequence[object]) -> AuditRequest:
        """Return the request with the columns that depend on the models."""
        model_features = known_features(models)
        request = self
        if self.described is not None and model_features is None:
            request = replace(self, values={**self.values, "features": list(self.described)})
        if not has_fit(request.similarity_settings):
            return request
        columns = columns_described(
            self.table,
            request.values["sensitive_features"],
            request.values.get("features"),
            model_features,
            [
                self.label,
                self.values.get("counts"),
                *self._design_columns,
                *self._prediction_columns,
            ],
        )
        return replace(request, columns=columns)

    @property
    def _design_columns(self) -> list[str]:
        designs = [checked(name, self.values.get(name)) for name in DESIGN]
        return [one.column for one in designs if one is not None]

    @property
    def _prediction_columns(self) -> list[str]:
        names = [name for one in self.sources for name in (one.y_pred, one.y_score)]
        lists = [[name] if isinstance(name, str) else name or () for name in names]
        return [name for part in lists for name in part]

    def run(self, models: Sequence[object] | None = None) -> AuditResult | Comparison:
        """Audit or compare; models that were read already are reused."""
        if models is None:
            request = self.open_data()
            request.check()
            with self._hint_at_log():
                models = self.read_models()
            return request.resolve(models).run(models)
        with name_parameters(**self._similarity_flags), self._hint_at_log():
            result = self._compare(models) if self.compares else self._audit(models)
            return replace(result, settings_taken=self.settings_taken)

    def _compare(self, models: Sequence[object]) -> Comparison:
        from fairtransport.audits import compare_with

        answers = self._answers(models)
        settings = self.settings()
        # a similarity has a setting of the same name, which has been checked
        with name_parameters(tolerance="--tolerance"):
            return compare_with(
                settings, self.table, self.label, tolerance=self.tolerance, **answers
            )

    def _audit(self, models: Sequence[object]) -> AuditResult:
        from fairtransport.access.cache import cached
        from fairtransport.audits import audit_with

        settings = self.settings()
        if self.proxies:
            models = [cached(one) for one in models]  # answers repeated questions
        result = audit_with(settings, self.table, self.label, **self._answers(models))
        if self.train is not None:
            result = result.overlap(self.train)
        if self.proxies:
            # no further queries to models with random answers, or not queried about everybody
            asks_again = models and result.query_record.once_about_everybody
            model = with_log(models[0], settings.queries.log) if asks_again else None
            result = result.proxies(model)
        return result

    def keywords(self, models: Sequence[object]) -> dict[str, Any]:
        """Return the request as keywords of `audit`."""
        people = {"y": self.label, "similarity": self._chosen_similarity}
        return {**self.values, **people, **self._answers(models)}

    def _answers(self, models: Sequence[object]) -> dict[str, Any]:
        """Return the sources of answers, as `audit` or `compare` take them."""
        kind, columns = self.first.predictions
        if not self.compares:
            return {"model": models[0]} if models else {kind: columns}
        names = [one.name for one in self.sources]
        if models:
            return {"models": dict(zip(names, models, strict=True))}
        return {kind: {one.name: one.predictions[1] for one in self.sources}}

    @contextmanager
    def _hint_at_log(self) -> Iterator[None]:
        """Add to errors of an endpoint that the query log can replace it, if it can."""
        try:
            yield
        except ModelError as error:
            if not self._is_in_log():
                raise
            log = option("model", str(self.values["queries"].log.path))
            msg = (
                f"{error}; the query log has every answer: {log} repeats the audit without the "
                "endpoint"
            )
            raise ModelError(msg) from error

    def _is_in_log(self) -> bool:
        """Return whether the query log has all answers of the endpoint that this audit needs."""
        queries, address = self.values.get("queries"), self.first.model
        if self.compares or queries is None or queries.log is None or not is_address(address):
            return False
        recorded = replace(
            self,
            sources=(ModelSource(model=queries.log.path),),
            values={**self.values, "queries": replace(queries, log=None)},
        )
        try:
            with silence():
                (model,) = recorded.read_models()
                if str(address).rstrip("/") not in str(getattr(model, "identity", "")):
                    return False
                recorded.resolve([model]).run([model])
        except FairtransportError:
            return False
        return True

    def as_command(self) -> str | None:
        """Return the command line of the request; None if a column's name does not fit on it."""
        try:
            flags = [shlex.join(words) for words in self._flags()]
        except _NoFlagError:
            return None
        command = ["fairtransport", "compare" if self.compares else "audit", self.shown]
        return " \\\n  ".join([shlex.join(command), *flags])

    def _flags(self) -> Iterator[tuple[str, ...]]:
        """Yield each flag with its value."""
        if self.label is not None:
            yield _flag("--label", self.label)
        for one in self.sources:
            yield _source_flag(one, named=self.compares)
        if any(one.allow_pickle for one in self.sources):
            yield ("--allow-pickle",)
        if self.compares:
            yield _flag("--tolerance", repr(self.tolerance))
        yield _flag("--similarity", self.similarity)
        for name, value in self.similarity_settings.items():
            # flags split all of these at commas
            values = [value] if isinstance(value, str) else value
            yield from _entry(similarity_flag(name), values, literal_=True)
        for name, value in (*self.values.items(), *self.document.items()):
            setting = (SETTINGS | DOCUMENT)[name]
            is_cut = setting.kind == "one or more literals" and isinstance(value, str)
            parts = [value] if is_cut else value
            yield from _entry(f"--{setting.flag}", parts, literal_=name in LITERALS)
        yield "--report", REPORT_FILE
        yield "--json", JSON_FILE

    def as_python(self) -> str:
        """Return the Python code of the request."""
        variables = {
            one.name: f"model_{place}" if self.compares else "model"
            for place, one in enumerate(self.sources, 1)
            if one.model is not None
        }
        lines = ["import fairtransport as ft", ""]
        lines += [
            f"{variables[one.name]} = ft.access.load({one.shown!r}"
            f"{', allow_pickle=True' if one.allow_pickle else ''})"
            for one in self.sources
            if one.name in variables
        ]
        lines += self._similarity_code()
        options = "".join(f", {name}={value!r}" for name, value in self.document.items())
        lines += [
            f"result = ft.{'compare' if self.compares else 'audit'}(",
            *(f"    {argument}," for argument in self._arguments(variables)),
            ")",
            "print(result)",
            f"result.to_html({REPORT_FILE!r}{options})",
            f"result.to_json({JSON_FILE!r}{options})",
        ]
        return "\n".join([*lines, ""])

    def _arguments(self, variables: dict[str, str]) -> Iterator[str]:
        """Yield the arguments of the call."""
        yield repr(self.shown)
        if self.label is not None:
            yield repr(self.label)
        if variables and self.compares:
            pairs = ", ".join(f"{name!r}: {variable}" for name, variable in variables.items())
            yield f"models={{{pairs}}}"
        elif variables:
            yield "model=model"
        else:
            ((kind, columns),) = self._answers([]).items()
            yield f"{kind}={columns!r}"
        similarity = "similarity" if self.similarity_settings else repr(self.similarity)
        yield f"similarity={similarity}"
        for name, value in self.values.items():
            yield f"{name}={value!r}"
        if self.compares:
            yield f"tolerance={self.tolerance!r}"

    def _similarity_code(self) -> list[str]:
        """Return the lines that build a similarity with settings, and columns to fit it on."""
        settings: dict[str, Any] = dict(self.similarity_settings)
        if not settings:
            return []
        defaults = "" if self.columns is None else f", defaults={dict(self.columns)!r}"
        return [
            "similarity = ft.similarity.similarity_from_settings(",
            f"    {self.similarity!r}, {settings!r}{defaults}",
            ")",
        ]


class _NoFlagError(Exception):
    """A setting that no command line can express."""


def _flag(flag: str, value: str) -> tuple[str, ...]:
    """Return a flag and its value, which must not look like another flag."""
    if not value.strip():
        raise _NoFlagError
    return (f"{flag}={value}",) if value.startswith("-") else (flag, value)


def _source_flag(one: ModelSource, *, named: bool) -> tuple[str, ...]:
    prefix = f"{_part(one.name)}=" if named else ""
    if one.model is not None:
        return _flag("--model", prefix + (_part(one.shown) if named else one.shown))
    if one.y_pred is not None:
        return _flag("--prediction", prefix + (_part(one.y_pred) if named else one.y_pred))
    columns = one.y_score if isinstance(one.y_score, tuple) else (one.y_score or "",)
    return _flag("--score", prefix + ",".join(map(_part, columns)))


def _entry(flag: str, value: object, *, literal_: bool) -> Iterator[tuple[str, ...]]:
    """Yield the flags of a setting, one for each column or list."""
    if isinstance(value, dict):
        for column, below in value.items():
            if set(column) & IN_NO_KEY or _part(column) != column:
                raise _NoFlagError
            yield from _entry(f"{flag}.{column}", below, literal_=literal_)
    elif isinstance(value, list) and any(isinstance(one, list) for one in value):
        for names in value:
            yield from _entry(flag, names, literal_=literal_)
    elif isinstance(value, list | tuple):
        yield _flag(flag, ",".join(_part(_word(one, literal_=literal_)) for one in value))
    else:
        yield _flag(flag, _word(value, literal_=literal_))


def _word(value: object, *, literal_: bool) -> str:
    """Return a value as a command line spells it; quotes keep a number text."""
    if not isinstance(value, str):
        return repr(value)
    return f"'{value}'" if literal_ and parse_literal(value) != value else value


def _part(text: str) -> str:
    """Return a part of a list, which is split at commas and stripped of blanks."""
    if not text or "," in text or text != text.strip():
        raise _NoFlagError
    return text


def columns_described(
    data: TableLike, sensitive: Collection[str], features: Collection[str] | None,
    known: Collection[str] | None, others: Collection[str | None],
) -> dict[str, list[str]]:  # fmt: skip
    """Return the columns that a similarity is about, as the audit chooses them."""
    columns: Collection[str] | None = features or known
    if columns is None:
        columns = [name for name in as_source(data).columns if name not in others]
    rest = [name for name in columns if name not in sensitive]
    return {"sensitive_features": list(sensitive), "features": rest}


def known_features(models: Iterable[object]) -> tuple[str, ...] | None:
    """Return the columns that any of the models was fitted on; None if one does not list them."""
    known = [getattr(one, "features", None) for one in models]
    if not known or None in known:
        return None
    return tuple(dict.fromkeys(name for names in known for name in names or ()))


def has_fit(settings: Mapping[str, object]) -> bool:
    """Return whether the settings of a similarity name data to fit it on."""
    return "fit" in settings or "hold_out" in settings


def chosen_similarity(
    name: str, settings: Mapping[str, object], columns: Columns
) -> str | Similarity:
    """Return a similarity, by its name or built from its settings.

    ``columns`` provides what a fitted similarity needs and the settings lack.
    """
    if not settings:
        registry.as_similarity(name)  # fails if settings are needed
        return name
    defaults = columns() if has_fit(settings) else {}
    return registry.similarity_from_settings(name, settings, defaults=defaults)


def similarity_flag(name: str) -> str:
    """Return the flag of a setting of a similarity."""
    return f"--similarity-settings.{name.replace('_', '-')}"


def similarity_flags(similarity: str) -> dict[str, str]:
    """Return the flag of each setting of a similarity, and of its data to fit on."""
    kind = registry.SIMILARITIES[similarity]
    names = (*parameter_names(kind), "fit", "group", "comparable", "path", "points")
    return {**{name: similarity_flag(name) for name in names}, "X": similarity_flag("fit")}


def is_address(model: object) -> bool:
    """Return whether a model is behind an address."""
    from fairtransport.access.loading import PLACES

    # a Path reduces the two slashes of an address to one
    schemes = tuple(f"{place}/" for place in PLACES if place.endswith(":"))
    return str(model).lower().startswith(schemes)


def run_family(requests: Mapping[str, AuditRequest]) -> Audits:
    """Run the requests of a family, which share data, level and counts; read each model once."""
    from fairtransport.audits.family import OWN, WHERE, audit_many, naming_entry

    first = next(iter(requests.values())).open_data()
    requests = {name: replace(one, source=first.source) for name, one in requests.items()}
    for name, request in requests.items():
        with naming_entry(name):
            request.check()
    models: dict[ModelSource, object] = {}
    audits = {}
    for name, request in requests.items():
        with naming_entry(name):
            if request.first.model is not None and request.first not in models:
                models[request.first] = request.first.read_model()
            own = [models[request.first]] if request.first in models else []
            keywords = {**request.resolve(own).keywords(own), WHERE: request.where}
            audits[name] = {key: value for key, value in keywords.items() if key in OWN}
    names = ("alpha", "counts", *DESIGN)
    shared: dict[str, Any] = {name: first.values.get(name) for name in names}
    family = audit_many(first.table, audits=audits, **shared)
    results = {
        name: replace(
            result if request.train is None else result.overlap(request.train),
            settings_taken=request.settings_taken,
        )
        for (name, request), result in zip(requests.items(), family.values(), strict=True)
    }
    return replace(family, results=results)
