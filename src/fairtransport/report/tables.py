"""Tables: a caption, columns, and cells with their full text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.report.text import distinct_texts, people, percent, shorten, value_text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairtransport.explain.decisions import ShareOfPeople
    from fairtransport.explain.flows import Flow, FlowTable
    from fairtransport.explain.moves import Value

ARROW = " → "
MIN_CELL_PAIRS = 6
"""Number of a person's columns in a folded cell."""
DECIMALS_BY_SIZE = ((10.0, 4), (1000.0, 2))
"""(limit, decimals): decimals of numbers below a limit; larger ones are whole."""


@dataclass(frozen=True)
class Cell:
    """A cell: its full text, and the number it is sorted by.

    ``pairs`` are a profile's columns with their values; ``text`` is the same in a line.
    """

    text: str
    sort: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def short(self) -> str:
        """The text, shortened to what fits a line or two."""
        return shorten(self.text)

    @property
    def short_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs, each value shortened."""
        return tuple((shorten(name, 40), shorten(value, 80)) for name, value in self.pairs)

    @property
    def first_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are shown at once; all of them if there are only a few more."""
        some = self.short_pairs
        return some if len(some) <= MIN_CELL_PAIRS + 2 else some[:MIN_CELL_PAIRS]

    @property
    def further_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are folded away."""
        return self.short_pairs[len(self.first_pairs) :]

    @property
    def is_cut(self) -> bool:
        """Whether the full text says more than the short one."""
        return self.short_pairs != self.pairs if self.pairs else self.short != self.text


@dataclass(frozen=True)
class Column:
    """A column's heading, whether it holds numbers, and whether its words stay in one line."""

    title: str
    numeric: bool = False
    unbroken: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``key`` names it in the document."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def people_cell(number: float | None) -> Cell:
    """Return a number of people."""
    return Cell(people(number), number)


def pairs_cell(pairs: Iterable[tuple[str, str]]) -> Cell:
    """Return names with their values."""
    items = tuple(pairs)
    return Cell(", ".join(f"{name} {value}" for name, value in items), pairs=items)


def profile_cell(profile: Mapping[str, Value], without: tuple[str, ...] = ()) -> Cell:
    """Return a profile, without the columns that are shown elsewhere."""
    return pairs_cell(
        (visible(name), value_text(value)) for name, value in profile.items() if name not in without
    )


def changes_cell(
    before: Mapping[str, Value], after: Mapping[str, Value], names: Iterable[str]
) -> Cell:
    """Return what changes between two people, column by column."""
    return pairs_cell(
        (visible(name), ARROW.join(distinct_texts(before.get(name), after.get(name))))
        for name in names
    )


def decimals_for(numbers: Iterable[float]) -> int:
    """Return the decimals that a column of numbers is shown with, the same in every row."""
    sizes = [abs(number) for number in numbers]
    if all(number == round(number) for number in sizes):
        return 0
    largest = max(sizes)
    return next((digits for limit, digits in DECIMALS_BY_SIZE if largest < limit), 0)


def has_intervals(table: FlowTable) -> bool:
    """Tell whether the cells of flows have intervals, or only describe the data."""
    return any(cell.lower is not None and cell.upper is not None for cell in table.cells)


def is_established(cell: Flow) -> bool:
    """Tell whether the interval of a change in people does not contain 0."""
    if cell.lower is None or cell.upper is None:
        return False
    return not cell.lower <= 0 <= cell.upper


def has_signal(table: FlowTable) -> bool:
    """Tell whether flows show anything: a change, and an established one if there are intervals.

    Other flows have tables only, and a sentence explains why.
    """
    if not has_intervals(table):
        return any(cell.change for cell in table.cells)
    return any(map(is_established, table.cells))


def columns_of(titles: Iterable[str], numeric: Iterable[str]) -> tuple[Column, ...]:
    """Return columns, those named twice as columns of numbers."""
    numbers = set(numeric)
    return tuple(Column(title, title in numbers) for title in titles)


def changed_cell(count: ShareOfPeople | None) -> Cell:
    """Return how many decisions would change, as in "143 (9 %)"."""
    if count is None:
        return Cell("not known")
    return Cell(f"{people(count.people)} ({percent(count.share)})", count.people)
