"""Orders from counts and from people have one law."""

import numpy as np
import pytest
from scipy.stats import chisquare, hypergeom, ks_2samp

from fairtransport.inference import rate_table
from fairtransport.inference.rates import betting as orders
from fairtransport.inference.rates.betting import CountedUrns, ShuffledUrns, run_orders

SURPRISE = 1e-4
TABLE = rate_table([0, 0, 0, 0], [0, 0, 1, 1], [0.0, 1.0, 0.0, 1.0], counts=[5, 4, 3, 6])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ShuffledUrns, CountedUrns])
def test_unsealing_draws_without_replacement(kind):
    rng = np.random.default_rng(1)
    cells, people = np.array([0, 1, 0]), np.array([4, 2, 3])
    drawn = np.array([
        kind(TABLE, TABLE.count, rng).draw_sums(cells, people) for _ in range(3000)
    ])  # fmt: skip
    for column, (bad, many, take) in enumerate([(4, 9, 4), (6, 9, 2), (4, 9, 3)]):
        law = hypergeom(many, bad, take).pmf(np.arange(take + 1))
        seen = np.bincount(drawn[:, column].astype(int), minlength=take + 1)
        possible = law > 0
        assert (seen[~possible] == 0).all()
        assert chisquare(seen[possible], 3000 * law[possible]).pvalue > SURPRISE
    # the two draws from one urn are dependent as they should be
    both = np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]
    assert both == pytest.approx(-np.sqrt(4 * 3 / (5 * 6)), abs=0.06)


@pytest.mark.parametrize("kind", [ShuffledUrns, CountedUrns])
def test_in_the_end_everything_is_unsealed(kind):
    rng = np.random.default_rng(2)
    losses = rng.choice([0.0, 0.25, 1.0], 200)
    table = rate_table(rng.integers(0, 5, 200), rng.integers(0, 3, 200), losses)
    urns = kind(table, table.count, rng)
    cells = np.arange(table.cells)
    first = table.people.ravel() // 3
    sums = urns.draw_sums(cells, first) + urns.draw_sums(cells, table.people.ravel() - first)

    assert sums == pytest.approx(table.losses.ravel())


def test_wealth_has_one_law_from_counts_and_from_people(monkeypatch):
    rng = np.random.default_rng(3)
    block, group = rng.integers(0, 6, 400), rng.integers(0, 2, 400)
    losses = np.round(rng.beta(1, 2, 400) + 0.2 * group, 1).clip(0, 1)
    table = rate_table(block, group, losses)
    people = run_orders(table, 600, 0.05, np.random.default_rng(4))
    monkeypatch.setattr(orders, "MAX_SHUFFLED", 0)
    counts = run_orders(table, 600, 0.05, np.random.default_rng(5))

    for ours, theirs in zip(people, counts, strict=True):
        assert ks_2samp(ours, theirs).pvalue > SURPRISE
