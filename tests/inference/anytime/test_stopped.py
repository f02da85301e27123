"""A law at a stopping time says what the e-processes behind it say."""

import numpy as np
import pytest

from fairtransport.inference.sequential import (
    FreeMoves,
    StoppedLaw,
    build_verdict_bets,
    log_wealth_path,
    threshold_grid,
)

GAINS = (np.random.default_rng(2).random(400) < 0.2).astype(float)


def law(gains):
    return StoppedLaw("anytime", gains.mean(), len(gains), (), gains, 1.0)


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.2, 0.35, 0.6])
@pytest.mark.parametrize("n", [10, 100, 400])
def test_it_agrees_with_the_bets_of_the_monitor(delta, n):
    gains = GAINS[:n]
    monitor, verdicts, found = (
        FreeMoves(delta, 0.05, 1.0, fixed_targets=True), build_verdict_bets(delta, 0.05, 1.0),
        law(gains),
    )  # fmt: skip
    monitor.bets.take(gains)
    verdicts.take(gains)

    assert verdicts.crossed.tolist() == [monitor.rejected_at, monitor.certified_at]
    assert found.rejects(delta) == (monitor.rejected_at > 0)
    assert found.certifies(delta) == (monitor.certified_at > 0)
    assert found.evalue(delta) == pytest.approx(np.exp(monitor.log_e_value))
    # the monitor's limits are on a grid: the next step of it lies beyond the bound
    lower, upper = found.interval(0.05)
    grid = np.r_[0.0, threshold_grid(1.0), 1.0]
    assert monitor.lower <= lower <= grid[grid > monitor.lower][0]
    assert grid[grid < monitor.upper][-1] <= upper <= monitor.upper


def test_a_bound_lies_beyond_delta_exactly_if_the_p_value_is_at_most_alpha():
    found = law(GAINS)
    lower, upper = found.lower_bound(), found.upper_bound()
    near = [np.nextafter(end, to) for end in (lower, upper) for to in (0, 1)]
    for delta in (*np.linspace(0.01, 0.9, 40), lower, upper, *near):
        assert (lower > delta) == found.rejects(delta) == (found.pvalue(delta) <= 0.05)
        assert (upper <= delta) == found.certifies(delta) == (found.pvalue(delta, "less") <= 0.05)


def test_nobody_who_gains_leaves_no_lower_bound():
    assert law(np.zeros(50)).lower_bound() == 0
    assert 0 < law(np.zeros(50)).upper_bound() < 0.2


def test_what_was_rejected_on_the_way_stays_rejected():
    gains = np.r_[np.ones(40), np.zeros(2000)]
    found = law(gains)

    assert found.pvalue(0.3) <= 0.05
    assert log_wealth_path(gains, 0.3, 1.0, 1.0)[-1] < 0
    assert found.evalue(0.3) < 1


def test_limits_that_cannot_be_passed():
    found = law(GAINS)
    assert found.pvalue(1.0) == 1.0
    assert found.pvalue(0.0, "less") == 1.0
    assert found.pvalue(2.0, "less") == 0.0
    assert found.pvalue(1.0, "less") == 1.0
