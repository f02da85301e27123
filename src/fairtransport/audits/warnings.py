"""Notes for readers of an audit's numbers."""

from __future__ import annotations

import shlex
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport._core.notes import Count, Figure, Mean, Note, Wording, keep_private
from fairtransport._core.validation import short_repr
from fairtransport.audits.applicability import (
    answers_ignore_group,
    enumerate_names,
    find_same_columns,
    is_told,
    same_columns_note,
    why_beyond_reach,
)
from fairtransport.audits.rates import is_about_rates, is_bounded_by_rates
from fairtransport.data.columns import find_same_words
from fairtransport.data.independence import find_alike_units
from fairtransport.data.one_hot import MAX_FALSE_ALARM, find_feature_name, find_rare_cells
from fairtransport.documents.audit import WHY_STOPPED, SampledUnits
from fairtransport.errors import option, param
from fairtransport.similarity.base import BaseSimilarity, is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport._core.validation import BoolArray, IntArray
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace


MANY_GROUPS = 20
"""Number of values from which on a numeric sensitive feature is better grouped."""
MAX_ALTERNATIVES = 3
"""Maximum number of alternatives that are listed; of more, their number is given."""
MAX_NAMED_LEVELS = 10
MIN_LEVEL_PEOPLE = 5
"""A level that fewer people have is rare."""
MIN_PERFECT_PEOPLE = 20
"""Minimum number of people without an error that is not due to chance."""
MAX_TABLE_LEVELS = 1000
"""Maximum number of levels of a column to search: more have too few people each."""
MIN_IMPOSSIBLE_SHARE = 0.1
"""Minimum share of the alternatives from which on rare combinations are noted."""


def list_notes(result: AuditResult) -> tuple[str, ...]:
    """Return the notes of documents, some of which need the verdict."""
    return (*result.warnings, *result.law.notes, *_open_levels(result))


def find_warnings(result: AuditResult) -> Iterator[str]:
    """Yield one sentence for each thing that limits the meaning of the numbers."""
    space = result.space
    yield from space.notes
    yield from _units(result)
    if not is_about_rates(result):  # their first screen begins with it
        yield from _beyond_reach(result)
    yield from _no_errors(result)
    yield from result.answers.notes
    if isinstance(result.similarity, BaseSimilarity):
        yield from result.similarity.warnings(space)
    yield from describe_alternatives(space)
    if result.target_scope == "reference":
        yield from _reference(result)
    if result.target_scope == "twins" and space.targets is not None:
        yield Note(
            "{targets} is not used: under this similarity, each person is compared only with "
            "copies of themselves that differ in sensitive features.",
            targets=param("targets"),
        )
    yield from _one_level(result)
    yield from map(keep_private, _spellings(space))
    yield from _not_received(result)
    yield from map(keep_private, _given_decisions(result))
    for name in space.sensitive:
        levels = space.columns[name].levels
        if len(levels) > MANY_GROUPS and is_numeric(levels):
            yield Note(
                "The sensitive feature {name} has {count} values, and each is a group of its own. "
                "To make fewer groups, cut it into ranges ({bins}).",
                name=name, count=Count(len(levels)), bins=param("bins", name),
            )  # fmt: skip
    yield from _alternatives(result)
    yield from _same_answers(result)
    yield from _answers(result)
    if result.target_scope == "observed" and not is_about_rates(result):
        copies = " and with copies of themselves" if space.has_twins else ""
        yield (
            f"People are compared only with people in the audit data{copies}. The statistic may "
            "miss differences from others, so nothing can be certified."
        )
    yield from _asking(result)
    if result.problem.budget > 0 and result.similarity.moves_only_to_twins:
        yield Note(
            "{budget} has no effect with the similarity {name!r}: people are swapped only with "
            "copies of themselves that differ in sensitive features, at distance 0.",
            budget=param("budget"),
            name=getattr(result.similarity, "name", "callable"),
        )


def rates_notes(result: AuditResult) -> tuple[str, ...]:
    """Return the notes on rates that a table of several audits does not show."""
    beyond_reach = _beyond_reach(result) if is_about_rates(result) else ()
    if not is_bounded_by_rates(result):
        return (*beyond_reach,)
    note = (
        "Bounds, p-values and verdict are about rates among people with equal values in all other "
        "columns (R). The FaiTH statistic of the report describes only these people and may be "
        "larger."
    )
    return (note, *beyond_reach)


def _beyond_reach(result: AuditResult) -> Iterator[str]:
    """Note that nothing could exceed the threshold, if that leaves it open."""
    reason = why_beyond_reach(result)
    if reason is not None and result.bounds_verdict == "inconclusive":
        yield reason


def _units(result: AuditResult) -> Iterator[str]:
    """Note what is independent, and which column may identify dependent units."""
    units = SampledUnits.of(result.space.units)
    if units is not None:
        yield units.in_words
    if result.space.possible_units:
        gains = result.problem.net_gains(result.price)
        yield from find_alike_units(result.space.possible_units, gains, result.settings.seed)


def _no_errors(result: AuditResult) -> Iterator[str]:
    """Note that predictions and labels are equal, as if labels leaked into the features."""
    if not result.loss.uses_truth or result.n < MIN_PERFECT_PEOPLE:
        return
    if np.any(result.problem.losses[result.space.observed] != 0):
        return
    yield Note(
        "All {n} predictions equal the true labels. Check whether a feature reveals the labels, "
        "whether {label} contains the model's own predictions, and whether the model was trained "
        "on these people: an audit needs people that the model has not seen.",
        n=result.n, label=result.space.label,
    )  # fmt: skip


def _open_levels(result: AuditResult) -> Iterator[str]:
    """Note which levels a certificate covers.

    A level of share p is absent from n independent people with probability (1 − p)ⁿ.
    """
    space = result.space
    if not (space.has_twins and space.open_levels and result.fixed_targets):
        return
    if result.verdict != "certified":
        return
    there = "the data"
    if result.target_scope != "twins":
        there += f" or in {param('targets')}"
    yield Note(
        "The verdict covers the values of {names} that occur in {there}{levels}, and no others: a "
        "value that {percent:.2g} % of people have is absent from {n} people with a probability of "
        "{alpha:g} %.{rare} If there are more values, name all of them ({declare}).",
        names=" and ".join(space.open_levels), there=there, n=space.n, alpha=100 * result.alpha,
        declare=param("levels"),
        percent=100 * (1 - result.alpha ** (1 / space.n)),
        levels=Wording(f" ({'; '.join(_list_levels(space, name) for name in space.open_levels)})"),
        rare=Wording(_list_rare_levels(space)),
    )  # fmt: skip


def _list_levels(space: SampleSpace, name: str) -> str:
    """Return the levels of a sensitive feature, as in "sex: f, m"; only the first of many."""
    levels = [str(level) for level in space.columns[name].levels.tolist()]
    if space.columns[name].has_missing:
        levels.append("missing")
    more = len(levels) - MAX_NAMED_LEVELS
    if more > 0:
        levels[MAX_NAMED_LEVELS:] = [f"{more} more"]
    return f"{name}: {', '.join(levels)}"


def _list_rare_levels(space: SampleSpace) -> str:
    """Return the levels of few people, as a sentence; empty if there are none."""
    rare = []
    for name in space.open_levels:
        column = space.columns[name]
        people = np.bincount(column.codes[column.codes >= 0], space.counts[column.codes >= 0])
        rare += [
            f"{name} {level} ({count:g})"
            for level, count in zip(column.levels.tolist(), people, strict=False)
            if 0 < count < MIN_LEVEL_PEOPLE
        ]
    if not rare:
        return ""
    more = f" and {len(rare) - MAX_NAMED_LEVELS} more" if len(rare) > MAX_NAMED_LEVELS else ""
    return (
        f" Few people have {', '.join(rare[:MAX_NAMED_LEVELS])}{more}: where values are so rare, "
        "others may be missing."
    )


def _alternatives(result: AuditResult) -> Iterator[str]:
    """Note how many alternatives each person has, if the worst of many counts."""
    risk = result.random_swap_risk
    if risk is None or not result.statistic:
        return
    count = int(np.unique(result.problem.geometry.blocks, return_counts=True)[1].max()) - 1
    if count <= MAX_ALTERNATIVES:
        return
    yield Note(
        "Each person is compared with {count} copies, and the worst counts. The more copies, the "
        "larger is the statistic ({statistic:.4f}), even where answers differ only by chance. If "
        "one group were drawn at random instead, in proportion to its size and each person's own "
        "included, the mean loss would change by {change:.4f}. For fewer copies, name the values "
        "to compare ({levels}).",
        count=count, statistic=Mean(result.statistic), change=Mean(risk - result.baseline_risk),
        levels=param("levels"),
    )  # fmt: skip


def _same_answers(result: AuditResult) -> Iterator[str]:
    """Note that no sensitive feature changed an answer, if people move to others than twins."""
    space = result.space
    moves = not result.similarity.moves_only_to_twins and result.statistic > 0
    if moves and set(space.sensitive) & set(space.features) and answers_ignore_group(result):
        yield Note(
            "The model gives every person the same answer with any other {names}: the whole "
            "statistic comes from differences in other columns.",
            names=" or ".join(space.sensitive),
        )


def _one_level(result: AuditResult) -> Iterator[str]:
    """Note the sensitive features in which everybody has the same level."""
    columns = {name: result.space.columns[name] for name in result.space.sensitive}
    same = [name for name, column in columns.items() if len(np.unique(column.codes)) == 1]
    if len(same) == len(columns):
        return
    for name in same:
        yield Note(
            "Everybody has the {name} {level}, so the audit says nothing about {name}. With a "
            "model, name its other values ({levels}).",
            name=name, level=short_repr(columns[name].at(0)), levels=param("levels", name),
        )  # fmt: skip


def _spellings(space: SampleSpace) -> Iterator[Note]:
    """Note two groups whose names differ only in blanks or case."""
    for name in space.sensitive:
        same = find_same_words(space.columns[name].levels.tolist())
        if same is not None:
            yield Note(
                "The column {name} has the groups {first!r} and {second!r}, which differ only in "
                "spaces or capital letters. If they are one group, write both in the same way.",
                name=name, first=same[0], second=same[1],
            )  # fmt: skip


def _not_received(result: AuditResult) -> Iterator[str]:
    """Note the sensitive features that the model does not receive."""
    space = result.space
    names = [name for name in space.sensitive if name not in space.features]
    if not names or len(names) == len(space.sensitive) or result.target_scope != "twins":
        return
    for name in names:
        columns = find_same_columns(space, name)
        advice = Note("Audit {name} alone", name=name)
        if columns:
            advice = Note(
                "{same} Name {columns} instead of {name}",
                same=same_columns_note(name, columns), columns=enumerate_names(columns), name=name,
            )  # fmt: skip
        yield Note(
            "The model does not receive {name}, so no answer changes with it: the audit says "
            "nothing about {name}, nor about other columns that stand in for it (proxies). "
            "{advice} ({sensitive}).",
            name=name, advice=advice, sensitive=param("sensitive_features"),
        )  # fmt: skip


def _given_decisions(result: AuditResult) -> Iterator[Note]:
    """Note which decision counts as unfavourable, and which column determines the decision."""
    space = result.space
    is_decision = result.favourable is not None or result.loss.needs == "label"
    if len(space.predictions) != 1 or not is_decision:
        return
    decision = space.columns[space.predictions[0]]
    others = [label for label in decision.levels.tolist() if label != result.favourable]
    if result.favourable is not None and len(others) > 1:
        more = len(others) - MAX_NAMED_LEVELS
        listed = [repr(label) for label in others[:MAX_NAMED_LEVELS]]
        yield Note(
            "Every decision other than {favourable!r} counts as unfavourable: {others}. Leave out "
            "people who have no decision yet.",
            favourable=result.favourable,
            others=", ".join([*listed, *([f"{more} more"] if more > 0 else [])]),
        )  # fmt: skip
    for name in space.profile:
        if name not in space.sensitive and is_told(space, space.predictions[0], by=name):
            yield Note(
                "The column {name} reveals the decision: people with the same value of it all got "
                "the same decision, so no difference can be found. If the decision is based on "
                "{name}, keep it. If {name} was recorded after the decision, leave it out "
                "({features}).",
                name=name, features=param("features"),
            )  # fmt: skip


def _asking(result: AuditResult) -> Iterator[str]:
    """Note how the queries affect the numbers."""
    record = result.query_record
    repeats, max_share = record.repeats, record.differ_at_most(result.alpha)
    if max_share is not None and repeats.is_notable:
        yield Note(
            "Of {count} repeated queries, {differed} got a different answer; of all queries at "
            "most {percent:.3g} % would ({confidence:g} % confidence).",
            count=Count(repeats.count),
            differed=Count(repeats.differed) if repeats.differed else "none",
            percent=Figure(100 * max_share),
            confidence=100 * (1 - result.alpha),
        )
    if repeats.contradictions:
        yield Note(
            "The model's `predict` and `predict_proba` contradict each other: for {contradictions} "
            "of {count} queries the label is not the one with the largest score. The audit uses "
            "what its loss needs.",
            count=Count(repeats.count), contradictions=Count(repeats.contradictions),
        )  # fmt: skip
    if record.stopped is not None and record.people is not None:
        yield Note(
            "The audit stopped after {n} of {people} people and {queried} queries, when {why}.",
            n=result.n, people=Count(record.people), queried=Count(result.queried),
            why=WHY_STOPPED[record.stopped],
        )  # fmt: skip


def _answers(result: AuditResult) -> Iterator[str]:
    """Note the effects of scores, and of declared and differing answers."""
    if result.settings.favourable is not None and result.loss.needs == "score":
        yield Note(
            "The loss is about scores: {favourable} chooses the label whose scores are shown, and "
            "nobody is counted as worse off.",
            favourable=param("favourable"),
        )
    if is_about_rates(result):
        if result.settings.deterministic:
            yield (
                "The predictions were declared to depend only on the audited columns. Bounds, "
                "p-values and verdict are about the statistic, and valid only if that is true."
            )
    elif result.answers_differ:
        yield Note(
            "Some people with equal values in all columns have different predictions: "
            "{disagreement:.4f} of the statistic comes from that alone, without any change of a "
            "sensitive feature.",
            disagreement=Mean(result.disagreement),
        )


def _reference(result: AuditResult) -> Iterator[str]:
    """Note how much of the reference frame may be the audit data themselves."""
    reference = result.space.reference
    if reference is None or not reference.shared:
        return
    same = Note(
        "{shared} of the {rows} rows of {targets} {are}",
        shared=Count(reference.shared),
        rows=Count(reference.rows),
        targets=param("targets"),
        are=Wording("is" if reference.shared == 1 else "are", "are"),
    )
    if result.fixed_targets:
        yield Note(
            "{same} equal to a person in the audit data. The upper bound is valid only if "
            "{targets} were chosen without looking at the audit data.",
            same=same, targets=param("targets"),
        )  # fmt: skip
    else:
        yield Note(
            "{same} equal to a person in the audit data, as if they were taken from it. Whom "
            "people are compared with then depends on the sample, so there is no upper bound and "
            "nothing can be certified. Use people who were chosen without the audit data.",
            same=same,
        )


class ImpossibleTwins(NamedTuple):
    """A sensitive column and another one with combinations that hardly anybody has."""

    sensitive: str
    other: str
    share: float
    example: str


def describe_alternatives(space: SampleSpace) -> Iterator[str]:
    """Note the combinations of sensitive features at which people are compared."""
    for names in space.observed_sets:
        yield Note(
            "Copies have the combinations of {names} that occur in the data. These depend on the "
            "sample, so nothing can be certified. If you know all combinations, name them "
            "({together}).",
            names=" and ".join(names),
            together=param("together"),
        )
    for one in space.column_sets:
        if one.is_partial:
            yield Note(
                "People are compared only with copies that have the named values of {names}, also "
                "people who have other values themselves.",
                names=" and ".join(one.columns),
            )
    only_twins = space.has_twins and space.family is None
    for pair in find_impossible_twins(space) if only_twins else ():
        yield Note(
            "About {percent:.0f} % of the copies combine {first} and {second} as hardly anybody in "
            "the data does, such as {example}. If the two can only change together, say so: "
            "`{together}`.",
            percent=Figure(100 * pair.share), first=pair.sensitive, second=pair.other,
            example=pair.example,
            together=option("together", shlex.quote(f"{pair.sensitive},{pair.other}"),
                            f"[[{pair.sensitive!r}, {pair.other!r}]]"),
        )  # fmt: skip


def find_impossible_twins(space: SampleSpace) -> list[ImpossibleTwins]:
    """Return the columns that a sensitive one restricts so much that many twins cannot exist.

    A combination counts as impossible if it occurs at most a hundredth as often as under
    independence, and an exact binomial test, at a level shared by all combinations, rejects
    independence. So independent columns cause a note with probability at most .001, for any number
    of columns and people.
    """
    sets = {name: one.columns for one in space.column_sets for name in one.columns}
    others = [name for name in space.profile if name not in space.sensitive]
    # a column that the model does not receive changes no answer
    received = [name for name in space.sensitive if name in space.features]
    pairs = [*combinations(received, 2)]
    pairs += [(name, other) for name in received for other in others]
    tables = {
        (name, other): _count_pairs(space, name, other)
        for name, other in pairs
        if other not in sets[name] and len(space.columns[other].levels) <= MAX_TABLE_LEVELS
    }
    cells = sum(table.size for table in tables.values())
    impossible: dict[tuple[str, str], ImpossibleTwins] = {}
    for (name, other), table in tables.items():
        rare = find_rare_cells(table, MAX_FALSE_ALARM / cells)
        # people with a level of the other column who would get the sensitive level
        changes = (table.sum(axis=0) - table) * _has_points(space, name)[:, None]
        share = float((changes * rare).sum() / max(1, changes.sum()))
        if not share:
            continue
        row, column = divmod(int((changes * rare).argmax()), table.shape[1])
        example = f"{name} = {_level(space, name, row)} with {other} = "
        pair = ImpossibleTwins(
            name, find_feature_name(other, space.columns), share,
            example + _level(space, other, column),
        )  # fmt: skip
        # each column of a one-hot feature has different people
        former = impossible.get(pair[:2])
        larger = pair if former is None or former.share < share else former
        total = share + (0.0 if former is None else former.share)
        impossible[pair[:2]] = larger._replace(share=min(1.0, total))
    pairs_of_note = [pair for pair in impossible.values() if pair.share >= MIN_IMPOSSIBLE_SHARE]
    return sorted(pairs_of_note, key=lambda pair: -pair.share)


def _has_points(space: SampleSpace, name: str) -> BoolArray:
    """Return which levels of a column some point has; the missing one comes last."""
    column = space.columns[name]
    return np.bincount(column.ranks, minlength=len(column.levels) + 1) > 0


def _count_pairs(space: SampleSpace, name: str, other: str) -> IntArray:
    """Return (levels, levels) numbers of people of each combination; missing values come last."""
    rows = space.observed
    first, second = space.columns[name].take(rows), space.columns[other].take(rows)
    shape = len(first.levels) + 1, len(second.levels) + 1
    places = np.ravel_multi_index((first.ranks, second.ranks), shape)
    counts = np.bincount(places, space.counts[rows], minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.int64)


def _level(space: SampleSpace, name: str, place: int) -> str:
    """Return a level of a column as text."""
    levels = space.columns[name].levels.tolist()
    return "missing" if place == len(levels) else str(levels[place])
