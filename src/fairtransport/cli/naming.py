"""Errors of the Python side, raised again in the words of the command line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairtransport.errors import FairtransportError
from fairtransport.report.screen import in_flags

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def naming(**renamed: str) -> Iterator[None]:
    """Say flags instead of parameters; ``renamed`` adds what one command calls a parameter."""
    try:
        yield
    except FairtransportError as error:
        raise type(error)(in_flags(str(error), renamed)) from error
