"""Which labels can occur, and what cannot be one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import is_among, shown
from fairtransport.errors import DataError, InputError, ModelError
from fairtransport.space.columns import sorted_levels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from fairtransport.access.boxes import Access
    from fairtransport.losses import Loss
    from fairtransport.space.columns import Value, Values

TWO_LABELS = 2


def all_classes(labels: list[Value], access: Access, loss: Loss) -> list[Value]:
    """Return all labels that can occur: those of the data and those the model knows.

    Parameters
    ----------
    labels
        Those of the data.
    access
        Where predictions come from.
    loss
        Only losses on labels and scores care for the model's classes.

    Raises
    ------
    DataError
        If the two have nothing in common: 0 and "0" are no same label.
    """
    own = access.classes
    if own is None or loss.needs not in {"label", "score"}:
        return labels
    # nothing in common is a mistake in types, such as 1 and "1"; every answer would be an error
    if labels and not set(labels) & set(own):
        msg = (
            f"the labels {shown(labels)} and the model's classes {shown(own)} have nothing "
            "in common; are they of the same type?"
        )
        raise DataError(msg)
    return list(sorted_levels([*labels, *own]).tolist())


def positive_label(classes: Sequence[Value], pos_label: Value, labels: Sequence[Value]) -> Value:
    """Return the label that a single score belongs to; None where there is no usual one.

    Parameters
    ----------
    classes
        All labels, sorted.
    pos_label
        What the user said, if anything.
    labels
        Those of the data.

    Raises
    ------
    InputError
        If the user named a label that there is not.

    Examples
    --------
    >>> positive_label([0, 1], None, [0, 1]), positive_label(["no", "yes"], None, ["no", "yes"])
    (1, None)
    """
    if pos_label is None:
        usual = set(classes) in ({0, 1}, {-1, 1})
        return classes[-1] if usual else None
    if labels and not is_among(pos_label, classes):
        msg = (
            f"`pos_label` must be one of the labels {shown(list(classes))}, got {shown(pos_label)}"
        )
        raise InputError(msg)
    return pos_label


def tells_labels(access: Access, labels: Collection[Value]) -> bool:
    """Say whether all labels are known: one alone does not tell which others there are.

    Parameters
    ----------
    access
        Where predictions come from; its classes tell.
    labels
        Those of the data.
    """
    return access.classes is not None or len(labels) >= TWO_LABELS


def refuse_fractions(who: str, predictions: Values, labels: Sequence[Value]) -> None:
    """Refuse a score among predicted labels; it would pass for a label of its own, and an error.

    Parameters
    ----------
    who
        Where predictions come from, for the message.
    predictions
        One a point.
    labels
        The true labels; one that is a fraction itself is no score.

    Raises
    ------
    DataError
        Naming the first.

    Examples
    --------
    >>> refuse_fractions("`y_pred`", np.array([0.0, 0.3]), [0, 1])
    Traceback (most recent call last):
        ...
    fairtransport.errors.DataError: `y_pred` must hold labels, as [0, 1], got 0.3
    """
    if predictions.dtype.kind != "f" or any(isinstance(one, str) for one in labels):
        return
    odd = (predictions != np.rint(predictions)) & ~np.isin(predictions, np.asarray(labels))
    if odd.any():
        msg = f"{who} must hold labels, as {shown(list(labels))}, got {predictions[odd][0]:g}"
        raise DataError(msg)


def refuse_disjoint(labels: Sequence[Value], predictions: Values) -> None:
    """Refuse predictions of which none is a label.

    Parameters
    ----------
    labels
        The true labels.
    predictions
        One a point.

    Raises
    ------
    DataError
        Everybody would be an error, for a difference in types.

    Examples
    --------
    >>> refuse_disjoint([0, 1], np.array([0, 2]))
    """
    predicted = sorted_levels(predictions.tolist()).tolist()
    if not set(predicted) & set(labels):
        msg = (
            f"the true labels {shown(labels)} and the predicted ones {shown(predicted)} "
            "have nothing in common; are they of the same type?"
        )
        raise DataError(msg)


def refuse_unlike(labels: Iterable[Value], predicted: Iterable[Value], who: str) -> None:
    """Refuse predictions that cannot be labels: text beside numbers, scores beside whole numbers.

    Labels are of one kind, too.

    Parameters
    ----------
    labels
        True labels seen so far in a stream.
    predicted
        Predictions seen so far.
    who
        Where they come from, for messages.

    Raises
    ------
    DataError
        If kinds are mixed.
    ModelError
        If scores come where labels are wanted.
    """
    truth = sorted(labels, key=str)
    first = truth[0] if truth else None
    for label in truth:
        if isinstance(label, str) != isinstance(first, str):
            msg = f"labels must be text or numbers, not both, got {shown(first)} and {shown(label)}"
            raise DataError(msg)
    is_whole = all(isinstance(label, int | float) and label == int(label) for label in truth)
    for prediction in predicted if truth else ():
        if isinstance(first, str) != isinstance(prediction, str):
            msg = (
                f"true labels and predictions must be of the same type, got {shown(first)} "
                f"and {shown(prediction)}"
            )
            raise DataError(msg)
        if is_whole and isinstance(prediction, float) and prediction != int(prediction):
            msg = f"{who} must give labels such as {shown(first)}, not scores, got {prediction:g}"
            raise ModelError(msg)
