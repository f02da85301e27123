"""The reductions approach to group fairness (fairlearn), as a function with gradients."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.reproduce.extras import needed
from fairtransport.reproduce.torch_state import tensor

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.reproduce.adult_study import People
    from fairtransport.reproduce.networks import LogOdds
    from fairtransport.reproduce.torch_state import Tensor


@dataclass(frozen=True)
class ReductionSettings:
    """How far the odds of four groups (sex by race) may differ; the follow-up's figure.

    Attributes
    ----------
    slack
        Fairlearn's ``eps``.
    """

    slack: float = 0.03

    def as_dict(self) -> dict[str, float]:
        """Return the settings as they are recorded."""
        return asdict(self)


def reduction(training: People, seed: int, settings: ReductionSettings) -> LogOdds:  # noqa: ARG001
    """Fit logistic regressions under equalised odds by exponentiated gradients.

    Parameters
    ----------
    training
        People to fit on.
    seed
        Not looked at: nothing is random in it.
    settings
        How far odds may differ.

    Notes
    -----
    Fairlearn's classifier draws one of several regressions at random and answers with its
    label. In its place stands, as in the follow-up, the probability p = Σₖ wₖ σ(aₖ'x + bₖ):
    the draw's weights w with the regressions' probabilities, not their labels, which have no
    gradients.
    """
    from sklearn.linear_model import LogisticRegression

    reductions = needed("fairlearn.reductions")
    fitted = reductions.ExponentiatedGradient(
        LogisticRegression(solver="liblinear", class_weight="balanced"),
        reductions.EqualizedOdds(),
        eps=settings.slack,
    )
    groups = training.groups[:, 0] + 2 * training.groups[:, 1]
    with warnings.catch_warnings():
        # of pandas and scikit-learn, about how fairlearn calls them
        warnings.simplefilter("ignore")
        fitted.fit(training.points, training.labels, sensitive_features=groups)
    used = [at for at, weight in fitted.weights_.items() if weight > 0]
    return mixture(
        np.array([fitted.weights_[at] for at in used]),
        np.vstack([fitted.predictors_[at].coef_ for at in used]),
        np.array([fitted.predictors_[at].intercept_[0] for at in used]),
    )


def mixture(weights: FloatArray, slopes: FloatArray, intercepts: FloatArray) -> LogOdds:
    """Return the log-odds of a mixture of logistic regressions.

    Parameters
    ----------
    weights
        (k,) positive, summing to 1.
    slopes, intercepts
        (k, d) and (k,).

    Notes
    -----
    log Σ w σ(a'x + b) − log Σ w σ(−a'x − b), each by its own log-sum-exp: the odds of very
    confident mixtures would otherwise be 0 or infinite.
    """
    log_sigmoid = needed("torch.nn.functional").logsigmoid
    shares, steep, heights = tensor(np.log(weights)), tensor(slopes.T), tensor(intercepts)

    def log_odds(points: Tensor) -> Tensor:
        """Return the log-odds at some points."""
        each = points @ steep + heights
        yes, no = shares + log_sigmoid(each), shares + log_sigmoid(-each)
        return yes.logsumexp(dim=1) - no.logsumexp(dim=1)

    return log_odds
