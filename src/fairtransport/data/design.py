"""Clusters and Weights: designs of samples other than independent people of equal weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtransport._core.units import PEOPLE, TARGETS, Units
from fairtransport._core.validation import check_choice, check_integer, check_number, short_repr
from fairtransport.data.columns import MISSING
from fairtransport.errors import DataError, InputError, param

if TYPE_CHECKING:
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.data.database import RowCounts

MAX_CLUSTER_ROWS = 10**15
"""Maximum number of rows of a cluster that can be declared."""
MAX_WEIGHT = 1e50
"""Maximum weight, and inverse of the minimum: products of squares must not overflow."""


def _check_column(name: str, value: object) -> None:
    """Check that a column has a name."""
    if not isinstance(value, str) or not value:
        msg = f"{param(name)} must be a column's name, got {short_repr(value)}"
        raise InputError(msg)


@dataclass(frozen=True)
class Clusters:
    """Rows that belong together: households, templates, patients with several visits.

    Clusters are independent of each other; rows of one cluster need not be.

    Parameters
    ----------
    column
        The column that names the cluster of each row.
    largest
        Maximum number of rows of any cluster, known before the data. Without it, statements about
        people are conditional on the observed sizes, and bounds are wider.
    target
        "people": every row counts once. "clusters": every cluster counts once, whatever its size.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.Clusters("household", largest=12)
    Clusters(column='household', largest=12, target='people')
    >>> ft.Clusters("household", largest=0)
    Traceback (most recent call last):
    fairtransport.errors.InputError: `clusters.largest` must be a whole number of at least 1, got 0
    """

    column: str
    largest: int | None = None
    target: str = PEOPLE

    def __post_init__(self) -> None:
        _check_column("clusters", self.column)
        check_choice("clusters.target", self.target, TARGETS)
        if self.largest is not None:
            largest = check_integer("clusters.largest", self.largest, at_most=MAX_CLUSTER_ROWS)
            object.__setattr__(self, "largest", largest)


@dataclass(frozen=True)
class Weights:
    """Survey weights: inverse inclusion probabilities, up to a factor.

    Calibrated or raked weights depend on the whole sample; the statements do not cover them.

    Parameters
    ----------
    column
        The column of weights, numbers above 0.
    largest
        The largest possible weight, known before the data. Without it, statements are conditional
        on the observed weights, and bounds are wider.

    Examples
    --------
    >>> import fairtransport as ft
    >>> ft.Weights("weight", largest=8)
    Weights(column='weight', largest=8.0)
    """

    column: str
    largest: float | None = None

    def __post_init__(self) -> None:
        _check_column("sample_weight", self.column)
        if self.largest is not None:
            largest = check_number("sample_weight.largest", self.largest, above=0, below=MAX_WEIGHT)
            object.__setattr__(self, "largest", largest)


def build_units(
    rows: RowCounts, point: IntArray, clusters: Clusters | None, weights: Weights | None
) -> Units:
    """Return the units of rows that were counted with their clusters and weights.

    ``point`` is the point of each row.
    """
    values = np.ones(len(point)) if weights is None else _check_weights(rows, weights)
    if clusters is None:
        assert weights is not None  # noqa: S101
        return Units(
            rows.counts, values, np.arange(len(point)), point, np.ones(len(point)),
            np.ones(len(point), np.int64), weights.largest, is_single=False, name=weights.column,
            weighed_by=weights.column,
        )  # fmt: skip
    unit = _check_clusters(rows, clusters)
    members = np.bincount(unit, rows.counts).astype(np.float64)
    mass = np.bincount(unit, rows.counts * values).astype(np.float64)
    _check_largest(members, clusters)
    limit: float | None = 1.0
    if clusters.target == PEOPLE:
        weight = 1.0 if weights is None else weights.largest
        limit = None
        if clusters.largest is not None and weight is not None:
            limit = float(clusters.largest * weight)
    return Units(
        np.ones(len(members), np.int64),
        mass if clusters.target == PEOPLE else np.ones(len(members)),
        unit, point, rows.counts * values / mass[unit], rows.counts, limit,
        is_single=clusters.largest == 1 and weights is None,
        name=clusters.column, has_clusters=True, target=clusters.target,
        weighed_by=None if weights is None else weights.column,
    )  # fmt: skip


def _check_clusters(rows: RowCounts, clusters: Clusters) -> IntArray:
    """Return the number of each row's cluster."""
    column = rows.columns[clusters.column]
    people = int(rows.counts[column.codes == MISSING].sum())
    if people:
        msg = (
            f"{param('clusters')} must name a column without missing values, but {people} rows "
            f"have no value in {clusters.column!r}"
        )
        raise DataError(msg)
    unit = np.unique(column.codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if unit.max() == 0:
        msg = (
            f"{param('clusters')} must name a column of two values or more, but {clusters.column!r}"
            " has one: a single cluster tells nothing about others"
        )
        raise DataError(msg)
    return unit


def _check_largest(members: FloatArray, clusters: Clusters) -> None:
    """Check that no cluster is larger than was declared."""
    if clusters.largest is not None and members.max() > clusters.largest:
        msg = (
            f"{param('clusters.largest')} must be at least the size of every cluster, got "
            f"{clusters.largest}, but one of {clusters.column!r} has {members.max():.0f} rows"
        )
        raise DataError(msg)


def _check_weights(rows: RowCounts, weights: Weights) -> FloatArray:
    """Return the weight of each row."""
    column = rows.columns[weights.column]
    levels = column.levels
    if levels.dtype.kind not in "iuf":
        others = [one for one in levels.tolist() if type(one) not in (int, float)]
        msg = (
            f"{param('sample_weight')} must name a column of numbers above 0, but "
            f"{weights.column!r} holds {short_repr((others or levels.tolist())[0])}"
        )
        raise DataError(msg)
    values = np.append(levels.astype(np.float64), np.nan)[column.codes]
    bad = ~((values > 1 / MAX_WEIGHT) & (values < MAX_WEIGHT))
    if bad.any():
        msg = (
            f"{param('sample_weight')} must be finite numbers above 0, from {1 / MAX_WEIGHT:g} to "
            f"{MAX_WEIGHT:g}; "
            f"{int(rows.counts[bad].sum())} rows of {weights.column!r} break this, as "
            f"{values[bad][0]:g}"
        )
        raise DataError(msg)
    if weights.largest is not None and values.max() > weights.largest:
        msg = (
            f"{param('sample_weight.largest')} must be at least every weight, got "
            f"{weights.largest:g}, but {weights.column!r} has {values.max():g}"
        )
        raise DataError(msg)
    return values
