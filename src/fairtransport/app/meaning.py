"""What a threshold and a budget mean, in people, before an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.app.form import Filled, similarity_settings
from fairtransport.errors import FairtransportError
from fairtransport.report.numbers import people
from fairtransport.report.sections.finding import delta_in_words
from fairtransport.report.strings import ERROR, loss_name
from fairtransport.settings import AuditSettings
from fairtransport.similarity import SensitiveSubspace, similarity_from_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.app.tables import Table

LEARNED = "sensitive-subspace"


def delta_means(text: str, n: int, loss: str) -> str:
    """Return what a threshold is among the people of a file; nothing where it is no threshold.

    Examples
    --------
    >>> delta_means("0.02", 1584, "zero-one")
    'δ = 0.02 is 20 of 1,000 people who ... Of the 1,584 cases here that is 31.7.'
    """
    delta = _number(text)
    if delta is None or delta < 0 or (loss == ERROR and delta >= 1):
        return ""
    said = delta_in_words(delta, loss, f"the mean {loss_name(loss)} loss")
    if loss != ERROR:
        return said
    return f"{said} Of the {n:,} cases here that is {people(round(delta * n, 1))}."


def budget_means(table: Table, typed: Mapping[str, str]) -> str:
    """Return what a budget is under the similarity that is chosen; nothing where it is none."""
    budget = _number(typed.get("budget", "") or "0")
    name = typed.get("similarity") or str(AuditSettings.similarity)
    if budget is None or budget < 0:
        return ""
    try:
        if name == LEARNED:
            return SensitiveSubspace([]).describe_budget(budget)
        settings = similarity_settings(table, Filled(typed), name)
        similarity = similarity_from_settings(name, settings)
        return str(getattr(similarity, "describe_budget")(budget))  # noqa: B009
    except FairtransportError:
        return ""


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if found == found and abs(found) != float("inf") else None  # noqa: PLR0124
