"""The files that are audited: where they are, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from fairtransport.space.file_source import FileSource
from fairtransport.space.overview import overview_of, people_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.app.uploads import Upload
    from fairtransport.space.overview import ColumnOverview, FileOverview


@dataclass(eq=False)
class Table:
    """A file of cases.

    Attributes
    ----------
    path, shown
        Where it is, and what its owner calls it: a path, or the name of what was handed over.
    is_ours
        Whether it is kept in the server's folder, and removed with it.
    typed
        What the form begins with.
    models
        Model files that were handed over for it, by keys.
    """

    path: Path
    shown: str
    is_ours: bool = False
    typed: Mapping[str, str] = field(default_factory=dict)
    models: dict[str, Upload] = field(default_factory=dict)
    key: str = field(default_factory=lambda: token_hex(8))

    @property
    def name(self) -> str:
        """Its name, without its folder."""
        return Path(self.shown).name

    @cached_property
    def source(self) -> FileSource:
        """The file as audits read it."""
        return FileSource(self.path)

    @cached_property
    def overview(self) -> FileOverview:
        """Its columns and how many rows it has."""
        return overview_of(self.source)

    @property
    def columns(self) -> tuple[ColumnOverview, ...]:
        """Its columns."""
        return self.overview.columns

    def people(self, counts: str | None) -> int:
        """Return about how many cases it has."""
        return self.overview.rows if counts is None else people_in(self.source, counts)
