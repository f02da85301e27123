"""The five methods of Table 1: each is trained on people and answers like a black box."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from fairtransport.datasets.compas import LABEL, logistic_regression
from fairtransport.reproduce.common import import_extra, seed_torch
from fairtransport.reproduce.compas import (
    FAVOURABLE,
    PROTECTED,
    encode_labelled_people,
    encode_people,
)
from fairtransport.reproduce.fair_path import FairPath, fair_path

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from sklearn.pipeline import Pipeline

    from fairtransport._core.validation import FloatArray, IntArray

    Model: TypeAlias = Pipeline | Callable[[pd.DataFrame], IntArray]


SIDES = {"unprivileged_groups": [{PROTECTED: 0.0}], "privileged_groups": [{PROTECTED: 1.0}]}


class CodedPeople(Protocol):
    """The part of AIF360's data set that is read."""

    labels: FloatArray
    instance_weights: FloatArray


class _Learner(Protocol):
    """The part of AIF360's fitted representation that is used."""

    def transform(self, dataset: CodedPeople) -> CodedPeople: ...


@dataclass(frozen=True)
class RepresentationSettings:
    """The settings of learning fair representations; AIF360's own Az of 50 leaves no signal."""

    prototypes: int = 5
    reconstruction: float = 0.01
    prediction: float = 1.0
    parity: float = 0.3

    def as_dict(self) -> dict[str, float]:
        """Return the settings for the record."""
        return asdict(self)


def lr(training: pd.DataFrame, seed: int) -> Pipeline:  # noqa: ARG001
    """Fit the logistic regression without any constraint."""
    return logistic_regression(training)


def rwt(training: pd.DataFrame, seed: int) -> Pipeline:  # noqa: ARG001
    """Fit it with AIF360's weights, under which race and label are independent."""
    return logistic_regression(training, reweighing_weights(training))


def reweighing_weights(training: pd.DataFrame) -> FloatArray:
    """Return AIF360's weight of each person."""
    reweighing = import_extra("aif360.algorithms.preprocessing").Reweighing(**SIDES)
    weighted = reweighing.fit_transform(build_dataset(training))
    return np.asarray(weighted.instance_weights, dtype=np.float64)


def lfr(
    training: pd.DataFrame, seed: int, settings: RepresentationSettings | None = None
) -> FairRepresentation:
    """Fit AIF360's fair representation, whose own label is the prediction."""
    options = settings or RepresentationSettings()
    learner = import_extra("aif360.algorithms.preprocessing").LFR(
        **SIDES,
        k=options.prototypes,
        Ax=options.reconstruction,
        Ay=options.prediction,
        Az=options.parity,
        seed=seed,
    )
    # AIF360 sets NumPy's global seed, which is restored
    state = np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(build_dataset(training))
    finally:
        np.random.set_state(state)  # noqa: NPY002
    return FairRepresentation(learner)


@dataclass(frozen=True, eq=False)
class FairRepresentation:
    """A fitted representation as a black box over people's features."""

    learner: _Learner

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the predicted label of each person."""
        state = np.random.get_state()  # noqa: NPY002
        try:
            transformed = self.learner.transform(build_dataset(people))
        finally:
            np.random.set_state(state)  # noqa: NPY002
        return np.asarray(transformed.labels[:, 0], dtype=np.int64)


def adb(training: pd.DataFrame, seed: int) -> AdversarialDebiasing:
    """Fit adversarial debiasing."""
    return AdversarialDebiasing(seed=seed).fit(training)


def rlr(training: pd.DataFrame, seed: int) -> FairPath:
    """Choose a logistic regression from the l1 path under the δ-fairness constraint."""
    return fair_path(training, seed)


def build_dataset(people: pd.DataFrame) -> CodedPeople:
    """Return people as AIF360's data set; those without a label get one that is ignored."""
    frame = encode_labelled_people(people)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset: CodedPeople = import_extra("aif360.datasets").BinaryLabelDataset(
            df=frame,
            label_names=[LABEL],
            protected_attribute_names=[PROTECTED],
            favorable_label=FAVOURABLE,
            unfavorable_label=1 - FAVOURABLE,
        )
    return dataset


BASELINES: dict[str, Callable[[pd.DataFrame, int], Model]] = {
    "LR": lr,
    "ADB": adb,
    "RWT": rwt,
    "LFR": lfr,
    "RLR": rlr,
}
"""The rows of Table 1, in the paper's order."""


@dataclass(frozen=True)
class AdversarialSettings:
    """AIF360's defaults, which the paper's table used as far as stated."""

    hidden: int = 200
    dropout: float = 0.2
    adversary_weight: float = 0.1
    epochs: int = 50
    batch: int = 128
    rate: float = 0.001
    decay: float = 0.96
    decay_steps: int = 1000

    def as_dict(self) -> dict[str, float]:
        """Return the settings for the record."""
        return asdict(self)


class AdversarialDebiasing:
    """A classifier whose score reveals little of race to an adversary beyond the true label.

    The adversary sees s = σ((1 + |c|) logit) and the label y, as (s, s y, s (1 − y)): it asks
    for equalised odds. The classifier steps along its own loss' gradient without the part
    that would help the adversary, and a little against the adversary:

        g − ⟨g, u⟩ u − α h,   h the gradient of the adversary's loss, u = h / ‖h‖,

    one inner product for each parameter array.
    """

    def __init__(self, settings: AdversarialSettings | None = None, seed: int = 0) -> None:
        self.settings = settings or AdversarialSettings()
        self.seed = seed
        self._classifier: Any = None

    def fit(self, training: pd.DataFrame) -> AdversarialDebiasing:
        """Train on people with labels."""
        torch = import_extra("torch")
        features = torch.tensor(encode_people(training).to_numpy(), dtype=torch.float32)
        good = (training[LABEL] == FAVOURABLE).to_numpy(np.float32)
        race = encode_people(training, (PROTECTED,)).to_numpy(np.float32)
        labels, races = torch.tensor(good[:, None]), torch.tensor(race)
        with seed_torch(self.seed):
            self._classifier = self._trained(features, labels, races)
        return self

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the predicted label of each person."""
        torch = import_extra("torch")
        features = torch.tensor(encode_people(people).to_numpy(), dtype=torch.float32)
        with torch.no_grad():
            good = (self._classifier(features)[:, 0] > 0).numpy()
        return np.where(good, FAVOURABLE, 1 - FAVOURABLE).astype(np.int64)

    def _trained(self, features: Any, labels: Any, races: Any) -> Any:
        """Return the classifier, trained against an adversary."""
        torch = import_extra("torch")
        options = self.settings
        classifier, adversary = self._networks(features.shape[1])
        optimisers = [
            torch.optim.Adam(network.parameters(), lr=options.rate)
            for network in (classifier, adversary)
        ]
        schedules = [
            torch.optim.lr_scheduler.StepLR(optimiser, options.decay_steps, options.decay)
            for optimiser in optimisers
        ]
        classifier.train()
        for _ in range(options.epochs):
            order = torch.randperm(len(features))
            # a last batch that is not full is left out, as AIF360 does
            for rows in order[: len(order) // options.batch * options.batch].split(options.batch):
                self._set_gradients(
                    classifier, adversary, features[rows], labels[rows], races[rows]
                )
                for step in (*optimisers, *schedules):
                    step.step()
        return classifier.eval()

    def _networks(self, width: int) -> tuple[Any, _Adversary]:
        """Return an untrained classifier and its adversary, weights by Xavier's rule, biases 0."""
        nn = import_extra("torch.nn")
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
        return classifier, _Adversary(nn.Parameter(import_extra("torch").tensor(1.0)), head)

    def _set_gradients(
        self, classifier: Any, adversary: _Adversary, features: Any, labels: Any, races: Any
    ) -> None:
        """Set both networks' gradients for one batch; the optimisers then step."""
        torch = import_extra("torch")
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        logits = classifier(features)
        own, other = list(classifier.parameters()), adversary.parameters()
        gradients = torch.autograd.grad(loss(logits, labels), own, retain_graph=True)
        against = torch.autograd.grad(loss(adversary(logits, labels), races), [*own, *other])
        tiny = torch.finfo(torch.float32).tiny
        for parameter, g, h in zip(own, gradients, against[: len(own)], strict=True):
            # a step that helps the adversary is taken out of the classifier's own, and one that
            # harms it added
            unit = h / (h.norm() + tiny)
            parameter.grad = g - (g * unit).sum() * unit - self.settings.adversary_weight * h
        for parameter, h in zip(other, against[len(own) :], strict=True):
            parameter.grad = h


class _Adversary(NamedTuple):
    """Guesses race from the classifier's logit and the true label."""

    sharpness: Any
    head: Any

    def parameters(self) -> list[Any]:
        """Return the trained parameters."""
        return [self.sharpness, *self.head.parameters()]

    def __call__(self, logits: Any, labels: Any) -> Any:
        """Return the logit of race for each person."""
        score = ((1 + self.sharpness.abs()) * logits).sigmoid()
        parts = [score, score * labels, score * (1 - labels)]
        return self.head(import_extra("torch").cat(parts, dim=1))
