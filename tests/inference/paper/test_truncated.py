import numpy as np
import pytest
from scipy import stats

from fairtransport import InputError
from fairtransport.inference import resampling as truncated
from fairtransport.inference.resampling import draw_truncated


def by_rejection(f, step, many, rng):
    """Algorithm 2 to the letter: draw N(0, Σ(f)) and redraw until f + ϵZ >= 0."""
    covariance = np.diag(f) - np.outer(f, f)
    rows = []
    while len(rows) < many:
        z = rng.multivariate_normal(np.zeros(len(f)), covariance, 20_000, method="svd")
        x = f + step * z
        rows.extend(x[(x >= -1e-12).all(axis=1)])
    return np.array(rows[:many])


@pytest.mark.parametrize("exact", [False, True])
def test_both_samplers_follow_algorithm_two(exact, monkeypatch):
    monkeypatch.setattr(truncated, "MIN_ACCEPTANCE", 2.0 if exact else 0.0)
    f = np.array([0.4, 0.3, 0.0, 0.15, 0.1, 0.04, 0.01])
    step = 200**-0.25
    ours = draw_truncated(f, step, 4000, np.random.default_rng(0))
    theirs = by_rejection(f, step, 4000, np.random.default_rng(1))
    assert ours.exact == exact
    assert ours.frequencies.min() >= 0
    assert np.abs(ours.frequencies.sum(axis=1) - 1).max() < 1e-12
    assert (ours.frequencies[:, 2] == 0).all()
    weights = np.random.default_rng(2).random(7)
    for look in (
        lambda x: x @ weights,
        lambda x: x.max(axis=1),
        lambda x: x[:, 6],
        lambda x: x[:, 0],
    ):
        assert stats.ks_2samp(look(ours.frequencies), look(theirs)).pvalue > 1e-3


def test_the_sampler_is_exact_where_rejection_never_ends():
    f = np.full(60, 1 / 60)
    drawn = draw_truncated(f, 1000**-0.25, 500, np.random.default_rng(0))
    assert drawn.exact
    assert drawn.acceptance == 0
    assert drawn.frequencies.min() >= 0


def test_few_points_are_drawn_by_rejection():
    f = np.full(10, 0.1)
    drawn = draw_truncated(f, 1000**-0.25, 500, np.random.default_rng(0))
    assert not drawn.exact
    # 72 % are accepted at ten points and n = 1000
    assert drawn.acceptance == pytest.approx(0.72, abs=0.04)


def test_hopeless_sampling_is_refused(monkeypatch):
    monkeypatch.setattr(truncated, "MAX_NORMALS", 1)
    with pytest.raises(InputError, match="`method` 'numerical' accepts"):
        draw_truncated(np.full(300, 1 / 300), 0.2, 1_000_000, np.random.default_rng(0))
