"""What a sample says about R: a lower bound at every n, p-values, estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import number
from fairtransport.inference.finite.least_wealth import log_best_mean
from fairtransport.inference.rates.upper_bound import RateCertificate, certificate
from fairtransport.inference.rates.words import rate_sentence, rounded_down

if TYPE_CHECKING:
    from fairtransport.inference.rates.tables import RateTable
    from fairtransport.inference.rates.unsealing import Wealths

FEWEST_SHARE = 1 / 8
"""Share of the orders whose mean wealth may decide without the others."""
HALVINGS = 60
MOST_LOG = 690.0
"""The largest logarithm of evidence that is told."""
RESAMPLES = 1999
"""Draws of the permutation test."""


@dataclass(frozen=True, eq=False)
class RateLaw:
    """Inference about R, from people who are alike in the audited columns.

    R = E[max over groups s' of m(b, s') − m(b, s)], m(b, s) the mean loss in block b and group s:
    by how much the mean loss would rise if everybody were treated as the worst-treated group
    among those who are alike in the columns that make up the block.

    Attributes
    ----------
    table
        The sample.
    alpha
        The level that stakes are chosen for; bounds at other levels hold too.
    orders
        The number of random orders in which people are unsealed.
    seed
        Of all that is drawn.

    Notes
    -----
    R > 0 is no proof that a system uses the group: something else that it knows and the audit
    does not may differ by group. A lower bound of 0 is no proof of the contrary either.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 1000), rng.integers(0, 2, 1000)
    >>> errors = rng.random(1000) < 0.2 + 0.3 * group
    >>> law = ft.inference.rate_law(age, group, errors, rng=0)
    >>> round(law.lower_bound(), 2) <= round(law.estimate, 2)
    True
    """

    table: RateTable
    alpha: float
    orders: int
    seed: int

    def _stream(self, purpose: int) -> np.random.Generator:
        """Return the generator of one purpose: 0 the orders, 1 the permutations, 2 the certificate.

        Each has its own, so that results do not depend on which of them is asked for first.
        """
        return np.random.default_rng([self.seed, purpose])

    @property
    def n(self) -> int:
        """The number of people.

        Returns
        -------
        int

        Examples
        --------
        >>> law.n
        1000
        """
        return self.table.n

    @property
    def comparable_share(self) -> float:
        """The share of the people in whose block there is somebody of another group.

        Returns
        -------
        float

        Examples
        --------
        >>> law.comparable_share
        1.0
        """
        return self.table.comparable_share

    @cached_property
    def wealths(self) -> Wealths:
        """What bets on the random orders came to.

        Returns
        -------
        Wealths

        Examples
        --------
        >>> len(law.wealths.log) == law.orders
        True
        """
        from fairtransport.inference.rates.unsealing import unseal

        return unseal(self.table, self.orders, self.alpha, self._stream(0))

    @property
    def estimate(self) -> float:
        """The cross-fitted estimate: targets chosen on some people, measured on others.

        Its expectation is at most R.

        Returns
        -------
        float

        Examples
        --------
        >>> round(law.estimate, 2)
        0.16
        """
        people = np.maximum(self.wealths.people, 1)
        return float(np.mean(self.wealths.moved / people)) * self.table.width

    @property
    def plug_in(self) -> float:
        """R of the observed cell means, a maximum of noisy means: biased upwards.

        Returns
        -------
        float

        Examples
        --------
        >>> round(law.plug_in, 2)
        0.16
        """
        people = self.table.people
        means = np.where(people > 0, self.table.losses / np.maximum(people, 1), -np.inf)
        rise = people * (means.max(axis=1, keepdims=True) - np.where(people > 0, means, 0))
        return float(rise.sum() / self.n) * self.table.width

    def evalue(self, delta: float = 0.0) -> float:
        """Return evidence against R <= δ, whose mean is at most 1 under it: all orders' mean.

        Parameters
        ----------
        delta
            δ.

        Returns
        -------
        float
            20 and more reject at level 5 %.

        Examples
        --------
        >>> law.evalue(0.05) > 20
        True
        """
        log = self._log_evidence(self._scaled(delta), fewest=self.orders)
        return math.exp(min(log, MOST_LOG))

    def pvalue(self, delta: float = 0.0) -> float:
        """Return the p-value of R <= δ: at most α with probability at most α, at every n.

        Parameters
        ----------
        delta
            δ.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> law.pvalue(0.05) < 0.05, law.pvalue(0.3)
        (True, 1.0)
        """
        return math.exp(-min(max(self._log_evidence(self._scaled(delta)), 0.0), MOST_LOG))

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L with P(L <= R) >= 1 − α at every n, R of the population.

        Parameters
        ----------
        alpha
            The probability to be wrong.

        Returns
        -------
        float
            0 where nothing is shown.

        Raises
        ------
        InputError
            If α is not between 0 and 1.

        Examples
        --------
        >>> law.lower_bound(0.01) <= law.lower_bound() < law.estimate
        True
        """
        return self._bound(alpha, here=False)

    def lower_bound_here(self, alpha: float = 0.05) -> float:
        """Return the same for the mean of r over the people of this sample, given their design.

        Parameters
        ----------
        alpha
            The probability to be wrong.

        Returns
        -------
        float
            0 where nothing is shown.

        Raises
        ------
        InputError
            If α is not between 0 and 1.

        Examples
        --------
        >>> law.lower_bound_here() > 0.05
        True
        """
        return self._bound(alpha, here=True)

    def certificate(self, alpha: float = 0.05) -> RateCertificate | None:
        """Return a weak upper bound for some of these people, and for whom; None if there is none.

        There is none with more than two groups, nor without blocks that have two or more people
        of both.

        Parameters
        ----------
        alpha
            The probability to be wrong.

        Returns
        -------
        RateCertificate | None
            The bound, and for how many people it holds.

        Raises
        ------
        InputError
            If α is not between 0 and 1.

        Examples
        --------
        >>> found = law.certificate()
        >>> found.share, found.upper_bound > law.estimate
        (1.0, True)
        """
        level = number("alpha", alpha, above=0, below=1)
        return certificate(self.table, level, self.orders, self._stream(2))

    @cached_property
    def permutation_pvalue(self) -> float:
        """The p-value of the exact stratified permutation test.

        Its hypothesis: losses do not depend on the group given the block. For losses of two
        values that is R = 0; otherwise R = 0 is a weaker statement.

        Returns
        -------
        float

        Examples
        --------
        >>> law.permutation_pvalue < 0.01
        True
        """
        from fairtransport.inference.rates.permutation import permutation_pvalue

        return permutation_pvalue(self.table, RESAMPLES, self._stream(1))

    def sentence(self, feature: str, alpha: float = 0.05) -> str:
        """Return what was found, in words; wrong with probability at most α.

        A difference is told of where the permutation test rejects, and its size by the bound: if
        groups fare alike the first is wrong with probability α at most, else only the second can
        be.

        Parameters
        ----------
        feature
            The sensitive feature's name.
        alpha
            The probability to be wrong.

        Returns
        -------
        str
            One sentence or two.

        Raises
        ------
        InputError
            If α is not between 0 and 1.

        Examples
        --------
        >>> print(law.sentence("group"))
        People who are alike in the audited columns are treated differently by group: if everybody
        were treated as the worst-treated group among those alike, the mean loss would be at least
        0.12 higher (95 % confidence). What else differs between the groups was not audited.
        """
        if (p := self.permutation_pvalue) > alpha:
            return rate_sentence(feature, pvalue=None, bound=None, alpha=alpha)
        bound = self.lower_bound(alpha)
        told = rounded_down(bound) if bound > 0 else None
        return rate_sentence(feature, pvalue=f"p = {p:.2g}", bound=told, alpha=alpha)

    def _scaled(self, delta: float) -> float:
        """Return δ in units of the loss's range, in which tables hold losses."""
        return number("delta", delta, at_least=0) / self.table.width

    def _log_evidence(self, delta: float, *, fewest: int = 0, here: bool = False) -> float:
        """Return the logarithm of the largest mean wealth of the first orders, against R <= δ.

        With ``here`` the hypothesis is about the n people of the sample; the N of an order who
        are not in its pilot then have a mean of at most n/N times δ.

        Parameters
        ----------
        delta
            The threshold, in units of the loss's range.
        fewest
            From how many orders on a mean may decide; an eighth of them if 0.
        here
            Whether the hypothesis is about these people.

        Notes
        -----
        W/(1 + λδ)^N by order: λ and N are that order's own.
        """
        log, stake, people, _ = self.wealths
        # Σ r over the N sealed people is at most n times the mean over all
        most = delta * self.n / np.maximum(people, 1) if here else delta
        # E W <= (1 + λR)^N given the pilot, which λ and N are functions of
        against = log - people * np.log1p(stake * most)
        return log_best_mean(against, fewest or math.ceil(FEWEST_SHARE * self.orders))

    def _bound(self, alpha: float, *, here: bool) -> float:
        """Return where the evidence falls to 1/α: it falls in δ.

        Parameters
        ----------
        alpha
            The level.
        here
            Whether the bound is for these people.

        Returns
        -------
        float
            In units of the loss, by bisection from below: what is told was rejected.
        """
        enough = math.log(1 / number("alpha", alpha, above=0, below=1))
        low, high = 0.0, 1.0
        if self._log_evidence(low, here=here) < enough:
            return 0.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if self._log_evidence(middle, here=here) >= enough:
                low = middle
            else:
                high = middle
        return low * self.table.width
