"""The best targets at a single price are those of a search through all pairs."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtransport import Embedding, Geometry
from fairtransport.transport.frontiers import MAX_TIES, PriceSearch


def build_case(seed, size=200, kind="any"):
    """Return losses, a geometry of points in two blocks, some of them no targets, and places."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(size, 3))
    losses = {
        "any": rng.random(size),
        "two": np.round(rng.random(size)),
        "smooth": (np.round(rng.random(size)) - 1 / (1 + np.exp(-place[:, 0]))) ** 2,
        "signed": rng.normal(size=size),
        "equal": np.full(size, 0.3),
    }[kind]
    geometry = Geometry(rng.integers(0, 2, size), Embedding(place), targets=rng.random(size) < 0.8)
    return losses, geometry, place


def worth_of_pairs(losses, geometry, place, price):
    """Return l_j − ν c_ij of all pairs; minus infinity where the move is not allowed."""
    costs = np.square(place[:, None] - place[None]).sum(axis=2)
    charge = np.where(costs > 0, np.inf, 0.0) if np.isinf(price) else price * costs
    allowed = (geometry.blocks[:, None] == geometry.blocks[None]) & geometry.targets[None]
    np.fill_diagonal(allowed, val=True)
    return np.where(allowed, losses[None] - charge, -np.inf)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), size=st.integers(1, 200),
    kind=st.sampled_from(["any", "two", "smooth", "signed", "equal"]),
    price=st.sampled_from([1e-6, 0.01, 0.3, 2.0, 1e3, np.inf]),
)  # fmt: skip
def test_best_targets_are_those_of_all_pairs(seed, size, kind, price):
    losses, geometry, place = build_case(seed, size, kind)
    worth = worth_of_pairs(losses, geometry, place, price)
    rows = np.random.default_rng(seed).permutation(size)[: size // 2 + 1]
    best = PriceSearch(losses, geometry, place).find_best_targets(price, rows)

    assert best.worth == pytest.approx(worth[rows].max(axis=1), abs=1e-12)
    assert best.net_gain == pytest.approx(worth[rows].max(axis=1) - losses[rows], abs=1e-12)
    assert worth[rows, best.target] == pytest.approx(best.worth, abs=1e-12)


def test_one_search_serves_many_prices():
    losses, geometry, place = build_case(1)
    search, rows = PriceSearch(losses, geometry, place), np.arange(200)
    for price in np.geomspace(1e-3, 1e3, 25):
        worth = worth_of_pairs(losses, geometry, place, price)
        assert search.find_best_targets(price, rows).worth == pytest.approx(
            worth.max(axis=1), abs=1e-12
        )


def test_where_a_search_starts_does_not_matter():
    losses, geometry, place = build_case(2)
    search, rows = PriceSearch(losses, geometry, place), np.arange(199, -1, -1)
    first = np.flatnonzero(geometry.targets)[0]
    start = np.where(geometry.blocks[rows] == geometry.blocks[first], first, -1)
    best = search.find_best_targets(0.7, rows, start)

    assert np.array_equal(best.worth, search.find_best_targets(0.7, rows).worth)
    assert (
        start.tolist()
        == np.where(geometry.blocks[rows] == geometry.blocks[first], first, -1).tolist()
    )  # the caller's array is left as it was


@pytest.mark.parametrize("kind", ["any", "two", "equal"])
@pytest.mark.parametrize("price", [0.3, np.inf])
def test_ties_are_those_of_all_pairs(kind, price):
    losses, geometry, place = build_case(3, kind=kind)
    place = np.round(place)  # many points in one place
    geometry = Geometry(geometry.blocks, Embedding(place), targets=geometry.targets)
    worth = worth_of_pairs(losses, geometry, place, price)
    least = worth.max(axis=1) - 1e-9
    rows = np.arange(0, 200, 3)
    count = PriceSearch(losses, geometry, place).count_ties(price, rows, least[rows])

    expected = (worth[rows] >= least[rows, None]).sum(axis=1)
    assert count.tolist() == np.minimum(expected, MAX_TIES).tolist()


DIGEST = """
import hashlib, numpy as np
from fairtransport.transport.frontiers import PriceSearch
from tests.transport.test_price_search import build_case
best = PriceSearch(*build_case(4, size=6000)).find_best_targets(0.5, np.arange(6000))
print(hashlib.sha256(b"".join(part.tobytes() for part in best)).hexdigest())
"""


@pytest.mark.slow
def test_threads_do_not_change_a_bit():
    digests = set()
    for threads in ("1", "2"):
        environment = os.environ | {"NUMBA_NUM_THREADS": threads}
        line = [sys.executable, "-c", DIGEST]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        digests.add(done.stdout)

    assert len(digests) == 1
