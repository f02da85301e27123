"""What a finished audit says of another budget or threshold: a description, and no new test.

Bounds that an audit made stay what they are, whatever δ they are compared with afterwards; tests
that are made for a δ are not run again. At another budget there are bounds too, each of which
holds at its level for a budget that was fixed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from fairtransport.checks import number, threshold

if TYPE_CHECKING:
    from fairtransport.audit.result import AuditResult

Place: TypeAlias = Literal["below", "between", "above"]
"""Where a threshold lies: below the lower bound, between the bounds, at or above the upper one."""


@dataclass(frozen=True, eq=False)
class Afterwards:
    """A finished audit at another budget, with another threshold held against its bounds.

    Attributes
    ----------
    result
        The audit at that budget, with its own δ.
    delta
        The threshold that is held against the bounds; None: none.
    same_budget, same_delta
        Whether they are those that the audit was asked with.
    """

    result: AuditResult
    delta: float | None
    same_budget: bool
    same_delta: bool

    @property
    def place(self) -> Place | None:
        """Where δ lies; None without one, or where the audit could find nothing."""
        if self.delta is None or self.result.applicability is not None:
            return None
        if self.result.lower_bound > self.delta:
            return "below"
        return "above" if self.result.upper_bound <= self.delta else "between"


def look_at(
    result: AuditResult, *, budget: float | None = None, delta: float | None = None
) -> Afterwards:
    """Return an audit at another budget, beside another threshold; None leaves them as asked."""
    asked = result.settings
    if delta is not None:
        delta = threshold(delta, result.loss.range)
    chosen = asked.budget if budget is None else number("budget", budget, at_least=0)
    same = chosen == asked.budget
    return Afterwards(
        result if same else result.at_budget(chosen),
        asked.delta if delta is None else delta,
        same_budget=same,
        same_delta=delta is None or delta == asked.delta,
    )
