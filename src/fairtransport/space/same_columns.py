"""Whether files that are read as one table have the same columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def refuse_other_columns(
    first: Path, names: Collection[str], other: Path, others: Collection[str]
) -> None:
    """Refuse a file that does not have the columns of the first, or has more of them."""
    lacking = [(other, name, first) for name in names if name not in others]
    lacking += [(first, name, other) for name in others if name not in names]
    for file, name, there in lacking:
        msg = (
            f"files that are read as one must have the same columns, but {str(file)!r} lacks "
            f"{name!r}, which {str(there)!r} has"
        )
        raise DataError(msg)
