"""SenSR (Yurochkin, Bower and Sun, 2020): a network trained on people after an attack."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fairtransport.reproduce.adult_study import basis
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.gradient_flow import beyond, entropy_loss
from fairtransport.reproduce.networks import balanced_batches, frozen, log_odds, network
from fairtransport.reproduce.torch_state import seeded, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.reproduce.adult_study import People
    from fairtransport.reproduce.networks import LogOdds
    from fairtransport.reproduce.torch_state import Tensor

LEAST_PRICE, HIGHEST_PRICE = 1e-5, 10.0


@dataclass(frozen=True)
class SenSRSettings:
    """How SenSR is trained.

    The follow-up trained for 20 000 steps of 1e-5 on batches of 1000, with 50 full attacks of
    1e-4: hundreds of times the work. Parameters and attacks can go as far here.

    Attributes
    ----------
    hidden
        Width of the one hidden layer.
    steps, batch, rate
        Of the network's Adam.
    subspace_attacks, subspace_step
        Steps of the attack along the sensitive directions, and their rate.
    full_attacks, full_step
        The same in all of the space.
    budget, price
        ρ, and λ at the start.
    """

    hidden: int = 100
    steps: int = 500
    batch: int = 250
    rate: float = 4e-4
    subspace_attacks: int = 10
    subspace_step: float = 10.0
    full_attacks: int = 10
    full_step: float = 5e-4
    budget: float = 1e-3
    price: float = 2.0

    def as_dict(self) -> dict[str, float]:
        """Return the settings as they are recorded."""
        return asdict(self)


def sensr(training: People, seed: int, settings: SenSRSettings) -> LogOdds:
    """Train a network that does well on people moved to where it does worst.

    Parameters
    ----------
    training, seed, settings
        People, the seed of weights and batches, and how.

    Notes
    -----
    Each batch is attacked: first along the sensitive directions alone, for free; then in all
    of the space, where a unit of squared fair distance costs λ of loss. The network steps down
    the loss of the moved people. λ follows the mean squared distance d towards the budget ρ:
    λ + (d − ρ) max(d, ρ)/min(d, ρ).
    """
    torch = needed("torch")
    directions = training.directions()
    along, taken = tensor(directions), tensor(basis(directions))
    points, price = tensor(training.points), settings.price
    with seeded(seed):
        model = network(points.shape[1], settings.hidden)
        optimiser = torch.optim.Adam(model.parameters(), settings.rate, fused=True)
        chosen, labels = balanced_batches(training, settings.steps, settings.batch)
        for rows in chosen:
            worst, distance = _attacked(model, points[rows], labels, along, taken, price, settings)
            price = _next_price(price, distance, settings.budget)
            optimiser.zero_grad()
            entropy_loss(log_odds(model, worst), labels).mean().backward()
            optimiser.step()
    return frozen(model)


def _attacked(
    model: Any, points: Tensor, labels: Tensor, along: Tensor, taken: Tensor, price: float,
    settings: SenSRSettings,
) -> tuple[Tensor, float]:  # fmt: skip
    """Return the moved people and their mean squared fair distance.

    Parameters
    ----------
    model
        The network as it is now.
    points, labels
        A batch.
    along, taken
        The sensitive directions as they were found, and an orthonormal basis of them.
    price, settings
        λ, and steps and rates of the attacks.
    """
    torch = needed("torch")

    def loss(places: Tensor) -> Tensor:
        """Return the batch's mean loss at some places."""
        return entropy_loss(log_odds(model, places), labels).mean()

    def cost(shift: Tensor) -> Tensor:
        """Return the mean squared fair distance of a shift."""
        return (beyond(shift, taken) ** 2).sum(dim=1).mean()

    free = _ascent(
        lambda weights: loss(points + weights @ along),
        torch.zeros(len(points), len(along)),
        settings.subspace_attacks,
        settings.subspace_step,
    )
    start = points + free @ along
    shift = _ascent(
        lambda shift: loss(start + shift) - price * cost(shift),
        torch.zeros_like(points),
        settings.full_attacks,
        settings.full_step,
    )
    return start + shift, float(cost(shift))


def _ascent(aim: Callable[[Tensor], Tensor], start: Tensor, steps: int, rate: float) -> Tensor:
    """Return where some steps of Adam lead upwards.

    Parameters
    ----------
    aim
        What is to grow.
    start, steps, rate
        Where from, how many and how large.
    """
    torch = needed("torch")
    place = start.requires_grad_()
    optimiser = torch.optim.Adam([place], rate, fused=True, maximize=True)
    for _ in range(steps):
        (place.grad,) = torch.autograd.grad(aim(place), place)
        optimiser.step()
    return place.detach()


def _next_price(price: float, distance: float, budget: float) -> float:
    """Return λ after a batch; where nobody moved it is lowered as far as it goes.

    Parameters
    ----------
    price, distance, budget
        λ, d and ρ.

    Examples
    --------
    >>> _next_price(2.0, 0.002, 0.001)
    2.002
    """
    if not distance:
        return LEAST_PRICE
    pull = max(distance, budget) / min(distance, budget) * (distance - budget)
    return min(max(price + pull, LEAST_PRICE), HIGHEST_PRICE)
