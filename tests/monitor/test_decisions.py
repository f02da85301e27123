"""Decisions of a stream: those of an audit of the same people, with intervals for every look."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import fairtransport as ft
from fairtransport.inference.sequential import anytime_share_interval

LEVELS = {"sex": ["f", "m"], "race": ["a", "b", "c"]}
RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame(
    {
        "sex": RNG.choice(LEVELS["sex"], 300),
        "race": RNG.choice(LEVELS["race"], 300),
        "grade": RNG.integers(0, 6, 300),
        "good": RNG.integers(0, 2, 300),
    }
)


def decide(asked):
    easy = (asked["sex"] == "m").astype(int) + (asked["race"] == "a")
    return (asked["grade"] + easy > 3).astype(int)


def build(**settings):
    options = {"y": "good", "model": decide, "sensitive_features": ["sex", "race"],
               "levels": LEVELS, "delta": 0.3, "favourable": 1} | settings  # fmt: skip
    return ft.Monitor(**options)


def counts(decisions):
    """All of the block but intervals."""
    shares = [getattr(decisions, name).people for name in ("changed", "worse_off", "better_off")]
    changes = [(one.decision, one.alternative, one.count.people) for one in decisions.changes]
    return (shares, changes, decisions.by_feature, decisions.only_together, decisions.by_label,
            decisions.alternatives, round(decisions.random_share, 12))  # fmt: skip


def test_they_are_those_of_an_audit_of_the_same_people():
    monitor = build()
    for start in range(0, 300, 50):
        monitor.update(PEOPLE[start : start + 50])
    queried = monitor.queried
    audit = ft.audit(PEOPLE, "good", model=decide, sensitive_features=["sex", "race"],
                     levels=LEVELS, favourable=1, rng=0).decisions  # fmt: skip
    stream = monitor.decisions

    assert counts(stream) == counts(audit)
    assert {tuple(sorted(case.profile.items())) for case in stream.cases} == {
        tuple(sorted(case.profile.items())) for case in audit.cases
    }
    assert stream.changed.lower < audit.changed.lower < audit.changed.upper < stream.changed.upper
    assert monitor.queried == queried


def test_a_saved_monitor_has_the_same_ones(tmp_path):
    monitor = build()
    monitor.update(PEOPLE[:40])
    monitor.save(tmp_path / "state.json")
    again = ft.Monitor.resume(tmp_path / "state.json", model=decide)

    assert again.decisions == monitor.decisions


@pytest.mark.parametrize(
    ("settings", "records"),
    [
        ({}, 0),
        ({"y_pred": "guess", "model": None, "levels": None}, 20),
        ({"features": ["grade"], "model": lambda asked: (asked["grade"] > 2).astype(int)}, 20),
    ],
    ids=["no record", "predictions", "blind"],
)
def test_where_nothing_is_known_there_are_none(settings, records):
    monitor = build(**settings)
    if records:
        monitor.update(PEOPLE[:records].assign(guess=1))

    assert monitor.decisions is None


def test_an_order_must_hold_every_label():
    monitor = build(favourable=["no", "yes"], model=lambda asked: ["maybe"] * len(asked),
                    y=None, loss="outcome", pos_label="maybe", labels=None)  # fmt: skip
    monitor.update(PEOPLE[:5].drop(columns="good"))

    with pytest.raises(ft.errors.InputError, match="`favourable` must hold every label, but lacks"):
        _ = monitor.decisions


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.97])
def test_intervals_miss_the_share_at_some_look_in_at_most_alpha_of_streams(share):
    """The chance over all streams of up to 120 records, summed exactly over their counts."""
    alpha, alive = 0.1, {0: 1.0}
    missed = 0.0
    for n in range(1, 121):
        following = {}
        for successes, chance in alive.items():
            for more, part in ((1, share), (0, 1 - share)):
                following[successes + more] = following.get(successes + more, 0.0) + chance * part
        alive = {}
        for successes, chance in following.items():
            lower, upper = anytime_share_interval(successes, n, alpha)
            if lower <= share <= upper:
                alive[successes] = chance
            else:
                missed += chance
    assert 0 < missed <= alpha


def test_intervals_are_wider_than_those_for_one_look_but_not_by_much():
    for n in (50, 1000):
        lower, upper = anytime_share_interval(n // 5, n, 0.05)
        assert lower < binom.ppf(0.025, n, 0.2) / n
        assert upper > binom.ppf(0.975, n, 0.2) / n
        assert upper - lower < 2.1 * 2 * 1.96 * np.sqrt(0.16 / n)
    assert anytime_share_interval(0, 0, 0.05) == (0.0, 1.0)
    assert anytime_share_interval(0, 10, 0.05)[0] == 0.0
    assert anytime_share_interval(10, 10, 0.05)[1] == 1.0
