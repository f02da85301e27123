"""What the rates say of an audit of given predictions: R lies below ψ, and so does its bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.inference.laws import SamplingLaw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.inference.rates.lower_bound import RateLaw


@dataclass(frozen=True, eq=False)
class RateBoundLaw(SamplingLaw):
    """Lower bounds and tests of R, which hold for ψ(f*) as well: R <= ψ(f*).

    Attributes
    ----------
    together
        What the sample says about R, the groups being all combinations of the sensitive features;
        None where it has one group only.
    each
        The same for each sensitive feature on its own, the others held fixed; a single one is
        what there is together.

    Notes
    -----
    With another feature held fixed there are fewer groups to be treated as, so that no feature's
    R is larger than R. One half of the level is for the combinations, the other is shared by the
    features: many small groups do not hide a difference by one feature, and all these bounds
    hold together.

    Nothing can be certified: rates of ½ in every cell, and rates that are 0 or 1 by the toss of a
    coin, give the same data where a cell has one person.
    """

    together: RateLaw | None
    each: Mapping[str, RateLaw]

    @property
    def guarantee(self) -> str:
        """What the bounds promise: their level at every n."""
        return "finite-sample"

    @property
    def own_share(self) -> float:
        """The share of the level that the bound of each feature has; a single one has all of it."""
        return 0.5 / len(self.each) if len(self.each) > 1 else 1.0

    @property
    def _shares(self) -> list[tuple[RateLaw, float]]:
        """The laws, with the share of the level that each has."""
        each = [(law, self.own_share) for law in self.each.values()]
        if self.together is None or len(each) == 1:
            return each
        return [(self.together, 0.5), *each]

    @property
    def permutation_pvalue(self) -> float:
        """The p-value of "no difference at all", from the tests of all laws.

        Each is divided by its share of the level, a weighted Bonferroni correction.
        """
        ps = [law.permutation_pvalue / share for law, share in self._shares]
        return min([1.0, *ps])

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= R) >= 1 − α at every n.

        Parameters
        ----------
        alpha
            The level; shared among the laws, of whose bounds the largest is told.
        """
        level = self._level(alpha)
        return max((law.lower_bound(level * share) for law, share in self._shares), default=0.0)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return infinity: there is no upper bound.

        Parameters
        ----------
        alpha
            Checked, so that a wrong level is refused here as everywhere.
        """
        self._level(alpha)
        return math.inf

    def evalue(self, delta: float) -> float:
        """Return evidence against R <= δ whose mean is at most 1 under it.

        Parameters
        ----------
        delta
            The threshold; 0 for negative ones.

        Returns
        -------
        float
            The mean of the laws' e-values, weighted by their shares of the level.
        """
        shares = self._shares
        return sum(share * law.evalue(max(delta, 0.0)) for law, share in shares) if shares else 1.0

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of R <= δ: the least of the laws, each over its share of α."""
        ps = [law.pvalue(max(delta, 0.0)) / share for law, share in self._shares]
        return min([1.0, *ps])

    def _p_less(self, delta: float) -> float:  # noqa: ARG002
        """Return 1: nothing can be certified."""
        return 1.0
