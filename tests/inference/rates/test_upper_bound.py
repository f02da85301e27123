"""The upper bound for two groups."""

import numpy as np
import pytest
from tests.inference.rates.scripted import ScriptedUrns, all_losses

from fairtransport.inference import rate_law, rate_table
from fairtransport.inference.rates import betting as orders
from fairtransport.inference.rates import law as upper_bound


@pytest.mark.parametrize("seed", range(6))
def test_the_mean_wealth_is_at_most_what_the_proof_says(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    design = np.array([[2, 3], [2, 2]]) if seed % 2 else np.array([[5, 4]])
    means = rng.choice([0.0, 0.2, 0.5, 1.0], design.shape)
    cells = np.arange(design.size)
    table = rate_table(
        np.repeat(cells // 2, design.ravel()), np.repeat(cells % 2, design.ravel()),
        np.zeros(design.sum()),
    )  # fmt: skip
    parts = upper_bound.choose_parts(design, 0.05)
    blocks = np.arange(len(design))
    total = 0.0
    for fared, chance in all_losses(design, means):
        monkeypatch.setattr(orders, "fill_urns", lambda *_, fared=fared: ScriptedUrns(fared))
        total += chance * np.exp(upper_bound._log_wealth(table, blocks, parts, rng))
    squares = (design.max(axis=1) * (means[:, 0] - means[:, 1]) ** 2).sum()

    assert total <= np.exp(-parts.stake * squares) * (1 + 1e-12)
    assert parts.stake * parts.weight.max() <= 0.6


def test_it_says_for_whom_it_holds():
    block = np.r_[np.zeros(6), np.ones(3), np.full(4, 2)]
    group = np.r_[0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = rate_law(block, group, np.zeros(13), rng=0).certificate()
    assert (found.people, found.blocks, found.share) == (6, 1, 6 / 13)
    assert found.upper_bound == 0.5  # the better-treated group cannot be larger than that


def test_there_is_none_for_three_groups_nor_without_two_people_of_each():
    assert rate_law(np.zeros(9), np.arange(9) % 3, np.zeros(9)).certificate() is None
    assert rate_law([0, 0, 0], [0, 1, 1], [0, 1, 1]).certificate() is None


def test_it_narrows_as_people_are_added():
    bounds = []
    for many in (10**3, 10**5, 10**7):
        counts = np.array([1, 1, 1, 1]) * many
        law = rate_law([0] * 4, [0, 0, 1, 1], [0, 1, 0, 1], counts=counts, orders=4, rng=0)
        bounds.append(law.certificate().upper_bound)
    assert bounds[0] > 3 * bounds[1]
    assert max(bounds[1:]) < 0.01  # no narrower, as only so many parts are made
