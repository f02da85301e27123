"""One case in words and as a table: why its people are affected, and what would have to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import (
    Cell,
    Table,
    changes_cell,
    columns_of,
    people_cell,
    profile_cell,
)
from fairtransport.report.numbers import people
from fairtransport.report.strings import prediction_text, value_text

if TYPE_CHECKING:
    from fairtransport.audit.cases import Case, Twin

TITLES = ("Would have to change", "Model says", "Loss", "Distance²", "In the data", "Swapped")
NOBODY = (
    "Nobody is comparable with this case, so that the audit says nothing about it: that is no sign "
    "of equal treatment."
)
NUMBERS = ("Loss", "Distance²", "In the data", "Swapped")


def why(case: Case) -> list[str]:
    """Return the sentences that say why the people of a case are affected, or that they are not.

    The first says what the comparison shows, the others how it is to be read.
    """
    if not case.comparable:
        return [NOBODY]
    worse = [twin for twin in case.twins if twin.loss > case.loss]
    better = [twin for twin in case.twins if twin.loss < case.loss]
    others = "other who counts" if case.comparable == 1 else "others who count"
    compared = f"Compared with {case.comparable:,} {others} as similar"
    if not worse and not better:
        return [
            f"{compared}: the model does no better and no worse for any of them than for this case."
        ]
    said = []
    if better:
        said.append(
            "The model does worse for this case than for somebody similar: "
            f"{_as_whom(case, min(better, key=_loss_and_cost))}."
        )
    if worse:
        said.append(
            "The model would do worse for these people as somebody similar: "
            f"{_as_whom(case, worse[0])}."
        )
    return [*said, f"{compared}."]


def _loss_and_cost(twin: Twin) -> tuple[float, float]:
    return twin.loss, twin.cost


def _as_whom(case: Case, twin: Twin) -> str:
    changes = ", ".join(
        f"{name} {value_text(case.profile[name])} → {value_text(twin.profile[name])}"
        for name in twin.changed
    )
    return (
        f"with {changes or 'nothing changed but the answer'}, it says "
        f"{prediction_text(twin.prediction)} instead of {prediction_text(case.prediction)}"
    )


def plan_sentence(case: Case) -> str:
    """Return what the worst swaps of the audit do with the people of a case."""
    moved = sum(twin.swapped for twin in case.twins)
    if not case.people:
        return "Nobody in the audit data is like this; the model was asked about them as a twin."
    if not moved:
        return "In the audit's worst case nobody of them is swapped."
    return (
        f"In the audit's worst case {people(moved)} of {people(case.people)} of them are swapped: "
        "the table's last column tells with whom."
    )


def twins_table(case: Case) -> Table:
    """Return those with whom a case is compared, the worst first."""
    rows = tuple(
        (
            changes_cell(case.profile, twin.profile, twin.changed)
            if twin.changed
            else Cell("nothing but the answer"),
            Cell(prediction_text(twin.prediction)),
            Cell(value_text(twin.loss), twin.loss),
            Cell(value_text(twin.cost), twin.cost),
            people_cell(float(twin.people)),
            people_cell(twin.swapped),
        )
        for twin in case.twins
    )
    return Table("twins", "With whom this case is compared", columns_of(TITLES, NUMBERS), rows)


def case_cell(case: Case) -> Cell:
    """Return who the people of a case are."""
    return profile_cell(case.profile)
