"""The audit beside audits with sensitive features shuffled within profiles."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft

RNG = np.random.default_rng(11)
SIZE = 3000
PEOPLE = pd.DataFrame({
    "sex": RNG.choice(["f", "m"], SIZE), "age": RNG.integers(0, 8, SIZE),
    "good": RNG.integers(0, 2, SIZE),
})  # fmt: skip
NOISE = RNG.random(SIZE) < 0.3


def audited(guess):
    return ft.audit(
        PEOPLE.assign(guess=guess.astype(int)), "good", y_pred="guess", sensitive_features="sex",
        features=["sex", "age"], rng=0,
    )  # fmt: skip


def test_predictions_without_a_system_are_like_their_placebo():
    found = audited(PEOPLE["good"] ^ NOISE).placebo(draws=40)

    # in a block of twins all of it is disagreement, which a shuffle leaves as it is
    assert np.allclose(found.statistics, found.statistic)
    assert found.one_ways.min() <= found.one_way <= found.one_ways.max()
    assert found.shuffled == 1


def test_predictions_that_follow_the_sensitive_feature_stand_out():
    biased = (PEOPLE["sex"] == "m") & (RNG.random(SIZE) < 0.4)
    found = audited(PEOPLE["good"] ^ biased).placebo(draws=40)

    assert found.one_way > found.one_ways.max()
    assert found.attributable > found.attributables.max()


def test_answers_of_a_model_are_handed_round_among_twins():
    def model(points):
        return ((points["age"] % 2 == 0) & (points["sex"] == "m")).astype(int)

    result = ft.audit(
        PEOPLE, "good", model=model, sensitive_features="sex", features=["sex", "age"], rng=0
    )
    found = result.placebo(draws=30, rng=4)
    even = (PEOPLE["age"] % 2 == 0).mean()

    # half of the people whose twins differ are on the better side, whoever that is
    assert np.mean(found.statistics) == pytest.approx(even / 2, abs=0.03)
    assert np.ptp(found.statistics) > 0
    assert found.statistic == result.statistic


def test_it_is_reproducible_and_can_be_read():
    result = audited(PEOPLE["good"] ^ NOISE)
    first, again = result.placebo(draws=3), result.placebo(draws=3)

    assert (first.attributables == again.attributables).all()
    assert repr(first).startswith(
        "Placebo: 3 audits with sensitive features shuffled within profiles; 100 % of the people"
    )
    assert "attributable part: " in repr(first)
    with pytest.raises(ft.InputError, match="`draws` must be a whole number >= 1"):
        result.placebo(draws=0)
