"""The summary's lists as tables of text, for HTML and Markdown alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.report.text import (
    NOT_TOLD,
    decimal,
    group_text,
    people,
    percent,
    pvalue,
    shorten,
    signed,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


@dataclass(frozen=True)
class Cell:
    """What a cell shows, in full, and the number it is sorted by.

    ``pairs`` are a profile's columns with their values; ``text`` is the same in a line.
    """

    text: str
    sort: float | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def short(self) -> str:
        """The text, shortened to what fits a line or two."""
        return shorten(self.text)

    @property
    def short_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs, each value shortened."""
        return tuple((shorten(name, 40), shorten(value, 80)) for name, value in self.pairs)

    @property
    def is_cut(self) -> bool:
        """Whether the full text says more than the short one."""
        return self.short_pairs != self.pairs if self.pairs else self.short != self.text


@dataclass(frozen=True)
class Column:
    """A column's heading and whether it holds numbers."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``key`` names it in the document."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


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


def _columns(titles: Iterable[str], numeric: Iterable[str]) -> tuple[Column, ...]:
    numbers = set(numeric)
    return tuple(Column(title, title in numbers) for title in titles)


def moves_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return who is swapped with whom, the largest moves first."""
    moves = summary.moves[:most]
    labelled = any(move.label is not None for move in moves)
    distant = any(move.cost > 0 for move in moves)
    tied = any(move.tied for move in moves)
    titles = ["People", "Who they are", "What is changed"]
    titles += ["True label"] * labelled
    titles += ["Prediction", "Loss"]
    titles += ["Squared distance"] * distant + ["Tied"] * tied

    def row(move: Move) -> tuple[Cell, ...]:
        cells = [_people(move.people), _profile(move.from_profile, move.changed), _changed(move)]
        cells += [_text(value_text(move.label))] * labelled
        cells.append(_text(value_text(move.prediction) + ARROW + value_text(move.prediction_after)))
        rise = move.loss_after - move.loss
        cells.append(_number(f"{move.loss:.4g}{ARROW}{move.loss_after:.4g}", rise))
        cells += [_number(f"{move.cost:.4g}", move.cost)] * distant
        cells += [_text("yes" if move.tied else "no")] * tied
        return tuple(cells)

    columns = _columns(titles, ("People", "Loss", "Squared distance"))
    return Table("moves", "Who is swapped with whom", columns, tuple(map(row, moves)))


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
            cells.append(_number(_range(cell.lower, cell.upper, 1), cell.lower))
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


def _range(lower: float | None, upper: float | None, digits: int = 4) -> str:
    if lower is None and upper is None:
        return "none"
    if upper is None:
        return f"{decimal(lower, digits)} and more"
    if lower is None:
        return f"{decimal(upper, digits)} and less"
    return f"{decimal(lower, digits)} to {decimal(upper, digits)}"


def affected_table(summary: AuditSummary, most: int | None = None) -> Table:
    """Return the profiles that add most to the statistic."""
    labelled = any(one.label is not None for one in summary.most_affected)
    titles = ["Who they are", *["True label"] * labelled]
    numeric = ["People", "Moved", "Each does worse by", "Added to the statistic"]

    def row(one: Affected) -> tuple[Cell, ...]:
        label = [_text(value_text(one.label))] * labelled
        return (
            _profile(one.profile), *label, _people(one.people), _people(one.moved),
            _number(f"{one.gain:.4g}", one.gain),
            _number(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    return Table(
        "affected",
        "Most affected profiles",
        _columns([*titles, *numeric], numeric),
        tuple(map(row, summary.most_affected[:most])),
    )


def groups_table(summary: AuditSummary) -> Table:
    """Return how many people are moved out of each group and into it."""
    is_error = summary.provenance.loss_is_error
    what = "Errors" if is_error else "Mean loss"
    told = any(one.risk is not None for one in summary.groups)
    numeric = ["People", "Moved out", "Moved in", "Change"]
    numeric += [f"{what} before", f"{what} after"] * told + ["Added to the statistic"]

    def mean(loss: float | None) -> Cell:
        shown = NOT_TOLD if loss is None else percent(loss) if is_error else decimal(loss)
        return _number(shown, loss)

    def row(one: GroupFlow) -> tuple[Cell, ...]:
        return (
            _text(group_text(one.group)), _people(one.people), _people(one.out),
            _people(one.into), _number(signed(one.change), one.change),
            *([mean(one.risk), mean(one.risk_after)] * told),
            _number(decimal(one.contribution), one.contribution),
        )  # fmt: skip

    columns = _columns(["Group", *numeric], numeric)
    return Table("groups", "Groups", columns, tuple(map(row, summary.groups)))


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
            _number(_range(one.lower, one.upper), one.lower),
            _number(decimal(one.lower_bound), one.lower_bound),
            _number(decimal(one.upper_bound), one.upper_bound),
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
