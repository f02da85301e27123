"""Sample sizes: against binomial sums, against other software, and by seeded simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest
from tests.validity.cases import near_corner, rare_bias, skewed_gains, three_cells, twins

from fairtransport import AuditProblem, Geometry
from fairtransport.errors import InputError
from fairtransport.inference import Pilot, sample_size, sampling_law
from fairtransport.inference import power as simulated
from fairtransport.inference.power import BinomialTest, Simulation


def scipy_power(n, share, delta, alpha, goal):
    """Return the exact power by scipy.stats, and by summing over all outcomes when n is small."""
    if goal == "reject":
        critical = stats.binom.isf(alpha, n, delta) + 1
        critical = np.where(stats.binom.sf(critical - 1, n, delta) < alpha, critical, critical + 1)
        return stats.binom.sf(critical - 1, n, share)
    critical = stats.binom.ppf(alpha, n, delta)
    critical = np.where(stats.binom.cdf(critical, n, delta) <= alpha, critical, critical - 1)
    return stats.binom.cdf(critical, n, share)


def from_then_on(power, wanted):
    """Return the first n = 1, 2, … from which on the power stays."""
    return int(np.flatnonzero(np.r_[0.0, power] < wanted)[-1]) + 1


@pytest.mark.parametrize("goal", ["reject", "certify"])
@pytest.mark.parametrize("n", [1, 7, 40, 95])
def test_exact_power_is_the_sum_over_samples_whose_binomtest_bound_passes(goal, n):
    share, delta = (0.2, 0.08) if goal == "reject" else (0.03, 0.08)
    expected = 0.0
    for k in range(n + 1):
        if goal == "reject":
            bound = binomtest(k, n, alternative="greater").proportion_ci(0.95).low
            passes = bound > delta
        else:
            passes = binomtest(k, n, alternative="less").proportion_ci(0.95).high <= delta
        expected += passes * stats.binom.pmf(k, n, share)

    power = BinomialTest(share, delta, 0.05, goal == "certify").power(np.array([n]))

    assert power[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(40))
def test_the_answer_is_the_smallest_size_from_which_on_the_power_stays(seed):
    rng = np.random.default_rng(seed)
    share, delta = rng.uniform(0, 1, 2) ** rng.choice([1, 3])
    alpha, wanted = rng.choice([0.01, 0.05, 0.2]), rng.choice([0.3, 0.8, 0.95])
    if abs(share - delta) < 0.04 * math.sqrt(max(share, delta)):
        share = min(1.0, delta + 0.1)
    goal = "reject" if share > delta else "certify"

    plan = sample_size(value=share, delta=delta, alpha=alpha, power=wanted, goal=goal)

    power = scipy_power(np.arange(1, 4 * plan.n + 200), share, delta, alpha, goal)
    assert plan.n == from_then_on(power, wanted)
    assert plan.achieved == pytest.approx(power[plan.n - 1], abs=1e-9)
    assert plan.achieved >= wanted


def test_a_size_that_reaches_the_power_only_on_a_tooth_is_passed_over():
    plan = sample_size(value=0.06, delta=0.0365)
    below = np.arange(1, plan.n)

    lucky = scipy_power(below, 0.06, 0.0365, 0.05, "reject") >= 0.8

    assert lucky.any()
    assert not lucky[-1]


@pytest.mark.parametrize(
    ("share", "delta", "goal"), [(0.5004, 0.5, "reject"), (0.05, 0.0503, "certify")]
)
def test_millions_of_cases_are_searched_exactly(share, delta, goal):
    plan = sample_size(value=share, delta=delta, goal=goal)
    around = np.arange(plan.n - 3000, plan.n + 30_000)

    power = scipy_power(around, share, delta, 0.05, goal)

    normal = (2.4865 * math.sqrt(share * (1 - share)) / (share - delta)) ** 2
    assert plan.n == pytest.approx(normal, rel=0.01)
    assert power[2999] < 0.8
    assert (power[3000:] >= 0.8).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_certifying_without_an_affected_person_is_the_rule_of_three(alpha):
    plan = sample_size(value=0.0, delta=0.01, alpha=alpha, goal="certify")

    assert plan.n == math.ceil(math.log(alpha) / math.log(0.99))
    assert plan.achieved == 1
    assert f"With fewer than {plan.n} cases, no audit can certify" in plan.notes[0]
    assert "hardly any affected person" in plan.notes[0]


def test_without_tolerance_one_affected_person_is_enough():
    plan = sample_size(value=0.01, delta=0.0)

    assert plan.n == math.ceil(math.log(0.2) / math.log(0.99))
    assert sample_size(value=1.0, delta=0.0).n == 1


def test_a_tiny_threshold_needs_no_second_tooth():
    assert sample_size(value=0.04, delta=1e-11).n == math.ceil(math.log(0.2) / math.log(0.96))


def test_the_curve_is_exact_and_holds_the_answer():
    plan = sample_size(value=0.02, delta=0.05, goal="certify")
    at = int(np.flatnonzero(plan.curve.n == plan.n)[0])

    assert plan.curve.power == pytest.approx(
        scipy_power(plan.curve.n, 0.02, 0.05, 0.05, "certify"), abs=1e-9
    )
    assert plan.curve.power[at] == plan.achieved
    assert not plan.curve.error.any()
    assert plan.words == (
        f"With {plan.n} people, an audit certifies δ-fairness for δ = 0.05 at level 0.05 with "
        f"a probability of {100 * plan.achieved:.1f} % if the true value is 0.02. Cases "
        "are independent people. If rows belong together, as those of a household, count "
        "households, not rows."
    )


# -- from a pilot


FIXED = dict(fixed_targets=True, loss_range=(0.0, 1.0))


def simulation(case, delta, *, certify=False, many=400, seed=0, most=1.0):
    pilot = Pilot(
        case.problem, case.frequencies, (0.0, most), fixed_targets=True,
        binary_losses=case.binary_losses,
    )  # fmt: skip
    return Simulation(
        pilot, "certify" if certify else "reject", delta, 0.05, "finite-sample", 200, many,
        np.random.default_rng(seed),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("case", "delta", "certify"),
    [(twins, 0.03, False), (twins, 0.09, True), (rare_bias, 0.02, True)],
)
def test_simulated_power_is_the_exact_one_without_a_budget(case, delta, certify):
    sizes = np.array([60, 200, 500])
    case = case()

    outcomes = simulation(case, delta, certify=certify).outcomes(sizes, 400)

    exact = BinomialTest(case.truth, delta, 0.05, certify).power(sizes)
    error = np.sqrt(exact * (1 - exact) / 400)
    assert (np.abs(outcomes.mean(axis=0) - exact) <= 4 * error + 1e-9).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_simulated_size_is_near_the_exact_one_without_a_budget(seed):
    case = twins()
    exact = sample_size(value=case.truth, delta=0.03)

    found = simulation(case, 0.03, seed=seed).sample_size(0.8)

    # the fit smooths teeth, of which one is 1/δ long
    assert found.error < 0.1 * exact.n
    assert abs(found.n - exact.n) <= 4 * found.error + 1 / 0.03


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_a_grid_that_misses_is_moved(factor, monkeypatch):
    case = twins()
    exact = sample_size(value=case.truth, delta=0.03)
    monkeypatch.setattr(Simulation, "_rough_centre", lambda self, target_power: factor * exact.n)

    found = simulation(case, 0.03).sample_size(0.8)

    assert abs(found.n - exact.n) <= 4 * found.error + 1 / 0.03


def test_a_search_that_never_ends_takes_the_best_so_far(monkeypatch):
    monkeypatch.setattr(simulated, "MAX_GRIDS", 1)
    monkeypatch.setattr(Simulation, "_rough_centre", lambda self, target_power: 10.0)

    found = simulation(twins(), 0.03, many=20).sample_size(0.8)

    assert found.n == 17
    assert math.isnan(found.error)


def test_a_pilot_whose_audit_is_clopper_pearsons_is_planned_exactly():
    case = twins()
    counts = np.rint(1e6 * case.frequencies)

    plan = sample_size(problem=case.problem, counts=counts, delta=0.03, binary_losses=True, **FIXED)

    value = case.problem.value(counts / counts.sum())
    assert plan.method == "clopper-pearson"
    assert plan.n == sample_size(value=value, delta=0.03).n


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "goal", "delta"), [("limit-law", "reject", 0.035), ("limit-law", "certify", 0.07)]
)
def test_near_a_corner_the_plan_has_the_power_that_enumeration_finds(method, goal, delta):
    case = near_corner()

    plan = sample_size(
        problem=case.problem, frequencies=case.frequencies, delta=delta, goal=goal,
        method=method, n_simulations=300, rng=3, **FIXED,
    )  # fmt: skip

    # samples are known by how many of the rare profile they hold
    power = 0.0
    for k in range(plan.n + 1):
        chance = stats.binom.pmf(k, plan.n, 0.05)
        if chance > 1e-12:
            law = sampling_law(case.problem, [plan.n - k, k, 0], method=method)
            reached = law.lower_bound() > delta if goal == "reject" else law.upper_bound() <= delta
            power += chance * reached
    assert plan.value == pytest.approx(0.05)
    assert abs(plan.achieved - power) <= 4 * plan.achieved_error
    assert abs(power - 0.8) <= 0.08
    assert "Monte-Carlo error" in plan.words


@pytest.mark.slow
def test_betting_near_a_corner_is_planned_too():
    case = near_corner()

    plan = sample_size(
        problem=case.problem, frequencies=case.frequencies, delta=0.01, n_simulations=20, rng=0,
        **FIXED,
    )  # fmt: skip

    assert plan.method == "finite-sample"
    assert 50 < plan.n < 500
    assert plan.achieved == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 20))


@pytest.mark.slow
def test_the_gains_of_a_pilot_are_no_limits_of_those_of_others():
    """The problem allows no value above δ, but an audit knows the range of the loss alone."""
    case = near_corner()
    call = dict(
        problem=case.problem, frequencies=case.frequencies, delta=0.066, goal="certify",
        fixed_targets=True,
    )  # fmt: skip

    with pytest.raises(InputError, match=r"`loss_range` must be given .* how large a loss can be"):
        sample_size(**call)
    plan = sample_size(**call, loss_range=(0, 1), n_simulations=10, rng=0)

    law = sampling_law(case.problem, [1, 0, 0], loss_range=(0, 1), rng=0)
    assert law.upper_bound() > 0.066
    assert plan.n > 100


def test_a_jump_of_the_power_is_found_to_the_case():
    """Nobody is affected: all samples of a size are equal, and the power goes from 0 to 1."""
    problem = AuditProblem([0.0, 0.5, 0.5], Geometry([0, 0, 1]))
    frequencies = np.array([0.0, 0.0, 1.0])
    case = replace(twins(), problem=problem, frequencies=frequencies, binary_losses=False)

    found = simulation(case, 0.02, certify=True, many=3, most=0.5).sample_size(0.8)

    def certifies(n):
        law = sampling_law(problem, [0, 0, n], rng=0, loss_range=(0, 0.5))
        return law.upper_bound() <= 0.02

    assert found.error == 0
    assert certifies(found.n)
    assert not certifies(found.n - 1)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan():
    case = twins()
    plans = [
        sample_size(
            problem=case.problem, frequencies=case.frequencies, delta=0.02, method="m-out-of-n",
            n_simulations=40, n_resamples=100, rng=5, **FIXED,
        )
        for _ in range(2)
    ]  # fmt: skip

    assert plans[0].n == plans[1].n
    assert plans[0].curve.power.tolist() == plans[1].curve.power.tolist()
    curve = plans[0].curve
    assert curve.power[curve.n == plans[0].n].tolist() == [plans[0].achieved]
    assert ((curve.low <= curve.power) & (curve.power <= curve.high)).all()


def test_a_check_that_fails_is_told(monkeypatch):
    case = twins()
    monkeypatch.setattr(Simulation, "sample_size", lambda *_: simulated.Crossing(50, 1.0))

    plan = sample_size(
        problem=case.problem, frequencies=case.frequencies, delta=0.03, method="limit-law",
        n_simulations=50, rng=0, **FIXED,
    )  # fmt: skip

    assert plan.achieved < 0.6
    assert "Plan for more" in plan.notes[0]


@pytest.mark.slow
def test_without_fixed_targets_an_audit_has_the_points_of_its_sample():
    """Two twins, one of whom the model errs on: a sample needs both."""
    problem = AuditProblem([0.0, 1.0], Geometry([0, 0]))

    plan = sample_size(
        problem=problem, frequencies=[0.99, 0.01], delta=0.1, fixed_targets=False,
        loss_range=(0, 1), rng=0,
    )  # fmt: skip

    # nobody is moved unless the rare one is there, with probability 1 − .99^n
    assert plan.n == pytest.approx(math.log(0.2) / math.log(0.99), rel=0.15)
    assert plan.n > 10 * sample_size(value=0.99, delta=0.1).n


PILOT = dict(FIXED, problem=near_corner().problem, frequencies=[0.95, 0.05, 0.0], delta=0.03)
NONE = "exactly one of `value`, `pilot` and `problem` must be given, got"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(delta=0.1), f"{NONE} none"),
        (dict(PILOT, value=0.1), f"{NONE} `value` and `problem`"),
        (dict(PILOT, pilot=3), f"{NONE} `pilot` and `problem`"),
        (dict(pilot=3, delta=0.1), "`pilot` must be the result of an audit, got 3"),
        (dict(value=0.1), "`delta` must be given, got None"),
        (dict(value=0.1, delta=0.05, counts=[1]), "must come with `problem`, got `value`"),
        (dict(PILOT, fixed_targets=None), "`fixed_targets` must say .*, got None"),
        (dict(PILOT, fixed_targets="twins"), "`fixed_targets` must say .*, got 'twins'"),
        (dict(PILOT, loss_range=3), r"`loss_range` must have shape \(2\), got \(\)"),
        (dict(PILOT, loss_range=(0.5, 1)), "`loss_range` must be finite and hold all losses"),
        (
            dict(PILOT, delta=0.1, goal="certify", fixed_targets=False),
            '`goal` must be "reject" where people are compared with people in the audit data',
        ),
        (dict(value=0.1, delta=0.05, goal="win"), "`goal` must be one of 'reject', 'certify'"),
        (dict(value=0.1, delta=0.05, power=1.0), "`power` must be .* 0 and below 1, got 1.0"),
        (dict(value=0.1, delta=0.05, alpha=0), "`alpha` must be .* above 0 and below 1.*, got 0"),
        (dict(value=0.1, delta=-0.05), "`delta` must be a number of at least 0, got -0.05"),
        (dict(value=0.1, delta=1.0, goal="certify"), "`delta` must be a number below 1, got 1"),
        (dict(value=1.1, delta=0.05), "`value` must be a share of people, at most 1, got 1.1"),
        (dict(value="p", delta=0.05), "`value` must be a number of at least 0, got 'p'"),
        (dict(value=0.1, delta=0.1), '`delta` must be below `value` 0.1 for the goal "reject"'),
        (dict(value=0.1, delta=0.1, goal="certify"), "`delta` must be above `value` 0.1 .*certify"),
        (dict(value=0.1, delta=0.1 - 1e-7), "more than 1,000,000,000 people would be needed"),
        (dict(PILOT, delta=0.05), "`delta` must be below the pilot's value 0.05 .*, got 0.05"),
        (dict(PILOT, goal="certify"), "`delta` must be above the pilot's value 0.05 .*, got 0.03"),
        (dict(PILOT, problem=3), "`problem` must be an AuditProblem, got 3"),
        (dict(PILOT, counts=[1, 1, 1]), "`frequencies` or `counts` must be .*, got both"),
        (dict(PILOT, frequencies=None), "`frequencies` or `counts` must be .*, got neither"),
        (dict(PILOT, frequencies=[0.5, 0.1, 0.1]), "`frequencies` must sum to 1, got 0.7"),
        (dict(PILOT, frequencies=[1, 0]), r"`frequencies` must have shape \(3\), got \(2,\)"),
        (dict(PILOT, frequencies=None, counts=[0, 0, 0]), "`counts` must have a positive sum"),
        (dict(PILOT, frequencies=[2, -1, 0]), "`frequencies` must be finite and >= 0, got -1"),
        (dict(PILOT, method="magic"), "`method` must be one of"),
        (dict(PILOT, n_simulations=0), "`n_simulations` must be a whole .* 1, got 0"),
        (dict(PILOT, n_resamples=1.5), "`n_resamples` must be a whole .* 1, got 1.5"),
        (
            dict(PILOT, delta=0.05 - 1e-6, method="limit-law", n_simulations=1),
            "farther from the pilot's value 0.05",
        ),
    ],
)
def test_bad_input_is_told(arguments, message):
    with pytest.raises(InputError, match=message):
        sample_size(**arguments)


# -- the pilot is a sample itself


def plan_of_pilot(case, counts, delta, **options):
    """Return the plan of a pilot with these counts."""
    chosen = {"binary_losses": case.binary_losses, "rng": 0, **FIXED, **options}
    return sample_size(problem=case.problem, counts=counts, delta=delta, **chosen)


@pytest.mark.parametrize(("goal", "delta"), [("reject", 0.03), ("certify", 0.1)])
def test_the_range_of_a_pilot_of_250_covers_the_power_that_its_plan_has(goal, delta):
    case, n = twins(), 250
    affected = case.problem.frontiers.net_gains(math.inf) > 0
    truth = BinomialTest(case.truth, delta, 0.05, goal == "certify")
    needed, powers, miss = truth.sample_size(0.8), [], 0.0
    for people in range(n + 1):
        share = people / n
        chance = stats.binom.pmf(people, n, case.truth)
        if chance < 1e-6 or not ((share > delta) if goal == "reject" else (share < delta)):
            continue
        spread = np.where(affected, case.frequencies * affected, 0.0)
        counts = people * spread / spread.sum() + (n - people) * np.where(
            affected, 0.0, case.frequencies
        ) / (1 - spread.sum())
        plan = plan_of_pilot(case, counts, delta, goal=goal)
        power = float(truth.power(np.array([plan.n]))[0])
        powers.append((chance, power))
        (low, high), (fewest, most) = plan.power_range, plan.n_range
        covers = low <= power <= high and fewest <= needed and (most is None or needed <= most)
        miss += 0.0 if covers else chance

    # the power that 80 % were promised of, in the middle nineteen of twenty pilots
    chances, true = np.array(sorted(powers, key=lambda one: one[1])).T
    share = np.cumsum(chances) / chances.sum()
    assert true[np.searchsorted(share, 0.025)] < 0.5
    assert true[np.searchsorted(share, 0.975)] > 0.95
    assert miss <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "part", "options"),
    [(skewed_gains, 0.6, {"method": "limit-law"}),
     (three_cells, 1.5, {"method": "limit-law", "goal": "certify"})],
)  # fmt: skip
def test_the_range_of_a_simulated_plan_covers_about_as_often_as_it_says(case, part, options):
    case, rng, pilots = case(), np.random.default_rng(1), 60
    delta, goal = part * case.truth, options.get("goal", "reject")
    truth = simulation(case, delta, certify=goal == "certify", many=300)
    truth.method = options["method"]
    sizes = np.unique(np.geomspace(10, 20_000, 30).astype(int))
    power = np.maximum.accumulate(truth.outcomes(sizes, 300).mean(axis=0))
    covered = []
    for seed in range(pilots):
        counts = rng.multinomial(250, case.frequencies)
        try:
            plan = plan_of_pilot(case, counts, delta, n_simulations=60, **options | {"rng": seed})
        except InputError:  # a pilot on the other side of δ has no plan
            continue
        low, high = plan.power_range
        # the error of both simulations
        covered.append(low - 0.06 <= np.interp(plan.n, sizes, power) <= high + 0.06)

    assert len(covered) > pilots / 2
    least = stats.binom.ppf(0.001, len(covered), 0.95)
    assert sum(covered) >= least


def test_what_a_pilot_leaves_open_is_in_the_words_and_only_there():
    case = twins()
    counts = np.rint(case.frequencies * 250)
    plan = plan_of_pilot(case, counts, 0.03)
    low, high = plan.value_range
    affected, people = round(plan.value * counts.sum()), int(counts.sum())
    interval = binomtest(affected, people).proportion_ci(0.95)

    assert (low, high) == pytest.approx((interval.low, interval.high))
    assert f"the true value is {low:.4g} to {high:.4g}. " in plan.words
    assert f"{plan.n:,} would be enough with a probability" in plan.words
    assert plan.n_range[0] <= plan.n <= plan.n_range[1]
    without = sample_size(value=plan.value, delta=0.03)
    assert (without.n, without.n_range, without.power_range) == (plan.n, None, None)
    assert "The pilot" not in without.words
    assert sample_size(problem=case.problem, frequencies=case.frequencies, delta=0.03,
                       binary_losses=True, **FIXED).n_range is None  # fmt: skip


def test_a_pilot_in_which_everybody_gains_the_same_tells_nothing_of_others():
    problem = AuditProblem([0.2, 0.6], np.zeros((2, 2)))
    pilot = Pilot(problem, np.array([1.0, 0.0]), (0.0, 1.0), fixed_targets=True, n=40)
    rng = np.random.default_rng(0)
    audits = Simulation(pilot, "reject", 0.1, 0.05, "finite-sample", 200, 40, rng)

    span = simulated.find_simulated_range(audits, 40, n=20, achieved=1.0, power=0.8)

    assert span.value[0] < 0.4 < span.value[1]
    assert (span.n, span.power) == ((1, None), (0.0, 1.0))
