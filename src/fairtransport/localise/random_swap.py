"""Swaps with a random twin, beside which the worst ones are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.geometry import Geometry
    from fairtransport.space import SampleSpace


def random_swap_risk(space: SampleSpace, geometry: Geometry, losses: FloatArray) -> float | None:
    """Return the mean loss when everybody is swapped with a random twin.

    Parameters
    ----------
    space
        The points and people.
    geometry
        Who is comparable.
    losses
        (K,) of all points.

    Notes
    -----
    A person's twin is of each sensitive group with the share that the group has among all people,
    the person's own group included. None where people are compared with others than twins: with
    prices or a reference frame, who is comparable enough is a matter of the budget; and among
    people in the data, random swaps leave the mean loss as it is, whatever the model.
    """
    if not (space.has_twins and geometry.is_free and geometry.targets is None):
        return None
    groups = space.sensitive_groups
    weights = np.asarray(np.bincount(groups, space.counts), np.float64)[groups]
    blocks = np.unique(geometry.blocks, return_inverse=True)[1].reshape(-1)
    means = np.bincount(blocks, weights * losses) / np.bincount(blocks, weights)
    return float(space.frequencies @ means[blocks])
