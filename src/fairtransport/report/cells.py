"""What a table is: a caption, columns, and cells that know their full text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.report.numbers import people
from fairtransport.report.strings import shorten, texts_apart, value_text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairtransport.summary import FlowTable, Value

ARROW = " → "
FEW_PAIRS = 6
"""Columns of a person that a cell shows before it is unfolded."""
MANY_DIGITS = ((10.0, 4), (1000.0, 2))
"""Numbers below a limit are shown with so many decimals; larger ones as whole numbers."""


@dataclass(frozen=True)
class Cell:
    """What a cell shows, in full, and the number it is sorted by.

    ``pairs`` are a profile's columns with their values; ``text`` is the same in a line.

    Attributes
    ----------
    text
        Already made visible: no control character of the data is in it.
    sort
        None where the text itself is the order.
    pairs
        Empty for anything but a person.
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
        """The pairs that are shown at once; where there are a few more, all of them."""
        some = self.short_pairs
        return some if len(some) <= FEW_PAIRS + 2 else some[:FEW_PAIRS]

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
    """A column's heading, whether it holds numbers, and whether its words stay in one line.

    Attributes
    ----------
    title
        The heading.
    numeric
        Numbers are set flush right and sorted as numbers.
    unbroken
        A verdict with its mark must not be torn apart.
    """

    title: str
    numeric: bool = False
    unbroken: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``key`` names it in the document.

    Attributes
    ----------
    key
        For links and scripts of a page.
    caption
        What a screen reader says first; no two tables of a page share one.
    columns, rows
        As many cells in each row as there are columns.
    """

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def people_cell(number: float | None) -> Cell:
    """Return a number of people.

    Parameters
    ----------
    number
        None where it is not told.

    Examples
    --------
    >>> people_cell(1234.0).text
    '1,234'
    """
    return Cell(people(number), number)


def pairs_cell(pairs: Iterable[tuple[str, str]]) -> Cell:
    """Return names with their values.

    Parameters
    ----------
    pairs
        Already made visible.

    Examples
    --------
    >>> pairs_cell([("age", "30"), ("sex", "f")]).text
    'age 30, sex f'
    """
    listed = tuple(pairs)
    return Cell(", ".join(f"{name} {value}" for name, value in listed), pairs=listed)


def profile_cell(profile: Mapping[str, Value], without: tuple[str, ...] = ()) -> Cell:
    """Return who somebody is, but for the columns that are told elsewhere.

    Parameters
    ----------
    profile
        The columns by name.
    without
        Those that another cell of the row tells.
    """
    return pairs_cell(
        (visible(name), value_text(value)) for name, value in profile.items() if name not in without
    )


def changes_cell(
    before: Mapping[str, Value], after: Mapping[str, Value], names: Iterable[str]
) -> Cell:
    """Return what changes between two people, column by column.

    Parameters
    ----------
    before, after
        Their columns by name.
    names
        The columns that differ.

    Examples
    --------
    >>> changes_cell({"sex": "f"}, {"sex": "m"}, ["sex"]).text
    'sex f → m'
    """
    return pairs_cell(
        (visible(name), ARROW.join(texts_apart(before.get(name), after.get(name))))
        for name in names
    )


def decimals_for(numbers: Iterable[float]) -> int:
    """Return the decimals that a column of numbers is shown with, the same in every row.

    Parameters
    ----------
    numbers
        All numbers of the column, at least one that is not whole or none at all.

    Examples
    --------
    >>> decimals_for([1.0, 0.0]), decimals_for([0.25, 3.5]), decimals_for([125.5])
    (0, 4, 2)
    """
    known = [abs(number) for number in numbers]
    if all(number == round(number) for number in known):
        return 0
    largest = max(known)
    return next((digits for limit, digits in MANY_DIGITS if largest < limit), 0)


def has_signal(table: FlowTable) -> bool:
    """Tell whether flows show anything: a change, and one that need not be chance if that is known.

    The others are left to their tables, and a sentence says why.

    Parameters
    ----------
    table
        The flows by one feature.
    """
    sure = [cell for cell in table.cells if cell.lower is not None and cell.upper is not None]
    if not sure:
        return any(cell.change for cell in table.cells)
    return any(not (cell.lower or 0.0) <= 0 <= (cell.upper or 0.0) for cell in sure)


def columns_of(titles: Iterable[str], numeric: Iterable[str]) -> tuple[Column, ...]:
    """Return columns, those named twice as columns of numbers.

    Parameters
    ----------
    titles
        All headings in their order.
    numeric
        Those of columns of numbers.

    Examples
    --------
    >>> [(one.title, one.numeric) for one in columns_of(["Name", "People"], ["People"])]
    [('Name', False), ('People', True)]
    """
    numbers = set(numeric)
    return tuple(Column(title, title in numbers) for title in titles)
