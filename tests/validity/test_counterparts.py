"""Audits with counterparts accuse no innocent model, and bounds stay below the truth."""

import pytest
from scipy.stats import binom

from tests.validity.counterparts import WORLDS, measure_gate_level, simulate

SAMPLES = 25
NAMES = (
    "independent, linear model", "strong proxy that is not used", "explained by levels",
    "height (2.2 sd)", "zip code of 12 levels", "the same, given the other column",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_rarely_above_the_truth(name):
    world = next(one for one in WORLDS if one.name == name)
    figures = simulate(world, SAMPLES)
    level = 0.025 if world.innocent else 0.05
    assert figures.above_truth * SAMPLES <= binom.isf(1e-3, SAMPLES, level)
    if not world.innocent:
        assert figures.rejected["0.01"] > 0.7


@pytest.mark.slow
def test_the_gate_opens_as_rarely_as_it_says():
    samples = 1000
    assert measure_gate_level(samples) * samples <= binom.isf(1e-3, samples, 0.025)
