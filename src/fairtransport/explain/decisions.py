"""Decisions: whose answer would change if only their recorded sensitive features were different."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.schema import Doc
from fairtransport.explain.moves import (
    Prediction,
    Profile,
    Profiles,
    Value,
    get_prediction,
    to_plain_value,
)
from fairtransport.inference.clopper_pearson import share_interval
from fairtransport.inference.methods import unit_share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray, Values
    from fairtransport.data import SampleSpace
    from fairtransport.data.sample_space import ColumnSet

Number = TypeVar("Number", np.int64, np.float64)
SCOPES = ("declared levels", "levels seen", "these counterparts")
"""Scope of an interval: all possible levels, those in the data, or counterparts as fitted."""
MAX_LISTED_GROUPS = 200
"""Maximum number of groups in a table, those with most changed decisions."""
BOTH_WAYS = 2
"""Number of changes between two decisions, each with a single effect."""
MAX_LABEL_PAIRS = 20
"""Maximum number of pairs of decisions that are listed, the most frequent ones."""


@dataclass(frozen=True, kw_only=True)
class ShareOfPeople:
    """A number of people, as a share of all, with its confidence interval."""

    people: Annotated[float, Doc("The number of people; a multiple of the limit if shared.")]
    share: Annotated[float, Doc("The same as a share of all people.")]
    lower: Annotated[float, Doc("The lower end of the interval for the population's share.")]
    upper: Annotated[float, Doc("The upper end of the interval.")]
    level: Annotated[float, Doc("The confidence of this interval alone.")]
    scope: Annotated[
        str,
        Doc("The groups that the upper end covers; the lower end covers all.", one_of=SCOPES),
    ]


@dataclass(frozen=True, kw_only=True)
class DecisionCounts:
    """How many people of a group would get another decision."""

    group: Annotated[Profile, Doc("The values that the people have in common.")]
    people: Annotated[float, Doc("The number of people in the group.")]
    changed: Annotated[float, Doc("People of whom some copy gets a different decision.")]
    worse_off: Annotated[float | None, Doc("Those who would get a better decision; else null.")]
    better_off: Annotated[float | None, Doc("Those who would get a worse decision; else null.")]
    mean_rise: Annotated[
        float | None, Doc("Mean of the largest rise of their scores or numbers; null with labels.")
    ] = None
    mean_fall: Annotated[float | None, Doc("Mean of the largest fall; null with labels.")] = None


@dataclass(frozen=True, kw_only=True)
class FeatureDecisions:
    """The counts when one sensitive feature is changed alone."""

    feature: Annotated[str, Doc("The sensitive feature; the others are kept.")]
    total: Annotated[DecisionCounts, Doc("The counts of all people.")]
    groups: Annotated[tuple[DecisionCounts, ...], Doc("The counts by the person's own value.")]


@dataclass(frozen=True, kw_only=True)
class LabelDecisions:
    """The counts among people of one true label."""

    label: Annotated[Value, Doc("The true label.")]
    total: Annotated[DecisionCounts, Doc("The counts of all people with this label.")]
    groups: Annotated[
        tuple[DecisionCounts, ...], Doc("The counts by value of each sensitive feature.")
    ]


@dataclass(frozen=True, kw_only=True)
class DecisionChange:
    """People who get one decision and would get another as someone else."""

    decision: Annotated[Value, Doc("The decision that they get.")]
    alternative: Annotated[Value, Doc("The decision that some copy gets.")]
    count: Annotated[ShareOfPeople, Doc("How many people.")]


@dataclass(frozen=True, kw_only=True)
class ScoreChange:
    """How far scores or numbers would change, in the prediction's unit."""

    of: Annotated[Value, Doc("The label whose score it is; null: the predicted number.")]
    mean_rise: Annotated[
        float, Doc("Mean over all people of the largest rise with other sensitive values.")
    ]
    largest_rise: Annotated[float, Doc("The largest rise of all.")]
    mean_fall: Annotated[
        float, Doc("Mean over all people of the largest fall with other sensitive values.")
    ]
    largest_fall: Annotated[float, Doc("The largest fall of all.")]


@dataclass(frozen=True, kw_only=True)
class DecisionCase:
    """People of one profile, and the alternative with fewest changes that is decided otherwise."""

    profile: Annotated[Profile, Doc("Who they are.")]
    people: Annotated[float, Doc("How many they are.")]
    labels: Annotated[
        dict[str, int], Doc("How many of them have each true label; empty if there is none.")
    ]
    decision: Annotated[Prediction, Doc("The decision that they get.")]
    alternative: Annotated[Prediction, Doc("The decision of the copy.")]
    changes: Annotated[Profile, Doc("The values that the copy has instead.")]
    effect: Annotated[
        str,
        Doc(
            "Whether they are worse off or better off than the copy.",
            one_of=("worse off", "better off", "changed"),
        ),
    ]
    is_observed: Annotated[bool, Doc("Whether the data have a person with the values of the copy.")]


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """Whose decision would change if only their recorded sensitive features were different.

    People are compared with copies of themselves that have other sensitive features. ``worse_off``
    and ``better_off`` are null unless it is known which decision is good for a person.
    """

    favourable: Annotated[
        tuple[Value, ...],
        Doc("The favourable decision, or all decisions from worst to best; empty if not known."),
    ]
    n: Annotated[int, Doc("The number of people.")]
    alternatives: Annotated[int, Doc("How many copies a person has, at most.")]
    random_share: Annotated[
        float | None,
        Doc("The share of decisions that differ for a random copy; null if shared."),
    ]
    changed: Annotated[ShareOfPeople, Doc("People of whom some copy gets a different decision.")]
    worse_off: Annotated[
        ShareOfPeople | None,
        Doc("People who would get a better decision with other sensitive values."),
    ]
    better_off: Annotated[
        ShareOfPeople | None,
        Doc("People who would get a worse decision with other sensitive values."),
    ]
    changes: Annotated[
        tuple[DecisionChange, ...],
        Doc("The same by decision and decision of the copy; coarse or none if shared."),
    ] = ()
    scores: Annotated[
        ScoreChange | None,
        Doc("How far scores or numbers change; null with labels or if shared."),
    ] = None
    by_feature: Annotated[
        tuple[FeatureDecisions, ...], Doc("The counts if only one sensitive feature changes.")
    ] = ()
    only_together: Annotated[
        DecisionCounts | None,
        Doc("People whose decision changes by no single feature; null with one feature."),
    ] = None
    by_group: Annotated[
        tuple[DecisionCounts, ...],
        Doc("The counts by value of each sensitive feature, then by their combination."),
    ] = ()
    by_label: Annotated[tuple[LabelDecisions, ...], Doc("The counts by true label.")] = ()
    cases: Annotated[
        tuple[DecisionCase, ...],
        Doc("People whose decision would change, equal ones together; none if shared."),
    ] = ()


@dataclass(frozen=True)
class DecisionRule:
    """Meaning of the answers at all points: codes of decisions, and how good they are.

    Attributes
    ----------
    labels
        The decisions by their codes; empty for scores and numbers.
    codes
        (K,) code of each point's decision; different numbers have different codes.
    ranks
        (K,) how good each decision is for a person; None if unknown.
    numbers
        (K,) score or number if there is no label.
    number_of
        The label whose score ``numbers`` are.
    favourable
        As the user gave it, as a tuple.
    """

    labels: tuple[Value, ...]
    codes: IntArray
    ranks: IntArray | None = None
    numbers: FloatArray | None = None
    number_of: Value = None
    favourable: tuple[Value, ...] = field(default=())


class _Effects(NamedTuple):
    """For each point, whether an alternative is decided otherwise, better or worse, and how far."""

    changed: BoolArray
    worse_off: BoolArray | None = None
    better_off: BoolArray | None = None
    rises: FloatArray | None = None
    falls: FloatArray | None = None

    def inside(self, members: BoolArray) -> _Effects:
        """Return the effects at some points only."""
        return _Effects(*(None if one is None else one * members for one in self))  # type: ignore[arg-type]


def rule_of_labels(predictions: Values, favourable: Sequence[Value] = ()) -> DecisionRule:
    """Return the rule of labels; ``favourable`` is one of them, or all from worst to best."""
    labels, codes = _encode(predictions)
    if not favourable:
        return DecisionRule(tuple(labels), codes)
    if len(favourable) == 1:
        rank_of = [int(label == favourable[0]) for label in labels]
    else:
        rank_of = [list(favourable).index(label) for label in labels]
    return DecisionRule(
        tuple(labels), codes, np.array(rank_of, np.int64)[codes], favourable=tuple(favourable)
    )


def _encode(predictions: Values) -> tuple[list[Value], IntArray]:
    """Return the distinct labels, sorted, and each point's code."""
    if predictions.dtype.kind in "biuU":
        levels, codes = np.unique(predictions, return_inverse=True)
        return levels.tolist(), codes.reshape(-1).astype(np.int64)
    values = predictions.tolist()
    labels = sorted(set(values), key=lambda value: (type(value).__name__, str(value)))
    place = {label: at for at, label in enumerate(labels)}
    codes = np.array([place[value] for value in values], np.int64)
    return [to_plain_value(label) for label in labels], codes


def rule_of_numbers(numbers: FloatArray, number_of: Value = None) -> DecisionRule:
    """Return the rule of scores or numbers, which can only be equal or not."""
    codes = np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return DecisionRule((), codes, numbers=numbers, number_of=number_of)


def find_decisions(
    space: SampleSpace, rule: DecisionRule, alpha: float, max_cases: int,
    find_interval: Callable[[int, int, float], tuple[float, float]] = share_interval, *,
    seed: int = 0,
) -> Decisions:  # fmt: skip
    """Count the people whose decision changes with their sensitive features.

    In an independent sample, a person is changed, worse off or better off independently of the
    others, so that their number is binomial and Clopper–Pearson intervals are exact.
    ``find_interval`` computes another interval from a number of successes, n and α. People of
    clusters or with weights are bet on, as for the statistic.
    """
    families, units = space.families, space.units
    effects = _find_effects(families, rule)

    def interval(members: BoolArray, people: int) -> tuple[float, float]:
        """Return the interval of the share at some points."""
        if units is None:
            return find_interval(people, space.n, alpha)
        return unit_share_interval(units, members, alpha, seed)

    count = _Counter(space, effects, interval, alpha)
    features = tuple(
        FeatureDecisions(
            feature=" and ".join(names),
            total=count.total(alone),
            groups=count.levels(names, alone),
        )
        for names, alone in _alone(space, rule)
    )
    return Decisions(
        favourable=rule.favourable,
        n=space.n,
        alternatives=int(space.alternatives[space.observed].max()),
        random_share=_random_share(space, families, rule),
        changed=count.share(effects.changed),
        worse_off=None if effects.worse_off is None else count.share(effects.worse_off),
        better_off=None if effects.better_off is None else count.share(effects.better_off),
        changes=tuple(_list_changes(families, rule, count)),
        scores=_score_change(space, effects, rule),
        by_feature=features,
        only_together=_only_together(space, rule, effects, count),
        by_group=count.all_groups(),
        by_label=count.by_label(),
        cases=tuple(_list_cases(space, families, rule, effects, max_cases)),
    )


def _find_effects(groups: IntArray, rule: DecisionRule) -> _Effects:
    """Compare each point's decision with those of its group."""
    least, most = _extremes(groups, rule.codes)
    changed = (rule.codes > least) | (rule.codes < most)
    if rule.numbers is not None:
        lowest, highest = _extremes(groups, rule.numbers)
        return _Effects(changed, rises=highest - rule.numbers, falls=rule.numbers - lowest)
    if rule.ranks is None:
        return _Effects(changed)
    worst, best = _extremes(groups, rule.ranks)
    return _Effects(changed, rule.ranks < best, rule.ranks > worst)


def _extremes(groups: IntArray, values: NDArray[Number]) -> tuple[NDArray[Number], NDArray[Number]]:
    """Return the smallest and the largest value of each point's group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    ordered = values[order]
    place = number_rows([groups])
    return (
        np.minimum.reduceat(ordered, starts)[place],
        np.maximum.reduceat(ordered, starts)[place],
    )


def _received_sets(space: SampleSpace) -> Sequence[ColumnSet]:
    """Return the sets of sensitive columns that the model receives; all if it receives none."""
    received = [one for one in space.column_sets if set(one.columns) & set(space.features)]
    return received if received and space.family is None else space.column_sets


def _alone(space: SampleSpace, rule: DecisionRule) -> Iterator[tuple[tuple[str, ...], _Effects]]:
    """Yield each set of columns that change together, with the effects of changing it alone."""
    for one in _received_sets(space):
        others = [space.columns[name].codes for name in space.sensitive if name not in one.columns]
        yield one.columns, _find_effects(number_rows([space.families, *others]), rule)


def _only_together(
    space: SampleSpace, rule: DecisionRule, effects: _Effects, count: _Counter
) -> DecisionCounts | None:
    """Count people whose decision changes with several features but with none alone."""
    if len(_received_sets(space)) == 1:
        return None
    changed, worse, better = effects[:3]
    for _, alone in _alone(space, rule):
        changed = changed & ~alone.changed
        worse = worse if worse is None or alone.worse_off is None else worse & ~alone.worse_off
        better = (
            better if better is None or alone.better_off is None else better & ~alone.better_off
        )
    return count.total(_Effects(changed, worse, better))


class _Counter:
    """Counts people by group."""

    def __init__(
        self, space: SampleSpace, effects: _Effects,
        find_interval: Callable[[BoolArray, int], tuple[float, float]], alpha: float,
    ) -> None:  # fmt: skip
        self.space, self.effects, self.find_interval = space, effects, find_interval
        self.level = 1 - alpha
        self.profiles = Profiles(space)
        self.scope = SCOPES[1] if space.open_levels else SCOPES[0]
        if space.family is not None:
            self.scope = SCOPES[2]

    def share(self, members: BoolArray) -> ShareOfPeople:
        """Return the people at some points as a share, with the exact interval."""
        people = int(self.space.counts[members].sum())
        lower, upper = self.find_interval(members, people)
        share = people / self.space.n
        if self.space.units is not None:
            share = float(self.space.frequencies @ members)
        return ShareOfPeople(
            people=people, share=share, lower=lower, upper=upper,
            level=self.level, scope=self.scope,
        )  # fmt: skip

    def total(self, effects: _Effects) -> DecisionCounts:
        """Return the counts of everybody."""
        return next(self._count((), np.zeros(self.space.size, np.int64), effects))

    def levels(self, names: Sequence[str], effects: _Effects) -> tuple[DecisionCounts, ...]:
        """Return the counts by the levels of some features."""
        return _most_changed(self._count(names, self.space.groups(names), effects))

    def all_groups(self) -> tuple[DecisionCounts, ...]:
        """Return the counts by level of each feature, and by their combination."""
        sensitive = self.space.sensitive
        rows = [row for name in sensitive for row in self.levels((name,), self.effects)]
        if len(sensitive) > 1:
            rows += self.levels(sensitive, self.effects)
        return tuple(rows)

    def by_label(self) -> tuple[LabelDecisions, ...]:
        """Return the counts by true label."""
        label = self.space.label
        if label is None:
            return ()
        codes = self.space.columns[label].codes
        tables = []
        for code in np.unique(codes[self.space.observed]).tolist():
            inside = codes == code
            effects = self.effects.inside(inside)
            point = int(np.flatnonzero(inside & self.space.observed)[0])
            total = next(self._count((), np.zeros(len(codes), np.int64), effects, inside))
            groups = [
                row
                for name in self.space.sensitive
                for row in _most_changed(
                    self._count((name,), self.space.groups([name]), effects, inside)
                )
            ]
            tables.append(
                LabelDecisions(label=self.profiles.label(point), total=total, groups=tuple(groups))
            )
        return tuple(tables)

    def _count(
        self, names: Sequence[str], groups: IntArray, effects: _Effects,
        inside: BoolArray | None = None,
    ) -> Iterator[DecisionCounts]:  # fmt: skip
        """Yield the counts of each group with people."""
        counts = self.space.counts if inside is None else np.where(inside, self.space.counts, 0)
        people = np.bincount(groups, counts)
        changed, worse, better, rises, falls = (
            None if one is None else np.bincount(groups, counts * one) for one in effects
        )
        assert changed is not None  # noqa: S101
        first = np.full(len(people), -1)
        first[groups[::-1]] = np.arange(len(groups))[::-1]
        for at in np.flatnonzero(people > 0).tolist() if names or len(people) > 1 else [0]:
            yield DecisionCounts(
                group=self.profiles.part(int(first[at]), names),
                people=int(people[at]),
                changed=int(changed[at]),
                worse_off=None if worse is None else int(worse[at]),
                better_off=None if better is None else int(better[at]),
                mean_rise=None if rises is None else float(rises[at] / people[at]),
                mean_fall=None if falls is None else float(falls[at] / people[at]),
            )


def _most_changed(rows: Iterator[DecisionCounts]) -> tuple[DecisionCounts, ...]:
    """Return the groups with most changed decisions, in their own order."""
    groups = list(rows)
    if len(groups) <= MAX_LISTED_GROUPS:
        return tuple(groups)
    largest = sorted(range(len(groups)), key=lambda at: (-groups[at].changed, -groups[at].people))
    return tuple(groups[at] for at in sorted(largest[:MAX_LISTED_GROUPS]))


def _random_share(space: SampleSpace, families: IntArray, rule: DecisionRule) -> float:
    """Return the mean share of a person's alternatives with another decision."""
    sizes = np.bincount(families)[families]
    pairs = number_rows([families, rule.codes])
    same = np.bincount(pairs)[pairs]
    shares = np.where(sizes > 1, (sizes - same) / np.maximum(sizes - 1, 1), 0.0)
    return float(space.frequencies @ shares)


def _list_changes(
    families: IntArray, rule: DecisionRule, count: _Counter
) -> Iterator[DecisionChange]:
    """Yield the number of people who get one decision and would get another, most people first."""
    rows = []
    for alternative, label in enumerate(rule.labels):
        there = np.bincount(families, rule.codes == alternative)[families] > 0
        for decision, other in enumerate(rule.labels):
            share = count.share(there & (rule.codes == decision))
            # of two decisions both directions are shown, also without people
            if decision != alternative and (share.people or len(rule.labels) == BOTH_WAYS):
                rows.append(DecisionChange(decision=other, alternative=label, count=share))
    rows.sort(key=lambda row: -row.count.people)
    yield from rows[:MAX_LABEL_PAIRS]


def _score_change(space: SampleSpace, effects: _Effects, rule: DecisionRule) -> ScoreChange | None:
    """Return how far numbers rise and fall among alternatives."""
    if effects.rises is None or effects.falls is None:
        return None
    return ScoreChange(
        of=rule.number_of,
        mean_rise=float(space.frequencies @ effects.rises),
        largest_rise=float(effects.rises[space.observed].max()),
        mean_fall=float(space.frequencies @ effects.falls),
        largest_fall=float(effects.falls[space.observed].max()),
    )


def _list_cases(
    space: SampleSpace, families: IntArray, rule: DecisionRule, effects: _Effects, limit: int
) -> Iterator[DecisionCase]:
    """Yield the profiles with changed decisions: worse off first, then most people."""
    profile = space.groups(space.profile)
    people = np.bincount(profile, space.counts)[profile]
    changed = np.bincount(profile, space.counts * effects.changed)[profile].astype(np.int64)
    affected = np.flatnonzero(effects.changed & space.observed)
    # the decision does not depend on the true label, so one point represents the profile
    affected = affected[np.unique(profile[affected], return_index=True)[1]]
    worse = np.zeros(space.size, bool) if effects.worse_off is None else effects.worse_off
    ranked = affected[np.lexsort((affected, -changed[affected], ~worse[affected]))][:limit]
    members, alike = _members_of(families, ranked), _members_of(profile, ranked)
    columns = (*space.sensitive, *(one for one in space.profile if one not in space.sensitive))
    profiles = Profiles(space)
    for point in ranked.tolist():
        family, same = members[int(families[point])], alike[int(profile[point])]
        effect, suitable = _suitable(rule, effects, point, family)
        codes = np.array([space.columns[name].codes[suitable] for name in columns])
        own = np.array([space.columns[name].codes[point] for name in columns])
        differ = (codes != own[:, None]).sum(axis=0)
        # fewest changes, then alternatives that occur, then the order of the points
        place = int(np.lexsort((suitable, -people[suitable], differ))[0])
        best = int(suitable[place])
        names = [name for name, differs in zip(columns, codes[:, place] != own, strict=True)
                 if differs]  # fmt: skip
        yield DecisionCase(
            profile=profiles.profile(point),
            people=int(changed[point]),
            labels=_count_labels(space, profiles, same[effects.changed[same]]),
            decision=_decision(rule, point),
            alternative=_decision(rule, best),
            changes=profiles.part(best, names),
            effect=effect,
            is_observed=bool(people[best] > 0),
        )


def _count_labels(space: SampleSpace, profiles: Profiles, points: IntArray) -> dict[str, int]:
    """Return the number of people at some points by true label."""
    if space.label is None:
        return {}
    counts: dict[str, int] = {}
    for point in points[space.counts[points] > 0].tolist():
        name = str(profiles.label(point))
        counts[name] = counts.get(name, 0) + int(space.counts[point])
    return counts


def _members_of(families: IntArray, points: IntArray) -> Mapping[int, IntArray]:
    """Return the members of the groups of some points."""
    members = np.flatnonzero(np.isin(families, families[points]))
    order = members[np.argsort(families[members], kind="stable")]
    cuts = np.flatnonzero(np.diff(families[order])) + 1
    return {int(families[part[0]]): part for part in np.split(order, cuts) if len(part)}


def _suitable(
    rule: DecisionRule, effects: _Effects, point: int, family: IntArray
) -> tuple[str, IntArray]:
    """Return the effect on a point, and the alternatives that show it."""
    if rule.ranks is not None:
        if effects.worse_off is not None and effects.worse_off[point]:
            return "worse off", family[rule.ranks[family] > rule.ranks[point]]
        if effects.better_off is not None and effects.better_off[point]:
            return "better off", family[rule.ranks[family] < rule.ranks[point]]
    return "changed", family[rule.codes[family] != rule.codes[point]]


def _decision(rule: DecisionRule, point: int) -> Prediction:
    """Return the decision at a point for a document."""
    if rule.numbers is not None:
        return get_prediction(rule.numbers, point)
    return rule.labels[int(rule.codes[point])]
