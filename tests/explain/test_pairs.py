"""The worst pair, against a loop over all pairs."""

import numpy as np
import pytest
from tests.explain.audits import compas_audit, priced_audit, random_people

import fairtransport as ft
from fairtransport.data import SampleSpace
from fairtransport.data.columns import CodedColumn
from fairtransport.explain import moves as pairs
from fairtransport.explain.moves import worst_pair
from fairtransport.geometry import Embedding, Geometry


@pytest.mark.parametrize("seed", range(3))
def test_the_worst_pair_has_the_largest_ratio_of_all(seed):
    result = priced_audit(seed)
    said = result.answers.predictions
    ratios = [0.0]
    for i in range(result.points):
        for j in range(result.points):
            cost = result.problem.costs_of(np.array([i]), np.array([j]))[0]
            if 0 < cost < np.inf:
                ratios.append(abs(said[i] - said[j]) / np.sqrt(cost))
    pair = result.summary.worst_pair

    assert pair.ratio == pytest.approx(max(ratios))
    assert abs(pair.prediction - pair.prediction_of_second) / pair.distance == pytest.approx(
        pair.ratio
    )


def test_without_positive_distances_there_is_none():
    assert compas_audit().summary.worst_pair is None


def test_labels_that_are_stored_as_numbers_are_one_apart():
    people = random_people(3).assign(good=lambda table: table["good"] * 100.0)
    people["guess"] = people["guess"] * 100.0
    similarity = ft.similarity.MixedTabular(scales={"x": 2.0}, default_mismatch=1.0)
    result = ft.audit(people, "good", y_pred="guess", sensitive_features="group",
                      similarity=similarity, budget=0.1)  # fmt: skip
    pair = result.summary.worst_pair

    assert {pair.prediction, pair.prediction_of_second} == {0.0, 100.0}
    assert pair.ratio == pytest.approx(1 / pair.distance)


@pytest.mark.parametrize("kind", ["score", "label", "words", "scores"])
@pytest.mark.parametrize("reference", [False, True])
def test_a_compiled_look_finds_the_same_pair(kind, reference, monkeypatch):
    rng = np.random.default_rng(5)
    size = 120
    said = {
        "score": rng.random(size), "label": rng.integers(0, 3, size) * 50.0,
        "words": np.array(["no", "yes"], object)[rng.integers(0, 2, size)],
        "scores": rng.dirichlet(np.ones(3), size),
    }[kind]  # fmt: skip
    # a third of the people share their place with another
    places = rng.normal(size=(size, 4))[rng.integers(0, size, size)]
    targets = rng.random(size) < 0.5 if reference else None
    geometry = Geometry(rng.integers(0, 3, size), Embedding(places), targets=targets)
    column = CodedColumn(np.arange(size), np.arange(size))
    space = SampleSpace({"x": column}, np.ones(size, int), ("x",), ())

    def found(many):
        monkeypatch.setattr(pairs, "MIN_COMPILED_PAIRS", many)
        return worst_pair(space, geometry, said, are_labels=kind in {"label", "words"})

    assert found(0) is not None
    assert found(0) == found(10**9)
