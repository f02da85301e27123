"""Group-fairness metrics, signed as AIF360 signs them, to stand beside the FaiTH statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.checks import finite, float_array, shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from fairtransport.checks import BoolArray, FloatArray, IntArray
    from fairtransport.space.columns import Value

BINARY = 2


@dataclass(frozen=True)
class GroupMetrics:
    """How a model does in each group; None where a number is undefined or was not asked for.

    Attributes
    ----------
    accuracy
        The share of correct predictions among all people.
    accuracy_by_group
        The same in each group; None for a group without weight.
    demographic_parity_difference
        The largest difference between two groups' selection rates (fairlearn's).
    equalized_odds_difference
        The larger of the largest differences in true and in false positive rates
        (fairlearn's). Which of two labels is called positive changes neither of the two.
    statistical_parity_difference
        The share of the favourable prediction, unprivileged minus privileged (AIF360's).
    equal_opportunity_difference
        The same among people whose true label is the favourable one.
    average_odds_difference
        The mean of that and of the same difference among people with the other true label.
    notes
        A sentence for each number that is undefined.
    """

    accuracy: float
    accuracy_by_group: Mapping[Value, float | None]
    demographic_parity_difference: float | None = None
    equalized_odds_difference: float | None = None
    statistical_parity_difference: float | None = None
    equal_opportunity_difference: float | None = None
    average_odds_difference: float | None = None
    notes: tuple[str, ...] = ()


def group_metrics(
    truth: Collection[Value],
    prediction: Collection[Value],
    group: Collection[Value],
    weights: object = None,
    *,
    favourable: Value = None,
    privileged: Value = None,
) -> GroupMetrics:
    """Compare a model's answers between groups.

    Parameters
    ----------
    truth, prediction, group
        The true label, the predicted label and the group of each person or cell. A missing
        group is a group of its own, None.
    weights
        How many people each entry stands for; default: one.
    favourable
        The label that is good to receive. With it and ``privileged`` there are AIF360's
        signed differences, from the privileged group to all others together.
    privileged
        The group that the others are compared with.

    Notes
    -----
    The differences need two labels: with more there are accuracies alone. A rate among
    people of whom there are none is undefined, and so is what is made from it: None, with a
    sentence in ``notes``.

    Examples
    --------
    >>> found = group_metrics([1, 1, 0, 0], [1, 0, 0, 0], ["a", "b", "a", "b"],
    ...                       favourable=1, privileged="a")
    >>> found.accuracy, found.statistical_parity_difference, found.average_odds_difference
    (0.75, -0.5, -0.5)
    """
    lengths = {name: len(values) for name, values in
               (("truth", truth), ("prediction", prediction), ("group", group))}  # fmt: skip
    _check_lengths(lengths)
    mass = _mass(weights, lengths["truth"])
    labels, codes = _coded(truth, prediction)
    known, answered = np.split(codes, 2)
    groups, member = _coded(group)
    _check_choices(labels, groups, favourable, privileged)
    weight_of = np.bincount(member, mass, len(groups))
    right = np.bincount(member, mass * (known == answered), len(groups))
    accuracies = {
        level: float(hits / total) if total > 0 else None
        for level, hits, total in zip(groups, right, weight_of, strict=True)
    }
    accuracy = float(right.sum() / weight_of.sum())
    if len(labels) > BINARY:
        note = f"Differences between groups need two labels, got {len(labels)}."
        return GroupMetrics(accuracy, accuracies, notes=(note,))
    signed = favourable is not None
    # −1 is no code: a favourable label that nobody has was said to nobody
    positive = labels.index(favourable) if favourable in labels else (-1 if signed else 0)
    label = favourable if signed else labels[0]
    answers = _Answers(answered == positive, known == positive, mass, label)
    notes: list[str] = []
    rates = _rates(answers, member, [f"group {level!r}" for level in groups], notes)
    parity, odds = _largest_differences(rates)
    if not signed:
        return GroupMetrics(accuracy, accuracies, parity, odds, notes=tuple(notes))
    # AIF360's two sides: the privileged group, and everybody else together
    others = (member != groups.index(privileged)).astype(np.int64)
    sides = [f"group {privileged!r}", "the other groups"]
    signed_differences = _signed_differences(_rates(answers, others, sides, notes))
    # a lone group is told of twice: among all groups and as one of the two sides
    told = tuple(dict.fromkeys(notes))
    return GroupMetrics(accuracy, accuracies, parity, odds, *signed_differences, told)


def _check_lengths(lengths: Mapping[str, int]) -> None:
    """Refuse columns of unlike lengths, or without any entry.

    Parameters
    ----------
    lengths
        By the parameter's name; that of ``truth`` is what the others must have.
    """
    wanted = lengths["truth"]
    if wanted == 0:
        msg = "`truth` must have at least one entry, got none"
        raise InputError(msg)
    for name, length in lengths.items():
        if length != wanted:
            msg = f"`{name}` must have as many entries as `truth`, {wanted}, got {length}"
            raise InputError(msg)


def _mass(weights: object, length: int) -> FloatArray:
    """Return how many people each entry stands for, one each if not told.

    Raises
    ------
    InputError
        If a weight is negative or not finite, or all are 0.
    """
    if weights is None:
        return np.ones(length)
    mass = finite("weights", float_array("weights", weights, (length,)), nonnegative=True)
    if not mass.sum() > 0:
        msg = "`weights` must not all be 0"
        raise InputError(msg)
    return mass


def _coded(*columns: Collection[Value]) -> tuple[list[Value], IntArray]:
    """Return the columns' levels, sorted with a missing one last, and each entry's position.

    Parameters
    ----------
    columns
        Of one kind of level, as true and predicted labels: codes are the same in all of them.

    Returns
    -------
    levels, codes
        The codes of the columns one after the other. NumPy columns of one plain type take the
        quick way; others are gone through value by value.

    Examples
    --------
    >>> levels, places = _coded(["b", None, "a"])
    >>> levels, places.tolist()
    (['a', 'b', None], [1, 2, 0])
    """
    arrays = [column for column in columns if hasattr(column, "dtype")]
    kinds = {np.asarray(column).dtype.kind for column in arrays}
    if len(arrays) == len(columns) and len(kinds) == 1 and kinds <= set("biuU"):
        distinct, places = np.unique(
            np.concatenate([np.asarray(column) for column in columns]), return_inverse=True
        )
        return distinct.tolist(), places.astype(np.int64)
    known = [_level(value) for column in columns for value in _listed(column)]
    levels = _sorted(set(known) - {None}) + [None] * (None in known)
    place = {level: position for position, level in enumerate(levels)}
    return levels, np.array([place[value] for value in known], np.int64)


def _listed(column: Collection[Value]) -> list[Value]:
    """Return Python's own numbers and words: NumPy's would stay in the keys of a result.

    Parameters
    ----------
    column
        A NumPy array, or any other collection.
    """
    return list(np.asarray(column).tolist() if hasattr(column, "dtype") else column)


def _level(value: Value) -> Value:
    """Return a level, None for a missing one: NaN is unlike itself, and would be many levels."""
    return None if value is None or value != value else value  # noqa: PLR0124


def _sorted(levels: set[Value]) -> list[Value]:
    """Return levels in their order, or in that of their words where they have none."""
    try:
        return sorted(levels)  # type: ignore[type-var]
    except TypeError:  # levels of several types have no order but their words'
        return sorted(levels, key=str)


def _check_choices(
    labels: list[Value], groups: list[Value], favourable: object, privileged: object
) -> None:
    """Refuse a favourable label or privileged group that does not occur, or one alone.

    Parameters
    ----------
    labels, groups
        Those that occur.
    favourable, privileged
        What the caller chose; both or neither.
    """
    if (favourable is None) != (privileged is None):
        given, lacking = ("privileged", "favourable")[:: 1 if favourable is None else -1]
        msg = f"`{lacking}` must be given together with `{given}`, got None"
        raise InputError(msg)
    if favourable is not None and len(labels) >= BINARY and favourable not in labels:
        msg = f"`favourable` must be one of the labels {shown(labels)}, got {shown(favourable)}"
        raise InputError(msg)
    if privileged is not None and privileged not in groups:
        msg = f"`privileged` must be one of the groups {shown(groups)}, got {shown(privileged)}"
        raise InputError(msg)


class _Answers(NamedTuple):
    """Who received a label, who has it, how many people each entry stands for, the label.

    Attributes
    ----------
    said, was
        By entry: whether the label was predicted, and whether it is the true one.
    mass
        By entry: its people.
    label
        The label that rates are of.
    """

    said: BoolArray
    was: BoolArray
    mass: FloatArray
    label: Value


def _rates(answers: _Answers, member: IntArray, names: list[str], notes: list[str]) -> FloatArray:
    """Return a group's shares of positive answers: of all, of those with that label, of others.

    Parameters
    ----------
    answers
        Answers and truths.
    member
        By entry: its group.
    names
        Of the groups, for notes.
    notes
        Sentences are added for rates that are undefined.

    Returns
    -------
    ndarray
        (groups, 3) selection rate, true positive rate, false positive rate; NaN if undefined.
    """
    said, was, mass, label = answers
    everyone, length = np.ones_like(was), len(names)
    columns = []
    for among, whom in (
        (everyone, "people"),
        (was, f"people with the label {label!r}"),
        (~was, f"people without the label {label!r}"),
    ):
        total = np.bincount(member, mass * among, length)
        hits = np.bincount(member, mass * (among & said), length)
        notes += [
            f"Rates among {whom} in {name} are undefined: there are none."
            for name, weight in zip(names, total, strict=True)
            if weight == 0
        ]
        # NaN, so that a difference with a rate that does not exist does not exist either
        columns.append(np.where(total > 0, hits / np.where(total > 0, total, 1), np.nan))
    return np.column_stack(columns)


def _largest_differences(rates: FloatArray) -> tuple[float | None, float | None]:
    """Return the largest differences of two groups: in selection rates, and in odds.

    Parameters
    ----------
    rates
        From `_rates`; a NaN anywhere makes the difference undefined.

    Examples
    --------
    >>> _largest_differences(np.array([[0.5, 1.0, 0.0], [0.25, 0.5, 0.0]]))
    (0.25, 0.5)
    """
    selection, true, false = np.ptp(rates, axis=0)
    return _number(selection), _number(np.maximum(true, false))


def _signed_differences(rates: FloatArray) -> tuple[float | None, float | None, float | None]:
    """Return AIF360's differences, the second group less the first: parity, opportunity, odds.

    Parameters
    ----------
    rates
        From `_rates`, of the privileged group and of all others together.

    Examples
    --------
    >>> _signed_differences(np.array([[0.5, 1.0, 0.0], [0.25, 0.5, 0.0]]))
    (-0.25, -0.5, -0.25)
    """
    parity, true, false = rates[1] - rates[0]
    return _number(parity), _number(true), _number((true + false) / 2)


def _number(value: float) -> float | None:
    """Return a number, None where it is undefined."""
    return None if np.isnan(value) else float(value)
