"""Rates of clusters and weights: enumerated draws of members, and deals of whole units."""

from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.inference.rates.scripted import ScriptedUrns, line_up, line_up_design, rises

from fairtransport._core.units import Units
from fairtransport.errors import InputError
from fairtransport.inference import rate_law, rate_table
from fairtransport.inference.rates.betting import (
    LONG_PILOT,
    PILOT,
    UnitMembers,
    bet_after_pilot,
    has_mixed_signs,
    sum_observed,
)
from fairtransport.inference.rates.permutation import ShuffledDeck, UnitDeck, permutation_pvalue

ROUNDING = 1e-12
# entries of a table of one block, two groups and two losses: cell 0, 0, 1, 1 with loss 0, 1, 0, 1
TABLE = rate_table([0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1])


def build_units(members, limit, *, of_clusters):
    """Return units from the entries of their members; each cluster may count once."""
    sizes = np.array([len(one) for one in members])
    unit = np.repeat(np.arange(len(members)), sizes)
    return Units(
        np.ones(len(members), np.int64), np.ones(len(members)) if of_clusters else sizes * 1.0,
        unit, np.concatenate(members).astype(int), 1 / sizes[unit], np.ones(len(unit), np.int64),
        1.0 if of_clusters else limit, is_single=False, has_clusters=True,
    )  # fmt: skip


class Script:
    """A generator whose answers are written down."""

    def __init__(self, kept, uniform):
        self.kept, self.uniform = np.array(kept), np.array(uniform)

    def binomial(self, counts, chance):
        assert (counts == 1).all()
        assert ((chance > 0) & (chance <= 1)).all()
        return self.kept

    def random(self, size):
        assert size == self.kept.sum()
        return self.uniform[self.kept > 0]


def law_of_draws(members, limit, *, of_clusters):
    """Return the counts of entries that members can be drawn to, and their chances."""
    draws = UnitMembers(build_units(members, limit, of_clusters=of_clusters), 4)
    law = {}
    for kept in product((0, 1), repeat=len(members)):
        chances = [1.0 if of_clusters else len(one) / limit for one in members]
        chance = np.prod([c if k else 1 - c for c, k in zip(chances, kept, strict=True)])
        if chance == 0:
            continue
        choices = [range(len(one)) if k else [0] for one, k in zip(members, kept, strict=True)]
        for chosen in product(*choices):
            uniform = [(c + 0.5) / len(one) for c, one in zip(chosen, members, strict=True)]
            count = tuple(draws.draw(Script(kept, uniform)).tolist())
            law[count] = law.get(count, 0) + chance / np.prod([len(one) for one in choices])
    return law


def pilots(count, share):
    """Yield how many people of each entry can be drawn with a chance, and its probability."""
    for drawn in product(*(range(one + 1) for one in count)):
        ways = [comb(n, k) * share**k * (1 - share) ** (n - k)
                for n, k in zip(count, drawn, strict=True)]  # fmt: skip
        yield np.array(drawn), np.prod(ways)


def mean_evidence(count, value):
    """Return the mean of W/(1 + λR)^N over all pilots and orders of the people."""
    total, count = 0.0, np.array(count)
    for pilot, chance in pilots(count, PILOT):
        if not has_mixed_signs(sum_observed(observe(pilot, 1), 1))[0]:
            total += chance * mean_after(pilot, count - pilot, value)
            continue
        for more, joins in pilots(count - pilot, (LONG_PILOT - PILOT) / (1 - PILOT)):
            rest = count - pilot - more
            total += chance * joins * mean_after(pilot + more, rest, value)
    return total


def observe(pilot, orders):
    """Return the pilot's losses, the same in so many orders."""
    people, losses = pilot.reshape(2, 2).sum(axis=1), pilot[1::2]
    return line_up(*(np.tile(part, (orders, 1, 1)) for part in (people, losses)), [0])


def mean_after(pilot, rest, value):
    design = rest.reshape(2, 2).sum(axis=1)
    orders = [sorted(set(permutations([0] * zeros + [1] * ones)))
              for zeros, ones in rest.reshape(2, 2).tolist()]  # fmt: skip
    urns = [ScriptedUrns(fared) for fared in product(*orders)]
    past = observe(pilot, len(urns))
    sums = sum_observed(past, len(urns))
    designs = line_up_design(np.tile(design, (len(urns), 1, 1)))
    log, stake, many, _ = bet_after_pilot(past, sums, designs, urns, 0.05)
    return np.mean(np.exp(log) / (1 + stake * value) ** many)


def rate_of(kinds, chances, *, of_clusters):
    """Return R of the weighted law of a population of units."""
    mass = np.zeros(4)
    for one, chance in zip(kinds, chances, strict=True):
        np.add.at(mass, one, chance / (len(one) if of_clusters else 1))
    mass = (mass / mass.sum()).reshape(2, 2)
    means = np.where(mass.sum(axis=1) > 0, mass[:, 1] / np.maximum(mass.sum(axis=1), TINY), 0)
    return float((mass.sum(axis=1) * rises(means[None], mass.sum(axis=1)[None])[0]).sum())


TINY = 1e-300


def mean_over_samples(kinds, chances, units, limit, *, of_clusters):
    """Return the mean evidence against R <= R over all samples of so many units."""
    value, law = rate_of(kinds, chances, of_clusters=of_clusters), {}
    for sample in product(range(len(kinds)), repeat=units):
        drawn = law_of_draws([kinds[one] for one in sample], limit, of_clusters=of_clusters)
        for count, chance in drawn.items():
            law[count] = law.get(count, 0) + chance * np.prod(np.array(chances)[list(sample)])
    assert sum(law.values()) == pytest.approx(1)
    return sum(chance * mean_evidence(count, value) for count, chance in law.items())


@pytest.mark.parametrize("of_clusters", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_over_all_samples_of_units_the_evidence_has_a_mean_of_at_most_one(seed, of_clusters):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        kinds = [rng.integers(0, 4, rng.integers(1, 4)) for _ in range(3)]
        chances = rng.dirichlet(np.ones(3))
        mean = mean_over_samples(kinds, chances, 3, 3, of_clusters=of_clusters)
        assert mean <= 1 + ROUNDING


def test_the_enumeration_notices_rows_that_are_taken_for_people():
    """Copies of one person, all of them bet on: the same mean exceeds 1."""
    kinds = [np.full(4, one) for one in range(4)]
    mean = 0.0
    for sample in product(range(4), repeat=2):
        count = np.bincount(np.concatenate([kinds[one] for one in sample]), minlength=4)
        mean += mean_evidence(count, 0.0) / 16
    assert mean > 1.05


def test_members_are_drawn_in_proportion_to_their_weight():
    rng = np.random.default_rng(1)
    members = [rng.integers(0, 4, size) for size in (1, 5, 2, 4, 3)]
    units = build_units(members, 6.0, of_clusters=False)
    draws = UnitMembers(units, 4)
    drawn = np.sum([draws.draw(rng) for _ in range(4000)], axis=0)
    expected = 4000 * np.bincount(np.concatenate(members), minlength=4) / 6
    variance = expected * (1 - 1 / 6)
    assert (np.abs(drawn - expected) < 4 * np.sqrt(variance)).all()


def all_deals(block, group, losses, unit):
    """Return sums by cell if units of the same blocks are exchanged, and losses inside them."""
    rows = [np.flatnonzero(unit == one) for one in np.unique(unit)]
    tables = []
    for order in permutations(range(len(rows))):
        pairs = [(rows[to], rows[came]) for to, came in enumerate(order)]
        if any(sorted(block[to]) != sorted(block[came]) for to, came in pairs):
            continue
        inside = [
            [came for came in permutations(came.tolist()) if (block[list(came)] == block[to]).all()]
            for to, came in pairs
        ]
        for chosen in product(*inside):
            sums = np.zeros((2, 2))
            for (to, _), came in zip(pairs, chosen, strict=True):
                np.add.at(sums, (block[to], group[to]), losses[list(came)])
            tables.append(tuple(sums.ravel()))
    return tables


def test_deals_are_all_exchanges_of_whole_units():
    block = np.array([0, 0, 0, 0, 1, 0, 1, 1, 0])
    group = np.array([0, 1, 1, 1, 0, 0, 1, 0, 1])
    losses = np.array([0.0, 1, 1, 0, 1, 0, 0, 1, 1])
    unit = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])  # two of blocks 00, two of 01, one alone
    block[7] = 0
    tables = all_deals(block, group, losses, unit)
    table = rate_table(block, group, losses)
    entry = [int(np.flatnonzero((table.cell == b * 2 + g) & (table.value == one))[0])
             for b, g, one in zip(block, group, losses, strict=True)]  # fmt: skip
    units = build_units([np.array(entry)[unit == one] for one in range(5)], 2, of_clusters=False)
    drawn = UnitDeck(table, units).deal(4000, np.random.default_rng(1)).reshape(4000, -1)
    distinct, expected = np.unique(np.array(tables), axis=0, return_counts=True)
    seen = np.array([(drawn == one).all(axis=1).sum() for one in distinct])
    assert seen.sum() == 4000
    assert chisquare(seen, 4000 * expected / len(tables)).pvalue > 1e-4


def test_units_of_one_person_are_people():
    rng = np.random.default_rng(2)
    block, group, losses = rng.integers(0, 3, 60), rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    table = rate_table(block, group, losses)
    units = Units.of_people(table.count)
    decks = UnitDeck(table, units), ShuffledDeck(table)
    first, second = (deck.deal(4000, np.random.default_rng(3)) for deck in decks)
    assert first.mean(axis=0) == pytest.approx(second.mean(axis=0), abs=0.2)
    assert first.var(axis=0) == pytest.approx(second.var(axis=0), rel=0.15)
    assert first.sum(axis=2) == pytest.approx(np.broadcast_to(table.losses.sum(axis=1), (4000, 3)))


def test_the_permutation_test_of_units_does_not_take_copies_for_people():
    rng = np.random.default_rng(4)
    by_rows = by_units = 0
    for _ in range(40):
        losses, group = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
        table = rate_table(np.zeros(600), np.repeat(group, 20), np.repeat(losses, 20))
        entry = np.searchsorted(table.cell * 2 + table.value, np.repeat(group * 2 + losses, 20))
        units = build_units(entry.reshape(30, 20), 20, of_clusters=False)
        by_rows += permutation_pvalue(table, 199, rng) <= 0.05
        by_units += permutation_pvalue(table, 199, rng, units) <= 0.05
    assert by_units <= 7
    assert by_rows > 15


def test_a_law_of_units_needs_a_limit_and_is_about_a_population():
    block, group, losses = np.zeros(4), np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1])
    units = build_units([np.array([0, 1]), np.array([2, 3])], None, of_clusters=False)
    with pytest.raises(InputError, match="`units` must have a largest weight that is declared"):
        rate_law(block, group, losses, units=units)
    law = rate_law(block, group, losses, units=build_units(
        [np.array([0, 1]), np.array([2, 3])], 2, of_clusters=False), rng=0)  # fmt: skip
    assert law.plug_in == rate_law(block, group, losses).plug_in
    assert law.wealths.people.max() <= 2
    for method in (law.lower_bound_here, law.certificate):
        with pytest.raises(InputError, match="is for independent people, got units of 'people'"):
            method()
