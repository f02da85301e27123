"""IgnoreSensitive: people who differ only in sensitive features are the same person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.geometry import Geometry
from fairtransport.similarity.base import label_columns, tie_breaking_codes

if TYPE_CHECKING:
    from fairtransport.space import SampleSpace


@dataclass(frozen=True)
class IgnoreSensitive:
    """The paper's COMPAS metric.

    Notes
    -----
    d(x, x') = 0 when x and x' differ in sensitive features alone, infinity otherwise
    (Section 5 of the paper).
    """

    @property
    def moves_only_to_twins(self) -> bool:
        """All moves are between twins."""
        return True

    def geometry(self, space: SampleSpace) -> Geometry:
        """Return blocks of equal label and equal other columns, free inside."""
        others = tuple(name for name in space.profile if name not in space.sensitive)
        return Geometry(
            blocks=space.groups((*others, *label_columns(space))),
            # full sets of twins are the same whatever the sample; others obey the reference
            targets=None if space.has_twins else space.targets,
            profiles=tie_breaking_codes(space),
        )

    def describe(self) -> str:
        """Return a plain sentence for the report."""
        return (
            "Two people are comparable when they differ in nothing but the sensitive features "
            "and have the same true label; moving between them is free."
        )
