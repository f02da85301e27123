"""Rounding and suppression, so that shared documents do not disclose few people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Annotated, TypeAlias, overload

import numpy as np

from fairtransport._core.notes import Count, Figure, Mean, Note, Wording
from fairtransport._core.schema import Doc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.data import SampleSpace
    from fairtransport.explain.moves import MovePlan

    Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.signedinteger]


NICE = (1, 2, 5)
NOISE = 9
"""Decimals of a number of steps; further ones are rounding errors."""
ROUNDINGS = 3
"""The statistic and both ends of its interval are published: three roundings of one number."""
MAX_HIDDEN = 4
"""People at small points are few in total up to this multiple of the limit; they are then counted
at the largest point."""
MAX_FULL_CELLS = 8
"""Up to this number of small cells, more people would make them too full for a document."""
MOVED_BOUND = 6
"""Maximum shift of a bound, as a multiple of k/n, when ``MAX_HIDDEN`` · k people are exchanged:
near 1 a Clopper–Pearson bound shifts by 1.4 times the share of the people."""
PVALUES = (0.001, 0.01)
"""A p-value is rounded up to one of these, the level, or 1."""
SMALLEST_GAP = 1e-12
"""Published instead of smaller differences, which are noise that depends on every count."""


@dataclass(frozen=True)
class Rounding:
    """The rounding of the numbers in a shared document.

    A mean over n people of a loss of range R changes by at most kR/n when k people are exchanged
    for others, so a mean rounded to a step of at least kR/n hides k people, like a number of people
    rounded to multiples of k. Several numbers that are rounded separately and rise and fall
    together disclose as much as one with a finer step: with three of them the step is three times
    as large.
    """

    at_least: int
    step: float

    @classmethod
    def of_mean(cls, at_least: int, n: float, width: float = 1.0) -> Rounding:
        """Return the rounding of means over n people of a loss of a given range."""
        return cls(at_least, nice_step(ROUNDINGS * at_least * width / n))

    def nearest(self, mean: float) -> float:
        """Return a mean loss, rounded."""
        return self._round(mean, ROUND_HALF_EVEN)

    def down(self, bound: float | None) -> float | None:
        """Return a lower bound, rounded so that it still holds."""
        return None if bound is None else self._round(bound, ROUND_FLOOR)

    def up(self, bound: float | None) -> float | None:
        """Return an upper bound, rounded so that it still holds."""
        return None if bound is None else self._round(bound, ROUND_CEILING)

    def people(self, numbers: object) -> FloatArray:
        """Return numbers of people, rounded."""
        return np.asarray(np.round(np.asarray(numbers) / self.at_least) * self.at_least)

    def total(self, counts: FloatArray | IntArray) -> float:
        """Return the total of people in several cells, rounded; 0 if they are few.

        It is rounded to twice the multiples, so that differences of numbers of people are no finer
        than these. Cells of few people have at most k − 1 each: a total close to the maximum would
        disclose them all, so it is capped.
        """
        step, people = 2 * self.at_least, counts.sum()
        total = float(np.round(people / step) * step)
        if (counts < self.at_least).all():
            # a total near the maximum of the small cells would disclose that each is at its limit
            room = (counts > 0).sum() * (self.at_least - 1) - self.at_least
            total = min(total, float(room // step * step))
        return max(0.0, total)

    def note(self, note: str) -> str | None:
        """Return a note with its values rounded; None for text with numbers of unknown kinds."""
        if isinstance(note, Note):
            return note.render(self._write)
        return None if any(character.isdigit() for character in note) else note

    def _write(self, value: object, form: str) -> str:
        """Return a value of a note as text, rounded by its kind."""
        match value:
            case Count():
                people = float(self.people(value))
                return f"about {people:,.0f}" if people else f"fewer than {self.at_least}"
            case Mean():
                return f"about {self.nearest(value):g}"
            case Figure():
                return f"about {format(round_to_one_digit(value), form)}"
            case Wording():
                return value.rounded
        return format(value, form)

    def _round(self, number: float, rounding: str) -> float:
        """Return a number as a multiple of the step, by decimal arithmetic: 3 · 0.1 is 0.3."""
        step = Decimal(repr(self.step))
        # a quotient that should be whole must not fall to the next step by a rounding error
        steps = Decimal(f"{number / self.step:.{NOISE}f}").to_integral_value(rounding)
        return float(steps * step)


def nice_step(least: float) -> float:
    """Return the smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, 10, … that is not below a number."""
    power = math.floor(math.log10(least)) - 1
    steps = (float(Decimal(nice).scaleb(power + up)) for up in range(3) for nice in NICE)
    return next(step for step in steps if step >= least * (1 - 1e-12))


def round_pvalue(pvalue: float, alpha: float) -> float:
    """Return an upper bound of a p-value on the same side of the level: 0.001, 0.01, α or 1.

    More digits would disclose the statistic more exactly than its rounding.
    """
    steps = sorted(value for value in (*PVALUES, alpha) if value <= alpha)
    return next((value for value in steps if pvalue <= value), 1.0)


def round_to_one_digit(number: float) -> float:
    """Return a number with one significant digit; infinity unchanged."""
    return float(f"{number:.0e}") if math.isfinite(number) else number


def round_gap(gap: float) -> float:
    """Return a power of ten that a difference does not exceed."""
    return float(Decimal(1).scaleb(math.ceil(math.log10(max(abs(gap), SMALLEST_GAP)) - 1e-9)))


ROUNDING = 1e-6
"""Differences of numbers of people are no more exact than this."""


@dataclass(frozen=True)
class Suppression:
    """What was left out so that the document can be shared.

    Flows, affected profiles and groups are those of the moves shown.
    """

    at_least: Annotated[
        int, Doc("Numbers about fewer people were left out; people are multiples of this.")
    ]
    step: Annotated[float, Doc("Mean losses and their bounds are multiples of this.")]
    moved_hidden: Annotated[float, Doc("About how many people are in swaps that are not shown.")]


@overload
def are_few(people: float, at_least: int) -> bool: ...


@overload
def are_few(people: Numbers, at_least: int) -> BoolArray: ...


def are_few(people: float | Numbers, at_least: int) -> bool | BoolArray:
    """Return whether there are people, but fewer than ``at_least``."""
    return (people > ROUNDING) & (people < at_least - ROUNDING)


def find_visible_moves(moves: MovePlan, at_least: int, identifying: BoolArray) -> BoolArray:
    """Return which moves can be shown.

    The ``identifying`` points must not be shown as targets, as they disclose few people. No other
    move is hidden to cover a small one: numbers of people are rounded, so that a total does not
    disclose a small move, but hiding another one would.
    """
    return (moves.people >= at_least - ROUNDING) & ~identifying[moves.targets]


def find_identifying_targets(space: SampleSpace, at_least: int, *, from_sample: bool) -> BoolArray:
    """Return which points disclose, as targets, few people in the audit data.

    With ``from_sample`` the targets are points of the audit data, or twins of them, whose sensitive
    levels occur in the data. Points of few people count as empty, or the result would depend on
    them.
    """
    counts = hide_small_counts(space, at_least)
    people = [_people_like(space, counts, [*one.columns]) for one in space.column_sets]
    if from_sample and space.has_twins:
        others = [name for name in space.columns if name not in space.sensitive]
        people.append(_people_like(space, counts, others))
    elif from_sample:
        people.append(counts)
    return np.asarray((np.array(people) == 0).any(axis=0), dtype=bool)


def hide_small_counts(space: SampleSpace, at_least: int) -> IntArray:
    """Return the number of people at each point, 0 if they are few."""
    return np.where(space.counts >= at_least, space.counts, 0)


def _people_like(space: SampleSpace, counts: IntArray, names: list[str]) -> IntArray:
    """Return the number of people who agree with each point in some columns."""
    groups = space.groups(names)
    return np.bincount(groups, counts).astype(np.int64)[groups]
