"""Bounds and tests of Δ = ψ − ψ', the difference of two audits of one sample, valid at every n."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairtransport.inference.finite.evidence import LEAST_THRESHOLD
from fairtransport.inference.finite.levels import SMALLEST_LEVEL, smallest_level
from fairtransport.inference.finite.rejection import Rejection
from fairtransport.inference.laws import SamplingLaw

if TYPE_CHECKING:
    from fairtransport.inference.finite.paired_evidence import PairedEvidence


@dataclass(frozen=True, eq=False)
class DifferenceLaw(SamplingLaw):
    """Inference about Δ = ψ(f*) − ψ'(f*) with guarantees at every n.

    Attributes
    ----------
    forward, backward
        The sample for bets against "Δ <= d" and, with the audits exchanged, "Δ >= d".
    alpha
        The level that p-values are aimed at.
    declared
        The difference that was declared before the data to be compared with the lower bound,
        and that for the upper bound; each None if there is none.

    Notes
    -----
    What `FiniteSampleLaw` does at one audit's prices: "Δ <= d" is rejected when wealth reaches 1/α
    at every price of the first audit, while the second's price is chosen from earlier records
    (`paired_bets`). An upper bound is a lower bound of ψ' − ψ, turned round. Bounds and tests at
    a declared difference are one family: the bound reaches it exactly if the test rejects.
    """

    forward: PairedEvidence
    backward: PairedEvidence
    alpha: float
    declared: tuple[float | None, float | None] = (None, None)

    @property
    def guarantee(self) -> str:
        """What the bounds promise: their level at every n."""
        return "finite-sample"

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= Δ) >= 1 − α at every n."""
        return self._bound(self.forward, self.declared[0], self._level(alpha))

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return U with P(U >= Δ) >= 1 − α at every n."""
        declared = self.declared[1]
        # an upper bound of Δ is minus a lower bound of ψ' − ψ
        turned = None if declared is None else -declared
        return -self._bound(self.backward, turned, self._level(alpha))

    @cached_property
    def _bounds(self) -> dict[tuple[bool, float], float]:
        """Bounds that were computed, by whether they are lower ones and by their level."""
        return {}

    def _bound(self, evidence: PairedEvidence, declared: float | None, alpha: float) -> float:
        """Return the lower bound of what the first audit of some evidence finds over the second.

        Parameters
        ----------
        evidence
            ``forward`` for a lower bound of Δ, ``backward`` for one of −Δ.
        declared
            The difference that was declared for this side, if there is one, with its sign turned
            for ``backward``.
        alpha
            The level.

        Returns
        -------
        float
            The least that the difference can be where nothing can be known: the limits of gains
            leave no room for bets.
        """
        key = evidence is self.forward, alpha
        if key not in self._bounds:
            # nobody can gain: Δ is known without a sample
            never = evidence.least >= evidence.most
            aim = None if declared is None else _testable(evidence, declared)
            self._bounds[key] = evidence.least if never else Rejection(evidence, aim).bound(alpha)
        return self._bounds[key]

    def _p_greater(self, delta: float) -> float:
        return self._p(self.forward, delta)

    def _p_less(self, delta: float) -> float:
        return self._p(self.backward, -delta)

    def _p(self, evidence: PairedEvidence, delta: float) -> float:
        """Return the p-value of "the first audit finds at most ``delta`` more than the second".

        Parameters
        ----------
        evidence
            The sample for one of the two directions.
        delta
            The difference; at or above the most that it can be nothing speaks against it, below
            the least everything does.
        """
        if delta >= evidence.most:
            return 1.0
        if delta < evidence.least:
            return SMALLEST_LEVEL
        rejection = Rejection(evidence, _testable(evidence, delta))
        return smallest_level(rejection.rejects, self.alpha)


def _testable(evidence: PairedEvidence, delta: float) -> float:
    """Return a difference, or the least above it that can be staked against.

    Rejecting more rejects it too. At the least that a difference can be, stakes have no limit.

    Parameters
    ----------
    evidence
        Tells what a difference can be at least and at the most.
    delta
        The difference to be tested.

    Returns
    -------
    float
        ``delta``, but a little more at the least end: ``LEAST_THRESHOLD`` of the whole range.
    """
    if delta != evidence.least:
        return delta
    return evidence.least + LEAST_THRESHOLD * (evidence.most - evidence.least)
