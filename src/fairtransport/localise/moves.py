"""Moves: the optimal plan in people's terms, who is swapped with whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.profiles import Profile, Profiles, Value, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import BoolArray, FloatArray, IntArray, Values
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import Rows
    from fairtransport.transport import Solution

LEAST_PEOPLE = 1e-9
"""Fewer than this are a rounding error of the plan."""

Prediction = Value | tuple[float, ...]
"""A label or number, or one score a class."""


@dataclass(frozen=True)
class Move:
    """People of one profile who are swapped with those of another."""

    from_profile: Annotated[Profile, Doc("Who they are.")]
    to_profile: Annotated[Profile, Doc("Who they are compared with.")]
    changed: Annotated[tuple[str, ...], Doc("The columns in which the two differ.")]
    label: Annotated[
        Value, Doc("The true label, the same for both; null where the loss does without.")
    ]
    people: Annotated[
        float, Doc("How many are moved; no whole number where the budget ends half way.")
    ]
    prediction: Annotated[
        Prediction, Doc("What the model says of the one: a label, a number or scores by class.")
    ]
    prediction_after: Annotated[Prediction, Doc("What the model says of the other.")]
    loss: Annotated[float, Doc("The loss of the one.")]
    loss_after: Annotated[float, Doc("The loss of the other.")]
    cost: Annotated[float, Doc("The squared distance between the two.")]
    tied: Annotated[bool, Doc("Whether another target would have been as bad for them.")]


@dataclass(frozen=True, eq=False)
class Moved:
    """The part of a plan that moves people, as arrays: one entry a move, what adds most first.

    Attributes
    ----------
    sources, targets
        The points that people leave and arrive at.
    people
        How many.
    gains
        How much worse the model does for each of them.
    costs
        How far they go, as a squared distance.
    tied
        Whether another target would have been as bad.
    """

    sources: IntArray
    targets: IntArray
    people: FloatArray
    gains: FloatArray
    costs: FloatArray
    tied: BoolArray

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def total(self) -> float:
        """How many people are moved."""
        return float(self.people.sum())

    def take(self, rows: Rows) -> Moved:
        """Return some of the moves.

        Parameters
        ----------
        rows
            Numbers, a mask or a slice, as NumPy takes them.
        """
        return Moved(
            self.sources[rows], self.targets[rows], self.people[rows], self.gains[rows],
            self.costs[rows], self.tied[rows],
        )  # fmt: skip


def find_moved(solution: Solution, n: int) -> Moved:
    """Return who a solution's plan moves, out of n people; what adds most comes first.

    Parameters
    ----------
    solution
        Whose plan it is, in shares of people.
    n
        How many people the shares are of.

    Returns
    -------
    Moved
        Without those who stay, nor less than ``LEAST_PEOPLE``: rounding of the plan.
    """
    plan = solution.plan.tocoo()
    # masses are shares: times n they are whole but for rounding, unless the budget splits a profile
    people = np.round(plan.data * n, 9)
    real = (plan.row != plan.col) & (people > LEAST_PEOPLE)
    sources, targets = plan.row[real].astype(np.int64), plan.col[real].astype(np.int64)
    losses = solution.problem.losses
    moved = Moved(
        sources,
        targets,
        people[real],
        losses[targets] - losses[sources],
        solution.problem.costs_of(sources, targets),
        solution.tied(sources),
    )
    # equal sums by people and the order of the points, so that tables are the same every time
    added = np.round(moved.people * moved.gains, 9)
    return moved.take(np.lexsort((targets, sources, -moved.people, -added)))


def describe_moves(
    moved: Moved, space: SampleSpace, predictions: Values, losses: FloatArray
) -> tuple[Move, ...]:
    """Return the moves in people's terms.

    Parameters
    ----------
    moved
        Who is moved where.
    space
        The points.
    predictions, losses
        What the model says at each point, and what that costs.
    """
    profiles = Profiles(space)
    codes = space.codes(space.profile)

    def describe(at: int) -> Move:
        """Return one move with both ends' columns by name."""
        source, target = int(moved.sources[at]), int(moved.targets[at])
        differ = codes[source] != codes[target]
        return Move(
            profiles.profile(source),
            profiles.profile(target),
            tuple(name for name, other in zip(space.profile, differ, strict=True) if other),
            profiles.label(source),
            float(moved.people[at]),
            prediction_at(predictions, source),
            prediction_at(predictions, target),
            float(losses[source]),
            float(losses[target]),
            float(moved.costs[at]),
            bool(moved.tied[at]),
        )

    return tuple(map(describe, range(len(moved))))


def prediction_at(predictions: Values, point: int) -> Prediction:
    """Return what the model says at a point.

    Parameters
    ----------
    predictions
        (K,) labels or numbers, or (K, classes) scores.
    point
        Its number.

    Examples
    --------
    >>> prediction_at(np.array([[0.25, 0.75]]), 0), prediction_at(np.array([1, 0]), 0)
    ((0.25, 0.75), 1)
    """
    found = predictions[point]
    return tuple(float(score) for score in found) if np.ndim(found) else plain(found)


def moves_columns(
    moved: Moved, space: SampleSpace, predictions: Values, losses: FloatArray
) -> dict[str, Sequence[Prediction]]:
    """Return moves as the columns of a table: from-profile, to-profile and the numbers.

    Made column by column, so that a table of all moves costs little beside the audit.

    Parameters
    ----------
    moved
        Who is moved where.
    space
        The points.
    predictions, losses
        What the model says at each point, and what that costs.

    Returns
    -------
    dict
        ``from_…`` and ``to_…`` of each column of the profile, ``changed`` in words, the label if
        there is one, people, prediction and loss before and after, cost and whether it is tied.
    """
    profiles = Profiles(space)
    ends = {"from": moved.sources, "to": moved.targets}
    table: dict[str, Sequence[Prediction]] = {
        f"{end}_{name}": profiles.values(name, points)
        for end, points in ends.items()
        for name in space.profile
    }
    table["changed"] = _words_of_change(table, space.profile)
    if space.label is not None:
        table["label"] = profiles.values(space.label, moved.sources)
    table["people"] = moved.people.tolist()
    for name, points in (("prediction", moved.sources), ("prediction_after", moved.targets)):
        said = predictions[points].tolist()
        table[name] = [tuple(one) if isinstance(one, list) else plain(one) for one in said]
    table["loss"] = losses[moved.sources].tolist()
    table["loss_after"] = losses[moved.targets].tolist()
    table["cost"] = moved.costs.tolist()
    table["tied"] = moved.tied.tolist()
    return table


def _words_of_change(table: dict[str, Sequence[Prediction]], names: Sequence[str]) -> list[str]:
    """Return what changes, as in "sex: Male → Female"; nothing but the prediction may differ.

    Parameters
    ----------
    table
        With ``from_…`` and ``to_…`` columns.
    names
        The columns of the profile.

    Examples
    --------
    >>> table = {"from_sex": ["f", "f"], "to_sex": ["m", "f"]}
    >>> _words_of_change(table, ["sex"])
    ['sex: f → m', 'nothing']
    """

    def words(value: Prediction) -> str:
        """Return a value in words."""
        return "missing" if value is None else str(value)

    size = len(table[f"from_{names[0]}"]) if names else 0
    parts: list[list[str]] = [[] for _ in range(size)]
    for name in names:
        ends = zip(table[f"from_{name}"], table[f"to_{name}"], strict=True)
        for part, (before, after) in zip(parts, ends, strict=True):
            if before != after:
                part.append(f"{name}: {words(before)} → {words(after)}")
    return [", ".join(part) or "nothing" for part in parts]
