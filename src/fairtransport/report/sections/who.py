"""Who is affected: who is swapped with whom, by feature, by profile and by group."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairtransport.report.cells import (
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
from fairtransport.report.direction_words import OF_THOSE_SHOWN, direction_sentence
from fairtransport.report.numbers import (
    NOT_TOLD,
    ROUNDING,
    decimal,
    interval_text,
    people,
    percent,
    pvalue,
    signed,
)
from fairtransport.report.rate_words import DESCRIPTION
from fairtransport.report.sections import Section
from fairtransport.report.sections.finding import (
    about,
    disagreement_sentence,
    has_much_disagreement,
    is_outcome,
)
from fairtransport.report.strings import (
    group_text,
    prediction_text,
    shorten,
    value_text,
    visible,
)
from fairtransport.settings import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairtransport.report.sections import Output
    from fairtransport.summary import (
        Affected,
        AuditSummary,
        Flow,
        FlowTable,
        GroupComparison,
        GroupFlow,
        Move,
        Value,
    )

MOST_AFFECTED = 200
ROOM = 4_000
"""So many values of columns a page lists of moves, and of the most affected half as many."""
FEWEST = 20
"""As many rows a page lists, however many columns there are."""
"""Profiles of which a page tells; more are left to the JSON document."""
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
}
MADE_UP = (
    "Everybody is compared with twins of their own alone, made up for them: nobody in the audit "
    "data need look like that. The model was asked about each of them. The statistic and its "
    "bounds are about these twins, and say nothing of others."
)
TWINS_TOO = " and with the twins of these, about whom the model was asked"
METRICS = {
    "statistical_parity_difference": "Statistical parity difference",
    "equal_opportunity_difference": "Equal opportunity difference",
    "average_odds_difference": "Average odds difference",
    "demographic_parity_difference": "Demographic parity difference (largest)",
    "equalized_odds_difference": "Equalized odds difference (largest)",
}


def moved_sentence(summary: AuditSummary) -> str:
    """Return how many people the statistic comes from.

    Parameters
    ----------
    summary
        In a shared document fewer than agreed are told as that.
    """
    made, who = "makes the model do worse", "for whom the model does worse"
    if is_outcome(summary):
        made, who = "leads to a higher prediction", "who gets a higher prediction"
    hidden = summary.suppression
    if hidden is not None and summary.moved < hidden.at_least:
        number = f"Fewer than {hidden.at_least} of {summary.n:,} people"
        return f"{number} are swapped with someone similar {who}."
    if summary.moved <= 0:
        return f"No move that this budget allows {made} for any of the {summary.n:,} people."
    return (
        f"{about(summary).capitalize()}{people(summary.moved)} of {summary.n:,} people "
        f"({percent(summary.moved / summary.n)}) are swapped with someone similar {who}."
    )


def scope_meaning(summary: AuditSummary) -> str:
    """Return whom people are compared with.

    Parameters
    ----------
    summary
        What can be certified hangs on it, and is said with it.
    """
    if summary.made_twins is not None:
        return MADE_UP
    asked = summary.queried != 0  # twins of a reference table may be people of the audit data
    twins = asked if summary.target_scope == "reference" else _has_twins(summary)
    more = TWINS_TOO if twins else ""
    return SCOPES.get(summary.target_scope, visible(summary.target_scope)).replace("{more}", more)


def _has_twins(summary: AuditSummary) -> bool:
    """Tell whether there are points that nobody in the audit data is at, which are twins.

    Parameters
    ----------
    summary
        In a shared document, which tells no numbers of points, whether a model was asked.
    """
    if summary.points is None or summary.observed_points is None:  # not told
        return summary.queried != 0
    return summary.queried != 0 and summary.points > summary.observed_points


def directions_table(summary: AuditSummary) -> Table:
    """Return between which levels of a sensitive feature the worse treatment goes.

    Parameters
    ----------
    summary
        Columns of harmful and lenient parts are there where a label is favourable.
    """
    better, worse = "Does better", "Does worse"
    if is_outcome(summary):
        better, worse = "Lower prediction", "Higher prediction"
    flips = any(one.harmful is not None for one in summary.directions)
    numeric = ("People moved", "Added to the statistic", *("Harmful", "Lenient") * flips)
    rows = tuple(
        (
            Cell(visible(one.feature)), Cell(value_text(one.better)), Cell(value_text(one.worse)),
            people_cell(one.people), Cell(decimal(one.contribution), one.contribution),
            *(Cell(decimal(part), part) for part in (one.harmful, one.lenient) if flips),
        )
        for one in summary.directions
    )  # fmt: skip
    return Table(
        "directions",
        titled(summary, "For whom the model does worse than for similar people"),
        columns_of(["Sensitive feature", better, worse, *numeric], numeric),
        rows,
    )


def titled(summary: AuditSummary, title: str) -> str:
    """Return a heading; where moves are left out it says that the others were counted.

    Parameters
    ----------
    summary, title
        What the audit says, and the heading.
    """
    return title if summary.suppression is None else f"{title}, {OF_THOSE_SHOWN}"


def hidden_sentence(summary: AuditSummary) -> str | None:
    """Return how many people are in moves that are left out; None if there are none to tell of."""
    hidden = summary.suppression
    if hidden is None or not hidden.moved_hidden:
        return None
    return f"Moves of about {people(hidden.moved_hidden)} people are not shown."


def shows_flows(summary: AuditSummary) -> bool:
    """Tell whether flows are shown: where all moves are left out, zeros would say nothing."""
    return bool(summary.flows) and bool(summary.moves or summary.suppression is None)


def flows_meaning(summary: AuditSummary) -> str:
    """Return what the flows count, and what it means to leave a cell or to enter it.

    Parameters
    ----------
    summary
        The audit. With an outcome as the loss, high predictions take the place of bad ones; where
        small cells are suppressed, only the moves shown are counted.
    """
    moves = "all moves" if summary.suppression is None else "the moves shown"
    better = "the model does better for the cells that people leave, and worse for those they enter"
    if is_outcome(summary):
        better = (
            "predictions are lower in the cells that people leave, and higher in those they enter"
        )
    return (
        f"How the number of people in each cell changes when {moves} are made: {better}. "
        "Blue cells with + gain people, orange cells with − lose them."
    )


def flows_sentence(table: FlowTable) -> str:
    """Return how the flows by a feature are to be read.

    Parameters
    ----------
    table
        Nothing changes; every change may be chance; they describe the sample; or they have
        intervals.
    """
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
        "The intervals hold for all cells of the table at once: a cell whose interval holds 0 "
        "may be chance."
    )


def ties_sentence(summary: AuditSummary) -> str | None:
    """Return what it means that the plan is not unique; None where it is."""
    # whether there are others was not searched for where the statistic is a bracket
    if summary.plan_is_unique is not False or summary.bracket is not None:
        return None
    return (
        "Other swaps would give the same statistic. Where there was a choice, the fewest columns "
        "were changed, then the least distance, and of what was left the first in order was taken; "
        "such moves are marked as tied, and between which groups they go hangs on that choice."
    )


def fractions_sentence(summary: AuditSummary) -> str | None:
    """Return why there are parts of a person; None if there are none.

    Parameters
    ----------
    summary
        The audit. Of an optimal plan at most one profile is split, where the budget ends.
    """
    numbers = [summary.moved, *(move.people for move in summary.moves)]
    if all(abs(number - round(number)) < ROUNDING for number in numbers):
        return None
    return (
        "The budget ends half way through a profile: only some of its people are moved, and their "
        "number need not be whole."
    )


def shown_sentence(summary: AuditSummary, most: int | None = None) -> str | None:
    """Return how many moves are shown, of how many; None where there are none.

    Parameters
    ----------
    summary
        What the audit says.
    most
        How many a table lists; None: all.
    """
    shown = len(summary.moves[:most])
    if not shown:
        return None
    if summary.moves_found is None:  # how many there are is not told
        listed = len(summary.moves)
        return None if shown == listed else f"{shown:,} of the {listed:,} moves that can be shown."
    if shown == summary.moves_found:
        return None
    return (
        f"{shown:,} of {summary.moves_found:,} moves are shown, those that add most to the "
        "statistic; `result.moves` and the flag --moves give all of them."
    )


def moves_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return who is swapped with whom, the largest moves first.

    Parameters
    ----------
    summary
        Columns that would say nothing (labels, distances, ties) are left out.
    most
        How many; None: all that the document has.
    """
    moves = summary.moves[:most]
    labelled = any(move.label is not None for move in moves)
    distant = any(move.cost > 0 for move in moves)
    tied = any(move.tied for move in moves)
    told = not is_outcome(summary)  # else the loss is the prediction, which is there already
    digits = decimals_for(loss for move in moves for loss in (move.loss, move.loss_after))
    far = decimals_for(move.cost for move in moves)
    classes = summary.provenance.classes
    predicted = _predictions(moves, classes)
    titles = ["People", "Who they are", "What is changed"]
    titles += ["True label"] * labelled
    titles += [_prediction_title(moves, classes)] + ["Loss"] * told
    titles += ["Squared distance"] * distant + ["Tied"] * tied

    def row(move: Move) -> tuple[Cell, ...]:
        """Return one move's cells."""
        cells = [
            people_cell(move.people),
            profile_cell(move.from_profile, move.changed),
            _changed(move),
        ]
        cells += [Cell(value_text(move.label))] * labelled
        cells.append(Cell(predicted(move.prediction) + ARROW + predicted(move.prediction_after)))
        losses = (decimal(loss, digits) for loss in (move.loss, move.loss_after))
        cells += [Cell(ARROW.join(losses), move.loss_after - move.loss)] * told
        cells += [Cell(decimal(move.cost, far) if move.cost else "0", move.cost)] * distant
        cells += [Cell("yes" if move.tied else "no")] * tied
        return tuple(cells)

    columns = columns_of(titles, ("People", "Loss", "Squared distance"))
    return Table("moves", "Who is swapped with whom", columns, tuple(map(row, moves)))


def _predictions(
    moves: Iterable[Move], classes: Sequence[Value]
) -> Callable[[Value | tuple[float, ...]], str]:
    """Return what writes predictions; numbers get the same decimals in every row.

    Parameters
    ----------
    moves
        Those of the table.
    classes
        The labels that scores belong to.
    """
    values = [value for move in moves for value in (move.prediction, move.prediction_after)]
    digits = decimals_for(value for value in values if isinstance(value, float))
    return lambda value: (
        decimal(value, digits) if isinstance(value, float) else prediction_text(value, classes)
    )


def _prediction_title(moves: Iterable[Move], classes: Sequence[Value]) -> str:
    """Return the heading of predictions; of two classes' scores one is shown, and named.

    Parameters
    ----------
    moves
        The moves of the table, whose predictions show whether they are pairs of scores.
    classes
        The classes in the order of scores; empty where they are not known.
    """
    predictions = [move.prediction for move in moves]
    pairs = any(isinstance(one, tuple) and len(one) == 2 for one in predictions)  # noqa: PLR2004
    if not pairs:
        return "Prediction"
    return (
        f"Score of {shorten(value_text(classes[-1]), 40)}" if classes else "Score of the last class"
    )


def _changed(move: Move) -> Cell:
    """Return what changes, or that nothing but the prediction does."""
    if not move.changed:
        return Cell("nothing but the prediction")
    return changes_cell(move.from_profile, move.to_profile, move.changed)


def flow_table(table: FlowTable, number: int) -> Table:
    """Return the cells of a heat map as a table.

    Parameters
    ----------
    table
        The flows by one feature.
    number
        Of the heat map, for the key.
    """
    sure = any(cell.lower is not None for cell in table.cells)
    told = any(cell.people is not None for cell in table.cells)
    titles = ["Level", "Group", *["People"] * told, "Moved out", "Moved in", "Change"]
    labelled = any(cell.label is not None for cell in table.cells)
    titles = ["True label"] * labelled + titles
    titles += ["Interval", "p-value"] * sure

    def row(cell: Flow) -> tuple[Cell, ...]:
        """Return one cell of the map as a row."""
        cells = [Cell(value_text(cell.label))] * labelled
        cells += [Cell(value_text(cell.level)), Cell(group_text(cell.group))]
        cells += [people_cell(cell.people)] * told
        cells += [people_cell(number) for number in (cell.out, cell.into)]
        cells.append(Cell(signed(cell.change), cell.change))
        if sure:
            cells.append(Cell(interval_text(cell.lower, cell.upper, 1), cell.lower))
            shown = "" if cell.pvalue is None else pvalue(cell.pvalue).removeprefix("p = ")
            cells.append(Cell(shown.removeprefix("p "), cell.pvalue))
        return tuple(cells)

    numeric = ("People", "Moved out", "Moved in", "Change", "Interval", "p-value")
    return Table(
        f"flows-{number}",
        f"Change in people by {shorten(visible(table.feature), 60)}",
        columns_of(titles, numeric),
        tuple(map(row, table.cells)),
    )


def affected_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return the profiles for which the model does worse than for similar people.

    Parameters
    ----------
    summary
        What the audit says.
    most
        How many; None: all that the document has.
    """
    labelled = any(one.label is not None for one in summary.most_affected)
    flips = any(one.harmful is not None for one in summary.most_affected)
    titles = ["Who they are", *["True label"] * labelled, *["The error"] * flips]
    worse = "Each prediction is higher by" if is_outcome(summary) else "Each does worse by"
    fact = "In the data"
    numeric = [fact, "Similar people who do better", worse, "Added to the statistic"]
    if is_outcome(summary):
        numeric[1] = "Similar people with lower ones"
    digits = decimals_for(one.gain for one in summary.most_affected)

    def row(one: Affected) -> tuple[Cell, ...]:
        """Return one profile's cells."""
        label = [Cell(value_text(one.label))] * labelled
        return (
            profile_cell(one.profile), *label, *[_error_cell(summary, one)] * flips,
            Cell("nobody", 0.0) if one.people == 0 else people_cell(one.people),
            people_cell(one.moved),
            Cell(decimal(one.gain, digits), one.gain),
            Cell(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    return Table(
        "affected",
        titled(summary, "Most affected: " + _affected_title(summary)),
        columns_of([*titles, *numeric], numeric),
        tuple(map(row, summary.most_affected[:most])),
    )


def _error_cell(summary: AuditSummary, one: Affected) -> Cell:
    """Return whether an error is to people's harm or in their favour.

    Parameters
    ----------
    summary, one
        The favourable label, and the profile.
    """
    favour = shorten(value_text(summary.favourable), 40)
    harmful, lenient = one.harmful or 0.0, one.lenient or 0.0
    if not harmful and not lenient:
        return Cell("neither")
    kinds = [f"harmful: denied {favour}"] * (harmful > 0) + [f"lenient: granted {favour}"] * (
        lenient > 0
    )
    return Cell(", ".join(kinds))


def _affected_title(summary: AuditSummary) -> str:
    """Return whom the table of the most affected is about."""
    if is_outcome(summary):
        return "who gets higher predictions than similar people"
    return "for whom the model does worse than for similar people"


def affected_meaning(summary: AuditSummary) -> str:
    """Return what of the most affected is a fact and what a counterfactual.

    Parameters
    ----------
    summary
        Made-up people, twins, or people in the data.
    """
    how = "get lower predictions" if is_outcome(summary) else "are treated better"
    there = (
        "Similar people, all of them in the data, "
        f"{how}: that is a fact. So is how those in this table are treated where somebody in the "
        "data is one of them"
    )
    last = ", as all are."
    if summary.made_twins is not None:
        return (
            "Those in this table are made up: what is said of them is what the model answered "
            "when it was asked about them. The people whose twins they are, all of them in the "
            f"data, {how}: that is a fact.{_whose_favour(summary)}"
        )
    if _has_twins(summary):
        last = (
            "; where nobody is, it is a counterfactual: what the model says of somebody who "
            "differs from people in the data as the similarity allows."
        )
    return there + last + _whose_favour(summary)


def _whose_favour(summary: AuditSummary) -> str:
    """Return that an error can be in somebody's favour, where that is known or could be.

    Parameters
    ----------
    summary
        What the audit says.
    """
    if is_outcome(summary):
        return ""
    if any(one.harmful is not None for one in summary.most_affected):
        return (
            " A lenient error is in their favour: there, those to whom it is not granted are the "
            "similar people."
        )
    return " Errors count whomever they favour; `favourable` tells denials from favours."


def groups_table(summary: AuditSummary) -> Table:
    """Return how many people are moved out of each group and into it.

    Parameters
    ----------
    summary
        In a shared document a 0 is "0 shown", as moves may be hidden.
    """
    is_error = summary.provenance.loss_is_error
    what = "Errors" if is_error else "Mean prediction" if is_outcome(summary) else "Mean loss"
    told = any(one.risk is not None for one in summary.groups)
    numeric = ["People", "Moved out", "Moved in", "Change"]
    numeric += [f"{what} before", f"{what} after"] * told + ["Added to the statistic"]

    def shown(text: str, number: float) -> Cell:
        """Return a number, "0 shown" where others may be hidden."""
        # nothing is shown, which does not mean that nothing is there
        is_part = summary.suppression is not None and number == 0
        return Cell("0 shown" if is_part else text, number)

    def mean(loss: float | None) -> Cell:
        """Return a mean loss, a share of errors as a percentage."""
        text = NOT_TOLD if loss is None else percent(loss) if is_error else decimal(loss)
        return Cell(text, loss)

    def row(one: GroupFlow) -> tuple[Cell, ...]:
        """Return one group's cells."""
        return (
            Cell(group_text(one.group)), people_cell(one.people), shown(people(one.out), one.out),
            shown(people(one.into), one.into), shown(signed(one.change), one.change),
            *([mean(one.risk), mean(one.risk_after)] * told),
            shown(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    columns = columns_of(["Group", *numeric], numeric)
    return Table("groups", titled(summary, "Groups"), columns, tuple(map(row, summary.groups)))


def metrics_table(summary: AuditSummary) -> Table:
    """Return the group metrics, one a row.

    Parameters
    ----------
    summary
        They stand beside the individual ones, and never decide a verdict.
    """

    def rows(one: GroupComparison) -> Iterable[tuple[Cell, ...]]:
        """Yield the metrics by one sensitive feature."""
        feature = Cell(visible(one.feature))
        for group, accuracy in one.accuracy_by_group.items():
            shown = NOT_TOLD if accuracy is None else percent(accuracy)
            yield feature, Cell(f"Accuracy, {visible(group)}"), Cell(shown, accuracy)
        for name, title in METRICS.items():
            value = getattr(one, name)
            if value is not None:
                yield feature, Cell(title + _versus(one, name)), Cell(decimal(value, 3), value)

    return Table(
        "metrics",
        "Group metrics",
        columns_of(["Sensitive feature", "Metric", "Value"], ["Value"]),
        tuple(row for one in summary.group_metrics for row in rows(one)),
    )


def _versus(one: GroupComparison, name: str) -> str:
    """Return between whom a signed difference is."""
    if name.startswith(("demographic", "equalized")) or one.privileged is None:
        return ""
    return f", others minus {value_text(one.privileged)}"


def rows_with_room(summary: AuditSummary, room: int) -> int | None:
    """Return how many rows of people a page has room for; None where more were asked for.

    People with many columns take much of it: a page should stay as small as with few.
    """
    if len(summary.moves) > AuditSettings.moves_limit:
        return None
    columns = max((len(move.from_profile) for move in summary.moves), default=1)
    return max(FEWEST, room // max(columns, 1))


def _contents(summary: AuditSummary, output: Output) -> dict[str, object]:
    """Return what the template part ``who.j2`` shows, by name.

    Parameters
    ----------
    summary
        The audit.
    output
        How many moves are listed.

    Notes
    -----
    Flows that are nothing, or may all be chance, are quiet: no picture is drawn, their tables are
    folded away.
    """
    much = has_much_disagreement(summary)
    most = output.most_moves or rows_with_room(summary, ROOM)
    affected = min(MOST_AFFECTED, rows_with_room(summary, ROOM // 2) or MOST_AFFECTED)
    flows = [
        (has_signal(table), (table.feature, flows_sentence(table), flow_table(table, at)))
        for at, table in enumerate(summary.flows, 1)
    ]
    return {
        "description": DESCRIPTION,
        "moved": moved_sentence(summary),
        "scope": scope_meaning(summary),
        "disagreement": None if much or summary.rates else disagreement_sentence(summary),
        "ties": ties_sentence(summary),
        "fractions": fractions_sentence(summary),
        "hidden": hidden_sentence(summary),
        "moves": moves_table(summary, most),
        "moves_shown": shown_sentence(summary, most),
        "say": partial(prediction_text, classes=summary.provenance.classes),
        "shows_flows": shows_flows(summary),
        "flows_title": titled(summary, "Flows by feature"),
        "flows_meaning": flows_meaning(summary),
        "flows": [one for loud, one in flows if loud],
        "quiet_flows": [one for loud, one in flows if not loud],
        "affected_meaning": affected_meaning(summary),
        "affected": affected_table(summary, affected),
        "affected_left_out": len(summary.most_affected) - affected,
        "direction": direction_sentence(summary),
        "directions": directions_table(summary),
        "groups": groups_table(summary),
        "metrics": metrics_table(summary),
    }


SECTION = Section("who", "Who is affected", 20, _contents)
