"""A distance learned from judged pairs is the most likely one, and ranks new pairs."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad, minimize_scalar
from sklearn.metrics import roc_auc_score

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import ComparablePairs
from fairtransport.similarity.comparable_pairs import (
    fit_sigma,
    log_likelihood,
    objective,
    slope,
    square_root,
)


def judged(rng, n, sigma):
    """Pairs whose judgements follow the model under Σ."""
    size = len(sigma)
    first, second = rng.normal(size=(2, n, size))
    squared = np.einsum("ij,jk,ik->i", first - second, sigma, first - second)
    comparable = (rng.random(n) < 2 / (1 + np.exp(squared))).astype(int)
    names = [f"x{k}" for k in range(size)]
    return (pd.DataFrame(first, columns=names), pd.DataFrame(second, columns=names)), comparable


def test_one_kind_of_pair_has_a_closed_form():
    # all pairs differ by 1, a share p is comparable: 2 / (1 + e^s) = p
    for share in (0.1, 0.5, 0.9):
        comparable = (np.arange(20) < 20 * share).astype(float)
        sigma = fit_sigma(np.ones((20, 1)), comparable, 0.0)
        assert sigma[0, 0] == pytest.approx(np.log(2 / share - 1), rel=1e-5)


def test_one_dimension_agrees_with_a_search_over_numbers():
    rng = np.random.default_rng(0)
    differences = rng.normal(size=(300, 1))
    comparable = (rng.random(300) < 2 / (1 + np.exp(1.7 * differences[:, 0] ** 2))).astype(float)

    def negative(s):
        p = 2 / (1 + np.exp(s * differences[:, 0] ** 2))
        return -np.mean(np.log(np.where(comparable > 0, p, 1 - p))) + 0.01 * s

    wanted = minimize_scalar(negative, bounds=(0.01, 10), method="bounded", options={"xatol": 1e-9})
    found = fit_sigma(differences, comparable, 0.01)
    assert found[0, 0] == pytest.approx(wanted.x, rel=1e-4)


def test_several_dimensions_meet_the_conditions_of_a_maximum_over_the_cone():
    rng = np.random.default_rng(1)
    differences = rng.normal(size=(400, 4)) * [1, 2, 1, 1]
    truth = np.diag([2.0, 0.3, 0.0, 0.0])
    squared = np.einsum("ij,jk,ik->i", differences, truth, differences)
    comparable = (rng.random(400) < 2 / (1 + np.exp(squared))).astype(float)
    sigma = fit_sigma(differences, comparable, 0.002)

    # the likelihood is concave in Σ: Σ is optimal when G is positive semidefinite and GΣ = 0
    squared = np.einsum("ij,jk,ik->i", differences, sigma, differences)
    gradient = 0.002 * np.eye(4) - np.einsum(
        "i,ij,ik->jk", slope(squared, comparable) / 400, differences, differences
    )
    assert np.linalg.eigvalsh(gradient).min() > -1e-5
    assert np.abs(gradient @ sigma).max() < 1e-5
    assert np.linalg.eigvalsh(sigma).min() > -1e-12
    # nothing that can be tried nearby is better
    best = objective(square_root(sigma) @ np.eye(4)[: square_root(sigma).shape[1]], differences,
                     comparable, 0.002)[0]  # fmt: skip
    for _ in range(200):
        other = square_root(sigma) @ np.eye(4)[: square_root(sigma).shape[1]]
        other = other + 0.01 * rng.normal(size=(4, 4))
        assert objective(other, differences, comparable, 0.002)[0] >= best - 1e-9


def test_the_gradient_is_that_of_the_likelihood():
    rng = np.random.default_rng(2)
    differences, comparable = rng.normal(size=(30, 3)), rng.integers(0, 2, 30).astype(float)
    arguments = (differences, comparable, 0.1)

    for _ in range(10):
        at = rng.normal(size=9)
        error = check_grad(
            lambda b: objective(b, *arguments)[0], lambda b: objective(b, *arguments)[1], at
        )
        assert error < 1e-5 * max(1.0, np.linalg.norm(objective(at, *arguments)[1]))


@pytest.mark.parametrize("squared", [1e-300, 1e-8, 1.0, 40.0, 800.0])
def test_the_likelihood_is_a_number_near_and_far(squared):
    both, sides = np.full(2, squared), np.array([1.0, 0.0])

    assert np.isfinite(log_likelihood(both, sides)).all()
    assert np.isfinite(slope(both, sides)).all()
    if squared < 40:
        assert np.exp(log_likelihood(both, sides)).sum() == pytest.approx(1)


def test_held_out_pairs_are_ranked():
    rng = np.random.default_rng(3)
    sigma = np.diag([3.0, 1.0, 0.0, 0.0, 0.0])
    similarity = ComparablePairs().fit(*judged(rng, 2000, sigma))
    pairs, comparable = judged(rng, 4000, sigma)
    x, y = (frame.to_numpy() for frame in pairs)

    learned = roc_auc_score(comparable, similarity.probability(pairs))
    perfect = roc_auc_score(comparable, -np.einsum("ij,jk,ik->i", x - y, sigma, x - y))
    plain = roc_auc_score(comparable, -((x - y) ** 2).sum(axis=1))
    # measured: .950 learned, .950 with the true Σ, .717 with Euclid's distance
    assert learned > perfect - 0.005
    assert learned == pytest.approx(0.95, abs=0.01)
    assert learned > plain + 0.1


def test_a_direction_that_judges_ignore_is_free():
    rng = np.random.default_rng(4)
    sigma = np.array([[2.0, 0.0], [0.0, 0.0]])
    similarity = ComparablePairs(penalty=1e-2).fit(*judged(rng, 3000, sigma))
    scaled = similarity.sigma_ / np.trace(similarity.sigma_)

    assert scaled[0, 0] > 0.98
    assert np.linalg.eigvalsh(similarity.sigma_).min() > -1e-12


def test_costs_are_the_learned_squared_distances():
    rng = np.random.default_rng(5)
    (first, second), comparable = judged(rng, 200, np.diag([1.0, 0.2]))
    jobs = [rng.choice(["clerk", "cook"], 200) for _ in range(2)]
    pairs = (first.assign(job=jobs[0]), second.assign(job=jobs[1]))
    similarity = ComparablePairs().fit(pairs, comparable)
    frame = pairs[0][:20].assign(group=["a", "b"] * 10)
    space = build_space(frame, sensitive_features="group", twins=True)
    z = similarity.encoding_.coordinates(space.columns)
    wanted = [[(a - b) @ similarity.sigma_ @ (a - b) for b in z] for a in z]

    everyone = np.arange(space.size)
    costs = similarity.geometry(space).costs(everyone, everyone)
    np.testing.assert_allclose(costs, wanted, atol=1e-8)
    assert costs.max() > 0.1
    assert similarity.log_likelihood_ == pytest.approx(
        np.log(np.where(comparable, similarity.probability(pairs),
                        1 - similarity.probability(pairs))).mean()
    )  # fmt: skip


def test_pairs_that_are_all_comparable_cost_nothing():
    pairs, _ = judged(np.random.default_rng(6), 50, np.eye(2))
    similarity = ComparablePairs().fit(pairs, np.ones(50))
    space = build_space(pairs[0].assign(g=1), sensitive_features="g")

    assert np.abs(similarity.embed(space)).max() < 1e-3


def test_pairs_that_are_told_apart_without_error_have_a_bounded_distance():
    x = np.r_[np.zeros(20), np.full(20, 3.0)]
    pairs = (pd.DataFrame({"x": x}), pd.DataFrame({"x": np.zeros(40)}))
    similarity = ComparablePairs().fit(pairs, (x == 0).astype(int))

    assert np.isfinite(similarity.sigma_).all()
    assert similarity.probability(pairs)[[0, -1]] == pytest.approx([1, 0], abs=0.05)


PAIRS, LABELS = judged(np.random.default_rng(7), 10, np.eye(2))


@pytest.mark.parametrize(
    ("fit", "error", "message"),
    [
        (lambda s: s.fit(PAIRS[0], LABELS), ft.InputError, "`X` must be two data frames, the"),
        (lambda s: s.fit(PAIRS, [1]), ft.InputError, "`y` must be 0 or 1 for each of the 10 pairs"),
        (lambda s: s.fit(PAIRS, LABELS + 2), ft.InputError, "`y` must be 0 or 1 for each of"),
        (
            lambda s: s.fit((PAIRS[0], PAIRS[1][1:]), LABELS),
            ft.InputError,
            "of equal length, got 10 and 9 rows",
        ),
        (lambda s: s.set_params(features=[]).fit(PAIRS, LABELS), ft.InputError, "got none"),
        (
            lambda s: s.fit((PAIRS[0], PAIRS[0]), np.zeros(10)),
            ft.DataError,
            "pairs of equal people must be comparable, but 10 are judged not to be",
        ),
        (lambda s: s.set_params(penalty=-1), ft.InputError, "`penalty` must be a number of"),
        (lambda s: s.probability(PAIRS), ft.InputError, "must be fitted first"),
    ],
)
def test_pairs_that_make_no_sense_are_refused(fit, error, message):
    with pytest.raises(error, match=message):
        fit(ComparablePairs())


def test_it_says_what_was_fitted():
    assert "not yet fitted" in ComparablePairs().describe()
    assert ComparablePairs().to_json() == {
        "name": "comparable-pairs", "settings": {"penalty": 1e-3, "features": None}
    }  # fmt: skip
    similarity = ComparablePairs().fit(PAIRS, LABELS)
    assert "by x0, x1" in similarity.describe()
    assert similarity.to_json()["fitted"]["log_likelihood"] < 0
    assert not similarity.moves_only_to_twins
