"""One case of an audit: who its people are compared with, the answers, and what would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.errors import InputError
from fairtransport.localise.moves import prediction_at
from fairtransport.localise.profiles import Profiles
from fairtransport.space.binning import bin_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.audit.core import Core
    from fairtransport.checks import IntArray
    from fairtransport.localise.moves import Prediction
    from fairtransport.localise.profiles import Profile
    from fairtransport.localise.profiles import Value as Plain
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import CodedColumn, Value

MOST_TWINS = 16
"""So many comparable people are told of one case: half for whom the model does worst, half best."""


@dataclass(frozen=True)
class Twin:
    """Somebody with whom a case is compared.

    Attributes
    ----------
    profile
        Who that is.
    changed
        The columns in which the two differ.
    people
        How many such people are in the audit data; 0: the model was asked about somebody who is
        not there.
    prediction
        What the model says of them.
    loss
        Their loss.
    cost
        The squared distance.
    swapped
        How many people of the case the plan swaps with them.
    """

    profile: Profile
    changed: tuple[str, ...]
    people: int
    prediction: Prediction
    loss: float
    cost: float
    swapped: float


@dataclass(frozen=True)
class Case:
    """People of one profile, label and answer, beside those with whom they are compared.

    Attributes
    ----------
    point
        The number of the point.
    profile, label, people
        Who they are, and how many.
    prediction, loss
        What the model says of them, and their loss.
    comparable
        With how many others they are compared.
    twins
        Those whom the plan chooses first, then by falling loss; of many, the ends.
    """

    point: int
    profile: Profile
    label: Plain
    people: int
    prediction: Prediction
    loss: float
    comparable: int
    twins: tuple[Twin, ...]


def find_case(core: Core, point: int) -> Case:
    """Return what an audit knows of one point."""
    space, losses = core.space, core.problem.losses
    if not 0 <= point < space.size:
        msg = f"`point` must be a number from 0 to {space.size - 1}, got {point}"
        raise InputError(msg)
    profiles, predictions = Profiles(space), core.answers.predictions
    others, costs = _comparable(core, point)
    moved = core.moved.take(core.moved.sources == point)
    swapped = dict(zip(moved.targets.tolist(), moved.people.tolist(), strict=True))
    gone = np.array([swapped.get(other, 0.0) for other in others.tolist()])
    # those whom the plan chose come first, then the largest losses, then the nearest
    order = np.lexsort((others, costs, -losses[others], -gone))
    if len(order) > MOST_TWINS:
        best = np.lexsort((others, costs, losses[others]))[: MOST_TWINS // 2]
        worst = order[: MOST_TWINS // 2]
        order = np.r_[worst, best[~np.isin(best, worst)][::-1]]
    codes = space.codes(space.profile)
    twins = tuple(
        Twin(
            profile=profiles.profile(int(others[at])),
            changed=tuple(
                name
                for name, differs in zip(
                    space.profile, codes[point] != codes[others[at]], strict=True
                )
                if differs
            ),
            people=int(space.counts[others[at]]),
            prediction=prediction_at(predictions, int(others[at])),
            loss=float(losses[others[at]]),
            cost=float(costs[at]),
            swapped=float(gone[at]),
        )
        for at in order
    )
    return Case(
        point=point,
        profile=profiles.profile(point),
        label=profiles.label(point),
        people=int(space.counts[point]),
        prediction=prediction_at(predictions, point),
        loss=float(losses[point]),
        comparable=len(others),
        twins=twins,
    )


def _comparable(core: Core, point: int) -> tuple[IntArray, np.ndarray]:
    """Return the points that one may be moved to, but for itself, and the costs."""
    geometry = core.problem.geometry
    block = np.flatnonzero(geometry.blocks == geometry.blocks[point])
    members = geometry.targets_in(block)
    costs = geometry.costs(np.array([point]), members)[0]
    there = np.isfinite(costs) & (members != point)
    return members[there].astype(np.int64), costs[there]


def point_of(space: SampleSpace, row: Mapping[str, Value]) -> int:
    """Return the point of a row of the audit data.

    Parameters
    ----------
    space
        The points.
    row
        The row's values by column, as the file has them; missing ones are None.
    """
    fits = space.observed.copy()
    for name, column in space.columns.items():
        if name not in row:
            msg = f"`row` must have the column {name!r}, got {', '.join(map(str, row))}"
            raise InputError(msg)
        value = row[name]
        if name in space.bins:
            (value,) = bin_values(name, [value], space.bins[name])
        fits &= column.codes == _code(column, value)
    found = np.flatnonzero(fits)
    if not len(found):
        msg = "`row` must be one of the audited cases, got one that was set aside or changed since"
        raise InputError(msg)
    return int(found[0])


def _code(column: CodedColumn, value: Value) -> int:
    """Return the code of a value; -2, which no point has, for one that does not occur."""
    if value is None:
        return -1
    levels = column.levels.tolist()
    if levels and all(isinstance(level, bool) for level in levels) and isinstance(value, str):
        value = value.lower() == "true"  # a column that spells nothing but truth values
    return levels.index(value) if value in levels else -2
