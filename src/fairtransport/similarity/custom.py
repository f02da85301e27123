"""Custom: costs from a function of two people, or of two frames of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairtransport.checks import calling, choice, float_array, shown
from fairtransport.errors import InputError
from fairtransport.geometry import CostFunction, Geometry
from fairtransport.similarity.base import Parameters, label_columns, tie_breaking_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtransport.checks import FloatArray, IntArray
    from fairtransport.space import SampleSpace

CALLED = "function(first, second)"
MOST_PAIRS = 500_000
"""Pairs that a function of frames receives at a time."""


@dataclass(eq=False)
class Custom(Parameters):
    """Costs from a function.

    Parameters
    ----------
    function
        ``function(first, second)`` returns squared distances; infinity forbids a move.
    takes
        "frames": two data frames of equal length whose rows are pairs, and one cost a row
        comes back; "rows": two dictionaries, and a number comes back.
    sentence
        What the report says of it.

    Raises
    ------
    InputError
        If there is nothing to call, or ``takes`` is another word.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> by_age = ft.similarity.Custom(lambda a, b: (a["age"] - b["age"]) ** 2 / 25,
    ...                               sentence="Age alone counts.")
    >>> by_age.describe()
    'Age alone counts.'
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "age": [30, 31, 40, 41] * 10, "good": 1})
    >>> result = ft.audit(people, "good", model=lambda asked: (asked["sex"] == "m").astype(int),
    ...                   sensitive_features="sex", similarity=by_age, budget=0.01, rng=0)
    >>> round(result.statistic, 3)
    0.5
    """

    name: ClassVar[str] = "custom"

    function: Callable[..., object]
    takes: str = "frames"
    sentence: str | None = None

    def __post_init__(self) -> None:
        given: object = self.function
        if not callable(given):
            msg = f"`function` must be callable, got {shown(self.function)}"
            raise InputError(msg)
        choice("takes", self.takes, ("frames", "rows"))

    @property
    def moves_only_to_twins(self) -> bool:
        """A function may connect anyone.

        Returns
        -------
        bool

        Examples
        --------
        >>> by_age.moves_only_to_twins
        False
        """
        return False

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the function's costs between points of equal label.

        Parameters
        ----------
        space
            The points of an audit.

        Returns
        -------
        Geometry
            What the solver needs; costs are worked out when they are asked for.

        Raises
        ------
        InputError
            When costs are asked for: if the function fails, or returns no costs.

        Examples
        --------
        >>> import numpy as np
        >>> geometry = by_age.geometry(result.space)
        >>> geometry.costs(np.array([0]), np.array([0, 1, 2])).round(2).tolist()
        [[0.0, 0.04, 4.0]]
        """
        profile = space.groups(space.profile)
        pairs = self._frames(space) if self.takes == "frames" else self._rows(space)

        def between(rows: IntArray, cols: IntArray) -> FloatArray:
            # one row after another, so that the pairs of a piece are never too many
            step = max(1, MOST_PAIRS // max(1, len(cols)))
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
        """Return a plain sentence for the report.

        Returns
        -------
        str

        Examples
        --------
        >>> ft.similarity.Custom(lambda a, b: (a["age"] - b["age"]) ** 2).describe()
        'Squared distances come from the function <lambda>.'
        """
        called = getattr(self.function, "__name__", type(self.function).__name__)
        return self.sentence or f"Squared distances come from the function {called}."

    def _frames(self, space: SampleSpace) -> Callable[[IntArray, IntArray], FloatArray]:
        """Return costs of pairs from a function of two frames."""

        def pairs(rows: IntArray, cols: IntArray) -> FloatArray:
            """Return one cost a pair; rows of both frames are the pairs."""
            first, second = (space.frame(space.profile, part) for part in (rows, cols))
            with calling(CALLED):
                costs = self.function(first, second)
            return float_array(CALLED, costs, (len(rows),))

        return pairs

    def _rows(self, space: SampleSpace) -> Callable[[IntArray, IntArray], FloatArray]:
        """Return costs of pairs from a function of two dictionaries."""
        listed = zip(*(space.columns[name].to_list() for name in space.profile), strict=True)
        people = [dict(zip(space.profile, values, strict=True)) for values in listed]

        def pairs(rows: IntArray, cols: IntArray) -> FloatArray:
            """Return one cost a pair, asking about one after the other."""
            with calling(CALLED):
                costs = [
                    self.function(people[i], people[j])
                    for i, j in zip(rows.tolist(), cols.tolist(), strict=True)
                ]
            return float_array(CALLED, costs, (len(rows),))

        return pairs
