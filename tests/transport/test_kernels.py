"""The kernels as plain Python give what they give compiled."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.transport.reference import reference_value

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


def scaled_embedding(scale):
    """Forty points of which one lies far out, so that single precision alone cannot tell them."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(40, 3))
    points[0] *= 30
    points[1:20] *= 1e-4
    geometry = Geometry(np.zeros(40), Embedding(points * scale))
    return AuditProblem(rng.random(40), geometry, budget=0.05 * scale**2), rng.dirichlet(
        np.ones(40)
    )


@pytest.mark.parametrize("power", [-93, -50, -30, -23, -20, -8, 0, 8, 19, 20, 50, 97])
def test_the_value_does_not_depend_on_the_unit_of_the_coordinates(power):
    """Squared distances from 1e-200 to 1e200; HiGHS solves the problem in its natural unit."""
    problem, f = scaled_embedding(1.0)
    scaled, _ = scaled_embedding(10.0**power)

    assert scaled.value(f) == pytest.approx(reference_value(problem, f), abs=1e-9)
    assert scaled.value(f) == pytest.approx(problem.value(f), rel=1e-12)


@pytest.mark.parametrize("power", [-200, -120, -60, 60, 120, 200])
def test_the_value_does_not_depend_on_the_unit_of_the_costs(power):
    rng = np.random.default_rng(3)
    costs = rng.random((30, 30)) * (1 - np.eye(30))
    losses, f = rng.random(30), rng.dirichlet(np.ones(30))
    costs[(costs > 0) & (costs < 0.01)] = 0.01
    expected = reference_value(AuditProblem(losses, costs, budget=0.03), f)
    # the outermost scales leave room for what is smaller or larger than 1
    unit = 10.0 ** np.clip(power, -197, 200)
    problem = AuditProblem(losses, costs * unit, budget=0.03 * unit)

    assert problem.value(f) == pytest.approx(expected, abs=1e-9)
    assert problem.values([f])[0] == pytest.approx(expected, abs=1e-9)


def test_clusters_far_below_the_largest_coordinate_are_told_apart():
    """One point at 1, others 1e-30 apart: their products are 0 in single precision."""
    points = np.array([[0.0], [1e-30], [3e-30], [1.0]])
    geometry = Geometry(np.zeros(4), Embedding(points))
    problem = AuditProblem([0.0, 0.5, 1.0, 0.2], geometry, budget=1e-60)

    assert problem.value([1, 0, 0, 0]) == pytest.approx(
        reference_value(AuditProblem([0.0, 0.5, 1.0], (points[:3] - points[:3].T) ** 2 * 1e60,
                                     budget=1.0), np.array([1.0, 0, 0])))  # fmt: skip


@pytest.mark.slow
def test_the_kernels_stay_inside_their_buffers(tmp_path):
    """Everything above and the searches once more, with every index checked."""
    searches = Path(__file__).with_name("test_embedded.py")
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow",
         __file__, str(searches)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
