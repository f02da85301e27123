"""What can be asked of a finished audit, inside the process that holds it.

Everything comes from the result and the report's own words and tables; nothing is computed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtransport.app.repeating import DOCUMENT, REPORT, command_line, python_code
from fairtransport.audit import AuditResult
from fairtransport.audit.afterwards import look_at
from fairtransport.audit.cases import find_case, point_of
from fairtransport.localise.moves import moves_columns
from fairtransport.localise.moves_file import moves_bytes
from fairtransport.localise.profiles import Profiles
from fairtransport.report import render_comparison_html, render_html
from fairtransport.report.comparison_sections.comparison_finding import (
    LIKE,
    comparison_title,
    difference_sentence,
)
from fairtransport.report.numbers import DOWN, UP, bound
from fairtransport.report.sections.finding import meaning, verdict_sentence, verdict_title
from fairtransport.report.sections.who import moved_sentence, moves_table
from fairtransport.report.strings import profile_text
from fairtransport.space.file_source import FileSource
from fairtransport.space.overview import overview_of, row_of

if TYPE_CHECKING:
    from fairtransport.app.asked import Asked
    from fairtransport.audit import Comparison
    from fairtransport.audit.cases import Case
    from fairtransport.report.cells import Table

SHORT, MOVES, LINE, CODE = "report.md", "moves.csv", "audit.sh", "audit.py"
MOST_MOVES = 20
"""So many moves are listed beside a budget that is moved."""
MOST_CASES = 12
"""So many of those whom the plan moves are offered to be looked up."""
FURTHEST = 4.0
"""A slider of budgets ends at so many times the budget, or where the curve does."""


@dataclass(frozen=True)
class Finding:
    """What was found, in short, and what the pages around it have to know.

    Attributes
    ----------
    title, sentence
        The verdict, in two words and in one sentence.
    verdict
        Its name, by which it is coloured.
    n
        How many people there are.
    delta, budget, alpha
        What was asked.
    most_budget
        Where a slider of budgets ends; None where the budget changes nothing.
    most_delta
        Where a slider of thresholds ends.
    loss
        The name of the loss.
    """

    title: str
    sentence: str
    verdict: str | None
    n: int
    delta: float | None = None
    budget: float = 0.0
    alpha: float = 0.05
    most_budget: float | None = None
    most_delta: float = 1.0
    loss: str = ""


@dataclass(frozen=True)
class Look:
    """An audit at some budget, beside some threshold.

    Attributes
    ----------
    statistic, lower, upper
        The value and its bounds; None: there is no upper bound.
    lower_text, upper_text
        The bounds as the report writes them, rounded outwards.
    of_rates
        Whether the bounds are those of R instead of the statistic.
    place
        Where δ lies against the bounds.
    tested
        The verdict that the audit reached, where budget and δ are as they were asked.
    in_people, in_words
        What the statistic means, and the budget.
    moved
        Who is moved, in a sentence.
    moves
        The table of who is swapped with whom.
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
    in_people: str | None
    in_words: str
    moved: str
    moves: Table


class Desk:
    """Answers questions about one result."""

    def __init__(self, result: AuditResult | Comparison, asked: Asked) -> None:
        self.result, self.asked = result, asked

    @property
    def _audit(self) -> AuditResult:
        assert isinstance(self.result, AuditResult)  # noqa: S101 - pages ask no comparison
        return self.result

    def finding(self) -> Finding:
        """Return what was found, in short."""
        if not isinstance(self.result, AuditResult):
            summary = self.result.summary
            return Finding(
                title=comparison_title(summary),
                sentence=difference_sentence(summary),
                verdict=LIKE[summary.verdict],
                n=summary.n,
            )
        found, headline = self.result, self.result.headline
        ends = float(found.budget_curve.budgets[-1])
        return Finding(
            title=verdict_title(headline),
            sentence=verdict_sentence(headline),
            verdict=headline.verdict,
            n=found.n,
            delta=found.delta,
            budget=found.problem.budget,
            alpha=found.alpha,
            most_budget=_slider_end(ends, found.problem.budget) if ends > 0 else None,
            most_delta=_slider_of_thresholds(found),
            loss=found.loss.name,
        )

    def look(self, budget: float | None, delta: float | None) -> Look:
        """Return the audit at another budget, with another threshold beside it."""
        seen = look_at(self._audit, budget=budget, delta=delta)
        found = seen.result
        headline = found.headline
        upper = found.upper_bound
        return Look(
            statistic=found.statistic,
            lower=found.lower_bound,
            lower_text=bound(headline.lower_bound, DOWN),
            upper_text=bound(headline.upper_bound, UP),
            upper=None if upper == float("inf") else upper,
            of_rates=found.rates is not None,
            budget=found.problem.budget,
            delta=seen.delta,
            same_budget=seen.same_budget,
            same_delta=seen.same_delta,
            place=seen.place,
            tested=verdict_sentence(headline) if seen.same_budget and seen.same_delta else None,
            applicability=found.applicability,
            in_people=meaning(headline),
            in_words=headline.budget_in_words,
            moved=moved_sentence(headline),
            moves=moves_table(headline, MOST_MOVES),
        )

    @cached_property
    def _source(self) -> tuple[FileSource, int]:
        source = FileSource(self.asked.data)
        return source, overview_of(source).rows

    def case(self, row: int | None = None, point: int = 0) -> Case:
        """Return the case of a row of the file, or of a point."""
        if row is not None:
            source, rows = self._source
            point = point_of(self._audit.space, row_of(source, row, rows))
        return find_case(self._audit, point)

    def affected(self) -> list[tuple[int, float, str]]:
        """Return whom the plan moves, those who add most first: point, people, who they are."""
        moved = self._audit.moved.take(slice(MOST_CASES))
        profiles = Profiles(self._audit.space)
        points = zip(moved.sources.tolist(), moved.people.tolist(), strict=True)
        return [(point, many, profile_text(profiles.profile(point))) for point, many in points]

    def report(self) -> str:
        """Return the report as a page."""
        return self._report

    @cached_property
    def _report(self) -> str:
        if isinstance(self.result, AuditResult):
            return render_html(self.result.summary)
        return render_comparison_html(self.result.summary)

    def file(self, name: str) -> bytes:
        """Return one of the files that `files` names."""
        text = FILES[name](self)
        return text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")

    def document(self) -> str:
        """Return the JSON document."""
        return self.result.summary.to_json()

    def moves(self) -> bytes:
        """Return all moves as a table."""
        found = self._audit
        columns = moves_columns(
            found.moved, found.space, found.answers.predictions, found.problem.losses
        )
        return moves_bytes(Path(MOVES), columns, found.answers.classes)


FILES: dict[str, Any] = {
    REPORT: Desk.report,
    SHORT: lambda desk: desk.result.to_markdown(),
    DOCUMENT: Desk.document,
    MOVES: Desk.moves,
    LINE: lambda desk: f"{command_line(desk.asked)}\n",
    CODE: lambda desk: python_code(desk.asked),
}
"""The files that can be downloaded, and nothing else."""
QUESTIONS = {name: name for name in ("affected", "look", "case", "report", "file")}
"""What can be asked."""


def _slider_end(last: float, budget: float) -> float:
    """Return where a slider of budgets ends: where the curve does, if that is not far off."""
    return last if budget == 0 else min(last, FURTHEST * budget)


def _slider_of_thresholds(found: AuditResult) -> float:
    """Return a round number beyond what was found and asked, for a slider of δ."""
    upper = found.upper_bound if math.isfinite(found.upper_bound) else 0.0
    largest = max(found.statistic, found.delta or 0.0, upper)
    step = 10.0 ** math.floor(math.log10(largest)) if largest > 0 else 0.1
    end = math.ceil(1.5 * largest / step) * step or step
    return end if found.loss.range is None else min(end, found.loss.range[1] - found.loss.range[0])
