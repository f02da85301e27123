"""The fingerprint of audit data: a hash of its table of counts, whatever file it came in."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairtransport.space.sample_space import SampleSpace


def data_sha256(space: SampleSpace) -> str:
    """Return the SHA-256 of the observed points and their counts, in the order of the points.

    The order of rows and the library or file they came from do not matter.
    """
    rows = np.flatnonzero(space.observed)
    columns = {name: column.take(rows).to_list() for name, column in space.columns.items()}
    digest = hashlib.sha256(json.dumps(list(columns), ensure_ascii=False).encode())
    for values in zip(*columns.values(), space.counts[rows].tolist(), strict=True):
        digest.update(b"\n" + json.dumps(values, ensure_ascii=False, default=str).encode())
    return digest.hexdigest()
