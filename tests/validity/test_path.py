"""The simulations' law is the one that `audit` makes, from what an auditor knows."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from fairtransport import audit
from fairtransport.similarity import MixedTabular, Precomputed
from tests.validity import cases
from tests.validity.simulation import audited


def audit_of(case, counts, delta):
    """Audit a sample of a population, with its points as the reference frame."""
    size = case.problem.size
    points = pd.DataFrame({"cell": np.arange(size), "group": "a"})
    everything = np.arange(size)
    people = points.loc[np.repeat(everything, counts)]
    return audit(
        people, model=lambda x: case.problem.losses[x["cell"].to_numpy()], targets=points,
        sensitive_features=["group"], features=["cell"], loss="outcome", levels={"group": ["a"]},
        loss_range=case.loss_range, budget=case.problem.budget, delta=delta, rng=3,
        similarity=Precomputed(case.problem.geometry.costs(everything, everything), points=points),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", [cases.exact_corner, cases.skewed_gains, cases.hundred_kinks])
@pytest.mark.parametrize("declared", [None, 0.9, 1.15])
def test_bounds_and_verdicts_of_an_audit_are_those_that_are_measured(make, declared):
    case = make()
    counts = np.random.default_rng(2).multinomial(150, case.frequencies)
    delta = None if declared is None else declared * case.truth
    result = audit_of(case, counts, delta)
    law = audited(
        case, counts, rng=3, most_gain=float(case.problem.losses.max())
    )  # fmt: skip

    assert result.target_scope == "reference"
    assert result.fixed_targets
    assert (result.lower_bound, result.upper_bound) == (law.lower_bound(), law.upper_bound())
    assert result.interval == law.interval()
    if delta is not None:
        # everybody is of one group here, which makes the verdict itself not applicable
        verdicts = {(True, False): "rejected", (False, True): "certified"}
        both = law.rejects(delta), law.certifies(delta)
        assert result.bounds_verdict == verdicts.get(both, "inconclusive")
        assert (result.bounds_verdict == "rejected") == (result.pvalue <= 0.05)
        assert (result.bounds_verdict == "certified") == (result.certificate_pvalue <= 0.05)


def test_delta_does_not_move_the_bounds_and_the_verdict_is_read_off_them():
    case, verdicts = cases.exact_corner(), set()
    counts = np.random.default_rng(4).multinomial(300, case.frequencies)
    plain = audit_of(case, counts, None)
    ends = plain.lower_bound, plain.upper_bound
    near = [np.nextafter(end, to) for end in ends for to in (0, 1)]
    for delta in (0.01, 0.9 * case.truth, case.truth, 1.1 * case.truth, *ends, *near):
        result = audit_of(case, counts, float(delta))
        assert (result.lower_bound, result.upper_bound) == ends
        assert result.interval == plain.interval
        expected = "inconclusive"
        if result.lower_bound > delta:
            expected = "rejected"
        elif result.upper_bound <= delta:
            expected = "certified"
        assert result.bounds_verdict == expected
        assert (expected == "rejected") == (result.pvalue <= 0.05)
        assert (expected == "certified") == (result.certificate_pvalue <= 0.05)
        verdicts.add(expected)
    assert verdicts == {"rejected", "certified", "inconclusive"}


def scored_people():
    """People of two groups with scores that depend on the group, near each other in one number."""
    rng = np.random.default_rng(8)
    people = pd.DataFrame(
        {"group": rng.choice(["a", "b"], 3000), "x": rng.integers(0, 5, 3000) / 2,
         "good": rng.integers(0, 2, 3000)}
    )  # fmt: skip
    people["score"] = 0.2 + 0.2 * people["x"] - 0.15 * (people["group"] == "a")
    return people


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.02, 0.3])
def test_verdicts_of_audits_err_in_at_most_their_level_of_samples(budget):
    """δ = ψ, of which rejecting is wrong, and δ just below ψ, of which certifying is."""
    everyone, many = scored_people(), 120
    asked = dict(
        y_score="score", sensitive_features="group", features=["group", "x"], targets=everyone,
        similarity=MixedTabular({"x": 1.0}), loss="brier", budget=budget,
    )  # fmt: skip
    truth = audit(everyone, "good", **asked).statistic
    wrong = {"rejected": 0, "certified": 0}
    for seed in range(many):
        sample = everyone.iloc[np.random.default_rng([9, seed]).integers(0, len(everyone), 100)]
        for verdict, delta in (("rejected", truth), ("certified", truth * (1 - 1e-9))):
            result = audit(sample, "good", **asked, delta=delta, rng=seed)
            assert result.fixed_targets
            assert result.verdict != "not-applicable"
            wrong[verdict] += result.verdict == verdict
    assert max(wrong.values()) <= binom.ppf(0.999, many, 0.05)
    # δ far from ψ is settled: the audits have something to say
    settled = [audit(sample, "good", **asked, delta=at, rng=0).verdict for at in (0.01, 0.6)]
    assert settled == ["rejected", "certified"]


def test_a_reference_frame_tells_the_largest_gain():
    """Its losses were all asked about: nobody can be moved to a larger one."""
    case = cases.three_cells()
    counts = np.random.default_rng(2).multinomial(300, case.frequencies)
    result = audit_of(case, counts, None)
    assert result.law.most_gain == pytest.approx(0.7)
    assert result.upper_bound < audited(case, counts, rng=3).upper_bound()
