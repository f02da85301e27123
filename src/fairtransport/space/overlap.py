"""How many people the audit data could have in common with other data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from fairtransport.errors import InputError
from fairtransport.space.reader import TableLike, as_source

if TYPE_CHECKING:
    from fairtransport.checks import IntArray
    from fairtransport.space.sample_space import SampleSpace

MOST_OWN = 0.5
"""A frame of which the audit data make up so large a share is no reference of its own."""
SURE = 3.0
"""Standard errors that are taken off an estimated overlap."""


@dataclass(frozen=True)
class SharedRows:
    """What a reference frame has in common with the audit data.

    Attributes
    ----------
    rows
        How many rows the frame has.
    shared
        How many of them are at a point that occurs in the audit data.
    is_contained
        Whether the frame could be cut out of the audit data: no point occurs in it more often.
    own
        A cautious estimate of how many of its rows *are* rows of the audit data.

    Notes
    -----
    Equal points prove nothing where points are few: two samples of one population then share
    most of them. By Good and Turing a new person is at a point of the audit data with
    probability c = 1 − f₁/n, where f₁ people are alone at theirs; of m rows that are the audit
    data's own and R − m new ones, m + (R − m)c are shared on average. ``own`` solves this for m,
    less three standard errors of the shared share and of c (Esty 1983).
    """

    rows: int
    shared: int
    is_contained: bool
    own: float

    @classmethod
    def between(cls, listed: IntArray, counts: IntArray) -> Self:
        """Compare how often each point is listed in the frame and counted in the audit data.

        Parameters
        ----------
        listed, counts
            By point: rows of the frame, and people of the audit data.

        Examples
        --------
        >>> SharedRows.between(np.array([1, 0, 2]), np.array([3, 1, 2]))
        SharedRows(rows=3, shared=3, is_contained=True, own=...)
        """
        rows, shared = int(listed.sum()), int(listed[counts > 0].sum())
        n, alone, pairs = int(counts.sum()), *np.bincount(np.minimum(counts, 3), minlength=3)[1:3]
        chance = 1 - alone / n
        variance = chance * (1 - chance) / rows + (alone * chance + 2 * pairs) / n**2
        excess = shared / rows - chance - SURE * math.sqrt(variance)
        own = 0.0 if alone == 0 else rows * min(1.0, max(0.0, excess / (1 - chance)))
        return cls(rows, shared, bool(np.all(listed <= counts)), float(own))

    @property
    def is_from_the_sample(self) -> bool:
        """Whether the frame brings nothing, or too little, that the audit data do not.

        Then its points count as targets from the sample, and nothing is certified.
        """
        return self.is_contained or self.is_mostly_own

    @property
    def is_mostly_own(self) -> bool:
        """Whether rows of the audit data make up half of the frame or more."""
        return self.own >= MOST_OWN * self.rows


def people_also_in(space: SampleSpace, train: TableLike) -> int:
    """Count the people who agree in profile and label with someone in another frame.

    Parameters
    ----------
    space
        The audit's points.
    train
        A data frame or file with the columns of the profile; its label counts if it is there.

    Returns
    -------
    int
        People of the audit data, not points.

    Raises
    ------
    InputError
        If the frame lacks a column of the profile.
    """
    source = as_source(train, "train")
    lacking = [name for name in space.profile if name not in source.columns]
    if lacking:
        msg = f"`train` must have the columns of the profile, but lacks {lacking[0]!r}"
        raise InputError(msg)
    label = [] if space.label is None or space.label not in source.columns else [space.label]
    names = [*space.profile, *label]
    known = source.count(names, space.bins, None).columns
    seen = set(zip(*(known[name].to_list() for name in names), strict=True))
    rows = np.flatnonzero(space.observed)
    people = zip(*(space.columns[name].take(rows).to_list() for name in names), strict=True)
    counts = space.counts[rows].tolist()
    return sum(count for person, count in zip(people, counts, strict=True) if person in seen)
