"""A law at a stopping time says what the e-processes behind it say."""

import numpy as np
import pytest

from fairtransport.inference.anytime.eprocess import FreeMoves, verdict_bets
from fairtransport.inference.anytime.stopped import StoppedLaw, log_wealth_path

GAINS = (np.random.default_rng(2).random(400) < 0.2).astype(float)


def law(gains, delta):
    return StoppedLaw("anytime", gains.mean(), len(gains), (), gains, 1.0, delta)


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.2, 0.35, 0.6])
@pytest.mark.parametrize("n", [10, 100, 400])
def test_it_agrees_with_the_bets_of_the_monitor(delta, n):
    gains = GAINS[:n]
    monitor, verdicts, found = (
        FreeMoves(delta, 0.05, 1.0, fixed_targets=True), verdict_bets(delta, 0.05, 1.0),
        law(gains, delta),
    )  # fmt: skip
    monitor.bets.take(gains)
    verdicts.take(gains)

    assert verdicts.crossed.tolist() == [monitor.rejected_at, monitor.certified_at]
    assert found.rejects(delta) == (monitor.rejected_at > 0)
    assert found.certifies(delta) == (monitor.certified_at > 0)
    assert found.evalue(delta) == pytest.approx(np.exp(monitor.log_e_value))
    lower, upper = found.interval(0.05)
    assert lower == max(monitor.lower, delta if found.rejects(delta, 0.025) else 0)
    assert upper == min(monitor.upper, delta if found.certifies(delta, 0.025) else 1)


def test_a_bound_beyond_delta_is_a_rejection():
    found = law(GAINS, 0.1)
    for delta in np.linspace(0.01, 0.9, 40):
        assert not found.lower_bound() > delta or found.pvalue(delta) <= 0.05
        assert not found.upper_bound() < delta or found.pvalue(delta, "less") <= 0.05


def test_what_was_rejected_on_the_way_stays_rejected():
    gains = np.r_[np.ones(40), np.zeros(2000)]
    found = law(gains, 0.3)

    assert found.pvalue(0.3) <= 0.05
    assert log_wealth_path(gains, 0.3, 1.0, 1.0)[-1] < 0
    assert found.evalue(0.3) < 1


def test_limits_that_cannot_be_passed():
    found = law(GAINS, 0.1)
    assert found.pvalue(1.0) == 1.0
    assert found.pvalue(0.0, "less") == 1.0
    assert found.pvalue(2.0, "less") == 0.0
    assert found.pvalue(1.0, "less") == 1.0
