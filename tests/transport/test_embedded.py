"""Frontiers of points in space are those of their costs, whichever way targets are searched."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transport.reference import reference_value

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.transport import forest, kernels
from fairtransport.transport import forest_kernels as forest_search
from fairtransport.transport import frontiers as embedded
from fairtransport.transport import kernels as hull
from fairtransport.transport import nearest_kernels as frontier_search
from fairtransport.transport.frontiers import build_frontiers

MODULES = (forest, forest_search, frontier_search, hull, kernels)


def by_costs(geometry):
    """Return the same geometry, of which only the costs are known: nothing may be left out."""
    none = np.zeros((geometry.size, geometry.size), bool)
    return Geometry(
        geometry.blocks, geometry.cost, none, targets=geometry.targets, profiles=geometry.profiles
    )


def content(frontiers):
    order = np.lexsort((frontiers.far_cost, frontiers.row))
    return [frontiers.base_target, *(
        getattr(frontiers, name)[order]
        for name in ("row", "target", "far_cost", "far_gain", "cost", "gain")
    )]  # fmt: skip


def assert_as_by_costs(losses, geometry):
    found, expected = build_frontiers(losses, geometry), build_frontiers(losses, by_costs(geometry))
    for one, other in zip(content(found), content(expected), strict=True):
        assert np.array_equal(one, other)


def points_on_a_grid(rng, size, dimensions=3):
    """Return points of which many coincide, with profiles, in blocks, not all of them targets."""
    return Geometry(
        rng.integers(0, 3, size),
        Embedding(rng.integers(0, 4, (size, dimensions)).astype(float)),
        targets=rng.random(size) < 0.7,
        profiles=rng.integers(0, 3, (size, 4)),
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 400), levels=st.integers(1, 6))
def test_ties_in_loss_cost_and_place_are_settled_alike(seed, size, levels):
    rng = np.random.default_rng(seed)
    assert_as_by_costs(rng.integers(0, levels, size) / 4, points_on_a_grid(rng, size))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6), dimensions=st.integers(1, 14), power=st.integers(-90, 90),
    kind=st.sampled_from(["any", "two", "smooth"]),
)  # fmt: skip
def test_continuous_features_of_any_size(seed, dimensions, power, kind):
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(600, dimensions))
    losses = {
        "any": rng.random(600), "two": np.round(rng.random(600)), "smooth": np.tanh(place[:, 0]),
    }[kind]  # fmt: skip
    assert_as_by_costs(losses, Geometry(np.zeros(600), Embedding(place * 10.0**power)))


def test_nodes_of_nodes_are_searched():
    """More targets in a stratum than a node of leaves holds."""
    size = 3 * forest.LEAF_SIZE * forest.MAX_CHILDREN
    rng = np.random.default_rng(1)
    place, losses = rng.normal(size=(size, 2)), rng.random(size) < 0.5
    geometry = Geometry(np.zeros(size), Embedding(place))
    found = build_frontiers(losses.astype(float), geometry)

    from scipy.spatial import cKDTree

    nearest, target = cKDTree(place[losses]).query(place[~losses])
    at = np.argsort(found.row)
    assert np.array_equal(found.row[at], np.flatnonzero(~losses))
    assert np.array_equal(found.target[at], np.flatnonzero(losses)[target])
    assert found.far_cost[at] == pytest.approx(nearest**2, rel=1e-12)


def test_frontiers_longer_than_there_is_room_for(monkeypatch):
    """Losses that rise along a line: every point beyond is a corner; taken by loss alone."""
    monkeypatch.setattr(embedded, "MAX_CORNERS_PER_PASS", 1)
    place = np.sort(np.random.default_rng(2).random(700))
    geometry = Geometry(np.zeros(700), Embedding(place[:, None]))
    assert len(build_frontiers(place, geometry).row) == 700 * 699 // 2
    assert_as_by_costs(place, geometry)


@pytest.mark.parametrize("flat", [False, True])
def test_both_ways_to_plant_give_the_same(flat, monkeypatch):
    monkeypatch.setattr(embedded, "MAX_TREE_CORNERS", 0 if flat else np.inf)
    rng = np.random.default_rng(3)
    assert_as_by_costs(rng.random(900), points_on_a_grid(rng, 900, dimensions=5))


def test_most_pairs_are_left_out():
    """Counts, which do not depend on the machine, of the work for 20,000 points."""
    rng = np.random.default_rng(4)
    place, losses = rng.normal(size=(20_000, 10)), rng.random(20_000)
    geometry, profiles = Geometry(np.zeros(20_000), Embedding(place)), np.empty((20_000, 0), int)
    looked_at = {
        name: sum(
            part.pairs for part in embedded.corners_of_embedding(values, geometry, place, profiles)
        )
        for name, values in (("any", losses), ("two", np.round(losses)))
    }
    # 23 and 12 % are looked at; room for another sum of the same places, not for weaker pruning
    assert looked_at["any"] < 0.24 * 20_000**2
    assert looked_at["two"] < 0.13 * 20_000**2


def test_an_embedding_gives_the_value_of_the_linear_program():
    rng = np.random.default_rng(5)
    for _ in range(5):
        size = int(rng.integers(2, 40))
        geometry = points_on_a_grid(rng, size)
        problem = AuditProblem(rng.random(size), geometry, budget=float(rng.choice([0, 0.2, 3])))
        f = rng.dirichlet(np.ones(size))
        assert problem.value(f) == pytest.approx(reference_value(problem, f), abs=1e-9)


def test_plain_python_equals_compiled(monkeypatch):
    rng = np.random.default_rng(6)
    geometry, losses = points_on_a_grid(rng, 300), rng.integers(0, 5, 300) / 4
    compiled = build_frontiers(losses, geometry)
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    for one, other in zip(
        content(compiled), content(build_frontiers(losses, geometry)), strict=True
    ):
        assert np.array_equal(one, other)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), size=st.integers(1, 300),
    price=st.sampled_from([0.0, 1e-3, 0.25, 0.5, 7.0, np.inf]),
)  # fmt: skip
def test_best_targets_at_a_price_are_those_of_the_costs(seed, size, price):
    rng = np.random.default_rng(seed)
    geometry, losses = points_on_a_grid(rng, size), rng.integers(0, 5, size) / 4
    found = AuditProblem(losses, geometry)
    expected = AuditProblem(losses, by_costs(geometry))
    rows = np.flatnonzero(rng.random(size) < 0.8)

    best = found.best_by_search(price, rows)
    assert best == pytest.approx(expected.best_by_search(price, rows), abs=1e-12)
    assert found.count_best_targets(price, rows).tolist() == (
        expected.count_best_targets(price, rows).tolist()
    )
    others = rng.integers(0, size, len(rows))
    assert np.array_equal(found.costs_of(rows, others), expected.costs_of(rows, others))


def test_the_search_is_asked_about_one_kind_of_array(monkeypatch):
    """It is compiled for each kind, which takes longest of all loops."""
    contiguous = []

    def asked(rows, *rest):
        contiguous.append(rows.flags.c_contiguous)
        return search(rows, *rest)

    search = frontier_search.frontiers_of_forest
    monkeypatch.setattr(frontier_search, "frontiers_of_forest", asked)
    rng = np.random.default_rng(0)
    size = 40 * embedded.PROBE_POINTS
    geometry = Geometry(np.zeros(size, np.int64), Embedding(rng.normal(size=(size, 2))))
    build_frontiers(rng.random(size), geometry)

    assert len(contiguous) > 1
    assert all(contiguous)
