"""The follow-up's four models on made people: a height tells sex, and a skill the label."""

import numpy as np
import pandas as pd
import pytest

from fairtransport.reproduce import adult_networks
from fairtransport.reproduce.adult_study import People, basis
from fairtransport.reproduce.gradient_flow import GradientFlow
from fairtransport.reproduce.networks import TrainingSettings, balanced_batches, baseline, project
from fairtransport.reproduce.reduction import ReductionSettings, reduction
from fairtransport.reproduce.sensr import HIGHEST_PRICE, LEAST_PRICE, SenSRSettings, sensr
from fairtransport.reproduce.sensr import _next_price as next_price

pytestmark = pytest.mark.reproduce

QUICK = TrainingSettings(hidden=8, steps=100, batch=50, rate=1e-2)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=(800, 2))
    height, skill = rng.normal(2.0 * groups[:, 0], 1), rng.normal(size=800)
    tint = rng.normal(1.5 * groups[:, 1], 1)
    labels = (skill + height - 1 + 0.5 * rng.normal(size=800) > 0).astype(np.int64)
    points = np.column_stack([height, tint, skill])
    return People(pd.DataFrame(points), points, labels, groups)


def accuracy(model, people, torch):
    with torch.no_grad():
        found = model(torch.tensor(people.points, dtype=torch.float32)).numpy() > 0
    return (found == people.labels).mean()


def test_a_projected_network_cannot_see_the_directions(people, torch):
    model = project(people, 0, QUICK)
    points = torch.tensor(people.points, dtype=torch.float32)
    along = torch.tensor(people.directions(), dtype=torch.float32)
    moved = points + torch.randn(len(points), 2) @ along
    assert torch.allclose(model(points), model(moved), atol=1e-4)
    plain = baseline(people, 0, QUICK)
    assert not torch.allclose(plain(points), plain(moved), atol=0.5)
    assert accuracy(plain, people, torch) > accuracy(model, people, torch) > 0.6


def test_the_same_seed_gives_the_same_network_and_leaves_torch_as_it_was(people, torch):
    points = torch.tensor(people.points, dtype=torch.float32)
    short = TrainingSettings(hidden=4, steps=20, batch=20)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    first, again, other = (baseline(people, seed, short)(points) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_batches_have_as_many_of_each_label(people):
    rows, labels = balanced_batches(people, 7, 10)
    assert rows.shape == (7, 10)
    assert (people.labels[rows.numpy()] == labels.numpy()).all()
    assert labels.mean() == 0.5


@pytest.mark.usefixtures("torch")
def test_sensr_is_less_moved_by_the_attack_than_a_plain_network(people):
    settings = SenSRSettings(hidden=8, steps=60, batch=50, rate=1e-2, subspace_step=1.0)
    flow, directions = GradientFlow(step=0.01, steps=50), basis(people.directions())
    plain, robust = (
        adult_networks.tested(model, people, directions, flow)
        for model in (baseline(people, 0, QUICK), sensr(people, 0, settings))
    )
    assert plain["bound"] > 1.25
    assert plain["rejected"]
    assert robust["bound"] < 1.25
    assert not robust["rejected"]
    assert robust["balanced_accuracy"] > 0.6
    assert plain["ratio"] > plain["bound"]


def test_the_price_of_distance_follows_the_budget():
    assert next_price(2.0, 0.001, 0.001) == 2.0
    assert next_price(2.0, 0.002, 0.001) == pytest.approx(2.0 + 2 * 0.001)
    assert next_price(2.0, 0.0005, 0.001) == pytest.approx(2.0 - 2 * 0.0005)
    assert next_price(2.0, 1.0, 0.001) == HIGHEST_PRICE
    assert next_price(0.0, 0.0005, 0.001) == LEAST_PRICE
    assert next_price(2.0, 0.0, 0.001) == LEAST_PRICE


@pytest.mark.slow
def test_the_reduction_predicts_and_brings_the_odds_nearer(people, torch):
    model = reduction(people, 0, ReductionSettings())
    plain = baseline(people, 0, QUICK)
    assert accuracy(model, people, torch) > 0.6
    assert gap(model, people, torch) < gap(plain, people, torch)


def gap(model, people, torch):
    """The largest difference of rates of positive answers between sexes, given the label."""
    with torch.no_grad():
        found = model(torch.tensor(people.points, dtype=torch.float32)).numpy() > 0
    rates = [
        [found[(people.labels == y) & (people.groups[:, 0] == s)].mean() for s in (0, 1)]
        for y in (0, 1)
    ]
    return max(abs(men - women) for women, men in rates)
