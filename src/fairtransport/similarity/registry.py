"""The similarities a user can name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.similarity.base import Similarity
from fairtransport.similarity.ignore_sensitive import IgnoreSensitive

if TYPE_CHECKING:
    from collections.abc import Callable

SIMILARITIES: dict[str, Callable[[], Similarity]] = {"ignore-sensitive": IgnoreSensitive}


def as_similarity(value: Any) -> Similarity:
    """Return the similarity a user named or made."""
    if isinstance(value, str) and value in SIMILARITIES:
        return SIMILARITIES[value]()
    if isinstance(value, Similarity) and not isinstance(value, type):
        return value
    words = ", ".join(repr(name) for name in SIMILARITIES)
    msg = f"`similarity` must be one of {words} or a similarity object, got {shown(value)}"
    raise InputError(msg)
