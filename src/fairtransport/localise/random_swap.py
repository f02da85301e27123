"""Swaps with a random comparable person, beside which the worst ones are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.checks import FloatArray
    from fairtransport.geometry import Geometry
    from fairtransport.space import SampleSpace


def random_swap_risk(space: SampleSpace, geometry: Geometry, losses: FloatArray) -> float | None:
    """Return the mean loss when everybody is swapped with a random comparable person.

    Notes
    -----
    Where the model is asked about twins, a person's twin is of each sensitive group with the
    share that the group has among all people, the person's own group included. Where people are
    compared with each other, everybody comparable is as likely as anybody else, the person
    included. None where moves have prices or the targets are a reference frame: which persons are
    comparable enough is then a matter of the budget.
    """
    if not geometry.is_free or geometry.targets is not None:
        return None
    weights = space.counts.astype(np.float64)
    if space.has_twins:
        groups = space.groups(space.sensitive)
        weights = np.asarray(np.bincount(groups, weights), np.float64)[groups]
    blocks = np.unique(geometry.blocks, return_inverse=True)[1].reshape(-1)
    means = np.bincount(blocks, weights * losses) / np.bincount(blocks, weights)
    return float(space.frequencies @ means[blocks])
