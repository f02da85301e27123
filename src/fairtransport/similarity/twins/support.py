"""Support: the ranges, kinds and levels of the fitting data, inside which twins are made up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.similarity.encoding import HALF, Encoding, OneHot, Standardised, fingerprint
from fairtransport.space.columns import CodedColumn, encode, sorted_levels
from fairtransport.space.overlap import SharedRows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.checks import BoolArray, FloatArray, IntArray, Values
    from fairtransport.space import SampleSpace

STAYS = 1e-9
"""A level must be this much nearer than a person's own to take its place."""


@dataclass(frozen=True)
class Span:
    """What a numeric column of the fitting data holds: from, to, and whether whole numbers."""

    low: float
    high: float
    whole: bool

    def around(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return between what numbers a twin may go: who is outside goes no farther out."""
        return np.minimum(values, self.low), np.maximum(values, self.high)


@dataclass(frozen=True, eq=False)
class Support:
    """What made-up people may look like.

    Attributes
    ----------
    encoding
        How columns become coordinates.
    spans
        The range of every numeric column.
    exclusive
        Numeric columns of which each person has exactly one at 1 and the others at 0, together.
    rows, people
        (any, coordinates) the distinct people of the fitting data, encoded, and how many are alike.
    fingerprint
        That of the fitting data, encoded.
    """

    encoding: Encoding
    spans: Mapping[str, Span]
    exclusive: tuple[tuple[str, ...], ...]
    rows: FloatArray
    people: IntArray
    fingerprint: str

    def is_of(self, space: SampleSpace) -> bool:
        """Say whether the fitting data were the people of a space, all of them and no others."""
        seen = space.observed
        if self.encoding.unknown(space.columns)[seen].any():
            return False
        coordinates = self.encoding.coordinates(space.columns)[seen]
        return fingerprint(coordinates, space.counts[seen]) == self.fingerprint

    def is_from(self, space: SampleSpace) -> bool:
        """Say whether the fitting data were the people of a space, or mostly taken from them."""
        if self.is_of(space):
            return True
        rows, points = self._numbered(space)
        size = max(rows.max(), points.max()) + 1
        listed = np.bincount(rows, self.people, size).astype(np.int64)
        counts = np.bincount(points, space.counts[space.observed], size).astype(np.int64)
        return SharedRows.between(listed, counts).is_mostly_own

    def count_alike(self, space: SampleSpace) -> int:
        """Return how many people of a space look the same as somebody of the fitting data."""
        rows, points = self._numbered(space)
        return int(space.counts[space.observed][np.isin(points, rows)].sum())

    def _numbered(self, space: SampleSpace) -> tuple[IntArray, IntArray]:
        """Return numbers of the fitting data's people and a space's, the same for equal ones."""
        people = self.encoding.identities(space.columns)[space.observed]
        known = np.zeros((len(self.rows), people.shape[1]))
        known[:, : self.rows.shape[1]] = self.rows
        number = np.unique(np.r_[known, people], axis=0, return_inverse=True)[1].reshape(-1)
        return number[: len(known)], number[len(known) :]

    def moved(
        self, columns: Mapping[str, CodedColumn], step: FloatArray, *, exactly: bool
    ) -> dict[str, CodedColumn]:
        """Return people after a step in the coordinates, as they could occur.

        Parameters
        ----------
        columns
            The columns of the people.
        step
            (coordinates,) where everybody goes.
        exactly
            Whether a step is shortened for those whom it would lead out of a range, or farther
            out; else the columns concerned stop there.

        Notes
        -----
        Numbers are taken to the range of the fitting data, whole ones are rounded; of levels, and
        of columns that exclude each other, the one whose coordinate is then largest.
        """
        parts = self._steps(step)
        length = self._lengths(columns, parts) if exactly else np.ones(_people(columns))
        made = {}
        for name, part in self.encoding.parts.items():
            own, by = columns[name], parts[name]
            if isinstance(part, Standardised):
                made[name] = self._number(name, own, by[0] * part.scale * length)
            else:
                made[name] = _level(own, part, by[None, :] * length[:, None])
        for group in self.exclusive:
            made |= self._one_of(group, columns, parts, length)
        return made

    def _steps(self, step: FloatArray) -> dict[str, FloatArray]:
        """Return the part of a step that belongs to each column."""
        cuts = np.split(step, np.cumsum(self.encoding.sizes)[:-1])
        return dict(zip(self.encoding.parts, cuts, strict=True))

    def _lengths(
        self, columns: Mapping[str, CodedColumn], parts: Mapping[str, FloatArray]
    ) -> FloatArray:
        """Return how much of a step keeps each person inside the ranges that they are in."""
        length = np.ones(_people(columns))
        for name, span in self.spans.items():
            by = float(parts[name][0] * _scale(self.encoding, name))
            if by == 0:
                continue
            values = _numbers(columns[name])
            low, high = span.around(values)
            # who has no number there is not kept by it
            length = np.fmin(length, ((high if by > 0 else low) - values) / by)
        return length

    def _number(self, name: str, own: CodedColumn, by: FloatArray) -> CodedColumn:
        values, span = _numbers(own), self.spans[name]
        low, high = span.around(values)
        if span.whole:
            new = np.clip(np.rint(values + by), np.ceil(low), np.floor(high))
        else:
            new = np.clip(values + by, low, high)
        missing = np.isnan(values)
        changed = ~missing & (by != 0) & (new != values)
        if own.levels.dtype.kind in "iu" and np.all(new[changed] == np.rint(new[changed])):
            return encode(_whole(own, new, changed), missing)
        return encode(np.where(changed, new, values), missing)

    def _one_of(
        self, group: tuple[str, ...], columns: Mapping[str, CodedColumn],
        parts: Mapping[str, FloatArray], length: FloatArray,
    ) -> dict[str, CodedColumn]:  # fmt: skip
        """Return columns of which exactly one is 1: where the step leads farthest."""
        own = np.column_stack([_numbers(columns[name]) for name in group])
        by = np.array([parts[name][0] * _scale(self.encoding, name) for name in group])
        best = np.argmax(own * (1 + STAYS) + by[None, :] * length[:, None], axis=1)
        valid = ((own == 0) | (own == 1)).all(axis=1) & (own.sum(axis=1) == 1)
        taken = np.where(valid[:, None], np.arange(len(group)) == best[:, None], own)
        missing = np.isnan(taken)
        taken = np.where(missing, 0, taken)
        return {
            name: encode(taken[:, at].astype(columns[name].levels.dtype), missing[:, at])
            for at, name in enumerate(group)
        }


@dataclass(frozen=True, eq=False)
class Making:
    """How a similarity makes up twins: what people look like, and what changes cost.

    Attributes
    ----------
    support
        What made-up people may look like.
    metric
        (coordinates, dimensions) A: between people d² = |A'z − A'z'|².
    """

    support: Support
    metric: FloatArray


def fit_support(encoding: Encoding, columns: Mapping[str, CodedColumn]) -> Support:
    """Return what people of the fitting data look like."""
    spans = {}
    for name, part in encoding.parts.items():
        if isinstance(part, Standardised):
            used = np.unique(columns[name].codes)
            values = columns[name].levels[used[used >= 0]].astype(np.float64)
            whole = bool(np.all(values == np.rint(values)))
            spans[name] = Span(float(values.min()), float(values.max()), whole)
    coordinates = encoding.coordinates(columns)
    once = fingerprint(coordinates, np.ones(len(coordinates), np.int64))
    rows, people = np.unique(coordinates, axis=0, return_counts=True)
    return Support(encoding, spans, tuple(_exclusive(columns, spans)), rows, people, once)


def _exclusive(
    columns: Mapping[str, CodedColumn], spans: Mapping[str, Span]
) -> list[tuple[str, ...]]:
    """Return neighbouring columns of 0 and 1 of which every row has exactly one 1."""
    names, found, at = [*columns], [], 0
    flags = {
        name: _numbers(columns[name])
        for name, span in spans.items()
        if span.whole and (span.low, span.high) == (0.0, 1.0) and not columns[name].has_missing
    }
    while at < len(names):
        total, end = np.zeros(_people(columns)), at
        while end < len(names) and names[end] in flags and (total + flags[names[end]]).max() <= 1:
            total += flags[names[end]]
            end += 1
        if end > at + 1 and total.min() == 1:
            found.append(tuple(names[at:end]))
            at = end
        else:
            at += 1
    return found


def _level(own: CodedColumn, part: OneHot, by: FloatArray) -> CodedColumn:
    """Return the level whose coordinate is largest after a step; one's own where none is larger."""
    after = part.coordinates("", own) * (1 + STAYS) + by
    best = np.argmax(after, axis=1)
    # a level of one's own that no step leads to or from
    stays = part.unknown(own) & (after.max(axis=1) <= HALF * (1 + STAYS))
    known = {level: at for at, level in enumerate(own.levels.tolist())}
    extra = [level for level in part.levels if level is not None and level not in known]
    levels = sorted_levels([*known, *extra]) if extra else own.levels
    place = {level: at for at, level in enumerate(levels.tolist())}
    codes = np.array([-1 if level is None else place[level] for level in part.levels], np.int64)
    kept = own.with_levels(levels) if extra else own
    return replace(kept, codes=np.where(stays, kept.codes, codes[best]))


def _numbers(column: CodedColumn) -> FloatArray:
    """Return a column's numbers, NaN where they are missing: the last code, -1."""
    levels: FloatArray = np.r_[column.levels.astype(np.float64), np.nan]
    return levels[column.codes]


def _whole(own: CodedColumn, new: FloatArray, changed: BoolArray) -> Values:
    """Return whole numbers of which some were changed; the others may be too large for a float."""
    kind = np.uint64 if own.levels.dtype == np.uint64 and np.all(new[changed] >= 0) else np.int64
    # any number stands where one is missing
    numbers: Values = np.r_[own.levels.astype(kind), kind(0)][own.codes]
    numbers[changed] = new[changed].astype(kind)
    return numbers


def _scale(encoding: Encoding, name: str) -> float:
    part = encoding.parts[name]
    assert isinstance(part, Standardised)  # noqa: S101 - spans are those of numbers
    return part.scale


def _people(columns: Mapping[str, CodedColumn]) -> int:
    return len(next(iter(columns.values())).codes)
