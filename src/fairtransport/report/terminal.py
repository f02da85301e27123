"""The screens of an audit, a family, a comparison and a sample-size plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairtransport.documents.verdicts import VERDICTS, comparison_row
from fairtransport.report.console import line, print_note, readable, terminal
from fairtransport.report.sections import comparison, family
from fairtransport.report.sections.alike import columns_text
from fairtransport.report.sections.counterparts import counterpart_sentences
from fairtransport.report.sections.decisions import (
    alternatives_sentence,
    alternatives_text,
    answer_word,
    case_text,
    changed_features,
    changed_sentence,
    counterparts_caveat,
    direction_rows,
    favourable_hint,
    favourable_text,
    holds_if,
    label_sentence,
    limit_lines,
    limit_note,
    score_sentences,
    verdict_finding,
    verdict_note,
)
from fairtransport.report.sections.finding import (
    advised_settings,
    comparable_sentence,
    delta_sentence,
    interval_words,
    meaning,
    outlook_sentence,
    part_figure,
    part_verdict_sentence,
    parts_sentence,
    verdict_line,
)
from fairtransport.report.sections.moves import move_count_sentence
from fairtransport.report.sections.proxies import proxies_sentences
from fairtransport.report.sections.rates import decision_lines, rate_figures
from fairtransport.report.tables import changed_cell
from fairtransport.report.text import (
    NONE,
    decimal,
    interval_text,
    level,
    people,
    percent,
    prediction_text,
    short_pvalue,
    shorten,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from fairtransport.documents.audit import AuditSummary
    from fairtransport.documents.comparison import ComparisonSummary
    from fairtransport.documents.family import FamilySummary, Member
    from fairtransport.documents.verdicts import VerdictRow
    from fairtransport.explain.decisions import Decisions
    from fairtransport.explain.moves import Move, Prediction
    from fairtransport.inference import SamplePlan
    from fairtransport.report.tables import Table as DocumentTable


MAX_VERDICT_CHARACTERS = 11
"""Maximum characters of a verdict in a table before it is broken."""
MAX_SCREEN_CASES = 2
"""Number of groups of people on the first screen."""
TEXT_WIDTH = 100
"""Characters of a line printed by Python without a terminal."""
MAX_SCREEN_MOVES = 10
"""Maximum number of rows of the moves table; a report has more."""
MAX_SCREEN_COLUMNS = 6
"""Number of a person's columns in a row, besides all that change."""
MAX_FEATURES_CHARACTERS = 100
"""Maximum characters of the list of features."""
PLAN_SIZE_FACTORS = (0.5, 0.75, 1, 1.25, 1.5)
"""The sample sizes that a plan shows, as multiples of the planned one."""
# `line` spells out hidden characters, as terminals need it
_cell = partial(value_text, write=str)


def print_result(summary: AuditSummary, title: str, *, verbose: bool = False) -> None:
    """Print whose decision would change and the verdict; ``verbose`` adds the statistics."""
    row = VERDICTS[summary.verdict]
    for block in _blocks(summary, title):
        terminal().print(block)
    if verbose:
        terminal().print()
        _print_frame("How sure", row, verdict_line(summary) if summary.delta is not None else None,
                     _statistical_sentences(summary), line(""), _numbers(summary))  # fmt: skip
        print_moves(summary)
    _print_notes(summary)


def result_text(summary: AuditSummary, title: str) -> str:
    """Return the screen of an audit as text, for Python."""
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    console = Console(
        file=text, width=TEXT_WIDTH, color_system=None, highlight=False, markup=False,
        emoji=False, force_jupyter=False,  # a notebook would show it instead of returning it
    )  # fmt: skip
    for block in _blocks(summary, title, in_python=True):
        console.print(block)
    if summary.warnings:
        console.print("\nNotes")
        for warning in summary.warnings:
            console.print(_indent(warning))
    return "\n".join(row.rstrip() for row in text.getvalue().splitlines())


def _blocks(
    summary: AuditSummary, title: str, *, in_python: bool = False
) -> Iterator[RenderableType]:
    """Yield the heading and the blocks of the first screen, an empty line between them."""
    row, finding = VERDICTS[summary.verdict], verdict_finding(summary)
    beside = title if finding is None else finding
    yield line((row.title.upper(), f"bold {row.colour}"), f"   {beside}")
    if finding is not None:
        yield line(title)
    for block in _first_screen(summary, in_python=in_python):
        yield ""
        yield block


def _first_screen(summary: AuditSummary, *, in_python: bool) -> Iterator[RenderableType]:
    """Yield the blocks of the first screen."""
    decisions = summary.decisions
    if summary.applicability is not None:
        yield line(summary.applicability)
        if summary.advice:
            yield _indented(summary.advice, advised_settings(summary, in_python=in_python))
    elif decisions is not None:
        yield _decisions_block(summary, decisions)
    else:
        first, *further = decision_lines(summary) or [meaning(summary)]
        yield _indented(first, further)
    # without these a verdict would be read as one about sensitive features, or about everybody
    for sentence in (
        *counterpart_sentences(summary), comparable_sentence(summary), parts_sentence(summary),
        part_verdict_sentence(summary),
    ):  # fmt: skip
        if sentence:
            yield line(sentence)
    limits = [
        *limit_lines(summary),
        *filter(None, [limit_note(summary), verdict_note(summary), outlook_sentence(summary)]),
    ]
    if limits:
        yield _indented(limits[0], limits[1:])
    for sentence in proxies_sentences(summary):
        yield line(sentence)
    if decisions is not None and decisions.cases and summary.applicability is None:
        yield _cases_table(summary, decisions)
    yield two_columns(_scope_rows(summary, in_python=in_python))


def _decisions_block(summary: AuditSummary, decisions: Decisions) -> RenderableType:
    """Return how many decisions would change, which way, and for whom."""
    from rich.console import Group
    from rich.table import Table

    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for row in direction_rows(decisions):
        table.add_row(line(f"  {people(row.count.people)}"), line(f"{row.text}."))
    sentences = [
        *score_sentences(decisions), label_sentence(decisions), alternatives_sentence(decisions),
        favourable_hint(decisions), counterparts_caveat(decisions),
    ]  # fmt: skip
    first = changed_sentence(decisions, summary.provenance.sensitive)
    return Group(line(first), table, *(_indent(one) for one in sentences if one))


def _indented(first: str, further: Iterable[str]) -> RenderableType:
    """Return a line with others under it."""
    from rich.console import Group

    return Group(line(first), *map(_indent, further))


def _indent(sentence: str) -> RenderableType:
    """Return a sentence that is indented under another one."""
    from rich.padding import Padding

    return Padding(line(sentence), (0, 0, 0, 2))


def _cases_table(summary: AuditSummary, decisions: Decisions) -> RenderableType:
    """Return the largest groups of people whose decision would change."""
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    word = answer_word(decisions)
    table.add_column("People", justify="right")
    for name in ("Who they are", "If recorded as", word.capitalize()):
        table.add_column(name, overflow="fold")
    for case in decisions.cases[:MAX_SCREEN_CASES]:
        who, other = case_text(case, summary.provenance.sensitive)
        change = f"{_cell_of(case.decision)} → {_cell_of(case.alternative)}"
        cells = (people(case.people), who, other, change)
        table.add_row(*map(line, cells))
    # a table's own title would be broken at its width
    return Group(line(f"Largest groups of people whose {word} would change"), table)


def _cell_of(decision: Prediction) -> str:
    """Return a decision as a cell of a table."""
    return prediction_text(decision, write=str)


def _scope_rows(summary: AuditSummary, *, in_python: bool) -> dict[str, str]:
    """Return what people were compared with, and what the audit does not cover."""
    queried = (
        f" (the model was queried for {summary.queried:,} different rows, equal people together)"
    )
    questions = queried if summary.queried else ""
    features = alternatives_text(summary.provenance.sensitive)
    outside = f"other columns that stand in for {features} (proxies)"
    details = "result.to_html(path)" if in_python else "--verbose, or the report"
    if summary.target_scope == "counterparts":
        alternative = f"the same person as typically recorded with another {features}"
        if summary.applicability is not None:
            alternative = "nobody"
        outside = f"what {features} causes; columns that depend on it weakly"
    elif summary.decisions is not None:
        changed = changed_features(summary.decisions, summary.provenance.sensitive)
        alternative = f"the same person with another {alternatives_text(changed)}"
        if summary.target_scope != "twins":
            alternative += "; for the limit, with similar people too"
    elif summary.rates is not None:
        others = [one for one in summary.provenance.features if one not in
                  summary.provenance.sensitive]  # fmt: skip
        alternative = "everyone else in the file: no other column was audited"
        if others:
            alternative = f"people in the file with equal {columns_text(others)}"
    elif summary.applicability is not None and not summary.queried:
        alternative = "nobody"
    elif summary.target_scope == "twins" and summary.queried:
        alternative = f"the same person with another {features}"
    else:
        alternative = compared_with(summary.target_scope, has_model=bool(summary.queried))
    favourable = favourable_text(summary)
    return {
        **({} if favourable is None else {"Favourable": favourable}),
        "Compared with": f"{alternative}{questions}",
        "Not covered": f"why decisions differ; {outside}; people from another population",
        "Valid only if": holds_if(summary),
        "Details": details,
        "Random seed": str(summary.provenance.seed),
    }


def _statistical_sentences(summary: AuditSummary) -> list[str | None]:
    """Return the sentences on the statistic, for readers who want it on the terminal."""
    return [
        meaning(summary), delta_sentence(summary),
        *decision_lines(summary)[1:],
    ]  # fmt: skip


def _print_frame(
    title: str, row: VerdictRow, headline: str | None, sentences: Iterable[str | None],
    *further: RenderableType,
) -> None:  # fmt: skip
    """Print a frame in the colour of a verdict, its headline first."""
    from rich.console import Group

    lines = [] if headline is None else [line((headline, f"bold {row.colour}"))]
    lines += [line(sentence) for sentence in sentences if sentence]
    terminal().print(frame_panel(Group(*lines, *further), title, row.colour))


def _print_notes(document: AuditSummary | ComparisonSummary | FamilySummary) -> None:
    """Print the notes for readers of the numbers."""
    for warning in document.warnings:
        print_note(warning)


def print_moves(summary: AuditSummary) -> None:
    """Print the largest moves: the number of people, their profile, and the one to swap with."""
    from rich.table import Table

    if not summary.moves or summary.rates is not None:  # swaps are no evidence of rates
        return
    table = Table(title=line("Who is swapped with whom"), title_justify="left")
    table.add_column("people", justify="right")
    for name in ("who", "would have to be", "label", "prediction"):
        table.add_column(name, overflow="fold")
    say = partial(prediction_text, classes=summary.provenance.classes, write=str)
    for move in summary.moves[:MAX_SCREEN_MOVES]:
        change = _changes_text(move) + (" (or another)" if move.tied else "")
        predictions = f"{say(move.prediction)} → {say(move.prediction_after)}"
        cells = (
            f"{move.people:.6g}",
            _unchanged_text(move),
            change,
            _cell(move.label),
            predictions,
        )
        table.add_row(*map(line, cells))
    if (caption := move_count_sentence(summary, MAX_SCREEN_MOVES)) is not None:
        table.caption = line(caption)
    terminal().print(table)


def _unchanged_text(move: Move) -> str:
    """Return what does not change, as in "age 30, charge F"; the first of many columns."""
    columns = [
        (name, value) for name, value in move.from_profile.items() if name not in move.changed
    ]
    texts = [f"{name} {_cell(value)}" for name, value in columns]
    if len(texts) > MAX_SCREEN_COLUMNS:
        texts[MAX_SCREEN_COLUMNS - 1 :] = [
            f"and {len(texts) - MAX_SCREEN_COLUMNS + 1} more columns"
        ]
    return ", ".join(texts)


def _changes_text(move: Move) -> str:
    """Return what changes, as in "sex: Male → Female"; possibly only predictions."""
    before, after = move.from_profile, move.to_profile
    parts = [f"{name}: {_cell(before[name])} → {_cell(after[name])}" for name in move.changed]
    return ", ".join(parts) or "the same profile"


def _numbers(summary: AuditSummary) -> Table:
    """Return the figures below the verdict, by name."""
    provenance, name = summary.provenance, "Interval of R" if summary.rates else "Interval"
    interval = {name: f"{interval_words(summary)} at level {level(1 - summary.alpha)}"}
    # without evidence, or without ends
    if summary.applicability is not None or summary.target_scope == "counterparts":
        interval = {}
    rows = {"FaiTH statistic": decimal(summary.statistic), **part_figure(summary)}
    if summary.rates is not None:
        rows = dict(rate_figures(summary, summary.rates))
    elif summary.disagreement > 0:  # the part that no change of a sensitive feature explains
        rows["  from unequal predictions"] = (
            f"{summary.disagreement:.4f}, for people with equal values"
        )
    rows |= {
        "Sensitive": shorten(", ".join(provenance.sensitive), MAX_FEATURES_CHARACTERS),
        "Features": shorten(", ".join(provenance.features), MAX_FEATURES_CHARACTERS) or "none",
        "Distinct rows": f"{summary.points}, {summary.observed_points} of them in the data",
        "Model queries": f"{summary.queried}" if summary.queried else "none (predictions only)",
        "Compared with": compared_with(summary.target_scope, has_model=bool(summary.queried)),
        "Similarity": provenance.similarity,
        "Loss": provenance.loss,
        "Budget": f"{summary.budget:g}, price {summary.price:g}",
        **interval,
        "Method": f"{summary.method}, seed {provenance.seed}; guarantee: {summary.guarantee_words}",
    }
    return two_columns(rows)


def compared_with(target_scope: str, *, has_model: bool) -> str:
    """Return whom people are compared with; with a model, they have twins."""
    if target_scope == "counterparts":
        return "themselves as typically recorded in another group"
    if not has_model:
        return "people in the file" if target_scope == "observed" else "the people of `targets`"
    if target_scope == "twins":
        return "the same person in another group"
    who = "observed" if target_scope == "observed" else "reference"
    return f"{who} people and their copies in other groups"


def frame_panel(content: RenderableType, title: str, colour: str) -> Panel:
    """Return content in a frame as wide as it needs, its title cut if that is wider."""
    from rich.panel import Panel

    heading = line(title, short=True)
    return Panel(content, title=heading, title_align="left", border_style=colour, expand=False)


def two_columns(rows: dict[str, str]) -> Table:
    """Return names and values side by side; only the second column is folded."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(line(name), line(value))
    return table


def print_plan(plan: SamplePlan, notes: Sequence[str]) -> None:
    """Print the plan's sentence, the power at sizes around it, and notes."""
    from rich.table import Table

    curve = plan.curve
    around = sorted({int(abs(curve.n - plan.n * part).argmin()) for part in PLAN_SIZE_FACTORS})
    table = Table("n", "power", "")
    for at in around:
        error = f" ± {percent(curve.error[at])}" if curve.error[at] else ""
        mark = "planned" if curve.n[at] == plan.n else ""
        table.add_row(f"{curve.n[at]:,}", f"{percent(curve.power[at])}{error}", mark)
    terminal().print(line(plan.words))
    terminal().print(table)
    for note in (*plan.notes, *notes):
        print_note(note)


def print_family(
    summary: FamilySummary, title: str, seeds: Mapping[str, int] | None = None
) -> None:
    """Print the joint result of several audits; ``seeds`` are those of the audits, by name."""
    headline = f"{family.family_title(summary)}."
    _print_frame(title, family.family_row(summary), headline, [family.promise_sentence(summary)])
    terminal().print(_members_table(summary))
    terminal().print(line(family.intervals_sentence(summary)))
    if seeds:
        own = ", ".join(f"{seed} ({name})" for name, seed in seeds.items())
        common = {*seeds.values()}
        terminal().print(line(f"Seed {own if len(common) > 1 else common.pop()}."))
    _print_notes(summary)


def _members_table(summary: FamilySummary) -> Table:
    """Return the audits, one per row, for a terminal."""
    from rich.table import Table

    table = Table()
    table.add_column("audit", overflow="fold")
    for name in ("people", "change", "statistic", "interval", "δ", "p,\nadjusted"):
        table.add_column(name, justify="right")
    table.add_column("verdict", max_width=MAX_VERDICT_CHARACTERS)
    for one in summary.members:
        table.add_row(*_cells(one))
    return table


def _cells(one: Member) -> list[Text]:
    """Return one audit's cells, the verdict in its colour."""
    texts = [
        one.name, people(one.n), changed_cell(one.changed).text, decimal(one.statistic),
        interval_text(one.lower, one.upper),
        NONE if one.delta is None else f"{one.delta:g}", short_pvalue(one.pvalue_adjusted),
    ]  # fmt: skip
    colour = VERDICTS[one.verdict].colour
    return [*map(line, texts), line((VERDICTS[one.verdict].phrase, colour))]


MIN_NAME_CHARACTERS = 6
"""Minimum characters of a model's name before it is broken."""
COLUMN_GAP = 2
"""Spaces after each column of a table without lines."""


def print_comparison(summary: ComparisonSummary, title: str) -> None:
    """Print the verdict on the last model, the tables and notes."""
    sentences = (
        comparison.applicability_sentence(summary),
        comparison.difference_sentence(summary),
        comparison.certificate_sentence(summary),
        comparison.risks_sentence(summary),
    )
    headline = f"{comparison.comparison_title(summary)}."
    _print_frame(title, comparison_row(summary.verdict), headline, sentences)
    for table in (comparison.models_table(summary), comparison.differences_table(summary)):
        terminal().print(_screen_table(table))
        terminal().print()
    terminal().print(line(comparison.comparison_intervals_sentence(summary)))
    terminal().print(line(f"Seed {summary.provenance.seed}."))
    _print_notes(summary)


def _screen_table(table: DocumentTable) -> Table:
    """Return a table of a report for a terminal, no wider than the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Rich

    # without lines between columns two intervals fit into eighty characters
    screen_table = Rich(
        title=line(table.caption), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0),
        show_edge=False,
    )  # fmt: skip
    rows = [[readable(cell.short) for cell in row] for row in table.rows]
    titles = [readable(column.title) for column in table.columns]
    widths = _fit_widths(list(zip(titles, *rows, strict=True)), terminal().width)
    for title, column, width in zip(titles, table.columns, widths, strict=True):
        screen_table.add_column(
            line(title), justify="right" if column.numeric else "left", overflow="fold",
            width=width,
        )  # fmt: skip
    for cells in rows:
        screen_table.add_row(*map(line, cells))
    return screen_table


def _fit_widths(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return widths of columns that fit; only words of the first two, names, are broken."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, cells)) for cells in columns]
    least = [max(cell_len(word) for cell in cells for word in cell.split(" ")) for cells in columns]
    least[:2] = [min(one, MIN_NAME_CHARACTERS) for one in least[:2]]
    room = width - COLUMN_GAP * len(columns)
    while sum(widths) > room and widths != least:
        # the widest gives first, as names are the longest
        at = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[at] -= 1
    return widths
