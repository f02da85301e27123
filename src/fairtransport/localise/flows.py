"""Flows: how the number of people changes by a feature and a group, as in the paper's Figure 2."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from fairtransport.documents import Doc
from fairtransport.inference.finite.clopper_pearson import share_at_least, share_at_most
from fairtransport.inference.multiplicity import holm
from fairtransport.localise.profiles import Profile, Profiles, Value, plain, plain_levels
from fairtransport.space.columns import MISSING

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.localise.moves import Moved
    from fairtransport.space import SampleSpace

INTERVALS, DESCRIPTIVE = "simultaneous intervals", "descriptive"
MOST_NUMBERS = 12
"""A numeric feature or label with more levels is shown by quarters of the people."""
OTHERS = "all others"
"""What levels are called that are shown as one."""


@dataclass(frozen=True)
class Flow:
    """The change in the number of people in one cell: a level of a feature and a group.

    Many numbers are quarters of the people, as in "up to 29" and "56 and more". Limits are of the
    change expected of as many people, and p-values are Holm's, of the hypothesis that as many
    leave the cell as enter it; there are none where the flows only describe the sample.
    """

    label: Annotated[
        Value, Doc("The true label, or a range of it; null where the loss does without.")
    ]
    level: Annotated[Value, Doc("The level of the feature, or a range of it.")]
    group: Annotated[Profile, Doc("The levels of the sensitive features.")]
    people: Annotated[
        float | None, Doc("How many people are in the cell; null where that is not told.")
    ]
    out: Annotated[float, Doc("How many are moved to another cell.")]
    into: Annotated[float, Doc("How many come from other cells.")]
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
    moved: Moved,
    space: SampleSpace,
    feature: str,
    *,
    alpha: float,
    fixed: bool,
    most: int | None = None,
) -> FlowTable:
    """Return the change in counts by a feature against the sensitive groups, for each label.

    Parameters
    ----------
    moved, space
        Who is moved, and the points.
    feature
        Any column of the profile.
    alpha
        The level of the intervals, over the whole table.
    fixed
        Whether each point's target depends neither on the sample nor on the budget, so that
        numbers of moved people are binomial.
    most
        The most levels that are shown; of more, those between which most people are moved, and
        all others as one. Which these are depends on the sample, so that there are no intervals.

    Notes
    -----
    With fixed targets the people who leave a cell and those who enter it are two binomial
    counts. Exact limits for both (Clopper and Pearson), each of the four at level α/(4m) in
    a table of m cells, bound all changes at once. Given how many cross a cell's border, the
    number of those who enter is binomial with share 1/2 where the expected change is 0; the
    p-values of this test are Holm's.
    """
    label, level = _axis(space, space.label), _axis(space, feature)
    if most is not None and len(level.values) > most:
        level = _folded(level, moved, space.counts, most)
    firsts, group_of = space.first_of_groups, space.sensitive_groups
    shape = (len(label.values), len(level.values), len(firsts))
    cell_of = np.ravel_multi_index((label.places, level.places, group_of), shape)
    people, out, into = _counts(moved, space, cell_of, int(np.prod(shape)))
    # cells that the sample itself made have no expected change to bound: they only describe it
    exact = fixed and not (label.is_cut or level.is_cut)
    limits = _limits(out, into, space.n, alpha) if exact else ()
    columns = [array.tolist() for array in (people, out, into, into - out, *limits)]
    profiles = Profiles(space)
    groups = [profiles.group(int(point)) for point in firsts]
    keys = product(label.values, level.values, groups)
    cells = (Flow(*key, *numbers) for key, *numbers in zip(keys, *columns, strict=True))
    return FlowTable(feature, INTERVALS if exact else DESCRIPTIVE, tuple(cells))


def flow_shapes(space: SampleSpace, features: list[str]) -> dict[str, tuple[int, int, int]]:
    """Return how many labels, levels and groups the flows by each feature have.

    Parameters
    ----------
    space
        The points.
    features
        Names of columns. Their product is the size of a table before anything is counted.
    """
    labels = len(_axis(space, space.label).values)
    groups = len(space.first_of_groups)
    return {name: (labels, len(_axis(space, name).values), groups) for name in features}


def _counts(
    moved: Moved, space: SampleSpace, cell_of: IntArray, size: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return how many people are in each cell, leave it and enter it.

    Parameters
    ----------
    moved
        Who is moved where. Moves inside a cell cross no border and do not count.
    space
        The points and people.
    cell_of
        By point: its cell.
    size
        How many cells there are.
    """
    crossing = moved.take(cell_of[moved.sources] != cell_of[moved.targets])

    def total(points: IntArray, people: FloatArray) -> FloatArray:
        """Return people at points, added up by cell."""
        return np.bincount(cell_of[points], people, size).astype(np.float64)

    return (
        total(np.arange(space.size), space.counts.astype(np.float64)),
        total(crossing.sources, crossing.people),
        total(crossing.targets, crossing.people),
    )


class _Axis(NamedTuple):
    """A column's levels, as few as can be shown, and each point's place among them.

    ``is_cut`` tells whether levels were put together, as the sample has them.

    Attributes
    ----------
    values
        The levels, or ranges in words; a missing one last.
    places
        By point: which of them.
    is_cut
        Cut points that come from the sample make counts that are not binomial: no intervals.
    """

    values: list[Value]
    places: IntArray
    is_cut: bool = False


def _axis(space: SampleSpace, name: str | None) -> _Axis:
    """Return an axis of a flow table.

    Parameters
    ----------
    space
        The points.
    name
        A column; None, where the loss does without a label, gives an axis of one level.
    """
    if name is None:
        return _Axis([None], np.zeros(space.size, np.int64))
    column = space.columns[name]
    codes = column.codes
    is_cut = np.issubdtype(column.levels.dtype, np.number) and len(column.levels) > MOST_NUMBERS
    if is_cut:
        values, quarter = _quarters(column.levels.astype(np.float64), codes, space.counts)
        codes = np.where(codes == MISSING, MISSING, quarter[codes])
    else:
        values = plain_levels(column.levels)
        if column.categories:
            values, codes = _in_declared_order(values, codes, column.categories)
    if column.has_missing:
        codes = np.where(codes == MISSING, len(values), codes)
        values = [*values, None]
    return _Axis(values, codes, is_cut)


def _folded(axis: _Axis, moved: Moved, counts: IntArray, most: int) -> _Axis:
    """Return the levels with most moves, then most people, and all others as one level."""
    size = len(axis.values)
    ends, twice = np.r_[moved.sources, moved.targets], np.r_[moved.people, moved.people]
    moves = np.bincount(axis.places[ends], twice, size)
    people = np.bincount(axis.places, counts, size)
    kept = np.sort(np.lexsort((np.arange(size), -people, -moves))[: most - 1])
    place = np.full(size, most - 1)
    place[kept] = np.arange(most - 1)
    name = OTHERS
    while name in axis.values:
        name = f"({name})"
    return _Axis([*(axis.values[at] for at in kept), name], place[axis.places], is_cut=True)


def _quarters(
    levels: FloatArray, codes: IntArray, counts: IntArray
) -> tuple[list[Value], IntArray]:
    """Return ranges of a number that hold about a quarter of the people each.

    Parameters
    ----------
    levels
        The column's numbers, rising.
    codes
        By point: which of them, ``MISSING`` for none.
    counts
        By point: its people.

    Returns
    -------
    names, quarter
        The ranges in words, and by level which of them it is in. Fewer than four where many
        people have one number.

    Examples
    --------
    >>> ages, codes = np.array([20.0, 30.0, 40.0, 50.0]), np.arange(4)
    >>> names, quarter = _quarters(ages, codes, np.ones(4, np.int64))
    >>> names, quarter.tolist()
    (['up to 20', '30', '40', '50 and more'], [0, 1, 2, 3])
    """
    there = codes != MISSING
    people = np.bincount(codes[there], counts[there], len(levels))
    held = people > 0
    if not held.any():
        return _names_of_ranges([levels]), np.zeros(len(levels), np.int64)
    below = np.cumsum(people[held]) / people.sum()
    # a level goes where its first person would: levels are never split, so that quarters are uneven
    quarter = np.minimum((4 * np.r_[0, below[:-1]]).astype(np.int64), 3)
    used, quarter = np.unique(quarter, return_inverse=True)
    ends = [levels[held][quarter == part][[0, -1]] for part in range(len(used))]
    # a level that nobody has goes with the one before it, and gives no range its name
    before = np.maximum(np.cumsum(held) - 1, 0)
    return _names_of_ranges(ends), quarter.reshape(-1)[before]


def _names_of_ranges(ends: list[FloatArray]) -> list[Value]:
    """Return ranges in words, open at both ends: the extremes are one person's numbers.

    Parameters
    ----------
    ends
        The first and the last number of each range.

    Examples
    --------
    >>> _names_of_ranges([np.array([18, 29]), np.array([30, 41]), np.array([42, 90])])
    ['up to 29', '30 to 41', '42 and more']
    """
    if len(ends) == 1:
        return ["any number"]
    (_, first), *middle, (last, _) = ends
    inner = [f"{low:g} to {high:g}" if low < high else f"{low:g}" for low, high in middle]
    return [f"up to {first:g}", *inner, f"{last:g} and more"]


def _in_declared_order(
    values: list[Value], codes: IntArray, categories: tuple[object, ...]
) -> tuple[list[Value], IntArray]:
    """Return levels and codes in the order in which a categorical column declares them.

    Parameters
    ----------
    values
        The levels as they are.
    codes
        By point: which of them.
    categories
        The declared order; levels that are not in it come last.

    Examples
    --------
    >>> values, codes = _in_declared_order(["high", "low"], np.array([0, 1, -1]), ("low", "high"))
    >>> values, codes.tolist()
    (['low', 'high'], [1, 0, -1])
    """
    rank = {plain(value): at for at, value in enumerate(categories)}
    order = sorted(range(len(values)), key=lambda at: (rank.get(values[at], len(rank)), at))
    # the code of a missing value is −1, and so picks the last entry
    place = np.r_[np.argsort(order), MISSING]
    return [values[at] for at in order], place[codes]


def _limits(
    out: FloatArray, into: FloatArray, n: int, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return simultaneous limits of the expected change and Holm's p-values.

    Parameters
    ----------
    out, into
        By cell: how many leave and enter, whole numbers up to rounding.
    n
        How many people there are.
    alpha
        The level over the whole table.

    Returns
    -------
    lower, upper, pvalues
        By cell.
    """
    # two ends for each of two shares, in each cell: Bonferroni over 4 limits a cell
    level = alpha / (4 * len(out))
    counts = [(round(leave), round(enter)) for leave, enter in zip(out, into, strict=True)]
    lower = [
        n * (share_at_least(enter, n, level) - share_at_most(leave, n, level))
        for leave, enter in counts
    ]
    upper = [
        n * (share_at_most(enter, n, level) - share_at_least(leave, n, level))
        for leave, enter in counts
    ]
    return np.array(lower), np.array(upper), holm(np.array([_sign_test(*pair) for pair in counts]))


def _sign_test(leave: int, enter: int) -> float:
    """Return the p-value of "as many leave a cell as enter it", two-sided and exact.

    Parameters
    ----------
    leave, enter
        How many do. Given their sum each is binomial with share ½; without any it is 1.

    Examples
    --------
    >>> _sign_test(0, 5), _sign_test(3, 3)
    (0.0625, 1.0)
    """
    from scipy.special import bdtr

    crossing = leave + enter
    # given how many cross the cell's border, each way is a fair coin under "no change"
    return 1.0 if not crossing else min(1.0, 2 * float(bdtr(min(leave, enter), crossing, 0.5)))
