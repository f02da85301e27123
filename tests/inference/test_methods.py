import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.conftest import problems
from tests.messages import raises
from tests.validity import cases

from fairtransport import AuditProblem, Geometry, InputError
from fairtransport.inference import METHODS, default_size, limit_at, sampling_law

ASYMPTOTIC = [method for method in METHODS if method != "finite-sample"]


@pytest.fixture(scope="module")
def regular():
    case = cases.regular()
    return case.problem, np.random.default_rng(0).multinomial(1000, case.frequencies)


@pytest.mark.parametrize("method", ASYMPTOTIC)
def test_the_same_seed_gives_the_same_law(method, regular):
    problem, counts = regular
    one, other = (sampling_law(problem, counts, method=method, rng=3) for _ in range(2))
    assert one.interval() == other.interval()
    assert one.method == method
    assert one.guarantee == "asymptotic"
    assert one.estimate == problem.value(counts / counts.sum())


@pytest.mark.parametrize("method", ASYMPTOTIC)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_bounds_and_p_values_tell_the_same_story(method, alpha, regular):
    problem, counts = regular
    law = sampling_law(problem, counts, method=method, rng=3)
    interval = law.interval(alpha)
    assert interval.lower < law.estimate < interval.upper
    assert interval.lower == law.lower_bound(alpha / 2)
    assert interval.upper == law.upper_bound(alpha / 2)
    for delta in np.linspace(law.estimate - 0.05, law.estimate + 0.05, 41):
        assert not (law.lower_bound(alpha) > delta and law.pvalue(delta) > alpha + 1e-12)
        assert not (law.upper_bound(alpha) < delta and law.pvalue(delta, "less") > alpha + 1e-12)
        inside = interval.lower - 1e-9 <= delta <= interval.upper + 1e-9
        assert inside or law.pvalue(delta, "two-sided") <= alpha + 1e-12
        # and the other way round, outside rounding
        assert law.pvalue(delta) >= alpha - 1e-9 or law.lower_bound(alpha) > delta - 1e-9


@pytest.mark.parametrize("method", ["m-out-of-n", "subsampling", "numerical", "efron"])
def test_monte_carlo_p_values_are_never_zero(method, regular):
    problem, counts = regular
    law = sampling_law(problem, counts, method=method, n_resamples=400, rng=3)
    assert law.pvalue(-5.0) == 1 / 400
    assert law.pvalue(5.0, "less") == 1 / 400
    assert law.pvalue(5.0) == 1
    with raises(InputError, "`alpha` must be at least 0.0025 with 400 resamples"):
        law.lower_bound(0.001)
    with raises(InputError, "`alpha` must be at least 0.005 with 400 resamples"):
        law.interval(0.003)


def test_quantiles_of_draws_are_the_infimum(regular):
    problem, counts = regular
    law = sampling_law(problem, counts, method="m-out-of-n", n_resamples=100, rng=0)
    ordered = np.sort(law.draws)
    assert law.quantile(0) == -np.inf
    assert law.quantile(0.95) == ordered[94]
    assert law.quantile(0.951) == ordered[95]
    assert law.quantile(1) == ordered[99]


def test_the_rule_of_thumb():
    assert [default_size(n) for n in (1, 3, 4, 100, 1583)] == [1, 3, 4, 20, 79]


def test_sizes_and_steps_can_be_chosen(regular):
    problem, counts = regular
    assert sampling_law(problem, counts, method="m-out-of-n", m=50, rng=0).size == 50
    assert sampling_law(problem, counts, method="subsampling", m=900, rng=0).size == 900
    assert sampling_law(problem, counts, method="numerical", step=0.1, rng=0).step == 0.1
    assert sampling_law(problem, counts, method="numerical", rng=0).step == 1000**-0.25
    assert sampling_law(problem, counts, method="efron", rng=0).size == 1000
    with pytest.raises(InputError, match="`m` must be at most the 1000 people"):
        sampling_law(problem, counts, method="subsampling", m=1001)


def test_free_moves_with_zero_one_loss_give_the_scaled_binomial():
    case = cases.twins()
    n = 1584
    counts = np.random.default_rng(1).multinomial(n, case.frequencies)
    law = sampling_law(case.problem, counts, method="m-out-of-n", n_resamples=20_000, rng=2)
    moved = int(counts @ case.problem.frontiers.base_gain)
    people = law.draws * np.sqrt(law.size) + law.size * law.estimate
    assert np.abs(people - np.rint(people)).max() < 1e-9
    oracle = stats.binom(law.size, moved / n)
    seen = np.bincount(np.rint(people).astype(int), minlength=law.size + 1)
    expected = oracle.pmf(np.arange(law.size + 1)) * len(people)
    big = expected >= 5
    seen = np.r_[seen[big], seen[~big].sum()]
    expected = np.r_[expected[big], expected[~big].sum()]
    assert stats.chisquare(seen, expected).pvalue > 1e-3
    for q in (0.05, 0.5, 0.95):
        exact = (oracle.ppf(q) / law.size - law.estimate) * np.sqrt(law.size)
        assert law.quantile(q) == pytest.approx(exact, abs=1.01 / np.sqrt(law.size))


def test_the_limit_law_at_a_corner_is_the_minimum_of_two_normals():
    case = cases.exact_corner()
    law = limit_at(case.problem, case.frequencies)
    # φ at price 0 is (1, .6, 0, 1); at price 1 it is (0, .4, 0, 1)
    f = case.frequencies[:4]
    for sd, phi in ((law.sd_x, [1, 0.6, 0, 1]), (law.sd_y, [0, 0.4, 0, 1])):
        gains = np.array(phi)
        assert sd == pytest.approx(np.sqrt(f @ gains**2 - (f @ gains) ** 2))
    assert not law.is_gaussian
    draws = np.random.default_rng(0).multinomial(100_000, case.frequencies, 4000) / 100_000
    scaled = np.sqrt(100_000) * (case.problem.values(draws) - case.truth)
    assert stats.kstest(scaled, law.cdf).pvalue > 1e-3


def test_limit_laws_that_degenerate():
    constant = cases.no_bias()
    law = limit_at(constant.problem, constant.frequencies)
    assert (law.sd_x, law.sd_y) == (0, 0)
    flip = cases.near_corner()
    at_corner = limit_at(flip.problem.with_budget(0.05), flip.frequencies)
    # the budget suffices exactly: at price 0 the gain varies, at price 1 it is 0
    assert at_corner.sd_x == pytest.approx(np.sqrt(0.05 * 0.95))
    assert at_corner.sd_y == 0
    counts = np.array([10, 0, 0])
    sure = sampling_law(flip.problem, counts, method="limit-law")
    assert sure.lower_bound() == 0
    assert sure.pvalue(0.0) == 1
    assert sure.pvalue(-0.1) == 0


@pytest.mark.slow
@given(problems(), st.sampled_from([0.01, 0.1]))
@settings(max_examples=150)
def test_the_lower_bound_over_prices_is_that_of_a_fine_grid(case, alpha):
    problem, f = case
    counts = np.rint(f * 50).astype(int)
    if counts.sum() == 0:
        return
    law = sampling_law(problem, counts, method="limit-law")
    p, z = counts / counts.sum(), stats.norm.ppf(1 - alpha)
    top = max(problem.frontiers.slope, default=0.0)
    grid = [*np.linspace(0, 1.2 * top + 0.1, 200), *problem.frontiers.slope]

    def bound(price):
        gains = problem.frontiers.net_gains(price)
        spread = np.sqrt(max(0, p @ gains**2 - (p @ gains) ** 2))
        return problem.budget * price + p @ gains - z * spread / np.sqrt(counts.sum())

    if problem.budget == 0:
        grid.append(np.inf)
    lowest = min(map(bound, grid))
    assert law.lower_bound(alpha) == pytest.approx(lowest, abs=1e-6)
    assert law.lower_bound(alpha) <= law.estimate + 1e-12


def test_efron_says_in_words_when_it_is_not_to_be_trusted():
    rng = np.random.default_rng(0)
    for case, trusted in ((cases.regular(), True), (cases.near_corner(), False)):
        counts = rng.multinomial(1000, case.frequencies)
        problem = case.problem.with_budget(0.05) if not trusted else case.problem
        law = sampling_law(problem, counts, method="efron", rng=1)
        assert law.gaussianity.looks_gaussian == trusted
        assert ("do not trust" in law.notes[0]) == (not trusted)
    constant = cases.no_bias()
    law = sampling_law(constant.problem, rng.multinomial(50, constant.frequencies), method="efron")
    assert "no variation" in law.notes[0]


def test_the_numerical_method_says_what_truncation_does():
    case = cases.twins()
    counts = np.random.default_rng(0).multinomial(1584, case.frequencies)
    law = sampling_law(case.problem, counts, method="numerical", n_resamples=500, rng=0)
    assert law.acceptance < 0.01
    assert "drawn exactly" in law.notes[0]
    assert "Do not trust" in law.notes[1]
    few = cases.near_corner()
    quiet = sampling_law(few.problem, [950, 50, 0], method="numerical", step=0.01, rng=0)
    assert quiet.notes == ()
    assert quiet.acceptance > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(method="bayes"), "`method` must be one of 'finite-sample', .* got 'bayes'"),
        (dict(counts=[1, 2]), r"`counts` must have shape \(3\), got \(2,\)"),
        (dict(counts=[1, 2, -1]), "`counts` must be whole numbers >= 0 .* got -1"),
        (dict(counts=[1, 2, 0.5]), "`counts` must be whole numbers >= 0 .* got 0.5"),
        (dict(counts=[0, 0, 0]), "`counts` must be whole numbers >= 0 with a positive sum, got 0"),
        (dict(counts=[1, np.nan, 0]), "`counts` must be whole numbers .* got nan"),
        (dict(n_resamples=0), "`n_resamples` must be a whole number of at least 1, got 0"),
        (dict(n_resamples=1.5), "`n_resamples` must be a whole number of at least 1, got 1.5"),
        (dict(m=True), "`m` must be a whole number of at least 1, got True"),
        (dict(step=0.0), "`step` must be a number above 0, got 0.0"),
    ],
)
def test_bad_requests_are_refused(arguments, message):
    problem = AuditProblem([0.0, 1.0, 0.5], Geometry(np.zeros(3)))
    with pytest.raises(InputError, match=message):
        sampling_law(problem, **{**dict(counts=[1, 2, 3]), **arguments})


def test_bad_levels_and_alternatives_are_refused(regular):
    law = sampling_law(*regular, method="limit-law")
    for alpha in (0, 1, -0.1, np.nan, "a"):
        with pytest.raises(InputError, match="number above 0 and below 1"):
            law.lower_bound(alpha)
    with pytest.raises(InputError, match="`alternative` must be one of 'greater', 'less'"):
        law.pvalue(0.1, "smaller")
    with pytest.raises(InputError, match="`delta` must be a finite number, got nan"):
        law.pvalue(np.nan)
