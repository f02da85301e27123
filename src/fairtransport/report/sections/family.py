"""All sections of a family of audits: verdicts, each audit, and certainty."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairtransport.documents.verdicts import (
    VERDICTS,
    VerdictRow,
    exit_code,
    verdict_cell,
    worst_row,
)
from fairtransport.report.sections.appendix import GLOSSARY, explain_words
from fairtransport.report.sections.certainty import NOT_SAID
from fairtransport.report.sections.decisions import headline, several_hold_if
from fairtransport.report.sections.finding import confidence, meaning
from fairtransport.report.sections.moves import moved_sentence, moves_table
from fairtransport.report.sections.section import Fragment, Section
from fairtransport.report.tables import Cell, Column, Table, changed_cell, columns_of, people_cell
from fairtransport.report.text import (
    FOR_INDEPENDENT,
    NONE,
    decimal,
    for_units,
    interval_text,
    level,
    loss_name,
    short_pvalue,
    shorten,
    visible,
)

if TYPE_CHECKING:
    from fairtransport.documents.audit import AuditSummary, SampledUnits
    from fairtransport.documents.family import FamilySummary, Member
    from fairtransport.report.sections.section import Output


SWAPS = "who is swapped with whom"
MAX_FAMILY_MOVES = 10
"""Maximum number of moves on a page for each audit; the JSON document has more."""


def audit_facts(summary: AuditSummary) -> tuple[tuple[str, str], ...]:
    """Return the settings of an audit, as names and values."""
    provenance = summary.provenance
    return (
        ("Model", visible(provenance.model)),
        ("Sensitive features", shorten(", ".join(map(visible, provenance.sensitive)))),
        ("Loss", loss_name(provenance.loss)),
        *([("Budget ε", f"{summary.budget:g}")] if summary.budget else []),
        ("People", f"{summary.n:,}"),
        ("Method", f"{visible(summary.method)}, random seed {provenance.seed}"),
        ("Hash of the data (SHA-256)", provenance.data_sha256 or "none"),
    )


def _audit_meaning(summary: AuditSummary) -> str:
    """Return whose decision would change; if unknown, the meaning of the statistic."""
    if summary.applicability is not None:
        return summary.applicability
    return headline(summary) or meaning(summary)


def _audit_entries(summary: FamilySummary) -> list[dict[str, Any]]:
    """Return the content for each audit, in the order of the table."""
    entries = []
    for at, (member, one) in enumerate(zip(summary.members, summary.audits, strict=True), 1):
        name = shorten(visible(member.name))
        moves = moves_table(one, MAX_FAMILY_MOVES)
        # tables of one page have different captions, for screen readers
        moves = replace(moves, key=f"moves-{at}", caption=f"Audit {at}, {name}: {SWAPS}")
        entries.append(
            {
                "name": name,
                "verdict": verdict_cell(member.verdict),
                "meaning": _audit_meaning(one),
                "moved": moved_sentence(one),
                "facts": audit_facts(one),
                "moves": moves,
                "more": max(0, (one.moves_found or 0) - len(moves.rows)),
            }
        )
    return entries


def _family_audits_contents(summary: FamilySummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``family_audits.j2``; nothing without documents."""
    return {"each": _audit_entries(summary) if summary.audits else []}


EACH_AUDIT = Section("each", "Each audit", "family_audits.j2", _family_audits_contents)


CAUTION = "Each audit is valid only if its people were not used to train the model."
MAX_MODEL_NAME_CHARACTERS = 40
"""Maximum characters of a model's name in the table; the full name follows below."""
COLUMNS = (
    "Audit",
    "Model",
    "People",
    "Decision would change",
    "Statistic",
    "Interval",
    "Limit δ",
    "p, adjusted",
    "Verdict",
)
CAPTION = "The audits, a row each"
NUMERIC = COLUMNS[2:-1]


def family_row(summary: FamilySummary) -> VerdictRow:
    """Return the row of the family's worst verdict, which marks and colours its report."""
    return worst_row(member.verdict for member in summary.members)


def family_title(summary: FamilySummary) -> str:
    """Return the worst verdict and its number of audits, then the others except passes."""
    counts = Counter(one.verdict for one in summary.members)
    worst, total = family_row(summary), len(summary.members)
    if worst.value is None:
        return worst.title
    number = f"{counts[worst.value]} of {total}"
    if counts[worst.value] == total:
        number = "both" if total == 2 else f"all {total}"  # noqa: PLR2004
    others = [
        f"{counts[row.value]} {row.phrase}"
        for row in sorted(VERDICTS.values(), key=lambda row: row.rank)
        if counts[row.value] and row.value not in {worst.value, "certified"}
    ]
    more = f"; {', '.join(others)}" if others else ""
    return f"{worst.phrase[:1].upper()}{worst.phrase[1:]} in {number} audits{more}"


def member_sentence(summary: FamilySummary, member: Member, audit: AuditSummary) -> str:
    """Return the family's verdict on an audit with its figures, or why there are none."""
    title = VERDICTS[member.verdict].title
    if audit.applicability is not None:
        return f"{title}: {audit.applicability}"
    ends = ", ".join(
        f"{word} bound {end:.4f}"
        for word, end in (("lower", member.lower), ("upper", member.upper))
        if end is not None
    )
    limit = "" if member.delta is None else f"; δ = {member.delta:g}"
    return (
        f"{title}: statistic {member.statistic:.4f}, {ends}{limit}, with {confidence(summary)} "
        f"confidence for all {len(summary.members)} audits together."
    )


def is_failing(member: Member, fail_on: str | None) -> bool:
    """Return whether an audit of a family fails a pipeline."""
    return bool(exit_code(member.verdict or "inconclusive", fail_on))


def family_failures(summary: FamilySummary, fail_on: str | None) -> list[str]:
    """Return why audits of a family fail a pipeline, one sentence each."""
    return [
        f"{member.name}: {member_sentence(summary, member, audit)}"
        for member, audit in zip(summary.members, summary.audits, strict=True)
        if is_failing(member, fail_on)
    ]


def counts_sentence(summary: FamilySummary) -> str:
    """Return how many audits have which verdict."""
    counts = Counter(one.verdict for one in summary.members)
    rows = [row for row in VERDICTS.values() if counts[row.value]]
    parts = [f"{counts[row.value]} {row.phrase}" for row in rows]
    return f"Of {len(summary.members)} audits: {', '.join(parts)}."


def promise_sentence(summary: FamilySummary) -> str:
    """Return the joint guarantee of the verdicts."""
    if all(one.verdict is None for one in summary.members):
        return "No limit was set, so there are no verdicts."
    whose = for_units(*_units(summary)) or FOR_INDEPENDENT
    return (
        f"With {confidence(summary)} confidence no verdict here is wrong{whose}, however the "
        "audits depend on each other. Valid only if the audits were chosen before anybody looked "
        "at the data."
    )


def _units(summary: FamilySummary) -> list[SampledUnits | None]:
    """Return the units that each audit is about."""
    return [one.units for one in summary.members]


def condition_sentence(summary: FamilySummary) -> str:
    """Return what intervals and verdicts rest on."""
    return visible(several_hold_if(_units(summary), on_record=not summary.queried))


def intervals_sentence(summary: FamilySummary) -> str:
    """Return the joint guarantee of the intervals."""
    return (
        f"The intervals are simultaneous, with {confidence(summary)} confidence"
        f"{for_units(*_units(summary))}. A model is within the limit (certified) if the audit can "
        f"tell and its interval ends at the limit or below. {condition_sentence(summary)}"
    )


def members_table(summary: FamilySummary) -> Table:
    """Return the audits, one per row."""
    *before, last = COLUMNS
    columns = (*columns_of(before, NUMERIC), Column(last, unbroken=True))
    rows = tuple(map(_row, summary.members))
    return Table("members", CAPTION, columns, rows)


def _row(one: Member) -> tuple[Cell, ...]:
    """Return one audit's cells."""
    return (
        Cell(visible(one.name)),
        Cell(shorten(visible(one.model), MAX_MODEL_NAME_CHARACTERS)),
        people_cell(one.n),
        changed_cell(one.changed),
        Cell(decimal(one.statistic), one.statistic),
        Cell(interval_text(one.lower, one.upper), one.lower),
        Cell(NONE if one.delta is None else f"{one.delta:g}", one.delta),
        Cell(short_pvalue(one.pvalue_adjusted), one.pvalue_adjusted),
        Cell(verdict_cell(one.verdict)),
    )


def _family_finding_contents(summary: FamilySummary, _: Output) -> dict[str, object]:
    """Return the contents of the template part ``family_finding.j2``, by name."""
    row = family_row(summary)
    return {
        "css_class": row.css_class,
        "mark": row.mark,
        "title": family_title(summary),
        "counts": counts_sentence(summary),
        "promise": promise_sentence(summary),
        "intervals": intervals_sentence(summary),
        "members": members_table(summary),
        "caution": CAUTION,
    }


FAMILY_FINDING = Section(
    "verdicts", "", "family_finding.j2", _family_finding_contents, linked=False
)


def family_fragment(summary: FamilySummary) -> Fragment:
    """Return the notebook fragment of several audits."""
    return Fragment(
        colour=family_row(summary).line_colour,
        title=family_title(summary),
        lead=counts_sentence(summary),
        table=members_table(summary),
        caption=CAPTION,
        footer=f"{promise_sentence(summary)} {condition_sentence(summary)}",
    )


FAMILY_TERMS = {
    "α": "The largest probability that any verdict of these audits is wrong.",
    "p, adjusted": (
        "The p-value of the hypothesis that the population is within the limit, corrected for all "
        "audits together (stepped down as Holm's). The verdict is “over the limit” if it is at "
        "most α."
    ),
}
REPLACED_TERMS = ("p-value",)
"""Entries of an audit's glossary that are about its own verdict."""


def levels_sentence(summary: FamilySummary) -> str:
    """Return the levels of the tests."""
    return (
        "The verdict of an audit is “over the limit” if its adjusted p-value is at most "
        f"{level(summary.alpha)}. It is “within the limit” if this is shown at level "
        f"{_level_text(summary.certificate_level)}. Both kinds of verdicts share the "
        f"{level(summary.alpha)}: an audit can be wrong in one way only, but it is not known in "
        "which."
    )


def _level_text(share: float) -> str:
    """Return a level with three digits, as a percentage."""
    return level(float(f"{share:.3g}"))


def _family_certainty_contents(summary: FamilySummary, output: Output) -> dict[str, object]:
    """Return what the template part ``family_certainty.j2`` shows, by name."""
    queries = "none (predictions only)"
    if summary.queried:
        queries = f"{summary.queried:,} different rows, all models together"
    sentences = levels_sentence(summary), NOT_SAID
    terms = {name: text for name, text in GLOSSARY.items() if name not in REPLACED_TERMS}
    return {
        "levels": sentences[0],
        "not_said": sentences[1],
        "facts": [("fairtransport", summary.version), ("Models queried for", queries)],
        "glossary": explain_words(" ".join([output.text, *sentences]), terms | FAMILY_TERMS),
    }


FAMILY_MEANING = Section("sure", "How sure", "family_certainty.j2", _family_certainty_contents)
