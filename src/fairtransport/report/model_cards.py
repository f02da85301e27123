"""Puts what an audit says into a model card: a section of a Markdown file, renewed in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairtransport.errors import InputError
from fairtransport.report.markdown import render_markdown

if TYPE_CHECKING:
    from fairtransport.summary import AuditSummary

BEGIN, END = "<!-- fairtransport: audit -->", "<!-- fairtransport: end of audit -->"
_SECTION = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def with_section(card: str, summary: AuditSummary) -> str:
    """Return a card with the audit's section: in the place of an earlier one, or at the end.

    Its headings are one level below those of a report, as a part of the card.

    Parameters
    ----------
    card
        The whole file's text; all else in it stays byte for byte.
    summary
        What the audit says.

    Raises
    ------
    InputError
        If the marks of an earlier section do not pair up.
    """
    if card.count(BEGIN) != card.count(END) or card.count(BEGIN) > 1:
        msg = (
            f"`path` must be a card with the lines {BEGIN!r} and {END!r} once each, or without "
            f"them, got {card.count(BEGIN)} and {card.count(END)} of them"
        )
        raise InputError(msg)
    text = re.sub("^#", "##", render_markdown(summary), flags=re.MULTILINE)
    section = f"{BEGIN}\n{text}{END}"
    if BEGIN in card:
        return _SECTION.sub(lambda _: section, card)
    return f"{card.rstrip()}\n\n{section}\n" if card.strip() else f"{section}\n"
