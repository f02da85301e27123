"""What an audit can say about δ-fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from fairtransport.inference.laws import SamplingLaw

Verdict: TypeAlias = Literal["rejected", "certified", "inconclusive", "not-applicable"]
"""The first three come from tests; the last says that these could find nothing."""


def reach_verdict(*, rejected: bool, certified: bool) -> Verdict:
    """Say what the two one-sided tests at level α each tell about ψ(f*) <= δ.

    Whatever ψ(f*) is, only one of "rejected" and "certified" can be wrong, so each test may use
    all of α. If both fire, which only tests that contradict each other can do, neither counts.

    Parameters
    ----------
    rejected
        Whether ψ(f*) <= δ is rejected.
    certified
        Whether ψ(f*) >= δ is.

    Examples
    --------
    >>> reach_verdict(rejected=True, certified=False), reach_verdict(rejected=True, certified=True)
    ('rejected', 'inconclusive')
    """
    if rejected == certified:
        return "inconclusive"
    return "rejected" if rejected else "certified"


def reaches(law: SamplingLaw, goal: str, delta: float, alpha: float) -> bool:
    """Say whether an audit with this law rejects, or certifies, δ-fairness: `reach_verdict`'s rule.

    Only the side that the goal asks for is computed, since plans ask thousands of times.

    Parameters
    ----------
    law
        What a sample says.
    goal
        ``"reject"`` or ``"certify"``.
    delta, alpha
        The threshold and the level.
    """
    if goal == "certify":
        return law.certifies(delta, alpha)
    return law.rejects(delta, alpha)
