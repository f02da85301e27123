"""The screens of an audit and of a plan: verdict first, then who is affected, then notes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairtransport.report.direction_words import direction_sentence
from fairtransport.report.numbers import level, percent
from fairtransport.report.rate_words import features_sentence, rate_figures
from fairtransport.report.screen.flagwords import in_flags
from fairtransport.report.screen.lines import line, print_note, terminal
from fairtransport.report.sections.finding import (
    bracket_sentence,
    comparable_sentence,
    delta_sentence,
    description_sentence,
    interval_words,
    judged_sentence,
    meaning,
    outlook_sentence,
    parts_sentence,
    statistic_words,
    verdict_line,
)
from fairtransport.report.sections.telling import proxies_sentences
from fairtransport.report.sections.who import shown_sentence
from fairtransport.report.strings import prediction_text, shorten, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.panel import Panel
    from rich.table import Table

    from fairtransport.inference import SamplePlan
    from fairtransport.summary import AuditSummary, Move

MOST_MOVES = 10
"""Rows of the moves table; a report has all of them."""
MOST_COLUMNS = 6
"""Columns of a person that a row tells; those that change are told all."""
MOST_NAMES = 100
"""Characters of the list of features."""
AROUND = (0.5, 0.75, 1, 1.25, 1.5)
"""The sizes that a plan shows, as parts of the planned one."""
COLOURS = {
    "rejected": "red", "certified": "green", "inconclusive": "yellow",
    "not-applicable": "magenta", None: "blue",
}  # fmt: skip
"""The frame's colour; the words say the same."""
# lines spell out what is hidden, in a terminal's own way
_cell = partial(value_text, write=str)


def print_result(summary: AuditSummary, title: str) -> None:
    """Print the verdict of an audit and its numbers, then moves and notes.

    Parameters
    ----------
    summary
        What the audit says.
    title
        What stands in the frame.
    """
    from rich.console import Group

    colour = COLOURS[summary.verdict]
    head = [] if summary.verdict is None else [line((verdict_line(summary), f"bold {colour}"))]
    said = [
        outlook_sentence(summary), meaning(summary), bracket_sentence(summary),
        delta_sentence(summary),
        comparable_sentence(summary), features_sentence(summary), parts_sentence(summary),
        judged_sentence(summary), direction_sentence(summary), description_sentence(summary),
        *proxies_sentences(summary),
    ]  # fmt: skip
    lines = [line(in_flags(one)) for one in said if one is not None]
    lines += [line(f"  {one}") for one in summary.ready]
    content = Group(*head, *lines, line(""), _numbers(summary))
    terminal().print(framed(content, title, colour))
    print_moves(summary)
    for warning in summary.warnings:
        print_note(in_flags(warning))


def print_moves(summary: AuditSummary) -> None:
    """Print the largest moves: how many people, who they are, who they would have to be.

    Parameters
    ----------
    summary
        Nothing is printed where nobody is moved.
    """
    from rich.table import Table

    if not summary.moves:
        return
    only = "" if summary.rates is None else " (a description, no evidence)"
    table = Table(title=line(f"Who would be swapped with whom{only}"), title_justify="left")
    table.add_column("people", justify="right")
    for name in ("who", "would have to be", "label", "prediction"):
        table.add_column(name, overflow="fold")
    say = partial(prediction_text, classes=summary.provenance.classes, write=str)
    for move in summary.moves[:MOST_MOVES]:
        change = _change(move) + (" (or another)" if move.tied else "")
        said = f"{say(move.prediction)} → {say(move.prediction_after)}"
        cells = (f"{move.people:.6g}", _kept(move), change, _cell(move.label), said)
        table.add_row(*map(line, cells))
    if (shown := shown_sentence(summary, MOST_MOVES)) is not None:
        table.caption = line(shown)
    terminal().print(table)


def _kept(move: Move) -> str:
    """Return what stays as it is, as in "age 30, charge F"; of many columns the first.

    Parameters
    ----------
    move
        People of one profile and of another.
    """
    kept = [(name, value) for name, value in move.from_profile.items() if name not in move.changed]
    said = [f"{name} {_cell(value)}" for name, value in kept]
    if len(said) > MOST_COLUMNS:
        said[MOST_COLUMNS - 1 :] = [f"and {len(said) - MOST_COLUMNS + 1} more columns"]
    return ", ".join(said)


def _change(move: Move) -> str:
    """Return what changes, as in "sex: Male → Female"; predictions alone may differ.

    Parameters
    ----------
    move
        People of one profile and of another.
    """
    before, after = move.from_profile, move.to_profile
    parts = [f"{name}: {_cell(before[name])} → {_cell(after[name])}" for name in move.changed]
    return ", ".join(parts) or "the same profile"


def _numbers(summary: AuditSummary) -> Table:
    """Return the figures below the verdict, name by name.

    Parameters
    ----------
    summary
        The audit. Where rates are tested, R takes the statistic's place; where an obstacle was
        found, there is no interval, as it would look like evidence.
    """
    made, name = summary.provenance, "Interval of R" if summary.rates else "Interval"
    interval = {name: f"{interval_words(summary)} at level {level(1 - summary.alpha)}"}
    if summary.applicability is not None:  # of what is no evidence
        interval = {}
    rows = {"FaiTH statistic": statistic_words(summary)}
    if summary.rates is not None:
        rows = dict(rate_figures(summary, summary.rates))
    if summary.disagreement > 0:  # the part that no change of a sensitive feature explains
        rows["  of which disagreement"] = f"{summary.disagreement:.4f}, inside profiles"
    rows |= {
        "Sensitive": shorten(", ".join(made.sensitive), MOST_NAMES),
        "Features": shorten(", ".join(made.features), MOST_NAMES) or "none",
        "Points": f"{summary.points} distinct, {summary.observed_points} of them observed",
        "Questions asked": f"{summary.queried}" if summary.queried else "none (predictions only)",
        "Compared with": "made-up twins"
        if summary.made_twins is not None
        else compared_with(summary.target_scope, asked=bool(summary.queried)),
        "Similarity": made.similarity,
        "Loss": made.loss,
        "Budget": f"{summary.budget:g}, price {summary.price:g}",
        **interval,
        "Method": f"{summary.method}, seed {made.seed}; guarantee: {summary.guarantee}",
    }
    return two_columns(rows)


def compared_with(target_scope: str, *, asked: bool) -> str:
    """Return whom people are compared with; where a model can be asked, they have twins.

    Parameters
    ----------
    target_scope
        "twins", "reference" or "observed".
    asked
        Whether a model was asked.

    Examples
    --------
    >>> compared_with("twins", asked=True), compared_with("observed", asked=True)
    ('twins', 'observed people and their twins')
    """
    if target_scope == "twins" or not asked:
        return target_scope
    who = "observed" if target_scope == "observed" else "reference"
    return f"{who} people and their twins"


def framed(content: RenderableType, title: str, colour: str) -> Panel:
    """Return content in a frame as wide as it needs, its title cut if that is wider.

    Parameters
    ----------
    content, title
        What stands in it, and in its upper edge.
    colour
        Of the frame; the words say the same.
    """
    from rich.panel import Panel

    heading = line(title, short=True)
    return Panel(content, title=heading, title_align="left", border_style=colour, expand=False)


def two_columns(rows: dict[str, str]) -> Table:
    """Return names and what they are, side by side; only the second column is folded.

    Parameters
    ----------
    rows
        By name.
    """
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(line(name), line(value))
    return table


def print_plan(plan: SamplePlan, notes: Sequence[str]) -> None:
    """Print the plan's sentence, the power at sizes around it, and notes.

    Parameters
    ----------
    plan
        What `sample_size` returned.
    notes
        Further ones, of the command line.
    """
    from rich.table import Table

    curve = plan.curve
    around = sorted({int(abs(curve.n - plan.n * part).argmin()) for part in AROUND})
    table = Table("n", "power", "")
    for at in around:
        error = f" ± {percent(curve.error[at])}" if curve.error[at] else ""
        mark = "planned" if curve.n[at] == plan.n else ""
        table.add_row(f"{curve.n[at]:,}", f"{percent(curve.power[at])}{error}", mark)
    terminal().print(line(plan.words))
    terminal().print(table)
    for note in (*plan.notes, *notes):
        print_note(in_flags(note))
