"""Proxies: which columns tell a sensitive feature, and what of the statistic goes through each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.boxes import choose_access
from fairtransport.access.oracle import Oracle
from fairtransport.checks import generator
from fairtransport.errors import InputError
from fairtransport.inference.finite.clopper_pearson import share_at_least, share_at_most
from fairtransport.similarity.base import is_numeric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairtransport.audit.core import Core
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.space import SampleSpace

MOST_PEOPLE = 4000
"""More people tell little more of how well a feature is told, and cost time."""
MOST_MOVES = 1000
"""Of so many moves, those that add most, it is looked at what they go through."""
MOST_LEVELS = 20
"""A feature with more values is no group that could be told."""


@dataclass(frozen=True)
class Column:
    """What one column tells, and what goes through it.

    Attributes
    ----------
    name
        The column.
    alone
        The balanced accuracy of a predictor that sees this column only.
    without
        That of one that sees all others.
    moved_alone
        What swaps add to the mean loss if only this column changes; None without a model.
    moved_without
        What they add if all others change and this one stays; None without a model.
    """

    name: str
    alone: float
    without: float
    moved_alone: float | None = None
    moved_without: float | None = None


@dataclass(frozen=True)
class Proxies:
    """How well a sensitive feature is told by the columns that a model receives.

    Attributes
    ----------
    feature
        The sensitive feature.
    accuracy
        The balanced accuracy of a predictor that was fitted on half of the people, on the other
        half: the mean over the feature's levels of the share that is told rightly.
    lower, upper
        An interval for it, valid at every sample size: for this predictor. Others may do better.
    guessing
        The balanced accuracy of guessing.
    alpha
        The interval's level is 1 − this.
    people
        How many people were looked at, both halves together.
    statistic
        What the swaps that were looked at add to the mean loss; None without a model.
    columns
        The columns, those that tell most first.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1, 1, 0, 0] * 100})
    >>> people["height"] = np.where(people["sex"] == "f", 165, 178) + np.arange(400) % 7
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["height"] > 175).astype(int),
    ...                   features=["height"], sensitive_features="sex", rng=0)
    >>> (told,) = result.proxies()
    >>> told.guessing, told.lower > 0.9, told.columns[0].name
    (0.5, True, 'height')
    """

    feature: str
    accuracy: float
    lower: float
    upper: float
    guessing: float
    alpha: float
    people: int
    statistic: float | None
    columns: tuple[Column, ...]

    def __str__(self) -> str:
        head = (
            f"{self.feature} is told by what the model receives with a balanced accuracy of "
            f"{self.accuracy:.2f} ({self.lower:.2f} to {self.upper:.2f} at level "
            f"{100 * (1 - self.alpha):g} %; guessing: {self.guessing:.2f}); another predictor may "
            "do better."
        )
        told = [
            f"  {one.name}: {one.alone:.2f} alone, {one.without:.2f} without it{_added(one)}"
            for one in self.columns
        ]
        if self.statistic is None:
            return "\n".join([head, *told])
        through = f"Swaps add {self.statistic:.4f} to the mean loss."
        return "\n".join([head, through, *told])


def _added(column: Column) -> str:
    if column.moved_alone is None or column.moved_without is None:
        return ""
    return (
        f"; swaps add {column.moved_alone:.4f} if it alone changes, "
        f"{column.moved_without:.4f} if it alone stays"
    )


def find_proxies(core: Core, model: object, rng: object) -> tuple[Proxies, ...]:
    """Say of each sensitive feature what tells it; see `AuditResult.proxies`."""
    space = core.space
    source = generator("rng", core.seed if rng is None else rng)
    names = [name for name in space.features if name not in space.sensitive]
    if not names:
        msg = "`proxies` needs an audit with columns that are not sensitive, got none"
        raise InputError(msg)
    parts = {} if model is None else dict(_parts(core, model, names))
    total = None if model is None else _total(core)
    first, second = _halves(space, source)
    found = []
    for feature in space.sensitive:
        column = space.columns[feature]
        if len(column.levels) > MOST_LEVELS:
            msg = (
                f"`proxies` needs sensitive features of at most {MOST_LEVELS} values, got "
                f"{len(column.levels)} of {feature}; `bins` makes fewer of them"
            )
            raise InputError(msg)
        told = _Telling(space, feature, first, second)
        accuracy, lower, upper = told.interval(names, core.alpha)
        columns = [
            Column(name, told.accuracy([name]), told.accuracy(_others(names, name)),
                   *parts.get(name, (None, None)))
            for name in names
        ]  # fmt: skip
        columns.sort(key=lambda one: (-one.alone, one.without))
        found.append(
            Proxies(feature, accuracy, lower, upper, 1 / len(told.levels), core.alpha,
                    len(first) + len(second), total, tuple(columns))
        )  # fmt: skip
    return tuple(found)


def _others(names: Sequence[str], name: str) -> list[str]:
    return [one for one in names if one != name]


def _halves(space: SampleSpace, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the points of two halves of the people, or of some of them, drawn at random."""
    people = np.repeat(np.arange(space.size), space.counts)
    chosen = rng.permutation(people)[:MOST_PEOPLE]
    half = len(chosen) // 2
    return chosen[:half], chosen[half:]


class _Telling:
    """Predicts a sensitive feature: learns from one half of the people, is tried on the other."""

    def __init__(self, space: SampleSpace, feature: str, first: IntArray, second: IntArray) -> None:
        codes = space.columns[feature].codes
        self.space, self.first, self.second = space, first, second
        self.truth, self.tried = codes[first], codes[second]
        # those of the first half alone: the second must have no part in what is asked of it
        self.levels = np.unique(self.truth)

    def interval(self, names: Sequence[str], alpha: float) -> tuple[float, float, float]:
        """Return a balanced accuracy and its interval, from exact ones of each level's share."""
        right, of = self._counts(names)
        return _balanced(right, of), *balanced_interval(right, of, alpha)

    def accuracy(self, names: Sequence[str]) -> float:
        """Return the balanced accuracy of a predictor that sees some columns."""
        return _balanced(*self._counts(names)) if names else 1 / len(self.levels)

    def _counts(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return how many people of each level were told rightly, and how many there are."""
        said = self._predictor(names)(self.second)
        pairs = [(said[self.tried == level] == level, level) for level in self.levels]
        return [int(right.sum()) for right, _ in pairs], [len(right) for right, _ in pairs]

    def _predictor(self, names: Sequence[str]) -> Callable[[IntArray], IntArray]:
        if len(self.levels) == 1:
            return lambda rows: np.full(len(rows), self.levels[0])
        from sklearn.ensemble import RandomForestClassifier

        used = {name: np.unique(self.space.columns[name].codes[self.first]) for name in names}
        model = RandomForestClassifier(
            100, min_samples_leaf=5, class_weight="balanced", random_state=0
        )
        model.fit(_numbers(self.space, used, self.first), self.truth)
        return lambda rows: np.asarray(model.predict(_numbers(self.space, used, rows)))


def balanced_interval(right: Sequence[int], of: Sequence[int], alpha: float) -> tuple[float, float]:
    """Return an interval for the mean of several shares, from exact ones that hold together."""
    level, pairs = alpha / (2 * len(of)), list(zip(right, of, strict=True))
    lower = np.mean([share_at_least(*one, level) for one in pairs])
    upper = np.mean([share_at_most(*one, level) for one in pairs])
    return float(lower), float(upper)


def _balanced(right: Sequence[int], of: Sequence[int]) -> float:
    """Return the mean share; nobody there to be told counts as half of them."""
    shares = [a / b if b else 0.5 for a, b in zip(right, of, strict=True)]
    return float(np.mean(shares))


def _numbers(space: SampleSpace, used: dict[str, IntArray], rows: IntArray) -> FloatArray:
    """Return columns as numbers: as they are, or one for each level that was learned from."""
    columns: list[FloatArray] = []
    for name, levels in used.items():
        column = space.columns[name].take(rows)
        if is_numeric(column.levels):
            columns.append(column.values().astype(np.float64)[:, np.newaxis])
        else:
            columns.append((column.codes[:, np.newaxis] == levels).astype(np.float64))
    return np.column_stack(columns)


def _total(core: Core) -> float:
    moved, most = core.moved, slice(MOST_MOVES)
    return float(moved.people[most] @ moved.gains[most] / core.n)


def _parts(
    core: Core, model: object, names: Sequence[str]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield what the largest moves add with one column changed alone, and with all but it."""
    moved, most = core.moved, slice(MOST_MOVES)
    sources, targets, people = moved.sources[most], moved.targets[most], moved.people[most]
    oracle = _oracle(core, model, targets)
    before = core.problem.losses[sources]
    for name in names:
        added = [
            float(people @ (_losses(core, oracle, *pair, name) - before) / core.n)
            for pair in ((sources, targets), (targets, sources))
        ]
        yield name, (added[0], added[1])


def _losses(core: Core, oracle: Oracle, rows: IntArray, others: IntArray, name: str) -> FloatArray:
    """Return the losses of some points with one column as others have it."""
    if not len(rows):
        return np.zeros(0)
    columns = {
        known: column.take(others if known == name else rows)
        for known, column in core.space.columns.items()
    }
    mixed = replace(
        core.space, columns=columns, counts=np.ones(len(rows), np.int64), targets=None,
        reference=None, made_up=None,
    )  # fmt: skip
    return oracle.answer(mixed).losses


def _oracle(core: Core, model: object, targets: IntArray) -> Oracle:
    """Return whom to ask, if it answers as the audited model did."""
    settings = core.settings
    if core.space.predictions:
        msg = "`model` must be left out where the audit was of predictions, which cannot be asked"
        raise InputError(msg)
    access = choose_access(model, None, None, settings.chosen_loss)
    oracle = Oracle(access, settings.chosen_loss, settings.pos_label)
    now = _losses(core, oracle, targets, targets, core.space.features[0])
    if not np.allclose(now, core.problem.losses[targets]):
        msg = "`model` must be the audited one, and it answers otherwise than that did"
        raise InputError(msg)
    return oracle
