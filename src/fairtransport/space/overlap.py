"""How many of the audit's people could be in the data that the model was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.errors import InputError
from fairtransport.space.counting import as_source

if TYPE_CHECKING:
    from fairtransport.space.sample_space import SampleSpace


def people_also_in(space: SampleSpace, train: Any) -> int:
    """Count the people who agree in profile and label with someone in another frame.

    Parameters
    ----------
    space
        The audit's points.
    train
        A data frame or file with the columns of the profile; its label counts if it is there.
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
