"""Moves: the optimal plan in people's terms, who is swapped with whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.profiles import Profile, Profiles, Value, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        """Return some of the moves."""
        return Moved(
            self.sources[rows], self.targets[rows], self.people[rows], self.gains[rows],
            self.costs[rows], self.tied[rows],
        )  # fmt: skip


def find_moved(solution: Solution, n: int) -> Moved:
    """Return who a solution's plan moves, out of n people; what adds most comes first."""
    plan = solution.plan.tocoo()
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
    """Return the moves in people's terms."""
    profiles = Profiles(space)
    codes = space.codes(space.profile)

    def describe(at: int) -> Move:
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
    """Return what the model says at a point."""
    found = predictions[point]
    return tuple(float(score) for score in found) if np.ndim(found) else plain(found)


def moves_columns(moves: Iterable[Move], space: SampleSpace) -> dict[str, list[Value]]:
    """Return moves as the columns of a table: from-profile, to-profile and the numbers."""
    rows = list(moves)
    table: dict[str, list[Value]] = {}
    for name in space.profile:
        table[f"from_{name}"] = [row.from_profile[name] for row in rows]
    for name in space.profile:
        table[f"to_{name}"] = [row.to_profile[name] for row in rows]
    table["changed"] = [words_of_change(row) for row in rows]
    if space.label is not None:
        table["label"] = [row.label for row in rows]
    for field in ("people", "prediction", "prediction_after", "loss", "loss_after", "cost", "tied"):
        table[field] = [getattr(row, field) for row in rows]
    return table


def words_of_change(move: Move) -> str:
    """Return what changes, as in "sex: Male → Female"; nothing but the prediction may differ."""

    def words(value: Value) -> str:
        return "missing" if value is None else str(value)

    parts = [
        f"{name}: {words(move.from_profile[name])} → {words(move.to_profile[name])}"
        for name in move.changed
    ]
    return ", ".join(parts) or "nothing"
