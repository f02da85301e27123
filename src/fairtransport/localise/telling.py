"""Telling: how well a sensitive feature is told by other columns, and by which of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.inference.finite.clopper_pearson import share_at_least, share_at_most
from fairtransport.similarity.base import is_numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.ensemble import RandomForestClassifier

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.space import SampleSpace

MOST_PEOPLE = 4000
"""More people tell little more of how well a feature is told, and cost time."""
MOST_COLUMNS = 30
"""Of more columns, those that the predictor uses most are looked at one by one."""


@dataclass(frozen=True)
class Column:
    """What one column tells, and what goes through it."""

    name: Annotated[str, Doc("The column.")]
    alone: Annotated[float, Doc("The balanced accuracy of a predictor that sees this column only.")]
    without: Annotated[float, Doc("That of one that sees all others.")]
    moved_alone: Annotated[
        float | None,
        Doc(
            "What the swaps that need sensitive features, or what tells them, to change add to the "
            "mean loss if only this column changes; null if the model was not asked."
        ),
    ] = None
    moved_without: Annotated[
        float | None,
        Doc("What they add if all others change and this one stays; null if it was not asked."),
    ] = None


@dataclass(frozen=True)
class Proxies:
    """How well a sensitive feature is told by the columns that a model receives.

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

    feature: Annotated[str, Doc("The sensitive feature.")]
    accuracy: Annotated[
        float,
        Doc(
            "The balanced accuracy of a predictor that was fitted on half of the people, on the "
            "other half: the mean over the feature's levels of the share that is told rightly."
        ),
    ]
    lower: Annotated[
        float, Doc("The lower end of an interval for it, valid at every n for this predictor.")
    ]
    upper: Annotated[float, Doc("Its upper end; another predictor may do better.")]
    guessing: Annotated[float, Doc("The balanced accuracy of guessing.")]
    alpha: Annotated[float, Doc("The interval's level is 1 − this.")]
    people: Annotated[int, Doc("How many people were looked at, both halves together.")]
    statistic: Annotated[
        float | None,
        Doc("What the swaps that were looked at add to the mean loss; null without a model."),
    ]
    needing: Annotated[
        float | None,
        Doc(
            "What those of them add that need sensitive features, or what tells them, to change: "
            "no less than the attributable part, if all swaps were looked at; null without a model."
        ),
    ]
    left_out: Annotated[int, Doc("How many columns were not looked at one by one.")]
    columns: Annotated[tuple[Column, ...], Doc("The columns, those that tell most first.")]

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
        if self.statistic is None or self.needing is None:
            return "\n".join([head, *told])
        through = (
            f"Swaps add {self.statistic:.4f} to the mean loss, {self.needing:.4f} of it those that "
            "need sensitive features, or what tells them, to change; of these:"
        )
        return "\n".join([head, through, *told])


def _added(column: Column) -> str:
    if column.moved_alone is None or column.moved_without is None:
        return ""
    return (
        f"; swaps add {column.moved_alone:.4f} if it alone changes, "
        f"{column.moved_without:.4f} if it alone stays"
    )


def halves(space: SampleSpace, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the points of two halves of the people, or of some of them, drawn at random."""
    people = np.repeat(np.arange(space.size), space.counts)
    chosen = rng.permutation(people)[:MOST_PEOPLE]
    half = len(chosen) // 2
    return chosen[:half], chosen[half:]


class Telling:
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

    def most_used(self, names: Sequence[str]) -> list[str]:
        """Return the columns that a predictor of all of them uses most, if there are more."""
        if len(names) <= MOST_COLUMNS or len(self.levels) == 1:
            return list(names)[:MOST_COLUMNS]
        forest, used = self._forest(names)
        parts = np.split(forest.feature_importances_, np.cumsum(_widths(self.space, used))[:-1])
        order = np.argsort([-float(part.sum()) for part in parts], kind="stable")
        return [names[at] for at in order[:MOST_COLUMNS]]

    def _counts(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return how many people of each level were told rightly, and how many there are."""
        said = self._said(names)
        pairs = [(said[self.tried == level] == level, level) for level in self.levels]
        return [int(right.sum()) for right, _ in pairs], [len(right) for right, _ in pairs]

    def _said(self, names: Sequence[str]) -> IntArray:
        if len(self.levels) == 1:
            return np.full(len(self.second), self.levels[0])
        forest, used = self._forest(names)
        return np.asarray(forest.predict(_numbers(self.space, used, self.second)))

    def _forest(self, names: Sequence[str]) -> tuple[RandomForestClassifier, dict[str, IntArray]]:
        from sklearn.ensemble import RandomForestClassifier

        used = {name: np.unique(self.space.columns[name].codes[self.first]) for name in names}
        forest = RandomForestClassifier(
            100, min_samples_leaf=5, class_weight="balanced", random_state=0
        )
        return forest.fit(_numbers(self.space, used, self.first), self.truth), used


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


def _widths(space: SampleSpace, used: dict[str, IntArray]) -> list[int]:
    """Return how many numbers each column becomes."""
    return [
        1 if is_numeric(space.columns[name].levels) else len(levels)
        for name, levels in used.items()
    ]


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
