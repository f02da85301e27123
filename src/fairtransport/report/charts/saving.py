"""Charts become files."""

from __future__ import annotations

from io import BytesIO, StringIO
from typing import TYPE_CHECKING

from fairtransport.errors import InputError
from fairtransport.filesystem import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from altair.typing import ChartType

ENDINGS = (".png", ".svg")


def save_chart(chart: ChartType, path: Path, parameter: str = "plot") -> Path:
    """Write a chart as PNG or SVG, after the ending of the path, whole or not at all.

    Parameters
    ----------
    chart, path
        What, and where to.
    parameter
        What an error calls the path.

    Raises
    ------
    InputError
        If it has another ending.
    """
    check_ending(path)
    return write_bytes(path, chart_bytes(chart, path.suffix.lower()), parameter)


def chart_bytes(chart: ChartType, ending: str) -> bytes:
    """Return a chart as a file with this ending holds it.

    Parameters
    ----------
    chart
        The chart.
    ending
        ``.png``, at twice the size for sharp screens, or ``.svg``.
    """
    if ending == ".png":
        picture = BytesIO()
        chart.save(picture, format="png", scale_factor=2)
        return picture.getvalue()
    text = StringIO()
    chart.save(text, format="svg")
    return text.getvalue().encode("utf-8", "backslashreplace")


def check_ending(path: Path) -> None:
    """Refuse a file that is neither PNG nor SVG.

    Parameters
    ----------
    path
        Looked at before anything is computed.

    Raises
    ------
    InputError
        Naming the endings that there are.
    """
    if path.suffix.lower() not in ENDINGS:
        msg = f"`plot` must end in {' or '.join(ENDINGS)}, got {path.name!r}"
        raise InputError(msg)
