"""The follow-up's networks: a plain one, and one that cannot see the sensitive directions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtransport.reproduce.adult_study import basis
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.gradient_flow import beyond, entropy_loss
from fairtransport.reproduce.torch_state import Tensor, seeded, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.reproduce.adult_study import People

    LogOdds: TypeAlias = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class TrainingSettings:
    """How the plain network and the projected one are trained; the follow-up's own figures.

    Attributes
    ----------
    hidden
        Width of the one hidden layer.
    steps, batch, rate
        Of Adam; a batch has as many people of each label.
    """

    hidden: int = 50
    steps: int = 8000
    batch: int = 250
    rate: float = 1e-4

    def as_dict(self) -> dict[str, float]:
        """Return the settings as they are recorded."""
        return asdict(self)


def baseline(training: People, seed: int, settings: TrainingSettings) -> LogOdds:
    """Train a network with one hidden layer.

    Parameters
    ----------
    training, seed, settings
        People, the seed of weights and batches, and how.
    """
    return _trained(tensor(training.points), training, seed, settings)


def project(training: People, seed: int, settings: TrainingSettings) -> LogOdds:
    """Train one on what is left of people without the directions that tell sex and race.

    Parameters
    ----------
    training, seed, settings
        As in `baseline`.

    Returns
    -------
    callable
        It takes whole points and projects them itself, so that an attack along the directions
        changes nothing.
    """
    taken = tensor(basis(training.directions()))
    model = _trained(beyond(tensor(training.points), taken), training, seed, settings)
    return lambda points: model(beyond(points, taken))


def _trained(points: Tensor, training: People, seed: int, settings: TrainingSettings) -> LogOdds:
    """Return a network trained on some coordinates of people.

    Parameters
    ----------
    points
        The coordinates, whole or projected.
    training, seed, settings
        As in `baseline`.
    """
    torch = needed("torch")
    with seeded(seed):
        model = network(points.shape[1], settings.hidden)
        optimiser = torch.optim.Adam(model.parameters(), settings.rate, fused=True)
        chosen, labels = balanced_batches(training, settings.steps, settings.batch)
        for rows in chosen:
            optimiser.zero_grad()
            entropy_loss(log_odds(model, points[rows]), labels).mean().backward()
            optimiser.step()
    return frozen(model)


def network(width: int, hidden: int) -> Any:
    """Return a network with two outputs, whose difference is the log-odds.

    Parameters
    ----------
    width, hidden
        Of its input and its layer; weights are drawn by Xavier's rule, biases are 0.
    """
    nn = needed("torch.nn")
    model = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 2))
    for layer in (model[0], model[2]):
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)
    return model


def log_odds(model: Any, points: Tensor) -> Tensor:
    """Return the log-odds of the label 1.

    Parameters
    ----------
    model, points
        A network with two outputs, and (n, d) points.
    """
    outputs = model(points)
    return outputs[:, 1] - outputs[:, 0]


def frozen(model: Any) -> LogOdds:
    """Return a trained network as a function of points alone.

    Parameters
    ----------
    model
        Its parameters no longer ask for gradients; those of points still flow through.
    """
    model.requires_grad_(requires_grad=False)
    return lambda points: log_odds(model, points)


def balanced_batches(training: People, steps: int, size: int) -> tuple[Tensor, Tensor]:
    """Return (steps, size) rows, as many of each label, and the labels of a batch.

    Parameters
    ----------
    training
        People, drawn with replacement.
    steps, size
        How many batches, and people in each.
    """
    torch = needed("torch")
    half = size // 2
    rows = [torch.tensor(np.flatnonzero(training.labels == label)) for label in (0, 1)]
    drawn = [part[torch.randint(len(part), (steps, half))] for part in rows]
    return torch.cat(drawn, dim=1), torch.tensor([0.0, 1.0]).repeat_interleave(half)
