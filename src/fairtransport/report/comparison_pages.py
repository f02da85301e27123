"""The report of a comparison: one page, one text, one fragment for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.comparison_sections.comparison_finding import (
    LIKE,
    comparison_title,
    difference_sentence,
    differences_table,
    intervals_sentence,
)
from fairtransport.report.html import html_environment, page
from fairtransport.report.markdown import render_markdown

if TYPE_CHECKING:
    from fairtransport.comparison_summary import ComparisonSummary

TITLE = "Models compared for individual bias"


def render_comparison_html(summary: ComparisonSummary, *, title: str = TITLE) -> str:
    """Return the report as one HTML document, the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the comparison says.
    title
        The heading.
    """
    return page(summary, title, {}, summary.provenance.version)


def render_comparison_markdown(summary: ComparisonSummary, *, title: str = TITLE) -> str:
    """Return the report as Markdown, the same bytes for the same summary.

    Parameters
    ----------
    summary
        What the comparison says.
    title
        The heading.
    """
    return render_markdown(summary, title=title)


def render_comparison_fragment(summary: ComparisonSummary) -> str:
    """Return a piece of HTML without scripts for a notebook.

    Parameters
    ----------
    summary
        What the comparison says.
    """
    return (
        html_environment()
        .get_template("family_notebook.html.j2")
        .render(
            worst=LIKE[summary.verdict],
            title=comparison_title(summary),
            counts=difference_sentence(summary),
            promise=intervals_sentence(summary),
            members=differences_table(summary),
        )
    )
