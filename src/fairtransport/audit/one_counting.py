"""One counting of the data for several audits: everything that any of them looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fairtransport.audit.entries import Entry, naming_entry, with_names
from fairtransport.checks import shown
from fairtransport.errors import InputError
from fairtransport.space.binning import check_bins
from fairtransport.space.counted_source import CountedSource
from fairtransport.space.reader import as_source
from fairtransport.space.roles import Roles, find_roles, refuse_absent

if TYPE_CHECKING:
    from fairtransport.space.counting import Source
    from fairtransport.space.reader import TableLike

PREDICTIONS = ("y_pred", "y_score")


def count_once(
    data: TableLike, entries: Mapping[str, Entry]
) -> tuple[CountedSource, dict[str, Entry]]:
    """Count the data over all columns that some audit needs.

    Parameters
    ----------
    data
        The audit data.
    entries
        The audits by name.

    Returns
    -------
    The counts, and the entries with names of columns in the place of arrays and frames.

    Notes
    -----
    A column is cut into bins in the counting where all audits that look at it cut it alike;
    otherwise it is counted as it is, and each audit cuts its own.
    """
    source = as_source(data)
    naming = _Naming(source, _not_described(source.columns, entries))
    named: dict[str, Entry] = {}
    columns: dict[str, None] = {}
    edges: dict[str, set[tuple[float, ...] | None]] = {}
    for name, entry in entries.items():
        with naming_entry(name):
            named[name], roles = naming.named(entry)
            bins = check_bins(entry.settings.bins, roles.profile)
            for column in (*roles.points, *_slice_columns(entry, source.columns)):
                columns[column] = None
                # a slice is told by values, which bins would hide
                hidden = isinstance(entry.where, Mapping) and column in entry.where
                edges.setdefault(column, set()).add(None if hidden else bins.get(column))
    bins = {column: found.pop() or () for column, found in edges.items() if len(found) == 1}
    bins = {column: cuts for column, cuts in bins.items() if cuts}
    weight = next(iter(entries.values())).settings.counts
    return CountedSource.of(naming.source, list(columns), bins, weight), named


def _not_described(columns: list[str], entries: Mapping[str, Entry]) -> list[str]:
    """Return the columns that are label, counts or predictions of some audit.

    Parameters
    ----------
    columns
        Those of the data.
    entries
        The audits; what answers one of them must not describe people in another.
    """
    taken: set[str | None] = set()
    for entry in entries.values():
        for value in (entry.people["y"], *(entry.people[name] for name in PREDICTIONS)):
            listed = value if isinstance(value, list | tuple) else [value]
            taken |= {one for one in listed if isinstance(one, str)}
        taken.add(entry.settings.counts)
    return [name for name in columns if name in taken]


def _slice_columns(entry: Entry, columns: list[str]) -> list[str]:
    """Return the columns that tell an audit's slice of the cases.

    Raises
    ------
    InputError
        If one is not there.
    """
    if not isinstance(entry.where, Mapping):
        return []  # none, or to be refused where it is used
    for name in entry.where:
        if name not in columns:
            listed = ", ".join(columns)
            msg = f"`where` must name columns of the data ({listed}), got {shown(name)}"
            raise InputError(msg)
    return list(entry.where)


class _Naming:
    """Gives names to what came as arrays, the same name to the same array.

    Parameters
    ----------
    source
        The data; arrays are attached to it.
    not_described
        Columns that describe nobody.
    """

    def __init__(self, source: Source, not_described: list[str]) -> None:
        self.source = source
        self._features = [name for name in source.columns if name not in not_described]
        self._names: dict[int, object] = {}

    def named(self, entry: Entry) -> tuple[Entry, Roles]:
        """Return an entry that tells its columns by names, and the part of each.

        Parameters
        ----------
        entry
            With arrays or frames in the place of names.
        """
        people, settings = entry.people, entry.settings
        parameter = next((name for name in PREDICTIONS if people[name] is not None), PREDICTIONS[0])
        asked = settings.features
        if asked is None and people["model"] is not None:
            asked = people["model"].features
            refuse_absent(asked or (), self.source.columns)
        given = (people["y"], settings.sensitive_features, people[parameter])
        label, sensitive, predictions = (self._names.get(id(one), one) for one in given)
        self.source, roles = find_roles(
            self.source, label, sensitive, (parameter, predictions),
            self._features if asked is None else asked, settings.counts,
        )  # fmt: skip
        found = (roles.label, list(roles.sensitive), list(roles.predictions))
        for value, name in zip(given, found, strict=True):
            if value is not None and not isinstance(value, str):
                self._names[id(value)] = name
        names = {
            "y": roles.label, "sensitive_features": list(roles.sensitive),
            "features": settings.features if asked is not None else list(roles.features),
            parameter: list(roles.predictions) or None,
        }  # fmt: skip
        if not settings.chosen_loss.uses_truth:
            roles = replace(roles, label=None)
        return with_names(entry, names), roles
