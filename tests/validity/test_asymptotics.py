"""What the paper proves for growing n: power tends to 1, and the bootstraps find the law."""

import numpy as np
import pytest

from fairtransport.inference import limit_at, sampling_law
from fairtransport.reproduce.figures import regular, skewed_corner
from tests.validity import cases

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("method", ["m-out-of-n", "numerical", "subsampling", "limit-law"])
@pytest.mark.parametrize("make", [regular, cases.exact_corner])
def test_power_tends_to_one(method, make):
    case = make()
    delta = case.truth - 0.02
    rng = np.random.default_rng(8)
    power = []
    for n in (200, 2000, 10_000):
        rejected = [
            sampling_law(
                case.problem, rng.multinomial(n, case.frequencies), method=method,
                n_resamples=400, rng=rng,
            ).lower_bound(0.05) > delta
            for _ in range(60)
        ]  # fmt: skip
        power.append(np.mean(rejected))
    assert power[0] <= power[1] + 0.1
    assert power[2] > 0.98


def wasserstein(draws, law):
    """The 1-Wasserstein distance of draws from a law, by quantiles."""
    levels = (np.arange(len(draws)) + 0.5) / len(draws)
    few = slice(None, None, len(draws) // 50)
    quantiles = np.array([law.quantile(level) for level in levels[few]])
    return np.mean(np.abs(np.sort(draws)[few] - quantiles))


@pytest.mark.parametrize("method", ["m-out-of-n", "numerical", "subsampling"])
@pytest.mark.parametrize("make", [regular, skewed_corner])
def test_the_bootstraps_distance_from_the_limit_shrinks(method, make):
    case = make()
    limit = limit_at(case.problem, case.frequencies)
    rng = np.random.default_rng(9)
    distance = []
    for n in (100, 10_000, 1_000_000):
        laws = [
            sampling_law(
                case.problem, rng.multinomial(n, case.frequencies), method=method,
                n_resamples=5000, rng=rng,
            )
            for _ in range(12)
        ]  # fmt: skip
        distance.append(np.mean([wasserstein(law.draws, limit) for law in laws]))
    assert distance[1] < 0.75 * distance[0]
    assert distance[2] < 0.75 * distance[1]


def test_efrons_distance_does_not_shrink_at_a_corner():
    """The failure that the paper describes, and the m-out-of-n bootstrap repairs."""
    case = skewed_corner()
    limit = limit_at(case.problem, case.frequencies)
    rng = np.random.default_rng(10)

    def distance(method, n):
        return np.mean(
            [
                wasserstein(
                    sampling_law(
                        case.problem, rng.multinomial(n, case.frequencies), method=method,
                        n_resamples=1000, rng=rng,
                    ).draws,
                    limit,
                )
                for _ in range(12)
            ]
        )  # fmt: skip

    assert distance("efron", 1_000_000) > 5 * distance("m-out-of-n", 1_000_000)


def test_the_papers_uniform_validity_is_false():
    """THEORY: cells drifting b/√n off the corner with ψ = δ are rejected far too often."""
    case = cases.exact_corner()
    rng = np.random.default_rng(12)
    n = 10_000
    # f as in the corner but for cell 0, which keeps .45 − b/√n: the price is then 0 for sure
    drift = 1.0 / np.sqrt(n)
    f = case.frequencies + drift * np.array([-1, 0, 1, 0, 0, 0])
    truth = case.problem.value(f)
    alarms = [
        sampling_law(
            case.problem, rng.multinomial(n, f), method="m-out-of-n", n_resamples=400, rng=rng
        ).lower_bound(0.05)
        > truth
        for _ in range(300)
    ]
    steady = [
        sampling_law(case.problem, rng.multinomial(n, f), method="limit-law").lower_bound(0.05)
        > truth
        for _ in range(300)
    ]
    assert np.mean(alarms) > 0.15
    assert np.mean(steady) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
