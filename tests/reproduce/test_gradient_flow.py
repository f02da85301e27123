"""The follow-up's attack where the way is known in closed form."""

import numpy as np
import pytest
from scipy.optimize import brentq

from fairtransport.reproduce.gradient_flow import GradientFlow, beyond, entropy_loss
from fairtransport.reproduce.reduction import mixture

pytestmark = pytest.mark.reproduce


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_under_a_linear_loss_people_go_as_far_as_the_steps_say(torch):
    slope = torch.tensor([2.0, 1.0, -3.0], dtype=torch.float64)
    taken = torch.tensor([[1.0], [0.0], [0.0]], dtype=torch.float64)
    points = torch.tensor([[0.0, 0.0, 0.0], [5.0, -1.0, 2.0]], dtype=torch.float64)
    flow = GradientFlow(step=0.01, steps=70, penalty=10.0)
    moved = flow.attack(lambda places: places @ slope, points, taken) - points
    # freely along the first axis; elsewhere towards slope / 2λ, by a geometric sum
    reached = (1 - (1 - 2 * 10 * 0.01) ** 70) / (2 * 10)
    wanted = [2 * 0.7, 1 * reached, -3 * reached]
    assert moved.numpy() == pytest.approx(np.array([wanted, wanted]))


def test_along_a_sensitive_direction_a_logistic_model_follows_its_equation(torch):
    """With s the margin, s' = −|a|² / (1 + eˢ), so that s + eˢ falls at the rate |a|²."""
    slope, time = 1.5, 2.0
    starts = np.array([-1.0, 0.0, 2.0])
    points = torch.tensor(starts[:, None] / slope)
    labels, taken = torch.ones(3, dtype=torch.float64), torch.ones((1, 1), dtype=torch.float64)

    def margins(steps):
        flow = GradientFlow(step=time / steps, steps=steps)
        moved = flow.attack(lambda x: entropy_loss(slope * x[:, 0], labels), points, taken)
        return slope * moved[:, 0].numpy()

    # twice as many steps halve the error of Euler's method, which so cancels
    limit = 2 * margins(400) - margins(200)
    for start, margin in zip(starts, limit, strict=True):
        level = start + np.exp(start) - slope**2 * time
        exact = brentq(lambda s, level=level: s + np.exp(s) - level, -50, 50)
        assert margin == pytest.approx(exact, abs=1e-4)


def test_the_attack_on_a_person_does_not_depend_on_others(torch):
    torch.manual_seed(0)
    points, slope = torch.randn(6, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    taken = torch.linalg.qr(torch.randn(4, 2, dtype=torch.float64))[0]
    flow = GradientFlow(steps=50)

    def losses(places):
        return entropy_loss((places**2) @ slope, torch.ones(len(places), dtype=torch.float64))

    together = flow.attack(losses, points, taken)
    alone = torch.cat([flow.attack(losses, one[None], taken) for one in points])
    assert torch.allclose(together, alone, rtol=0, atol=1e-12)
    assert (losses(together) > losses(points)).all()
    assert (beyond(together - points, taken) ** 2).sum() > 0


def test_losses_of_confident_predictions_are_small_but_not_0(torch):
    odds = torch.tensor([80.0, -80.0])
    right, wrong = (entropy_loss(odds, torch.tensor(labels)) for labels in ([1.0, 0.0], [0.0, 1.0]))
    assert (right > 0).all()
    assert right.numpy() == pytest.approx(np.exp([-80.0, -80.0]), rel=1e-4)
    assert wrong.numpy() == pytest.approx([80.0, 80.0])


def test_a_mixture_has_the_weighted_probability(torch):
    weights, intercepts = np.array([0.25, 0.75]), np.array([0.3, -1.0])
    slopes = np.array([[1.0, -2.0], [0.5, 3.0]])
    points = np.array([[0.2, 0.4], [-1.0, 2.0], [4.0, -7.0]])
    wanted = (1 / (1 + np.exp(-(points @ slopes.T + intercepts)))) @ weights
    found = mixture(weights, slopes, intercepts)(torch.tensor(points, dtype=torch.float32))
    assert found.sigmoid().numpy() == pytest.approx(wanted, rel=1e-5)
