"""Views of a finished audit in the words of its file, for the process that holds it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.notes import spell_notes
from fairtransport.app.form import PER_CENT, decision_name, parameter_names
from fairtransport.audits import AuditResult
from fairtransport.audits.from_text import JSON_FILE, REPORT_FILE
from fairtransport.audits.what_if import find_case, look_at, point_of
from fairtransport.data.files import FileSource
from fairtransport.data.preview import fetch_row, preview_file
from fairtransport.documents.verdicts import comparison_row
from fairtransport.explain.groups import SELECTION
from fairtransport.explain.moves import Profiles, build_moves_columns, encode_moves
from fairtransport.report import render, tables
from fairtransport.report.sections.comparison import (
    NOT_SAID,
    comparison_title,
    condition_sentence,
    difference_sentence,
)
from fairtransport.report.sections.decisions import (
    alternatives_sentence,
    counterparts_caveat,
    direction_rows,
    headline,
    interval_of,
    label_sentence,
    label_text,
    limit_lines,
    not_said,
    score_sentences,
    verdict_with_finding,
)
from fairtransport.report.sections.finding import confidence, meaning, verdict_title
from fairtransport.report.sections.groups import rate_table
from fairtransport.report.sections.moves import moved_sentence, moves_table
from fairtransport.report.sections.rates import decision_lines as rate_lines
from fairtransport.report.text import (
    DOWN,
    ERROR,
    OUTCOME,
    UP,
    allowed_people,
    bound,
    people,
    prediction_text,
    profile_text,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.app.form import Measure
    from fairtransport.audits import Comparison
    from fairtransport.audits.from_text import AuditRequest
    from fairtransport.audits.what_if import Case, Twin
    from fairtransport.documents.audit import AuditSummary
    from fairtransport.explain.moves import Prediction


BELONG_TOGETHER = (
    "If rows belong together, as those of a household, audit on the command line with `--clusters`."
)
NOBODY = (
    "Nobody in the file has equal values in the other columns, so the audit says nothing about "
    "this person. This is no sign of equal treatment."
)
WRONG = "more wrong decisions in 100 people may occur"
MAX_MOVES = 20
"""Swaps that are listed beside a budget that is changed."""
MAX_CASES = 12
"""Maximum number of people offered for a closer look."""
MAX_BUDGET_FACTOR = 4.0
"""End of a slider of budgets as a multiple of the budget, unless the curve ends before."""


@dataclass(frozen=True)
class DecisionWords:
    """Answers of an audit in the words of its file."""

    measure: Measure

    def text(self, prediction: Prediction) -> str:
        """Return an answer: a decision of the file, or numbers unchanged."""
        measure = self.measure
        if measure.loss == OUTCOME and measure.decision is not None:
            return self.name(measure.decision) if prediction == 1 else self.other
        if isinstance(prediction, float | dict):
            return prediction_text(prediction)
        return self.name(value_text(prediction, write=str))

    def name(self, text: str) -> str:
        """Return a decision; a number with its column."""
        return visible(decision_name(text, self.measure.column))

    @property
    def other(self) -> str:
        """The decision that is not counted."""
        measure = self.measure
        if measure.other is not None:
            return self.name(measure.other)
        return f"not {self.name(measure.decision or '')}"

    def row_text(self, label: str) -> str:
        """Return a decision by its text in the report."""
        decision = self.measure.decision
        if self.measure.loss != OUTCOME or decision is None:
            return self.name(label)
        return self.name(decision) if label == label_text(decision) else self.other


def _capital(text: str) -> str:
    """Capitalise a text, unless it begins with the name of a column."""
    return text if " = " in text else text[:1].upper() + text[1:]


@dataclass(frozen=True)
class CaseView:
    """One person: who they are, the decision, and what it would be in another group."""

    profile: tables.Cell
    label: str | None
    decision: str
    lead: str
    sentences: tuple[str, ...]
    others: tables.Table | None
    listed: int
    comparable: int
    people: int


def view_case(case: Case, words: DecisionWords, sensitive: tuple[str, ...]) -> CaseView:
    """Return a case as text."""
    own = words.text(case.prediction)
    twins = sorted(
        case.twins, key=lambda one: (words.text(one.prediction) == own, one.cost, len(one.changed))
    )
    label = None if case.label is None else value_text(case.label)
    return CaseView(
        profile=tables.profile_cell(case.profile), label=label, decision=own,
        lead=_lead(case, twins, words, sensitive),
        sentences=tuple(_alternatives(case, twins, words, sensitive)),
        others=_others_table(case, twins, words) if twins else None,
        listed=len(twins), comparable=case.comparable, people=case.people,
    )  # fmt: skip


def _lead(
    case: Case, twins: list[Twin], words: DecisionWords, sensitive: tuple[str, ...]
) -> str:  # fmt: skip
    """Return the decision, and that of the nearest person who gets another one."""
    own, groups = words.text(case.prediction), " or ".join(map(visible, sensitive))
    if not twins:
        return f"{_capital(own)}. {NOBODY}"
    twin, by_model = twins[0], words.measure.by_model
    if words.text(twin.prediction) == own:
        if by_model:
            return f"{_capital(own)}, also with any other {groups}."
        return f"{_capital(own)}, like all others in the file with equal values."
    if not by_model:
        return f"{_capital(own)}. Others in the file with equal values got another decision."
    return f"{_capital(own)}. It would be {words.text(twin.prediction)} with {_changes(twin)}."


def _alternatives(
    case: Case, twins: list[Twin], words: DecisionWords, sensitive: tuple[str, ...]
) -> list[str]:  # fmt: skip
    """Return the effect of each sensitive feature alone, or the decisions of similar people."""
    own, sentences = words.text(case.prediction), []
    for name in sensitive:
        alone = [one for one in twins if one.changed == (name,)]
        if not words.measure.by_model:
            sentences += _rates_alike(alone, words)
            continue
        others = [
            f"{words.text(one.prediction)} with {_changes(one)}"
            for one in alone
            if words.text(one.prediction) != own
        ]
        if alone:
            same = f"still {own}"
            sentences.append(
                f"If only {visible(name)} were different: {'; '.join(others) or same}."
            )
    return sentences


def _rates_alike(twins: list[Twin], words: DecisionWords) -> list[str]:
    """Return how often people who agree in all but one column get each decision."""
    sentences = []
    for group in dict.fromkeys(map(_changes, twins)):
        members = [one for one in twins if _changes(one) == group]
        total = sum(one.people for one in members)
        parts = [f"{people(one.people)} {words.text(one.prediction)}" for one in members]
        sentences.append(f"Equal values, but {group}: {people(total)} people, {', '.join(parts)}.")
    return sentences


def _changes(twin: Twin) -> str:
    return ", ".join(f"{visible(name)} {value_text(twin.profile[name])}" for name in twin.changed)


def _others_table(case: Case, twins: list[Twin], words: DecisionWords) -> tables.Table:
    """Return the people a case is compared with, other decisions first."""
    is_far = any(one.cost > 0 for one in twins)
    titles = [
        "Difference",
        "Decision",
        *(["Distance²"] if is_far else []),
        "People in the file with these values",
    ]
    rows = tuple(
        (
            tables.changes_cell(case.profile, one.profile, one.changed)
            if one.changed
            else tables.Cell("none: equal in all columns"),
            tables.Cell(words.text(one.prediction)),
            *([tables.Cell(value_text(one.cost), one.cost)] if is_far else []),
            tables.people_cell(float(one.people)),
        )
        for one in twins
    )
    numeric = ["Distance²", "People in the file with these values"]
    return tables.Table("twins", "Compared with", tables.columns_of(titles, numeric), rows)


SHORT, MOVES, LINE, CODE = "report.md", "moves.csv", "audit.sh", "audit.py"


@dataclass(frozen=True)
class FindingRow:
    """People who get one decision and would get another."""

    decision: str
    alternative: str
    people: str
    interval: str
    effect: str
    details: str
    width: float


@dataclass(frozen=True)
class Finding:
    """The result in the words of the file, and what its pages need."""

    title: str
    verdict: str | None
    n: int
    lead: str = ""
    rows: tuple[FindingRow, ...] = ()
    lines: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    rates: tuple[tables.Table, ...] = ()
    not_said: tuple[str, ...] = ()
    advice: str | None = None
    next_settings: dict[str, Any] | None = None
    other_columns: tuple[str, ...] = ()
    delta: float | None = None
    budget: float = 0.0
    alpha: float = 0.05
    max_budget: float | None = None
    max_delta: float = 1.0
    unit: int = 1
    limit_words: str = ""
    sign: str = ""


def _rows(summary: AuditSummary, words: DecisionWords) -> tuple[FindingRow, ...]:
    """Return who gets another decision as someone else, worse off first."""
    if summary.decisions is None or summary.decisions.scores is not None:
        return ()
    rows = direction_rows(summary.decisions)
    most = max((row.count.people for row in rows), default=1.0) or 1.0
    return tuple(
        FindingRow(
            words.row_text(row.decision), words.row_text(row.alternative), people(row.count.people),
            interval_of(row.count), row.effect, row.details, PER_CENT * row.count.people / most,
        )
        for row in rows
    )  # fmt: skip


def _lines(summary: AuditSummary) -> tuple[str, ...]:
    """Return further sentences on the decisions."""
    decisions = summary.decisions
    if decisions is None or summary.applicability is not None:
        return ()
    sentences = (
        *score_sentences(decisions), label_sentence(decisions), alternatives_sentence(decisions),
        counterparts_caveat(decisions),
    )  # fmt: skip
    return tuple(one for one in sentences if one)


def _limits(summary: AuditSummary, measure: Measure) -> tuple[str, ...]:
    """Return the limit and the result."""
    if summary.applicability is not None:
        return ()
    has_lines = measure.loss == ERROR and summary.budget == 0
    if summary.rates is not None:
        return tuple(rate_lines(summary)[1:])
    if has_lines or not measure.is_people or summary.is_about_part:
        return tuple(limit_lines(summary))
    unit = WRONG if measure.loss == ERROR else measure.words
    sure = f"with {confidence(summary)} confidence"
    lines = []
    if summary.delta is not None:
        count = f"{allowed_people(summary.delta, summary.n):,} of these {summary.n:,}"
        lines.append(f"Your limit: at most {PER_CENT * summary.delta:.3g} {unit} ({count}).")
    number = people(round(summary.statistic * summary.n, 6))
    least = bound(PER_CENT * (summary.lower_bound or 0.0), DOWN, 1)
    upper = summary.upper_bound
    most = "" if upper is None else f", at most {bound(PER_CENT * upper, UP, 1)} %"
    each = "" if upper is None else "each "
    found = f"Found: {PER_CENT * summary.statistic:.3g} % ({number} people)."
    return *lines, f"{found} In the population: at least {least} %{most}, {each}{sure}."


def _rate_tables(summary: AuditSummary, words: DecisionWords) -> Iterator[tables.Table]:
    """Yield the rates of the decision by group, without ratios."""
    for at, comparison in enumerate(summary.group_metrics):
        for rate in comparison.rates if len(comparison.features) == 1 else ():
            if rate.kind == SELECTION:
                label = words.row_text(label_text(rate.label))
                by = visible(comparison.features[0])
                table = rate_table(replace(rate, label=label), f"rates-{at}", by)
                rows = tuple(row[:-1] for row in table.rows)
                yield replace(table, columns=table.columns[:-1], rows=rows)


@dataclass(frozen=True)
class Look:
    """An audit at another budget and another threshold.

    Attributes
    ----------
    statistic, lower, upper
        The tested value and its bounds; None: there is no upper bound.
    lower_text, upper_text
        The bounds as the report writes them, rounded outwards.
    of_rates
        Whether the bounds are those of R instead of the statistic.
    place
        Position of δ relative to the bounds.
    tested
        The verdict of the audit, at its own budget and δ.
    in_words
        The meaning of the budget.
    moved
        The people moved, in a sentence.
    moves
        The table of swaps.
    """

    statistic: float
    lower: float
    upper: float | None
    lower_text: str
    upper_text: str
    of_rates: bool
    budget: float
    delta: float | None
    same_budget: bool
    same_delta: bool
    place: str | None
    tested: str | None
    applicability: str | None
    in_words: str
    moved: str
    moves: tables.Table


class ResultViews:
    """Answers questions about one result."""

    def __init__(
        self, result: AuditResult | Comparison, request: AuditRequest, measure: Measure
    ) -> None:
        self.result, self.request, self.words = result, request, DecisionWords(measure)

    @property
    def _audit(self) -> AuditResult:
        assert isinstance(self.result, AuditResult)  # noqa: S101 - pages ask no comparison
        return self.result

    @cached_property
    def _document(self) -> Any:
        """What the result says, with parameters named as the form does."""
        result = self.result
        is_audit = isinstance(result, AuditResult)
        document = result.document(**self.request.document) if is_audit else result.summary
        return spell_notes(document, parameter_names())

    def finding(self) -> Finding:
        """Return the result in short."""
        if not isinstance(self.result, AuditResult):
            comparison = self._document
            return Finding(
                title=comparison_title(comparison),
                verdict=comparison_row(comparison.verdict).value,
                n=comparison.n,
                lead=difference_sentence(comparison),
                not_said=(NOT_SAID, condition_sentence(comparison)),
            )
        result, summary = self.result, self._document
        measure, last = self.words.measure, float(result.budget_curve.budgets[-1])
        if summary.applicability is not None:
            lead = str(summary.applicability)
        elif summary.rates is not None:
            lead = rate_lines(summary)[0]
        else:
            lead = headline(summary) or meaning(summary)
        is_known = summary.applicability is None
        return Finding(
            title=verdict_with_finding(summary),
            verdict=summary.verdict,
            n=result.n,
            lead=lead,
            rows=_rows(summary, self.words) if is_known else (),
            lines=_lines(summary),
            limits=_limits(summary, measure),
            rates=tuple(_rate_tables(summary, self.words)),
            not_said=(*not_said(summary), BELONG_TOGETHER),
            advice=summary.advice,
            next_settings=result.next_settings,
            other_columns=tuple(
                name for name in result.space.features if name not in result.space.sensitive
            ),
            delta=result.delta,
            budget=result.problem.budget,
            alpha=result.alpha,
            max_budget=_slider_end(last, result.problem.budget) if last > 0 else None,
            max_delta=_slider_of_thresholds(result),
            unit=PER_CENT if measure.is_people else 1,
            limit_words=visible(measure.words),
            sign=measure.sign,
        )

    def look(self, budget: float | None, delta: float | None) -> Look:
        """Return the audit at another budget and another threshold."""
        view = look_at(self._audit, budget=budget, delta=delta)
        result = view.result
        summary = result.headline
        judged, bounds = summary.judged, result.judged_bounds
        return Look(
            statistic=judged.value,
            lower=bounds.lower,
            lower_text=self._bound(judged.lower_bound, DOWN),
            upper_text=self._bound(judged.upper_bound, UP),
            upper=judged.upper_bound,
            of_rates=result.rates is not None,
            budget=result.problem.budget,
            delta=view.delta,
            same_budget=view.same_budget,
            same_delta=view.same_delta,
            place=view.place,
            tested=verdict_title(summary) if view.same_budget and view.same_delta else None,
            applicability=result.applicability,
            in_words=summary.budget_in_words,
            moved=moved_sentence(summary),
            moves=moves_table(summary, MAX_MOVES),
        )

    def _bound(self, number: float | None, rounding: str) -> str:
        """Return a bound in the unit of the limit, such as people in 100."""
        if number is None or not self.words.measure.is_people:
            return bound(number, rounding)
        return bound(PER_CENT * number, rounding, 2)

    @cached_property
    def _source(self) -> tuple[FileSource, int]:
        source = FileSource(self.request.data)
        return source, preview_file(source).rows

    def case(self, row: int | None = None, point: int = 0) -> CaseView:
        """Return the person of a row of the file, or people of a point."""
        if row is not None:
            source, rows = self._source
            point = point_of(self._audit.space, fetch_row(source, row, rows))
        case = find_case(self._audit, point)
        return view_case(case, self.words, tuple(self._audit.space.sensitive))

    def affected(self) -> list[tuple[int, float, str]]:
        """Return people whose decision would change, or whom the plan moves: point, people, who."""
        space = self._audit.space
        profiles = Profiles(space)
        points = self._changed_points()
        if points is None:
            moves = self._audit.moved.take(slice(MAX_CASES))
            pairs = zip(moves.sources.tolist(), moves.people.tolist(), strict=True)
        else:
            pairs = zip(points, space.counts[points].tolist(), strict=True)
        return [(point, count, profile_text(profiles.profile(point))) for point, count in pairs]

    def _changed_points(self) -> list[int] | None:
        """Return the most frequent points that are decided otherwise as someone else."""
        decisions, predictions = self._audit.decisions, self._audit.answers.predictions
        if decisions is None or decisions.scores is not None:
            return None
        space, codes = self._audit.space, np.unique(predictions.astype(str), return_inverse=True)[1]
        least = np.full(space.size, codes.max())
        most = np.zeros(space.size, codes.dtype)
        np.minimum.at(least, space.families, codes)
        np.maximum.at(most, space.families, codes)
        changed = np.flatnonzero(space.observed & (least != most)[space.families])
        # worse off first
        order = np.lexsort((-space.counts[changed], self._is_good()[changed]))
        return [int(point) for point in changed[order][:MAX_CASES]]

    def _is_good(self) -> np.ndarray:
        """Return whether each point gets the good decision; all False if none is good."""
        predictions, favourable = self._audit.answers.predictions, self._audit.favourable
        if favourable is None:
            return np.zeros(len(predictions), bool)
        if self.words.measure.loss == OUTCOME:
            is_counted = self._audit.settings.pos_label == favourable
            return np.asarray(predictions == (1 if is_counted else 0))
        return np.asarray(predictions == favourable)

    def report(self) -> str:
        """Return the report as a page."""
        return self._report

    @cached_property
    def _report(self) -> str:
        return render(self._document, "html")

    def file(self, name: str) -> bytes:
        """Return one of the files that `files` names."""
        text = FILES[name](self)
        return text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")

    def document(self) -> str:
        """Return the JSON document."""
        if isinstance(self.result, AuditResult):
            return self.result.document(**self.request.document).to_json()
        return self.result.summary.to_json()

    def markdown(self) -> str:
        """Return the short report."""
        return render(self._document, "markdown")

    def moves(self) -> bytes:
        """Return all moves as a table."""
        result = self._audit
        columns = build_moves_columns(
            result.moved, result.space, result.answers.predictions, result.problem.losses
        )
        return encode_moves(Path(MOVES), columns, result.answers.classes)


FILES: dict[str, Any] = {
    REPORT_FILE: ResultViews.report,
    SHORT: ResultViews.markdown,
    JSON_FILE: ResultViews.document,
    MOVES: ResultViews.moves,
    LINE: lambda views: f"{views.request.as_command()}\n",
    CODE: lambda views: views.request.as_python(),
}
"""Files that can be downloaded."""
QUESTIONS = {name: name for name in ("affected", "look", "case", "report", "file")}
"""Allowed questions."""


def _slider_end(last: float, budget: float) -> float:
    """Return the end of a slider of budgets: that of the curve, if it is not far off."""
    return last if budget == 0 else min(last, MAX_BUDGET_FACTOR * budget)


def _slider_of_thresholds(result: AuditResult) -> float:
    """Return a round number beyond the result and the limit, for a slider of δ."""
    upper = result.upper_bound if math.isfinite(result.upper_bound) else 0.0
    largest = max(result.statistic, result.delta or 0.0, upper)
    step = 10.0 ** math.floor(math.log10(largest)) if largest > 0 else 0.1
    end = math.ceil(1.5 * largest / step) * step or step
    return (
        end if result.loss.range is None else min(end, result.loss.range[1] - result.loss.range[0])
    )
