"""What predictions are judged by: the true labels, or nothing where they are the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.access.boxes import Access
    from fairtransport.losses import Loss
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import Value, Values


def outcome_range(loss: Loss, access: Access, pos_label: Value) -> tuple[float, float] | None:
    """Return the limits of a loss that is the prediction itself, where they are known.

    Parameters
    ----------
    loss
        Its own range comes first.
    access
        Where predictions come from; classes that are numbers are limits.
    pos_label
        The outcome is then 0 or 1.
    """
    if loss.range is not None:
        return loss.range
    if pos_label is not None or access.parameter == "y_score":
        return 0.0, 1.0
    own = access.classes or ()
    numbers = [label for label in own if isinstance(label, int | float)]
    if not numbers or len(numbers) < len(own):
        return None
    return float(min(numbers)), float(max(numbers))


def labels_in(space: SampleSpace) -> list[Value]:
    """Return the true labels that occur.

    Parameters
    ----------
    space
        The points; without a label there are none.
    """
    return [] if space.label is None else list(space.columns[space.label].levels.tolist())


def truth_at(space: SampleSpace, loss: Loss, classes: Sequence[Value]) -> Values:
    """Return what predictions at all points are judged by, in the terms of the loss.

    Parameters
    ----------
    space
        The points.
    loss
        Losses on scores want class numbers, those on values numbers, others labels.
    classes
        The labels in the order of class numbers.

    Raises
    ------
    DataError
        If labels are no numbers where the loss needs some.
    """
    if space.label is None:
        return np.zeros(space.size)
    column = space.columns[space.label]
    if loss.needs == "score":
        place = {label: at for at, label in enumerate(classes)}
        return np.array([place[label] for label in column.levels.tolist()])[column.codes]
    if loss.needs == "value":
        try:
            return column.values().astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            msg = f"`y` must be numeric for the loss {loss.name!r}, got {shown(column.levels[0])}"
            raise DataError(msg) from None
    return column.values()
