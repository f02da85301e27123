"""Adversarial debiasing (Zhang, Lemoine and Mitchell, 2018) as a small PyTorch network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtransport.datasets.compas import LABEL
from fairtransport.reproduce.coding import FAVOURABLE, PROTECTED, coded
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.torch_state import seeded

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.checks import IntArray


@dataclass(frozen=True)
class AdversarialSettings:
    """AIF360's defaults, which the paper's table used as far as it says.

    Attributes
    ----------
    hidden, dropout
        Of the classifier's one layer.
    adversary_weight
        α, how much the classifier steps against the adversary.
    epochs, batch
        Passes over the people, and people a step.
    rate, decay, decay_steps
        Adam's rate, and by how much it falls after so many steps.
    """

    hidden: int = 200
    dropout: float = 0.2
    adversary_weight: float = 0.1
    epochs: int = 50
    batch: int = 128
    rate: float = 0.001
    decay: float = 0.96
    decay_steps: int = 1000

    def as_dict(self) -> dict[str, float]:
        """Return the settings as they are recorded."""
        return asdict(self)


class AdversarialDebiasing:
    """A classifier whose score tells an adversary little of race beyond the true label.

    The adversary sees s = σ((1 + |c|) logit) and the label y, as (s, s y, s (1 − y)): it asks
    for equalised odds. The classifier steps along its own loss' gradient without the part
    that would help the adversary, and a little against the adversary:

        g − ⟨g, u⟩ u − α h,   h the gradient of the adversary's loss, u = h / ‖h‖,

    one inner product for each parameter array.

    Parameters
    ----------
    settings
        Default: AIF360's.
    seed
        Of weights, dropout and the order of people.
    """

    def __init__(self, settings: AdversarialSettings | None = None, seed: int = 0) -> None:
        self.settings = settings or AdversarialSettings()
        self.seed = seed
        self._classifier: Any = None

    def fit(self, training: pd.DataFrame) -> AdversarialDebiasing:
        """Train on people with labels.

        Parameters
        ----------
        training
            COMPAS profiles with labels.
        """
        torch = needed("torch")
        features = torch.tensor(coded(training).to_numpy(), dtype=torch.float32)
        good = (training[LABEL] == FAVOURABLE).to_numpy(np.float32)
        race = coded(training, (PROTECTED,)).to_numpy(np.float32)
        labels, races = torch.tensor(good[:, None]), torch.tensor(race)
        with seeded(self.seed):
            self._classifier = self._trained(features, labels, races)
        return self

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the predicted label of each person.

        Parameters
        ----------
        people
            COMPAS profiles; race is among their features.
        """
        torch = needed("torch")
        features = torch.tensor(coded(people).to_numpy(), dtype=torch.float32)
        with torch.no_grad():
            good = (self._classifier(features)[:, 0] > 0).numpy()
        return np.where(good, FAVOURABLE, 1 - FAVOURABLE).astype(np.int64)

    def _trained(self, features: Any, labels: Any, races: Any) -> Any:
        """Return the classifier, trained against an adversary.

        Parameters
        ----------
        features, labels, races
            Tensors, one person a row.
        """
        torch = needed("torch")
        chosen = self.settings
        classifier, adversary = self._networks(features.shape[1])
        optimisers = [
            torch.optim.Adam(network.parameters(), lr=chosen.rate)
            for network in (classifier, adversary)
        ]
        schedules = [
            torch.optim.lr_scheduler.StepLR(optimiser, chosen.decay_steps, chosen.decay)
            for optimiser in optimisers
        ]
        classifier.train()
        for _ in range(chosen.epochs):
            order = torch.randperm(len(features))
            # a last batch that is not full is left out, as AIF360 does
            for rows in order[: len(order) // chosen.batch * chosen.batch].split(chosen.batch):
                self._set_gradients(
                    classifier, adversary, features[rows], labels[rows], races[rows]
                )
                for step in (*optimisers, *schedules):
                    step.step()
        return classifier.eval()

    def _networks(self, width: int) -> tuple[Any, _Adversary]:
        """Return an untrained classifier and its adversary, weights by Xavier's rule, biases 0."""
        nn = needed("torch.nn")
        classifier = nn.Sequential(
            nn.Linear(width, self.settings.hidden),
            nn.ReLU(),
            nn.Dropout(self.settings.dropout),
            nn.Linear(self.settings.hidden, 1),
        )
        head = nn.Linear(3, 1)
        for layer in (classifier[0], classifier[3], head):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        return classifier, _Adversary(nn.Parameter(needed("torch").tensor(1.0)), head)

    def _set_gradients(
        self, classifier: Any, adversary: _Adversary, features: Any, labels: Any, races: Any
    ) -> None:
        """Set both networks' gradients for one batch; the optimisers then step.

        Parameters
        ----------
        classifier, adversary
            The networks.
        features, labels, races
            Of the batch.
        """
        torch = needed("torch")
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        logits = classifier(features)
        own, other = list(classifier.parameters()), adversary.parameters()
        gradients = torch.autograd.grad(loss(logits, labels), own, retain_graph=True)
        against = torch.autograd.grad(loss(adversary(logits, labels), races), [*own, *other])
        tiny = torch.finfo(torch.float32).tiny
        for parameter, g, h in zip(own, gradients, against[: len(own)], strict=True):
            unit = h / (h.norm() + tiny)
            parameter.grad = g - (g * unit).sum() * unit - self.settings.adversary_weight * h
        for parameter, h in zip(other, against[len(own) :], strict=True):
            parameter.grad = h


class _Adversary(NamedTuple):
    """Guesses race from the classifier's logit and the true label.

    Attributes
    ----------
    sharpness
        c of σ((1 + |c|) logit).
    head
        A linear layer over (s, s y, s (1 − y)).
    """

    sharpness: Any
    head: Any

    def parameters(self) -> list[Any]:
        """Return what is trained of it."""
        return [self.sharpness, *self.head.parameters()]

    def __call__(self, logits: Any, labels: Any) -> Any:
        """Return the logit of race for each person."""
        score = ((1 + self.sharpness.abs()) * logits).sigmoid()
        parts = [score, score * labels, score * (1 - labels)]
        return self.head(needed("torch").cat(parts, dim=1))
