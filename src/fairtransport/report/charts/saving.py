"""Charts become files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairtransport.errors import FairtransportError, InputError

ENDINGS = (".png", ".svg")


def save_chart(chart: Any, path: Path) -> Path:
    """Write a chart as PNG or SVG, after the ending of the path, whole or not at all."""
    check_ending(path)
    try:
        # the draft lies beside its target, so that moving it is atomic
        with TemporaryDirectory(dir=path.parent) as drafts:
            draft = Path(drafts) / f"chart{path.suffix.lower()}"
            chart.save(draft, **({"scale_factor": 2} if draft.suffix == ".png" else {}))
            draft.replace(path)
    except OSError as error:
        msg = f"`plot` could not be written to {str(path)!r}: {error.strerror or error}"
        raise FairtransportError(msg) from error
    return path


def check_ending(path: Path) -> None:
    """Refuse a file that is neither PNG nor SVG."""
    if path.suffix.lower() not in ENDINGS:
        msg = f"`plot` must end in {' or '.join(ENDINGS)}, got {path.name!r}"
        raise InputError(msg)
