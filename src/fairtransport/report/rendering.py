"""Templates and the sections that they show, for HTML and Markdown alike."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from fairtransport.comparison_summary import ComparisonSummary
from fairtransport.family import FamilySummary
from fairtransport.report import comparison_sections, family_sections, sections
from fairtransport.report.numbers import decimal, level, people, percent
from fairtransport.report.sections import find_sections
from fairtransport.report.strings import profile_text, shorten, visible
from fairtransport.summary import AuditSummary

PACKAGES = {
    AuditSummary: sections,
    ComparisonSummary: comparison_sections,
    FamilySummary: family_sections,
}
"""The sections of each kind of document."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment
    from markupsafe import Markup

    from fairtransport.report.sections import Output, Section

    Document: TypeAlias = AuditSummary | ComparisonSummary | FamilySummary


def environment(finalize: Callable[[object], object], code: Callable[[str], Markup]) -> Environment:
    """Return the templates' environment: escaping always, unknown names an error.

    Parameters
    ----------
    finalize
        What becomes of each value before it is written.
    code
        Escapes text in which words between backticks are code.

    Returns
    -------
    Environment
        Templates are looked for in ``templates/`` and beside the sections' modules.
    """
    places = (place for one in PACKAGES.values() for place in one.__path__)
    return _environment(finalize, code, tuple(places))


@cache  # templates are compiled once, whatever number of documents they are filled in for
def _environment(
    finalize: Callable[[object], object], code: Callable[[str], Markup], places: tuple[str, ...]
) -> Environment:
    """Make an environment once for the two functions and the places of templates.

    Parameters
    ----------
    finalize
        What becomes of each value before it is written.
    code
        Escapes text in which words between backticks are code.
    places
        Folders that templates are looked for in after ``templates/``; a tuple, as the cache needs.

    Notes
    -----
    Everything is escaped and an unknown name is an error, so that names from the data can neither
    break a page nor vanish from it. Only what passes ``trusted`` is not escaped.
    """
    from pathlib import Path

    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", *places]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    made.filters |= {
        "code": code,
        "decimal": decimal,
        "level": level,
        "people": people,
        "percent": percent,
        "profile": profile_text,
        "shorten": shorten,
        "visible": visible,
        # our own files, sentences without data and JSON that was made safe; nothing else
        "trusted": Markup,
    }
    return made


def render_sections(
    made: Environment, summary: Document, output: Output
) -> list[tuple[Section, Markup]]:
    """Return the sections of a report, each with its template part filled in.

    Parameters
    ----------
    made
        The environment.
    summary
        Its kind decides which package of sections tells it.
    output
        HTML or Markdown, charts, and how many moves.
    """
    from markupsafe import Markup

    package = next(one for kind, one in PACKAGES.items() if isinstance(summary, kind)).__name__
    return [
        (
            section,
            # a template that escapes gives text that is safe to put into another one
            Markup(  # noqa: S704
                made.get_template(name).render(
                    s=summary, output=output, **section.contents(summary, output)
                )
            ),
        )
        for name, section in find_sections(package).items()
    ]
