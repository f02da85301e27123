"""Adult as the follow-up's networks take it: 39 numbers a person, sex and race apart."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.datasets.adult import (
    LABEL,
    PEOPLE_LEVELS,
    PEOPLE_NUMBERS,
    load_adult_people,
)
from fairtransport.similarity.learned import complement

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.checks import FloatArray, IntArray

COLUMNS = (*PEOPLE_NUMBERS, *PEOPLE_LEVELS)
"""What the networks receive."""
GROUPS = {"sex": "Male", "race": "White"}
"""The sensitive features and the level that is 1; other races are one group, as published."""
TRAINING_SHARE = 0.8
ITERATIONS, TOLERANCE = 100, 1e-4
"""Where the regressions stop that find directions: the follow-up took the library's defaults of
its time, when the tolerance was of the gradient's sum over people, not of its mean."""


@dataclass(frozen=True, eq=False)
class Coding:
    """People as numbers: numbers standardised by the training part, a 0/1 column a level.

    Attributes
    ----------
    centres, scales
        Means and standard deviations of the training people's numbers.
    levels
        By column, those of all people.
    """

    centres: FloatArray
    scales: FloatArray
    levels: dict[str, list[str]]

    def __call__(self, people: pd.DataFrame) -> FloatArray:
        """Return (n, 39) coordinates.

        Parameters
        ----------
        people
            With the columns that networks receive.
        """
        numbers = people[list(PEOPLE_NUMBERS)].to_numpy(dtype=np.float64)
        hot = [
            people[name].to_numpy()[:, None] == np.array(levels)[None, :]
            for name, levels in self.levels.items()
        ]
        return np.hstack([(numbers - self.centres) / self.scales, *hot]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class People:
    """People in words, as coordinates, and what is known of them.

    Attributes
    ----------
    frame
        Their columns: ``COLUMNS``, the sensitive features and the label.
    points
        (n, 39) coordinates.
    labels
        1: above 50 000 dollars.
    groups
        (n, 2) whether male, and whether white.
    """

    frame: pd.DataFrame
    points: FloatArray
    labels: IntArray
    groups: IntArray

    def directions(self) -> FloatArray:
        """Return what tells sex and race best: a logistic regression's coefficients each."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(max_iter=ITERATIONS, tol=TOLERANCE / len(self.labels))
        with warnings.catch_warnings():
            # they end after so many steps, short of the tolerance
            warnings.simplefilter("ignore", ConvergenceWarning)
            return np.vstack([model.fit(self.points, group).coef_ for group in self.groups.T])


@dataclass(frozen=True, eq=False)
class AdultSplit:
    """A random split: four fifths to train on, the rest to audit.

    Attributes
    ----------
    training, audit
        The two parts.
    coding
        How people of either become points.
    """

    training: People
    audit: People
    coding: Coding


def split_adult(seed: int, people: int | None = None) -> AdultSplit:
    """Split Adult.

    Parameters
    ----------
    seed
        Which random split.
    people
        At most how many are audited; default: all of the last fifth.
    """
    cells = load_adult_people()
    frame = cells.loc[cells.index.repeat(cells["count"])].drop(columns="count")
    frame["race"] = np.where(frame["race"] == GROUPS["race"], GROUPS["race"], "Other")
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = int(TRAINING_SHARE * len(frame))
    training, audit = (
        frame.iloc[rows].reset_index(drop=True) for rows in (order[:cut], order[cut:][:people])
    )
    numbers = training[list(PEOPLE_NUMBERS)].to_numpy(dtype=np.float64)
    levels = {name: sorted(frame[name].unique()) for name in PEOPLE_LEVELS}
    coding = Coding(numbers.mean(axis=0), numbers.std(axis=0), levels)
    return AdultSplit(_people(training, coding), _people(audit, coding), coding)


def _people(frame: pd.DataFrame, coding: Coding) -> People:
    """Return people with their coordinates, labels and groups."""
    groups = [frame[name].to_numpy() == level for name, level in GROUPS.items()]
    return People(
        frame, coding(frame), frame[LABEL].to_numpy(), np.column_stack(groups).astype(np.int64)
    )


def basis(directions: FloatArray) -> FloatArray:
    """Return an orthonormal basis, one column a direction, of what rows span.

    Parameters
    ----------
    directions
        (any, d) rows.
    """
    return complement(directions, directions.shape[1])[0]
