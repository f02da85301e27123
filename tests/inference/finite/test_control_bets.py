"""Bets on sensitive against control edits are fair games, as an audit plays them."""

from itertools import product

import numpy as np
import pytest
from tests.inference.finite.enumeration import as_orders
from tests.inference.finite.test_units import build_units

from fairtransport.audits.controls import EditShifts, build_shift_law
from fairtransport.inference.finite.bets import Rejection

ROUNDING = 1e-12
N, KINDS, SENSITIVE, CONTROL = 5, 3, 4, 2


def draw_means(rng, *, binary):
    """Return the mean shifts of three kinds of people, by the audit's own function."""
    shift = rng.random((KINDS, SENSITIVE + CONTROL))
    shift = (shift < 0.4).astype(float) if binary else shift
    source = np.repeat(np.arange(KINDS), SENSITIVE + CONTROL)
    is_control = np.tile(np.arange(SENSITIVE + CONTROL) >= SENSITIVE, KINDS)
    shifts = EditShifts(source, shift.ravel(), is_control)
    means = np.array([shifts.means(KINDS, control=kind) for kind in (False, True)])
    assert np.allclose(means[0], shift[:, :SENSITIVE].mean(axis=1))
    return means


def mean_wealths(means, weights, chances, level):
    """Return the mean wealth against the true difference, from both sides, over all samples."""
    share = chances * weights / (chances @ weights)
    delta = float(share @ (means[0] - means[1]))
    sequences = np.array(list(product(range(KINDS), repeat=N)))
    code = np.bitwise_or.reduce(1 << sequences, axis=1)
    everybody = build_units([[kind] for kind in range(KINDS)], weights, 4.0)
    totals = np.zeros(2)
    for own in np.unique(code):
        there = np.flatnonzero(own >> np.arange(KINDS) & 1)
        counts = np.zeros(KINDS, np.int64)
        counts[there] = 1
        counts[there[0]] += N - len(there)
        law = build_shift_law(means, counts, everybody.take(counts), 1.0, 0.05, 0)
        chosen = sequences[code == own]
        chance = chances[chosen].prod(axis=1)
        for side, (evidence, value) in enumerate(((law.forward, delta), (law.backward, -delta))):
            evidence.__dict__["orders"] = as_orders(np.searchsorted(there, chosen))
            rejection = Rejection(evidence)
            stakes = rejection._choose_stakes(rejection._build_plan(value, level), 0)
            logs = evidence.log_wealths(stakes, value, evidence.frontiers.base[None, :])[0]
            totals[side] += float(np.exp(logs) @ chance)
    return totals


@pytest.mark.parametrize("binary", [True, False])
def test_mean_wealth_of_controls_is_one_over_all_samples(binary):
    rng, played = np.random.default_rng(5), 0
    for _ in range(10):
        means = draw_means(rng, binary=binary)
        weights, chances = rng.choice([1.0, 2.0, 4.0], KINDS), rng.dirichlet(np.ones(KINDS))
        for level in (0.05, 0.3):
            totals = mean_wealths(means, weights, chances, level)
            assert totals.max() <= 1 + ROUNDING
            assert totals == pytest.approx([1, 1], abs=ROUNDING)
            played += 1
    assert played == 20
