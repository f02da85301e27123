"""Who can be moved to whom, by every form of costs, against all pairs one by one."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from fairtransport import Embedding, Geometry
from fairtransport.geometry import CostFunction, CostMatrix, WithinTolerance, ZeroCost
from fairtransport.geometry.geometry import are_all_alike, reaches_other

K = 12


def costs_of(form, rng):
    points = rng.integers(0, 2, (K, 2)).astype(float)
    matrix = np.where(rng.random((K, K)) < 0.6, np.inf, rng.integers(0, 2, (K, K)))
    np.fill_diagonal(matrix, 0)
    row, col = np.nonzero(np.isfinite(matrix))
    return {
        "free": ZeroCost(),
        "embedding": Embedding(points),
        "matrix": CostMatrix(matrix),
        "sparse": CostMatrix(csr_array((matrix[row, col], (row, col)), (K, K))),
        "function": CostFunction(lambda rows, cols: matrix[np.ix_(rows, cols)]),
        "tolerance": WithinTolerance(points, np.array([0.0, 1.0])),
    }[form]


@pytest.mark.parametrize("form", ["free", "embedding", "matrix", "sparse", "function", "tolerance"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("freely", [False, True])
def test_it_is_what_all_pairs_say(form, seed, freely):
    rng = np.random.default_rng(seed)
    geometry = Geometry(
        rng.integers(0, 3, K), costs_of(form, rng),
        forbidden=rng.random((K, K)) < 0.3 if seed % 2 else None,
        targets=rng.random(K) < 0.6 if seed > 2 else None,
    )  # fmt: skip
    kinds = rng.integers(0, 2, K)
    everyone = np.arange(K)
    costs = geometry.costs(everyone, everyone)
    allowed = costs == 0 if freely else np.isfinite(costs)
    expected = (allowed & (kinds[:, None] != kinds)).any(axis=1)

    assert np.array_equal(reaches_other(geometry, kinds, freely=freely), expected)


@pytest.mark.parametrize(
    ("cost", "alike"),
    [
        (Embedding(np.zeros((4, 2))), True),
        (Embedding(np.array([[0.0], [0], [0], [1]])), False),
        (CostMatrix(np.zeros((4, 4))), True),
        (
            CostMatrix(np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, np.inf, 0]])),
            False,
        ),
        (ZeroCost(), True),
    ],
)
def test_all_are_alike_if_every_move_inside_a_kind_is_free(cost, alike):
    kinds = np.array([0, 0, 1, 1])

    assert are_all_alike(Geometry(np.zeros(4, int), cost), kinds) is alike
    assert not are_all_alike(Geometry(np.array([0, 1, 2, 2]), cost), kinds)
    # nobody is alike where everybody is alone
    assert not are_all_alike(Geometry(np.zeros(4, int), cost), np.arange(4))
