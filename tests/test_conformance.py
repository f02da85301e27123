"""What everything that can be registered promises, checked for whatever is registered."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.geometry import Cost, CostFunction, CostMatrix, Embedding, Geometry
from fairtransport.geometry.costs import PerturbedCost, WithinTolerance, ZeroCost
from fairtransport.inference import METHODS, Interval, SamplingLaw, sampling_law
from fairtransport.losses import LOSSES, Loss, evaluate
from fairtransport.similarity import SIMILARITIES
from fairtransport.similarity.base import BaseSimilarity, Similarity

RNG = np.random.default_rng(12)
PEOPLE = pd.DataFrame({
    "race": RNG.choice(["a", "b"], 60),
    "age": RNG.integers(20, 26, 60),
    "debt": RNG.normal(size=60).round(1),
    "good": RNG.integers(0, 2, 60),
    "guess": RNG.integers(0, 2, 60),
})  # fmt: skip
COLUMNS = ["race", "age", "debt"]
POINTS = RNG.normal(size=(7, 2))
DISTANCES = ((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=-1)

# -- losses

ANSWERS = {
    "label": (np.array(["x", "y", "x"]), np.array(["x", "x", "y"])),
    "score": (np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.3, 0.7], [1.0, 0.0]])),
    "value": (np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.0, -3.0])),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_stays_in_its_range_and_keeps_its_promises(name):
    loss = LOSSES[name]
    losses = evaluate(loss, *ANSWERS[loss.needs])

    assert loss.name == name
    assert losses.shape == (3,)
    if loss.range is not None:
        low, high = loss.range
        assert low <= losses.min() <= losses.max() <= high
        if loss.binary:
            assert np.isin(losses, loss.range).all()
    if not loss.uses_truth:
        truth, answer = ANSWERS[loss.needs]
        assert (evaluate(loss, truth[::-1], answer) == losses).all()


# -- similarities

SETTINGS = {
    "ignore-sensitive": {},
    "mixed-tabular": {"default_scale": 1.0},
    "sensitive-subspace": {"sensitive_features": ["race"], "features": ["age", "debt"]},
    "comparable-pairs": {"features": COLUMNS},
    "comparable-groups": {"features": ["age", "debt"]},
    "counterparts": {"sensitive_features": ["race"], "features": COLUMNS},
}
"""What each similarity needs beside the data; a new one that needs more has a line here."""


def similarity_of(name):
    profiles = PEOPLE[COLUMNS].drop_duplicates()
    if name == "precomputed":
        apart = np.abs(profiles["debt"].to_numpy()[:, None] - profiles["debt"].to_numpy()) ** 2
        return SIMILARITIES[name](apart, points=profiles)
    similarity = SIMILARITIES[name](**SETTINGS.get(name, {}))
    if name == "comparable-pairs":
        half = len(PEOPLE) // 2
        halves = (PEOPLE.iloc[:half], PEOPLE.iloc[half:])
        return similarity.fit(halves, np.arange(half) % 2)
    if name == "comparable-groups":
        return similarity.fit(PEOPLE, PEOPLE["age"].to_numpy())
    return similarity.fit(PEOPLE) if hasattr(similarity, "fit") else similarity


@pytest.mark.parametrize("name", SIMILARITIES)
def test_a_similarity_keeps_its_promises(name):
    similarity = similarity_of(name)
    space = build_space(PEOPLE, "good", sensitive_features=["race"], features=COLUMNS)
    if name == "counterparts":
        space = similarity.add_counterparts(space)
    geometry = similarity.geometry(space)
    everybody = np.arange(space.size)
    costs = geometry.costs(everybody, everybody)

    assert isinstance(similarity, Similarity)
    assert isinstance(similarity, BaseSimilarity)
    assert similarity.name == name
    assert similarity.describe().endswith(".")
    assert geometry.size == space.size
    assert (np.diagonal(costs) == 0).all()
    assert (costs >= 0).all()
    label = space.columns["good"].codes
    assert np.isinf(costs[label[:, None] != label[None, :]]).all()
    assert isinstance(similarity.moves_only_to_twins, bool)
    assert similarity.to_json()["name"] == name
    assert similarity.describe_budget(0.5).endswith(".")


# -- costs

COSTS = {
    ZeroCost: ZeroCost(),
    Embedding: Embedding(POINTS),
    WithinTolerance: WithinTolerance(POINTS, [1.0, 0.5]),
    CostMatrix: CostMatrix(DISTANCES),
    CostFunction: CostFunction(lambda rows, cols: DISTANCES[np.ix_(rows, cols)]),
    PerturbedCost: CostFunction(lambda rows, cols: DISTANCES[np.ix_(rows, cols)]).perturb(
        0.1, 7, np.random.default_rng(0)
    ),
}


def test_every_cost_is_looked_at():
    assert set(COSTS) == {
        kind for kind in Cost.__subclasses__() if "fairtransport" in kind.__module__
    }


@pytest.mark.parametrize("cost", COSTS.values(), ids=lambda cost: type(cost).__name__)
def test_a_cost_keeps_its_promises(cost):
    everybody, some = np.arange(7), np.array([5, 1, 3])
    costs = cost.between(everybody, everybody)
    changed = cost.perturb(0.1, 7, np.random.default_rng(1)).between(everybody, everybody)
    finite = np.isfinite(costs)

    assert (costs >= 0).all()
    assert (cost.at(some).between(np.arange(3), np.arange(3)) == costs[np.ix_(some, some)]).all()
    assert cost.size in {None, 7}
    assert cost.allows_all == bool((costs == 0).all())
    assert cost.charges or np.isin(costs, (0, np.inf)).all()
    assert (np.isfinite(changed) == finite).all()
    assert (np.abs(changed[finite] - costs[finite]) <= 0.1 * costs[finite] + 1e-12).all()
    if cost.points is not None:
        apart = cost.points[:, None] - cost.points[None]
        np.testing.assert_allclose((apart**2).sum(axis=-1), costs)
    if cost.sparse_moves is not None:
        np.testing.assert_array_equal(
            costs[cost.sparse_moves.row, cost.sparse_moves.col], cost.sparse_moves.cost
        )


# -- methods


@pytest.mark.parametrize("method", METHODS)
def test_a_method_keeps_its_promises(method):
    problem = ft.AuditProblem([0.0, 0.3, 1.0, 0.4], Geometry(np.zeros(4), Embedding(POINTS[:4])),
                              budget=0.2)  # fmt: skip
    law = sampling_law(problem, [30, 40, 10, 20], method=method, n_resamples=400, rng=0)
    again = sampling_law(problem, [30, 40, 10, 20], method=method, n_resamples=400, rng=0)
    unfixed = sampling_law(
        problem, [30, 40, 10, 20], method=method, n_resamples=400, rng=0, fixed_targets=False
    )

    assert isinstance(law, SamplingLaw)
    assert (law.method, law.n) == (method, 100)
    assert law.guarantee in {"finite-sample", "asymptotic"}
    assert law.lower_bound(0.05) <= law.lower_bound(0.2)
    assert law.upper_bound(0.2) <= law.upper_bound(0.05)
    interval = law.interval(0.1)
    assert isinstance(interval, Interval)
    assert interval.lower <= law.lower_bound(0.05) + 1e-12
    assert interval.upper >= law.upper_bound(0.05) - 1e-12
    for delta in (0.05, law.estimate, 0.6):
        assert 0 <= law.pvalue(delta) <= 1
        assert law.rejects(delta, 0.05) <= (law.pvalue(delta) <= 0.05)
        assert not (law.rejects(delta, 0.05) and law.certifies(delta, 0.05))
    assert again.interval(0.1) == interval
    assert unfixed.upper_bound(0.05) == math.inf


# -- what the recipes for contributors say


def test_a_registered_loss_is_found_by_its_name(monkeypatch):
    monkeypatch.setitem(
        LOSSES, "missed",
        Loss("missed", "label", lambda truth, predicted: (truth > predicted) * 1.0, (0.0, 1.0),
             binary=True),
    )  # fmt: skip
    result = ft.audit(
        PEOPLE, "good", y_pred="guess", sensitive_features=["race"], loss="missed", rng=0
    )

    missed = (PEOPLE["good"] > PEOPLE["guess"]).mean()
    assert result.baseline_risk == pytest.approx(missed)


@dataclass
class Neighbours(BaseSimilarity):
    """People of the same age are comparable: the recipe's toy."""

    name = "neighbours"
    moves_only_to_twins = False

    def geometry(self, space):
        return Geometry(space.groups(("age", space.label)), ZeroCost())

    def describe(self):
        return "People of one age are comparable."


def test_a_registered_similarity_is_found_by_its_name(monkeypatch):
    monkeypatch.setitem(SIMILARITIES, Neighbours.name, Neighbours)
    by_name, by_object = (
        ft.audit(PEOPLE, "good", y_pred="guess", sensitive_features=["race"], similarity=one, rng=0)
        for one in ("neighbours", Neighbours())
    )

    assert by_name.statistic == by_object.statistic > 0
    assert by_name.lower_bound == by_object.lower_bound


def test_a_registered_method_is_found_by_its_name(monkeypatch):
    monkeypatch.setitem(METHODS, "mine", METHODS["limit-law"])
    mine, known = (
        ft.audit(PEOPLE, "good", y_pred="guess", sensitive_features=["race"], method=one, rng=0)
        for one in ("mine", "limit-law")
    )

    assert mine.lower_bound == known.lower_bound
