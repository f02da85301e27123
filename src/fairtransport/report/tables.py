"""The summary's lists as tables of text, for HTML and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.cells import Cell, Column, Table
from fairtransport.report.reading import titled
from fairtransport.report.text import (
    DOWN,
    NOT_TOLD,
    UP,
    bound,
    decimal,
    group_text,
    interval_text,
    people,
    percent,
    prediction_text,
    pvalue,
    shorten,
    signed,
    value_text,
    visible,
)
from fairtransport.report.words import is_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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

ARROW = " → "
MANY_DIGITS = ((10.0, 4), (1000.0, 2))
"""Numbers below a limit are shown with so many decimals; larger ones as whole numbers."""


def _text(text: str) -> Cell:
    return Cell(text)


def _number(shown: str, value: float | None) -> Cell:
    return Cell(shown, value)


def _people(number: float | None) -> Cell:
    return _number(people(number), number)


def _pairs(pairs: Iterable[tuple[str, str]]) -> Cell:
    listed = tuple(pairs)
    return Cell(", ".join(f"{name} {value}" for name, value in listed), pairs=listed)


def _profile(profile: Mapping[str, Value], without: tuple[str, ...] = ()) -> Cell:
    return _pairs(
        (visible(name), value_text(value)) for name, value in profile.items() if name not in without
    )


def _digits(numbers: Iterable[float]) -> int:
    """Return the decimals that a column of numbers is shown with, the same in every row."""
    known = [abs(number) for number in numbers]
    if all(number == round(number) for number in known):
        return 0
    largest = max(known)
    return next((digits for limit, digits in MANY_DIGITS if largest < limit), 0)


def _columns(titles: Iterable[str], numeric: Iterable[str]) -> tuple[Column, ...]:
    numbers = set(numeric)
    return tuple(Column(title, title in numbers) for title in titles)


def moves_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return who is swapped with whom, the largest moves first."""
    moves = summary.moves[:most]
    labelled = any(move.label is not None for move in moves)
    distant = any(move.cost > 0 for move in moves)
    tied = any(move.tied for move in moves)
    told = not is_outcome(summary)  # else the loss is the prediction, which is there already
    digits = _digits(loss for move in moves for loss in (move.loss, move.loss_after))
    far = _digits(move.cost for move in moves)
    predicted = _predictions(moves)
    titles = ["People", "Who they are", "What is changed"]
    titles += ["True label"] * labelled
    titles += [_prediction_title(moves)] + ["Loss"] * told
    titles += ["Squared distance"] * distant + ["Tied"] * tied

    def row(move: Move) -> tuple[Cell, ...]:
        cells = [_people(move.people), _profile(move.from_profile, move.changed), _changed(move)]
        cells += [_text(value_text(move.label))] * labelled
        cells.append(_text(predicted(move.prediction) + ARROW + predicted(move.prediction_after)))
        losses = (decimal(loss, digits) for loss in (move.loss, move.loss_after))
        cells += [_number(ARROW.join(losses), move.loss_after - move.loss)] * told
        cells += [_number(decimal(move.cost, far) if move.cost else "0", move.cost)] * distant
        cells += [_text("yes" if move.tied else "no")] * tied
        return tuple(cells)

    columns = _columns(titles, ("People", "Loss", "Squared distance"))
    return Table("moves", "Who is swapped with whom", columns, tuple(map(row, moves)))


def _predictions(moves: Iterable[Move]) -> Callable[[Value | tuple[float, ...]], str]:
    """Return what writes predictions; numbers get the same decimals in every row."""
    values = [value for move in moves for value in (move.prediction, move.prediction_after)]
    digits = _digits(value for value in values if isinstance(value, float))
    return lambda value: (
        decimal(value, digits) if isinstance(value, float) else prediction_text(value)
    )


def _prediction_title(moves: Iterable[Move]) -> str:
    predictions = [move.prediction for move in moves]
    pairs = any(isinstance(one, tuple) and len(one) == 2 for one in predictions)  # noqa: PLR2004
    return "Score of the last class" if pairs else "Prediction"


def _changed(move: Move) -> Cell:
    if not move.changed:
        return _text("nothing but the prediction")
    return _pairs(
        (
            visible(name),
            value_text(move.from_profile.get(name)) + ARROW + value_text(move.to_profile.get(name)),
        )
        for name in move.changed
    )


def flow_table(table: FlowTable, number: int) -> Table:
    """Return the cells of a heat map as a table."""
    sure = any(cell.lower is not None for cell in table.cells)
    told = any(cell.people is not None for cell in table.cells)
    titles = ["Level", "Group", *["People"] * told, "Moved out", "Moved in", "Change"]
    labelled = any(cell.label is not None for cell in table.cells)
    titles = ["True label"] * labelled + titles
    titles += ["Interval", "p-value"] * sure

    def row(cell: Flow) -> tuple[Cell, ...]:
        cells = [_text(value_text(cell.label))] * labelled
        cells += [_text(value_text(cell.level)), _text(group_text(cell.group))]
        cells += [_people(cell.people)] * told
        cells += [_people(number) for number in (cell.out, cell.into)]
        cells.append(_number(signed(cell.change), cell.change))
        if sure:
            cells.append(_number(interval_text(cell.lower, cell.upper, 1), cell.lower))
            shown = "" if cell.pvalue is None else pvalue(cell.pvalue).removeprefix("p = ")
            cells.append(_number(shown.removeprefix("p "), cell.pvalue))
        return tuple(cells)

    numeric = ("People", "Moved out", "Moved in", "Change", "Interval", "p-value")
    return Table(
        f"flows-{number}",
        f"Change in people by {shorten(visible(table.feature), 60)}",
        _columns(titles, numeric),
        tuple(map(row, table.cells)),
    )


def affected_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return the profiles that add most to the statistic."""
    labelled = any(one.label is not None for one in summary.most_affected)
    titles = ["Who they are", *["True label"] * labelled]
    worse = "Each prediction is higher by" if is_outcome(summary) else "Each does worse by"
    numeric = ["People", "Moved", worse, "Added to the statistic"]
    digits = _digits(one.gain for one in summary.most_affected)

    def row(one: Affected) -> tuple[Cell, ...]:
        label = [_text(value_text(one.label))] * labelled
        return (
            _profile(one.profile), *label, _people(one.people), _people(one.moved),
            _number(decimal(one.gain, digits), one.gain),
            _number(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    return Table(
        "affected",
        titled(summary, "Most affected profiles"),
        _columns([*titles, *numeric], numeric),
        tuple(map(row, summary.most_affected[:most])),
    )


def groups_table(summary: AuditSummary) -> Table:
    """Return how many people are moved out of each group and into it."""
    is_error = summary.provenance.loss_is_error
    what = "Errors" if is_error else "Mean prediction" if is_outcome(summary) else "Mean loss"
    told = any(one.risk is not None for one in summary.groups)
    numeric = ["People", "Moved out", "Moved in", "Change"]
    numeric += [f"{what} before", f"{what} after"] * told + ["Added to the statistic"]

    def shown(text: str, number: float) -> Cell:
        # nothing is shown, which does not mean that nothing is there
        is_part = summary.suppression is not None and number == 0
        return _number("0 shown" if is_part else text, number)

    def mean(loss: float | None) -> Cell:
        text = NOT_TOLD if loss is None else percent(loss) if is_error else decimal(loss)
        return _number(text, loss)

    def row(one: GroupFlow) -> tuple[Cell, ...]:
        return (
            _text(group_text(one.group)), _people(one.people), shown(people(one.out), one.out),
            shown(people(one.into), one.into), shown(signed(one.change), one.change),
            *([mean(one.risk), mean(one.risk_after)] * told),
            shown(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    columns = _columns(["Group", *numeric], numeric)
    return Table("groups", titled(summary, "Groups"), columns, tuple(map(row, summary.groups)))


METRICS = {
    "statistical_parity_difference": "Statistical parity difference",
    "equal_opportunity_difference": "Equal opportunity difference",
    "average_odds_difference": "Average odds difference",
    "demographic_parity_difference": "Demographic parity difference (largest)",
    "equalized_odds_difference": "Equalized odds difference (largest)",
}


def metrics_table(summary: AuditSummary) -> Table:
    """Return the group metrics, one a row."""

    def rows(one: GroupComparison) -> Iterable[tuple[Cell, ...]]:
        feature = _text(visible(one.feature))
        for group, accuracy in one.accuracy_by_group.items():
            shown = NOT_TOLD if accuracy is None else percent(accuracy)
            yield feature, _text(f"Accuracy, {visible(group)}"), _number(shown, accuracy)
        for name, title in METRICS.items():
            value = getattr(one, name)
            if value is not None:
                yield feature, _text(title + _versus(one, name)), _number(decimal(value, 3), value)

    return Table(
        "metrics",
        "Group metrics",
        _columns(["Sensitive feature", "Metric", "Value"], ["Value"]),
        tuple(row for one in summary.group_metrics for row in rows(one)),
    )


def _versus(one: GroupComparison, name: str) -> str:
    if name.startswith(("demographic", "equalized")) or one.privileged is None:
        return ""
    return f", others minus {value_text(one.privileged)}"


def methods_table(summary: AuditSummary) -> Table:
    """Return the methods' intervals and bounds side by side."""
    rows = tuple(
        (
            _text(visible(one.method)), _text(visible(one.guarantee)),
            _number(interval_text(one.lower, one.upper), one.lower),
            _number(bound(one.lower_bound, DOWN), one.lower_bound),
            _number(bound(one.upper_bound, UP), one.upper_bound),
        )
        for one in summary.methods
    )  # fmt: skip
    numeric = ["Interval", "Lower bound", "Upper bound"]
    columns = _columns(["Method", "Guarantee", *numeric], numeric)
    return Table("methods", "Methods side by side", columns, rows)


def costs_table(summary: AuditSummary) -> Table:
    """Return what a change of each column costs."""
    rows = tuple(
        (_text(visible(rule.column)), _text(visible(rule.change)), _text(visible(rule.cost)))
        for rule in summary.costs
    )
    columns = _columns(["Column", "Change", "Squared distance"], [])
    return Table("costs", "What costs what", columns, rows)


def curve_table(summary: AuditSummary) -> Table:
    """Return the corners of the budget curve."""
    rows = tuple(
        (_number(f"{one.budget:.6g}", one.budget), _number(decimal(one.value), one.value))
        for one in summary.budget_curve
    )
    titles = ["Budget", "Statistic"]
    return Table("curve", "Corners of the budget curve", _columns(titles, titles), rows)
