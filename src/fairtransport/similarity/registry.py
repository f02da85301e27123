"""The similarities a user can name, alone or with settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairtransport.checks import choice, shown
from fairtransport.errors import InputError
from fairtransport.similarity.base import Parameters, Similarity, parameter_names
from fairtransport.similarity.comparable_groups import ComparableGroups
from fairtransport.similarity.comparable_pairs import ComparablePairs
from fairtransport.similarity.ignore_sensitive import IgnoreSensitive
from fairtransport.similarity.learned import Learned
from fairtransport.similarity.mixed_tabular import MixedTabular
from fairtransport.similarity.precomputed import Precomputed
from fairtransport.similarity.sensitive_subspace import SensitiveSubspace

if TYPE_CHECKING:
    from collections.abc import Mapping

SIMILARITIES: dict[str, type[Parameters]] = {
    kind.name: kind
    for kind in (
        IgnoreSensitive,
        MixedTabular,
        SensitiveSubspace,
        ComparablePairs,
        ComparableGroups,
        Precomputed,
    )
}


def as_similarity(value: object) -> Similarity:
    """Return the similarity a user named or made.

    Parameters
    ----------
    value
        A name such as "ignore-sensitive", or a similarity.

    Returns
    -------
    Similarity
        A similarity.

    Raises
    ------
    InputError
        If it is neither, or the named one needs settings.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.similarity.as_similarity("ignore-sensitive")
    IgnoreSensitive(exact=(), tolerance={})
    """
    if isinstance(value, str) and value in SIMILARITIES:
        return similarity_from_settings(value)
    if isinstance(value, Similarity) and not isinstance(value, type):
        return value
    words = ", ".join(repr(name) for name in SIMILARITIES)
    msg = f"`similarity` must be one of {words} or a similarity object, got {shown(value)}"
    raise InputError(msg)


def similarity_from_settings(
    name: str, settings: Mapping[str, object] | None = None, folder: str | Path = ".",
    defaults: Mapping[str, object] | None = None,
) -> Similarity:  # fmt: skip
    """Make a similarity by name, from the table of a settings file.

    Parameters
    ----------
    name
        One of `SIMILARITIES`.
    settings
        The similarity's parameters. Learned ones also take ``fit``, the file they are fitted
        on (with ``group``, the column of groups, and ``comparable``, the column of judgements);
        "precomputed" takes ``path`` and ``points``.
    folder
        What relative paths start from.
    defaults
        What an audit knows beside the settings: ``sensitive_features`` and ``features``, for
        similarities that are fitted and were not told.

    Returns
    -------
    Similarity
        Ready for `audit`, fitted where it is one that learns.

    Raises
    ------
    InputError
        If there is no such similarity or setting.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.similarity.similarity_from_settings("ignore-sensitive", {"tolerance": {"age": 2}})
    IgnoreSensitive(exact=(), tolerance={'age': 2})
    """
    kind = SIMILARITIES[choice("similarity", name, SIMILARITIES)]
    known = parameter_names(kind) if issubclass(kind, Learned) else ()
    filled = {key: value for key, value in (defaults or {}).items() if key in known}
    return kind.from_settings({**filled, **(settings or {})}, Path(folder))
