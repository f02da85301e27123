"""Custom: costs from a function of two people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairtransport._core.validation import (
    check_choice,
    check_float_array,
    explain_failures,
    short_repr,
)
from fairtransport.errors import InputError, param
from fairtransport.geometry import CostFunction, Geometry
from fairtransport.similarity.base import BaseSimilarity, label_columns, tie_breaking_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.data import SampleSpace

SIGNATURE = "function(first, second)"
MAX_CHUNK_PAIRS = 500_000
"""Maximum number of pairs in one call of a function of frames."""


@dataclass(eq=False)
class Custom(BaseSimilarity):
    """Costs from a function.

    Parameters
    ----------
    function
        ``function(first, second)`` returns squared distances; infinity forbids a move.
    takes
        "frames": the function receives two data frames of equal length and returns one cost per
        row; "rows": it receives two dictionaries and returns a number.
    sentence
        Description for the report.

    Raises
    ------
    InputError
        If ``function`` is not callable, or ``takes`` is invalid.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> by_age = ft.similarity.Custom(lambda a, b: (a["age"] - b["age"]) ** 2 / 25,
    ...                               sentence="Age alone counts.")
    >>> by_age.describe()
    'Age alone counts.'
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "age": [30, 31, 40, 41] * 10, "good": 1})
    >>> result = ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=by_age, budget=0.01, rng=0)
    >>> round(result.statistic, 3)
    0.5
    """

    name: ClassVar[str] = "custom"

    function: Callable[..., object]
    takes: str = "frames"
    sentence: str | None = None

    def __post_init__(self) -> None:
        function: object = self.function
        if not callable(function):
            msg = f"{param('function')} must be callable, got {short_repr(self.function)}"
            raise InputError(msg)
        check_choice("takes", self.takes, ("frames", "rows"))

    @property
    def moves_only_to_twins(self) -> bool:
        """False: a function may connect anyone."""
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the costs of the function between points of equal label, computed on demand."""
        space = space.encoded
        profile = space.groups(space.profile)
        pairs = self._frames(space) if self.takes == "frames" else self._rows(space)

        def between(rows: IntArray, cols: IntArray) -> FloatArray:
            # in chunks of rows, to limit the pairs of a call
            step = max(1, MAX_CHUNK_PAIRS // max(1, len(cols)))
            parts = [
                pairs(np.repeat(part, len(cols)), np.tile(cols, len(part)))
                for part in np.split(rows, range(step, len(rows), step))
            ]
            costs = np.concatenate(parts).reshape(len(rows), len(cols))
            # one profile with different predictions is a free move
            costs[profile[rows][:, None] == profile[cols][None, :]] = 0.0
            return costs

        return Geometry(
            blocks=space.groups(label_columns(space)),
            cost=CostFunction(between),
            targets=space.targets,
            profiles=tie_breaking_codes(space),
        )

    def describe(self) -> str:
        """Return one sentence for the report."""
        function_name = getattr(self.function, "__name__", type(self.function).__name__)
        return self.sentence or f"Squared distances come from the function {function_name}."

    def _frames(self, space: SampleSpace) -> Callable[[IntArray, IntArray], FloatArray]:
        """Return the pair costs of a function of two frames."""

        def pairs(rows: IntArray, cols: IntArray) -> FloatArray:
            """Return one cost per pair of rows."""
            first, second = (space.frame(space.profile, part) for part in (rows, cols))
            with explain_failures(SIGNATURE):
                costs = self.function(first, second)
            return check_float_array(SIGNATURE, costs, (len(rows),))

        return pairs

    def _rows(self, space: SampleSpace) -> Callable[[IntArray, IntArray], FloatArray]:
        """Return the pair costs of a function of two dictionaries."""
        people_values = zip(*(space.columns[name].to_list() for name in space.profile), strict=True)
        people = [dict(zip(space.profile, values, strict=True)) for values in people_values]

        def pairs(rows: IntArray, cols: IntArray) -> FloatArray:
            """Return one cost per pair, by a call for each."""
            with explain_failures(SIGNATURE):
                costs = [
                    self.function(people[i], people[j])
                    for i, j in zip(rows.tolist(), cols.tolist(), strict=True)
                ]
            return check_float_array(SIGNATURE, costs, (len(rows),))

        return pairs
