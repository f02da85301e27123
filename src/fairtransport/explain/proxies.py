"""ProxyPredictor: how well other columns predict a sensitive feature, and which of them do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport._core.schema import Doc
from fairtransport.inference.clopper_pearson import share_lower_bound, share_upper_bound
from fairtransport.similarity.base import is_numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.ensemble import RandomForestClassifier

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.data import SampleSpace

MAX_PROXY_PEOPLE = 4000
"""Maximum number of people to fit and test the predictor on; more add little and cost time."""
MAX_PROXY_COLUMNS = 30
"""Maximum number of columns examined singly, those that the predictor uses most."""


@dataclass(frozen=True)
class Column:
    """How well one column predicts the feature, and the gain of swaps that change it."""

    name: Annotated[str, Doc("The column.")]
    alone: Annotated[float, Doc("The balanced accuracy of a predictor that sees this column only.")]
    without: Annotated[float, Doc("That of one that sees all others.")]
    strength: Annotated[
        float | None,
        Doc("Strength of its dependence on the feature beyond chance, 0 to 1; null if not tested."),
    ] = None
    pvalue: Annotated[
        float | None,
        Doc("The p-value of no dependence, adjusted for all columns; null if not tested."),
    ] = None
    depends: Annotated[
        bool | None, Doc("Whether it was shown to depend on the feature; null if not tested.")
    ] = None
    moved_alone: Annotated[
        float | None,
        Doc(
            "What the swaps that need sensitive features to change add to the mean loss if only "
            "this column changes; null if the model was not queried."
        ),
    ] = None
    moved_without: Annotated[
        float | None,
        Doc("What they add if all others change and this one stays; null if it was not queried."),
    ] = None


@dataclass(frozen=True)
class Proxies:
    """How well the columns that a model receives predict a sensitive feature.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1, 1, 0, 0] * 100})
    >>> people["height"] = np.where(people["sex"] == "f", 165, 178) + np.arange(400) % 7
    >>> result = ft.audit(people, "good", model=lambda rows: (rows["height"] > 175).astype(int),
    ...                   features=["height"], sensitive_features="sex", rng=0)
    >>> (proxies,) = result.proxies().proxy_list
    >>> proxies.guessing, proxies.lower > 0.9, proxies.columns[0].name
    (0.5, True, 'height')
    """

    feature: Annotated[str, Doc("The sensitive feature.")]
    accuracy: Annotated[
        float,
        Doc(
            "The balanced accuracy of a predictor that was fitted on half of the people, on the "
            "other half: the share of each group that is predicted correctly, averaged over the "
            "groups."
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
        Doc("What the swaps that were examined add to the mean loss; null without a model."),
    ]
    needing: Annotated[
        float | None,
        Doc(
            "What those of them add that need sensitive features to change: no less than the "
            "attributable part, if all swaps were examined; null without a model."
        ),
    ]
    left_out: Annotated[int, Doc("How many columns were not examined one by one.")]
    columns: Annotated[tuple[Column, ...], Doc("The columns, those that predict best first.")]

    def __str__(self) -> str:
        head = (
            f"The model's columns predict {self.feature} with a balanced accuracy of "
            f"{self.accuracy:.2f} ({100 * (1 - self.alpha):g} % interval {self.lower:.2f} to "
            f"{self.upper:.2f}; guessing would have {self.guessing:.2f}). Another predictor may do "
            "better."
        )
        lines = [
            f"  {column.name}: {column.alone:.2f} alone, {column.without:.2f} without it"
            f"{_format_test(column)}{_format_swaps(column)}"
            for column in self.columns
        ]
        if self.statistic is None or self.needing is None:
            return "\n".join([head, *lines])
        through = (
            f"Swaps add {self.statistic:.4f} to the mean loss, {self.needing:.4f} of it in swaps "
            "that need sensitive features to change; of these:"
        )
        return "\n".join([head, through, *lines])


def _format_test(column: Column) -> str:
    if column.depends is None or column.pvalue is None:
        return ""
    words = "depends" if column.depends else "not shown to depend"
    return f"; {words} (p = {column.pvalue:.2g})"


def _format_swaps(column: Column) -> str:
    if column.moved_alone is None or column.moved_without is None:
        return ""
    return (
        f"; swaps add {column.moved_alone:.4f} if only it changes, "
        f"{column.moved_without:.4f} if only it stays"
    )


def draw_halves(space: SampleSpace, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the points of two random halves of the people, or of a sample of them."""
    people = np.repeat(np.arange(space.size), space.counts)
    sample = rng.permutation(people)[:MAX_PROXY_PEOPLE]
    half = len(sample) // 2
    return sample[:half], sample[half:]


class ProxyPredictor:
    """Predicts a sensitive feature: fitted on one half of the people, tested on the other."""

    def __init__(self, space: SampleSpace, feature: str, first: IntArray, second: IntArray) -> None:
        codes = space.columns[feature].codes
        self.space, self.first, self.second = space, first, second
        self.truth, self.held_out = codes[first], codes[second]
        # levels of the first half only, so that the second does not influence what it tests
        self.levels = np.unique(self.truth)

    def interval(self, names: Sequence[str], alpha: float) -> tuple[float, float, float]:
        """Return a balanced accuracy and its interval, from exact ones of each level's share."""
        right, of = self._count_right(names)
        return _balanced_accuracy(right, of), *bound_balanced_accuracy(right, of, alpha)

    def accuracy(self, names: Sequence[str]) -> float:
        """Return the balanced accuracy of a predictor that uses some columns."""
        return _balanced_accuracy(*self._count_right(names)) if names else 1 / len(self.levels)

    def find_most_used(self, names: Sequence[str]) -> list[str]:
        """Return the columns that a predictor of all of them uses most, if there are more."""
        if len(names) <= MAX_PROXY_COLUMNS or len(self.levels) == 1:
            return list(names)[:MAX_PROXY_COLUMNS]
        forest, codes = self._fit_forest(names)
        parts = np.split(
            forest.feature_importances_, np.cumsum(_count_inputs(self.space, codes))[:-1]
        )
        order = np.argsort([-float(part.sum()) for part in parts], kind="stable")
        return [names[at] for at in order[:MAX_PROXY_COLUMNS]]

    def _count_right(self, names: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the numbers of correct predictions and of people, by level."""
        predictions = self._predict(names)
        pairs = [(predictions[self.held_out == level] == level, level) for level in self.levels]
        return [int(right.sum()) for right, _ in pairs], [len(right) for right, _ in pairs]

    def _predict(self, names: Sequence[str]) -> IntArray:
        if len(self.levels) == 1:
            return np.full(len(self.second), self.levels[0])
        forest, codes = self._fit_forest(names)
        return np.asarray(forest.predict(_build_inputs(self.space, codes, self.second)))

    def _fit_forest(
        self, names: Sequence[str]
    ) -> tuple[RandomForestClassifier, dict[str, IntArray]]:
        return _fit_forest(self.space, names, self.first, self.truth)


def _fit_forest(
    space: SampleSpace, names: Sequence[str], rows: IntArray, truth: IntArray
) -> tuple[RandomForestClassifier, dict[str, IntArray]]:
    """Return a random forest that predicts codes from columns, and the levels it was fitted on."""
    from sklearn.ensemble import RandomForestClassifier

    codes = {name: np.unique(space.columns[name].codes[rows]) for name in names}
    forest = RandomForestClassifier(
        100, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    return forest.fit(_build_inputs(space, codes, rows), truth), codes


def predict_groups(
    space: SampleSpace, names: Sequence[str], rows: IntArray, truth: IntArray, others: IntArray
) -> IntArray:
    """Return the codes that a forest fitted at some points predicts at others."""
    forest, codes = _fit_forest(space, names, rows, truth)
    return np.asarray(forest.predict(_build_inputs(space, codes, others)))


def bound_balanced_accuracy(
    right: Sequence[int], of: Sequence[int], alpha: float
) -> tuple[float, float]:
    """Return an interval for the mean of several shares, from exact ones that hold together."""
    level, pairs = alpha / (2 * len(of)), list(zip(right, of, strict=True))
    lower = np.mean([share_lower_bound(*pair, level) for pair in pairs])
    upper = np.mean([share_upper_bound(*pair, level) for pair in pairs])
    return float(lower), float(upper)


def _balanced_accuracy(right: Sequence[int], of: Sequence[int]) -> float:
    """Return the mean share of correct predictions; a level without people counts as one half."""
    shares = [a / b if b else 0.5 for a, b in zip(right, of, strict=True)]
    return float(np.mean(shares))


def _count_inputs(space: SampleSpace, codes: dict[str, IntArray]) -> list[int]:
    """Return the number of inputs made of each column."""
    return [
        1 if is_numeric(space.columns[name].levels) else len(levels)
        for name, levels in codes.items()
    ]


def _build_inputs(space: SampleSpace, codes: dict[str, IntArray], rows: IntArray) -> FloatArray:
    """Return columns as numbers: unchanged, or one for each level of the fit."""
    columns: list[FloatArray] = []
    for name, levels in codes.items():
        column = space.columns[name].take(rows)
        if is_numeric(column.levels):
            columns.append(column.values().astype(np.float64)[:, np.newaxis])
        else:
            columns.append((column.codes[:, np.newaxis] == levels).astype(np.float64))
    return np.column_stack(columns)
