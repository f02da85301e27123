"""What a table is: a caption, columns, and cells that know their full text."""

from __future__ import annotations

from dataclasses import dataclass

from fairtransport.report.text import shorten


@dataclass(frozen=True)
class Cell:
    """What a cell shows, in full, and the number it is sorted by.

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
    def is_cut(self) -> bool:
        """Whether the full text says more than the short one."""
        return self.short_pairs != self.pairs if self.pairs else self.short != self.text


@dataclass(frozen=True)
class Column:
    """A column's heading and whether it holds numbers."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``key`` names it in the document."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
