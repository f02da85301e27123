"""Maps of counterparts: a column's minimal move from one group's law to another's.

Numbers and ordered levels keep their rank; levels change as rarely as possible. A dominant number,
such as a capital gain of 0, counts as a level first. Each person has their own uniform numbers to
break ties and choose levels, so that a counterpart depends on nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fairtransport.data.columns import MISSING
from fairtransport.similarity.column_kinds import Cells, Design

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.similarity.column_kinds import ColumnKind, ColumnValues, People

MIN_MODE_SHARE = 0.2
"""Minimum share of people with a number that is a level of its own."""
MIN_CELL_PEOPLE = 30
"""Minimum number of people of each group in a cell with its own map of a number."""
BIN_PEOPLE, MAX_BINS = 15, 25
"""Number of residuals in the bins of quantile shifts, and maximum number of bins."""
CELL_WEIGHT = 2.0
"""Weight, in people, of the coarser cells' frequencies in a finer cell."""
PRIOR_WEIGHT = 0.1
MAX_FITTING_ROUNDS = 30
RIDGE, INTERACTION_RIDGE = 1e-3, 5.0
ROUNDING = 1e-12
CONVERGED = 1e-6


class Uniforms(NamedTuple):
    """Uniform numbers of each person: for the rank inside a tie, the new level, and who moves.

    A person who keeps a level needs no new one: that number is a number's rank inside a tie.
    """

    tie: FloatArray
    level: FloatArray
    goes: FloatArray

    def take(self, rows: BoolArray) -> Uniforms:
        """Return those of some people."""
        return Uniforms(*(one[rows] for one in self))


@dataclass(frozen=True)
class Move:
    """A move of people from group ``source`` to ``target``, and the share of the way."""

    source: int
    target: int
    share: float


class ColumnMap(Protocol):
    """The move of one column; ``own`` and ``other`` are the given columns, before and after."""

    def move(
        self, values: ColumnValues, move: Move, own: People, other: People,
        uniforms: Uniforms,
    ) -> ColumnValues:  # fmt: skip
        """Return the values in the other group."""
        ...


class GroupLaw:
    """P(code | group, Z) = P(code | Z) t(group, code) / sum, with each group's own frequencies.

    P(code | Z) are frequencies in the cells of Z's first k columns, shrunken to those of its first
    k − 1, and so on; the factors t are found by iterative proportional fitting. With ``interacts``
    each group has its own frequencies, as groups may differ differently in each cell.
    """

    def __init__(
        self, codes: IntArray, size: int, groups: IntArray, count: int,
        given: Sequence[ColumnKind], people: People, *, interacts: bool = False,
    ) -> None:  # fmt: skip
        self.cells = Cells(given, people)
        self.overall = np.bincount(codes, minlength=size) / len(codes)
        keys = self.cells.keys(people, len(codes))
        everybody = _count_cells(keys, codes, size)
        self.tables = [
            _count_cells([key[groups == group] for key in keys], codes[groups == group], size)
            if interacts else everybody
            for group in range(count)
        ]  # fmt: skip
        # people of one cell have the same law: one row for each cell
        first, place = (np.zeros(1, np.int64), np.zeros(len(codes), np.int64))
        if keys:
            _, first, place = np.unique(keys[-1], return_index=True, return_inverse=True)
        self.tilts = np.ones((count, size))
        for group in range(count):
            pooled = self._pool([key[first] for key in keys], len(first), group)
            inside = groups == group
            weights = np.bincount(place.reshape(-1)[inside], minlength=len(first)).astype(float)
            own = np.bincount(codes[inside], minlength=size) + PRIOR_WEIGHT * self.overall
            self.tilts[group] = _fit_tilt(pooled, weights, own, 1 if not keys else None)

    def _pool(self, keys: Sequence[IntArray], rows: int, group: int) -> FloatArray:
        """Return P(code | Z) at the cells of rows; a group's own if it has tables."""
        shares = np.tile(self.overall, (rows, 1))
        for key, (names, table) in zip(keys, self.tables[group], strict=True):
            if not len(names):  # no person of the group has a value
                continue
            places = np.minimum(np.searchsorted(names, key), len(names) - 1)
            counts = np.where((names[places] == key)[:, None], table[places], 0.0)
            shares = (counts + CELL_WEIGHT * shares) / (
                counts.sum(axis=1, keepdims=True) + CELL_WEIGHT
            )
        return shares

    def __call__(self, group: int, people: People, rows: int) -> FloatArray:
        """Return (rows, codes) the law of people in a group."""
        law = self._pool(self.cells.keys(people, rows), rows, group) * self.tilts[group]
        return np.asarray(law / law.sum(axis=1, keepdims=True))


def _count_cells(
    keys: Sequence[IntArray], codes: IntArray, size: int
) -> list[tuple[IntArray, FloatArray]]:
    """Return the cells of each key, and how many people of each have each code."""
    tables = []
    for key in keys:
        names, places = np.unique(key, return_inverse=True)
        table = np.bincount(places.reshape(-1) * size + codes, minlength=len(names) * size)
        tables.append((names, table.reshape(len(names), size).astype(np.float64)))
    return tables


def _fit_tilt(
    pooled: FloatArray, weights: FloatArray, own: FloatArray, rounds: int | None
) -> FloatArray:
    """Return factors under which the mean law has a group's own frequencies."""
    tilt = np.ones(pooled.shape[1])
    for _ in range(rounds or MAX_FITTING_ROUNDS):
        law = pooled * tilt
        expected = weights @ (law / law.sum(axis=1, keepdims=True))
        factor = own / np.maximum(expected, 1e-9)
        tilt = tilt * factor
        if np.ptp(factor) < CONVERGED:
            break
    return np.asarray(tilt / tilt.max())


def couple_codes(
    codes: IntArray, own: FloatArray, other: FloatArray, uniforms: Uniforms, *, is_ordered: bool
) -> IntArray:
    """Move codes from one law to another: at the same rank, or with the fewest changes."""
    rows = np.arange(len(codes))
    if is_ordered:
        rank = np.cumsum(own, axis=1)[rows, codes] - own[rows, codes] * (1 - uniforms.tie)
        places = (np.cumsum(other, axis=1) < rank[:, None] - ROUNDING).sum(axis=1)
        return np.asarray(np.minimum(places, own.shape[1] - 1))
    stays = uniforms.tie * own[rows, codes] <= other[rows, codes]
    gains = np.maximum(other - own, 0).cumsum(axis=1)
    total = gains[:, -1]
    new = (gains <= (uniforms.level * total)[:, None]).sum(axis=1)
    return np.where(stays | (total <= ROUNDING), codes, np.minimum(new, own.shape[1] - 1))


class LevelMap:
    """The move of a column of levels, ordered or not."""

    def __init__(
        self, kind: ColumnKind, values: ColumnValues, groups: IntArray, count: int,
        given: Sequence[ColumnKind], people: People, *, interacts: bool = False,
    ) -> None:  # fmt: skip
        there = values != MISSING
        self.is_ordered = kind.kind == "ordered"
        self.law = GroupLaw(
            values[there], kind.size, groups[there], count, given, _take(people, given, there),
            interacts=interacts,
        )  # fmt: skip

    def move(
        self, values: ColumnValues, move: Move, own: People, other: People, uniforms: Uniforms
    ) -> ColumnValues:  # fmt: skip
        """Return the levels in the other group."""
        laws = self.law(move.source, own, len(values)), self.law(move.target, other, len(values))
        new = couple_codes(np.maximum(values, 0), *laws, uniforms, is_ordered=self.is_ordered)
        return np.where((values != MISSING) & (uniforms.goes < move.share), new, values)


class NumberMap:
    """The move of a number: the residual of a regression keeps its rank.

    Numbers on a grid are spread evenly over a step, by people's own uniforms, and rounded again
    after the move: a shift of .3 steps moves three in ten people by one.
    """

    def __init__(
        self, kind: ColumnKind, values: ColumnValues, groups: IntArray, count: int,
        given: Sequence[ColumnKind], people: People, *, interacts: bool = False,
    ) -> None:  # fmt: skip
        there = ~np.isnan(values)
        known, groups, inside = values[there], groups[there], _take(people, given, there)
        self.count, self.decimals, self.step = count, kind.decimals, kind.step
        numbers, counts = np.unique(known, return_counts=True)
        most = counts.argmax()
        self.mode = numbers[most] if counts[most] >= MIN_MODE_SHARE * len(known) else np.nan
        self.lowest, self.highest = numbers[0], numbers[-1]
        is_mode = known == self.mode
        self.mode_law = None
        if is_mode.any():
            self.mode_law = GroupLaw(is_mode.astype(np.int64), 2, groups, count, given, inside)
        self.parts, self.cells = self._fit_parts(kind, known, groups, given, inside)
        self.design, self.line, self.extra = None, np.zeros(0), None
        rest, groups, inside = known[~is_mode], groups[~is_mode], _take(inside, given, ~is_mode)
        if given:
            self.design = Design(given, inside)
            rows = self.design(inside, len(rest))
            flags = (groups[:, None] == np.arange(count)).astype(np.float64)
            coefficients = _ridge(np.hstack([flags, rows]), rest, RIDGE)
            self.line = coefficients[count:]
            if interacts:
                residuals = rest - np.hstack([flags, rows]) @ coefficients
                self.extra = _ridge(
                    self._cross(groups, rows), residuals, INTERACTION_RIDGE
                )  # fmt: skip
            rest = rest - self._centre(groups, rows)
        # different ranks for equal numbers
        rest = rest + self.step * (np.random.default_rng(0).random(len(rest)) - 0.5)
        self.rest = [_sort_or_zero(rest[groups == group]) for group in range(count)]
        bins = int(np.clip(min(map(len, self.rest)) // BIN_PEOPLE, 1, MAX_BINS))
        self.knots = np.array(
            [[part.mean() for part in np.array_split(one, bins)] for one in self.rest]
        )

    def _fit_parts(
        self, kind: ColumnKind, values: ColumnValues, groups: IntArray,
        given: Sequence[ColumnKind], people: People,
    ) -> tuple[dict[int, NumberMap], Cells | None]:  # fmt: skip
        """Return a separate map for each cell of levels, if all have enough people."""
        if not given or any(kind.is_number for kind in given):
            return {}, None
        cells = Cells(given, people)
        keys = cells.keys(people, len(values))[-1]
        names, places = np.unique(keys, return_inverse=True)
        places = places.reshape(-1)
        counts = np.bincount(places * self.count + groups, minlength=len(names) * self.count)
        if counts.min() < MIN_CELL_PEOPLE:
            return {}, None
        return {
            int(name): NumberMap(
                kind, values[places == at], groups[places == at], self.count, (), {}
            )
            for at, name in enumerate(names)
        }, cells

    def _cross(self, groups: IntArray, rows: FloatArray) -> FloatArray:
        return np.hstack([rows * (groups == group)[:, None] for group in range(self.count)])

    def _centre(self, groups: IntArray, rows: FloatArray) -> FloatArray:
        """Return the prediction of the given columns, without the group's own level."""
        centre = rows @ self.line
        return centre if self.extra is None else centre + self._cross(groups, rows) @ self.extra

    def _centre_in(self, group: int, people: People, rows: int) -> FloatArray:
        if self.design is None:
            return np.zeros(rows)
        return self._centre(np.full(rows, group), self.design(people, rows))

    def move(
        self, values: ColumnValues, move: Move, own: People, other: People, uniforms: Uniforms
    ) -> ColumnValues:  # fmt: skip
        """Return the numbers in the other group."""
        rows = len(values)
        if self.cells is not None:
            keys = [self.cells.keys(people, rows)[-1] for people in (own, other)]
            if (keys[0] == keys[1]).all() and np.isin(keys[0], [*self.parts]).all():
                shifted = values.copy()
                for name, part in self.parts.items():
                    inside = keys[0] == name
                    shifted[inside] = part.move(values[inside], move, {}, {}, uniforms.take(inside))
                return shifted
        is_mode = values == self.mode
        becomes_mode = is_mode
        if self.mode_law is not None:
            own_law = self.mode_law(move.source, own, rows)
            other_law = self.mode_law(move.target, other, rows)
            codes = couple_codes(
                is_mode.astype(np.int64), own_law, other_law, uniforms, is_ordered=False
            )
            becomes_mode = np.where(uniforms.goes < move.share, codes == 1, is_mode)
        spread = values + self.step * (uniforms.level - 0.5)
        before = spread - self._centre_in(move.source, own, rows)
        centre = self._centre_in(move.target, other, rows)
        knots = self.knots[move.source]
        shifted = centre + before + np.interp(before, knots, self.knots[move.target] - knots)
        shifted = spread + move.share * (shifted - spread)
        drawn = centre + np.quantile(self.rest[move.target], uniforms.level)
        shifted = np.where(is_mode, drawn, shifted)
        lowest, highest = np.fmin(values, self.lowest), np.fmax(values, self.highest)
        if self.step:
            shifted = self.step * np.round(shifted / self.step)
        shifted = np.round(np.clip(shifted, lowest, highest), self.decimals)
        shifted = np.where(becomes_mode, self.mode, shifted)
        # people who had the dominant number and keep it have no other
        return np.where(np.isnan(values) | (is_mode & becomes_mode), values, shifted)


def _ridge(design: FloatArray, values: FloatArray, penalty: float) -> FloatArray:
    """Return the coefficients of a ridge regression without intercept."""
    gram = design.T @ design + penalty * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(gram, design.T @ values))


def _sort_or_zero(values: FloatArray) -> FloatArray:
    return np.sort(values) if len(values) else np.zeros(1)


def _take(people: People, given: Sequence[ColumnKind], rows: BoolArray) -> People:
    """Return the given columns at some rows."""
    return {kind.name: people[kind.name][rows] for kind in given}
