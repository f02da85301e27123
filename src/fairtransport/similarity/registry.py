"""The similarities by name, and suggested scales for numeric columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.validation import check_choice, short_repr
from fairtransport.data.sources import encode_columns, read_table
from fairtransport.errors import InputError, param
from fairtransport.similarity.base import BaseSimilarity, Similarity, is_numeric, parameter_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport._core.validation import IntArray
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import CodedColumn


SIMILARITIES: dict[str, type[BaseSimilarity]] = {}
"""The similarities by name; ``similarity/__init__.py``, which runs first, lists them."""


def as_similarity(value: object) -> Similarity:
    """Return a similarity by its name; a similarity unchanged.

    Parameters
    ----------
    value
        A name such as "ignore-sensitive", or a similarity.

    Returns
    -------
    Similarity
        The similarity.

    Raises
    ------
    InputError
        If it is neither, or the similarity of that name needs settings.

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
    msg = (
        f"{param('similarity')} must be one of {words} or a similarity object, got "
        f"{short_repr(value)}"
    )
    raise InputError(msg)


def similarity_from_settings(
    name: str, settings: Mapping[str, object] | None = None, folder: str | Path = ".",
    defaults: Mapping[str, object] | None = None,
) -> Similarity:  # fmt: skip
    """Build a similarity by name from settings.

    Parameters
    ----------
    name
        One of `SIMILARITIES`.
    settings
        The similarity's parameters. Learned ones also take ``fit``, the file they are fitted
        on (with ``group``, the column of groups, and ``comparable``, the column of judgements);
        "precomputed" takes ``path`` and ``points``.
    folder
        Folder that paths are relative to.
    defaults
        Defaults of ``sensitive_features`` and ``features`` for learned similarities.

    Returns
    -------
    Similarity
        A similarity for `audit`, fitted if it is a learned one.

    Raises
    ------
    InputError
        If the similarity or a setting is unknown.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.similarity.similarity_from_settings("ignore-sensitive", {"tolerance": {"age": 2}})
    IgnoreSensitive(exact=(), tolerance={'age': 2})
    """
    kind = SIMILARITIES[check_choice("similarity", name, SIMILARITIES)]
    names = parameter_names(kind)
    known_defaults = {key: value for key, value in (defaults or {}).items() if key in names}
    return kind.from_settings({**known_defaults, **(settings or {})}, Path(folder))


def suggest_scales(X: object) -> dict[str, float]:  # noqa: N803
    """Suggest a scale for each numeric column: its standard deviation, to two digits.

    Parameters
    ----------
    X
        A frame or a path. Constant columns and columns with missing values are left out.

    Returns
    -------
    dict[str, float]
        Scales by column.

    Notes
    -----
    A scale is the difference that costs 1 in `MixedTabular`. The standard deviation is a starting
    point; it does not mean that people so far apart are similar. With a budget of .01 people are
    moved by a tenth of it on average.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "b", "c"]})
    >>> ft.similarity.suggest_scales(people)
    {'age': 11.0}
    """
    table = read_table(X, "X")
    columns = encode_columns(table, table.columns, "X")
    return _scales(columns)


def suggest_space_scales(space: SampleSpace, columns: Sequence[str]) -> dict[str, float]:
    """Return the scales of some columns of a space, each person counted."""
    return _scales({name: space.columns[name] for name in columns}, space.counts)


def _scales(columns: Mapping[str, CodedColumn], counts: IntArray | None = None) -> dict[str, float]:
    """Return the standard deviations of varying numeric columns, to two digits."""
    scales = {}
    for name, column in columns.items():
        if not is_numeric(column.levels) or column.has_missing:
            continue
        values = column.levels.astype(np.float64)[column.codes]
        mean = np.average(values, weights=counts)
        spread = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
        if spread > 0:
            # two digits, as it is a suggestion
            scales[name] = float(f"{spread:.2g}")
    return scales
