"""Swaps behind the statistic: moves, flows by feature and by group."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairtransport.report.sections.decisions import counts_people_once
from fairtransport.report.sections.finding import is_outcome
from fairtransport.report.sections.rates import DECLARED
from fairtransport.report.sections.section import Section
from fairtransport.report.tables import (
    ARROW,
    Cell,
    Table,
    changes_cell,
    columns_of,
    decimals_for,
    has_signal,
    people_cell,
    profile_cell,
)
from fairtransport.report.text import (
    NOT_TOLD,
    ROUNDING,
    about,
    decimal,
    few_people,
    group_text,
    hidden_moves_sentence,
    interval_text,
    is_shared,
    moves_phrase,
    moves_title,
    people,
    percent,
    prediction_text,
    short_pvalue,
    shorten,
    shown_text,
    shows_swaps,
    signed,
    value_text,
    visible,
)
from fairtransport.settings import DocumentOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairtransport.documents.audit import AuditSummary
    from fairtransport.explain.flows import Flow, FlowTable, GroupFlow
    from fairtransport.explain.moves import Move, Value
    from fairtransport.report.sections.section import Output


MAX_TABLE_CELLS = 4_000
"""Maximum number of cells in the tables of moves and of people."""
MIN_TABLE_ROWS = 20
"""Minimum number of rows of these tables, for any number of columns."""
SCOPES = {
    "twins": (
        "Everybody is compared with all of the twins that the similarity allows: people who "
        "differ from them in sensitive features alone. The model was asked about the twins who "
        "are not in the data."
    ),
    "reference": (
        "Everybody is compared with the people of a reference table that was given{more}. It must "
        "have been chosen without the audit data: nothing can be certified from one that was taken "
        "from them."
    ),
    "observed": (
        "People are compared only with people in the audit data{more}. The statistic may miss "
        "comparisons with others, so there is no upper bound and nothing can be certified."
    ),
    "counterparts": (
        "Everybody is compared with themselves as typically recorded in another group: columns "
        "that were shown to depend on the group change, as far as they depend on it, and all "
        "others stay. The model was asked about these counterparts."
    ),
}
TWINS_TOO = " and with the twins of these, about whom the model was asked"


def moved_sentence(summary: AuditSummary) -> str:
    """Return how many people the statistic comes from."""
    what = "prediction" if is_outcome(summary) else "loss"
    few = few_people(summary, summary.moved)
    if few is not None:
        return f"{few} are swapped with someone similar who has a higher {what}."
    if summary.moved <= 0:
        return (
            f"No move that this budget allows leads to a higher {what} for any of the "
            f"{summary.n:,} people."
        )
    share = percent(summary.moved / summary.n)
    whom = f"{about(summary).capitalize()}{people(summary.moved)} of {summary.n:,} people ({share})"
    if not counts_people_once(summary):
        whom = f"{share} of {summary.n:,} people (weighted)"
    return f"{whom} are swapped with someone similar who has a higher {what}."


def scope_meaning(summary: AuditSummary) -> str:
    """Return whom people are compared with."""
    has_model = summary.queried != 0  # twins of a reference table may be people of the audit data
    twins = has_model if summary.target_scope == "reference" else _has_twins(summary)
    more = TWINS_TOO if twins else ""
    return SCOPES.get(summary.target_scope, visible(summary.target_scope)).replace("{more}", more)


def _has_twins(summary: AuditSummary) -> bool:
    """Return whether there are points without people in the audit data, which are twins."""
    if summary.points is None or summary.observed_points is None:  # left out
        return summary.queried != 0
    return summary.queried != 0 and summary.points > summary.observed_points


def shows_flows(summary: AuditSummary) -> bool:
    """Return whether flows are shown: zeros would be misleading if all moves are left out."""
    return bool(summary.flows) and bool(summary.moves or not is_shared(summary))


def flows_meaning(summary: AuditSummary) -> str:
    """Return what the flows count, and the meaning of leaving and entering a cell."""
    moves = moves_phrase(summary)
    what = "predictions are" if is_outcome(summary) else "the loss is"
    return (
        f"How the number of people in each cell changes when {moves} are made: {what} lower in the "
        "cells that people leave, and higher in those they enter. "
        "Blue cells with + gain people, orange cells with − lose them."
    )


def flows_sentence(table: FlowTable) -> str:
    """Return how to read the flows by a feature."""
    if not any(cell.change for cell in table.cells):
        return "Nothing changes here: as many people leave each cell as enter it."
    if not has_signal(table):
        return (
            "No picture is drawn: every change here may be chance. The intervals hold for all "
            "cells of the table at once, and each of them holds 0."
        )
    if table.kind == "descriptive":
        return "The flows describe these people; no interval says how they would be elsewhere."
    return (
        "Judge a cell by its interval, not by its p-value: a cell changes if its interval leaves "
        "out 0. The intervals hold for all cells of the table at once, each p-value for its cell "
        "alone, and among many cells some p-values are small by chance."
    )


def ties_sentence(summary: AuditSummary) -> str | None:
    """Return the meaning of a plan that is not unique; None if it is."""
    if summary.plan_is_unique is not False:
        return None
    return (
        "Other swaps would give the same statistic; where that is so, a row is marked as tied. "
        "Of such swaps the one with the fewest changed columns is shown, of several the nearest, "
        "and of these the first. Another choice could show other groups."
    )


def fractions_sentence(summary: AuditSummary) -> str | None:
    """Return why there are parts of a person; None if there are none."""
    if not counts_people_once(summary):
        return (
            f"Numbers of moved people are weighted so that all people together count as "
            f"{summary.n:,}: they need not be whole."
        )
    numbers = [summary.moved, *(move.people for move in summary.moves)]
    if all(abs(number - round(number)) < ROUNDING for number in numbers):
        return None
    return (
        "The budget ends half way through a profile: only some of its people are moved, and their "
        "number need not be whole."
    )


def move_count_sentence(summary: AuditSummary, most: int | None = None) -> str | None:
    """Return how many moves are shown, of how many; None without moves."""
    count = len(summary.moves[:most])
    if not count:
        return None
    if summary.moves_found is None:  # their number is left out
        total = len(summary.moves)
        return None if count == total else f"{count:,} of the {total:,} moves that can be shown."
    if count == summary.moves_found:
        return None
    return (
        f"{count:,} of {summary.moves_found:,} moves are shown, those that add most to the "
        "statistic; `result.moves` and the flag --moves give all of them."
    )


def moves_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return who is swapped with whom, the largest moves first."""
    moves = summary.moves[:most]
    labelled = any(move.label is not None for move in moves)
    distant = any(move.cost > 0 for move in moves)
    tied = any(move.tied for move in moves)
    has_loss = not is_outcome(summary)  # else the loss is the prediction, which is shown already
    digits = decimals_for(loss for move in moves for loss in (move.loss, move.loss_after))
    far = decimals_for(move.cost for move in moves)
    classes = summary.provenance.classes
    predicted = _predictions(moves, classes)
    titles = ["People", "Who they are", "What is changed"]
    titles += ["True label"] * labelled
    titles += [_prediction_title(moves, classes)] + ["Loss"] * has_loss
    titles += ["Squared distance"] * distant + ["Tied"] * tied

    def row(move: Move) -> tuple[Cell, ...]:
        """Return one move's cells."""
        cells = [
            people_cell(move.people),
            profile_cell(move.from_profile, move.changed),
            _changes(move),
        ]
        cells += [Cell(value_text(move.label))] * labelled
        cells.append(Cell(predicted(move.prediction) + ARROW + predicted(move.prediction_after)))
        losses = (decimal(loss, digits) for loss in (move.loss, move.loss_after))
        cells += [Cell(ARROW.join(losses), move.loss_after - move.loss)] * has_loss
        cells += [Cell(decimal(move.cost, far) if move.cost else "0", move.cost)] * distant
        cells += [Cell("yes" if move.tied else "no")] * tied
        return tuple(cells)

    columns = columns_of(titles, ("People", "Loss", "Squared distance"))
    return Table("moves", "Who is swapped with whom", columns, tuple(map(row, moves)))


def _predictions(
    moves: Iterable[Move], classes: Sequence[Value]
) -> Callable[[Value | tuple[float, ...]], str]:
    """Return a function that writes predictions, with the same decimals in every row."""
    values = [value for move in moves for value in (move.prediction, move.prediction_after)]
    digits = decimals_for(value for value in values if isinstance(value, float))
    return lambda value: (
        decimal(value, digits) if isinstance(value, float) else prediction_text(value, classes)
    )


def _prediction_title(moves: Iterable[Move], classes: Sequence[Value]) -> str:
    """Return the heading of predictions; of two classes' scores one is shown, and named."""
    predictions = [move.prediction for move in moves]
    pairs = any(isinstance(one, tuple) and len(one) == 2 for one in predictions)  # noqa: PLR2004
    if not pairs:
        return "Prediction"
    return (
        f"Score of {shorten(value_text(classes[-1]), 40)}" if classes else "Score of the last class"
    )


def _changes(move: Move) -> Cell:
    """Return what changes, or that only the prediction does."""
    if not move.changed:
        return Cell("nothing but the prediction")
    return changes_cell(move.from_profile, move.to_profile, move.changed)


def flow_table(table: FlowTable, number: int) -> Table:
    """Return the cells of a heat map as a table."""
    sure = any(cell.lower is not None for cell in table.cells)
    has_people = any(cell.people is not None for cell in table.cells)
    titles = ["Level", "Group", *["People"] * has_people, "Moved out", "Moved in", "Change"]
    labelled = any(cell.label is not None for cell in table.cells)
    titles = ["True label"] * labelled + titles
    titles += ["Interval", "p-value"] * sure

    def row(cell: Flow) -> tuple[Cell, ...]:
        """Return one cell of the map as a row."""
        cells = [Cell(value_text(cell.label))] * labelled
        cells += [Cell(value_text(cell.level)), Cell(group_text(cell.group))]
        cells += [people_cell(cell.people)] * has_people
        cells += [people_cell(number) for number in (cell.out, cell.into)]
        cells.append(Cell(signed(cell.change), cell.change))
        if sure:
            cells.append(Cell(interval_text(cell.lower, cell.upper, 1), cell.lower))
            pvalue_text = "" if cell.pvalue is None else short_pvalue(cell.pvalue)
            cells.append(Cell(pvalue_text, cell.pvalue))
        return tuple(cells)

    numeric = ("People", "Moved out", "Moved in", "Change", "Interval", "p-value")
    return Table(
        f"flows-{number}",
        f"Change in people by {shorten(visible(table.feature), 60)}",
        columns_of(titles, numeric),
        tuple(map(row, table.cells)),
    )


def groups_table(summary: AuditSummary) -> Table:
    """Return how many people are moved out of each group and into it."""
    is_error = summary.provenance.loss_is_error
    what = "Errors" if is_error else "Mean prediction" if is_outcome(summary) else "Mean loss"
    has_risk = any(one.risk is not None for one in summary.groups)
    numeric = ["People", "Moved out", "Moved in", "Change"]
    numeric += [f"{what} before", f"{what} after"] * has_risk + ["Added to the statistic"]

    def count_cell(text: str, number: float) -> Cell:
        """Return a number, "0 shown" where others may be hidden."""
        return Cell(shown_text(summary, text, number), number)

    def mean(loss: float | None) -> Cell:
        """Return a mean loss, a share of errors as a percentage."""
        text = NOT_TOLD if loss is None else percent(loss) if is_error else decimal(loss)
        return Cell(text, loss)

    def row(one: GroupFlow) -> tuple[Cell, ...]:
        """Return one group's cells."""
        return (
            Cell(group_text(one.group)), people_cell(one.people),
            count_cell(people(one.out), one.out), count_cell(people(one.into), one.into),
            count_cell(signed(one.change), one.change),
            *([mean(one.risk), mean(one.risk_after)] * has_risk),
            count_cell(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    columns = columns_of(["Group", *numeric], numeric)
    return Table("groups", moves_title(summary, "Groups"), columns, tuple(map(row, summary.groups)))


def rows_with_room(summary: AuditSummary, room: int) -> int | None:
    """Return how many rows of people fit on a page; None if more were requested.

    With many columns there are fewer rows, so that the page stays as small as with few.
    """
    if len(summary.moves) > DocumentOptions.max_moves:
        return None
    columns = max((len(move.from_profile) for move in summary.moves), default=1)
    return max(MIN_TABLE_ROWS, room // max(columns, 1))


def _flows_contents(summary: AuditSummary, output: Output) -> dict[str, object]:
    """Return the contents of the template part ``flows.j2``, by name.

    Flows that are zero, or may all be chance, are quiet: without a chart, and with folded tables.
    Swaps of given predictions are not shown, as noise alone makes as many.
    """
    if not shows_swaps(summary):
        return {}
    most = output.max_moves or rows_with_room(summary, MAX_TABLE_CELLS)
    flows = [
        (has_signal(table), (table.feature, flows_sentence(table), flow_table(table, at)))
        for at, table in enumerate(summary.flows, 1)
    ]
    return {
        "description": None if summary.rates is None else DECLARED,
        "moved": moved_sentence(summary),
        "scope": scope_meaning(summary),
        "ties": ties_sentence(summary),
        "fractions": fractions_sentence(summary),
        "hidden": hidden_moves_sentence(summary),
        "moves": moves_table(summary, most),
        "moves_shown": move_count_sentence(summary, most),
        "say": partial(prediction_text, classes=summary.provenance.classes),
        "shows_flows": shows_flows(summary),
        "flows_title": moves_title(summary, "Flows by feature"),
        "flows_meaning": flows_meaning(summary),
        "flows": [one for loud, one in flows if loud],
        "quiet_flows": [one for loud, one in flows if not loud],
        "groups": groups_table(summary),
    }


FLOWS = Section(
    "flows", "Flows", "flows.j2", _flows_contents, folded=True,
    hint="the swaps behind the statistic, people by people",
)  # fmt: skip
