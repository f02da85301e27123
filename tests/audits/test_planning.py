"""A plan from a pilot's result promises what audits of fresh samples then do."""

import math

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.inference import sample_size

COLUMNS = ["g", "x", "z"]
scores = ft.access.Function(
    lambda people: 0.5 + 0.08 * (people["g"] == "b") - 0.02 * people["x"], classes=[0, 1]
)


def population(seed=0, size=200):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], size, p=[0.6, 0.37, 0.03]),
            "x": rng.normal(size=size).round(1),
            "z": rng.integers(0, 3, size),
            "y": rng.integers(0, 2, size),
        }
    )
    wrong = (people["x"] < -0.2) & (people["g"] != "a")
    return people.assign(guess=people["y"].where(~wrong, 1 - people["y"]))


def labels(people):
    return (people["x"] + (people["g"] == "b") - 0.5 * (people["g"] == "c") > 0.3).astype(int)


def matrix_of(people, *, sparse):
    from scipy.sparse import csr_array

    points = people[COLUMNS].drop_duplicates()
    apart = np.abs(np.subtract.outer(points["x"].to_numpy(), points["x"].to_numpy()))
    if not sparse:
        return ft.similarity.Precomputed(apart, points)
    near = np.argwhere(apart < 0.4)
    costs = csr_array((apart[apart < 0.4], tuple(near.T)), shape=apart.shape)
    return ft.similarity.Precomputed(costs, points)


PEOPLE = population()
GIVEN = dict(y_pred="guess")
ASKED = dict(model=labels, features=COLUMNS)
SETTINGS = {
    "given": GIVEN,
    "given, stated distances": GIVEN
    | dict(similarity=ft.similarity.MixedTabular({"x": 1}, {"z": 0.3}), budget=0.05),
    "given, a matrix": GIVEN | dict(similarity=matrix_of(PEOPLE, sparse=False), budget=0.02),
    "given, a sparse matrix": GIVEN | dict(similarity=matrix_of(PEOPLE, sparse=True), budget=0.02),
    "given, a function": GIVEN
    | dict(
        similarity=ft.similarity.Custom(lambda a, b: (a["x"] - b["x"]) ** 2 + (a["z"] != b["z"])),
        budget=0.05,
    ),
    "given, a tolerance": GIVEN
    | dict(similarity=ft.similarity.IgnoreSensitive(tolerance={"x": 0.3})),
    "given, a reference": GIVEN | dict(targets=population(5)),
    "asked": ASKED,
    "asked, declared": ASKED | dict(levels={"g": ["a", "b", "c"]}),
    "asked, a tolerance": ASKED
    | dict(similarity=ft.similarity.IgnoreSensitive(tolerance={"x": 0.3})),
    "asked, a reference": ASKED
    | dict(similarity=ft.similarity.MixedTabular({"x": 1, "z": 1}), targets=population(5)[:50]),
}


def audited(people, **settings):
    columns = people if "y_pred" in settings else people.drop(columns="guess")
    return ft.audit(columns, "y", sensitive_features="g", rng=0, **settings)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_simulated_audit_sees_what_an_audit_of_its_sample_sees(name):
    settings = SETTINGS[name]
    pilot = audited(PEOPLE, **settings)
    known, place = pilot.as_pilot(), {}
    points = pilot.space.frame()[[*COLUMNS, "y", *pilot.space.predictions]]
    for at, point in enumerate(points.itertuples(index=False)):
        place[tuple(point)] = at
    for seed in range(3):
        rows = np.random.default_rng(seed).integers(0, len(PEOPLE), 15 * (seed + 1))
        sample = PEOPLE.iloc[rows]
        counts = np.zeros(known.problem.size, np.int64)
        for person in sample[list(points.columns)].itertuples(index=False):
            counts[place[tuple(person)]] += 1

        problem, people = known.audited(counts)
        anew = audited(sample, **settings)

        assert problem.value(people / people.sum()) == pytest.approx(anew.statistic, abs=1e-9)
        assert known.fixed_targets == anew.fixed_targets
        assert known.loss_range == anew.loss.range


def share_that_reach(verdict, n, many, **settings):
    rng = np.random.default_rng(77)
    samples = [PEOPLE.iloc[rng.integers(0, len(PEOPLE), n)] for _ in range(many)]
    return np.mean([audited(sample, **settings).verdict == verdict for sample in samples])


def assert_kept(plan, verdict, many, **settings):
    share = share_that_reach(verdict, plan.n, many, **settings)
    noise = math.sqrt(plan.achieved_error**2 + share * (1 - share) / many)
    assert abs(share - plan.achieved) <= 3.3 * noise


@pytest.mark.slow
def test_predictions_alone_are_planned_with_the_points_of_each_sample():
    settings = SETTINGS["given, a tolerance"] | dict(delta=0.02)
    pilot = audited(PEOPLE, **settings)

    plan = sample_size(pilot=pilot, n_simulations=150, rng=0)

    fixed = sample_size(value=pilot.statistic, delta=0.02)
    assert plan.n > 1.5 * fixed.n
    assert "only with people of its own sample" in plan.notes[0]
    assert_kept(plan, "rejected", 60, **settings)


@pytest.mark.slow
def test_a_budget_without_fixed_targets_is_planned_as_it_will_be_audited():
    settings = SETTINGS["given, stated distances"] | dict(delta=0.15)
    plan = sample_size(pilot=audited(PEOPLE, **settings), n_simulations=150, rng=0)

    assert_kept(plan, "rejected", 150, **settings)


@pytest.mark.slow
def test_a_certificate_is_planned_with_the_limits_that_the_audit_knows():
    """The pilot's largest gain is below δ; an audit knows only that losses lie in [0, 1]."""
    settings = dict(model=scores, features=COLUMNS, loss="brier", delta=0.15)
    pilot = audited(PEOPLE, **settings)
    assert pilot.problem.frontiers.base_gain.max() < 0.15

    plan = sample_size(pilot=pilot, goal="certify", n_simulations=100, rng=0)

    assert plan.n > 10
    assert_kept(plan, "certified", 100, **settings)


def test_a_level_that_small_samples_miss_is_missed_in_the_plan_too():
    """Everybody of the rare group c is harmed, and nobody else has a twin there if none is seen."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"g": rng.permutation(["c"] * 2 + ["a"] * 198), "x": 0, "z": 0, "y": 1})
    settings = dict(model=lambda x: (x["g"] != "c").astype(int), features=COLUMNS, delta=0.1)
    open_, declared = (
        ft.audit(people, "y", sensitive_features="g", rng=0, levels=levels, **settings)
        for levels in (None, {"g": ["a", "c"]})
    )

    exact = sample_size(pilot=declared, goal="reject")
    plan = sample_size(pilot=open_, goal="reject", n_simulations=200, rng=0)

    assert exact.n == sample_size(value=0.99, delta=0.1).n < 5
    # c is in a sample of n with probability 1 − .99^n
    assert plan.n == pytest.approx(math.log(0.2) / math.log(0.99), rel=0.15)


def test_what_the_pilot_knows_is_not_said_twice():
    pilot = audited(PEOPLE, **SETTINGS["asked, declared"], delta=0.05, alpha=0.01)

    plan = sample_size(pilot=pilot)

    assert (plan.delta, plan.alpha, plan.method) == (0.05, 0.01, "clopper-pearson")
    assert plan.n == sample_size(value=pilot.statistic, delta=0.05, alpha=0.01).n
    assert sample_size(pilot=pilot, delta=0.1, alpha=0.05).delta == 0.1
    by_law = sample_size(
        pilot=audited(PEOPLE, **ASKED, delta=0.05, method="limit-law"), n_simulations=20, rng=0
    )
    assert by_law.method == "limit-law"


@pytest.mark.parametrize(
    ("settings", "more", "message"),
    [
        (GIVEN, dict(goal="certify", delta=0.9), '`goal` must be "reject" where .* "certify"'),
        (GIVEN, {}, "`delta` must be given, got None"),
        (GIVEN, dict(delta=0.1, loss_range=(0, 1)), "`loss_range` must come with `problem`"),
        (GIVEN, dict(delta=0.1, fixed_targets=True), "`fixed_targets` must come with `problem`"),
        (
            dict(y_pred="guess", loss="absolute", method="limit-law"),
            dict(delta=0.02, method="finite-sample"),
            "`loss_range` must be given for the method 'finite-sample'",
        ),
    ],
)
def test_what_an_audit_cannot_do_is_not_planned(settings, more, message):
    with pytest.raises(ft.InputError, match=message):
        sample_size(pilot=audited(PEOPLE, **settings), **more)
