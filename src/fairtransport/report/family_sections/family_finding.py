"""What was found: how many audits are rejected, the table of all of them, evidence multiplied."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Column, Table, columns_of, people_cell
from fairtransport.report.numbers import (
    NONE,
    decimal,
    interval_text,
    level,
    pvalue,
    short_pvalue,
)
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import MARKS, VERDICTS
from fairtransport.report.strings import shorten, visible

if TYPE_CHECKING:
    from fairtransport.family import FamilySummary, Member, Multiplied
    from fairtransport.report.sections import Output

CAUTION = (
    "Each audit is valid only if its cases were not used to train the model, which does otherwise "
    "on people it has not seen."
)
LARGE = 1e6
"""E-values from here on are told as powers of ten."""
MOST_OF_A_NAME = 40
"""Characters of a model's name in the table; the whole name is further down, and in the JSON."""
COLUMNS = ("Audit", "Model", "People", "Statistic", "Interval", "δ", "p, adjusted", "Verdict")
EVIDENCE = "Evidence"
CAPTION = "The audits, a row each"
NUMERIC = ("People", "Statistic", "Interval", "δ", "p, adjusted")


def worst_verdict(summary: FamilySummary) -> str | None:
    """Return the verdict that the family is coloured by: the one that asks for most attention.

    Parameters
    ----------
    summary
        A single rejection outweighs any number of certificates.
    """
    found = {one.verdict for one in summary.members}
    ranked = ("rejected", "not-applicable", "inconclusive", "certified")
    return next((one for one in ranked if one in found), None)


def family_title(summary: FamilySummary) -> str:
    """Return what became of the audits, in a line.

    Parameters
    ----------
    summary
        Audits without a threshold are not counted.
    """
    found = Counter(one.verdict for one in summary.members)
    tested = sum(number for verdict, number in found.items() if verdict is not None)
    if not tested:
        return VERDICTS[None]
    if found["not-applicable"] == tested:
        return VERDICTS["not-applicable"]
    for verdict in ("rejected", "certified"):
        if found[verdict]:
            number = "all" if found[verdict] == tested else f"{found[verdict]} of"
            return f"{VERDICTS[verdict]} in {number} {tested} audits"
    return f"Inconclusive: none of {tested} audits rejected or certified"


def counts_sentence(summary: FamilySummary) -> str:
    """Return how many audits have which verdict.

    Parameters
    ----------
    summary
        The family. Verdicts that no audit has are passed over.

    Returns
    -------
    str
        Such as "Of 3 audits: δ-fairness is rejected in 1; 2 inconclusive."
    """
    found = Counter(one.verdict for one in summary.members)
    decided = [f"{one} in {found[one]}" for one in ("rejected", "certified") if found[one]]
    fairness = [f"δ-fairness is {' and '.join(decided)}"] if decided else []
    others = [
        f"{found[verdict]} {word}"
        for verdict, word in (
            ("inconclusive", "inconclusive"),
            ("not-applicable", "not applicable"),
            (None, "without δ"),
        )
        if found[verdict]
    ]
    parts = [*fairness, *([", ".join(others)] if others else [])]
    return f"Of {len(summary.members)} audits: {'; '.join(parts)}."


def promise_sentence(summary: FamilySummary) -> str:
    """Return what the verdicts together promise.

    Parameters
    ----------
    summary
        Of audits that were made earlier the promise needs that they were not picked by results.
    """
    if all(one.verdict is None for one in summary.members):
        return "Without a threshold δ there are no verdicts."
    near = "" if summary.guarantee == "finite-sample" else "approximately "
    declared = "the family was declared before the data were looked at"
    if summary.are_earlier:
        declared = "the audits were not chosen by what they found"
    return (
        f"With {near}{level(1 - summary.alpha)} confidence no verdict here is wrong, whatever the "
        f"audits have to do with each other, if {declared}."
    )


def intervals_sentence(summary: FamilySummary) -> str:
    """Return what the intervals together promise.

    Parameters
    ----------
    summary
        Intervals of earlier audits are their own; their errors may add up to nothing at all.
    """
    near = "" if summary.guarantee == "finite-sample" else "approximately "
    if not summary.are_earlier:
        return (
            f"The intervals hold for all audits together with {near}"
            f"{level(1 - summary.intervals_miss)} confidence; an audit that is applicable is "
            "certified exactly if its interval ends at δ or below."
        )
    if summary.intervals_miss >= 1:
        return "The intervals are those of each audit alone; of all together they promise nothing."
    return (
        "The intervals are those of each audit alone. All together they hold with at least "
        f"{near}{level(1 - summary.intervals_miss)} confidence."
    )


def members_table(summary: FamilySummary) -> Table:
    """Return the audits, a row each.

    Parameters
    ----------
    summary
        A column of evidence is there where it was multiplied.
    """
    multiplied = summary.multiplied is not None
    *before, last = COLUMNS
    titles = (*before, EVIDENCE) if multiplied else before
    columns = (*columns_of(titles, (*NUMERIC, EVIDENCE)), Column(last, unbroken=True))
    rows = tuple(_row(one, multiplied=multiplied) for one in summary.members)
    return Table("members", CAPTION, columns, rows)


def _evidence_cell(value: float | None) -> Cell:
    """Return an e-value, "none" where there is none."""
    return Cell(NONE if value is None else evalue_text(value), value)


def _row(one: Member, *, multiplied: bool) -> tuple[Cell, ...]:
    """Return one audit's cells.

    Parameters
    ----------
    one
        The audit. Its p-value is the adjusted one, by which the family decides.
    multiplied
        Whether evidence was multiplied: then each audit's factor has a column.
    """
    evidence = (_evidence_cell(one.evalue),) if multiplied else ()
    return (
        Cell(visible(one.name)),
        Cell(shorten(visible(one.model), MOST_OF_A_NAME)),
        people_cell(one.n),
        Cell(decimal(one.statistic), one.statistic),
        Cell(interval_text(one.lower, one.upper), one.lower),
        Cell(NONE if one.delta is None else f"{one.delta:g}", one.delta),
        Cell(short_pvalue(one.pvalue_adjusted), one.pvalue_adjusted),
        *evidence,
        Cell(verdict_word(one)),
    )


def verdict_word(one: Member) -> str:
    """Return a verdict as a cell has it, with its mark."""
    return f"{MARKS[one.verdict]} {one.verdict or 'untested'}"


def evalue_text(value: float) -> str:
    """Return an e-value, rounded down so that it still holds.

    Parameters
    ----------
    value
        Evidence, at least 0.

    Examples
    --------
    >>> evalue_text(12.397), evalue_text(0.0401), evalue_text(2.5e9)
    ('12.3', '0.04', 'at least 10^9')
    """
    if value >= LARGE:
        return f"at least 10^{math.floor(math.log10(value) + 1e-12)}"
    digits = 1 if value >= 1 else 3
    text = f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"
    return text.rstrip("0").rstrip(".")


def multiplied_sentence(summary: FamilySummary) -> str | None:
    """Return what the evidence of independent samples says together; None if not multiplied.

    Parameters
    ----------
    summary
        The family. That samples are independent is the user's word, and the sentence says so.
    """
    found = summary.multiplied
    if found is None:
        return None
    return (
        f"Evidence multiplied over {len(summary.members)} samples that you say are independent: "
        f"{evalue_text(found.evalue)}, {_against(found, summary.alpha)}. The hypothesis is: "
        f"{found.hypothesis}"
    )


def _against(found: Multiplied, alpha: float) -> str:
    """Return whether multiplied evidence rejects, and how much would."""
    needed = f"{1 / alpha:g} are needed at level {level(alpha)}"
    if found.rejected:
        at_most = pvalue(found.pvalue).replace("=", "≤")
        return f"so the hypothesis is rejected ({needed}; {at_most})"
    return f"which does not reject the hypothesis ({needed})"


def _contents(summary: FamilySummary, _: Output) -> dict[str, object]:
    """Return what the template part ``family_finding.j2`` shows, by name.

    Parameters
    ----------
    summary
        The family. The page has the mark of the worst verdict among its members.
    """
    worst = worst_verdict(summary)
    return {
        "worst": worst or "open",
        "mark": MARKS[worst],
        "title": family_title(summary),
        "counts": counts_sentence(summary),
        "promise": promise_sentence(summary),
        "intervals": intervals_sentence(summary),
        "multiplied": multiplied_sentence(summary),
        "members": members_table(summary),
        "caution": CAUTION,
    }


SECTION = Section("verdicts", "", 10, _contents, linked=False)
