import numpy as np
import pytest
import ville
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.conftest import problems
from tests.validity import cases

from fairtransport import AuditProblem, Geometry, InputError
from fairtransport._core.units import Units
from fairtransport.inference import sampling_law
from fairtransport.inference.clopper_pearson import (
    pvalue_share_at_least,
    pvalue_share_at_most,
    share_lower_bound,
    share_upper_bound,
)
from fairtransport.inference.finite import certificate_kernels as certificate_bets
from fairtransport.inference.finite import kernels as bets
from fairtransport.inference.finite import rejection_kernels as rejection_bets
from fairtransport.inference.finite.bets import Rejection
from fairtransport.inference.finite.least_wealth import least_log_wealth, log_mean
from fairtransport.inference.finite.sample import (
    Orders,
    build_single_block,
    draw_orders,
    observed_frontiers,
)
from fairtransport.inference.laws import reach_verdict
from fairtransport.reproduce.figures import Population

KERNELS = [
    (module, name)
    for module in (bets, rejection_bets, certificate_bets)
    for name, value in vars(module).items()
    if hasattr(value, "py_func")
]


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (7, 10), (10, 10), (84, 1584)])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.3])
def test_clopper_pearson_is_scipys(successes, n, alpha):
    more = stats.binomtest(successes, n, alternative="greater").proportion_ci(1 - alpha, "exact")
    less = stats.binomtest(successes, n, alternative="less").proportion_ci(1 - alpha, "exact")
    assert share_lower_bound(successes, n, alpha) == pytest.approx(more.low, abs=1e-12)
    assert share_upper_bound(successes, n, alpha) == pytest.approx(less.high, abs=1e-12)
    for share in (0.0, 0.03, 0.5, 1.0):
        greater = stats.binomtest(successes, n, share, alternative="greater").pvalue
        smaller = stats.binomtest(successes, n, share, alternative="less").pvalue
        assert pvalue_share_at_most(successes, n, share) == pytest.approx(greater, abs=1e-12)
        assert pvalue_share_at_least(successes, n, share) == pytest.approx(smaller, abs=1e-12)


def test_free_moves_with_zero_one_loss_are_clopper_pearson():
    case = cases.twins()
    counts = np.random.default_rng(0).multinomial(800, case.frequencies)
    law = sampling_law(case.problem, counts)
    moved = int(counts @ case.problem.frontiers.base_gain)
    assert law.lower_bound(0.05) == share_lower_bound(moved, 800, 0.05)
    assert law.upper_bound(0.05) == share_upper_bound(moved, 800, 0.05)
    assert law.interval(0.05).lower == share_lower_bound(moved, 800, 0.025)
    assert law.interval(0.05).upper == share_upper_bound(moved, 800, 0.025)
    exact = stats.binomtest(moved, 800, 0.03, alternative="greater").pvalue
    assert law.pvalue(0.03) == pytest.approx(exact)
    assert law.guarantee == "finite-sample"


def test_the_normal_quantile_is_scipys():
    for p in (1e-12, 1e-5, 0.02, 0.3, 0.5, 0.7, 0.99):
        assert bets._upper_quantile(p) == pytest.approx(stats.norm.isf(p), abs=1e-8)


def fractional():
    """Free moves with gains between 0 and 1: no prices, but bets all the same."""
    losses = np.array([0.0, 0.3, 0.2, 1.0, 0.0, 0.6])
    problem = AuditProblem(losses, Geometry(np.array([0, 0, 1, 1, 2, 2])))
    return Population("fractional", problem, np.array([0.3, 0.2, 0.1, 0.1, 0.2, 0.1]))


def test_fractional_gains_are_bet_on_directly():
    case = fractional()
    counts = np.random.default_rng(0).multinomial(2000, case.frequencies)
    law = sampling_law(case.problem, counts, rng=0)
    normal = sampling_law(case.problem, counts, method="plug-in")
    down, up = law.estimate - law.lower_bound(), law.upper_bound() - law.estimate
    assert 1 < down / (normal.estimate - normal.lower_bound()) < 1.35
    assert 1 < up / (normal.upper_bound() - normal.estimate) < 1.35
    assert law.pvalue(law.lower_bound() - 1e-3) <= 0.05 < law.pvalue(law.estimate)


@pytest.mark.parametrize("make", [cases.regular, cases.exact_corner, cases.heavy_ties, fractional])
def test_kernels_as_plain_python_equal_compiled_ones(make, monkeypatch):
    case = make()
    counts = np.random.default_rng(3).multinomial(30, case.frequencies)
    monkeypatch.setattr("fairtransport.inference.finite.sample.MAX_ORDERS", 2)
    monkeypatch.setattr("fairtransport.inference.finite.evidence.BLOCKS", ((100, 4),))

    def bounds():
        law = sampling_law(case.problem, counts, rng=5)
        return law.lower_bound(0.2), law.upper_bound(0.2)

    compiled = bounds()
    for module, name in KERNELS:
        monkeypatch.setattr(module, name, getattr(module, name).py_func)
    assert bounds() == pytest.approx(compiled, abs=1e-9)


# -- beside an independent implementation of betting


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_wealth_at_a_fixed_price_is_that_of_another_package(side):
    case = cases.regular()
    price = case.problem.solve(case.frequencies).price
    outcomes = case.problem.frontiers.net_gains(price) + case.problem.budget * price
    top = float(outcomes.max())
    rng = np.random.default_rng(2)
    cells = rng.choice(12, 400, p=case.frequencies)
    delta = 0.9 * case.truth if side > 0 else 1.05 * case.truth
    other = ville.BettingTest(
        delta, bounds=(0.0, top), alternative="greater" if side > 0 else "less"
    ).update(outcomes[cells])
    steps = np.diff(np.r_[0.0, other.log_e_values_])
    # their stakes, read off the growth of their wealth, on our books
    stakes = (np.expm1(steps) / (outcomes[cells] - delta))[None, :]
    assert (side * stakes >= 0).all()
    ours = np.empty((1, 1))
    start, before = np.arange(401)[None, :], np.arange(400.0)[None, :]
    records = Orders(start, cells, np.ones(400), before, 400)
    bets.fill_log_wealths(
        records, stakes, outcomes[None, :], np.full(len(records.cell), delta), ours
    )
    assert ours[0, 0] == pytest.approx(other.log_e_values_[-1], abs=1e-9)


@pytest.mark.slow
def test_bounds_at_known_n_are_narrower_than_a_confidence_sequence_and_agree_with_it():
    case = fractional()
    counts = np.random.default_rng(4).multinomial(1000, case.frequencies)
    law = sampling_law(case.problem, counts, rng=0)
    gains = np.repeat(case.problem.frontiers.base_gain, counts)
    sequence = ville.BettingCS(bounds=(0.0, law.most_gain), alpha=0.05, intersect=False)
    ends = []
    for seed in range(10):
        found = sequence.fit(np.random.default_rng(seed).permutation(gains))
        ends.append((found.lower_[-1], found.upper_[-1]))
    lower, upper = np.mean(ends, axis=0)
    ours = law.interval(0.05)
    assert lower < ours.lower < law.estimate < ours.upper < upper
    # theirs pays for being valid at all times
    assert 1.3 < (upper - lower) / (ours.upper - ours.lower) < 2.2


# -- the minimum over prices


@given(problems(decimals=3), st.floats(0.05, 0.9), st.integers(0, 10))
@settings(max_examples=100)
def test_the_least_wealth_is_that_of_a_fine_grid_from_below(case, share, seed):
    problem, f = case
    counts = np.rint(f * 40).astype(int)
    occupied = np.flatnonzero(counts)
    top_gain = problem.frontiers.net_gains(0.0).max()
    if problem.budget == 0 or not len(occupied) or top_gain == 0:
        return
    frontiers = observed_frontiers(problem, Units.of_people(counts))
    delta = share * top_gain
    stakes = np.random.default_rng(seed).uniform(0, 0.7 / delta, 5)

    def wealth(outcomes):
        factors = 1 + stakes[:, None] * (outcomes[:, None, :] - delta)
        # a tangent may lie so low that everything would be lost
        logs = np.log(np.maximum(factors, 1e-300))
        return np.where((factors <= 0).any(axis=2), -np.inf, logs @ counts[occupied])

    top = delta / problem.budget
    grid = np.r_[np.linspace(0, top, 400), frontiers.slope[frontiers.slope <= top]]
    brute = min(
        log_mean(wealth((frontiers.evaluate(price).gains + problem.budget * price)[None, :])[0])
        for price in grid
    )
    for target in (brute - 0.5, brute - 1e-3, brute + 1e-3, brute + 0.5):
        least = least_log_wealth(
            frontiers, problem.budget, (0.0, top), wealth, log_mean, target, []
        )
        if target <= brute - 1e-3:
            assert target - 1e-9 <= least.value <= brute + 1e-9
        else:
            assert least.value < target


# -- what a user sees


@given(
    problems(largest=5, decimals=2), st.sampled_from([0.05, 0.2]), st.integers(0, 3),
    st.floats(0.0, 1.1), st.booleans(), st.booleans(),
)  # fmt: skip
@settings(max_examples=60)
def test_bounds_p_values_and_verdicts_never_contradict_each_other(
    case, alpha, seed, share, known_space, fixed_targets
):
    problem, f = case
    counts = np.rint(f * 25).astype(int)
    if not counts.sum():
        return
    losses = None if known_space else (float(problem.losses.min()), float(problem.losses.max()))
    if losses is not None and losses[0] == losses[1]:
        return
    delta = share * float(np.ptp(problem.losses))
    law = sampling_law(
        problem, counts, alpha=alpha, rng=seed, loss_range=losses,
        fixed_targets=fixed_targets,
    )  # fmt: skip
    lower, upper, interval = law.lower_bound(alpha), law.upper_bound(alpha), law.interval(alpha)
    assert 0 <= lower <= upper
    assert interval.lower <= lower
    assert interval.upper >= upper
    rejected, certified = law.rejects(delta, alpha), law.certifies(delta, alpha)
    assert rejected == (law.pvalue(delta) <= alpha)
    # of δ = 0 a single gain is proof, whatever the bound
    assert rejected == (lower > delta) or (rejected and delta == lower == 0)
    assert certified == (upper <= delta)
    # at what ψ cannot exceed, a certificate needs no evidence
    data_free = law.limits.data_free_bound(problem.budget)
    assert certified == (law.pvalue(delta, "less") <= alpha) or delta == data_free
    assert not (rejected and certified)
    assert not interval.lower > delta or rejected
    assert not interval.upper < delta or certified
    for other in np.linspace(0, law.most_gain, 4):
        assert 0 <= law.pvalue(other) <= 1


@pytest.mark.slow
def test_the_seed_hardly_moves_the_bounds():
    case = cases.regular()
    counts = np.random.default_rng(0).multinomial(1000, case.frequencies)
    laws = [sampling_law(case.problem, counts, rng=seed) for seed in range(12)]
    width = laws[0].estimate - sampling_law(case.problem, counts, method="plug-in").lower_bound()
    assert np.std([law.lower_bound() for law in laws]) < 0.06 * width
    assert np.std([law.upper_bound() for law in laws]) < 0.06 * width
    again = sampling_law(case.problem, counts, rng=3)
    assert again.lower_bound() == laws[3].lower_bound()


def test_large_samples_are_split_by_cells():
    counts = np.array([400_000, 30_000, 0, 7])
    orders = draw_orders(counts, 50, 0, np.random.default_rng(0))
    assert orders.n == counts.sum()
    for s in range(len(orders.start)):
        part = slice(orders.start[s, 0], orders.start[s, -1])
        totals = np.bincount(orders.cell[part], orders.records[part], 4)
        assert np.array_equal(totals, counts)
        assert (np.diff(orders.start[s]) <= 3).all()
    many = [450_000, 450_000, 50_000, 50_000, 0, 0]
    law = sampling_law(cases.exact_corner().problem, many, rng=0)
    assert 0.768 < law.lower_bound() < 0.77 < law.upper_bound() < 0.772


def test_targets_from_the_sample_allow_no_certificate_but_a_lower_bound():
    case = cases.regular()
    counts = np.random.default_rng(0).multinomial(1000, case.frequencies)
    free = sampling_law(case.problem, counts, rng=0)
    bound = sampling_law(case.problem, counts, rng=0, fixed_targets=False)
    assert bound.upper_bound() == np.inf
    assert bound.pvalue(0.9, "less") == 1
    # a mixture of fixed stakes is wider, but not by much
    assert 0 < bound.lower_bound() < free.lower_bound()
    assert free.estimate - bound.lower_bound() < 3 * (free.estimate - free.lower_bound())


def test_a_known_range_of_losses_widens_what_unseen_points_could_do():
    case = cases.regular()
    counts = np.random.default_rng(0).multinomial(1000, case.frequencies)
    declared = sampling_law(case.problem, counts, rng=0)
    unknown = sampling_law(case.problem, counts, rng=0, loss_range=(0.0, 1.0))
    assert unknown.upper_bound() >= declared.upper_bound() - 1e-3
    with pytest.raises(InputError, match=r"`loss_range` must be finite and hold all losses"):
        sampling_law(case.problem, counts, loss_range=(0.0, 0.5))


def test_nothing_to_gain_is_known_without_data():
    problem = AuditProblem([1.0, 1.0], Geometry(np.zeros(2)))
    law = sampling_law(problem, [3, 4])
    assert (law.lower_bound(), law.upper_bound(), law.interval()) == (0, 0, (0, 0))
    assert law.pvalue(0.0) == 1


def test_a_clear_case_has_a_small_p_value():
    case = cases.regular()
    counts = np.random.default_rng(0).multinomial(2000, case.frequencies)
    law = sampling_law(case.problem, counts, rng=0)
    assert law.pvalue(0.2) < 1e-4
    assert law.pvalue(0.9, "less") < 1e-4
    assert law.pvalue(0.436) > 0.05
    assert law.pvalue(-0.1) <= 1e-5
    assert law.pvalue(2.0) == 1
    assert law.pvalue(2.0, "less") <= 1e-5
    assert law.pvalue(0.0, "less") == 1


def test_contradicting_tests_are_inconclusive():
    assert reach_verdict(rejected=True, certified=True) == "inconclusive"


def rare_gains():
    """Cells with nothing, a gain 1 at cost 1, and a free gain 1, at a small budget."""
    costs = np.full((5, 5), np.inf)
    np.fill_diagonal(costs, 0)
    costs[1, 3], costs[2, 4] = 1, 0
    return AuditProblem([0.0, 0.0, 0.0, 1.0, 1.0], costs, budget=0.02)


def test_rare_large_gains_are_rejected_and_the_bound_agrees():
    problem = rare_gains()
    law = sampling_law(problem, [128, 17, 5, 0, 0], rng=0, loss_range=(0.0, 1.0))
    assert law.rejects(0.025)
    assert law.pvalue(0.025) <= 0.05
    assert 0.025 < law.lower_bound() < law.estimate


@pytest.mark.slow
def test_rare_large_gains_are_found_about_as_often_as_a_test_at_the_threshold_finds_them():
    problem, f = rare_gains(), np.array([128, 17, 5, 0, 0]) / 150
    rng = np.random.default_rng(0)
    verdicts, tests = 0, 0
    for _ in range(100):
        counts = rng.multinomial(150, f)
        law = sampling_law(problem, counts, rng=rng, loss_range=(0.0, 1.0))
        verdicts += law.rejects(0.025)
        tests += Rejection(law._evidence).rejects(0.025, 0.05)
    assert abs(verdicts - tests) <= 5
    # the normal test's power is about .8 here
    assert verdicts >= 60


@pytest.mark.parametrize("most", [1, 3, 20])
def test_stakes_of_a_mixture_at_once_are_those_one_by_one(most):
    rng = np.random.default_rng(most)
    counts = rng.integers(1, most + 1, 3000)
    stakes = np.geomspace(0.001, 9.0, 40)
    # the largest stakes lose everything in the first row, products leave their range in the last
    outcomes = np.vstack([rng.random(3000), 0.1 + rng.random(3000), 40.0 + rng.random(3000)])
    over = np.full(3000, 0.15)
    orders = build_single_block(counts, len(stakes))
    alone, at_once = np.empty((2, 3, len(stakes)))

    bets.fill_log_wealths(orders, stakes[:, None], outcomes, over, alone)
    bets.fill_mixture_log_wealths(orders.records, stakes, outcomes, over, at_once)

    assert np.isinf(alone).any(axis=1).tolist() == [True, False, False]
    assert alone.max() > 1000
    np.testing.assert_array_equal(at_once, alone)
