"""The follow-up's attack: people move where their loss grows, freely along sensitive directions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairtransport.reproduce.extras import needed

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.reproduce.torch_state import Tensor

    Losses: TypeAlias = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class GradientFlow:
    """An attack by Euler steps along a gradient.

    Parameters
    ----------
    step
        The length of a step in time.
    steps
        How many.
    penalty
        λ, what a unit of squared fair distance costs in loss.

    Notes
    -----
    With Q an orthonormal basis of the sensitive directions, person x₀ follows

        x' = ∇ [ℓ(x) − λ |(I − QQ')(x − x₀)|²],   x(0) = x₀,

    for ``step * steps`` units of time: Φ(x₀) of Maity, Xue, Yurochkin and Sun (2021). It depends
    on nobody else. Points on the way need not be people: a level may hold by a part.
    """

    step: float = 0.005
    steps: int = 1000
    penalty: float = 50.0

    def as_dict(self) -> dict[str, float]:
        """Return the settings as they are recorded."""
        return asdict(self)

    def attack(self, losses: Losses, points: Tensor, directions: Tensor) -> Tensor:
        """Return where people are after the attack.

        Parameters
        ----------
        losses
            A function from (n, d) points to each person's loss, with gradients.
        points
            (n, d) where people are.
        directions
            (d, k) orthonormal columns.
        """
        torch = needed("torch")
        moved = points.clone()
        for _ in range(self.steps):
            place = moved.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(losses(place).sum(), place)
            moved = moved + self.step * (
                gradient - 2 * self.penalty * beyond(moved - points, directions)
            )
        return moved


def beyond(moves: Tensor, directions: Tensor) -> Tensor:
    """Return the part of moves that is orthogonal to the directions.

    Parameters
    ----------
    moves
        (n, d).
    directions
        (d, k) orthonormal columns, Q: moves − QQ' moves.
    """
    return moves - (moves @ directions) @ directions.T


def entropy_loss(log_odds: Tensor, labels: Tensor) -> Tensor:
    """Return −log of the probability of the label, from log-odds of 1.

    By log-odds the loss of a very confident prediction is small but never 0, so that its ratio
    exists.

    Parameters
    ----------
    log_odds, labels
        One a person; labels are 0 or 1.
    """
    return needed("torch.nn.functional").softplus(log_odds * (1 - 2 * labels))
