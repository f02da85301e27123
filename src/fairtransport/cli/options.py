"""Flags built from the table of settings, and other shared parts of commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields, make_dataclass
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, cast

from cyclopts import CoercionError, Group, Parameter

from fairtransport._core.progress import silence, with_price
from fairtransport._core.validation import check_number, parse_literal, parse_numbers
from fairtransport.cli.config_file import settings_file
from fairtransport.errors import InputError, param
from fairtransport.settings import (
    ADVANCED,
    BASICS,
    COMMAND_LINE,
    DOCUMENT,
    PYTHON_ONLY,
    QUERIES,
    QUERYING,
    SECTIONS,
    SETTINGS,
    AuditSettings,
    DocumentOptions,
    Queries,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from cyclopts import Token

    from fairtransport.audits.from_text import AuditRequest, ModelSource
    from fairtransport.data.controls import Controls
    from fairtransport.settings import Setting

    Tokens: TypeAlias = Mapping[str, "Tokens"] | Sequence[Token]
    Tree: TypeAlias = Mapping[str, "Tree"] | Sequence[str]

T = TypeVar("T")


def unwrap_help(place: T) -> T:
    """Join the wrapped lines of a docstring, which plain-text help would keep apart."""
    lines: list[str] = []
    for line in cleandoc(place.__doc__ or "").splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        last = lines[-1] if lines else ""
        continues = last.strip() and line.strip() and last.startswith(indent + last.lstrip()[0])
        if continues and not last.endswith("\\") and "---" not in last + line:
            lines[-1] = f"{last} {line.strip()}"
        else:
            lines.append(line)
    place.__doc__ = "\n".join(lines)
    return place


FAIL_ON = {
    "rejected": "over the limit (code 3), or this audit cannot tell (code 5)",
    "not-certified": "the same, and also not settled (code 4)",
    "never": "none of these",
}
FAIL_ON_COMPARED = FAIL_ON | {
    "rejected": "shown to have more bias (code 3), or cannot tell (code 5)"
}


def fail_on_flag(results: Mapping[str, str]) -> Parameter:
    """Return the flag that says which results end with an error code, and its help."""
    lines = [f"- {one}: {results[one]}" for one in results]
    text = "\n".join(["Which results end with an error code; default: rejected", *lines])
    return Parameter(help=text, group=GROUPS[BASICS], show_choices=False, show_default=False)


GROUPS = {name: Group(name, sort_key=place) for place, name in enumerate(SECTIONS, 1)}
"""The sections of a command's help."""


def words(_: object, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the parts of a comma list; a value in a file may hold a comma."""
    parts = tuple(part for token in tokens for part in _parts(token))
    if not parts:
        raise CoercionError(target_type=Several, token=tokens[0])
    return parts


def tables(_: object, tokens: Tokens) -> dict[str, Tree]:
    """Return the lists under each dotted name, as in --bins.age 25,45."""
    if not isinstance(tokens, Mapping):
        raise CoercionError(target_type=dict, token=tokens[0])
    return {
        name: tables(_, below) if isinstance(below, Mapping) else words(_, below)
        for name, below in tokens.items()
    }


def column_sets(_: object, tokens: Sequence[Token]) -> tuple[tuple[str, ...], ...]:
    """Return one set of columns for each comma list."""
    return tuple(tuple(token.value.split(",")) for token in tokens)


Names: TypeAlias = Annotated[tuple[str, ...] | None, Parameter(converter=words, n_tokens=1)]
"""A comma list, a repeated flag, or a list in a file."""
Sets: TypeAlias = Annotated[
    tuple[tuple[str, ...], ...] | None, Parameter(converter=column_sets, n_tokens=1)
]
"""Comma lists, one for each time the flag is given, or a list of them in a file."""
Lists: TypeAlias = Annotated[
    dict[str, tuple[str, ...]] | None, Parameter(converter=tables, accepts_keys=True)
]
"""Comma lists by dotted names, or a table of lists in a file."""
Tables: TypeAlias = Annotated[dict[str, Any] | None, Parameter(converter=tables, accepts_keys=True)]
"""The same with nested names."""


def whole_number(_: object, tokens: Sequence[Token]) -> int:
    """Return an integer; a fraction is an error and not rounded."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise CoercionError(target_type=int, token=tokens[0]) from None


def not_negative(_: object, value: int | None) -> None:
    """Refuse a negative number."""
    if value is not None and value < 0:
        msg = "must be a whole number of at least 0"
        raise ValueError(msg)


Whole: TypeAlias = Annotated[int, Parameter(converter=whole_number)]
"""A whole number."""
Seed: TypeAlias = Annotated[int, Parameter(converter=whole_number, validator=not_negative)]
"""A random seed."""
Switch: TypeAlias = Annotated[bool, Parameter(show_default=False)]
"""A flag without a value."""


TYPES: dict[str, Any] = {
    "text": str,
    "literal": str,
    "path": Path,
    "number": float,
    "integer": Whole,
    "seed": Seed,
    "switch": Switch,
    "names": Names,
    "sets of columns": Sets,
    "design": Names,
    "controls": Names,
    "literals": Names,
    "one or more literals": Names,
    "range": Names,
    "literal by column": dict[str, str],
    "numbers by column": Lists,
    "values by column": Lists,
    "tables": Tables,
}
"""Types of flags, by the kind of setting."""


class Flags:
    """The flags of a command that are built from the table of settings."""

    table: ClassVar[dict[str, Any]] = {}
    """Name and setting of each flag, by attribute."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def values(self, names: Collection[str]) -> dict[str, Any]:
        """Return the values of settings that have flags."""
        return {
            name: read_value(setting, getattr(self, attribute))
            for attribute, (name, setting) in self.table.items()
            if name in names
        }

    def settings(self) -> dict[str, Any]:
        """Return keywords of `AuditSettings`, without the similarity."""
        values = self.values([one.name for one in fields(AuditSettings)])
        values.pop("similarity", None)
        return values | {"queries": self.queries()}

    def queries(self) -> Queries:
        """Return how the model is queried."""
        values = self.values(QUERIES)
        return Queries(**{name.removeprefix("queries."): one for name, one in values.items()})

    def request(self, data: Path, *sources: ModelSource, **more: Any) -> AuditRequest:
        """Return the audit that these flags describe; ``more`` are further keywords of `audit`."""
        from fairtransport.audits.from_text import AuditRequest

        tree = one_or_many(self.similarity_settings or {})
        return AuditRequest(
            data=data,
            shown=str(data),
            label=self.label,
            sources=sources,
            similarity=self.similarity,
            similarity_settings={name.replace("-", "_"): value for name, value in tree.items()},
            values=self.settings() | more,
            document=self._document_options(),
            train=getattr(self, "train", None),
            proxies=getattr(self, "proxies", False),
            settings_taken=settings_file().names,
        )

    def _document_options(self) -> dict[str, Any]:
        """Return the options of documents."""
        options = self.values(DOCUMENT)
        if options:
            DocumentOptions(**options)
        return options


def read_value(setting: Setting, value: Any) -> Any:
    """Return the value of a setting from that of its flag."""
    if value is None or value == {}:  # a table of a family may empty one of the command's
        return [] if setting.default is MISSING and setting.kind == "names" else None
    reader = READERS.get(setting.kind)
    return value if reader is None else reader(f"--{setting.flag}", value)


def _read_literals(_: str, values: Iterable[str]) -> list[object]:
    return [parse_literal(one) for one in values]


def read_range(flag: str, value: Sequence[str]) -> list[float]:
    """Return the two ends of a range."""
    ends = parse_numbers(flag, value)
    if len(ends) != 2:  # noqa: PLR2004
        got = ",".join(value)
        msg = f"`{flag}` must be two numbers, as in {flag} 0,1, got {got!r}"
        raise InputError(msg)
    return ends


def read_design(flag: str, parts: Sequence[str]) -> dict[str, object]:
    """Return a column and its declarations, as in household,largest=12."""
    column, *more = parts
    declared: dict[str, object] = {"column": column}
    for part in more:
        name, sign, value = part.partition("=")
        if not sign or name in declared:
            msg = f"`{flag}` must be a column and declarations such as largest=12, got {part!r}"
            raise InputError(msg)
        declared[name] = parse_literal(value)
    return declared


def read_controls(flag: str, parts: Sequence[str]) -> Controls:
    """Return columns and their margin, as in weekday,car_colour,margin=0.01."""
    from fairtransport.data.controls import Controls

    *columns, last = parts
    name, sign, value = last.partition("=")
    if not (sign and name == "margin"):
        return Controls(list(parts))
    (margin,) = parse_numbers(flag, [value])
    return Controls(columns, margin)


READERS: dict[str, Callable[[str, Any], Any]] = {
    "design": read_design,
    "controls": read_controls,
    "names": lambda _, names: list(names),
    "sets of columns": lambda _, sets: [list(names) for names in sets],
    "literal": lambda _, text: parse_literal(text),
    "literals": _read_literals,
    "one or more literals": lambda _, values: _leaf(values),
    "literal by column": lambda _, by_column: {
        name: parse_literal(text) for name, text in by_column.items()
    },
    "values by column": lambda flag, by_column: {
        name: _read_literals(flag, values) for name, values in by_column.items()
    },
    "numbers by column": lambda flag, by_column: {
        name: parse_numbers(f"{flag}.{name}", values) for name, values in by_column.items()
    },
    "range": read_range,
}
"""Readers of text, by the kind of setting."""


def build_flags(title: str, table: Mapping[str, Setting]) -> type[Flags]:
    """Return the class of a command's flags; cyclopts reads its fields."""
    by_attribute = {one.flag.replace("-", "_"): (name, one) for name, one in table.items()}
    columns = [
        (attribute, *_flag_field(setting)) for attribute, (_, setting) in by_attribute.items()
    ]
    flags: Any = make_dataclass(title, columns, bases=(Flags,), frozen=True, kw_only=True)
    flags.__doc__ = "Flags made from the table of settings."
    # else cyclopts takes it for a built-in type; a short module, as its source is searched
    flags.__module__ = __package__
    flags.table = by_attribute
    return cast("type[Flags]", Parameter(name="*")(flags))


def _flag_field(setting: Setting) -> tuple[Any, Any]:
    """Return type and default of a flag."""
    default = None if setting.default is MISSING else setting.default
    choices = setting.choices
    kind = TYPES[setting.kind] if choices is None else Literal[tuple(choices)]
    if default is None:
        kind = kind | None
    parameter = Parameter(
        help=setting.flag_help,
        group=GROUPS[setting.section],
        negative=(),
        show_choices=not _lists_all(setting.flag_help, choices or ()),
    )
    return Annotated[kind, parameter], default


def _lists_all(text: str, choices: Iterable[str]) -> bool:
    """Return whether a help text has all choices at the beginning of lines of a list."""
    heads = [line.partition(":")[0] for line in text.splitlines() if line.startswith("- ")]
    return all(any(choice in head for head in heads) for choice in choices)


def pick(table: Mapping[str, Setting], *names: str) -> dict[str, Setting]:
    """Return some settings of a table."""
    return {name: table[name] for name in names}


ANSWERS = ("model", "y_pred", "y_score")
CASES = ("y", "sensitive_features", "features", "pos_label", "bins", "levels", "missing")
COMPARED = ("similarity", "loss", "loss_range", "budget")
AUDIT_TABLE = {
    name: setting
    for name, setting in (SETTINGS | QUERIES | DOCUMENT | COMMAND_LINE).items()
    if name not in {"X", "queries", *PYTHON_ONLY}
}
if TYPE_CHECKING:
    AuditFlags: TypeAlias = Flags
else:
    AuditFlags = build_flags("AuditFlags", AUDIT_TABLE)


ProtocolName: TypeAlias = Literal["mlflow", "open-inference"]


@Parameter(name="*", group=GROUPS[QUERYING])
@unwrap_help
@dataclass(frozen=True, kw_only=True)
class EndpointFlags:
    """How a model behind a URL is queried.

    Parameters
    ----------
    prompt
        A TOML file with the prompt; --model is then the URL of a language model.
    protocol
        Protocol of the endpoint. Default: found from the URL or by querying the server.
    served_model
        Name of the model on the server.
    classes
        The labels in the order of the model's probabilities. Default: those of the data, sorted.
    token_variable
        The environment variable that holds a token. Default: FAIRTRANSPORT_TOKEN, if it is set.
    batch_size
        Number of rows in one request. Default: 100.
    at_a_time
        Number of requests at the same time. Default: 4.
    timeout
        Seconds to wait for an answer. Default: 60.
    retries
        How many times to repeat a failed request. Default: 5.
    """

    prompt: Path | None = None
    protocol: ProtocolName | None = None
    served_model: str | None = None
    classes: Names = None
    token_variable: str | None = None
    batch_size: Whole | None = None
    at_a_time: Whole | None = None
    timeout: float | None = None
    retries: Whole | None = None

    def check(self, model: Path | None) -> None:
        """Reject flags without effect."""
        from fairtransport.audits.from_text import is_address

        names = [name for name, value in vars(self).items() if value is not None]
        if names and (model is None or not is_address(model)):
            got = "none" if model is None else repr(str(model))
            msg = f"{param(_flag(names[0]))} needs a URL as the `--model`, got {got}"
            raise InputError(msg)
        if self.prompt is not None:
            odd = [name for name in ("protocol", "classes", "batch_size", "served_model")
                   if name in names]  # fmt: skip
            if odd:
                msg = (
                    f"{param(_flag(odd[0]))} must not be given with `--prompt`: set it in the "
                    "prompt's file"
                )
                raise InputError(msg)

    @property
    def connection(self) -> tuple[tuple[str, Any], ...]:
        """The keywords of `connect` that were given."""
        options: dict[str, Any] = vars(self) | {
            "classes": None if self.classes is None else tuple(map(parse_literal, self.classes)),
            "model": self.served_model,
        }
        return tuple(
            (name, value)
            for name, value in options.items()
            if value is not None and name not in {"prompt", "served_model"}
        )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


ENDPOINT_KEYS = tuple(one.name.replace("_", "-") for one in fields(EndpointFlags))
"""Names of these flags in a file."""
NO_ENDPOINT = EndpointFlags()


@Parameter(name="*", group=GROUPS[QUERYING])
@unwrap_help
@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """How a model is read.

    Parameters
    ----------
    allow_pickle
        Read pickles (.pkl, .pickle, .joblib). They can run any code of their author.
    trust
        Full names of types that a skops file may hold beside those of scikit-learn.
    """

    allow_pickle: Switch = False
    trust: Names = None
    endpoint: EndpointFlags = NO_ENDPOINT

    def source(self, flags: Flags) -> ModelSource:
        """Return the source of the only model's answers."""
        return self.build_source(model=flags.model, y_pred=flags.prediction, y_score=flags.score)

    def build_source(self, *, model: Path | None = None, **more: Any) -> ModelSource:
        """Return the source of a model's answers."""
        self.endpoint.check(model)
        from fairtransport.audits.from_text import ModelSource, is_address

        return ModelSource(
            # Path reduces the two slashes of an address to one
            model=str(model).replace(":/", "://", 1) if is_address(model) else model,
            allow_pickle=self.allow_pickle,
            trusted=self.trust or (),
            prompt=self.endpoint.prompt,
            connection=self.endpoint.connection,
            **more,
        )


@Parameter(name="*", group=GROUPS[ADVANCED])
@unwrap_help
@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """How a command runs.

    Parameters
    ----------
    quiet
        Print only errors and the reason for an error code. With --fail-on or --junit also warn
        if --delta is missing.
    config
        A TOML file with a table for each command; flags override it. A fairtransport.toml in the
        working directory is read without being named, but may only describe the data.
    debug
        Show the traceback of an error.
    """

    quiet: Switch = False
    config: Path | None = None
    debug: Switch = False

    @contextmanager
    def progress(self, price: float | None = None) -> Iterator[None]:
        """Show progress and cost, unless quiet; first print what a settings file sets."""
        if price is not None:
            check_number("--price-per-1000", price, at_least=0)
        file = settings_file()
        if file.names and not self.quiet:
            from fairtransport.report.console import print_note

            # standard output may belong to a document
            print_note(f"{file.name!r} sets {', '.join(file.names)}.", error=True)
        with silence() if self.quiet else nullcontext(), with_price(price):
            yield


class Several:
    """The type of a list that has at least one value, for messages."""


def _parts(token: Token) -> Iterable[str]:
    """Return the parts of typed text; a value of a file is one part, commas included."""
    if token.source != "cli":
        return (token.value,) if token.value else ()
    return (part.strip() for part in token.value.split(",") if part.strip())


def one_or_many(tree: Mapping[str, Tree]) -> dict[str, object]:
    """Return a settings tree with its leaves read: one value, or a list of several."""
    return {
        name: one_or_many(below) if isinstance(below, Mapping) else _leaf(below)
        for name, below in tree.items()
    }


def _leaf(parts: Sequence[str]) -> object:
    """Return one value of a tree, or the list of several."""
    values = [parse_literal(part) for part in parts]
    return values[0] if len(values) == 1 else values
