"""The kernels as plain Python give what they give compiled."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.transport import kernels

NAMES = [name for name, value in vars(kernels).items() if hasattr(value, "py_func")]


@pytest.fixture
def plain_python(monkeypatch):
    def switch():
        for name in NAMES:
            monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)

    return switch


def all_answers(make):
    rng = np.random.default_rng(5)
    problem = make(rng)
    many = rng.multinomial(30, np.full(problem.size, 1 / problem.size), 4) / 30.0
    frontiers = problem.frontiers
    return [
        frontiers.base_target,
        frontiers.row,
        frontiers.target,
        frontiers.cost,
        problem.values(many),
        problem.values(csr_array(many)),
    ]


def dense(rng):
    costs = rng.integers(0, 5, (14, 14)).astype(float)
    costs[rng.random((14, 14)) < 0.2] = np.inf
    np.fill_diagonal(costs, 0)
    return AuditProblem(rng.integers(0, 5, 14), costs, budget=0.4)


def listed(rng):
    costs = csr_array(rng.integers(0, 4, (14, 14)) * (1 - np.eye(14)))
    return AuditProblem(rng.integers(0, 5, 14), costs, budget=0.4)


def embedded(rng):
    points = rng.integers(0, 3, (14, 2)).astype(float)
    profiles = rng.integers(0, 2, (14, 4))
    geometry = Geometry(np.zeros(14), Embedding(points), profiles=profiles)
    return AuditProblem(rng.integers(0, 5, 14), geometry, budget=0.4)


@pytest.mark.parametrize("make", [dense, listed, embedded])
def test_plain_python_equals_compiled(make, plain_python):
    compiled = all_answers(make)
    plain_python()
    for one, other in zip(compiled, all_answers(make), strict=True):
        assert np.array_equal(one, other)


def test_a_frontier_of_many_corners():
    """Square-root losses on a line: every point is a corner of the first point's frontier."""
    size = 300
    costs = np.full((size, size), np.inf)
    costs[0] = np.arange(size)
    np.fill_diagonal(costs, 0)
    problem = AuditProblem(np.sqrt(np.arange(size)), costs, budget=3.0)
    assert len(problem.frontiers.row) == size - 1
    assert problem.value([1.0] + [0.0] * (size - 1)) == pytest.approx(np.sqrt(3))
