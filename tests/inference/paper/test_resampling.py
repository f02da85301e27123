import numpy as np
import pytest
from scipy import stats

from fairtransport import AuditProblem, Geometry, InputError
from fairtransport.inference import resampling
from fairtransport.inference.resampling import (
    check_n_resamples,
    compute_resampled_values,
    draw_with_replacement,
    draw_without_replacement,
)

COUNTS = np.array([5, 0, 30, 1, 14, 50])


def drawn(draw, many=4000):
    rows = draw(np.random.default_rng(2), many)
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def fits(observed, expected_law):
    """Chi-squared goodness of fit of counts with pooled small cells; returns the p-value."""
    values, seen = np.unique(observed, return_counts=True)
    expected = expected_law.pmf(values) * len(observed)
    big = expected >= 5
    seen = np.r_[seen[big], len(observed) - seen[big].sum()]
    expected = np.r_[expected[big], len(observed) - expected[big].sum()]
    if expected[-1] < 1e-6:
        seen, expected = seen[:-1], expected[:-1]
    return stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue


# below four times the number of points people are drawn one by one, above it cell by cell
@pytest.mark.parametrize("size", [3, 20, 24, 100, 900])
def test_resamples_with_replacement_are_multinomial(size):
    rows = np.rint(drawn(draw_with_replacement(COUNTS, size)) * size).astype(int)
    assert (rows.sum(axis=1) == size).all()
    assert (rows[:, 1] == 0).all()
    for cell in (0, 2, 3, 5):
        assert fits(rows[:, cell], stats.binom(size, COUNTS[cell] / 100)) > 1e-4
    spread = np.cov(rows[:, 2], rows[:, 5])[0, 1]
    assert spread == pytest.approx(-size * 0.3 * 0.5, rel=0.15)


@pytest.mark.parametrize("size", [3, 20, 24, 60, 100])
def test_subsamples_are_hypergeometric(size):
    rows = np.rint(drawn(draw_without_replacement(COUNTS, size)) * size).astype(int)
    assert (rows.sum(axis=1) == size).all()
    assert (rows <= COUNTS).all()
    for cell in (0, 2, 3, 5):
        law = stats.hypergeom(100, COUNTS[cell], size)
        if size == 100:
            assert (rows[:, cell] == COUNTS[cell]).all()
        else:
            assert fits(rows[:, cell], law) > 1e-4


def test_many_people_need_no_table(monkeypatch):
    expected = drawn(draw_with_replacement(COUNTS, 7))
    monkeypatch.setattr("fairtransport.inference.resampling.MAX_TABLE_PEOPLE", 10)
    assert np.array_equal(drawn(draw_with_replacement(COUNTS, 7)), expected)


def test_draws_do_not_depend_on_how_blocks_are_worked_on(monkeypatch):
    problem = AuditProblem(np.arange(6.0), Geometry(np.zeros(6)))
    monkeypatch.setattr("fairtransport.inference.resampling.BLOCK_ENTRIES", 60)
    first, second = (
        compute_resampled_values(
            problem, draw_with_replacement(COUNTS, 5), 95, np.random.default_rng(4), 5
        )
        for _ in range(2)
    )
    assert np.array_equal(first, second)
    assert len(np.unique(first)) > 10


def test_very_large_resamples_are_multinomial_without_a_list_of_people(monkeypatch):
    monkeypatch.setattr(resampling, "MAX_SINGLE_DRAWS", 0)
    rows = np.rint(drawn(draw_with_replacement(COUNTS, 900)) * 900).astype(int)

    assert (rows.sum(axis=1) == 900).all()
    assert (rows[:, 1] == 0).all()
    for cell in (0, 2, 3, 5):
        assert fits(rows[:, cell], stats.binom(900, COUNTS[cell] / 100)) > 1e-4


def test_more_people_than_numpy_subsamples_are_refused():
    with pytest.raises(InputError, match="fewer than 1,000,000,000 people, got 1,000,000,001"):
        draw_without_replacement(np.array([10**9, 1]), 100)


@pytest.mark.parametrize("many", [0, 10**7 + 1, 10**400, 1.5])
def test_a_number_of_resamples_has_limits(many):
    with pytest.raises(InputError, match=r"^`n_resamples` must be a whole number of at least 1"):
        check_n_resamples(many)
