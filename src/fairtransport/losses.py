"""Registry of losses: the kind of answer each needs, its range and its formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from fairtransport._core.validation import (
    FloatArray,
    Values,
    check_float_array,
    check_number,
    describe_error,
    short_repr,
)
from fairtransport.errors import DataError, FairtransportError, InputError, ModelError, param

Answer: TypeAlias = Literal["label", "score", "value", "any"]
"""Kind of answer a loss needs: labels, class scores (probabilities), numbers, or any."""

Evaluate: TypeAlias = Callable[[Values, Values], FloatArray]

DEFAULT_CLIP = 0.01


@dataclass(frozen=True)
class Loss:
    """A loss, with the kind of answer it needs and its range.

    Attributes
    ----------
    name
        Name, as typed by users and printed in reports.
    needs
        "label": ``evaluate(labels, predicted labels)``;
        "score": ``evaluate(class numbers, class scores)`` with one column per class;
        "value": ``evaluate(numbers, predicted numbers)``;
        "any": ``evaluate(labels, predictions)``, both unchecked.
    evaluate
        Function that returns one loss per point.
    range
        Lower and upper limit for any data; None if there is none.
    uses_truth
        Whether the true label matters. If not, labels are not needed and do not restrict moves.
    settings
        Parameters of the loss, recorded with the audit.
    binary
        Whether every loss is one of the two limits of the range.

    Examples
    --------
    A custom loss: an undeserved rejection counts five times an undeserved acceptance.

    >>> import numpy as np
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> def cost(good, predicted):
    ...     return np.where(good == predicted, 0.0, np.where(good == 1, 5.0, 1.0))
    >>> harm = ft.Loss("harm", "label", cost, range=(0.0, 5.0))
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "good": [1] * 400})
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
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
    """Return each person's score of the true class."""
    return np.asarray(scores[np.arange(len(truth)), truth], dtype=np.float64)


def _brier(truth: Values, scores: Values) -> FloatArray:
    """Return half the squared distance of scores from the truth, in [0, 1]."""
    hit = np.eye(scores.shape[1])[truth]
    return np.asarray(((scores - hit) ** 2).sum(axis=1) / 2)


def _difference(truth: Values, predicted: Values) -> FloatArray:
    """Return the true minus the predicted numbers."""
    return np.asarray(truth, dtype=np.float64) - np.asarray(predicted, dtype=np.float64)


def log_loss(clip: float = DEFAULT_CLIP) -> Loss:
    """Return the logarithmic loss with scores clipped from below, so that it is bounded."""
    clip = check_number("clip", clip, above=0, below=1)

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
    """Return a named or callable loss; ``loss_range`` adds a range that it lacks."""
    if isinstance(loss, Loss):
        result = loss
    elif isinstance(loss, str) and loss in LOSSES:
        result = LOSSES[loss]
    elif callable(loss) and not isinstance(loss, type):
        result = Loss(getattr(loss, "__name__", "callable"), "any", loss)
    else:
        words = ", ".join(repr(name) for name in LOSSES)
        msg = (
            f"{param('loss')} must be one of {words}, a Loss or a callable, got {short_repr(loss)}"
        )
        raise InputError(msg)
    if loss_range is None:
        return result
    low, high = check_float_array("loss_range", loss_range, (2,))
    if not low < high or not np.isfinite([low, high]).all():
        msg = (
            f"{param('loss_range')} must be two finite numbers, the smaller first, got "
            f"{short_repr(loss_range)}"
        )
        raise InputError(msg)
    if result.range is not None and result.range != (low, high):
        msg = (
            f"{param('loss_range')} must be left out for {result.name!r}, whose range is "
            f"{result.range}"
        )
        raise InputError(msg)
    return replace(result, range=(float(low), float(high)))


def evaluate(loss: Loss, truth: Values, answer: Values) -> FloatArray:
    """Return one finite loss per point, inside the declared range."""
    try:
        losses = check_float_array(
            f"loss {loss.name!r}", loss.evaluate(truth, answer), (len(answer),)
        )
    except FairtransportError:
        raise
    except Exception as error:
        msg = f"the loss {loss.name!r} failed: {describe_error(error)}"
        raise ModelError(msg) from error
    bad = ~np.isfinite(losses)
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        msg = (
            f"losses must be finite, got {losses[index]:g} for truth {short_repr(truth[index])} "
            f"and answer {short_repr(answer[index])}"
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
