"""Flows (the paper's Figure 2), and flows of groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from fairtransport._core.schema import Doc
from fairtransport.data.columns import MISSING
from fairtransport.explain.moves import Profile, Profiles, Value, to_plain_levels, to_plain_value
from fairtransport.inference.clopper_pearson import share_lower_bound, share_upper_bound
from fairtransport.inference.multiplicity import holm

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.data import SampleSpace
    from fairtransport.explain.moves import MovePlan


INTERVALS, DESCRIPTIVE = "simultaneous intervals", "descriptive"
MAX_FLOW_LEVELS = 12
"""A numeric feature or label with more levels is shown by quarters of the people."""
OTHERS = "all others"
"""Name of the levels that are shown as one."""


@dataclass(frozen=True)
class Flow:
    """The change in the number of people in one cell: a level of a feature and a group.

    Features with many numbers are shown by quarters of the people, such as "up to 29" and "56 and
    more". Limits are of the expected change for as many people, and p-values are Holm's, of the
    hypothesis that as many leave the cell as enter it; there are none if the flows only describe
    the sample.
    """

    label: Annotated[
        Value, Doc("The true label, or a range of it; null where the loss does without.")
    ]
    level: Annotated[Value, Doc("The value of the feature, or a range of it.")]
    group: Annotated[Profile, Doc("The values of the sensitive features.")]
    people: Annotated[float | None, Doc("How many people are in the cell; null if shared.")]
    out: Annotated[float, Doc("How many leave the cell in swaps.")]
    into: Annotated[float, Doc("How many enter it in swaps.")]
    change: Annotated[float, Doc("The difference.")]
    lower: Annotated[
        float | None, Doc("A lower bound of the expected change, for all cells at once.")
    ] = None
    upper: Annotated[
        float | None, Doc("An upper bound of the expected change, for all cells at once.")
    ] = None
    pvalue: Annotated[float | None, Doc("The p-value of no change, adjusted for all cells.")] = None


@dataclass(frozen=True)
class FlowTable:
    """The flows by one feature."""

    feature: Annotated[str, Doc("The feature.")]
    kind: Annotated[
        str,
        Doc(
            "Whether the cells have intervals or only describe the sample.",
            one_of=(INTERVALS, DESCRIPTIVE),
        ),
    ]
    cells: Annotated[tuple[Flow, ...], Doc("The cells.")]


def flow_table(
    moves: MovePlan,
    space: SampleSpace,
    feature: str,
    *,
    alpha: float,
    fixed: bool,
    most: int | None = None,
) -> FlowTable:
    """Return the change in counts by a feature against the sensitive groups, for each label.

    With fixed targets the people who leave a cell and those who enter it are two binomial counts.
    Exact limits for both (Clopper and Pearson), each of the four at level α/(4m) in a table of m
    cells, bound all changes at once. Given the number who cross a cell's border, the number of
    those who enter is binomial with share 1/2 if the expected change is 0; the p-values of this
    test are Holm's.
    """
    label, level = _build_axis(space, space.label), _build_axis(space, feature)
    if most is not None and len(level.values) > most:
        level = _fold_levels(level, moves, space.counts, most)
    firsts, group_of = space.first_of_groups, space.sensitive_groups
    shape = (len(label.values), len(level.values), len(firsts))
    cell_of = np.ravel_multi_index((label.places, level.places, group_of), shape)
    people, out, into = _count_people(moves, space, cell_of, int(np.prod(shape)))
    # cells that the sample defines have no expected change to bound: they only describe it
    exact = fixed and not (label.is_cut or level.is_cut)
    limits = _find_limits(out, into, space.n, alpha) if exact else ()
    columns = [array.tolist() for array in (people, out, into, into - out, *limits)]
    profiles = Profiles(space)
    groups = [profiles.group(int(point)) for point in firsts]
    keys = product(label.values, level.values, groups)
    cells = (Flow(*key, *numbers) for key, *numbers in zip(keys, *columns, strict=True))
    return FlowTable(feature, INTERVALS if exact else DESCRIPTIVE, tuple(cells))


def flow_shapes(space: SampleSpace, features: list[str]) -> dict[str, tuple[int, int, int]]:
    """Return the numbers of labels, levels and groups of the flows by each feature."""
    labels = len(_build_axis(space, space.label).values)
    groups = len(space.first_of_groups)
    return {name: (labels, len(_build_axis(space, name).values), groups) for name in features}


def _count_people(
    moves: MovePlan, space: SampleSpace, cell_of: IntArray, size: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the numbers of people in each cell, of those who leave it and who enter it."""
    crossing = moves.take(cell_of[moves.sources] != cell_of[moves.targets])

    def total(points: IntArray, people: FloatArray) -> FloatArray:
        """Return people at points, added up by cell."""
        return np.bincount(cell_of[points], people, size).astype(np.float64)

    return (
        total(np.arange(space.size), space.counts.astype(np.float64)),
        total(crossing.sources, crossing.people),
        total(crossing.targets, crossing.people),
    )


class _Axis(NamedTuple):
    """A column's levels, as few as can be shown, and each point's index among them.

    ``is_cut``: levels were merged, depending on the sample.
    """

    values: list[Value]
    places: IntArray
    is_cut: bool = False


def _build_axis(space: SampleSpace, name: str | None) -> _Axis:
    """Return an axis of a flow table."""
    if name is None:
        return _Axis([None], np.zeros(space.size, np.int64))
    column = space.columns[name]
    codes = column.codes
    is_cut = np.issubdtype(column.levels.dtype, np.number) and len(column.levels) > MAX_FLOW_LEVELS
    if is_cut:
        values, quarter = _cut_into_quarters(column.levels.astype(np.float64), codes, space.counts)
        codes = np.where(codes == MISSING, MISSING, quarter[codes])
    else:
        values = to_plain_levels(column.levels)
        if column.categories:
            values, codes = _order_as_declared(values, codes, column.categories)
    if column.has_missing:
        codes = np.where(codes == MISSING, len(values), codes)
        values = [*values, None]
    return _Axis(values, codes, is_cut)


def _fold_levels(axis: _Axis, moves: MovePlan, counts: IntArray, most: int) -> _Axis:
    """Return the levels with most moves, then most people, and all others as one level."""
    size = len(axis.values)
    ends, twice = np.r_[moves.sources, moves.targets], np.r_[moves.people, moves.people]
    touches = np.bincount(axis.places[ends], twice, size)
    people = np.bincount(axis.places, counts, size)
    largest = np.sort(np.lexsort((np.arange(size), -people, -touches))[: most - 1])
    place = np.full(size, most - 1)
    place[largest] = np.arange(most - 1)
    name = OTHERS
    while name in axis.values:
        name = f"({name})"
    return _Axis([*(axis.values[at] for at in largest), name], place[axis.places], is_cut=True)


def _cut_into_quarters(
    levels: FloatArray, codes: IntArray, counts: IntArray
) -> tuple[list[Value], IntArray]:
    """Return ranges of a number that contain about a quarter of the people each."""
    there = codes != MISSING
    people = np.bincount(codes[there], counts[there], len(levels))
    is_occupied = people > 0
    if not is_occupied.any():
        return _format_ranges([levels]), np.zeros(len(levels), np.int64)
    below = np.cumsum(people[is_occupied]) / people.sum()
    # levels are never split, so quarters are uneven: a level belongs to the quarter it begins in
    quarter = np.minimum((4 * np.r_[0, below[:-1]]).astype(np.int64), 3)
    parts, quarter = np.unique(quarter, return_inverse=True)
    ends = [levels[is_occupied][quarter == part][[0, -1]] for part in range(len(parts))]
    # an empty level joins the one before it, and does not name a range
    before = np.maximum(np.cumsum(is_occupied) - 1, 0)
    return _format_ranges(ends), quarter.reshape(-1)[before]


def _format_ranges(ends: list[FloatArray]) -> list[Value]:
    """Return ranges as text, open at both ends, as the extremes are single people's numbers."""
    if len(ends) == 1:
        return ["any number"]
    (_, first), *middle, (last, _) = ends
    inner = [f"{low:g} to {high:g}" if low < high else f"{low:g}" for low, high in middle]
    return [f"up to {first:g}", *inner, f"{last:g} and more"]


def _order_as_declared(
    values: list[Value], codes: IntArray, categories: tuple[object, ...]
) -> tuple[list[Value], IntArray]:
    """Return levels and codes in the declared order of a categorical column."""
    rank = {to_plain_value(value): at for at, value in enumerate(categories)}
    order = sorted(range(len(values)), key=lambda at: (rank.get(values[at], len(rank)), at))
    # the code of a missing value is −1, and so picks the last entry
    place = np.r_[np.argsort(order), MISSING]
    return [values[at] for at in order], place[codes]


def _find_limits(
    out: FloatArray, into: FloatArray, n: int, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return simultaneous limits of the expected change and Holm's p-values."""
    # two ends for each of two shares, in each cell: Bonferroni over 4 limits per cell
    level = alpha / (4 * len(out))
    counts = [(round(leave), round(enter)) for leave, enter in zip(out, into, strict=True)]
    lower = [
        n * (share_lower_bound(enter, n, level) - share_upper_bound(leave, n, level))
        for leave, enter in counts
    ]
    upper = [
        n * (share_upper_bound(enter, n, level) - share_lower_bound(leave, n, level))
        for leave, enter in counts
    ]
    return np.array(lower), np.array(upper), holm(np.array([_sign_test(*pair) for pair in counts]))


def _sign_test(leave: int, enter: int) -> float:
    """Return the p-value of "as many leave a cell as enter it", two-sided and exact."""
    from scipy.special import bdtr

    crossing = leave + enter
    # given how many cross the cell's border, each way is a fair coin under "no change"
    return 1.0 if not crossing else min(1.0, 2 * float(bdtr(min(leave, enter), crossing, 0.5)))


@dataclass(frozen=True)
class GroupFlow:
    """People moved out of a group and into it, and what that adds."""

    group: Annotated[Profile, Doc("The values of the sensitive features.")]
    people: Annotated[float | None, Doc("How many people are in the group; null if shared.")]
    out: Annotated[float, Doc("How many leave the group in swaps.")]
    into: Annotated[float, Doc("How many enter it in swaps.")]
    change: Annotated[float, Doc("The difference.")]
    contribution: Annotated[float, Doc("What the group's people add to the statistic.")]
    risk: Annotated[float | None, Doc("The group's mean loss; null if shared.")]
    risk_after: Annotated[float | None, Doc("The same after the swaps.")]


def group_flows(moves: MovePlan, space: SampleSpace, losses: FloatArray) -> tuple[GroupFlow, ...]:
    """Return the moves of each combination of the sensitive features."""
    firsts, group_of = space.first_of_groups, space.sensitive_groups
    size = len(firsts)
    leaves, enters = group_of[moves.sources], group_of[moves.targets]
    # moves inside a group change nobody's group, but their gain belongs to the group
    cross = leaves != enters
    people = np.bincount(group_of, space.counts, size)
    out = np.bincount(leaves[cross], moves.people[cross], size)
    into = np.bincount(enters[cross], moves.people[cross], size)
    gained = np.bincount(leaves, moves.people * moves.gains, size)
    # weighted like the moves, with which they are compared
    weights = np.bincount(group_of, space.weighted_counts, size)
    lost = np.bincount(group_of, space.weighted_counts * losses, size)
    profiles = Profiles(space)
    return tuple(
        GroupFlow(
            profiles.group(int(point)),
            float(people[at]),
            float(out[at]),
            float(into[at]),
            float(into[at] - out[at]),
            float(gained[at] / space.n),
            float(lost[at] / weights[at]) if people[at] else None,
            float((lost[at] + gained[at]) / weights[at]) if people[at] else None,
        )
        for at, point in enumerate(firsts)
    )
