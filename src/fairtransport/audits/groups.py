"""Rates and group metrics of the audited people, by each sensitive feature and by all."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import check_allowed, check_choice, is_among
from fairtransport.data.columns import sort_levels
from fairtransport.data.sample_space import plain_frame
from fairtransport.documents.audit import GroupComparison
from fairtransport.errors import entry
from fairtransport.explain.groups import (
    HIGHEST,
    GroupRate,
    Groups,
    compare_rate,
    group_metrics,
    list_rates,
)
from fairtransport.explain.moves import to_plain_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import FloatArray, IntArray, Values
    from fairtransport.audits.result import AuditResult
    from fairtransport.data.columns import Value
    from fairtransport.explain.groups import Rate
    from fairtransport.explain.moves import Profile
    from fairtransport.settings import DocumentOptions

MAX_METRIC_LEVELS = 200
"""Maximum number of levels of a feature for group metrics in a document."""


class FeatureComparison(NamedTuple):
    """The metrics by sensitive features, and a note for each undefined one."""

    metrics: GroupComparison
    notes: tuple[str, ...]


class GroupComparisons(tuple[GroupComparison, ...]):  # noqa: SLOT001 - it has a library
    """Comparisons of groups, one for each sensitive feature and one for all together.

    Attributes
    ----------
    library
        The data frame library of `table`.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "hired": ([0] * 3 + [1]) * 25})
    >>> result = ft.audit(people, y_pred="hired", sensitive_features="sex", loss="outcome",
    ...                   pos_label=0, favourable=1, rng=0)
    >>> comparisons = result.group_metrics()
    >>> [table.title for table in comparisons[0].rates]
    ['Gets 1']
    """

    library = "pandas"

    def table(self) -> IntoDataFrame:
        """Return all rates, one row per rate and group, in the library of the audit data.

        Examples
        --------
        >>> comparisons.table()[["sex", "rate of", "people", "rate", "difference"]]
          sex rate of  people  rate  difference
        0   f  Gets 1      50   0.0         0.0
        1   m  Gets 1      50   0.5         0.5
        """
        return plain_frame(rate_columns(self), self.library)


def gather_comparisons(comparisons: Iterable[GroupComparison], library: str) -> GroupComparisons:
    """Return comparisons whose table is a frame of a library."""
    result = GroupComparisons(comparisons)
    result.library = library
    return result


def rate_columns(comparisons: Sequence[GroupComparison]) -> dict[str, list[Value]]:
    """Return all rates as columns; features that a comparison does not use are None."""
    names = list(dict.fromkeys(name for one in comparisons for name in one.features))
    numbers = [field.name for field in fields(GroupRate) if field.name != "group"]
    columns: dict[str, list[Value]] = {name: [] for name in ["by", *names, "rate of", *numbers]}
    for comparison in comparisons:
        for table in comparison.rates:
            for row in table.groups:
                columns["by"].append(" and ".join(comparison.features))
                columns["rate of"].append(table.title)
                for name in names:
                    columns[name].append(row.group.get(name))
                for name in numbers:
                    columns[name].append(getattr(row, name))
    return columns


def has_decisions(result: AuditResult) -> bool:
    """Return whether people have decisions whose rates can be compared.

    Random answers give several per question, and people queried until there was a verdict are not a
    sample of fixed size.
    """
    record = result.query_record
    was_stopped = record.stopped not in (None, "everybody")
    return result.answers.labels is not None and record.draws is None and not was_stopped


def compare_groups(result: AuditResult, options: DocumentOptions) -> tuple[FeatureComparison, ...]:
    """Return rates and metrics by sensitive features; empty if answers are not decisions."""
    references = check_reference(result, options.reference)
    if not has_decisions(result):
        return ()
    skipped = find_unmeasured_features(result)
    people = _observed_people(result)
    return tuple(
        _compare_by(result, people, _build_groups(result, features, options.min_share), references)
        for features in list_feature_sets(result)
        if features not in skipped
    )


def list_feature_sets(result: AuditResult) -> list[tuple[str, ...]]:
    """Return each sensitive feature, and all together if there are several."""
    names = tuple(result.space.sensitive)
    return [*((name,) for name in names), *([names] if len(names) > 1 else [])]


def find_unmeasured_features(result: AuditResult) -> list[tuple[str, ...]]:
    """Return the sensitive features that have too many levels for group metrics."""
    if not has_decisions(result):
        return []
    return [
        features
        for features in list_feature_sets(result)
        if len(np.unique(_group_numbers(result, features))) > MAX_METRIC_LEVELS
    ]


def check_reference(
    result: AuditResult, reference: Mapping[str, object] | str | None
) -> dict[str, Any]:
    """Return the reference groups by sensitive feature; reject those that do not occur."""
    sensitive = result.space.sensitive
    if isinstance(reference, str):
        check_choice("reference", reference, [HIGHEST])
        return dict.fromkeys(sensitive, HIGHEST)
    for name, group in (reference or {}).items():
        check_choice("reference", name, sensitive)
        levels = result.space.columns[name].levels.tolist()
        check_allowed(entry("reference", name), group, [*levels, HIGHEST])
    return dict(reference or {})


def _group_numbers(result: AuditResult, features: Sequence[str]) -> IntArray:
    """Return the group of each point of the audit data, ranked with missing levels last."""
    space = result.space
    rows = np.flatnonzero(space.observed)
    return number_rows([space.columns[name].take(rows).ranks for name in features])


def _build_groups(result: AuditResult, features: Sequence[str], min_share: float) -> Groups:
    """Return the groups of some features among the people."""
    space = result.space
    rows, member = np.flatnonzero(space.observed), _group_numbers(result, features)
    first = rows[np.unique(member, return_index=True)[1]]
    profiles = [
        {name: to_plain_value(space.columns[name].at(point)) for name in features}
        for point in first
    ]
    counts = space.counts[rows]
    sizes = np.bincount(member, counts)
    places = np.full(space.size, -1)
    places[rows] = np.arange(len(rows))
    units = None if space.units is None else space.units.move(places)
    return Groups(profiles, member, counts, sizes >= min_share * space.n, units, result.seed)


def _find_reference(groups: Groups, references: Mapping[str, object]) -> int | str:
    """Return the index of the reference group: the named one, or the largest.

    A group with a missing level is used only if there is no other.
    """
    names = list(groups.profiles[0])
    choices = [references.get(name) for name in names]
    levels = {name: {profile[name] for profile in groups.profiles} for name in names}
    if all(
        choice == HIGHEST and HIGHEST not in levels[name]
        for name, choice in zip(names, choices, strict=True)
    ):
        return HIGHEST
    named_group = dict(zip(names, map(to_plain_value, choices), strict=True))
    if None not in choices and named_group in groups.profiles:
        return groups.profiles.index(named_group)
    return int(np.argmax(np.where(groups.is_known, groups.sizes, -1)))


class People(NamedTuple):
    """Decisions and true labels of people, the rates to compare, and the favourable label."""

    decisions: Values
    truth: Values | None
    rates: list[Rate]
    favourable: Value


def _observed_people(result: AuditResult) -> People:
    """Return the decisions of the people, with the favourable label if anybody has or gets it.

    The rates are those of the favourable label, or of the positive one.
    """
    space, labels = result.space, result.answers.labels
    assert labels is not None  # noqa: S101
    decisions = labels[space.observed]
    truth = None if space.label is None else space.values(space.label)[space.observed]
    choice = [one for one in (result.favourable, result.settings.pos_label) if one is not None]
    rates = list_rates(decisions, truth, choice[:1] or None)
    all_labels = sort_levels(decisions.tolist()).tolist()
    if space.label is not None:
        all_labels += space.columns[space.label].levels.tolist()
    favourable = result.favourable if is_among(result.favourable, all_labels) else None
    return People(decisions, truth, rates, favourable)


def _compare_by(
    result: AuditResult, people: People, groups: Groups, references: Mapping[str, object]
) -> FeatureComparison:  # fmt: skip
    """Return rates and metrics of groups."""
    reference = _find_reference(groups, references)
    tables = tuple(
        compare_rate(rate, groups, to_plain_value(rate.label), reference, result.alpha)
        for rate in people.rates
    )
    base = None if people.favourable is None else tables[0].reference
    metrics = group_metrics(
        people.truth, people.decisions, groups.member, groups.mass, favourable=people.favourable,
        privileged=None if base is None else groups.profiles.index(base),
        names=[format_group(profile) for profile in groups.profiles],
    )  # fmt: skip
    accuracies = metrics.accuracy_by_group.values()
    comparison = GroupComparison(
        tuple(groups.profiles[0]), to_plain_value(result.favourable), base, metrics.accuracy,
        name_groups(zip(groups.profiles, accuracies, strict=False)),
        metrics.statistical_parity_difference, metrics.equal_opportunity_difference,
        metrics.average_odds_difference, metrics.demographic_parity_difference,
        metrics.equalized_odds_difference, tables,
    )  # fmt: skip
    # combinations often lack people with one label; their empty rates are in the table
    notes = metrics.notes if len(comparison.features) == 1 else ()
    return FeatureComparison(
        comparison, tuple(f"Group metrics by {comparison.features[0]}: {note}" for note in notes)
    )


def people_by_answer(
    result: AuditResult, features: Sequence[str], people: FloatArray
) -> FloatArray:  # fmt: skip
    """Add up people at points by features' levels, true label and decision."""
    space = result.space
    assert result.answers.labels is not None  # noqa: S101
    _, decision_codes = np.unique(result.answers.labels.astype(str), return_inverse=True)
    names = [*features, *([] if space.label is None else [space.label])]
    codes = [space.columns[name].codes for name in names]
    return np.asarray(np.bincount(number_rows([*codes, decision_codes.reshape(-1)]), people))


def name_groups(numbers: Iterable[tuple[Profile, float | None]]) -> dict[str, float | None]:
    """Return numbers by distinct names of groups.

    Examples
    --------
    >>> name_groups([({"a": 1}, 0.5), ({"a": "1"}, 0.6), ({"a": None}, 0.7)])
    {'1': 0.5, '1 (2)': 0.6, 'missing': 0.7}
    """
    by_name: dict[str, float | None] = {}
    for group, number in numbers:
        name = first = format_group(group)
        copies = 1
        while name in by_name:
            copies += 1
            name = f"{first} ({copies})"
        by_name[name] = number
    return by_name


def format_group(group: Profile) -> str:
    """Return the levels of a group as text."""
    return ", ".join("missing" if level is None else str(level) for level in group.values())
