"""audit_many(): a declared family of audits, from one counting of the data to joint verdicts.

The entries of a family combine common and own settings; one counting serves all audits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairtransport._core.environment import get_version
from fairtransport._core.notes import Note
from fairtransport._core.validation import short_repr
from fairtransport.access.black_box import choose_access
from fairtransport.access.cache import CachedModel, cached
from fairtransport.access.oracle import check_no_controls
from fairtransport.audits.counterparts import with_gate_level
from fairtransport.audits.querying import check_loss_range
from fairtransport.audits.run import audit_with
from fairtransport.audits.summarise import finite
from fairtransport.audits.warnings import list_notes, rates_notes
from fairtransport.data.build import Roles, check_model_columns, find_roles
from fairtransport.data.columns import check_bins
from fairtransport.data.database import CountedSource
from fairtransport.data.sample_space import plain_frame
from fairtransport.data.sources import as_source, name_columns
from fairtransport.documents.audit import SampledUnits
from fairtransport.documents.family import FAMILY_SCHEMA, FamilySummary, Member
from fairtransport.errors import FairtransportError, InputError, param
from fairtransport.inference.methods import DRAWING
from fairtransport.inference.multiplicity import Family
from fairtransport.report.rendering import Reportable
from fairtransport.settings import (
    PEOPLE,
    SETTINGS,
    AuditSettings,
    checked,
    missing_truth,
    unknown_setting_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.audits.result import AuditResult
    from fairtransport.data.database import Source
    from fairtransport.data.sources import ColumnLike, TableLike
    from fairtransport.inference.laws import Verdict


COLUMNS = (
    "name", "model", "n", "statistic", "lower", "upper", "delta", "pvalue", "pvalue_adjusted",
    "verdict",
)  # fmt: skip
"""The columns of a family's table."""
NOT_CERTIFIABLE = ("observed", "counterparts")
"""Comparisons for which nothing can be certified."""


def audit_many(
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    audits: Mapping[str, Mapping[str, object]],
    alpha: float = AuditSettings.alpha,
    feature_names: Sequence[str] | None = None,
    **common: object,
) -> Audits:
    """Audit several models, slices, sensitive features, losses or thresholds at once.

    The verdicts hold together for independent people; if rows belong together, name the column
    with ``clusters``.

    Parameters
    ----------
    X, y
        As in `audit`.
    audits
        By name, the keywords of `audit` for each audit, which override the common ones, and
        ``where``, a slice of the cases such as ``{"site": ["a", "b"]}``. Declare the family before
        looking at the data.
    alpha
        Maximum probability that any verdict is wrong; the same holds for intervals.
    feature_names
        As in `audit`.
    **common
        Keywords of `audit` for all audits.

    Returns
    -------
    Audits
        A mapping from names to audits, with their joint verdicts.

    Raises
    ------
    InputError
        If a setting of an audit is invalid; the message names the audit.

    Notes
    -----
    The data are counted once, and a model is queried once about each distinct person for all
    audits. Columns with the label, counts or predictions of one audit describe people in none,
    unless ``features`` names them. `inference.multiplicity.Family` has the levels of tests and
    bounds, and why all verdicts hold together.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": ["a", "b"] * 30, "good": [1] * 60,
    ...                        "old": [1, 0] * 30, "new": [1] * 60})
    >>> family = ft.audit_many(people, "good", sensitive_features="group", delta=0.1, rng=0,
    ...                        audits={"old": {"y_pred": "old"}, "new": {"y_pred": "new"}})
    >>> family.verdicts
    {'old': 'rejected', 'new': 'not-applicable'}
    """
    level = checked("alpha", alpha)
    entries, models = check_entries(audits, {**common, "y": y, "alpha": level})
    for entry in entries.values():
        with naming_entry(entry.name):
            _check_draws(entry.settings, len(entries))
    source, entries = count_once(name_columns(X, feature_names), entries)
    results = {}
    for name, entry in entries.items():
        with naming_entry(name):
            cases = source if entry.where is None else source.where(entry.where)
            settings = with_gate_level(entry.settings, level / (2 * len(entries)))
            results[name] = audit_with(settings, cases, **entry.people)
    return Audits(results, level, sum(model.queried for model in models))


def _check_draws(settings: AuditSettings, size: int) -> None:
    """Reject, before any work, fewer draws than the small levels of a family need."""
    min_draws = math.ceil(2 * size / settings.alpha - 1e-9)
    if settings.method in DRAWING and settings.n_resamples < min_draws:
        msg = (
            f"{param('n_resamples')} must be at least {min_draws:,} for the method "
            f"{settings.method!r} in a family of {size} at level {settings.alpha:g}, got "
            f"{settings.n_resamples:,}"
        )
        raise InputError(msg)


@dataclass(frozen=True, eq=False)
class Audits(Mapping[str, "AuditResult"], Reportable):
    """The results of a family of audits by name, and their joint verdicts.

    Attributes
    ----------
    results
        Each audit as if it were made alone, at level α.
    alpha
        Maximum probability that any verdict of the family is wrong.
    queried
        Number of distinct questions to all models.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "grade": [1, 1, 2, 2, 3, 3, 4, 4] * 50})
    >>> people["good"] = (people["grade"] > 2).astype(int)
    >>> def old(x):
    ...     return (x["grade"] > 2 + (x["sex"] == "f")).astype(int)
    >>> def new(x):
    ...     return (x["grade"] > 3).astype(int)
    >>> family = ft.audit_many(people, "good", sensitive_features="sex", delta=0.05, rng=0,
    ...                        audits={"old": {"model": old}, "new": {"model": new}})
    >>> family
    Audits(old='rejected', new='not-applicable', alpha=0.05)
    >>> family["old"].statistic
    0.125
    """

    results: dict[str, AuditResult]
    alpha: float
    queried: int

    def __getitem__(self, name: str) -> AuditResult:
        if name not in self.results:
            msg = f"{param('audits')} has no audit {name!r}; there are {', '.join(self.results)}"
            raise KeyError(msg)
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def family(self) -> Family:
        """The levels of tests and bounds."""
        tested = self._tested.values()
        # by their settings, audits that compare people within the data certify nothing
        certifiable = sum(one.target_scope not in NOT_CERTIFIABLE for one in tested)
        return Family(self.alpha, len(self), len(tested), certifiable)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The rows of the table."""
        adjusted = self._adjusted
        return tuple(
            Member(
                name=name,
                model=result.model,
                n=result.n,
                units=SampledUnits.of(result.space.units),
                changed=None if result.decisions is None else result.decisions.changed,
                statistic=result.statistic,
                **self._interval(name),
                delta=result.delta,
                pvalue=self._pvalues.get(name) if result.law.has_pvalue else None,
                pvalue_adjusted=adjusted.get(name),
                verdict=self.verdicts.get(name),
                guarantee=result.guarantee,
            )
            for name, result in self.items()
        )

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdicts of the family on δ-fairness, by name, all correct with probability 1 − α.

        Audits that could find nothing are "not-applicable", with or without δ.
        """
        empty = {name for name, result in self.items() if result.applicability is not None}
        return self._reached | dict.fromkeys(empty, "not-applicable")

    @cached_property
    def _reached(self) -> dict[str, Verdict]:
        """Verdicts of the tests, by name, applicable or not."""
        names = list(self._tested)
        verdicts = self.family.verdicts(
            [self._adjusted[name] for name in names], [self._certified[name] for name in names]
        )
        return dict(zip(names, verdicts, strict=True))

    @cached_property
    def table(self) -> IntoDataFrame:
        """A table of the audits, one per row, in the library of the audit data.

        ``lower`` and ``upper`` hold for all audits together with probability 1 − α; a verdict is
        "rejected" exactly if ``pvalue_adjusted`` is at most α, "certified" exactly if ``upper``
        is at most δ, unless it is "not-applicable".
        """
        rows = [vars(one) for one in self.members]
        library = next(iter(self.values())).space.library
        return plain_frame({name: [row[name] for row in rows] for name in COLUMNS}, library)

    @cached_property
    def summary(self) -> FamilySummary:
        """The whole family as one document."""
        return replace(self.headline, audits=tuple(result.summary for result in self.values()))

    @cached_property
    def headline(self) -> FamilySummary:
        """What a screen shows of the family, without the audits' own documents."""
        return FamilySummary(
            schema=FAMILY_SCHEMA,
            alpha=self.alpha,
            certificate_level=self.family.end_level,
            members=self.members,
            queried=self.queried,
            warnings=_together(self.results),
            version=get_version("fairtransport"),
        )

    @cached_property
    def _tested(self) -> dict[str, AuditResult]:
        """The audits with a threshold."""
        return {name: result for name, result in self.items() if result.delta is not None}

    @cached_property
    def _pvalues(self) -> dict[str, float]:
        """Their p-values, exact at the levels of the family's steps."""
        levels = self.family.levels
        return {
            name: result.law.graded_pvalue(_delta(result), levels)
            for name, result in self._tested.items()
        }

    @cached_property
    def _adjusted(self) -> dict[str, float]:
        """Their adjusted p-values, at most α exactly if the family rejects."""
        pvalues = self.family.adjusted(list(self._pvalues.values()))
        return dict(zip(self._pvalues, pvalues.tolist(), strict=True))

    @cached_property
    def _certified(self) -> dict[str, bool]:
        """Whether each of them is certified at the level of the family's certificates."""
        level = self.family.end_level
        return {
            name: result.law.certifies(_delta(result), level)
            for name, result in self._tested.items()
        }

    def _interval(self, name: str) -> dict[str, float | None]:
        """Return the ends of an audit's interval, consistent with its verdict."""
        result, level = self[name], self.family.end_level
        lower, upper = result.law.lower_bound(level), result.law.upper_bound(level)
        # tests at several levels may disagree slightly; wider intervals still hold
        if result.delta is not None and self._reached[name] != "rejected":
            lower = min(lower, result.delta)
        if result.delta is not None and self._reached[name] != "certified":
            upper = max(upper, math.nextafter(result.delta, math.inf))
        return {"lower": finite(lower), "upper": finite(upper)}

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name}={self.verdicts.get(name)!r}" for name in self)
        return f"Audits({verdicts}, alpha={self.alpha:g})"


def _delta(result: AuditResult) -> float:
    """Return the threshold of an audit that has one."""
    if result.delta is None:
        msg = f"{param('delta')} must be given, got None"
        raise InputError(msg)
    return result.delta


def _together(results: Mapping[str, AuditResult]) -> tuple[str, ...]:
    """Return the distinct warnings of the audits, with the names of those concerned."""
    about: dict[str, list[str]] = {}
    for name, result in results.items():
        empty = (
            []
            if result.applicability is None
            else [Note("This audit cannot tell: {reason}", reason=result.applicability)]
        )
        for warning in (*empty, *rates_notes(result), *list_notes(result)):
            about.setdefault(warning, []).append(name)
    return tuple(
        warning
        if len(names) == len(results)
        else Note("{names}: {note}", names=", ".join(names), note=warning)
        for warning, names in about.items()
    )


MIN_AUDITS = 2
SHARED = ("X", "feature_names", "alpha", "counts", "clusters", "sample_weight")
"""Settings common to all audits of a family."""
WHERE = "where"
"""An entry's slice of the cases, as in ``{"site": ["a", "b"]}``."""
OF_ONE = {
    "judge": "all verdicts of a family are about the statistic",
    "controls": "all verdicts of a family are about the statistic",
}
"""Settings that a family does not support, and why."""
OWN = (*(name for name in SETTINGS if name not in {*SHARED, *OF_ONE}), WHERE)
"""Settings that an entry may have."""
ACCESS = ("model", "y_pred", "y_score")
"""Sources of predictions, of which an audit has one."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One audit of a family, checked without the data."""

    name: str
    settings: AuditSettings
    people: dict[str, Any]
    where: object = None


def check_entries(
    audits: object, common: Mapping[str, object]
) -> tuple[dict[str, Entry], list[CachedModel]]:
    """Return the entries by name, and the distinct models."""
    if not isinstance(audits, Mapping) or len(audits) < MIN_AUDITS:
        got = short_repr(audits) if not isinstance(audits, Mapping) else f"{len(audits)}"
        msg = f"{param('audits')} must map at least {MIN_AUDITS} names to settings, got {got}"
        raise InputError(msg)
    check_known(common, [name for name in SETTINGS if name not in {"X", *OF_ONE}], "audit_many()")
    common = {**common, "rng": checked("rng", common.get("rng"))}
    models: dict[int, CachedModel] = {}
    entries = {}
    for name, own in audits.items():
        if not isinstance(name, str) or not name.strip():
            msg = f"{param('audits')} must have names of text, got {short_repr(name)}"
            raise InputError(msg)
        with naming_entry(name):
            entries[name] = _entry(name, own, common, models)
    return entries, list(models.values())


@contextmanager
def naming_entry(name: str) -> Iterator[None]:
    """Name the audit of a family in errors."""
    try:
        yield
    except FairtransportError as error:
        error.args = (f"audit {short_repr(name)}: {error.message}",)
        raise


def check_known(names: Iterable[object], allowed: Sequence[str], what: str) -> None:
    """Check that every keyword is a setting."""
    for name in names:
        if name in OF_ONE and name in SETTINGS:
            msg = f"{param(name)} is for `audit` alone: {OF_ONE[name]}"
            raise InputError(msg)
        if name not in allowed:
            raise unknown_setting_error(name, allowed, what)


def _entry(
    name: str, own: object, common: Mapping[str, object], models: dict[int, CachedModel]
) -> Entry:
    """Return one audit of a family, checked without the data."""
    if not isinstance(own, Mapping):
        msg = f"its settings must be a mapping, as in {{'delta': 0.05}}, got {short_repr(own)}"
        raise InputError(msg)
    for one in SHARED:
        if one in own:
            msg = f"{param(one)} must be the same for all audits of a family"
            raise InputError(msg)
    check_known(own, OWN, "its settings")
    keywords: dict[str, Any] = {**_left(common, own), **own}
    if keywords.get("sensitive_features") is None:
        msg = f"{param('sensitive_features')} must be given"
        raise InputError(msg)
    setting_names = {one.name for one in fields(AuditSettings)}
    settings = AuditSettings(
        **{key: value for key, value in keywords.items() if key in setting_names}
    ).without_truth(
        keywords.get("y"), has_scores=keywords.get("y_score") is not None,
        has_model=keywords.get("model") is not None,
    )  # fmt: skip
    settings.queries.check_only(
        ("log", "repeats"),
        "a family queries each model once about everybody, as its audits share the answers",
    )
    people = {key: keywords.get(key) for key in PEOPLE if key != "X"}
    loss = settings.chosen_loss
    access = choose_access(people["model"], people["y_pred"], people["y_score"], loss)
    check_loss_range(settings, access)
    check_no_controls("model", access.box)
    if loss.uses_truth and people["y"] is None:
        raise InputError(missing_truth(loss.name))
    model = people["model"]
    if model is not None:
        people["model"] = models.setdefault(id(model), cached(model))
    return Entry(name, settings, people, keywords.get(WHERE))


def _left(common: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """Return the common settings of an entry, without other sources of predictions than its own."""
    displaced = ACCESS if any(own.get(name) is not None for name in ACCESS) else ()
    return {name: value for name, value in common.items() if name not in displaced}


def with_names(entry: Entry, names: Mapping[str, Any]) -> Entry:
    """Return an entry whose columns are given by name."""
    columns = {name: names[name] for name in ("sensitive_features", "features")}
    return replace(
        entry,
        settings=replace(entry.settings, **columns),
        people=entry.people | {name: names[name] for name in names if name not in columns},
    )


PREDICTIONS = ("y_pred", "y_score")


def count_once(
    data: TableLike, entries: Mapping[str, Entry]
) -> tuple[CountedSource, dict[str, Entry]]:
    """Count the data over all columns that some audit needs.

    A column is binned in the counting if all audits that use it have the same bins; otherwise it is
    counted unbinned, and each audit applies its own bins.
    """
    source = as_source(data)
    naming = _Naming(source, _not_described(source.columns, entries))
    entries_by_name: dict[str, Entry] = {}
    columns: dict[str, None] = {}
    edges: dict[str, set[tuple[float, ...] | None]] = {}
    for name, entry in entries.items():
        with naming_entry(name):
            entries_by_name[name], roles = naming.named(entry)
            bins = check_bins(entry.settings.bins, roles.profile)
            for column in (
                *roles.points,
                *roles.design,
                *slice_columns(entry.where, source.columns),
            ):
                columns[column] = None
                # a slice is given by values, which bins would hide
                hidden = isinstance(entry.where, Mapping) and column in entry.where
                edges.setdefault(column, set()).add(None if hidden else bins.get(column))
    bins = {
        column: cuts_of_column.pop() or ()
        for column, cuts_of_column in edges.items()
        if len(cuts_of_column) == 1
    }
    bins = {column: cuts for column, cuts in bins.items() if cuts}
    weight = next(iter(entries.values())).settings.counts
    return CountedSource.of(naming.source, list(columns), bins, weight), entries_by_name


def _not_described(columns: list[str], entries: Mapping[str, Entry]) -> list[str]:
    """Return the columns that are label, counts or predictions of some audit."""
    other_columns: set[str | None] = set()
    for entry in entries.values():
        for value in (entry.people["y"], *(entry.people[name] for name in PREDICTIONS)):
            values = value if isinstance(value, list | tuple) else [value]
            other_columns |= {one for one in values if isinstance(one, str)}
        other_columns.add(entry.settings.counts)
        other_columns |= {one.column for one in entry.settings.design if one is not None}
    return [name for name in columns if name in other_columns]


def slice_columns(where: object, columns: list[str]) -> list[str]:
    """Return the columns of an audit's slice of the cases."""
    if not isinstance(where, Mapping):
        return []  # no slice, or one that is rejected later
    for name in where:
        if name not in columns:
            names = ", ".join(columns)
            msg = (
                f"{param('where')} must name columns of the data ({names}), got {short_repr(name)}"
            )
            raise InputError(msg)
    return list(where)


class _Naming:
    """Names arrays as columns, the same array by the same name."""

    def __init__(self, source: Source, not_described: list[str]) -> None:
        self.source = source
        self._features = [name for name in source.columns if name not in not_described]
        self._names: dict[int, object] = {}

    def named(self, entry: Entry) -> tuple[Entry, Roles]:
        """Return an entry with names of columns, and the role of each."""
        people, settings = entry.people, entry.settings
        parameter = next((name for name in PREDICTIONS if people[name] is not None), PREDICTIONS[0])
        features = settings.features
        if features is None and people["model"] is not None:
            features = people["model"].features
            check_model_columns(features or (), self.source.columns)
        values = (people["y"], settings.sensitive_features, people[parameter])
        label, sensitive, predictions = (self._names.get(id(one), one) for one in values)
        self.source, roles = find_roles(
            self.source, label, sensitive, (parameter, predictions),
            self._features if features is None else features, settings.counts, settings.design,
        )  # fmt: skip
        column_names = (roles.label, list(roles.sensitive), list(roles.predictions))
        for value, name in zip(values, column_names, strict=True):
            if value is not None and not isinstance(value, str):
                self._names[id(value)] = name
        names = {
            "y": roles.label, "sensitive_features": list(roles.sensitive),
            "features": settings.features if features is not None else list(roles.features),
            parameter: list(roles.predictions) or None,
        }  # fmt: skip
        if not settings.chosen_loss.uses_truth:
            roles = replace(roles, label=None)
        return with_names(entry, names), roles
