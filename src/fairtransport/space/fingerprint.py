"""The fingerprint of audit data: a hash of its table of counts, whatever file it came in."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.space.columns import MISSING

if TYPE_CHECKING:
    from fairtransport.space.columns import CodedColumn
    from fairtransport.space.sample_space import SampleSpace

ROWS = 16_384
"""Points that are words at a time."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def data_sha256(space: SampleSpace) -> str:
    """Return the SHA-256 of the observed points and their counts, in the order of the points.

    The order of rows and the library or file they came from do not matter.

    Parameters
    ----------
    space
        The audit's points. Twins and reference points, at which nobody is, do not count.

    Returns
    -------
    str
        64 hexadecimal digits. Two documents with the same one are about the same people.
    """
    seen = np.flatnonzero(space.observed)
    digest = hashlib.sha256(_ENCODER.encode(list(space.columns)).encode())
    for at in range(0, len(seen), ROWS):
        rows = seen[at : at + ROWS]
        columns = [_texts(column.take(rows)) for column in space.columns.values()]
        lines = zip(*columns, map(str, space.counts[rows].tolist()), strict=True)
        digest.update("\n[{}]".format("]\n[".join(map(", ".join, lines))).encode())
    return digest.hexdigest()


def _texts(column: CodedColumn) -> list[str]:
    """Return a column's values as JSON has them.

    Parameters
    ----------
    column
        Some points of a column. Each distinct value is encoded once.
    """
    used, place = np.unique(column.codes, return_inverse=True)
    levels = column.levels[used[used != MISSING]]
    plain = levels.tolist()
    if plain and levels.dtype.kind in "biuf":
        # numbers have no comma in them, so that one call does for all
        texts = _ENCODER.encode(plain)[1:-1].split(", ")
    else:
        texts = list(map(_ENCODER.encode, plain))
    if MISSING in used:
        texts.insert(0, _ENCODER.encode(None))
    return [texts[at] for at in place.reshape(-1).tolist()]
