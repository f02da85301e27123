"""What an audit is asked: the default, the sentence and the rule of every setting, once.

The signatures of `audit`, `Monitor`, `DeltaFairSearch` and `faith_scorer` repeat the defaults and
their docstrings the sentences, for people who press Tab; the flags of the command line are made
from here. A test compares all of them with this table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from fairtransport.access.query_log import QueryLog, as_query_log
from fairtransport.checks import choice, generator, number, shown, threshold, whole
from fairtransport.errors import InputError
from fairtransport.inference.methods import METHODS, check_level
from fairtransport.inference.paper.resampling import MOST_RESAMPLES
from fairtransport.losses import LOSSES, Loss, as_loss
from fairtransport.memory import memory_size
from fairtransport.similarity import SIMILARITIES, Similarity, as_similarity
from fairtransport.similarity.twins import KINDS, Twins, as_twins

if TYPE_CHECKING:
    from pathlib import Path

    from fairtransport.space.reader import TableLike

LossLike: TypeAlias = str | Loss | Callable[..., object]
"""A loss as a user gives it: its name, a `Loss`, or a function of labels and predictions."""
SimilarityLike: TypeAlias = str | Similarity
TwinsLike: TypeAlias = str | Twins | Mapping[str, object] | None
"""Which twins are asked about: the kind, or all that is to be said of them."""
Rng: TypeAlias = int | np.random.Generator | None

Check: TypeAlias = Callable[[str, Any], Any]
"""Takes a setting's name and value and returns what is kept of it, or says which rule it breaks."""

MISSING_VALUES = ("error", "level")
JUDGED = ("statistic", "attributable")
MOST_MOVES = 100_000
"""A document with more moves than these would be a table."""
DISAGREEMENTS = ("rates", "bias")
MOST_DRAWS = 10_000
"""The most answers to a question."""


@dataclass(frozen=True)
class Setting:
    """One thing that an audit is asked.

    Attributes
    ----------
    sentence
        What it is: how its docstrings begin, and what its flag's help says.
    default
        What holds where nothing is said; ``dataclasses.MISSING`` where it has to be said.
    check
        Its rule, as far as it needs no data.
    choices
        The names it may have, most often those of a registry.
    flag
        What the command line and its TOML file call it, if not by its own name.
    line
        The flag's help, where a line is written otherwise than Python.
    recorded
        Where the JSON document has it, as in "provenance.seed".
    """

    sentence: str
    default: object = None
    check: Check | None = None
    choices: Collection[str] | None = None
    flag: str | None = None
    line: str | None = None
    recorded: str | None = None

    @property
    def help(self) -> str:
        """What the flag's help says."""
        return self.sentence if self.line is None else self.line

    def called(self, sentence: str, line: str | None = None) -> Setting:
        """Return the same setting, with the same rule, where it means something else."""
        return replace(self, sentence=sentence, line=line)


def _asked(sentence: str, default: object = None, **more: Any) -> Any:
    """Return a field of `AuditSettings`."""
    setting = Setting(sentence, default, **more)
    return field(default=default, metadata={"setting": setting})


def _valid(make: Callable[[object], object]) -> Check:
    """Return the check that something can be made of a value, which itself is kept.

    A name can be saved, sent to other processes and shown; what it stands for not always.
    """

    def check(_: str, value: object) -> object:
        make(value)
        return value

    return check


def _some_columns(name: str, value: object) -> object:
    if isinstance(value, list | tuple) and not value:
        msg = f"`{name}` must name at least one column, got none"
        raise InputError(msg)
    return value


def _seed(name: str, value: object) -> int:
    """Return a seed that can be recorded: the number given, or one drawn."""
    drawn = generator(name, value)
    return int(value) if isinstance(value, int | np.integer) else int(drawn.integers(2**32))


def _log(name: str, value: object) -> QueryLog | None:
    return None if value is None else as_query_log(name, value)


def _if_given(check: Check, name: str, value: object) -> object:
    return None if value is None else check(name, value)


def _switch(name: str, value: object) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    msg = f"`{name}` must be True or False, got {shown(value)}"
    raise InputError(msg)


def _mapping(name: str, value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        msg = f"`{name}` must map sensitive features to groups, got {shown(value)}"
        raise InputError(msg)
    return value


def _text(name: str, value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        msg = f"`{name}` must be text, got {shown(value)}"
        raise InputError(msg)
    return value


def _date(name: str, value: object) -> str | None:
    """Return a day as text: artefacts have no clock of their own."""
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        msg = f"`{name}` must be a date such as 2026-03-31, got {shown(value)}"
        raise InputError(msg) from None


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditSettings:
    """Everything that an audit is asked, but for the people and the black box.

    There is none that breaks a rule: what can be found wrong without data is found when it is
    made, before a model is read, fitted or asked. Attributes are as they were given, but for
    numbers and the seed; what each means is in `SETTINGS`.
    """

    sensitive_features: object = _asked(
        "The sensitive columns.",
        MISSING,
        check=_some_columns,
        flag="sensitive",
        line="The sensitive columns, separated by commas.",
        recorded="provenance.sensitive",
    )
    features: Sequence[str] | None = _asked(
        "The columns that describe a case; default: those the model was fitted on, or all but "
        "label, counts and predictions.",
        recorded="provenance.features",
    )
    counts: str | None = _asked("A column of whole numbers: how many cases a row stands for.")
    pos_label: object = _asked("The positive label.", flag="positive")
    bins: Mapping[str, Sequence[float]] | None = _asked(
        'Edges for a numeric column, as in ``{"age": [25, 45]}``.',
        line="Edges for a numeric column, as in --bins.age 25,45.",
    )
    missing: str = _asked(
        '"error", or "level": a missing value is a level of its own.',
        "error",
        check=partial(choice, allowed=MISSING_VALUES),
        choices=MISSING_VALUES,
    )
    levels: Mapping[str, Sequence[object]] | None = _asked(
        "All values a sensitive column can have; default: those that occur.",
        line="All values a sensitive column can have, as in --levels.race a,b; default: those "
        "that occur. Quotes keep a number text.",
    )
    targets: TableLike | None = _asked(
        "People with whom the cases are compared, instead of with each other; chosen without the "
        "cases, or nothing is certified.",
        line="A file of people with whom the cases are compared, instead of with each other; "
        "chosen without the cases, or nothing is certified.",
    )
    similarity: SimilarityLike = _asked(
        "Who is comparable.",
        "ignore-sensitive",
        check=_valid(as_similarity),
        choices=SIMILARITIES,
        recorded="provenance.similarity",
    )
    twins: TwinsLike = _asked(
        "Whom people are compared with under a learned or stated distance: people of the audit "
        'data ("observed"), twins that are made up ("generate"), or made up where the model was '
        'found to do worse ("search"); default: made up where that is possible.',
        check=_valid(as_twins),
        choices=KINDS,
        line="Whom people are compared with under a learned or stated distance: observed people, "
        "twins that are made up (generate), or made up where the model was found to do worse "
        "(search); default: made up where that is possible.",
    )
    loss: LossLike = _asked(
        "What an error costs.",
        "zero-one",
        check=_valid(as_loss),
        choices=LOSSES,
        recorded="provenance.loss",
    )
    loss_range: Sequence[float] | None = _asked(
        "Lower and upper limit of a loss that has none of its own.",
        flag="loss-range",
        recorded="provenance.loss_range",
    )
    budget: float = _asked(
        "How far people may be moved on average, as a squared distance.",
        0.0,
        check=partial(number, at_least=0),
        recorded="budget",
    )
    delta: float | None = _asked(
        "How much worse the model may do; there is a verdict only with it.",
        line="How much worse the model may do; there is a verdict only with it. Of 1000 people, "
        "0.02 are 20 who would be misclassified as a similar person.",
        recorded="delta",
    )
    alpha: float = _asked(
        "The level of bounds and tests.",
        0.05,
        # from one half on, a lower bound could lie above an upper one
        check=partial(number, above=0, below=0.5),
        recorded="alpha",
    )
    judge: str = _asked(
        'What the verdict that counts is on: "statistic", or "attributable", the part of it that '
        "needs sensitive features to change.",
        "statistic",
        check=partial(choice, allowed=JUDGED),
        choices=JUDGED,
        line="What exit codes follow: the verdict on the statistic, or on the attributable part of "
        "it, which needs sensitive features to change.",
        recorded="judge",
    )
    disagreement: str = _asked(
        'What different answers inside one profile are: "rates", something that the system knows '
        'and the audit does not, so that groups\' mean losses are compared, or "bias".',
        "rates",
        check=partial(choice, allowed=DISAGREEMENTS),
        choices=DISAGREEMENTS,
        line="What different answers inside one profile are, with predictions only: rates, "
        "something that the system knows and the audit does not, so that groups' mean losses are "
        "compared; or bias.",
        recorded="provenance.disagreement",
    )
    method: str = _asked(
        "How bounds are made; those of finite-sample hold at every sample size.",
        "finite-sample",
        check=partial(choice, allowed=METHODS),
        choices=METHODS,
        recorded="method",
    )
    n_resamples: int = _asked(
        "The number of draws of the resampling methods.",
        2000,
        check=partial(whole, at_most=MOST_RESAMPLES),
        flag="resamples",
        recorded="provenance.resamples",
    )
    rng: Rng = _asked(
        "The seed of everything random; default: drawn and recorded.",
        check=_seed,
        flag="seed",
        line="The seed of everything random; default: drawn and printed.",
        recorded="provenance.seed",
    )
    query_log: str | Path | QueryLog | None = _asked(
        "A file (.sqlite) that keeps every answer of the model as it arrives, so that an audit "
        "that was stopped goes on and asks nothing twice.",
        check=_log,
        flag="query-log",
    )
    repeats: int | None = _asked(
        "How many questions are asked a second time, to see whether the answers are the same; "
        "default: 20 of a model behind an endpoint or a prompt, else none.",
        check=partial(_if_given, partial(whole, at_least=0)),
    )
    draws: int = _asked(
        "How many answers to each question are asked for, where the model answers at random.",
        1,
        check=partial(whole, at_most=MOST_DRAWS),
    )
    ask_until_sure: bool = _asked(
        "Whether people are asked about in random order until there is a verdict.",
        default=False,
        check=_switch,
        flag="ask-until-sure",
        line="Ask about people in random order until there is a verdict.",
    )
    budget_of_questions: int | None = _asked(
        "The most questions that are asked until there is a verdict.",
        check=partial(_if_given, whole),
        flag="budget-of-questions",
    )
    proxies: bool = _asked(
        "Whether it is also looked at which columns tell the sensitive features, and what goes "
        "through each.",
        default=False,
        check=_switch,
        line="Also look at which columns tell the sensitive features, and what goes through each.",
    )
    favourable: object = _asked("The favourable label, for the group metrics.")
    privileged: Mapping[str, object] | None = _asked(
        'The privileged group, as in ``{"race": "Caucasian"}``, for the group metrics.',
        check=_mapping,
        line="The privileged group, as in --privileged.race Caucasian, for the group metrics.",
    )
    time_limit: float | None = _asked(
        "Seconds that the search for the statistic may take; it then has a lower and an upper "
        "value. Default: none, and it is exact.",
        check=partial(_if_given, partial(number, above=0)),
        flag="time-limit",
    )
    search_rounds: int | None = _asked(
        "Rounds of that search instead of seconds, as an earlier result tells them, to repeat it "
        "exactly.",
        check=partial(_if_given, whole),
        flag="search-rounds",
    )
    memory: int | str | None = _asked(
        'The memory that an audit may take, as in "2GB"; default: as much as it needs.',
        check=partial(_if_given, memory_size),
        line="The memory that an audit may take, as in 2GB; default: as much as it needs.",
    )
    moves_limit: int = _asked(
        "How many moves a document lists, those that add most; a result's table has all.",
        500,
        check=partial(whole, at_most=MOST_MOVES),
        flag="moves-limit",
        line="How many moves report and JSON list, those that add most; --moves writes all.",
    )
    title: str | None = _asked("The report's heading.", check=_text, recorded="provenance.title")
    date: Any = _asked(
        "The date that the report bears, as in 2026-03-31; none is put in otherwise.",
        check=_date,
        recorded="provenance.date",
    )
    data_name: str | None = _asked(
        "What the audit data are called in the report.",
        check=_text,
        flag="data-name",
        recorded="provenance.data_name",
    )
    auditor: str | None = _asked(
        "Who audits, for the report.", check=_text, recorded="provenance.auditor"
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            check: Check | None = one.metadata["setting"].check
            if check is not None:
                object.__setattr__(self, one.name, check(one.name, getattr(self, one.name)))
        chosen = self.chosen_loss
        if self.delta is not None:
            object.__setattr__(self, "delta", threshold(self.delta, chosen.range))
        check_level(self.method, self.alpha, self.n_resamples)
        self._check_asking()
        self._check_limits()
        if bool(self.privileged) != (self.favourable is not None):
            lacking = "privileged" if not self.privileged else "favourable"
            msg = f"`favourable` and `privileged` must be given together, got no `{lacking}`"
            raise InputError(msg)

    def _check_asking(self) -> None:
        """Refuse ways of asking that contradict each other."""
        if self.ask_until_sure and self.delta is None:
            msg = "`delta` must be given with `ask_until_sure`: there is no verdict without it"
            raise InputError(msg)
        if self.ask_until_sure and self.draws > 1:
            msg = "`draws` and `ask_until_sure` must not be given together, got both"
            raise InputError(msg)
        if self.budget_of_questions is not None and not self.ask_until_sure:
            msg = "`budget_of_questions` must be given with `ask_until_sure`, got it alone"
            raise InputError(msg)

    def _check_limits(self) -> None:
        """Refuse limits that contradict each other, or what bounds cannot be made with."""
        limits = [name for name in ("time_limit", "search_rounds") if getattr(self, name)]
        if len(limits) > 1:
            msg = "`time_limit` and `search_rounds` must not be given together, got both"
            raise InputError(msg)
        for limit in limits:
            if self.method != "finite-sample":
                msg = (
                    f"`method` must be 'finite-sample' with `{limit}`: the others need the exact "
                    f"statistic, got {self.method!r}"
                )
                raise InputError(msg)
            if self.draws > 1 or self.ask_until_sure:
                other = "draws" if self.draws > 1 else "ask_until_sure"
                msg = f"`{other}` and `{limit}` must not be given together, got both"
                raise InputError(msg)

    @property
    def chosen_loss(self) -> Loss:
        """The loss that was named or given, with its range as far as it is known."""
        return as_loss(self.loss, self.loss_range)

    @property
    def chosen_similarity(self) -> Similarity:
        """The similarity that was named or given."""
        return as_similarity(self.similarity)

    @property
    def chosen_twins(self) -> Twins | None:
        """The twins that were named or described; None where nothing was said of them."""
        return as_twins(self.twins)

    @property
    def memory_limit(self) -> int | None:
        """The bytes that an audit may take; None: as many as it needs."""
        return cast("int | None", self.memory)  # its check leaves nothing else

    @property
    def seed(self) -> int:
        """The seed of everything random, to be recorded."""
        return cast("int", self.rng)  # its check leaves nothing else


PEOPLE: dict[str, Setting] = {
    "X": Setting(
        "The audit data, one case a row.",
        MISSING,
        flag="data",
        line="A CSV, Parquet or JSON-lines file, one case a row.",
    ),
    "y": Setting(
        "The true labels.", flag="label", line="The column of true labels.",
        recorded="provenance.label",
    ),
    "model": Setting(
        "The model, which is asked about every person.",
        line="A model that is asked about every person: a .skops or .onnx file, an MLflow folder, "
        "a pickle with --allow-pickle, or the address of an endpoint.",
        recorded="provenance.model",
    ),
    "y_pred": Setting(
        "Predicted labels or numbers.",
        flag="prediction",
        line="The column of predicted labels or numbers.",
    ),
    "y_score": Setting(
        "The positive label's scores, or one column a class.",
        flag="score",
        line="The column of the positive label's scores, or one column a class.",
    ),
    "train": Setting(
        "The model's training data: a note then says how many cases could be in it.",
        line="A file with the model's training data: a note then says how many cases could be in "
        "it.",
    ),
}  # fmt: skip
"""The people and the black box."""

SETTINGS: dict[str, Setting] = PEOPLE | {
    one.name: one.metadata["setting"] for one in fields(AuditSettings)
}
"""Everything that an audit is asked, by the name of its parameter."""


def checked(name: str, value: object) -> Any:
    """Return the value of one setting if it keeps its rule."""
    check = SETTINGS[name].check
    return value if check is None else check(name, value)


MONITOR: dict[str, Setting] = SETTINGS | {
    "X": SETTINGS["X"].called(
        "Records, one case each.", "A CSV, TSV or JSON-lines file that only grows, one case a line."
    ),
    "delta": replace(
        SETTINGS["delta"], sentence="How much worse the model may do.", default=MISSING, line=None
    ),
    "alpha": SETTINGS["alpha"].called("The error probability over all time."),
    # twins must not depend on the stream, so that there is no default
    "levels": SETTINGS["levels"].called(
        "All values a sensitive column can have.", SETTINGS["levels"].line
    ),
    "labels": Setting("All labels that can occur, where scores are given."),
}
"""What a monitor is asked: of a stream some settings mean something else."""
