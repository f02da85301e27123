import numpy as np
import pytest
from scipy import stats

from fairtransport.inference import MinOfNormals

LAWS = [
    MinOfNormals(1.0, 1.0, 1.0),
    MinOfNormals(1.0, 1.0, 0.0),
    MinOfNormals(0.3, 2.0, 0.4),
    MinOfNormals(2.0, 0.3, -0.7),
    MinOfNormals(1.0, 3.0, 1.0),
    MinOfNormals(1.0, 3.0, -1.0),
    MinOfNormals(0.0, 1.5),
    MinOfNormals(1.5, 0.0),
    MinOfNormals(0.0, 0.0),
]
POINTS = np.array([-3.0, -1.0, -0.2, -1e-9, 0.0, 1e-9, 0.4, 2.0])


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_cdf_is_that_of_the_draws(law):
    draws = law.sample(40_000, np.random.default_rng(1))
    for t in POINTS:
        for exact, share in ((law.cdf(t), draws <= t), (law.at_least(t), draws >= t)):
            expected = float(exact)
            spread = np.sqrt(expected * (1 - expected) / len(draws))
            assert abs(share.mean() - expected) <= 4.5 * spread + 1e-12


@pytest.mark.parametrize("law", LAWS[1:4], ids=str)
def test_the_cdf_is_scipys_bivariate_one(law):
    cross = law.correlation * law.sd_x * law.sd_y
    both = stats.multivariate_normal(
        [0, 0], [[law.sd_x**2, cross], [cross, law.sd_y**2]], allow_singular=True
    )
    for t in (-2.0, -0.3, 0.0, 0.5, 1.7):
        # P(X > t, Y > t) = P(−X < −t, −Y < −t), and −(X, Y) has the same law
        assert float(law.cdf(t)) == pytest.approx(1 - both.cdf([-t, -t]), abs=2e-5)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("q", [0.001, 0.025, 0.2, 0.5, 0.51, 0.8, 0.95, 0.999])
def test_quantiles_are_the_infimum(law, q):
    c = law.quantile(q)
    assert float(law.cdf(c)) >= q - 1e-12
    step = 1e-9
    assert float(law.cdf(c - step)) < q


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_density_integrates_to_the_cdf(law):
    grid = np.linspace(-30, -0.05, 400_001)
    mass = np.trapezoid(law.pdf(grid), grid)
    assert mass == pytest.approx(float(law.cdf(-0.05)), abs=1e-6)
    above = np.linspace(0.05, 30, 400_001)
    assert np.trapezoid(law.pdf(above), above) == pytest.approx(1 - float(law.cdf(0.05)), abs=1e-6)


def test_quantiles_at_the_ends():
    assert MinOfNormals(1.0, 1.0).quantile(0) == -np.inf
    assert MinOfNormals(1.0, 1.0).quantile(1) == np.inf
    assert MinOfNormals(0.0, 1.0).quantile(1) == 0
    assert MinOfNormals(0.0, 1.0).quantile(0.6) == 0


def test_a_minimum_of_one_variable_is_gaussian():
    assert MinOfNormals(2.0, 2.0, 1.0).is_gaussian
    assert MinOfNormals(0.0, 0.0).is_gaussian
    assert not MinOfNormals(2.0, 2.0, 0.9).is_gaussian
    assert MinOfNormals(2.0, 2.0, 1.0).quantile(0.95) == pytest.approx(2 * stats.norm.ppf(0.95))
