"""ColumnKind: a column read as codes of levels, of ordered levels, or as numbers, and written back.

Missing values, and levels that the hold-out did not have, are -1 or NaN and never move.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.data.columns import MISSING, CodedColumn, sort_levels
from fairtransport.similarity.base import is_numeric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray, Values
    from fairtransport.data.columns import Value

    ColumnValues = NDArray[Any]
    """Codes of levels, or numbers."""
    People = Mapping[str, ColumnValues]
    """Columns by name."""

MAX_LEVELS_OF_A_FLAG = 2
MAX_ORDERED_NUMBERS = 12
"""Maximum number of distinct numbers of a column of ordered levels."""
MIN_LEVEL_PEOPLE = 5
"""Minimum number of people of a level with its own score in the gate and in designs."""
MAX_SCORED_LEVELS = 40
"""Maximum number of levels with their own scores, the most frequent ones."""
MAX_DECIMALS = 6
MAX_WHOLE = 2.0**53
FIFTHS = (0.2, 0.4, 0.6, 0.8)
KNOTS = (0.1, 0.3, 0.5, 0.7, 0.9)
HASH_FACTOR = 1_000_003
FEW_ROWS = 200
"""Number of rows that quickly show that columns are not one-to-one."""


@dataclass(frozen=True, eq=False)
class ColumnKind:
    """How a column is read: "levels", "ordered" levels or a "number"."""

    name: str
    kind: str
    levels: tuple[Value, ...] = ()
    is_date: bool = False
    decimals: int = 12
    step: float = 0.0
    """Numbers are multiples of it; 0 if there is none."""

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.levels)

    @property
    def is_number(self) -> bool:
        """Whether the column is read as numbers."""
        return self.kind == "number"

    def read(self, column: CodedColumn) -> ColumnValues:
        """Return the codes of levels, -1 if unknown, or the numbers."""
        if self.is_number:
            numbers = _level_numbers(column.levels, is_date=self.is_date)
            return np.append(numbers, np.nan)[column.codes]
        place = {level: at for at, level in enumerate(self.levels)}
        known = [place.get(level, MISSING) for level in column.levels.tolist()]
        return np.array([*known, MISSING], np.int64)[column.codes]

    def write(self, values: ColumnValues, own: CodedColumn) -> CodedColumn:
        """Return a column with new values, and its own values where nothing changed."""
        before = self.read(own)
        changed = (values != before) & ~(np.isnan(values) if self.is_number else values == MISSING)
        if not changed.any():
            return own
        new = self._values(values[changed])
        kind = own.levels.dtype
        if kind.kind == "O":
            levels = own.levels
            if any(value not in set(levels.tolist()) for value in set(new)):
                levels = sort_levels([*levels.tolist(), *new])
            column = own if levels is own.levels else own.with_levels(levels)
            place = {value: at for at, value in enumerate(levels.tolist())}
            codes = column.codes.copy()
            codes[changed] = [place[value] for value in new]
            return CodedColumn(levels, codes, own.categories, own.is_ordered)
        both = np.concatenate([own.levels, np.array(new).astype(kind)])
        levels, places = np.unique(both, return_inverse=True)
        codes = np.append(places[: len(own.levels)], MISSING)[own.codes]
        codes[changed] = places[len(own.levels) :]
        return CodedColumn(levels, codes, own.categories, own.is_ordered)

    def _values(self, values: ColumnValues) -> list[Value]:
        """Return codes or numbers as values of the table."""
        if not self.is_number:
            return [self.levels[code] for code in values.tolist()]
        if not self.is_date:
            return list(values.tolist())
        return [_to_date(value, self.levels[0]) for value in values.tolist()]


def read_kind(name: str, column: CodedColumn, *, is_ordered: bool) -> ColumnKind:
    """Return how a column of the hold-out is read."""
    codes = np.unique(column.codes[column.codes != MISSING])
    levels = column.levels[codes]
    values = levels.tolist()
    if column.is_ordered or is_ordered:
        order = [*(column.categories or ()), *values]
        known = [level for level in dict.fromkeys(order) if level in values]
        return ColumnKind(name, "ordered", tuple(known))
    is_date = levels.dtype.kind == "M" or (
        bool(values) and all(isinstance(value, date) for value in values)
    )
    if not (is_numeric(levels) or is_date) or len(values) <= MAX_LEVELS_OF_A_FLAG:
        return ColumnKind(name, "levels", tuple(values))
    if len(values) <= MAX_ORDERED_NUMBERS:
        return ColumnKind(name, "ordered", tuple(values))
    numbers = _level_numbers(levels, is_date=is_date)
    decimals = next(
        (
            count for count in range(MAX_DECIMALS)
            if np.allclose(numbers, np.round(numbers, count), rtol=0, atol=1e-9)
        ),
        12,
    )  # fmt: skip
    return ColumnKind(
        name, "number", (values[0],) if is_date else (), is_date=is_date, decimals=decimals,
        step=_find_step(numbers, decimals),
    )  # fmt: skip


def _find_step(numbers: FloatArray, decimals: int) -> float:
    """Return the largest step of which numbers of few decimals are multiples, else 0."""
    scaled = np.abs(numbers) * 10.0**decimals
    if decimals >= MAX_DECIMALS or scaled.max() > MAX_WHOLE:
        return 0.0
    return float(np.gcd.reduce(np.round(scaled).astype(np.int64)) / 10**decimals)


def _level_numbers(levels: Values, *, is_date: bool) -> FloatArray:
    """Return levels as numbers: dates as days, moments as seconds."""
    if levels.dtype.kind == "M":
        return levels.astype("datetime64[s]").astype(np.float64)
    if not is_date:
        return np.asarray(levels, np.float64)
    return np.array(
        [
            value.replace(tzinfo=None).timestamp() if isinstance(value, datetime)
            else float(value.toordinal())
            for value in levels.tolist()
        ]
    )  # fmt: skip


def _to_date(number: float, example: Value) -> Value:
    """Return a number as a date like the example."""
    if isinstance(example, datetime):
        return type(example).fromtimestamp(round(number)).replace(tzinfo=example.tzinfo)
    return date.fromordinal(round(number))


def score_column(kind: ColumnKind, values: ColumnValues) -> FloatArray:
    """Return the scores for the gate: level indicators, or rank and squared rank.

    Missing values have score 0.
    """
    if kind.kind == "levels":
        counts = np.bincount(values[values >= 0], minlength=max(kind.size, 1))
        order = np.argsort(-counts, kind="stable")[:MAX_SCORED_LEVELS]
        frequent = order[counts[order] >= MIN_LEVEL_PEOPLE]
        return np.asarray(values[:, None] == frequent, np.float64)
    there = ~np.isnan(values) if kind.is_number else values >= 0
    scores = np.zeros((len(values), 2))
    ranks = rank_average(values[there])
    rank = 2 * (ranks - 0.5) / max(1, len(ranks)) - 1
    scores[there] = np.column_stack([rank, 1.5 * rank * rank - 0.5])
    return scores


def rank_average(values: ColumnValues) -> FloatArray:
    """Return ranks from 1, the mean rank for equal values."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[place])


class Design:
    """Numbers for a regression on columns: level indicators, numbers piecewise linear."""

    def __init__(self, kinds: Sequence[ColumnKind], people: People) -> None:
        self.parts: list[tuple[ColumnKind, tuple[ColumnValues, ...]]] = []
        for kind in kinds:
            values = people[kind.name]
            if kind.is_number:
                known = values[~np.isnan(values)]
                centre, scale = known.mean(), known.std() or 1.0
                knots = np.unique(np.quantile((known - centre) / scale, KNOTS))
                self.parts.append((kind, (np.array([centre, scale]), knots)))
            else:
                counts = np.bincount(values[values >= 0], minlength=max(kind.size, 1))
                codes = np.argsort(-counts, kind="stable")
                self.parts.append((kind, (codes[counts[codes] >= MIN_LEVEL_PEOPLE][1:],)))

    def __call__(self, people: People, rows: int) -> FloatArray:
        """Return (rows, columns) of the design at these people."""
        blocks = [np.zeros((rows, 0))]
        for kind, fitted in self.parts:
            values = people[kind.name]
            if kind.is_number:
                centre, scale = fitted[0]
                scaled = np.nan_to_num((values - centre) / scale)[:, None]
                blocks.append(np.hstack([scaled, np.maximum(scaled - fitted[1], 0)]))
            else:
                blocks.append((values[:, None] == fitted[0]).astype(np.float64))
        return np.hstack(blocks)


class Cells:
    """Cells of people who agree in columns, numbers in fifths, column after column."""

    def __init__(self, kinds: Sequence[ColumnKind], people: People) -> None:
        self.kinds = tuple(kinds)
        self.cuts = {
            kind.name: np.nanquantile(people[kind.name], FIFTHS) for kind in kinds if kind.is_number
        }

    def keys(self, people: People, rows: int) -> list[IntArray]:
        """Return the keys of cells in the first column, in the first two, and so on."""
        key, keys = np.zeros(rows, np.int64), []
        for kind in self.kinds:
            values = people[kind.name]
            if kind.is_number:
                codes = (values[:, None] > self.cuts[kind.name]).sum(axis=1)
                codes = np.where(np.isnan(values), MISSING, codes)
            else:
                codes = values.astype(np.int64)
            with np.errstate(over="ignore"):
                key = key * HASH_FACTOR + codes + 2
            keys.append(key)
        return keys


def find_cells(
    kinds: Sequence[ColumnKind], people: People, rows: int, min_size: float, alike_size: int
) -> tuple[IntArray, bool]:
    """Return cells within which groups are shuffled, and whether people in one agree exactly.

    With numbers, or with cells that are too small, a cell has about ``alike_size`` people.
    """
    if not kinds:
        return np.zeros(rows, np.int64), True
    if not any(kind.is_number for kind in kinds):
        key = Cells(kinds, people).keys(people, rows)[-1]
        cells = np.unique(key, return_inverse=True)[1].reshape(-1)
        if rows / (cells.max() + 1) >= min_size:
            return cells, True
    return _halve(_scaled(kinds, people), alike_size), False


def _scaled(kinds: Sequence[ColumnKind], people: People) -> FloatArray:
    """Return columns as numbers of mean 0 and variance 1."""
    blocks = []
    for kind in kinds:
        values = people[kind.name]
        if kind.is_number:
            blocks.append(np.where(np.isnan(values), np.nanmedian(values), values)[:, None])
        else:
            blocks.append((values[:, None] == np.arange(-1, kind.size)).astype(np.float64))
    points = np.hstack(blocks)
    spread = points.std(axis=0)
    return np.asarray((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1))


def _halve(points: FloatArray, size: int) -> IntArray:
    """Return cells of about ``size`` points, halved along the column that varies most."""
    cells, parts, count = np.zeros(len(points), np.int64), [np.arange(len(points))], 0
    while parts:
        rows = parts.pop()
        column = points[rows, points[rows].std(axis=0).argmax()]
        middle = np.median(column)
        upper: BoolArray = column > middle
        if not upper.any():
            upper = column >= middle
        if len(rows) > 1.5 * size and upper.any() and not upper.all():
            parts += [rows[upper], rows[~upper]]
        else:
            cells[rows] = count
            count += 1
    return cells


def measure_association(first: IntArray, second: IntArray) -> float:
    """Return Cramér's V of two columns of codes, corrected for chance."""
    rows, columns = (
        np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in (first, second)
    )
    shape = rows.max() + 1, columns.max() + 1
    table = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)
    n, least = len(rows), min(shape) - 1
    if not least:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = ((table - expected) ** 2 / expected).sum() / n
    excess = phi - (shape[0] - 1) * (shape[1] - 1) / (n - 1)
    return float(np.sqrt(max(0.0, excess) / least))


def coarse_codes(kind: ColumnKind, values: ColumnValues) -> IntArray:
    """Return codes of levels, or of fifths of a number."""
    return Cells([kind], {kind.name: values}).keys({kind.name: values}, len(values))[0]


def is_one_to_one(first: ColumnValues, second: ColumnValues) -> bool:
    """Return whether each code of one column has one code of the other."""
    step = max(1, len(first) // FEW_ROWS)
    if step > 1 and _count_pairs(first[::step], second[::step]) > len(np.unique(first[::step])):
        return False
    return _count_pairs(first, second) == len(np.unique(first)) == len(np.unique(second)) > 1


def _count_pairs(first: ColumnValues, second: ColumnValues) -> int:
    """Return the number of distinct pairs of codes."""
    return len(np.unique(np.column_stack([first, second]), axis=0))
