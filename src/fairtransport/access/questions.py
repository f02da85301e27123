"""The questions that the points of a space are to a model: what it receives, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport.errors import InputError
from fairtransport.space.columns import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.access.boxes import BlackBox
    from fairtransport.checks import IntArray
    from fairtransport.space import SampleSpace

Question: TypeAlias = tuple[Value, ...]
"""What a model is asked about: the values of the features, in their order."""


def asked_columns(box: BlackBox, space: SampleSpace, *, partial: bool = False) -> tuple[str, ...]:
    """Return the columns that a model receives, in its order.

    Parameters
    ----------
    box
        The model.
    space
        The points, with the audit's features.
    partial
        Whether the model may want fewer than these.

    Raises
    ------
    InputError
        If the model wants others.
    """
    names = space.features if box.features is None else box.features
    if not set(names) <= set(space.features) or not (partial or len(names) == len(space.features)):
        msg = (
            f"`features` must be the columns that the model was fitted on "
            f"({', '.join(names)}), got {', '.join(space.features)}"
        )
        raise InputError(msg)
    return tuple(names)


def asked_frame(box: BlackBox, space: SampleSpace) -> IntoDataFrame:
    """Return all points as a model receives them: its columns in its order, in its library.

    Parameters
    ----------
    box, space
        The model and the points.
    """
    return space.frame(asked_columns(box, space), None, box.library or space.library)


def distinct(space: SampleSpace, asked: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the points that are questions of their own, in order, and which each point asks.

    People who look the same to the model are one question, whatever else they differ in.

    Parameters
    ----------
    space
        The points.
    asked
        The columns that the model receives.

    Returns
    -------
    first, group
        The first point of each question, and by point the number of its question.
    """
    _, first, group = np.unique(space.groups(asked), return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[group.reshape(-1)]


def questions_at(space: SampleSpace, rows: IntArray, asked: Sequence[str]) -> list[Question]:
    """Return the questions at some points.

    Parameters
    ----------
    space
        The points.
    rows
        Which of them.
    asked
        The columns that the model receives.
    """
    columns = [space.columns[name].take(rows).to_list() for name in asked]
    return list(zip(*columns, strict=True))
