"""Questions about a finished audit: one case, another budget, another threshold.

Another threshold or budget is a description, not a new test: bounds do not change with δ, and those
at another budget hold for a budget fixed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairtransport._core.validation import check_number, check_threshold
from fairtransport.data.columns import bin_values
from fairtransport.errors import InputError, param
from fairtransport.explain.moves import Profiles, get_prediction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport._core.validation import IntArray
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import CodedColumn, Value
    from fairtransport.explain.moves import Prediction, Profile
    from fairtransport.explain.moves import Value as Plain


MAX_LISTED_TWINS = 16
"""Maximum number of comparable people listed: half with the worst, half with the best loss."""


@dataclass(frozen=True)
class Twin:
    """A person that a case is compared with."""

    profile: Profile
    changed: tuple[str, ...]
    people: int
    prediction: Prediction
    loss: float
    cost: float
    swapped: float


@dataclass(frozen=True)
class Case:
    """People of one profile, label and answer, and those they are compared with."""

    point: int
    profile: Profile
    label: Plain
    people: int
    prediction: Prediction
    loss: float
    comparable: int
    twins: tuple[Twin, ...]


def find_case(result: AuditResult, point: int) -> Case:
    """Return the case of one point."""
    space, losses = result.space, result.problem.losses
    if not 0 <= point < space.size:
        msg = f"{param('point')} must be a number from 0 to {space.size - 1}, got {point}"
        raise InputError(msg)
    profiles, predictions = Profiles(space), result.answers.predictions
    others, costs = _comparable(result, point)
    moves = result.moved.take(result.moved.sources == point)
    swapped = dict(zip(moves.targets.tolist(), moves.people.tolist(), strict=True))
    gone = np.array([swapped.get(other, 0.0) for other in others.tolist()])
    # people chosen by the plan come first, then the largest losses, then the nearest
    order = np.lexsort((others, costs, -losses[others], -gone))
    if len(order) > MAX_LISTED_TWINS:
        best = np.lexsort((others, costs, losses[others]))[: MAX_LISTED_TWINS // 2]
        worst = order[: MAX_LISTED_TWINS // 2]
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
            people=int(space.counts[space.originals[others[at]]]),
            prediction=get_prediction(predictions, int(others[at])),
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
        prediction=get_prediction(predictions, point),
        loss=float(losses[point]),
        comparable=len(others),
        twins=twins,
    )


def _comparable(result: AuditResult, point: int) -> tuple[IntArray, np.ndarray]:
    """Return the other points that one may be moved to, and the costs."""
    geometry = result.problem.geometry
    block = np.flatnonzero(geometry.blocks == geometry.blocks[point])
    members = geometry.targets_in(block)
    costs = geometry.costs(np.array([point]), members)[0]
    there = np.isfinite(costs) & (members != point)
    return members[there].astype(np.int64), costs[there]


def point_of(space: SampleSpace, row: Mapping[str, Value]) -> int:
    """Return the point of a row of the audit data."""
    space = space.encoded
    fits = space.observed.copy()
    for name, column in space.columns.items():
        if name not in row:
            msg = f"{param('row')} must have the column {name!r}, got {', '.join(map(str, row))}"
            raise InputError(msg)
        value = row[name]
        if name in space.bins:
            (value,) = bin_values(name, [value], space.bins[name])
        fits &= column.codes == _code(column, value)
    points = np.flatnonzero(fits)
    if not len(points):
        msg = (
            f"{param('row')} must be one of the audited people, got one that was held out or "
            "changed since"
        )
        raise InputError(msg)
    return int(points[0])


def _code(column: CodedColumn, value: Value) -> int:
    """Return the code of a value; -2, which no point has, if it does not occur."""
    if value is None:
        return -1
    levels = column.levels.tolist()
    if levels and all(isinstance(level, bool) for level in levels) and isinstance(value, str):
        value = value.lower() == "true"  # a column of bools only
    return levels.index(value) if value in levels else -2


Place: TypeAlias = Literal["below", "between", "above"]
"""Position of a threshold: below the lower bound, between the bounds, or above the upper one."""


@dataclass(frozen=True, eq=False)
class Afterwards:
    """A finished audit at another budget, with another threshold compared with its bounds."""

    result: AuditResult
    delta: float | None
    same_budget: bool
    same_delta: bool

    @property
    def place(self) -> Place | None:
        """Position of δ; None without δ, or if the audit could find nothing."""
        if self.delta is None or self.result.applicability is not None:
            return None
        bounds = self.result.judged_bounds
        if bounds.lower > self.delta:
            return "below"
        return "above" if bounds.upper <= self.delta else "between"


def look_at(
    result: AuditResult, *, budget: float | None = None, delta: float | None = None
) -> Afterwards:
    """Return an audit at another budget and threshold; None keeps the original one."""
    settings = result.settings
    if delta is not None:
        delta = check_threshold(delta, result.loss.range)
    new_budget = settings.budget if budget is None else check_number("budget", budget, at_least=0)
    same = new_budget == settings.budget
    return Afterwards(
        result if same else result.at_budget(new_budget),
        settings.delta if delta is None else delta,
        same_budget=same,
        same_delta=delta is None or delta == settings.delta,
    )
