"""The three things an audit can say about δ-fairness."""

from __future__ import annotations

from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["rejected", "certified", "inconclusive"]


def reach_verdict(lower_bound: float, upper_bound: float, delta: float) -> Verdict:
    """Say what one-sided bounds at level α each tell about ψ(f*) <= δ.

    Whatever ψ(f*) is, only one of "rejected" and "certified" can be wrong, so each bound may use
    all of α. If both fire, which only bounds that contradict each other can do, neither counts.

    Examples
    --------
    >>> reach_verdict(0.05, 0.09, delta=0.03), reach_verdict(0.01, 0.02, delta=0.03)
    ('rejected', 'certified')
    >>> reach_verdict(0.01, 0.09, delta=0.03)
    'inconclusive'
    """
    rejected, certified = lower_bound > delta, upper_bound <= delta
    if rejected == certified:
        return "inconclusive"
    return "rejected" if rejected else "certified"
