"""The registry of losses: what each needs of the model, its range, how it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from fairtransport.checks import FloatArray, Values, float_array, number, said, shown
from fairtransport.errors import DataError, FairtransportError, InputError, ModelError

Answer: TypeAlias = Literal["label", "score", "value", "any"]
"""What a loss needs: predicted labels, class scores (probabilities), numbers, or whatever."""

Evaluate: TypeAlias = Callable[[Values, Values], FloatArray]

DEFAULT_CLIP = 0.01


@dataclass(frozen=True)
class Loss:
    """A loss and what is known of it before any data is seen.

    Attributes
    ----------
    name
        What a user types and a report prints.
    needs
        "label": ``evaluate(labels, predicted labels)``;
        "score": ``evaluate(class numbers, class scores)`` with one column a class;
        "value": ``evaluate(numbers, predicted numbers)``;
        "any": ``evaluate(labels, predictions)``, neither looked at.
    evaluate
        Returns one loss a point.
    range
        Lower and upper limit that hold whatever the data; None if there is none.
    uses_truth
        Whether the true label matters. If not, labels neither are needed nor block moves.
    settings
        Numbers that shape the loss, recorded with the audit.
    binary
        Whether each loss is an end of the range, whatever the data.

    Examples
    --------
    A loss of your own: an undeserved rejection counts five times an undeserved acceptance.

    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> def cost(good, said):
    ...     return np.where(good == said, 0.0, np.where(good == 1, 5.0, 1.0))
    >>> harm = ft.Loss("harm", "label", cost, range=(0.0, 5.0))
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1] * 400})
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", loss=harm, rng=0)
    >>> result.statistic
    2.5
    """

    name: str
    needs: Answer
    evaluate: Evaluate
    range: tuple[float, float] | None = None
    uses_truth: bool = True
    settings: Mapping[str, float] = field(default_factory=dict)
    binary: bool = False


def _zero_one(truth: Values, predicted: Values) -> FloatArray:
    """Return 1 where the predicted label is not the true one, else 0."""
    return np.asarray(truth != predicted, dtype=np.float64)


def _score_of_truth(truth: Values, scores: Values) -> FloatArray:
    """Return the score that each person's true class got.

    Parameters
    ----------
    truth
        Class numbers.
    scores
        (n, classes).

    Examples
    --------
    >>> _score_of_truth(np.array([1, 0]), np.array([[0.25, 0.75], [0.5, 0.5]])).tolist()
    [0.75, 0.5]
    """
    return np.asarray(scores[np.arange(len(truth)), truth], dtype=np.float64)


def _brier(truth: Values, scores: Values) -> FloatArray:
    """Return half the squared distance of scores from the truth, in [0, 1].

    Parameters
    ----------
    truth
        Class numbers.
    scores
        (n, classes) probabilities.

    Examples
    --------
    >>> _brier(np.array([1, 0]), np.array([[0.25, 0.75], [0.0, 1.0]])).tolist()
    [0.0625, 1.0]
    """
    hit = np.eye(scores.shape[1])[truth]
    return np.asarray(((scores - hit) ** 2).sum(axis=1) / 2)


def _difference(truth: Values, predicted: Values) -> FloatArray:
    """Return true less predicted numbers."""
    return np.asarray(truth, dtype=np.float64) - np.asarray(predicted, dtype=np.float64)


def log_loss(clip: float = DEFAULT_CLIP) -> Loss:
    """Return the logarithmic loss with scores clipped from below, so that it is bounded.

    Parameters
    ----------
    clip
        The least score that counts, in (0, 1); the loss is at most −log(clip). Without it a single
        confident error would be worth infinitely much, and no bound could be given.

    Examples
    --------
    >>> low, high = log_loss(clip=0.1).range
    >>> low, round(high, 4)
    (0.0, 2.3026)
    """
    clip = number("clip", clip, above=0, below=1)

    def evaluate(truth: Values, scores: Values) -> FloatArray:
        """Return −log of the score of the true class."""
        return -np.log(np.maximum(_score_of_truth(truth, scores), clip))

    return Loss("log", "score", evaluate, (0.0, -math.log(clip)), settings={"clip": clip})


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("zero-one", "label", _zero_one, (0.0, 1.0), binary=True),
        log_loss(),
        # half the sum over classes: (p − y)² for two classes, at most 1 for any number
        Loss("brier", "score", _brier, (0.0, 1.0)),
        Loss("absolute", "value", lambda truth, predicted: np.abs(_difference(truth, predicted))),
        Loss("squared", "value", lambda truth, predicted: _difference(truth, predicted) ** 2),
        # the prediction itself, for audits in which the truth is unknown
        Loss(
            "outcome",
            "value",
            lambda _, predicted: np.asarray(predicted, dtype=np.float64),
            uses_truth=False,
        ),
    )
}


def as_loss(loss: object, loss_range: object = None) -> Loss:
    """Return the loss a user named, or wrap a callable ``loss(y, prediction)``.

    ``loss_range`` states limits that the user knows to hold; a loss that has its own keeps it.

    Parameters
    ----------
    loss
        A name of the registry, a `Loss`, or a callable.
    loss_range
        Two finite numbers, the smaller first; None if no limits are known.

    Raises
    ------
    InputError
        If it is none of these, or the limits contradict the loss's own.

    Examples
    --------
    >>> as_loss("squared", (0.0, 4.0)).range
    (0.0, 4.0)
    """
    if isinstance(loss, Loss):
        found = loss
    elif isinstance(loss, str) and loss in LOSSES:
        found = LOSSES[loss]
    elif callable(loss) and not isinstance(loss, type):
        found = Loss(getattr(loss, "__name__", "callable"), "any", loss)
    else:
        words = ", ".join(repr(name) for name in LOSSES)
        msg = f"`loss` must be one of {words}, a Loss or a callable, got {shown(loss)}"
        raise InputError(msg)
    if loss_range is None:
        return found
    low, high = float_array("loss_range", loss_range, (2,))
    if not low < high or not np.isfinite([low, high]).all():
        msg = f"`loss_range` must be two finite numbers, low < high, got {shown(loss_range)}"
        raise InputError(msg)
    if found.range is not None and found.range != (low, high):
        msg = f"`loss_range` must be left out for {found.name!r}, whose range is {found.range}"
        raise InputError(msg)
    return replace(found, range=(float(low), float(high)))


def evaluate(loss: Loss, truth: Values, answer: Values) -> FloatArray:
    """Return one finite loss a point, inside the loss's declared range.

    Parameters
    ----------
    loss
        The loss.
    truth
        True labels, class numbers or numbers, as the loss needs them.
    answer
        What the model said, one entry or row a point.

    Raises
    ------
    ModelError
        If a caller's loss fails.
    DataError
        If a loss is not finite, or outside the range: bounds would not hold.
    """
    try:
        losses = float_array(f"loss {loss.name!r}", loss.evaluate(truth, answer), (len(answer),))
    except FairtransportError:
        raise
    except Exception as error:
        msg = f"the loss {loss.name!r} failed: {said(error)}"
        raise ModelError(msg) from error
    bad = ~np.isfinite(losses)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        msg = (
            f"losses must be finite, got {losses[at]:g} for truth {shown(truth[at])} "
            f"and answer {shown(answer[at])}"
        )
        raise DataError(msg)
    if loss.range is not None:
        low, high = loss.range
        outside = (losses < low) | (losses > high)
        if outside.any():
            worst = losses[outside][0]
            msg = f"the losses of {loss.name!r} must lie in [{low:g}, {high:g}], got {worst:g}"
            raise DataError(msg)
    return losses
