"""Swaps behind the statistic: moves, flows by feature and by group."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairtransport.report.sections.decisions import (
    alternatives_text,
    counted_label,
    counts_people_once,
    label_text,
)
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
    has_intervals,
    has_signal,
    is_established,
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
    level,
    moves_phrase,
    moves_title,
    people,
    percent,
    prediction_text,
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
"""Rows of these tables, however many columns there are."""
MAX_NAMED_CELLS = 4
"""Established changes that a sentence lists."""
LEAVE, ENTER = "Leave", "Enter"
SCOPES = {
    "twins": (
        "Each person is compared with every copy that the similarity allows: the same row with "
        "other values of the sensitive features alone. The model was queried for copies that are "
        "not in the data."
    ),
    "reference": (
        "Each person is compared with the people of a reference table{more}. That table must have "
        "been chosen without the audit data: otherwise the verdict “within the limit” is not valid."
    ),
    "observed": (
        "People are compared only with people in the audit data{more}. Comparisons with other "
        "people may be missing, so there is no upper bound and never the verdict “within the "
        "limit”."
    ),
    "counterparts": (
        "Each person is compared with a counterpart: the same person as typically recorded in "
        "another group. Columns that were shown to depend on the group change, as far as they "
        "depend on it; all others stay. The model was queried for the counterparts."
    ),
}
TWINS_TOO = " and with their copies that differ in sensitive features alone"
WHO_IT_IS = "The tables show which people the result comes from, and which change is needed."
NOT_HARMED = "They do not list people who are harmed: the decision on these people is correct now."


def moved_sentence(summary: AuditSummary) -> str:
    """Return how many people the statistic comes from."""
    few = few_people(summary, summary.moved)
    if few is not None:
        return f"{few} {_what_happens(summary)}."
    if summary.moved <= 0:
        raised = "higher prediction" if is_outcome(summary) else "higher loss"
        if summary.provenance.loss_is_error:
            raised = "wrong decision in place of a correct one"
        return f"No allowed swap leads to a {raised} for any of the {summary.n:,} people."
    share = percent(summary.moved / summary.n)
    whom = f"{about(summary).capitalize()}{people(summary.moved)} of {summary.n:,} people ({share})"
    if not counts_people_once(summary):
        whom = f"{share} of {summary.n:,} people (weighted)"
    return f"{whom} {_what_happens(summary)}."


def _what_happens(summary: AuditSummary) -> str:
    """Return what swaps do to the people who are swapped."""
    names = alternatives_text(summary.provenance.sensitive)
    if turns_decisions(summary):
        if summary.target_scope == "twins":
            return f"have a correct decision that would become wrong with another {names}"
        return (
            "have a correct decision and are swapped with a similar person whose decision is wrong"
        )
    if (label := counted_label(summary)) is not None:
        text = f"“{label_text(label)}”"
        if summary.target_scope == "twins":
            return f"get {text} only with another {names}"
        return f"do not get {text} and are swapped with a similar person who gets it"
    what = "prediction" if is_outcome(summary) else "loss"
    return f"are swapped with a similar person who has a higher {what}"


def turns_decisions(summary: AuditSummary) -> bool:
    """Tell whether every swap makes a correct decision a wrong one."""
    return summary.provenance.loss_is_error and all(
        (move.loss, move.loss_after) == (0, 1) for move in summary.moves
    )


def row_meaning(summary: AuditSummary) -> str:
    """Return what a row of the table of swaps is."""
    label = (
        " and the same true label" if any(one.label is not None for one in summary.moves) else ""
    )
    listed = "turn a correct decision into a wrong one"
    if not turns_decisions(summary):
        listed = f"lead to a higher {'prediction' if is_outcome(summary) else 'loss'}"
    return (
        "In a swap, a person is judged as a similar person, such as a copy of themselves. Each "
        f"row: people with equal values{label}, and what the swap changes. Only swaps that "
        f"{listed} are listed."
    )


def conclusion(summary: AuditSummary) -> str | None:
    """Return what may be concluded from the tables of swaps; None without any."""
    if not summary.moves:
        return None
    return f"{WHO_IT_IS} {NOT_HARMED}" if turns_decisions(summary) else WHO_IT_IS


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
    """Return what the flows count, what a loss or a gain of people means, and what to trust."""
    sentences = [
        f"Imagine that {moves_phrase(summary)} are made.",
        "Each cell shows how many people it then gains (+, blue) or loses (−, orange).",
    ]
    if turns_decisions(summary):
        loses = "many decisions are correct, but wrong for similar people"
        if summary.target_scope == "twins":
            names = alternatives_text(summary.provenance.sensitive)
            loses = f"many correct decisions would become wrong with another {names}"
        sentences.append(
            f"Where a cell loses many, {loses}. Where it gains many, decisions on people with "
            "these values are often wrong."
        )
    else:
        what = "Predictions are" if is_outcome(summary) else "The loss is"
        sentences.append(f"{what} lower for people who leave a cell than for those who enter one.")
    if any(has_intervals(table) for table in summary.flows):
        sentences.append(
            "A change counts as established only if its interval does not contain 0. Intervals are "
            f"simultaneous: with {level(1 - summary.alpha)} confidence all intervals of a table "
            "contain the true values."
        )
    return " ".join(sentences)


def flows_sentence(table: FlowTable) -> str:
    """Return which changes of the flows by a feature are established, or that none is."""
    if not any(cell.change for cell in table.cells):
        return "Nothing changes here: as many people leave each cell as enter it."
    if not has_intervals(table):
        return "These numbers describe the people in the data. There is no interval for others."
    if not has_signal(table):
        return "No change is established: every interval contains 0."
    sure = [cell for cell in table.cells if is_established(cell)]
    sure.sort(key=lambda cell: -abs(cell.change))
    texts = [_cell_text(cell) for cell in sure[:MAX_NAMED_CELLS]]
    more = [f"{len(sure) - len(texts)} more"] if len(sure) > len(texts) else []
    return f"Established changes: {'; '.join([*texts, *more])}."


def _cell_text(cell: Flow) -> str:
    """Return a cell of flows with its change, as in "+43 for priors 0, sex: Male"."""
    label = "" if cell.label is None else f", true label {value_text(cell.label)}"
    where = f"{value_text(cell.level)}, {group_text(cell.group)}{label}"
    return f"{signed(cell.change)} ({shorten(where)})"


def ties_sentence(summary: AuditSummary) -> str | None:
    """Return the meaning of a plan that is not unique; None if it is."""
    if summary.plan_is_unique is not False:
        return None
    return (
        "Sometimes several swaps of the same people give the same result. Such a row is marked "
        "“tied” and shows the swap that changes the fewest columns, then the nearest, then the "
        "first. A table made with the others could name other groups."
    )


def fractions_sentence(summary: AuditSummary) -> str | None:
    """Return why there are parts of a person; None if there are none."""
    if not counts_people_once(summary):
        return (
            f"People count by their weights, which add up to {summary.n:,}: numbers of people need "
            "not be whole."
        )
    numbers = [summary.moved, *(move.people for move in summary.moves)]
    if all(abs(number - round(number)) < ROUNDING for number in numbers):
        return None
    return (
        "The budget allows only some of the people of one row to be swapped, so numbers of people "
        "need not be whole."
    )


def move_count_sentence(summary: AuditSummary, most: int | None = None) -> str | None:
    """Return how many moves are shown, of how many; None without moves."""
    count = len(summary.moves[:most])
    if not count:
        return None
    if summary.moves_found is None:  # their number is left out
        total = len(summary.moves)
        return None if count == total else f"{count:,} of the {total:,} swaps that can be shown."
    if count == summary.moves_found:
        return None
    return (
        f"{count:,} of {summary.moves_found:,} swaps are shown, those that add most to the "
        "statistic. `result.moves` and the flag --moves give all of them."
    )


def moves_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return who is swapped with whom, the largest moves first."""
    moves = summary.moves[:most]
    labelled = any(move.label is not None for move in moves)
    distant = any(move.cost > 0 for move in moves)
    tied = any(move.tied for move in moves)
    # of an outcome the loss is the prediction, of a decision that turns wrong 0, then 1
    has_loss = not is_outcome(summary) and not turns_decisions(summary)
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


def flow_table(table: FlowTable, number: int, confidence: str) -> Table:
    """Return the cells of a heat map that people leave or enter, as a table."""
    sure = any(cell.lower is not None for cell in table.cells)
    has_people = any(cell.people is not None for cell in table.cells)
    labelled = any(cell.label is not None for cell in table.cells)
    feature, interval = shorten(visible(table.feature), 60), f"{confidence} interval"
    titles = ["True label"] * labelled + [feature, "Group"] + ["People"] * has_people
    titles += [LEAVE, ENTER, "Change"] + [interval] * sure

    def row(cell: Flow) -> tuple[Cell, ...]:
        """Return one cell of the map as a row."""
        cells = [Cell(value_text(cell.label))] * labelled
        cells += [Cell(value_text(cell.level)), Cell(group_text(cell.group))]
        cells += [people_cell(cell.people)] * has_people
        cells += [people_cell(number) for number in (cell.out, cell.into)]
        cells.append(Cell(signed(cell.change), cell.change))
        cells += [Cell(interval_text(cell.lower, cell.upper, 1), cell.lower)] * sure
        return tuple(cells)

    return Table(
        f"flows-{number}",
        f"Change in people by {feature}, cells without swaps left out",
        columns_of(titles, ("People", LEAVE, ENTER, "Change", interval)),
        tuple(row(cell) for cell in table.cells if cell.out or cell.into),
    )


GROUPS_MEANING = (
    "Leave and enter: how many people the swaps take out of a group, and into it. The other "
    "columns are about the people who are recorded in the group now."
)


def groups_table(summary: AuditSummary) -> Table:
    """Return how many people are swapped out of each group and into it."""
    is_error = summary.provenance.loss_is_error
    now = "Mean prediction now" if is_outcome(summary) else "Mean loss now"
    numeric = ["People", LEAVE, ENTER, "Change"]
    if any(one.risk is not None for one in summary.groups):
        numeric += ["Wrong decisions now" if is_error else now, "After the swaps"]
    part = "Adds to the statistic"
    has_risk = len(numeric) > 4  # noqa: PLR2004

    def count_cell(text: str, number: float) -> Cell:
        """Return a number, "0 shown" where others may be hidden."""
        return Cell(shown_text(summary, text, number), number)

    def mean(loss: float | None) -> Cell:
        """Return a mean loss, a share of errors as a percentage."""
        return Cell(NOT_TOLD if loss is None else share(loss), loss)

    def share(loss: float) -> str:
        return percent(loss) if is_error else decimal(loss)

    def row(one: GroupFlow) -> tuple[Cell, ...]:
        """Return one group's cells."""
        return (
            Cell(group_text(one.group)), people_cell(one.people),
            count_cell(people(one.out), one.out), count_cell(people(one.into), one.into),
            count_cell(signed(one.change), one.change),
            *([mean(one.risk), mean(one.risk_after)] * has_risk),
            count_cell(share(one.contribution), one.contribution),
        )  # fmt: skip

    columns = columns_of(["Group", *numeric, part], [*numeric, part])
    return Table(
        "groups", moves_title(summary, "By group"), columns, tuple(map(row, summary.groups))
    )


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
    sure = level(1 - summary.alpha)
    flows = [
        (has_signal(table), (table.feature, flows_sentence(table), flow_table(table, at, sure)))
        for at, table in enumerate(summary.flows, 1)
    ]
    return {
        "description": None if summary.rates is None else DECLARED,
        "moved": moved_sentence(summary),
        "scope": scope_meaning(summary),
        "conclusion": conclusion(summary),
        "row_meaning": row_meaning(summary),
        "ties": ties_sentence(summary),
        "fractions": fractions_sentence(summary),
        "hidden": hidden_moves_sentence(summary),
        "moves": moves_table(summary, most),
        "moves_shown": move_count_sentence(summary, most),
        "say": partial(prediction_text, classes=summary.provenance.classes),
        "shows_flows": shows_flows(summary),
        "flows_title": moves_title(summary, "By column"),
        "flows_meaning": flows_meaning(summary),
        "flows": [one for loud, one in flows if loud],
        "quiet_flows": [one for loud, one in flows if not loud],
        "groups": groups_table(summary),
        "groups_meaning": GROUPS_MEANING,
    }


FLOWS = Section(
    "flows", "Swaps", "flows.j2", _flows_contents, folded=True,
    hint="which people the result comes from",
)  # fmt: skip
