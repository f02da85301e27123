"""Flags that several commands share, each documented once."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from fairtransport.audit.files import (
    chosen_similarity,
    columns_described,
    known_features,
    settings_before,
)
from fairtransport.checks import number
from fairtransport.cli.argument_types import (
    DisagreementName,
    Lists,
    LossName,
    MissingName,
    Names,
    SimilarityName,
    Switch,
    Tables,
    TwinsName,
    Whole,
    one_or_many,
    told,
)
from fairtransport.cli.configfile import settings_taken
from fairtransport.cli.endpoint_flags import FLAGS as ENDPOINT_FLAGS
from fairtransport.cli.endpoint_flags import REACHING, Reaching, is_address
from fairtransport.cli.wording import naming
from fairtransport.errors import InputError
from fairtransport.literals import literal, numbers
from fairtransport.progress import priced, silence
from fairtransport.settings import AuditSettings
from fairtransport.similarity import registry
from fairtransport.similarity.base import parameter_names
from fairtransport.similarity.twins import Twins, as_twins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.access.boxes import BlackBox
    from fairtransport.audit import AuditResult
    from fairtransport.audit.files import Columns
    from fairtransport.cli.options import (
        AnswerOptions,
        CaseOptions,
        ComparisonOptions,
        PredictionOptions,
        QuestionOptions,
        WorkOptions,
    )
    from fairtransport.similarity import Similarity
    from fairtransport.similarity.base import Parameters
    from fairtransport.space.file_source import FileSource


@Parameter(name="*", group=Group("Cases", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class Cases:
    """What the columns of a file mean."""

    label: Annotated[str | None, told("y")] = None
    sensitive: Annotated[Names, told("sensitive_features")] = None
    features: Annotated[Names, told("features")] = None
    positive: Annotated[str | None, told("pos_label")] = None
    bins: Annotated[Lists, told("bins")] = None
    levels: Annotated[Lists, told("levels")] = None
    missing: Annotated[MissingName, told("missing")] = AuditSettings.missing

    def options(self) -> CaseOptions:
        """Return them as `audit` and `Monitor` take them, but for the label."""
        bins = {name: numbers(f"--bins.{name}", cuts) for name, cuts in (self.bins or {}).items()}
        levels = {
            name: [literal(one) for one in values] for name, values in (self.levels or {}).items()
        }
        return {
            "sensitive_features": list(self.sensitive or ()),
            "features": self.features,
            "pos_label": literal(self.positive),
            "bins": bins,
            "levels": levels or None,
            "missing": self.missing,
        }


@Parameter(name="*", group=Group("Model", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class Answers:
    """Where predictions come from: exactly one of --model, --prediction and --score.

    Parameters
    ----------
    allow_pickle
        Read pickles (.pkl, .pickle, .joblib), which run whatever code their author put in.
    trust
        Types beyond scikit-learn's own that a skops file may hold, by their full names.
    """

    model: Annotated[Path | None, told("model")] = None
    allow_pickle: Switch = False
    trust: Names = None
    reaching: Reaching = REACHING
    prediction: Annotated[str | None, told("y_pred")] = None
    score: Annotated[Names, told("y_score")] = None

    def options(self) -> AnswerOptions:
        """Return them as `audit` and `Monitor` take them; the model is read."""
        return {"model": self._loaded(), **self.given()}

    def given(self) -> PredictionOptions:
        """Return the predictions that are given, as `audit` and `Monitor` take them."""
        return {
            "y_pred": self.prediction,
            "y_score": None if self.score is None else list(self.score),
        }

    def _loaded(self) -> BlackBox | None:
        """Return the model at a path or an address, None if there is none."""
        if self.model is None:
            return None
        if is_address(self.model):
            with naming(**ENDPOINT_FLAGS):
                return self.reaching.opened(self.model)
        from fairtransport.access import load

        with naming(path="--model"):
            return load(self.model, allow_pickle=self.allow_pickle, trusted=self.trust or ())


PRICE = "What a thousand questions cost, for the line that shows how far the asking is."


@Parameter(name="*", group=Group("Limits", sort_key=4.5))
@dataclass(frozen=True, kw_only=True)
class WorkLimits:
    """How long and in how much memory an audit may work."""

    time_limit: Annotated[float | None, told("time_limit")] = None
    search_rounds: Annotated[Whole | None, told("search_rounds")] = None
    memory: Annotated[str | None, told("memory")] = None

    def options(self) -> WorkOptions:
        """Return them as `audit` takes them."""
        return {
            "time_limit": self.time_limit,
            "search_rounds": self.search_rounds,
            "memory": self.memory,
        }

    def refuse_for_families(self) -> None:
        """Refuse what several audits are not asked."""
        for name, value in self.options().items():
            if value is not None:
                msg = f"`{name}` must not be given for several audits, got {value}"
                raise InputError(msg)


@Parameter(name="*", group=Group("Questions", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class Keeping:
    """How answers are kept and counted."""

    query_log: Annotated[Path | None, told("query_log")] = None
    price_per_1000: Annotated[float | None, Parameter(help=PRICE)] = None

    def counted(self) -> AbstractContextManager[None]:
        """Show inside what the asking costs."""
        if self.price_per_1000 is not None:
            number("--price-per-1000", self.price_per_1000, at_least=0)
        return priced(self.price_per_1000)


@Parameter(name="*", group=Group("Questions", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class Questions(Keeping):
    """How the model is asked.

    Parameters
    ----------
    twins_settings
        What else is to be said of made-up twins, as in --twins-settings.per-person 20 (also
        plausibility, questions, share).
    """

    twins: Annotated[TwinsName | None, told("twins")] = None
    twins_settings: Tables = None
    repeats: Annotated[Whole | None, told("repeats")] = None
    draws: Annotated[Whole, told("draws")] = AuditSettings.draws
    ask_until_sure: Annotated[Switch, told("ask_until_sure")] = AuditSettings.ask_until_sure
    budget_of_questions: Annotated[Whole | None, told("budget_of_questions")] = None
    proxies: Annotated[Switch, told("proxies")] = AuditSettings.proxies

    def options(self) -> QuestionOptions:
        """Return them as `audit` takes them."""
        return {
            "query_log": self.query_log,
            "repeats": self.repeats,
            "draws": self.draws,
            "ask_until_sure": self.ask_until_sure,
            "budget_of_questions": self.budget_of_questions,
            "proxies": self.proxies,
            "twins": self._described(),
        }

    def _described(self) -> str | dict[str, object] | None:
        """Return which twins are asked about, as `audit` takes it.

        Raises
        ------
        InputError
            Naming the flag of the setting that is wrong.
        """
        if self.twins_settings is None:
            return self.twins
        given = one_or_many(self.twins_settings)
        said = {name.replace("-", "_"): value for name, value in given.items()}
        if self.twins is not None:
            said["kind"] = self.twins
        flags = {
            one.name: f"--twins-settings.{one.name.replace('_', '-')}" for one in fields(Twins)
        }
        with naming(**flags):
            as_twins(said)
        return said

    def refuse_for_families(self) -> None:
        """Refuse what several audits are not asked; a query log and repeats they may have.

        Raises
        ------
        InputError
            Naming the first.
        """
        for name, value in self.options().items():
            if name not in {"query_log", "repeats"} and value != getattr(Questions, name):
                msg = f"`{name}` must not be given for several audits, got {value}"
                raise InputError(msg)


@Parameter(name="*", group=Group("Comparison", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class Comparing:
    """Who is compared with whom, and by which loss.

    Parameters
    ----------
    similarity_settings
        Settings of the similarity, as in --similarity-settings.fit history.csv; in a TOML file
        a table of its own.
    """

    similarity: Annotated[SimilarityName, told("similarity")] = str(AuditSettings.similarity)
    similarity_settings: Tables = None
    loss: Annotated[LossName, told("loss")] = str(AuditSettings.loss)
    loss_range: Annotated[Names, told("loss_range")] = None
    budget: Annotated[float, told("budget")] = AuditSettings.budget
    disagreement: Annotated[DisagreementName, told("disagreement")] = AuditSettings.disagreement

    def options(self, columns: Columns) -> ComparisonOptions:
        """Return them as `Monitor` takes them; ``columns`` as in `chosen`.

        Parameters
        ----------
        columns
            Finds out which columns a similarity is about.
        """
        return {
            "similarity": self.chosen(columns),
            "loss": self.loss,
            "loss_range": self.limits,
            "budget": self.budget,
            "disagreement": self.disagreement,
        }

    @property
    def limits(self) -> list[float] | None:
        """The range of the loss."""
        if self.loss_range is None:
            return None
        found = numbers("--loss-range", self.loss_range)
        if len(found) != 2:  # noqa: PLR2004
            got = ",".join(self.loss_range)
            msg = f"`--loss-range` must be two numbers, as in --loss-range 0,1, got {got!r}"
            raise InputError(msg)
        return found

    @property
    def settings_flags(self) -> dict[str, str]:
        """What the line calls the similarity's parameters, as far as no flag has that name."""
        from fairtransport.report.screen.flagwords import FLAGS

        flags = _setting_flags(registry.SIMILARITIES[self.similarity])
        return {name: flag for name, flag in flags.items() if name not in FLAGS}

    def chosen(self, columns: Columns) -> str | Similarity:
        """Return the similarity, by its name or made from its settings.

        Parameters
        ----------
        columns
            What a similarity that is fitted has to know of the audit, where it is not told.
        """
        given = one_or_many(self.similarity_settings or {})
        settings = {name.replace("-", "_"): value for name, value in given.items()}
        with naming(**_setting_flags(registry.SIMILARITIES[self.similarity])):
            return chosen_similarity(self.similarity, settings, columns)


@Parameter(name="*", group=Group("Running", sort_key=5))
@dataclass(frozen=True, kw_only=True)
class Running:
    """How a command runs.

    Parameters
    ----------
    quiet
        Print nothing but errors.
    config
        A TOML file with a table for each command. Flags override it. Without this flag a
        fairtransport.toml that is there may say what the cases are, and nothing else.
    debug
        Show where an error comes from.
    """

    quiet: Switch = False
    config: Path | None = None
    debug: Switch = False

    def hushed(
        self, file: str | None = None, taken: tuple[str, ...] = ()
    ) -> AbstractContextManager[None]:
        """Say what a settings file decides; if nothing is to be printed, show no bars either.

        Parameters
        ----------
        file, taken
            The settings file and what it sets; default: those of this command.
        """
        if self.quiet:
            return silence()
        if file is None:
            file, taken = settings_taken()
        if taken:
            from fairtransport.report.screen import print_note

            # standard output may belong to a document
            print_note(f"{file!r} sets {', '.join(taken)}.", error=True)
        return nullcontext()


def _setting_flags(kind: type[Parameters]) -> dict[str, str]:
    """Return the flag of each setting of a similarity, and of what it is fitted on.

    Parameters
    ----------
    kind
        The similarity's class.
    """
    names = (*parameter_names(kind), "fit", "group", "comparable", "path", "points")
    flags = {name: f"--similarity-settings.{name.replace('_', '-')}" for name in names}
    return flags | {"X": flags["fit"]}


def asked_before(
    data: Path | None, cases: Cases, answers: Answers, comparison: Comparing, **more: Any
) -> AuditSettings:
    """Return what is asked, or refuse what needs no model to be seen, as reading one takes long.

    The similarity, which may have to know the model's columns, is still open.

    Parameters
    ----------
    data
        The file of cases, whose ending and existence are checked; None where that was done.
    cases, answers, comparison
        The flags.
    more
        Further settings of an audit.

    Raises
    ------
    InputError
        In the words of the flags.
    """
    answers.reaching.check(answers.model)
    return settings_before(
        data,
        cases.label,
        has_model=answers.model is not None,
        y_pred=answers.prediction,
        y_score=answers.score,
        **cases.options(),
        loss=comparison.loss,
        loss_range=comparison.limits,
        budget=comparison.budget,
        disagreement=comparison.disagreement,
        **more,
    )


def audit_file(
    data: Path, settings: AuditSettings, cases: Cases, answers: Answers, comparison: Comparing,
    train: Path | None = None,
) -> AuditResult:  # fmt: skip
    """Read the model, find out who is comparable, and audit.

    Parameters
    ----------
    data
        The file of cases.
    settings
        From `asked_before`.
    cases, answers, comparison
        The flags.
    train
        The model's training data, if a note on it is wanted.
    """
    from fairtransport.audit import audit_with
    from fairtransport.space.file_source import FileSource

    asked = answers.options()
    source = FileSource(data)  # one for both, as it finds out once what a file looks like
    columns = columns_of(source, cases, answers, [asked["model"]], settings.counts)
    complete = replace(settings, similarity=comparison.chosen(columns))
    return audit_with(complete, source, cases.label, **asked, train=train)


def columns_of(
    data: Path | FileSource, cases: Cases, answers: Answers, models: Iterable[object],
    counts: str | None = None,
) -> Columns:  # fmt: skip
    """Return how to find the columns that a similarity is about, as the audit will choose them.

    Parameters
    ----------
    data, cases, answers
        The file and the flags.
    models
        Asked for their columns where no flag names them.
    counts
        A column that describes nobody.
    """
    others = (cases.label, counts, answers.prediction, *(answers.score or ()))
    return lambda: columns_described(
        data, cases.sensitive or (), cases.features, known_features(models), others
    )
