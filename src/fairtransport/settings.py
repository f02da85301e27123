"""Settings of an audit: default, help text and rule of each, once.

The signatures of `audit`, `compare`, `Monitor`, `DeltaFairSearch` and `faith_scorer` repeat the
defaults, and their docstrings the help texts; the flags of the command line are built from here. A
test compares all of them with this table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date
from functools import cached_property, partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast

from fairtransport._core import validation
from fairtransport._core.environment import check_environment
from fairtransport.errors import InputError, option, param

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from fairtransport.access.query_log import QueryLog
    from fairtransport.data.controls import Controls
    from fairtransport.data.design import Clusters, Weights
    from fairtransport.data.sources import TableLike
    from fairtransport.losses import Loss
    from fairtransport.similarity import Similarity

LossLike: TypeAlias = "str | Loss | Callable[..., object]"
"""A loss as a user gives it: its name, a `Loss`, or a function of labels and predictions."""
SimilarityLike: TypeAlias = "str | Similarity"
TogetherLike: TypeAlias = (
    Sequence[Sequence[str]] | Mapping[tuple[str, ...], Sequence[Sequence[object]] | None]
)
"""Sets of columns that change together, with their combinations where these are declared."""
Rng: TypeAlias = "int | np.random.Generator | None"

P = ParamSpec("P")
T = TypeVar("T")

Check: TypeAlias = Callable[[str, Any], Any]
"""Takes a setting's name and value; returns the checked value or raises `InputError`."""


@dataclass(frozen=True)
class RegistryNames(Collection[str]):
    """Names in a registry; ours are known without loading it, for ``--help``."""

    module: str
    registry: str
    ours: tuple[str, ...]

    def _names(self) -> Collection[str]:
        return getattr(sys.modules.get(self.module), self.registry, self.ours)

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


LOSSES = RegistryNames(
    "fairtransport.losses", "LOSSES", ("zero-one", "log", "brier", "absolute", "squared", "outcome")
)
SIMILARITIES = RegistryNames(
    "fairtransport.similarity",
    "SIMILARITIES",
    ("ignore-sensitive", "mixed-tabular", "sensitive-subspace", "comparable-pairs",
     "comparable-groups", "counterparts", "precomputed"),
)  # fmt: skip
METHODS = RegistryNames(
    "fairtransport.inference.methods",
    "METHODS",
    ("finite-sample", "m-out-of-n", "numerical", "subsampling", "limit-law", "plug-in", "efron"),
)
MISSING_VALUES = ("error", "level")
JUDGED = ("statistic", "attributable")
ABOUT = ("population", "these")
MAX_LISTED_MOVES = 100_000
"""Maximum number of moves in a document."""
MAX_DRAWS = 10_000

BASICS, SIMILAR, QUERYING, OUTPUT, ADVANCED = SECTIONS = (
    "Basics", "Who is similar", "Querying the model", "Output", "Advanced",
)  # fmt: skip
"""The sections of flags in ``fairtransport audit --help``, in their order."""


@dataclass(frozen=True)
class Setting:
    """Help text, default, rule and flag of one setting."""

    help: str
    default: object = None
    check: Check | None = None
    choices: Collection[str] | None = None
    section: str = ADVANCED
    kind: str = "text"
    flag: str = ""
    flag_help: str = ""
    recorded: str | None = None


def _setting(text: str, default: object = None, **more: Any) -> Any:
    """Return a field of a settings class."""
    return field(default=default, metadata={"setting": Setting(text, default, **more)})


def _table(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return settings with their flags and the flags' help texts filled in."""
    return {
        name: replace(
            one,
            flag=one.flag or name.rpartition(".")[2].replace("_", "-"),
            flag_help=one.flag_help or one.help,
        )
        for name, one in settings.items()
    }


def _settings_of(kind: type, prefix: str = "") -> dict[str, Setting]:
    """Return the settings of a class by name."""
    return _table({prefix + one.name: one.metadata["setting"] for one in fields(kind)})


def _check_fields(settings: Any, prefix: str = "") -> None:
    """Replace the values of a settings object by the checked ones."""
    for one in fields(settings):
        check: Check | None = one.metadata["setting"].check
        if check is not None:
            value = check(prefix + one.name, getattr(settings, one.name))
            object.__setattr__(settings, one.name, value)


def _check_similarity(_: str, value: object) -> object:
    """Return a name unresolved: it can be stored, sent and shown, its similarity not always."""
    from fairtransport.similarity import as_similarity

    as_similarity(value)
    return value


def _check_loss(_: str, value: object) -> object:
    from fairtransport.losses import as_loss

    as_loss(value)
    return value


def _check_together(name: str, value: object) -> object:
    from fairtransport.data.twins import check_together

    return check_together(name, value)


def _check_resamples(name: str, value: object) -> int:
    from fairtransport.inference.resampling import MAX_RESAMPLES

    return validation.check_integer(name, value, at_most=MAX_RESAMPLES)


def _check_columns(name: str, value: object) -> object:
    if isinstance(value, list | tuple) and not value:
        msg = f"{param(name)} must name at least one column, got none"
        raise InputError(msg)
    return value


def _check_seed(name: str, value: object) -> int:
    """Return the given seed, or draw one that can be recorded."""
    generator = validation.check_generator(name, value)
    return int(value) if validation.is_integer(value) else int(generator.integers(2**32))


def _check_log(name: str, value: object) -> QueryLog | None:
    if value is None:
        return None
    from fairtransport.access.query_log import as_query_log

    return as_query_log(name, value)


def _optional(check: Check, name: str, value: object) -> object:
    return None if value is None else check(name, value)


def _check_switch(name: str, value: object) -> bool:
    import numpy as np

    if isinstance(value, bool | np.bool_):
        return bool(value)
    msg = f"{param(name)} must be True or False, got {validation.short_repr(value)}"
    raise InputError(msg)


def _check_reference(name: str, value: object) -> Mapping[str, object] | str:
    if value is None:
        return {}
    if isinstance(value, str) and value == "highest":
        return value
    if not isinstance(value, Mapping):
        msg = (
            f"{param(name)} must map sensitive features to groups or be 'highest', got "
            f"{validation.short_repr(value)}"
        )
        raise InputError(msg)
    return value


def _check_text(name: str, value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        msg = f"{param(name)} must be text, got {validation.short_repr(value)}"
        raise InputError(msg)
    return value


def _check_date(name: str, value: object) -> str | None:
    """Return a date as text."""
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        msg = f"{param(name)} must be a date such as 2026-03-31, got {validation.short_repr(value)}"
        raise InputError(msg) from None


def _check_favourable(name: str, value: object) -> object:
    """Return a label, or an order of distinct labels."""
    order = value if isinstance(value, list | tuple) else [value]
    if not order or any(validation.is_among(label, order[:at]) for at, label in enumerate(order)):
        msg = (
            f"{param(name)} must be a label, or all labels from worst to best, each once, got "
            f"{validation.short_repr(value)}"
        )
        raise InputError(msg)
    return value


def _check_clusters(name: str, value: object) -> object:
    from fairtransport.data.design import Clusters

    return _check_design(Clusters, name, value)


def _check_weights(name: str, value: object) -> object:
    from fairtransport.data.design import Weights

    return _check_design(Weights, name, value)


def _check_design(kind: type[Clusters | Weights], name: str, value: object) -> object:
    """Return clusters or weights, from a column's name or from the parts of a flag."""
    if value is None or isinstance(value, kind):
        return value
    if isinstance(value, Mapping):
        allowed = [one.name for one in fields(kind)]
        for key in value:
            validation.check_choice(name, key, allowed)
        return kind(**{"column": None, **value})
    if isinstance(value, str):
        return kind(value)
    advice = (
        ": add the array to X as a column and pass its name" if hasattr(value, "__len__") else ""
    )
    msg = (
        f"{param(name)} must be a column's name or an ft.{kind.__name__}{advice}, got "
        f"{validation.short_repr(value)}"
    )
    raise InputError(msg)


def _check_controls(name: str, value: object) -> object:
    """Return controls, from names of columns or from the parts of a flag."""
    from fairtransport.data.controls import Controls

    if value is None or isinstance(value, Controls):
        return value
    if not isinstance(value, str | list | tuple):
        got = validation.short_repr(value)
        msg = f"{param(name)} must list columns or be an ft.Controls, got {got}"
        raise InputError(msg)
    return Controls(cast("Sequence[str]", value))


def _check_queries(name: str, value: object) -> Queries:
    if value is None:
        return Queries()
    if not isinstance(value, Queries):
        msg = f"{param(name)} must be an ft.Queries, got {validation.short_repr(value)}"
        raise InputError(msg)
    return value


@dataclass(frozen=True, kw_only=True)
class Queries:
    """How a model is queried.

    Parameters
    ----------
    log
        SQLite file that stores every answer, so that an interrupted audit continues without
        repeating a query. ``ft.access.load`` reads it, for an audit without the model. A
        callable has to be named: ``ft.access.named``.
    repeats
        Number of queries to repeat, in another order and other batches, to see whether the
        answers agree. Default: 20; none of a model that says that it answers at random. If
        answers differ, there is no verdict without ``draws``.
    draws
        Answers per query, for a model that answers at random. With several the statistic is
        about mean losses; choosing the worst twin and measuring it use different draws. One
        answer is taken for good, unless the model says that it answers at random.
    about
        What the bound of several draws is about: the "population" that the rows were drawn
        from, or "these" rows only, where templates or prompts are all there is.
    unit
        Largest difference of two losses that counts, with several draws of answers of more than
        two values: larger ones count as this. Default: the range of the loss. A bound of means
        has to allow for rare and extreme answers, and a small unit limits what they can do.
    until_sure
        Query people in random order, and stop as soon as there is a verdict. The bounds hold at
        the moment of the stop.
    limit
        Maximum number of queries with ``until_sure``, repeated ones included, which take a third
        of it at most.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.Queries(repeats=20).repeats
    20
    >>> ft.Queries(limit=500)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `queries.limit` must be given with `queries.until_sure`, got
    it alone
    """

    log: str | Path | QueryLog | None = _setting(
        "SQLite file that stores every answer, so that an interrupted audit continues without "
        "repeating a query.",
        check=_check_log,
        section=QUERYING,
        kind="path",
        flag="query-log",
    )
    repeats: int | None = _setting(
        "Number of queries to repeat, in another order and other batches, to see whether the "
        "answers agree. Default: 20.",
        check=partial(_optional, partial(validation.check_integer, at_least=0)),
        section=QUERYING,
        kind="integer",
    )
    draws: int = _setting(
        "Answers per query, for a model that answers at random.",
        1,
        check=partial(validation.check_integer, at_most=MAX_DRAWS),
        section=QUERYING,
        kind="integer",
    )
    about: str = _setting(
        'What the bound of several draws is about: the "population" that the rows were drawn '
        'from, or "these" rows only.',
        "population",
        check=partial(validation.check_choice, allowed=ABOUT),
        choices=ABOUT,
        section=QUERYING,
        flag_help="With --draws: whether the bound is for the population that the rows were drawn "
        "from, or for these rows only.",
    )
    unit: float | None = _setting(
        "Largest difference of two losses that counts, with several draws of answers of more than "
        "two values",
        check=partial(_optional, partial(validation.check_number, above=0)),
        section=QUERYING,
        kind="number",
        flag_help="With --draws and answers of more than two values: larger differences of two "
        "losses are cut to this number. Default: the range of the loss.",
    )
    until_sure: bool = _setting(
        "Query people in random order, and stop as soon as there is a verdict.",
        default=False,
        check=_check_switch,
        section=QUERYING,
        kind="switch",
        flag_help="Query people in random order, and stop as soon as the result is over or within "
        "the limit. The confidence stays valid.",
    )
    limit: int | None = _setting(
        "Maximum number of queries with ``until_sure``, repeated ones included.",
        check=partial(_optional, validation.check_integer),
        section=QUERYING,
        kind="integer",
        flag="query-limit",
        flag_help="Maximum number of queries with --until-sure, repeated ones included.",
    )

    def __post_init__(self) -> None:
        _check_fields(self, "queries.")
        draws, until_sure, limit = (
            param(f"queries.{name}") for name in ("draws", "until_sure", "limit")
        )
        if self.until_sure and self.draws > 1:
            msg = f"{draws} and {until_sure} must not be given together, got both"
            raise InputError(msg)
        if self.limit is not None and not self.until_sure:
            msg = f"{limit} must be given with {until_sure}, got it alone"
            raise InputError(msg)
        for name in ("about", "unit"):
            value = getattr(self, name)
            if self.draws == 1 and value != QUERIES[f"queries.{name}"].default:
                msg = (
                    f"{param(f'queries.{name}')} must be given with {draws} of 2 or more, got "
                    f"{validation.short_repr(value)} with 1"
                )
                raise InputError(msg)

    def check_only(self, supported: Collection[str], reason: str) -> None:
        """Reject settings that only ``audit`` supports."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name not in supported and value != one.default:
                msg = f"{param(f'queries.{one.name}')} is for `audit` alone: {reason}"
                raise InputError(msg)


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """Options of a report, a JSON document or a Markdown text."""

    title: str | None = _setting(
        "Heading of the report.", check=_check_text, section=OUTPUT, recorded="provenance.title"
    )
    date: Any = _setting(
        "Date of the report, such as 2026-03-31. Reports carry a date only if you set one.",
        check=_check_date,
        section=OUTPUT,
        recorded="provenance.date",
    )
    auditor: str | None = _setting(
        "Name of the auditor.", check=_check_text, section=OUTPUT, recorded="provenance.auditor"
    )
    data_name: str | None = _setting(
        "Name of the audit data in the report.",
        check=_check_text,
        section=OUTPUT,
        recorded="provenance.data_name",
    )
    max_moves: int = _setting(
        "Maximum number of moves in a document; those that add most to the statistic come first.",
        500,
        check=partial(validation.check_integer, at_most=MAX_LISTED_MOVES),
        section=OUTPUT,
        kind="integer",
        flag_help="Maximum number of swaps in report and JSON: those that add most to the result. "
        "--moves writes all.",
    )
    reference: Mapping[str, object] | str | None = _setting(
        'Group that the others are compared with in the rates by group, as in ``{"race": '
        '"Caucasian"}``; "highest" for the one with the highest rate. Default: the largest.',
        check=_check_reference,
        section=OUTPUT,
        kind="literal by column",
        flag="privileged",
        flag_help="Group that the others are compared with in the rates by group, as in "
        "--privileged.race Caucasian. The word highest stands for the group with the highest rate. "
        "Default: the largest group.",
    )
    min_share: float = _setting(
        "Groups that are a smaller share of the people are listed but not compared in the rates by "
        "group.",
        0.0,
        check=partial(validation.check_number, at_least=0, below=1),
        section=OUTPUT,
        kind="number",
        flag_help="Groups with a smaller share of the people than this (0.02 is 2 %) are listed "
        "but not compared in the rates by group.",
    )

    def __post_init__(self) -> None:
        _check_fields(self)

    @property
    def head(self) -> dict[str, Any]:
        """Fields in the head of a document."""
        names = ("title", "date", "auditor", "data_name")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditSettings:
    """Settings of an audit, except the data and the model.

    Errors that need no data are raised here, before a model is read, fitted or queried. Attributes
    are stored as given, except numbers, queries and the seed.
    """

    sensitive_features: object = _setting(
        "The sensitive columns.",
        MISSING,
        check=_check_columns,
        section=BASICS,
        kind="names",
        flag="sensitive",
        flag_help="The sensitive columns, separated by commas, as in --sensitive race,sex.",
        recorded="provenance.sensitive",
    )
    favourable: object = _setting(
        "The label that is good for a person, or all labels from worst to best.",
        check=_check_favourable,
        section=BASICS,
        kind="one or more literals",
        flag_help="The favourable decision, the one that is good for the person, such as granted. "
        "Of more than two decisions you may name all, from worst to best, separated by commas.",
    )
    features: Sequence[str] | None = _setting(
        "Columns that describe a person. Default: those the model was fitted on, or all but label, "
        "counts and predictions.",
        section=BASICS,
        kind="names",
        flag_help="Columns that describe a person, separated by commas. With decisions alone, "
        "people with equal values in all of them are compared. Default: the columns that the model "
        "was fitted on; if these are not known, all but label, counts and predictions. Leave out "
        "IDs and dates.",
        recorded="provenance.features",
    )
    pos_label: object = _setting(
        "The positive label.",
        section=ADVANCED,
        kind="literal",
        flag="positive",
        flag_help="The label that --score has the probabilities of, or that --loss outcome counts.",
        recorded="provenance.pos_label",
    )
    bins: Mapping[str, Sequence[float]] | None = _setting(
        'Bin edges of numeric columns, as in ``{"age": [25, 45]}``.',
        kind="numbers by column",
        flag_help="Edges that cut a column of numbers into groups, as in --bins.age 25,45.",
    )
    missing: str = _setting(
        'Missing values: "error" refuses them, "level" makes them a value of their own.',
        "error",
        check=partial(validation.check_choice, allowed=MISSING_VALUES),
        choices=MISSING_VALUES,
    )
    levels: Mapping[str, Sequence[object]] | None = _setting(
        "Values that a sensitive column is changed to. Default: those that occur.",
        section=SIMILAR,
        kind="values by column",
        flag_help="Values that a sensitive column is changed to, as in --levels.race a,b. Default: "
        "those in the data. A number in quotes is text.",
    )
    together: TogetherLike | None = _setting(
        'Columns that change together, as in ``[["sex", "relationship"]]``.',
        check=_check_together,
        section=SIMILAR,
        kind="sets of columns",
        flag_help="Columns that change together, as in --together sex,relationship. Repeat it for "
        "another set.",
    )
    counts: str | None = _setting("Column of whole numbers: how many people a row stands for.")
    clusters: str | Clusters | None = _setting(
        "Column that tells which rows belong together, as those of a household or a template do, "
        "or an `ft.Clusters`.",
        check=_check_clusters,
        kind="design",
        flag_help="Column that tells which rows belong together, as those of a household do. "
        "--clusters household,largest=12 declares that no household can have more than 12 rows; "
        "target=clusters counts each household once, not each row.",
    )
    sample_weight: str | Weights | None = _setting(
        "Column of survey weights, the inverse of each person's chance of being drawn, or an "
        "`ft.Weights`.",
        check=_check_weights,
        kind="design",
        flag_help="Column of survey weights, the inverse of each person's chance of being drawn. "
        "--sample-weight weight,largest=8 declares that nobody can have a larger weight than 8.",
    )
    controls: Sequence[str] | Controls | None = _setting(
        "Columns whose change should not matter, or an `ft.Controls`.",
        check=_check_controls,
        section=SIMILAR,
        kind="controls",
        flag_help="Negative controls: columns whose change should not matter, as in --controls "
        "weekday,car_colour,margin=0.01. The model is then over the limit only if changes of the "
        "sensitive columns also matter more than changes of these, by more than the margin.",
    )
    targets: TableLike | None = _setting(
        "People to compare the audited ones with, instead of with each other. Choose them without "
        "looking at the audit data, or nothing can be certified.",
        section=SIMILAR,
        kind="path",
        flag_help="File of other people to compare everybody with; not used with a model and "
        "ignore-sensitive. Choose them without looking at the audit data, or no result can be "
        "within the limit.",
    )
    similarity: SimilarityLike = _setting(
        "Who counts as similar.",
        "ignore-sensitive",
        check=_check_similarity,
        choices=SIMILARITIES,
        section=SIMILAR,
        flag_help="Who counts as similar\n"
        "- ignore-sensitive: people who are equal in all but the sensitive columns\n"
        "- mixed-tabular: a distance; you say how much each column counts\n"
        "- sensitive-subspace, comparable-pairs, comparable-groups: a distance learned from data, "
        "from pairs or from groups of similar people\n"
        "- counterparts: also changes other columns to what is typical of another group\n"
        "- precomputed: a file of distances",
        recorded="provenance.similarity",
    )
    loss: LossLike = _setting(
        "How errors are measured.",
        "zero-one",
        check=_check_loss,
        choices=LOSSES,
        section=BASICS,
        flag_help="How errors are counted\n"
        "- zero-one: each wrong prediction counts 1\n"
        "- log, brier: by the predicted probabilities\n"
        "- absolute, squared: by how far a predicted number is off\n"
        "- outcome: no errors but the decision itself (1 or 0) or the number; needs no true labels",
        recorded="provenance.loss",
    )
    loss_range: Sequence[float] | None = _setting(
        "Smallest and largest possible loss, for a loss without a range of its own.",
        kind="range",
        recorded="provenance.loss_range",
    )
    budget: float = _setting(
        "How far apart people and those they are compared with may be on average (ε), as a squared "
        "distance of the similarity.",
        0.0,
        check=partial(validation.check_number, at_least=0),
        section=SIMILAR,
        kind="number",
        flag_help="How far apart people and those they are compared with may be on average (ε), as "
        "a squared distance of the similarity. 0: only people at distance 0 are compared.",
        recorded="budget",
    )
    delta: float | None = _setting(
        "Largest tolerated increase in the mean loss (δ). Required for a verdict.",
        section=BASICS,
        kind="number",
        flag_help="Your limit (δ), needed for a verdict; 0.02 is 2 % of all people. It limits\n"
        "- with a model and --label: people whose correct decision would become wrong with other "
        "sensitive values\n"
        "- with a model alone: people who do not get the favourable decision, but would with other "
        "sensitive values\n"
        "- with decisions alone: by how much the rate of unfavourable decisions would rise if, "
        "among people with equal features, everybody had the rate of the group with the highest\n"
        "- with another --loss: by how much the mean loss would rise at worst",
        recorded="delta",
    )
    alpha: float = _setting(
        "Significance level of the bounds and tests.",
        0.05,
        # from 0.5 on, a lower bound could exceed an upper one
        check=partial(validation.check_number, above=0, below=0.5),
        section=BASICS,
        kind="number",
        flag_help="How often a verdict or a bound may be wrong (the significance level α). 0.05 is "
        "95 % confidence.",
        recorded="alpha",
    )
    deterministic: bool = _setting(
        "Declare that given predictions depend on the audited columns alone.",
        default=False,
        check=_check_switch,
        kind="switch",
        flag_help="Declare that the predictions in the file depend on the --features and "
        "--sensitive columns alone. Bounds are then tighter, and different predictions for equal "
        "people are an error.",
    )
    judge: str = _setting(
        'What the verdict is about: the "statistic", or its "attributable" part, which needs '
        "sensitive features to change.",
        "statistic",
        check=partial(validation.check_choice, allowed=JUDGED),
        choices=JUDGED,
        flag_help="What verdict and exit code are about\n"
        "- statistic: the whole result\n"
        "- attributable: only the part that disappears if sensitive columns may not change; this "
        "differs only where --similarity compares similar people",
        recorded="judge",
    )
    method: str = _setting(
        "Method of the confidence bounds; those of finite-sample hold at every sample size.",
        "finite-sample",
        check=partial(validation.check_choice, allowed=METHODS),
        choices=METHODS,
        flag_help="Method of the confidence bounds\n"
        "- finite-sample: valid at every sample size\n"
        "- limit-law, m-out-of-n, subsampling, numerical, plug-in, efron (the ordinary bootstrap): "
        "approximations for large samples",
        recorded="method",
    )
    n_resamples: int = _setting(
        "Number of draws of the resampling methods.",
        2000,
        check=_check_resamples,
        kind="integer",
        flag="resamples",
        recorded="provenance.resamples",
    )
    rng: Rng = _setting(
        "Seed of everything random. Default: drawn and recorded.",
        check=_check_seed,
        kind="seed",
        flag="seed",
        flag_help="Seed of everything random. Default: drawn and printed.",
        recorded="provenance.seed",
    )
    queries: Queries = _setting("How the model is queried: an `ft.Queries`.", check=_check_queries)

    def __post_init__(self) -> None:
        from fairtransport.inference.methods import check_level

        _check_fields(self)
        if self.delta is not None:
            object.__setattr__(
                self, "delta", validation.check_threshold(self.delta, self.chosen_loss.range)
            )
        check_level(self.method, self.alpha, self.n_resamples)
        self._check_units()
        self._check_control_queries()
        if self.queries.until_sure and self.delta is None:
            msg = (
                f"{param('delta')} must be given with {param('queries.until_sure')}: there is no "
                "verdict without it"
            )
            raise InputError(msg)

    @property
    def design(self) -> tuple[Clusters | None, Weights | None]:
        """Clusters and weights of the sample; None where rows are independent and equal."""
        return cast("Clusters | None", self.clusters), cast("Weights | None", self.sample_weight)

    @property
    def chosen_controls(self) -> Controls | None:
        """The control columns and their margin; None without controls."""
        return cast("Controls | None", self.controls)

    def _check_control_queries(self) -> None:
        """Reject controls with kinds of queries for which they are not proved."""
        queries = self.queries
        if self.controls is not None and (queries.until_sure or queries.draws > 1):
            msg = (
                f"{param('controls')} must not be given with {param('queries.until_sure')} or "
                f"{param('queries.draws')}: control edits are queried once, with everybody"
            )
            raise InputError(msg)

    def _check_units(self) -> None:
        """Reject clusters and weights with methods proved for independent people only."""
        for name in ("clusters", "sample_weight"):
            if getattr(self, name) is None:
                continue
            rules = (
                (self.counts is None, f"{param('counts')}: pass the rows themselves"),
                (
                    self.method == "finite-sample",
                    f"the {param('method')} {self.method!r}: use 'finite-sample'",
                ),
                (
                    not self.queries.until_sure and self.queries.draws == 1,
                    f"{param('queries.until_sure')} or {param('queries.draws')}",
                ),
            )
            for keeps, other in rules:
                if not keeps:
                    msg = f"{param(name)} must not be given with {other}"
                    raise InputError(msg)

    @property
    def favourable_order(self) -> tuple[Any, ...]:
        """The favourable label, or all labels from worst to best; empty if none was given."""
        if isinstance(self.favourable, list | tuple):
            return tuple(self.favourable)
        return () if self.favourable is None else (self.favourable,)

    @property
    def best_label(self) -> object:
        """The label that is best for a person; None if it was not given."""
        return self.favourable_order[-1] if self.favourable_order else None

    @cached_property
    def chosen_loss(self) -> Loss:
        """The chosen loss, with its range if known."""
        from fairtransport.losses import as_loss

        return as_loss(self.loss, self.loss_range)

    def without_truth(self, y: object, *, has_scores: bool, has_model: bool) -> AuditSettings:
        """Return settings with the decision itself as the loss if there are no true labels.

        The audit then counts who would get the favourable decision as someone else.
        """
        is_decision = self.loss == "outcome" or (self.loss == "zero-one" and y is None)
        if has_scores or self.favourable is None or not is_decision:
            return self
        counts_best = has_model and self.pos_label is None
        pos_label = self.best_label if counts_best else self.pos_label
        return replace(self, loss="outcome", pos_label=pos_label)

    @cached_property
    def chosen_similarity(self) -> Similarity:
        """The chosen similarity."""
        from fairtransport.similarity import as_similarity

        return as_similarity(self.similarity)

    def __getstate__(self) -> dict[str, Any]:
        # a loss may hold a function that cannot be pickled, so it is rebuilt from its name
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def seed(self) -> int:
        """The random seed, recorded with the audit."""
        return cast("int", self.rng)  # its check leaves nothing else


def missing_truth(loss: str) -> str:
    """Return the sentence on a loss that lacks the true labels it needs."""
    if loss == "zero-one":
        return (
            f"{param('favourable')} must be given: the decision that is good for a person, such as "
            f"{option('favourable', 'granted')}; or give the true labels as {param('y')}"
        )
    return f"{param('y')}, the true labels, must be given for the loss {loss!r}"


PEOPLE: dict[str, Setting] = _table({
    "X": Setting(
        "The audit data, one person per row.",
        MISSING,
        flag="data",
        flag_help="A CSV, Parquet or JSON-lines file with one person per row.",
    ),
    "y": Setting(
        "The true labels.", section=BASICS, flag="label",
        flag_help="Column of the true labels: the correct decision, or the outcome that the model "
        "predicts, in the same words as the predictions. Without true labels, give --favourable; "
        "you may give both.",
        recorded="provenance.label",
    ),
    "model": Setting(
        "The model, which is queried for every person.",
        section=BASICS,
        kind="path",
        flag_help="The model, which is queried for each person as recorded and with other "
        "sensitive values: a .skops or .onnx file, an MLflow folder, a pickle with --allow-pickle, "
        "the URL of an endpoint, or the query log of an earlier audit (.sqlite).",
        recorded="provenance.model",
    ),
    "y_pred": Setting(
        "Decisions or predictions: labels or numbers.",
        section=BASICS,
        flag="prediction",
        flag_help="Column of decisions or predictions, instead of a model.",
    ),
    "y_score": Setting(
        "The positive label's probabilities, or one column per class.",
        section=BASICS,
        kind="names",
        flag="score",
        flag_help="Column of the model's probabilities of one label (--positive), or one column "
        "for each label, separated by commas.",
    ),
})  # fmt: skip
"""The data and the black box."""

PYTHON_ONLY: dict[str, Setting] = _table({
    "feature_names": Setting("The names of the columns of X, where it is a two-dimensional array."),
})  # fmt: skip
"""Parameters without a flag: files name their columns."""
SETTINGS: dict[str, Setting] = PEOPLE | PYTHON_ONLY | _settings_of(AuditSettings)
"""The parameters of `audit`, by name."""
QUERIES: dict[str, Setting] = _settings_of(Queries, "queries.")
"""The fields of `Queries`, by name."""
DOCUMENT: dict[str, Setting] = _settings_of(DocumentOptions)
"""The fields of `DocumentOptions`, by name."""
COMMAND_LINE: dict[str, Setting] = _table({
    "similarity_settings": Setting(
        "Settings of the similarity, as in --similarity-settings.fit history.csv. In a TOML file "
        "they have a table of their own.",
        section=SIMILAR,
        kind="tables",
    ),
    "price_per_1000": Setting(
        "Price of 1,000 queries, for the progress line.", section=QUERYING, kind="number"
    ),
    "train": Setting(
        "Training data of the model.",
        section=OUTPUT,
        kind="path",
        flag_help="Training data of the model; the report counts the people who may be in these "
        "and in the audit data.",
    ),
    "proxies": Setting(
        "Also report proxies: other columns that predict the sensitive ones.",
        default=False,
        check=_check_switch,
        section=OUTPUT,
        kind="switch",
    ),
})  # fmt: skip
"""Flags without a parameter in Python, which has objects and methods for them."""


DESIGN = ("clusters", "sample_weight")
"""Settings that only audits of a whole sample take."""
_LEGITIMATE = "pass `similarity=ft.similarity.Counterparts(..., {}=...)`"
OTHER_NAMES: dict[str, str] = {
    **dict.fromkeys(("random_state", "seed"), "rng"),
    **dict.fromkeys(("estimator", "classifier", "clf", "predictor"), "model"),
    **dict.fromkeys(("protected", "protected_attributes", "protected_attribute_names"),
                    "sensitive_features"),
    **dict.fromkeys(("y_true", "target", "label", "labels"), "y"),
    **dict.fromkeys(("y_prob", "y_proba", "scores", "probabilities"), "y_score"),
    **dict.fromkeys(("predictions", "preds", "y_hat"), "y_pred"),
    **dict.fromkeys(("positive_label", "favorable_label", "favourable_label"), "favourable"),
    "threshold": "delta",
    **dict.fromkeys(("train", "X_train"), "call `overlap(train)` of the result"),
    **dict.fromkeys(("privileged", "reference"), "call `group_metrics(reference=...)` of the "
                    "result"),
    "proxies": "call `proxies(model)` of the result",
    **dict.fromkeys(("sample_weights", "weights", "weight"),
                    f"pass survey weights as {param('sample_weight')}; where a row stands for "
                    f"several people, pass {param('counts')}, the column of their number"),
    **{name: _LEGITIMATE.format(name) for name in ("legitimate", "given", "fit_share")},
}  # fmt: skip
"""Our parameter, or what to do, by the name that other packages and functions use."""


def unknown_setting_error(name: object, allowed: Collection[str], what: str) -> InputError:
    """Return the error for an unknown keyword, with the one to pass instead."""
    hint = _hint_at_parameter(str(name), allowed)
    more = f"; {hint}" if hint else ""
    return InputError(f"{what} got an unexpected parameter {validation.short_repr(name)}{more}")


def _hint_at_parameter(name: str, allowed: Collection[str]) -> str:
    """Return what to pass instead of an unknown keyword; empty if that is not known."""
    if name in DESIGN:
        return (
            f"it is for independent people. `audit`, `compare` and `audit_many` take {param(name)}"
        )
    if name == "controls":
        return "`audit` alone takes it"
    if f"queries.{name}" in QUERIES and "queries" in allowed:
        return f"pass `queries=ft.Queries({name}=...)`"
    other = OTHER_NAMES.get(name, "")
    if other and not other.isidentifier():
        return other
    if other in allowed:
        return f"did you mean {other!r}?"
    return validation.nearest_hint(name, allowed).removeprefix("; ")


def check_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Explain unknown and missing arguments of a function in one sentence."""
    parameters = signature(function).parameters
    allowed = tuple(parameters)
    by_position = [
        name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    caller = f"{function.__qualname__.removesuffix('.__init__')}()"

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> T:
        for name in keywords:
            if name not in allowed:
                raise unknown_setting_error(name, allowed, caller)
        if len(args) > len(by_position):
            names = [name for name in by_position if name != "self"]
            what = f"only {' and '.join(names)} by position" if names else "nothing by position"
            msg = f"{caller} takes {what}: pass the rest by name, as in model=model"
            raise InputError(msg)
        check_environment()
        return function(*args, **keywords)

    return call


def checked(name: str, value: object) -> Any:
    """Check the value of one setting and return it."""
    check = (SETTINGS | QUERIES | DOCUMENT | COMMAND_LINE)[name].check
    return value if check is None else check(name, value)


MONITOR: dict[str, Setting] = SETTINGS | {
    "X": replace(
        SETTINGS["X"],
        help="Records, one person each.",
        flag_help="A CSV, TSV or JSON-lines file with one person per line. Lines may only be added "
        "to it.",
    ),
    "delta": replace(
        SETTINGS["delta"],
        help="Largest tolerated increase in the mean loss (δ).",
        flag_help="Your limit (δ), the largest tolerated increase in the mean loss. With --loss "
        "zero-one 0.02 is 2 % of all people.",
        default=MISSING,
    ),
    "alpha": replace(
        SETTINGS["alpha"],
        help="Error probability over all time.",
        flag_help="How often a verdict or a bound may be wrong, over all time (α). 0.05 is 95 % "
        "confidence.",
    ),
    # twins must not depend on the stream, so levels have no default
    "levels": replace(
        SETTINGS["levels"],
        help="All values a sensitive column can have.",
        flag_help="All values a sensitive column can have, as in --levels.race a,b. Needed with "
        "--model. A number in quotes is text.",
    ),
    **_table(
        {
            "labels": Setting(
                "All labels that can occur, where probabilities are given.",
                section=BASICS,
                kind="literals",
            )
        }
    ),
}
"""The parameters of `Monitor`, some of which mean something else for streams."""
