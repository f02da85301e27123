"""The five methods of Table 1: each is trained on people and answers like a black box."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from fairtransport.datasets.compas import LABEL, logistic_regression
from fairtransport.reproduce.adversarial import AdversarialDebiasing
from fairtransport.reproduce.coding import FAVOURABLE, PROTECTED, labelled
from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.fair_path import FairPath, fair_path

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from sklearn.pipeline import Pipeline

    from fairtransport.checks import FloatArray, IntArray

    Model: TypeAlias = Pipeline | Callable[[pd.DataFrame], IntArray]

SIDES = {"unprivileged_groups": [{PROTECTED: 0.0}], "privileged_groups": [{PROTECTED: 1.0}]}


class CodedPeople(Protocol):
    """AIF360's data set, as far as it is read.

    Attributes
    ----------
    labels
        (n, 1) labels; after a transformation, the predicted ones.
    instance_weights
        (n,) weights of people.
    """

    labels: FloatArray
    instance_weights: FloatArray


class _Learner(Protocol):
    """AIF360's fitted representation, as far as it is used."""

    def transform(self, dataset: CodedPeople) -> CodedPeople: ...


@dataclass(frozen=True)
class RepresentationSettings:
    """The settings of learning fair representations; AIF360's own Az of 50 leaves no signal.

    Attributes
    ----------
    prototypes
        k.
    reconstruction, prediction, parity
        Ax, Ay and Az, the weights of the three parts of its objective.
    """

    prototypes: int = 5
    reconstruction: float = 0.01
    prediction: float = 1.0
    parity: float = 0.3

    def as_dict(self) -> dict[str, float]:
        """Return the settings as they are recorded."""
        return asdict(self)


def lr(training: pd.DataFrame, seed: int) -> Pipeline:  # noqa: ARG001
    """Fit the logistic regression without any constraint.

    Parameters
    ----------
    training
        COMPAS profiles with labels.
    seed
        Not looked at: nothing is random in it.
    """
    return logistic_regression(training)


def rwt(training: pd.DataFrame, seed: int) -> Pipeline:  # noqa: ARG001
    """Fit it with AIF360's weights, under which race and label are independent.

    Parameters
    ----------
    training
        COMPAS profiles with labels.
    seed
        Not looked at: nothing is random in it.
    """
    return logistic_regression(training, reweighing_weights(training))


def reweighing_weights(training: pd.DataFrame) -> FloatArray:
    """Return AIF360's weight of each person.

    Parameters
    ----------
    training
        COMPAS profiles with labels.
    """
    reweighing = needed("aif360.algorithms.preprocessing").Reweighing(**SIDES)
    weighted = reweighing.fit_transform(coded_dataset(training))
    return np.asarray(weighted.instance_weights, dtype=np.float64)


def lfr(
    training: pd.DataFrame, seed: int, settings: RepresentationSettings | None = None
) -> FairRepresentation:
    """Fit AIF360's fair representation, whose own label is the prediction.

    Parameters
    ----------
    training
        COMPAS profiles with labels.
    seed
        Of its start.
    settings
        Default: those of the reproduction.
    """
    chosen = settings or RepresentationSettings()
    learner = needed("aif360.algorithms.preprocessing").LFR(
        **SIDES,
        k=chosen.prototypes,
        Ax=chosen.reconstruction,
        Ay=chosen.prediction,
        Az=chosen.parity,
        seed=seed,
    )
    # AIF360 sets NumPy's global seed, which is given back as it was
    state = np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(coded_dataset(training))
    finally:
        np.random.set_state(state)  # noqa: NPY002
    return FairRepresentation(learner)


@dataclass(frozen=True, eq=False)
class FairRepresentation:
    """A fitted representation as a black box over people's features.

    Attributes
    ----------
    learner
        AIF360's. It sets NumPy's global seed at every call; that is given back as it was.
    """

    learner: _Learner

    def __call__(self, people: pd.DataFrame) -> IntArray:
        """Return the predicted label of each person.

        Parameters
        ----------
        people
            COMPAS profiles.
        """
        state = np.random.get_state()  # noqa: NPY002
        try:
            transformed = self.learner.transform(coded_dataset(people))
        finally:
            np.random.set_state(state)  # noqa: NPY002
        return np.asarray(transformed.labels[:, 0], dtype=np.int64)


def adb(training: pd.DataFrame, seed: int) -> AdversarialDebiasing:
    """Fit adversarial debiasing.

    Parameters
    ----------
    training, seed
        COMPAS profiles with labels, and the seed of its networks.
    """
    return AdversarialDebiasing(seed=seed).fit(training)


def rlr(training: pd.DataFrame, seed: int) -> FairPath:
    """Choose a logistic regression from the l1 path under the δ-fairness constraint.

    Parameters
    ----------
    training, seed
        Shuffled COMPAS profiles with labels, and the seed of the audits.
    """
    return fair_path(training, seed)


def coded_dataset(people: pd.DataFrame) -> CodedPeople:
    """Return people as AIF360's data set; those without a label get one, for it to be ignored.

    Parameters
    ----------
    people
        COMPAS profiles, with labels or without.
    """
    frame = labelled(people)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coded: CodedPeople = needed("aif360.datasets").BinaryLabelDataset(
            df=frame,
            label_names=[LABEL],
            protected_attribute_names=[PROTECTED],
            favorable_label=FAVOURABLE,
            unfavorable_label=1 - FAVOURABLE,
        )
    return coded


BASELINES: dict[str, Callable[[pd.DataFrame, int], Model]] = {
    "LR": lr,
    "ADB": adb,
    "RWT": rwt,
    "LFR": lfr,
    "RLR": rlr,
}
"""The rows of Table 1, in the paper's order."""
