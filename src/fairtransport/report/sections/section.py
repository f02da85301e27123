"""A section of a report, and the piece of a document that a notebook shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairtransport.report.tables import Table


@dataclass(frozen=True)
class Output:
    """The format of a section (HTML or Markdown), its charts, the number of moves (None: all).

    ``text`` is what the sections before it say in HTML, without tags and cells of tables.
    """

    html: bool
    max_moves: int | None = None
    charts: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a report: its anchor, heading and template, and the names the template uses.

    The common template ``parts.j2`` uses ``parts``, sentences and tables in their order. A folded
    section is opened by its heading, which ``hint`` follows.
    """

    key: str
    title: str
    template: str
    contents: Callable[[Any, Output], Mapping[str, object]]
    linked: bool = True
    folded: bool = False
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """The content of a notebook fragment: a headline, sentences, a table and a last line."""

    colour: str
    title: str
    lead: str
    sentences: tuple[str, ...] = ()
    table: Table
    caption: str
    table_note: str | None = None
    footer: str
