"""Counterparts: columns that depend on the group, moved ones, and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.sections.section import Section
from fairtransport.report.tables import Cell, Table, columns_of
from fairtransport.report.text import (
    decimal,
    level,
    percent,
    profile_text,
    pvalue,
    shorten,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairtransport.documents.audit import AuditSummary, CounterpartsFound
    from fairtransport.report.sections.section import Output

GUESSING = 0.5
MAX_NAMED_COLUMNS = 8
LIMITS = (
    "A counterpart is a statistical estimate. It is the same person in the other group only if "
    "people keep their rank in their group, and if nothing outside the columns that may rightly "
    "count influences both the group and the other columns. The test misses dependence that only "
    "several columns together show, and weak proxies if few people were held out, so the verdict "
    "“within the limit” is never given. A model that is always right can be over the limit too, if "
    "its columns depend on the group. Which columns may rightly count is for you to decide."
)


def gate_table(counterparts: CounterpartsFound, feature: str) -> Table:
    """Return how each column depends on a sensitive feature, the strongest first."""
    rows = sorted(
        (row for row in counterparts.gate if row.feature == feature), key=lambda row: -row.strength
    )
    titles = ["Column", "Strength (0 to 1)", "p-value", "Changed in counterparts"]
    cells = [
        tuple(
            map(
                Cell,
                (
                    visible(row.column), decimal(row.strength, 2), pvalue(row.pvalue),
                    f"yes, by {percent(row.share, 0)}" if row.moves else "no",
                ),
            )
        )
        for row in rows
    ]  # fmt: skip
    caption = f"Which columns depend on {visible(feature)}"
    return Table("gate", caption, columns_of(titles, titles[1:3]), tuple(cells))


def pairs_table(counterparts: CounterpartsFound) -> Table:
    """Return people beside one of their counterparts."""
    titles = ["Person", "Counterpart", "Decision"]
    cells = [
        (
            Cell(profile_text(pair.profile)),
            Cell(
                ", ".join(
                    f"{visible(name)} {value_text(value)}" for name, value in pair.changes.items()
                )
            ),
            Cell("different" if pair.changes_answer else "the same"),
        )
        for pair in counterparts.pairs
    ]
    return Table(
        "pairs",
        "People drawn at random, with a counterpart each",
        columns_of(titles, []),
        tuple(cells),
    )


def gate_sentence(counterparts: CounterpartsFound) -> str:
    """Return the size of the hold-out, the fixed columns, and the detectable dependence."""
    stays = ", ".join(map(visible, counterparts.legitimate))
    shifts = " and ".join(
        f"{value:.2g} standard deviations ({visible(name)})"
        for name, value in counterparts.detectable_shift.items()
    )
    among = f" among people with equal {stays}" if stays else ""
    kept = f" Columns that may rightly count ({stays}) stay as they are." if stays else ""
    return (
        f"{counterparts.held_out:,} people were held out to test which columns depend on the "
        f"group{among}. The others were audited. Only columns that were shown to depend on it "
        f"change in counterparts.{kept} If no column depends on the group, the probability that "
        f"one changes all the same is at most {level(counterparts.gate_level)}. A difference of "
        f"{shifts} between the groups' numbers is found with a probability of 80 %."
    )


def told_sentences(counterparts: CounterpartsFound) -> list[str]:
    """Return notes on counterparts that a classifier distinguishes from the other group."""
    return [
        f"A classifier can still tell counterparts from people with {visible(one.feature)} "
        f"{value_text(one.group)} (balanced accuracy {decimal(one.accuracy, 2)}, at least "
        f"{decimal(one.lower, 2)}; guessing: 0.5). Several columns together depend on the group in "
        "a way that counterparts lack. Name such columns with `given`."
        for one in counterparts.told
        if one.lower > GUESSING
    ]


def counterpart_sentences(summary: AuditSummary) -> list[str]:
    """Return the columns that change in counterparts, and the signs of joint dependence."""
    record = summary.provenance.similarity_record
    is_shown = summary.target_scope == "counterparts" and summary.applicability is None
    if not is_shown or record is None:
        return []
    gate = record["fitted"]["gate"]
    moves = {row["column"] for row in gate if row["moves"]}
    changes, stays = (
        dict.fromkeys(row["column"] for row in gate if (row["column"] in moves) == is_moved)
        for is_moved in (True, False)
    )
    sentence = f"Changed in counterparts: {_list_names(changes)}."
    if stays:
        sentence += (
            f" Not changed, because they were not shown to depend on the group: "
            f"{_list_names(stays)}."
        )
    told = [] if summary.counterparts is None else told_sentences(summary.counterparts)
    return [sentence, *told]


def _list_names(names: Iterable[str]) -> str:
    """Return the first columns by name, and how many more there are."""
    shown = [shorten(visible(name)) for name in names]
    more = len(shown) - MAX_NAMED_COLUMNS
    return ", ".join([*shown[:MAX_NAMED_COLUMNS], *([f"{more} more"] if more > 0 else [])])


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    counterparts = summary.counterparts
    if counterparts is None:
        return {}
    features = dict.fromkeys(row.feature for row in counterparts.gate)
    return {
        "sentences": [gate_sentence(counterparts), *told_sentences(counterparts)],
        "tables": [
            *(gate_table(counterparts, feature) for feature in features),
            *([pairs_table(counterparts)] if counterparts.pairs else []),
        ],
        "limits": LIMITS,
    }


COUNTERPARTS = Section(
    "counterparts", "Which columns depend on the group", "counterparts.j2", _contents
)
