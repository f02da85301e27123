"""Flags that several commands share, each documented once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cyclopts import Group, Parameter

from fairtransport.cli.configfile import settings_taken
from fairtransport.cli.values import Lists, Names, Switch, literal, numbers, one_or_many
from fairtransport.errors import InputError
from fairtransport.progress import silence

Columns: TypeAlias = Callable[[], dict[str, Any]]
"""Finds out which columns of an audit are sensitive and which others describe a case."""
LossName: TypeAlias = Literal["zero-one", "log", "brier", "absolute", "squared", "outcome"]
SimilarityName: TypeAlias = Literal[
    "ignore-sensitive", "mixed-tabular", "sensitive-subspace", "comparable-pairs",
    "comparable-groups", "precomputed",
]  # fmt: skip
MethodName: TypeAlias = Literal[
    "finite-sample", "m-out-of-n", "numerical", "subsampling", "limit-law", "plug-in", "efron"
]


@Parameter(name="*", group=Group("Cases", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class Cases:
    """What the columns of a file mean.

    Parameters
    ----------
    label
        The column of true labels.
    sensitive
        The sensitive columns, separated by commas.
    features
        The columns that describe a case; default: those the model was fitted on, or all but
        label, counts and predictions.
    positive
        The positive label.
    bins
        Edges for a numeric column, as in --bins.age 25,45.
    levels
        All values a sensitive column can have, as in --levels.race a,b; default: those that
        occur. Quotes keep a number text.
    missing
        "error", or "level": a missing value is a level of its own.
    """

    label: str | None = None
    sensitive: Names = None
    features: Names = None
    positive: str | None = None
    bins: Lists = None
    levels: Lists = None
    missing: Literal["error", "level"] = "error"

    def options(self) -> dict[str, Any]:
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
    model
        A model file that is asked about every person: .skops, or a pickle with --allow-pickle.
    allow_pickle
        Read pickles (.pkl, .pickle, .joblib), which run whatever code their author put in.
    trust
        Types beyond scikit-learn's own that a skops file may hold, by their full names.
    prediction
        The column of predicted labels or numbers.
    score
        The column of the positive label's scores, or one column a class.
    """

    model: Path | None = None
    allow_pickle: Switch = False
    trust: Names = None
    prediction: str | None = None
    score: Names = None

    def options(self) -> dict[str, Any]:
        """Return them as `audit` and `Monitor` take them; the model is read."""
        return {
            "model": self._loaded(),
            "y_pred": self.prediction,
            "y_score": None if self.score is None else list(self.score),
        }

    def _loaded(self) -> Any:
        if self.model is None:
            return None
        from fairtransport.access import load
        from fairtransport.cli.naming import naming

        # a path object folds the two slashes of an address into one
        path = str(self.model).replace(":/", "://", 1) if _is_address(self.model) else self.model
        with naming(path="--model"):
            return load(path, allow_pickle=self.allow_pickle, trusted=self.trust or ())


@Parameter(name="*", group=Group("Comparison", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Who is compared with whom, and by which loss.

    Parameters
    ----------
    similarity
        Who is comparable.
    similarity_settings
        Settings of the similarity, as in --similarity-settings.fit history.csv; in a TOML file
        a table of its own.
    loss
        What an error costs.
    loss_range
        Lower and upper limit of a loss that has none of its own.
    budget
        How far people may be moved on average, as a squared distance.
    """

    similarity: SimilarityName = "ignore-sensitive"
    similarity_settings: Lists = None
    loss: LossName = "zero-one"
    loss_range: Names = None
    budget: float = 0.0

    def options(self, columns: Columns) -> dict[str, Any]:
        """Return them as `audit` and `Monitor` take them.

        Parameters
        ----------
        columns
            What a similarity that is fitted has to know of the audit, where it is not told.
        """
        return {
            "similarity": self._chosen(columns),
            "loss": self.loss,
            "loss_range": self.limits,
            "budget": self.budget,
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
        from fairtransport.similarity import registry

        flags = _setting_flags(registry.SIMILARITIES[self.similarity])
        return {name: flag for name, flag in flags.items() if name not in FLAGS}

    def _chosen(self, columns: Columns) -> Any:
        from fairtransport.cli.naming import naming
        from fairtransport.similarity import registry

        given = one_or_many(self.similarity_settings or {})
        settings = {name.replace("-", "_"): value for name, value in given.items()}
        with naming(**_setting_flags(registry.SIMILARITIES[self.similarity])):
            if not settings:
                registry.as_similarity(self.similarity)  # fails where settings are needed
                return self.similarity
            defaults = columns() if "fit" in settings else {}
            return registry.similarity_from_settings(self.similarity, settings, defaults=defaults)


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

    def hushed(self) -> AbstractContextManager[None]:
        """Say what a settings file decides; if nothing is to be printed, show no bars either."""
        if self.quiet:
            return silence()
        file, taken = settings_taken()
        if taken:
            from fairtransport.report.screen import print_note

            # standard output may belong to a document
            print_note(f"{file!r} sets {', '.join(taken)}.", error=True)
        return nullcontext()


def _setting_flags(kind: Any) -> dict[str, str]:
    """Return the flag of each setting of a similarity, and of what it is fitted on."""
    from fairtransport.similarity.base import parameter_names

    names = (*parameter_names(kind), "fit", "group", "comparable", "path", "points")
    flags = {name: f"--similarity-settings.{name.replace('_', '-')}" for name in names}
    return flags | {"X": flags["fit"]}


def _is_address(path: Path) -> bool:
    return str(path).lower().startswith(("http:/", "https:/"))
