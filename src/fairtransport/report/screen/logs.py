"""What a terminal shows of a query log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.report.screen.lines import line, terminal

if TYPE_CHECKING:
    from fairtransport.access.query_log import System


def print_log(found: list[tuple[System, int, int]], name: str) -> None:
    """Print whose answers are in a log, and how many.

    Parameters
    ----------
    found
        Systems with their numbers of questions and answers.
    name
        The log's file.
    """
    screen = terminal(soft_wrap=True)
    if not found:
        screen.print(line(f"{name}: a query log without answers"))
    for system, questions, answers in found:
        about = dict(system.about)
        screen.print(line((str(about.get("name")), "bold"), f"  {system.identity}"))
        more = "" if questions == answers else f" ({answers} answers)"
        columns = ", ".join(system.columns)
        screen.print(line(f"  {questions} questions about {columns}, kind {system.kind}{more}"))
