"""Who is treated better and who worse: sensitive groups, and the profiles that differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import (
    Cell,
    Column,
    Table,
    decimals_for,
    pairs_cell,
    people_cell,
    profile_cell,
)
from fairtransport.report.comparison_sections.comparison_finding import signed_decimal
from fairtransport.report.numbers import decimal
from fairtransport.report.sections import Section
from fairtransport.report.strings import value_text, visible

if TYPE_CHECKING:
    from fairtransport.comparison_summary import ComparisonSummary
    from fairtransport.report.sections import Output

GROUPS_NOTE = (
    "What swaps at worst add to a group's mean loss, under either model. It is what happens to "
    "these people if they are taken for comparable ones, in the plan that is worst for everybody "
    "together."
)
PROFILES_NOTE = (
    "What swaps at worst add to the total loss of people with one profile; under 0-1 loss, how "
    "many of them would be misclassified as a comparable person."
)


def groups_table(summary: ComparisonSummary) -> Table:
    """Return the sensitive groups with what swaps cost them under the two models.

    Parameters
    ----------
    summary
        Of several models the first and the last are set side by side.
    """
    first, last = (visible(summary.models[at].name) for at in (0, -1))
    columns = (
        Column("Group"), Column("People", numeric=True), Column(first, numeric=True),
        Column(last, numeric=True), Column("Change", numeric=True),
    )  # fmt: skip
    rows = tuple(
        (
            pairs_cell((visible(name), value_text(value)) for name, value in one.group.items()),
            people_cell(one.people),
            Cell(decimal(one.first), one.first),
            Cell(decimal(one.last), one.last),
            Cell(signed_decimal(one.last - one.first), one.last - one.first),
        )
        for one in summary.groups
    )
    return Table("groups", "What swaps add to the mean loss, by group", columns, rows)


def profiles_table(summary: ComparisonSummary) -> Table:
    """Return the profiles in which the two models differ most.

    Parameters
    ----------
    summary
        Of several models the first and the last are set side by side.
    """
    first, last = (visible(summary.models[at].name) for at in (0, -1))
    labelled = summary.provenance.label is not None
    columns = (
        Column("Who"), *([Column("Label")] * labelled), Column("People", numeric=True),
        Column(first, numeric=True), Column(last, numeric=True),
    )  # fmt: skip
    losses = [loss for one in summary.profiles for loss in (one.first, one.last)]
    digits = decimals_for([0.0, *losses])
    rows = tuple(
        (
            profile_cell(one.profile),
            *([Cell(value_text(one.label))] * labelled),
            people_cell(one.people),
            Cell(decimal(one.first, digits), one.first),
            Cell(decimal(one.last, digits), one.last),
        )
        for one in summary.profiles
    )
    return Table("profiles", "Where the two models differ most", columns, rows)


def _contents(summary: ComparisonSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``comparison_who.j2`` shows, by name."""
    return {
        "groups": groups_table(summary),
        "profiles": profiles_table(summary),
        "groups_note": GROUPS_NOTE,
        "profiles_note": PROFILES_NOTE,
    }


SECTION = Section("who", "Who is treated better, who worse", 20, _contents)
