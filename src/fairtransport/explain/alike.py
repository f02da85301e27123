"""Rates among similar people: each group compared with a reference group in the same strata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.schema import Doc
from fairtransport.explain.disclosure import Rounding
from fairtransport.explain.moves import Profile, Profiles, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.data import SampleSpace

DECISION, OTHER_DECISION, ERROR, PREDICTION, LOSS = MEASURES = (
    "decision", "other-decision", "error", "prediction", "loss",
)  # fmt: skip
"""What a measure averages: a decision, any decision but one, errors, numbers, or losses."""
MAX_COMPARED_GROUPS = 50
"""Maximum number of groups in a comparison, the largest ones."""
MIN_COMPARED_PEOPLE = 20
"""Groups with fewer comparable people come last, whatever their rates."""
MAX_SHARED_STEP = 0.1
"""Rates that need coarser rounding are left out of shared documents."""


@dataclass(frozen=True, kw_only=True)
class GroupBesideReference:
    """The rate of a group, and that of the reference group among similar people.

    Both are over the strata that have people of both. The reference rate is directly
    standardised: its rate in each stratum, weighted by the group's people there.
    """

    group: Annotated[Profile, Doc("The group.")]
    people: Annotated[
        int, Doc("Its people with an equal in the reference group; coarse if shared.")
    ]
    rate: Annotated[float, Doc("Their rate, or mean; coarse if shared.")]
    reference_people: Annotated[
        int, Doc("Reference people with an equal in the group; coarse if shared.")
    ]
    reference_rate: Annotated[
        float,
        Doc("Their rate or mean, weighted to the strata of the group; coarse if shared."),
    ]

    @property
    def difference(self) -> float:
        """The group's rate minus the reference's."""
        return self.rate - self.reference_rate


@dataclass(frozen=True, kw_only=True)
class RatesAmongAlike:
    """Rates of the groups of one sensitive feature, or of several, among similar people.

    Rates describe the audited people and have no interval; R has a bound.
    """

    features: Annotated[
        tuple[str, ...], Doc("The sensitive feature; several: groups are their combinations.")
    ]
    alike: Annotated[
        tuple[str, ...],
        Doc(
            "The columns whose values are equal in a stratum: all others, with the true label if "
            "the loss uses it."
        ),
    ]
    measure: Annotated[
        str,
        Doc(
            "What is averaged: getting the decision, getting any other decision, errors, the "
            "predicted number, or the loss.",
            one_of=MEASURES,
        ),
    ]
    column: Annotated[str, Doc("The column of the predictions.")]
    decision: Annotated[Value, Doc("The decision; null where the measure is about none.")]
    reference: Annotated[Profile, Doc("The largest group, with which the others are compared.")]
    people: Annotated[int, Doc("People in strata with at least two groups; coarse if shared.")]
    groups: Annotated[
        tuple[GroupBesideReference, ...],
        Doc(
            "The other groups that share a stratum with the reference, the largest difference "
            "first, those of fewer than 20 people last."
        ),
    ]
    worst: Annotated[
        Profile | None,
        Doc(
            "The group with the worse rate in the first comparison, which may be chance; null "
            "where none is worse, or without a favourable decision."
        ),
    ]


@dataclass(frozen=True)
class Measure:
    """A measure to average over people: values at the points, their kind, whether more is worse."""

    kind: str
    values: FloatArray
    decision: Value = None
    more_is_worse: bool = False

    @property
    def width(self) -> float:
        """How much one person can change the sum."""
        return float(np.ptp(self.values)) or 1.0


def rates_among_alike(
    space: SampleSpace, blocks: IntArray, features: Sequence[str], fixed_features: Sequence[str],
    measure: Measure, *, alike: Sequence[str], at_least: int = 0,
) -> RatesAmongAlike | None:  # fmt: skip
    """Return the rates of the groups of some features; None if no two can be compared.

    A stratum is a block split by the features that are held fixed. With ``at_least``, cells of
    fewer people are left out, numbers of people are rounded, and a rate is rounded to a step that
    hides this many people: one person of the reference weighs n_g(s) / (N_g · n_r(s)), which is
    more than 1 / N in a stratum with few of the reference.
    """
    there = space.observed

    def codes(names: Sequence[str]) -> list[IntArray]:
        """Return columns of the audited people."""
        return [space.columns[name].codes[there] for name in names]

    counts = space.counts[there]
    strata = number_rows([blocks[there], *codes(fixed_features)])
    group = number_rows(codes(features))
    cells = _Cells.count(strata, group, counts, measure.values[there], at_least)
    sizes = np.bincount(group, counts)
    largest = np.argsort(-sizes, kind="stable")[: MAX_COMPARED_GROUPS + 1]
    reference = int(largest[0])
    comparisons = cells.beside(reference, largest)
    rounding = None if not at_least else _Coarse(at_least, measure.width)
    rows = comparisons if rounding is None else rounding.rows(comparisons)
    if not rows:
        return None
    first = np.flatnonzero(there)[np.unique(group, return_index=True)[1]]
    profiles = Profiles(space)
    groups = tuple(
        GroupBesideReference(
            group=profiles.part(int(first[row.group]), features), people=row.people, rate=row.rate,
            reference_people=row.reference_people, reference_rate=row.reference_rate,
        )
        for row in sorted(rows, key=_Row.rank)
    )  # fmt: skip
    result = RatesAmongAlike(
        features=tuple(features), alike=tuple(alike), measure=measure.kind,
        column=", ".join(space.predictions), decision=measure.decision,
        reference=profiles.part(int(first[reference]), features),
        people=cells.comparable(0 if rounding is None else at_least), groups=groups, worst=None,
    )  # fmt: skip
    return replace(result, worst=_worst(result) if measure.more_is_worse else None)


def _worst(rates: RatesAmongAlike) -> Profile | None:
    """Return the group with the higher rate in the first comparison; None if rates are equal."""
    first = rates.groups[0]
    if first.difference == 0:
        return None
    return first.group if first.difference > 0 else rates.reference


@dataclass(frozen=True)
class _Row:
    """A group compared with the reference, and one person's largest weight in the two rates."""

    group: int
    people: int
    rate: float
    reference_people: int
    reference_rate: float
    weight: float

    def rank(self) -> tuple[bool, float, int]:
        """Return the sort key of groups."""
        few = min(self.people, self.reference_people) < MIN_COMPARED_PEOPLE
        return few, -abs(self.rate - self.reference_rate), self.group


@dataclass(frozen=True)
class _Cells:
    """People and sums of values by stratum and group, without empty cells."""

    stratum: IntArray
    group: IntArray
    people: FloatArray
    sums: FloatArray

    @classmethod
    def count(
        cls, strata: IntArray, group: IntArray, counts: IntArray, values: FloatArray, at_least: int
    ) -> _Cells:
        """Return the cells of at least ``at_least`` people."""
        cell = number_rows([strata, group])
        first = np.unique(cell, return_index=True)[1]
        people = np.bincount(cell, counts).astype(np.float64)
        sums = np.bincount(cell, counts * values).astype(np.float64)
        rows: BoolArray = people >= max(at_least, 1)
        return cls(strata[first][rows], group[first][rows], people[rows], sums[rows])

    def comparable(self, at_least: int) -> int:
        """Return the number of people in strata with at least two groups, rounded if shared."""
        shared = np.bincount(self.stratum)[self.stratum] > 1 if len(self.stratum) else slice(0)
        people = self.people[shared]
        if at_least:
            return int(Rounding(at_least, 1.0).total(people))
        return int(people.sum())

    def beside(self, reference: int, groups: IntArray) -> list[_Row]:
        """Return each group that shares a stratum with the reference."""
        if not len(self.stratum):
            return []
        own = self.group == reference
        size = int(self.stratum.max()) + 1
        people = np.bincount(self.stratum[own], self.people[own], size)
        sums = np.bincount(self.stratum[own], self.sums[own], size)
        rows = []
        for group in groups.tolist():
            cells = (self.group == group) & (people[self.stratum] > 0)
            if group == reference or not cells.any():
                continue
            here, there = self.people[cells], people[self.stratum[cells]]
            total = float(here.sum())
            mean = sums[self.stratum[cells]] / there
            rows.append(
                _Row(
                    group, int(total), float(self.sums[cells].sum() / total), int(there.sum()),
                    float(here @ mean / total), max(1.0, float((here / there).max())) / total,
                )
            )  # fmt: skip
        return rows


@dataclass(frozen=True)
class _Coarse:
    """Rounding of rows in a shared document."""

    at_least: int
    width: float

    def rows(self, rows: list[_Row]) -> list[_Row]:
        """Return the rows of many people, rounded."""
        roundings = [Rounding.of_mean(self.at_least, 1 / row.weight, self.width) for row in rows]
        return [
            replace(
                row, rate=rounding.nearest(row.rate),
                reference_rate=rounding.nearest(row.reference_rate),
                people=self._people(row.people),
                reference_people=self._people(row.reference_people),
            )
            for row, rounding in zip(rows, roundings, strict=True)
            if rounding.step <= MAX_SHARED_STEP * self.width
        ]  # fmt: skip

    def _people(self, number: int) -> int:
        """Return a number of people, rounded to twice the multiples, like totals."""
        step = 2 * self.at_least
        return round(number / step) * step
