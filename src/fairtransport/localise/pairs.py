"""The worst pair: comparable people whose predictions differ most for their distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.moves import Prediction, prediction_at
from fairtransport.localise.profiles import Profile, Profiles
from fairtransport.threads import threads_for

if TYPE_CHECKING:
    from fairtransport.checks import BoolArray, FloatArray, IntArray, Values
    from fairtransport.geometry import Geometry
    from fairtransport.space import SampleSpace

CHUNK_ENTRIES = 1 << 20
MOST_PAIRS = 10**8
"""More pairs than this are not searched."""
MANY_PAIRS = 10**6
"""From so many on a compiled loop is worth loading."""
ROWS = 512
"""Points at a time: the largest ratio so far spares the next ones most of their distances."""
ROUNDING = 1e-9
"""Sums in another order differ by less, as a share."""


@dataclass(frozen=True)
class WorstPair:
    """Two comparable people of one label whose predictions differ most by distance.

    Where the loss knows no label, any two. The largest ratio of differences is the empirical
    Lipschitz constant of the paper's Definition 1.
    """

    first: Annotated[Profile, Doc("The one.")]
    second: Annotated[Profile, Doc("The other.")]
    prediction: Annotated[Prediction, Doc("What the model says of the one.")]
    prediction_of_second: Annotated[Prediction, Doc("What the model says of the other.")]
    distance: Annotated[float, Doc("Their distance.")]
    ratio: Annotated[
        float,
        Doc(
            "The empirical Lipschitz constant: difference divided by distance.",
            may_be_infinite=True,
        ),
    ]


def worst_pair(
    space: SampleSpace, geometry: Geometry, predictions: Values, *, are_labels: bool
) -> WorstPair | None:
    """Return the pair with the largest ratio; None where no distance is positive.

    Labels are 0 or 1 apart, also those stored as numbers (``are_labels``); other numbers by
    their difference, scores by total variation. Only people with the same true label are
    comparable.

    Parameters
    ----------
    space
        The points.
    geometry
        Who is comparable, and at what squared distance.
    predictions
        What the model says at each point.
    are_labels
        Whether predictions are labels rather than numbers.

    Returns
    -------
    WorstPair or None
        None as well where there are more than ``MOST_PAIRS`` pairs.
    """
    if geometry.is_free or _pairs(geometry) > MOST_PAIRS:
        return None
    # a quick pass first: only rows that can hold the worst pair are computed in full
    worth = _worth_a_look(geometry, predictions, are_labels=are_labels)
    best, found = 0.0, (0, 0)
    for members in geometry.members:
        chosen, step = members[worth[members]], max(1, CHUNK_ENTRIES // len(members))
        for at in range(0, len(chosen), step):
            rows = chosen[at : at + step]
            apart = _apart(predictions, rows, members, are_labels=are_labels)
            ratios = _ratios(geometry.costs(rows, members), apart)
            top = int(ratios.argmax())
            if ratios.flat[top] > best:
                best = float(ratios.flat[top])
                row, col = divmod(top, len(members))
                found = (int(rows[row]), int(members[col]))
    if not best:
        return None
    profiles = Profiles(space)
    first, second = found
    cost = geometry.costs(np.array([first]), np.array([second]))[0, 0]
    return WorstPair(
        profiles.profile(first),
        profiles.profile(second),
        prediction_at(predictions, first),
        prediction_at(predictions, second),
        float(np.sqrt(cost)),
        best,
    )


def _pairs(geometry: Geometry) -> int:
    """Return how many pairs are comparable, each point with itself included."""
    return sum(len(members) ** 2 for members in geometry.members)


def _worth_a_look(geometry: Geometry, predictions: Values, *, are_labels: bool) -> BoolArray:
    """Tell which points may be the first of the worst pair.

    Where there are many pairs a compiled loop finds the largest ratio of each point; rounding
    aside, one with less than the largest of all is not in it.

    Parameters
    ----------
    geometry, predictions, are_labels
        As in `worst_pair`.
    """
    worth = np.ones(geometry.size, bool)
    if (place := geometry.searchable) is None or _pairs(geometry) < MANY_PAIRS:
        return worth
    from fairtransport.transport.pair_ratios import largest_ratios

    labels = are_labels or not np.issubdtype(predictions.dtype, np.floating)
    said = np.unique(predictions, return_inverse=True)[1] if labels else predictions
    columns = np.ascontiguousarray(said.reshape(geometry.size, -1), np.float64)
    ratios, floor = np.zeros(geometry.size), 0.0
    for members in geometry.members:
        targets = geometry.targets_in(members)
        for at in range(0, len(members), ROWS):
            rows = members[at : at + ROWS]
            found = np.empty(len(rows))
            with threads_for(float(len(rows)) * len(targets)):
                largest_ratios(rows, targets, place, columns, labels, floor, found)
            ratios[rows] = found
            # the kernel adds squares in its own order: what it finds a rounding error below the
            # best is looked at again, by the sums that are told
            floor = max(floor, float(found.max()) * (1 - ROUNDING))
    return ratios >= floor


def _ratios(costs: FloatArray, apart: FloatArray) -> FloatArray:
    """Return differences over distances, 0 where two points coincide or are not comparable.

    Parameters
    ----------
    costs
        Squared distances.
    apart
        Differences of predictions.

    Examples
    --------
    >>> _ratios(np.array([[0.0, 4.0, np.inf]]), np.array([[1.0, 1.0, 1.0]])).tolist()
    [[0.0, 0.5, 0.0]]
    """
    positive = (costs > 0) & np.isfinite(costs)
    return np.divide(apart, np.sqrt(costs), out=np.zeros_like(costs), where=positive)


def _apart(predictions: Values, rows: IntArray, cols: IntArray, *, are_labels: bool) -> FloatArray:
    """Return how much predictions differ, (rows, cols).

    Parameters
    ----------
    predictions, are_labels
        As in `worst_pair`.
    rows, cols
        The points on both sides.

    Examples
    --------
    >>> scores = np.array([[0.25, 0.75], [0.5, 0.5]])
    >>> _apart(scores, np.array([0]), np.array([0, 1]), are_labels=False).tolist()
    [[0.0, 0.25]]
    """
    if predictions.ndim > 1:
        return np.asarray(
            np.abs(np.subtract(predictions[rows][:, None], predictions[cols][None])).sum(axis=2) / 2
        )
    one, other = predictions[rows][:, None], predictions[cols][None]
    if not are_labels and np.issubdtype(predictions.dtype, np.floating):
        return np.asarray(np.abs(np.subtract(one, other)))
    return np.asarray(one != other, dtype=np.float64)
