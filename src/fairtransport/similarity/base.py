"""What every similarity offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from fairtransport.checks import IntArray
    from fairtransport.geometry import Geometry
    from fairtransport.space import SampleSpace


@runtime_checkable
class Similarity(Protocol):
    """Says who is comparable with whom, and how far apart they are."""

    @property
    def moves_only_to_twins(self) -> bool:
        """Whether mass only moves between people who differ in sensitive features alone."""
        ...

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return the costs between the points of a space."""
        ...

    def describe(self) -> str:
        """Return a plain sentence for the report."""
        ...


def tie_breaking_codes(space: SampleSpace) -> IntArray:
    """Return the codes by which a geometry counts changed columns."""
    return space.codes(space.profile)


def label_columns(space: SampleSpace) -> tuple[str, ...]:
    """Return the columns in which comparable points always agree: the true label."""
    return () if space.label is None else (space.label,)
