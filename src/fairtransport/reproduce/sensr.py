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
    """Return the moved people and their mean squared fair distance."""
    torch = needed("torch")

    def loss(places: Tensor) -> Tensor:
        return entropy_loss(log_odds(model, places), labels).mean()

    def cost(shift: Tensor) -> Tensor:
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
    """Return where some steps of Adam lead upwards."""
    torch = needed("torch")
    place = start.requires_grad_()
    optimiser = torch.optim.Adam([place], rate, fused=True, maximize=True)
    for _ in range(steps):
        (place.grad,) = torch.autograd.grad(aim(place), place)
        optimiser.step()
    return place.detach()


def _next_price(price: float, distance: float, budget: float) -> float:
    """Return λ after a batch; where nobody moved it is lowered as far as it goes."""
    if not distance:
        return LEAST_PRICE
    pull = max(distance, budget) / min(distance, budget) * (distance - budget)
    return min(max(price + pull, LEAST_PRICE), HIGHEST_PRICE)
