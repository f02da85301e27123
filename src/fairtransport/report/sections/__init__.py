"""What a report says, section by section: each a module here, its template part beside it.

A module tells what its section is called, where it stands and what its template part, the file
of its name that ends in ``.j2``, may use: sentences and tables, made from an `AuditSummary` alone.
The part is written once for HTML and once for Markdown, without its heading; one that comes out
empty is left out. Reports find the modules by themselves.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Output:
    """What a section is written for: HTML or Markdown, its charts, how many moves (None: all).

    Attributes
    ----------
    html
        Whether it is HTML.
    most_moves
        How many moves a table lists.
    charts
        By their keys; a template asks whether there is one before it makes room for it.
    """

    html: bool
    most_moves: int | None = None
    charts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One section of a report.

    Attributes
    ----------
    key
        Its name in the page's links.
    title
        Its heading; empty where the template part makes a frame of its own.
    place
        Sections stand in the order of these numbers.
    contents
        What the template part may use, by name.
    linked
        Whether the list at the top of the page links to it.
    """

    key: str
    title: str
    place: int
    contents: Callable[[Any, Output], Mapping[str, object]]
    linked: bool = True


def find_sections(package: str = __name__) -> dict[str, Section]:
    """Return the sections of a package in their order, by the names of their template parts.

    Parameters
    ----------
    package
        Every module in it is a section and has a ``SECTION``: a new one is found by being there.
    """
    names = [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]
    found = {f"{name}.j2": import_module(f"{package}.{name}").SECTION for name in names}
    return dict(sorted(found.items(), key=lambda one: one[1].place))
