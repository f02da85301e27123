"""The report of several audits: one page, one text, one fragment for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.charts.family_bounds import family_document
from fairtransport.report.family_sections.family_finding import (
    counts_sentence,
    family_title,
    members_table,
    promise_sentence,
    worst_verdict,
)
from fairtransport.report.html import html_environment, page
from fairtransport.report.markdown import render_markdown

if TYPE_CHECKING:
    from fairtransport.family import FamilySummary

TITLE = "Audits for individual bias"


def render_family_html(summary: FamilySummary, *, title: str = TITLE) -> str:
    """Return the report as one HTML document, the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the audits say together.
    title
        The heading.
    """
    charts = {"family": family_document(list(map(vars, summary.members)))}
    return page(summary, title, charts, summary.version)


def render_family_markdown(summary: FamilySummary, *, title: str = TITLE) -> str:
    """Return the report as Markdown, the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the audits say together.
    title
        The heading.
    """
    return render_markdown(summary, title=title)


def render_family_fragment(summary: FamilySummary) -> str:
    """Return a piece of HTML without scripts for a notebook.

    Parameters
    ----------
    summary
        What the audits say together.
    """
    return (
        html_environment()
        .get_template("family_notebook.html.j2")
        .render(
            worst=worst_verdict(summary),
            title=family_title(summary),
            counts=counts_sentence(summary),
            promise=promise_sentence(summary),
            members=members_table(summary),
        )
    )
