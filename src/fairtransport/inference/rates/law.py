"""Bounds and tests of R, the rise of the mean loss by groups among similar people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fairtransport._core.validation import (
    check_choice,
    check_float_array,
    check_generator,
    check_integer,
    check_number,
    short_repr,
)
from fairtransport.errors import InputError, param
from fairtransport.inference.finite.least_wealth import log_best_mean
from fairtransport.inference.laws import MAX_LOG_EVIDENCE, SamplingLaw
from fairtransport.inference.rates.table import Columns, as_list, count_entries

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.inference.rates.betting import Wealths
    from fairtransport.inference.rates.table import RateTable


DEFAULT_ORDERS, MIN_ORDERS = 64, 16
"""Default numbers of random orders: fewer for many people, where results of orders vary less."""
LARGE_SAMPLE, MAX_ORDERED_PEOPLE = 50_000, 1_600_000
"""Number of people from which on there are fewer orders, and maximum number of people of all orders
together, down to the minimum number of orders."""
TOWARDS = ("best", "worst")


def rate_law(
    blocks: Columns,
    groups: Columns,
    losses: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
    alpha: float = 0.05,
    orders: int | None = None,
    rng: int | np.random.Generator | None = None,
    units: Units | None = None,
) -> RateLaw:
    """Return the law of R, the rise of the mean loss by groups among similar people.

    Parameters
    ----------
    blocks
        One or more columns in which similar people agree; with the outcome, if the loss needs it,
        and with other sensitive features to be held fixed.
    groups
        The sensitive feature, or a list of several whose combinations are the groups.
    losses
        The loss of each row, such as 1 for an error and 0 for none.
    counts
        Number of people of each row; default: 1.
    strata
        A column, such as the outcome, inside which a group's disadvantage is expected to have one
        sign. It guides the bets and the permutation test; no guarantee depends on it.
    loss_range
        The smallest and the largest possible loss, known before the data.
    alpha
        Level for which stakes are chosen.
    orders
        Number of random orders of the people to bet on; with more, results vary less with the seed.
        Default: 64, and for more than 50 000 people down to 16.
    rng
        A seed or a numpy generator.
    units
        Clusters or weights of an audit, whose points are the rows; default: rows are independent
        people. Each order bets on one member of each unit, and the permutation test permutes whole
        units.

    Returns
    -------
    RateLaw
        Bounds, p-values, and the result in words.

    Raises
    ------
    InputError
        If columns differ in length, losses leave the range, or a setting is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 2000), rng.integers(0, 2, 2000)
    >>> errors = rng.random(2000) < 0.2 + 0.2 * group
    >>> law = ft.inference.rate_law(age, group, errors, rng=0)
    >>> 0.04 < law.lower_bound() < 0.1 < law.plug_in + 0.02
    True
    """
    level = check_number("alpha", alpha, above=0, below=1)
    if orders is not None:
        check_integer("orders", orders, at_least=1, at_most=10_000)
    random = check_generator("rng", rng)
    table, entry = count_entries(blocks, groups, losses, counts, strata, loss_range)
    if table.groups == 1:
        msg = f"{param('groups')} must have two values or more, got one"
        raise InputError(msg)
    many = _choose_orders(table.n) if orders is None else int(orders)
    members = None if units is None else _check_limit(units).move(entry)
    return RateLaw(table, level, many, int(random.integers(2**63)), members)


def _choose_orders(people: int) -> int:
    """Return the default number of orders, a function of the number of people only."""
    if people <= LARGE_SAMPLE:
        return DEFAULT_ORDERS
    return max(MIN_ORDERS, MAX_ORDERED_PEOPLE // people)


def _check_limit(units: Units) -> Units:
    """Return units with a limit of the weights that is known before the data."""
    if units.limit is None:
        msg = (
            f"{param('units')} must have a largest weight that is declared before the data, got "
            f"units of {short_repr(units.name)} without one"
        )
        raise InputError(msg)
    return units


def rate_laws(
    blocks: Columns,
    sensitive: Mapping[str, ArrayLike],
    losses: ArrayLike,
    *,
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
    alpha: float = 0.05,
    orders: int | None = None,
    rng: int | np.random.Generator | None = None,
    units: Units | None = None,
) -> dict[str, RateLaw]:
    """Return the law of R of each sensitive feature, with the others held fixed.

    ``sensitive`` maps names to columns; the other parameters are those of `rate_law`. Each bound
    has level α by itself: for all m of them together, use level α/m.

    Parameters
    ----------
    blocks, losses, counts, strata, loss_range, alpha, orders, rng, units
        As for `rate_law`.
    sensitive
        The sensitive features, by name.

    Returns
    -------
    dict[str, RateLaw]
        By name; a feature's groups are compared inside blocks in which the others agree, too.

    Raises
    ------
    InputError
        As for `rate_law`.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, sex, race = (rng.integers(0, 2, 1000) for _ in range(3))
    >>> errors = rng.random(1000) < 0.2 + 0.3 * sex
    >>> laws = ft.inference.rate_laws(age, {"sex": sex, "race": race}, errors, rng=0)
    >>> {name: law.lower_bound() > 0.05 for name, law in laws.items()}
    {'sex': True, 'race': False}
    """
    if not isinstance(sensitive, Mapping) or not sensitive:
        msg = (
            f"{param('sensitive')} must map names of features to columns, got "
            f"{short_repr(sensitive)}"
        )
        raise InputError(msg)
    streams = check_generator("rng", rng).spawn(len(sensitive))
    alike = as_list("blocks", blocks, len(check_float_array("losses", losses, (None,))))
    return {
        name: rate_law(
            [*alike, *(other for key, other in sensitive.items() if key != name)], column, losses,
            counts=counts, strata=strata, loss_range=loss_range, alpha=alpha, orders=orders,
            rng=stream, units=units,
        )
        for (name, column), stream in zip(sensitive.items(), streams, strict=True)
    }  # fmt: skip


def outcome_rate_law(
    blocks: Columns,
    groups: Columns,
    favourable: ArrayLike,
    *,
    towards: Literal["best", "worst"] = "best",
    counts: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    alpha: float = 0.05,
    orders: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> RateLaw:
    """Return the law of R of outcomes: 1 for a favourable decision, 0 for none.

    With ``towards="best"`` R is the rise of the rate of favourable decisions if everybody were
    treated like the best-treated group among similar people; with ``"worst"`` its fall if everybody
    were treated like the worst-treated one. The other parameters are those of `rate_law`.

    Parameters
    ----------
    blocks, groups, counts, strata, alpha, orders, rng
        As for `rate_law`.
    favourable
        1 for a favourable decision, 0 for none.
    towards
        "best" or "worst".

    Returns
    -------
    RateLaw
        The law for decisions instead of errors.

    Raises
    ------
    InputError
        As for `rate_law`.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 1000), rng.integers(0, 2, 1000)
    >>> hired = rng.random(1000) < 0.2 + 0.3 * group
    >>> law = ft.inference.outcome_rate_law(age, group, hired, rng=0)
    >>> law.lower_bound() > 0.05
    True
    """
    check_choice("towards", towards, TOWARDS)
    decisions = check_float_array("favourable", favourable, (None,))
    if not np.isin(decisions, (0, 1)).all():
        odd = decisions[~np.isin(decisions, (0, 1))][0]
        msg = f"{param('favourable')} must be 0 or 1 for each row, got {odd:g}"
        raise InputError(msg)
    return rate_law(
        blocks, groups, decisions if towards == "best" else 1 - decisions, counts=counts,
        strata=strata, alpha=alpha, orders=orders, rng=rng,
    )  # fmt: skip


MIN_ORDERS_SHARE = 1 / 8
"""Minimum share of the orders whose mean wealth may decide without the others."""
HALVINGS = 60
RESAMPLES = 1999
"""Number of permutations of the test."""


@dataclass(frozen=True, eq=False)
class RateLaw:
    """Inference about R, from people who are alike in the audited columns.

    R = E[max over groups s' of m(b, s') − m(b, s)], m(b, s) the mean loss in block b and group s:
    how much the mean loss would rise if everybody were treated like the worst-treated group among
    people who agree in the columns of the block.

    Attributes
    ----------
    table
        The sample.
    alpha
        Level for which stakes are chosen; bounds at other levels hold, too.
    orders
        Number of random orders of the people.
    seed
        The random seed.
    units
        Units whose points are the table's entries; None if people are independent.

    Notes
    -----
    R > 0 does not prove that a system uses the group: another input, which the audit lacks, may
    differ by group. A lower bound of 0 does not prove the contrary either.

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
    units: Units | None = None

    def _stream(self, purpose: int) -> np.random.Generator:
        """Return the generator of one purpose: 0 the orders, 1 the permutations, 2 the certificate.

        Each has its own, so that results do not depend on the order of computation.
        """
        return np.random.default_rng([self.seed, purpose])

    @property
    def n(self) -> int:
        """The number of people."""
        return self.table.n

    @property
    def comparable_share(self) -> float:
        """Share of people with somebody of another group in their block."""
        return self.table.comparable_share

    @cached_property
    def wealths(self) -> Wealths:
        """Results of the bets on the random orders."""
        from fairtransport.inference.rates.betting import run_orders

        return run_orders(self.table, self.orders, self.alpha, self._stream(0), self.units)

    @property
    def estimate(self) -> float:
        """The cross-fitted estimate: targets chosen on some people, measured on others.

        Its expectation is at most R.
        """
        people = np.maximum(self.wealths.people, 1)
        return float(np.mean(self.wealths.gain / people)) * self.table.width

    @property
    def plug_in(self) -> float:
        """R of the observed cell means, a maximum of noisy means: biased upwards."""
        table, units = self.table, self.units
        mass = (
            table.count if units is None else np.bincount(units.point, units.mass, len(table.count))
        )
        people, losses = table.sum_by_cell(mass), table.sum_by_cell(mass * table.value)
        means = np.where(people > 0, losses / np.where(people > 0, people, 1), -np.inf)
        rise = people * (means.max(axis=1, keepdims=True) - np.where(people > 0, means, 0))
        return float(rise.sum() / mass.sum()) * table.width

    def evalue(self, delta: float = 0.0) -> float:
        """Return an e-value against R <= δ, with mean at most 1 under it: 20 rejects at 5 %."""
        log = self._log_evidence(self._scaled(delta), min_count=self.orders)
        return math.exp(min(log, MAX_LOG_EVIDENCE))

    def pvalue(self, delta: float = 0.0) -> float:
        """Return the p-value of R <= δ: at most α with probability at most α, at every n."""
        return math.exp(-min(max(self._log_evidence(self._scaled(delta)), 0.0), MAX_LOG_EVIDENCE))

    def lower_bound(self, alpha: float = 0.05) -> float:
        """Return L >= 0 with P(L <= R) >= 1 − α at every n, for R of the population."""
        return self._bound(alpha, here=False)

    def lower_bound_here(self, alpha: float = 0.05) -> float:
        """Return the same for the mean of r over the people of this sample, given their design."""
        self._check_independent("lower_bound_here")
        return self._bound(alpha, here=True)

    def certificate(self, alpha: float = 0.05) -> RateCertificate | None:
        """Return a weak upper bound for some of these people, and for whom; None if there is none.

        There is none with more than two groups, nor without blocks that have two or more people
        of both.
        """
        self._check_independent("certificate")
        level = check_number("alpha", alpha, above=0, below=1)
        return certify_rate(self.table, level, self.orders, self._stream(2))

    @cached_property
    def permutation_pvalue(self) -> float:
        """The p-value of the exact stratified permutation test.

        The hypothesis: losses do not depend on the group given the block. For losses of two values
        that is R = 0; otherwise R = 0 is a weaker statement. Permutations end with the 20th that is
        at least as extreme as the sample: p = 20/l if that is permutation l, else (g + 1)/2000 for
        g of 1999 permutations. With units it is about all losses of a unit together, as sampled.
        """
        from fairtransport.inference.rates.permutation import permutation_pvalue

        return permutation_pvalue(self.table, RESAMPLES, self._stream(1), self.units)

    def sentence(self, feature: str, alpha: float = 0.05) -> str:
        """Return the result in words, wrong with probability at most α.

        A difference is reported if the permutation test rejects, with its size by the bound: if
        groups fare alike only the first can be wrong, with probability at most α, otherwise only
        the second.

        Parameters
        ----------
        feature
            The sensitive feature's name.
        alpha
            The error probability.

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
        Among people with equal values in the other audited columns, treatment differs by group: if
        everybody were treated like the worst-treated group, the mean loss would be at least 0.12
        higher (95 % confidence). Other differences between the groups were not audited.
        """
        if (p := self.permutation_pvalue) > alpha:
            return format_rate_sentence(feature, pvalue=None, bound=None, alpha=alpha)
        bound = self.lower_bound(alpha)
        least = round_down(bound) if bound > 0 else None
        return format_rate_sentence(feature, pvalue=f"p = {p:.2g}", bound=least, alpha=alpha)

    def _check_independent(self, name: str) -> None:
        """Reject methods that are proved for independent people only, if there are units."""
        if self.units is not None:
            msg = f"{param(name)} is for independent people, got units of {self.units.name!r}"
            raise InputError(msg)

    def _scaled(self, delta: float) -> float:
        """Return δ in units of the loss's range, in which tables hold losses."""
        return check_number("delta", delta, at_least=0) / self.table.width

    def _log_evidence(self, delta: float, *, min_count: int = 0, here: bool = False) -> float:
        """Return the logarithm of the largest mean wealth of the first orders, against R <= δ.

        With ``here`` the hypothesis is about the n people of the sample; the N of an order who
        are not in its pilot then have a mean of at most n/N times δ.

        W/(1 + λδ)^N by order, each with its own λ and N.
        """
        log, stake, people, _ = self.wealths
        # Σ r over the N people after the pilot is at most n times the mean over all
        most = delta * self.n / np.maximum(people, 1) if here else delta
        # E W <= (1 + λR)^N given the pilot, which λ and N are functions of
        against = log - people * np.log1p(stake * most)
        return log_best_mean(against, min_count or math.ceil(MIN_ORDERS_SHARE * self.orders))

    def _bound(self, alpha: float, *, here: bool) -> float:
        """Return the δ at which the evidence, which decreases in δ, reaches 1/α."""
        level = check_number("alpha", alpha, above=0, below=1)
        log_evidence = partial(self._log_evidence, here=here)
        return find_lower_bound(log_evidence, level) * self.table.width


def find_lower_bound(log_evidence: Callable[[float], float], alpha: float) -> float:
    """Return the δ in [0, 1] at which decreasing evidence reaches 1/α; 0 if it is less."""
    threshold = math.log(1 / alpha)
    low, high = 0.0, 1.0
    if log_evidence(low) < threshold:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if log_evidence(middle) >= threshold else (low, middle)
    return low


GUESSED_VARIANCE = 0.22
"""Assumed variance of a loss, for the choice of sizes and stakes by the design only."""
MAX_PAIR_LOSS = 0.6
"""Largest share of wealth that a pair of parts can lose."""
MAX_PARTS = 100_000
"""Maximum number of parts of all blocks, if larger parts are possible."""
MIN_PARTS_SHARE = 1 / 8
"""Minimum share of the orders whose mean wealth may decide without the others."""
CERTIFIABLE_GROUPS = 2
"""Number of groups that the proof covers."""
MIN_GROUP_PEOPLE = 2
"""Minimum number of people of each group in a block: one for each of two parts."""


@dataclass(frozen=True)
class RateCertificate:
    """An upper bound, and the people for whom it holds.

    Attributes
    ----------
    upper_bound
        Upper bound of the mean of r over these people, at level 1 − α.
    people, blocks
        Numbers of people of this sample, and of their blocks, for whom it holds: those in blocks
        with two or more people of both groups. It is not about others.
    share
        Share of these people in the sample.

    Examples
    --------
    >>> import numpy as np
    >>> import fairtransport as ft
    >>> rng = np.random.default_rng(1)
    >>> age, group = rng.integers(0, 5, 1000), rng.integers(0, 2, 1000)
    >>> law = ft.inference.rate_law(age, group, rng.random(1000) < 0.2, rng=0)
    >>> certificate = law.certificate()
    >>> certificate.people, certificate.blocks, certificate.upper_bound < 0.2
    (1000, 5, True)
    """

    upper_bound: float
    people: int
    blocks: int
    share: float


class Parts(NamedTuple):
    """The parts of the people of each eligible block, and the stakes on pairs of them."""

    pairs: IntArray
    weight: FloatArray
    stake: float


def find_eligible_blocks(table: RateTable) -> BoolArray:
    """Return which blocks have two or more people of both groups."""
    return np.asarray(table.people.min(axis=1) >= MIN_GROUP_PEOPLE)


def certify_rate(
    table: RateTable, alpha: float, orders: int, rng: np.random.Generator
) -> RateCertificate | None:
    """Return the upper bound at level 1 − α given the design; None without two groups or blocks.

    Δ_b is the difference of the groups' means in block b, c_b the people of its larger group. Two
    disjoint parts of the block give independent differences D, D' with E[D·D'] = Δ_b², so that
    W = Π(1 − λwDD') over pairs, w = c_b a pair, has E W <= exp(−λQ), Q = Σ c_b Δ_b². Hence
    Q <= (log(1/α) − log W)/λ with probability 1 − α, and Σ r_i <= Σ c_b|Δ_b| <= √(Σ c_b · Q).
    """
    if table.groups != CERTIFIABLE_GROUPS or not (fit := find_eligible_blocks(table)).any():
        return None
    blocks = np.flatnonzero(fit)
    people = table.people[blocks]
    larger = people.max(axis=1)
    parts = choose_parts(people, alpha)
    logs = np.array([
        _log_wealth(table, blocks, parts, stream) for stream in rng.spawn(orders)
    ])  # fmt: skip
    log_wealth = log_best_mean(logs, math.ceil(MIN_PARTS_SHARE * orders))
    # Q is a sum of squares, so a negative estimate becomes 0
    squares = max(math.log(1 / alpha) - log_wealth, 0.0) / parts.stake
    many = int(people.sum())
    # Cauchy–Schwarz; and r is at most 1, and 0 for people of a block's worse group
    bound = min(math.sqrt(larger.sum() * squares) / many, float(larger.sum()) / many)
    return RateCertificate(bound * table.width, many, len(blocks), many / table.n)


def choose_parts(people: IntArray, alpha: float) -> Parts:
    """Return the parts with the smallest expected bound if there is no difference.

    Small parts give many pairs, whose products are noisy; large parts few. Sizes grow in steps of a
    third, and the one with the least expected Q is used. Losses have no influence.
    """
    smaller, larger = people.min(axis=1), people.max(axis=1).astype(float)
    sizes = [1]
    while sizes[-1] < smaller.max() // 2:
        sizes.append(max(sizes[-1] + 1, sizes[-1] * 4 // 3))
    candidates: list[tuple[float, Parts]] = []
    for size in sizes:
        pairs = np.maximum(1, smaller // (2 * size))
        if 4 * pairs.sum() > MAX_PARTS and size < sizes[-1]:
            continue
        weight = larger / pairs
        noise = (GUESSED_VARIANCE * (2 * pairs[:, None] / people).sum(axis=1)) ** 2
        spread = float((pairs * weight**2 * noise).sum())
        # |DD'| <= 1, so that λw <= .6 keeps every factor at .4 or more
        stake = min(
            math.sqrt(2 * math.log(1 / alpha) / spread), MAX_PAIR_LOSS / float(weight.max())
        )
        expected = math.log(1 / alpha) / stake + stake * spread / 2
        candidates.append((expected, Parts(pairs, weight, stake)))
    return min(candidates, key=lambda each: each[0])[1]


def _log_wealth(
    table: RateTable, blocks: IntArray, parts: Parts, rng: np.random.Generator
) -> float:
    """Return log W of one random partition into parts."""
    from fairtransport.inference.rates.betting import fill_urns

    urns = fill_urns(table, table.count, rng)
    many = 2 * parts.pairs
    row = np.repeat(np.arange(len(blocks)), many)
    place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    means = []
    for group in range(CERTIFIABLE_GROUPS):
        total = table.people[blocks, group][row]
        ends = (place + 1) * total // many[row], place * total // many[row]
        take = ends[0] - ends[1]
        sums = urns.draw_sums(blocks[row] * table.groups + group, take)
        means.append(sums / take)
    difference = means[0] - means[1]
    # neighbours are pairs: parts of one block that share no person
    products = difference[::2] * difference[1::2]
    return float(np.log1p(-parts.stake * parts.weight[row[::2]] * products).sum())


@dataclass(frozen=True, eq=False)
class RateBoundLaw(SamplingLaw):
    """Lower bounds and tests of R, which also hold for ψ(f*), as R <= ψ(f*).

    With other features held fixed there are fewer groups to compare with, so that no feature's R is
    larger than R. Half of the level is for the combinations, the other half is shared by the
    features: many small groups do not hide a difference by one feature, and all these bounds hold
    together.

    Nothing can be certified: rates of ½ in every cell, and rates that are 0 or 1 at random, give
    the same data if a cell has one person.
    """

    together: RateLaw | None
    each: Mapping[str, RateLaw]

    @property
    def guarantee(self) -> str:
        """The bounds hold at every n."""
        return "finite-sample"

    @property
    def own_share(self) -> float:
        """Share of the level for the bound of each feature; all of it for a single one."""
        return 0.5 / len(self.each) if len(self.each) > 1 else 1.0

    @property
    def _shares(self) -> list[tuple[RateLaw, float]]:
        """The laws, with the share of the level of each."""
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
        """Return L with P(L <= R) >= 1 − α at every n."""
        level = self._level(alpha)
        return max((law.lower_bound(level * share) for law, share in self._shares), default=0.0)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return infinity: there is no upper bound."""
        self._level(alpha)
        return math.inf

    def evalue(self, delta: float) -> float:
        """Return an e-value against R <= δ, with mean at most 1 under it."""
        shares = self._shares
        return sum(share * law.evalue(max(delta, 0.0)) for law, share in shares) if shares else 1.0

    def _p_greater(self, delta: float) -> float:
        """Return the p-value of R <= δ: the least of the laws, each over its share of α."""
        ps = [law.pvalue(max(delta, 0.0)) / share for law, share in self._shares]
        return min([1.0, *ps])

    def _p_less(self, delta: float) -> float:  # noqa: ARG002
        """Return 1: nothing can be certified."""
        return 1.0


UNKNOWN = "Other differences between the groups were not audited."
WORST, MEAN_LOSS = "the worst-treated group", "the mean loss"


def format_rate_sentence(
    feature: str, *, pvalue: str | None, bound: str | None, alpha: float,
    whom: str = WORST, what: str = MEAN_LOSS,
) -> str:  # fmt: skip
    """Return what was found about people with equal values, by the groups of a feature.

    Never "because of": a column that the audit lacks and that differs by group has the same effect.
    """
    differently = (
        "Among people with equal values in the other audited columns, treatment differs by "
        f"{feature}"
    )
    if bound is not None:
        return (
            f"{differently}: if everybody were treated like {whom}, {what} would be at least "
            f"{bound} higher ({100 * (1 - alpha):g} % confidence). "
            f"{UNKNOWN}"
        )
    if pvalue is not None:
        return (
            f"{differently} (permutation test, {pvalue}), but by how much is not known. {UNKNOWN}"
        )
    return (
        f"No difference by {feature} was shown among people with equal values in the other audited "
        "columns. This is no evidence that they are treated equally."
    )


def round_down(bound: float) -> str:
    """Return a number rounded down to two digits."""
    digits = 1 - math.floor(math.log10(bound))
    down = math.floor(bound * 10.0**digits + 1e-9) / 10.0**digits
    return f"{down:.{max(digits, 0)}f}"
