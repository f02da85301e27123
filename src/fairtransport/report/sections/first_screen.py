"""The first screen of a report and of a notebook: verdict, whose decision changes, limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.documents.verdicts import VERDICTS
from fairtransport.report.sections import finding
from fairtransport.report.sections.appendix import facts
from fairtransport.report.sections.counterparts import counterpart_sentences
from fairtransport.report.sections.decisions import (
    alternatives_sentence,
    cases_sentence,
    cases_table,
    changed_by_feature_table,
    counts_people,
    direction_rows,
    favourable_hint,
    favourable_text,
    group_heading,
    headline,
    interval_of,
    interval_sentence,
    label_sentence,
    limit_lines,
    limit_note,
    limit_sentence,
    mean_text,
    next_steps,
    not_said,
    not_said_text,
    score_sentences,
    verdict_finding,
    verdict_note,
    verdict_with_finding,
)
from fairtransport.report.sections.rates import decision_lines
from fairtransport.report.sections.section import Fragment, Section
from fairtransport.report.text import level, percent, shorten

if TYPE_CHECKING:
    from fairtransport.documents.audit import AuditSummary
    from fairtransport.report.sections.decisions import DirectionRow
    from fairtransport.report.sections.section import Output

MAX_LEAD_CHARACTERS = 400
MAX_FRAGMENT_CASES = 5
AXIS_STEPS = (1, 2, 2.5, 5, 10)
"""Distances of an axis's ticks, as multiples of a power of ten."""
MAX_TICKS = 5
PRINTED_FACTS = (
    "Model",
    "Sensitive features",
    "Loss",
    "Similarity",
    "Budget",
    "Guarantee",
    "Data, SHA-256",
)
"""Facts about the audit that fit on the first printed page."""


@dataclass(frozen=True)
class Bar:
    """A bar of the first screen, its ends as percentages of the width."""

    row: DirectionRow
    share: str
    width: str
    lower: str
    upper: str


def build_bars(rows: list[DirectionRow]) -> list[Bar]:
    """Return a bar for each direction; the longest interval fills the width."""
    longest = max((row.count.upper for row in rows), default=0.0) or 1.0

    def place(share: float) -> str:
        """Return a share's place as a percentage of the width."""
        return f"{100 * min(share / longest, 1.0):.2f}%"

    return [
        Bar(
            row,
            f"{percent(row.count.share)} ({interval_of(row.count)})",
            *map(place, (row.count.share, row.count.lower, row.count.upper)),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Scale:
    """The chart of the limit: places are percentages of the width, None: not drawn."""

    ticks: tuple[tuple[str, str, str], ...]
    limit: str | None
    beyond: str | None
    limit_text: str
    value: str | None
    value_text: str
    lower: str | None
    upper: str | None
    label: str
    unit: str


def build_scale(summary: AuditSummary) -> Scale | None:
    """Return the chart of the limit and the result; None if there is nothing to draw."""
    if summary.rates is not None or (summary.applicability is not None and summary.delta is None):
        return None
    unit = 100 if counts_people(summary) else 1
    judged = summary.judged
    value = None if summary.applicability is not None else unit * judged.value
    ends = [None, None] if value is None else [judged.lower_bound, judged.upper_bound]
    lower, upper = (None if end is None else unit * end for end in ends)
    limit = None if summary.delta is None else unit * summary.delta
    numbers = [number for number in (value, lower, upper, limit) if number is not None]
    step = _choose_step(1.15 * max(numbers, default=0.0) or 1.0)
    count = max(1, -int(-1.15 * max(numbers, default=0.0) // step))
    end = count * step

    def place(number: float | None) -> str | None:
        """Return a number's place as a percentage of the width."""
        return None if number is None else f"{100 * min(max(number / end, 0.0), 1.0):.2f}%"

    anchors = ["start", *["middle"] * (count - 1), "end"]
    value_text = "" if value is None else f"found {value:.3g}"
    limit_text = "" if limit is None else f"your limit {limit:.4g}"
    axis = "% of people" if counts_people(summary) else f"rise of {mean_text(summary)}"
    description = "; ".join(filter(None, (limit_text, value_text)))
    return Scale(
        ticks=tuple(
            (f"{100 * at / count:.2f}%", f"{step * at:.4g}", anchor)
            for at, anchor in enumerate(anchors)
        ),
        limit=place(limit),
        beyond=None if limit is None else place(end - limit),
        limit_text=limit_text,
        value=place(value),
        value_text=value_text,
        # a missing end is drawn to the end of the axis
        lower=None if value is None else place(0.0 if lower is None else lower),
        upper=None if value is None else place(end if upper is None else upper),
        label=f"Scale from 0 to {end:.4g}, {axis}: {description}",
        unit=axis,
    )


def _choose_step(largest: float) -> float:
    """Return the least round distance of ticks with which an axis has few of them."""
    power = 1e-9
    while True:
        for step in AXIS_STEPS:
            if largest / (step * power) <= MAX_TICKS:
                return step * power
        power *= 10


def lead(summary: AuditSummary) -> str:
    """Return the sentence in large letters."""
    if summary.applicability is not None:
        return summary.applicability
    if summary.rates is not None:
        return decision_lines(summary)[0]
    return headline(summary, with_interval=False) or shorten(
        finding.meaning(summary), MAX_LEAD_CHARACTERS
    )


def confidence_text(summary: AuditSummary) -> str:
    """Return the confidence of the verdict, or that there is none."""
    if VERDICTS[summary.verdict].decides:
        return f"{finding.confidence(summary)} confidence"
    return "no verdict"


def verdict_notes(summary: AuditSummary) -> list[str]:
    """Return the notes below the headline."""
    decisions = summary.decisions if summary.applicability is None else None
    sentences: list[str | None] = [verdict_note(summary)]
    if decisions is not None:
        if decisions.scores is None:
            sentences.append(interval_sentence(decisions))
        sentences += [alternatives_sentence(decisions), favourable_hint(decisions)]
    elif summary.applicability is None and summary.rates is None:
        sentences.append(f"Whose decision would change is not counted. {summary.decisions_missing}")
    favourable = favourable_text(summary)
    if summary.applicability is None and favourable is not None:
        sentences.append(f"Favourable (good for the person): {favourable}.")
    much = finding.has_much_disagreement(summary)
    sentences += [
        *counterpart_sentences(summary),
        finding.comparable_sentence(summary),
        finding.disagreement_sentence(summary) if much else None,
        finding.parts_sentence(summary),
        finding.part_verdict_sentence(summary),
        *decision_lines(summary)[1:],
    ]
    return [sentence for sentence in sentences if sentence]


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``first_screen.j2``, by name."""
    decisions = summary.decisions if summary.applicability is None else None
    row = VERDICTS[summary.verdict]
    limits = limit_lines(summary)
    if summary.applicability is not None and summary.delta is not None:
        limits = [limit_sentence(summary), "There is nothing to compare with the limit."]
    return {
        "title": finding.verdict_title(summary),
        "css_class": row.css_class,
        "glyph": row.glyph,
        "finding": verdict_finding(summary),
        "sure": confidence_text(summary),
        "lead": lead(summary),
        "verdict_notes": verdict_notes(summary),
        "bars": [] if decisions is None else build_bars(direction_rows(decisions)),
        "bars_note": (
            None
            if decisions is None
            else f"Thin lines: {level(decisions.changed.level)} intervals."
        ),
        "scores": [] if decisions is None else score_sentences(decisions),
        "by_feature": None if decisions is None else changed_by_feature_table(decisions),
        "group_heading": None if decisions is None else group_heading(decisions),
        "label": None if decisions is None else label_sentence(decisions),
        "steps": next_steps(summary),
        "next_audit": finding.next_audit_flags(summary),
        "limit_heading": _limit_heading(summary),
        "scale": build_scale(summary),
        "limits": limits,
        "limit_note": limit_note(summary),
        "not_said": not_said(summary),
        "notes": finding.notes(summary),
        "printed_facts": [one for one in facts(summary) if one[0] in PRINTED_FACTS],
    }


def _limit_heading(summary: AuditSummary) -> str:
    """Return the heading of the limit and the result, or of one of them."""
    if summary.delta is None:
        return "What was found"
    return "Your limit" if summary.applicability else "Your limit and what was found"


FIRST_SCREEN = Section("verdict", "", "first_screen.j2", _contents, linked=False)


def audit_fragment(summary: AuditSummary) -> Fragment:
    """Return the notebook fragment of an audit."""
    sentences: list[str | None] = [*verdict_notes(summary)]
    decisions = summary.decisions if summary.applicability is None else None
    if summary.applicability is not None:
        sentences.append(finding.meaning(summary))
        sentences += [f"`{code}`" for code in finding.advised_settings(summary, in_python=True)]
    elif decisions is not None:
        rows = direction_rows(decisions)
        sentences += [row.sentence for row in rows]
        sentences += [*score_sentences(decisions), label_sentence(decisions)]
    if summary.applicability is None:
        sentences += [*limit_lines(summary), finding.verdict_sentence(summary)]
    sentences += [f"Note: {one}" for one in finding.notes(summary)]
    # without evidence nobody is listed
    table = cases_table(summary, 0 if decisions is None else MAX_FRAGMENT_CASES)
    return Fragment(
        colour=VERDICTS[summary.verdict].line_colour,
        title=verdict_with_finding(summary),
        lead=lead(summary),
        sentences=tuple(filter(None, sentences)),
        table=table,
        caption=table.caption,
        table_note=None if decisions is None else cases_sentence(decisions, MAX_FRAGMENT_CASES),
        footer=not_said_text(summary),
    )
