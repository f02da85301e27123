"""Tiny populations whose samples can all be enumerated, and urns that hand out given losses."""

from __future__ import annotations

from itertools import product

import numpy as np

from fairtransport.inference.rates.cell_means import ObservedLosses


def line_up(people, losses, strata):
    """Return what was observed in several orders, from (orders, blocks, groups) of each."""
    orders, _, groups = np.shape(people)
    rows = (np.reshape(part, (-1, groups)).T.astype(float).copy() for part in (people, losses))
    places = np.arange(orders)[:, None] * (max(strata) + 1) + strata
    return ObservedLosses(*rows, places.ravel())


def line_up_design(design):
    """Return (orders, blocks, groups) people with groups first."""
    return np.reshape(design, (-1, np.shape(design)[2])).T.copy()


class ScriptedUrns:
    """Urns from which the losses of each cell come in a given order."""

    def __init__(self, losses):
        self.losses = [list(cell) for cell in losses]

    def draw_sums(self, cells, people):
        """Return the sums of the next losses."""
        sums = []
        for cell, many in zip(cells, people, strict=True):
            taken, self.losses[cell] = self.losses[cell][:many], self.losses[cell][many:]
            sums.append(sum(taken))
        return np.array(sums, float)


def all_losses(design, means):
    """Yield every way in which people of a design can fare, by cell, and its probability."""
    cells = np.repeat(np.arange(means.size), design.ravel())
    chances = means.ravel()[cells]
    for outcome in product((0.0, 1.0), repeat=len(cells)):
        fared = np.array(outcome)
        chance = float(np.prod(np.where(fared == 1, chances, 1 - chances)))
        yield [fared[cells == cell] for cell in range(means.size)], chance


def rises(means, design=None):
    """Return r of each cell; groups that cannot be in a block are no targets."""
    there = np.ones(means.shape, bool) if design is None else design > 0
    return np.where(there, means, -np.inf).max(axis=1, keepdims=True) - means
