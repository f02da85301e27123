"""Points in people's terms: plain values by the names of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.checks import IntArray, Values
    from fairtransport.space import SampleSpace

Value = str | int | float | bool | None
"""What a cell of the audit data becomes in a document."""
Profile = dict[str, Value]
"""A person's columns by name."""


def plain(value: object) -> Value:
    """Return a value of the audit data as text, number, truth value or None.

    Parameters
    ----------
    value
        NumPy's numbers become Python's; what JSON has no type for, as a date, becomes text.

    Examples
    --------
    >>> plain(np.int64(3)), plain(np.bool_(True)), plain(None)
    (3, True, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def plain_levels(levels: Values) -> list[Value]:
    """Return the levels of a column, each as `plain` has it.

    Parameters
    ----------
    levels
        Distinct values of one column.

    Examples
    --------
    >>> plain_levels(np.array([1, 2]))
    [1, 2]
    """
    values: list[Value] = levels.tolist()
    # what numpy holds as numbers of Python's size becomes Python's own
    own = levels.dtype.kind in "biuU" or levels.dtype == np.float64
    return values if own else [plain(value) for value in values]


class Profiles:
    """The points of a space, each as a profile, a label and a group.

    Parameters
    ----------
    space
        The points.
    """

    def __init__(self, space: SampleSpace) -> None:
        self._space = space

    def values(self, name: str, points: IntArray) -> list[Value]:
        """Return one column of many points.

        Parameters
        ----------
        name
            The column.
        points
            Their numbers.
        """
        column = self._space.columns[name]
        levels = [*plain_levels(column.levels), None]
        return [levels[code] for code in column.codes[points].tolist()]

    def part(self, point: int, names: Sequence[str]) -> Profile:
        """Return some columns of a point.

        Parameters
        ----------
        point
            Its number.
        names
            Which columns.
        """
        return {name: self._value(name, point) for name in names}

    def _value(self, name: str, point: int) -> Value:
        """Return one value of a point."""
        # looked up one by one: few of the levels of a continuous feature are ever shown
        return plain(self._space.columns[name].at(point))

    def profile(self, point: int) -> Profile:
        """Return the columns that describe a person: all but label and predictions.

        Parameters
        ----------
        point
            Its number.
        """
        return self.part(point, self._space.profile)

    def group(self, point: int) -> Profile:
        """Return the sensitive columns of a point.

        Parameters
        ----------
        point
            Its number.
        """
        return self.part(point, self._space.sensitive)

    def label(self, point: int) -> Value:
        """Return the true label of a point; None where the loss does without.

        Parameters
        ----------
        point
            Its number.
        """
        name = self._space.label
        return None if name is None else self.part(point, (name,))[name]


def name_of(group: Profile) -> str:
    """Return a group in words: its values, separated by commas.

    Parameters
    ----------
    group
        The sensitive columns by name.

    Examples
    --------
    >>> name_of({"race": "B", "sex": None})
    'B, missing'
    """
    return ", ".join("missing" if value is None else str(value) for value in group.values())
