"""Made up: the twins whom nobody observed, how they were found, and some beside their person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import Table, columns_of
from fairtransport.report.numbers import percent
from fairtransport.report.sections import Section
from fairtransport.report.sections.depends import rows_of_pairs
from fairtransport.report.strings import visible

if TYPE_CHECKING:
    from fairtransport.report.sections import Output
    from fairtransport.summary import AuditSummary, TwinsMade

FOUND = {
    "generate": (
        "They were made up by {steps} steps, the same for everybody, that were fixed before any "
        "audited case was looked at: on a grid and at random along the directions that cost "
        "nothing under the similarity{reach}."
    ),
    "search": (
        "They were made up by {steps} steps, the same for everybody, that were found by asking "
        "the model {searched} questions about {aside} people who were set aside at random and are "
        "not audited."
    ),
}
WITHIN = ", and in others as far as the budget reaches"
VALID = (
    "Numbers stay in the range, and levels among those, of the people whom the similarity was "
    "fitted on (who is outside goes no farther out, or keeps the level); whole numbers stay whole."
)
MEANING = (
    "All that is said with confidence is about these twins. Other steps would make others, and "
    "finding little here does not say that there is little to find."
)


def how_sentence(summary: AuditSummary, made: TwinsMade) -> str:
    """Return how the twins were found.

    Parameters
    ----------
    summary, made
        The budget says how far steps reach, the kind how they were chosen.
    """
    reach = WITHIN if summary.budget > 0 else ""
    found = FOUND[made.kind].format(
        steps=f"{made.steps:,}", reach=reach, aside=f"{made.aside:,}", searched=f"{made.searched:,}"
    )
    return f"{found} {VALID}"


def count_sentence(made: TwinsMade) -> str | None:
    """Return how many twins there are, and why others were left out; None if that is not told.

    Parameters
    ----------
    made
        The account of them.
    """
    if made.proposed is None or made.twins is None:
        return None
    why = [f"{made.equal:,} were nobody new"] if made.equal else []
    if made.costly:
        why.append(
            f"{made.costly:,} were no longer at distance 0, which a budget of 0 allows alone"
        )
    if made.implausible:
        why.append(f"{made.implausible:,} were not plausible")
    left_out = f" Of {made.proposed:,} proposals {', '.join(why)}." if why else ""
    left = (made.equal or 0) + (made.costly or 0) + (made.implausible or 0)
    more = made.twins - (made.proposed - left)
    others = f", {more:,} of them at other sensitive levels alone" if more > 0 else ""
    return f"There are {made.twins:,} pairs of a person and a twin{others}.{left_out}"


def plausible_sentence(made: TwinsMade) -> str:
    """Return which made-up people count as plausible.

    Parameters
    ----------
    made
        A plausibility of 0 lets everybody count, and is said.
    """
    if made.plausibility == 0:
        return "Whether somebody could look like that was not asked: all of them count."
    return (
        "A twin counts as plausible that is no farther from the nearest person of the fitting data "
        f"than {percent(made.plausibility)} of these are from each other, or no farther than the "
        "person whose twin it is."
    )


def twins_table(summary: AuditSummary, made: TwinsMade) -> Table:
    """Return some people at random beside one of their twins.

    Parameters
    ----------
    summary, made
        What the audit says, and the account with its examples.
    """
    columns = columns_of(["Who they are", "A twin of theirs", "Squared distance"], [])
    known = tuple(visible(name) for name in summary.provenance.sensitive)
    caption = f"Some people beside a made-up twin ({', '.join(known)} as the person's, if not said)"
    return Table("made-up", caption, columns, rows_of_pairs(made.examples))


def _contents(summary: AuditSummary, _: Output) -> dict[str, object]:
    """Return what the template part ``made_up.j2`` shows; nothing where nobody was made up."""
    made = summary.made_twins
    if made is None:
        return {}
    return {
        "how": how_sentence(summary, made),
        "counts": count_sentence(made),
        "plausible": plausible_sentence(made),
        "meaning": MEANING,
        "examples": twins_table(summary, made),
    }


SECTION = Section("made-up", "The twins that were made up", 45, _contents)
