"""The worst pair: comparable people whose predictions differ most for their distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fairtransport.documents import Doc
from fairtransport.localise.moves import Prediction, prediction_at
from fairtransport.localise.profiles import Profile, Profiles

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray, IntArray, Values
    from fairtransport.geometry import Geometry
    from fairtransport.space import SampleSpace

CHUNK_ENTRIES = 1 << 20
MOST_PAIRS = 10**8
"""More pairs than this are not searched."""


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
    """
    if geometry.is_free or sum(len(members) ** 2 for members in geometry.members) > MOST_PAIRS:
        return None
    best, found = 0.0, (0, 0)
    for members in geometry.members:
        step = max(1, CHUNK_ENTRIES // len(members))
        for at in range(0, len(members), step):
            rows = members[at : at + step]
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


def _ratios(costs: FloatArray, apart: FloatArray) -> FloatArray:
    positive = (costs > 0) & np.isfinite(costs)
    return np.divide(apart, np.sqrt(costs), out=np.zeros_like(costs), where=positive)


def _apart(predictions: Values, rows: IntArray, cols: IntArray, *, are_labels: bool) -> FloatArray:
    if predictions.ndim > 1:
        return np.asarray(
            np.abs(np.subtract(predictions[rows][:, None], predictions[cols][None])).sum(axis=2) / 2
        )
    one, other = predictions[rows][:, None], predictions[cols][None]
    if not are_labels and np.issubdtype(predictions.dtype, np.floating):
        return np.asarray(np.abs(np.subtract(one, other)))
    return np.asarray(one != other, dtype=np.float64)
