"""Rates of decisions and errors by group, and AIF360's group metrics, with its signs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from fairtransport._core.schema import Doc
from fairtransport._core.validation import (
    check_finite,
    check_float_array,
    list_values,
    short_repr,
)
from fairtransport.errors import InputError, param
from fairtransport.explain.moves import Profile  # noqa: TC001 - annotations are the schema
from fairtransport.explain.moves import Value as PlainValue  # noqa: TC001
from fairtransport.inference.simultaneous_intervals import rate_intervals, unit_rate_intervals

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fairtransport._core.units import Units
    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.data.columns import Value

N_BINARY_LABELS = 2
SELECTION, ERROR, ERROR_OF_LABEL = "selection", "error", "error-of-label"
RATE_KINDS = (SELECTION, ERROR, ERROR_OF_LABEL)
"""Shares of people: with a label, with a wrong one, and with errors among one true label."""
MAX_RATE_LABELS = 12
"""Maximum number of labels with a rate each; of more, only the favourable one has a rate."""
HIGHEST = "highest"
"""Chooses the group with the highest rate as the reference."""


@dataclass(frozen=True, kw_only=True)
class GroupRate:
    """A rate in one group, compared with the reference group; undefined values are null.

    All intervals of a table hold together. A shared document has coarse rates, and neither people
    nor intervals.
    """

    group: Annotated[Profile, Doc("The values of the sensitive features.")]
    people: Annotated[int | None, Doc("How many people the rate is a share of; null if shared.")]
    rate: Annotated[float | None, Doc("The share; null where there is nobody.")]
    lower: Annotated[float | None, Doc("The lower end of its interval.")] = None
    upper: Annotated[float | None, Doc("The upper end.")] = None
    difference: Annotated[float | None, Doc("The rate minus that of the reference group.")] = None
    difference_lower: Annotated[float | None, Doc("The lower end of its interval.")] = None
    difference_upper: Annotated[float | None, Doc("The upper end.")] = None
    ratio: Annotated[
        float | None, Doc("The rate divided by that of the reference group; null where that is 0.")
    ] = None
    ratio_lower: Annotated[float | None, Doc("The lower end of its interval.")] = None
    ratio_upper: Annotated[float | None, Doc("The upper end; null if there is none.")] = None


@dataclass(frozen=True, kw_only=True)
class RateTable:
    """One rate in each group, with intervals that hold together."""

    kind: Annotated[
        str,
        Doc(
            "The share of people who get the label, of people with a wrong one, or of people "
            "with a wrong one among those with a true label.",
            one_of=RATE_KINDS,
        ),
    ]
    label: Annotated[PlainValue, Doc("The label that people get or have; null for all errors.")]
    reference: Annotated[
        Profile | None, Doc("The group that the others are compared with; null if there is none.")
    ]
    confidence: Annotated[
        float | None, Doc("The simultaneous confidence of all intervals; null if shared.")
    ]
    groups: Annotated[tuple[GroupRate, ...], Doc("The groups.")]

    @property
    def title(self) -> str:
        """What the rate is the share of, in words."""
        if self.kind == SELECTION:
            return f"Gets {self.label}"
        return "Wrong" if self.kind == ERROR else f"Wrong, true label {self.label}"


class Rate(NamedTuple):
    """A rate to compare: its kind, its label, whom it counts, and among whom."""

    kind: str
    label: Value
    is_hit: BoolArray
    among: BoolArray


def list_rates(
    decisions: Collection[Value],
    truth: Collection[Value] | None,
    choice: Sequence[Value] | None = None,
) -> list[Rate]:
    """Return the selection rates of some labels, and error rates if there are true labels.

    The default is the last of two labels, or each of a few; of many labels none has a rate.
    """
    labels, codes = _encode(decisions) if truth is None else _encode(decisions, truth)
    answers, truths = codes[: len(decisions)], codes[len(decisions) :]
    everybody = np.ones(len(answers), bool)
    if choice is None:
        own = labels[-1:] if len(labels) <= N_BINARY_LABELS else labels
        choice = own if len(labels) <= MAX_RATE_LABELS else []
    # −1 is no code, so that a label of nobody has the rate 0
    places = [labels.index(label) if label in labels else -1 for label in choice]
    rates = [
        Rate(SELECTION, label, answers == place, everybody)
        for label, place in zip(choice, places, strict=True)
    ]
    if truth is None:
        return rates
    is_wrong = answers != truths
    true_labels = np.unique(truths).tolist() if len(labels) <= MAX_RATE_LABELS else []
    return [
        *rates,
        Rate(ERROR, None, is_wrong, everybody),
        *(Rate(ERROR_OF_LABEL, labels[code], is_wrong, truths == code) for code in true_labels),
    ]


class Groups(NamedTuple):
    """The groups, each entry's group and number of people, and which groups can be compared."""

    profiles: list[Profile]
    member: IntArray
    counts: IntArray
    is_compared: BoolArray
    units: Units | None = None
    seed: int = 0

    @property
    def sizes(self) -> IntArray:
        """Number of people in each group."""
        return self.count_people(np.ones(len(self.member), bool))

    @property
    def is_known(self) -> BoolArray:
        """Which groups have no missing level; if there are any, only these can be the reference."""
        return np.array([None not in profile.values() for profile in self.profiles])

    def count_people(self, among: BoolArray) -> IntArray:
        """Return the number of people of each group among some."""
        return np.bincount(self.member, self.counts * among, len(self.profiles)).astype(np.int64)

    def weigh(self, among: BoolArray) -> FloatArray:
        """Return the weight of the people of each group among some."""
        return np.asarray(np.bincount(self.member, self.mass * among, len(self.profiles)))

    @property
    def mass(self) -> FloatArray | IntArray:
        """The weight of each entry; its number of people without weights."""
        return self.counts if self.units is None else self.units.frequencies(len(self.member))


def compare_rate(
    rate: Rate, groups: Groups, label: PlainValue, reference: int | str, alpha: float
) -> RateTable:
    """Return a rate in every group; ``reference`` is the index of a group or "highest"."""
    sizes = groups.count_people(rate.among)
    successes = groups.count_people(rate.among & rate.is_hit)
    there = np.flatnonzero(sizes)
    total = groups.weigh(rate.among)
    shares = groups.weigh(rate.among & rate.is_hit) / np.where(total > 0, total, 1)
    is_fixed = not isinstance(reference, str)
    place = reference
    if isinstance(place, str):
        may_be = groups.is_compared & (sizes > 0)
        candidates = may_be & groups.is_known
        choice = np.flatnonzero(candidates if candidates.any() else may_be)
        place = int(choice[np.argmax(shares[choice])]) if len(choice) else -1
    rows = [
        GroupRate(group=profile, people=int(size), rate=float(share) if size else None)
        for profile, size, share in zip(groups.profiles, sizes, shares, strict=True)
    ]
    if len(there):
        _add_intervals(
            rows, (successes, sizes, there), place, groups, rate, alpha, is_fixed=is_fixed
        )
    return RateTable(
        kind=rate.kind, label=label, reference=groups.profiles[place] if place >= 0 else None,
        confidence=1 - alpha, groups=tuple(rows),
    )  # fmt: skip


def _add_intervals(
    rows: list[GroupRate], counts: tuple[IntArray, IntArray, IntArray], place: int,
    groups: Groups, rate: Rate, alpha: float, *, is_fixed: bool,
) -> None:  # fmt: skip
    """Add the intervals of groups with people, and the comparison with the reference."""
    successes, sizes, there = counts
    has_reference = place in there
    reference = int(np.searchsorted(there, place)) if has_reference else 0
    if groups.units is None:
        intervals = rate_intervals(
            successes[there], sizes[there], reference, alpha, is_fixed=is_fixed and has_reference
        )
    else:
        members = [rate.among & (groups.member == group) for group in there.tolist()]
        intervals = unit_rate_intervals(
            groups.units, rate.is_hit, members, reference, alpha, groups.seed
        )
    base = rows[place].rate if has_reference else None
    for at, group in enumerate(there):
        row = rows[group]
        ends = {name: _none_unless_finite(values[at]) for name, values in vars(intervals).items()}
        own = {name: ends[name] for name in ("lower", "upper")}
        if base is None or row.rate is None or not (groups.is_compared[group] or group == place):
            rows[group] = replace(row, **own)
            continue
        # the reference's own difference and ratio are 0 and 1, and have no interval
        ratio = row.rate / base if base > 0 else None
        rows[group] = replace(row, **ends, difference=row.rate - base, ratio=ratio)


@dataclass(frozen=True)
class GroupMetrics:
    """Metrics of a model by group; None if undefined or not requested."""

    accuracy: float | None
    accuracy_by_group: Mapping[Value, float | None]
    demographic_parity_difference: float | None = None
    equalized_odds_difference: float | None = None
    statistical_parity_difference: float | None = None
    equal_opportunity_difference: float | None = None
    average_odds_difference: float | None = None
    notes: tuple[str, ...] = ()


def group_metrics(
    truth: Collection[Value] | None,
    prediction: Collection[Value],
    group: Collection[Value],
    weights: object = None,
    *,
    favourable: Value = None,
    privileged: Value = None,
    names: Sequence[str] | None = None,
) -> GroupMetrics:
    """Compare a model's answers between groups; ``names`` are those of the sorted groups in notes.

    Differences need two labels: with more there are only accuracies. A rate among no people is
    undefined, like whatever is computed from it: None, with a sentence in ``notes``. Without
    ``truth`` there are only selection rates.
    """
    columns = {"truth": truth, "prediction": prediction, "group": group}
    _check_lengths({name: len(values) for name, values in columns.items() if values is not None})
    mass = _check_weights(weights, len(prediction))
    labels, codes = _encode(prediction) if truth is None else _encode(prediction, truth)
    answer_codes, truth_codes = codes[: len(prediction)], codes[len(prediction) :]
    groups, member = _encode(group)
    _check_choices(labels, groups, favourable, privileged)
    accuracy, accuracies = None, {}
    if truth is not None:
        weight_of = np.bincount(member, mass, len(groups))
        right = np.bincount(member, mass * (truth_codes == answer_codes), len(groups))
        accuracies = {
            level: float(hits / total) if total > 0 else None
            for level, hits, total in zip(groups, right, weight_of, strict=True)
        }
        accuracy = float(right.sum() / weight_of.sum())
    if len(labels) > N_BINARY_LABELS:
        note = f"Differences between groups need two labels, got {len(labels)}."
        return GroupMetrics(accuracy, accuracies, notes=(note,))
    signed = favourable is not None
    # −1 is no code: nobody got a favourable label that does not occur
    positive = labels.index(favourable) if favourable in labels else (-1 if signed else 0)
    label = favourable if signed else labels[0]
    is_true = None if truth is None else truth_codes == positive
    answers = _Answers(answer_codes == positive, is_true, mass, label)
    notes: list[str] = []
    titles = [f"group {name!r}" for name in names or groups]
    rates = _compute_rates(answers, member, titles, notes)
    parity, odds = _largest_differences(rates)
    if privileged is None:
        return GroupMetrics(accuracy, accuracies, parity, odds, notes=tuple(notes))
    # AIF360's two sides: the privileged group, and everybody else together
    others = (member != groups.index(privileged)).astype(np.int64)
    sides = [titles[groups.index(privileged)], "the other groups"]
    signed_differences = _signed_differences(_compute_rates(answers, others, sides, notes))
    # a lone group is noted twice: among all groups and as one of the two sides
    unique_notes = tuple(dict.fromkeys(notes))
    return GroupMetrics(accuracy, accuracies, parity, odds, *signed_differences, unique_notes)


def _check_lengths(lengths: Mapping[str, int]) -> None:
    """Check that columns are of one length, and not empty."""
    first, expected = next(iter(lengths.items()))
    if expected == 0:
        msg = f"{param(first)} must have at least one entry, got none"
        raise InputError(msg)
    for name, length in lengths.items():
        if length != expected:
            msg = (
                f"{param(name)} must have as many entries as {param(first)}, {expected}, got "
                f"{length}"
            )
            raise InputError(msg)


def _check_weights(weights: object, length: int) -> FloatArray:
    """Return the number of people of each entry; 1 by default."""
    if weights is None:
        return np.ones(length)
    mass = check_finite(
        "weights", check_float_array("weights", weights, (length,)), nonnegative=True
    )
    if not mass.sum() > 0:
        msg = f"{param('weights')} must not all be 0"
        raise InputError(msg)
    return mass


def _encode(*columns: Collection[Value]) -> tuple[list[Value], IntArray]:
    """Return the columns' levels, sorted with a missing one last, and each entry's position."""
    arrays = [column for column in columns if hasattr(column, "dtype")]
    kinds = {np.asarray(column).dtype.kind for column in arrays}
    if len(arrays) == len(columns) and len(kinds) == 1 and kinds <= set("biuU"):
        distinct, places = np.unique(
            np.concatenate([np.asarray(column) for column in columns]), return_inverse=True
        )
        return distinct.tolist(), places.astype(np.int64)
    values = [value for column in columns for value in _to_list(column)]
    # each distinct value is converted once; a NaN is found by its identity
    level_of = {value: _level(value) for value in set(values)}
    distinct_levels = set(level_of.values())
    levels = _sort_levels(distinct_levels - {None}) + [None] * (None in distinct_levels)
    place = {level: position for position, level in enumerate(levels)}
    code_of = {value: place[level] for value, level in level_of.items()}
    return levels, np.fromiter((code_of[value] for value in values), np.int64, len(values))


def _to_list(column: Collection[Value]) -> list[Value]:
    """Return Python's own values, as NumPy's would appear in the keys of a result."""
    return list(np.asarray(column).tolist() if hasattr(column, "dtype") else column)


def _level(value: Value) -> Value:
    """Return a level; None for NaN, which differs from itself and would be many levels."""
    return None if value is None or value != value else value  # noqa: PLR0124


def _sort_levels(levels: set[Value]) -> list[Value]:
    """Return sorted levels; by their text, if they have no order."""
    try:
        return sorted(levels)  # type: ignore[type-var]
    except TypeError:  # levels of several types have no common order
        return sorted(levels, key=str)


def _check_choices(
    labels: list[Value], groups: list[Value], favourable: object, privileged: object
) -> None:
    """Check that favourable label and privileged group occur; the second needs the first."""
    if favourable is None and privileged is not None:
        msg = f"{param('favourable')} must be given together with {param('privileged')}, got None"
        raise InputError(msg)
    if favourable is not None and len(labels) >= N_BINARY_LABELS and favourable not in labels:
        msg = (
            f"{param('favourable')} must be one of the labels {list_values(labels)}, got "
            f"{short_repr(favourable)}"
        )
        raise InputError(msg)
    if privileged is not None and privileged not in groups:
        msg = (
            f"{param('privileged')} must be one of the groups {list_values(groups)}, got "
            f"{short_repr(privileged)}"
        )
        raise InputError(msg)


class _Answers(NamedTuple):
    """Predictions and truth of one label, the weights of the entries, the label."""

    is_predicted: BoolArray
    is_true: BoolArray | None
    mass: FloatArray
    label: Value


def _compute_rates(
    answers: _Answers, member: IntArray, names: list[str], notes: list[str]
) -> FloatArray:
    """Return a group's shares of positive answers: of all, of those with that label, of others."""
    is_predicted, is_true, mass, label = answers
    columns, length = [], len(names)
    parts: list[tuple[BoolArray, str]] = [(np.ones_like(is_predicted), "people")]
    if is_true is not None:
        parts += [(is_true, f"people with the label {label!r}"),
                  (~is_true, f"people without the label {label!r}")]  # fmt: skip
    for among, whom in parts:
        total = np.bincount(member, mass * among, length)
        hits = np.bincount(member, mass * (among & is_predicted), length)
        notes += [
            f"Rates among {whom} in {name} are undefined: there are none."
            for name, weight in zip(names, total, strict=True)
            if weight == 0
        ]
        # NaN, so that differences with undefined rates are undefined
        columns.append(np.where(total > 0, hits / np.where(total > 0, total, 1), np.nan))
    # without truth, rates among people with one label are undefined
    columns += [np.full(length, np.nan)] * (3 - len(columns))
    return np.column_stack(columns)


def _largest_differences(rates: FloatArray) -> tuple[float | None, float | None]:
    """Return the largest differences of two groups: in selection rates, and in odds."""
    selection, true, false = np.ptp(rates, axis=0)
    return _none_if_nan(selection), _none_if_nan(np.maximum(true, false))


def _signed_differences(rates: FloatArray) -> tuple[float | None, float | None, float | None]:
    """Return AIF360's differences, the second group minus the first: parity, opportunity, odds."""
    parity, true, false = rates[1] - rates[0]
    return _none_if_nan(parity), _none_if_nan(true), _none_if_nan((true + false) / 2)


def _none_if_nan(value: float) -> float | None:
    """Return a number; None if it is undefined."""
    return None if np.isnan(value) else float(value)


def _none_unless_finite(value: float) -> float | None:
    """Return a number; None if it is undefined or infinite."""
    return float(value) if np.isfinite(value) else None
