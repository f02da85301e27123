"""Whether an audit could find anything, what makes its verdict empty, and what to do then."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.notes import Count, Figure, Mean, Note, Wording, join_notes
from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import short_repr
from fairtransport.access.repeats import TOLERANCE
from fairtransport.audits.rates import why_untestable
from fairtransport.data.independence import looks_like_id
from fairtransport.errors import entry, option, param
from fairtransport.geometry.geometry import are_all_alike, reaches_other
from fairtransport.similarity.base import is_numeric, label_columns
from fairtransport.similarity.counterparts import Counterparts
from fairtransport.similarity.registry import similarity_from_settings, suggest_space_scales

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import CodedColumn

FEW = 0.05
"""Largest share of people with a comparable person of another group at which an audit shows hardly
anything; a rejection stands all the same."""
MANY_VALUES = 10
"""Columns with more values leave few people equal."""
MAX_NAMED_COLUMNS = 10
MAX_EXAMPLES = 2
"""Of more columns of numbers no ranges are proposed."""
MAX_AGREEMENT_CHANCE = 1e-6
"""Chance that people who share a value of a column all have the same value of another."""
LITTLE = 0.01
"""Largest remaining share of the features' variance at which a learned distance is useless."""
MIN_REPEATS = 20
"""Minimum number of people who repeat values, to see what columns have in common."""
FIRST_BUDGET = 0.05
"""Budget of the audit proposed for proxies: .22 standard deviations."""

CHECK_COLUMNS = Note(
    "Check the other columns for proxies: compare each person with the same person as typically "
    "recorded in another group. Name the columns that may rightly count ({legitimate}); they are "
    "held fixed.",
    legitimate=param("legitimate"),
)
GIVE_COLUMNS = Note(
    "If columns depend on it only in combination with others, name these ({given}).",
    given=param("given"),
)
STATED = "with a distance for each column, stated as below (scales are standard deviations)"


@dataclass(frozen=True)
class Obstacle:
    """Why an audit shows nothing, with advice and the settings of a better audit, if any.

    The settings are those of a settings file, so that a document can hold them.
    """

    reason: Note
    advice: Note | None = None
    next_settings: dict[str, Any] | None = None
    from_answers: bool = False
    """Whether the model's answers show it, so that two models can still be compared."""


def find_obstacle(result: AuditResult) -> Obstacle | None:
    """Return the first thing that makes an audit's verdict empty; None if nothing does.

    Having few comparable people does not revoke a rejection, for which few can be enough. All other
    obstacles hold whatever the sample shows of ψ.
    """
    for find in (
        _one_group, _random, _closed_gate, _blind, _one_place, _equal_losses, _noisy, _lonely,
        _beyond_reach, _same_answers,
    ):  # fmt: skip
        if (obstacle := find(result)) is not None:
            return obstacle
    return None


def _one_group(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of people who are all in one sensitive group."""
    space = result.space
    if len(space.first_of_groups) > 1:
        return None
    group = [f"{name} {short_repr(space.columns[name].at(0))}" for name in space.sensitive]
    declared = [
        option(entry("levels", name), f"{level},OTHER", f"[{level!r}, 'OTHER']")
        for name, level in ((name, space.columns[name].at(0)) for name in space.sensitive)
    ]
    return Obstacle(
        Note("Everybody is in the same group ({group}): there is nobody to compare them with.",
             group=", ".join(group)),
        Note(
            "Use data with at least two groups. Or {model}name the values that {names} can have, "
            "as in `{levels}`.",
            model="" if space.has_twins else f"give the model ({param('model')}) and ",
            names=" and ".join(space.sensitive), levels="` and `".join(declared),
        ),
    )  # fmt: skip


def _closed_gate(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of columns of which none was shown to depend on the group."""
    space, similarity = result.space, result.similarity
    if not isinstance(similarity, Counterparts):
        return None
    model = similarity.model_
    # a model that receives the feature itself may use it nevertheless
    if any(row.moves for row in model.gate) or not _answers_agree(result):
        return None
    shifts = [
        Note("{shift:.2g} standard deviations ({feature})", shift=Figure(shift), feature=feature)
        for feature, shift in model.detectable_shift.items()
    ]
    among = ", ".join(kind.name for kind in model.legitimate)
    return Obstacle(
        Note(
            "No column was shown to depend on {names}{among}: a test on {people} held-out people "
            "found no column that {alone}predicts it better than guessing. This is no evidence of "
            "fairness. If a number were higher in one group by {shifts}, equally for everybody, "
            "the test would have shown it with a probability of 80 %.",
            names=" or ".join(space.sensitive),
            among=f" among people with equal {among}" if among else "",
            alone="" if model.given else "alone ",
            people=Count(model.size), shifts=join_notes(shifts, " and "),
        ),
        _see_more(similarity) if model.given else join_notes([_see_more(similarity), GIVE_COLUMNS]),
    )  # fmt: skip


def _see_more(similarity: Counterparts) -> Note:
    """Return how weaker dependence could be seen, or that nothing more is left to try."""
    if similarity.fit_share > Counterparts.fit_share:
        return Note("These people cannot show more: report that this audit cannot tell.")
    return Note(
        "Audit more people, or hold out a larger share of them ({share}), to see weaker "
        "dependence.",
        share=param("fit_share"),
    )


def _blind(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of a model that receives nothing in which twins differ."""
    space = result.space
    if not space.has_twins or not result.similarity.moves_only_to_twins:
        return None
    reason = why_zero(space.sensitive, space.features)
    if reason is None:
        return None
    for name in space.sensitive:
        if columns := find_same_columns(space, name):
            return Obstacle(
                Note("{reason} {same}", reason=reason, same=same_columns_note(name, columns)),
                Note(
                    "Name {columns} as sensitive instead of {name}: `{option}`.",
                    columns=enumerate_names(columns),
                    name=name,
                    option=list_option("sensitive_features", columns),
                ),
            )
    return Obstacle(reason, CHECK_COLUMNS, counterpart_settings(space))


def find_same_columns(space: SampleSpace, name: str) -> list[str]:
    """Return columns that the model receives and that determine a sensitive feature.

    Each has one value per group, and together they distinguish all groups.
    """
    group = space.columns[name].codes[space.observed]
    last = number_rows([group]).max()
    codes = {
        one: own for one in space.features
        if one not in space.sensitive
        and np.ptp(own := space.columns[one].codes[space.observed]) > 0
        and number_rows([group, own]).max() == last
    }  # fmt: skip
    is_known = bool(codes) and number_rows([*codes.values()]).max() == last
    people = space.counts[space.observed].sum()
    return [*codes] if is_known and people > last + MIN_REPEATS else []


def same_columns_note(name: str, columns: Sequence[str]) -> Note:
    """Return that columns determine a sensitive feature that the model does not receive."""
    return Note(
        "It receives {columns}, which {together}the same information as {name}.",
        columns=enumerate_names(columns), name=name,
        together="has " if len(columns) == 1 else "together have ",
    )  # fmt: skip


def why_zero(sensitive: Sequence[str], features: Sequence[str]) -> Note | None:
    """Return why swaps between twins change nothing; None if they can."""
    if set(sensitive) & set(features):
        return None
    return Note(
        "The model does not receive {names}, and people are compared only with copies of "
        "themselves that differ in {names}: the statistic is 0 by construction.",
        names=" or ".join(sensitive),
    )


def _one_place(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of a similarity under which all people are equal."""
    if result.similarity.moves_only_to_twins:
        return None
    space = result.space
    measure = getattr(result.similarity, "kept_variance", None)
    variance_share = 1.0 if measure is None else float(measure(space))
    alike = are_all_alike(result.problem.geometry, space.groups(label_columns(space)))
    if alike:
        reason = Note(
            "Under this similarity, all people with the same true label have distance 0. "
            "Everybody counts as similar to everybody, so the statistic says nothing about similar "
            "people."
        )
    elif variance_share <= LITTLE:
        reason = Note(
            "The similarity removed all but {percent:.2g} % of the variance of the features. "
            "Nearly everybody counts as similar to everybody, so the statistic says nothing about "
            "similar people.",
            percent=Figure(100 * variance_share),
        )
    else:
        return None
    # what was learned left nothing to tell them apart by
    learned = "" if measure is not None else ", or 'sensitive-subspace', which is learned"
    advice = Note(f"Choose a similarity that tells people apart: one {STATED}{learned}.")
    return Obstacle(reason, advice, stated_settings(space))


def _equal_losses(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of equal losses, once the model was queried about everybody."""
    losses = result.problem.losses
    # nothing is known of people who were not queried
    if np.ptp(losses) > 0 or result.query_record.stopped not in {None, "everybody"}:
        return None
    return Obstacle(
        Note(
            "Every loss is {loss:g}, for each person and for all they are compared with: no swap "
            "can change anything.",
            loss=Mean(losses[0]),
        ),
        Note(
            "Audit what differs between people: scores instead of labels (`{log}` or `{brier}`), "
            "or the decisions themselves (`{outcome}`).",
            **{name: option("loss", name) for name in ("log", "brier", "outcome")},
        ),
    )


def _random(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of a model that gave other answers to repeated questions.

    A maximum over twins of noisy losses is above the largest mean: ψ would be positive without any
    bias, and a rejection of δ-fairness would be due to noise.
    """
    if not result.query_record.answers_at_random:
        return None
    repeats = result.query_record.repeats
    return Obstacle(
        Note(
            "{differed} of {count} repeated queries got a different answer: the model answers at "
            "random, or by the order or number of the rows that it receives, or it has changed. "
            "Which copy of a person is worst is then a matter of chance.",
            differed=Count(repeats.differed),
            count=Count(repeats.count),
        ),
        Note(
            "Ask for several answers to each query ({draws}), so that chance is not counted as "
            "bias. Or fix the model's version, seed and temperature, and let it answer each row by "
            "the row's own values.",
            draws=param("queries.draws"),
        ),
    )


def _noisy(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of answers that differ inside a profile if there are no rates."""
    if not result.answers_differ:
        return None
    reason = why_untestable(result)
    if reason is None:
        return None
    return Obstacle(
        Note(
            "People with equal values in all columns got different decisions: these use more than "
            "the audited columns, or chance. The statistic would count that as bias. Rates would "
            "not, but cannot be compared here: {reason}.",
            reason=reason,
        ),
        Note("{advice}. Or give the model ({model}).", advice=_to_rates(result),
             model=param("model")),
    )  # fmt: skip


def _to_rates(result: AuditResult) -> Note:
    """Return what lets rates be compared."""
    if result.loss.range is None:
        return Note("Give the smallest and the largest possible loss ({range})",
                    range=param("loss_range"))  # fmt: skip
    numbers = [
        name for name in result.space.profile
        if name not in result.space.sensitive and is_numeric(result.space.columns[name].levels)
    ]  # fmt: skip
    return Note(
        "Use the similarity 'ignore-sensitive'{targets}{bins}",
        targets="" if result.space.targets is None else f", without {param('targets')}",
        bins=f", and group numbers into ranges: {_bins_examples(result.space, numbers)}"
        if numbers
        else "",
    )


def _lonely(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of people with hardly anybody to be compared with."""
    space, share = result.space, result.comparable_share
    if share > FEW or result.bounds_verdict == "rejected":
        return None
    people = Count(round(share * space.n))
    names = " or ".join(space.sensitive)
    reason = Note(
        "{who} can be compared: {there} people of different {names} {similar}.",
        who=Note("Only {people} of {n} people", people=people, n=space.n) if people else "Nobody",
        there="otherwise, no two" if people else "no two", names=names,
        similar=_similar_text(result),
    )  # fmt: skip
    return Obstacle(reason, _more_company(result))


def _similar_text(result: AuditResult) -> str:
    """Return what people have to have in common to be compared, for "no two people …"."""
    space = result.space
    must_agree = set(space.sensitive) & {*getattr(result.similarity, "exact", ())}
    if must_agree or not result.similarity.moves_only_to_twins:
        return "are similar under this similarity"
    label = " and the same true label" if label_columns(space) else ""
    return f"have equal values in all other columns{_in_brackets(_others(space))}{label}"


def _others(space: SampleSpace) -> list[str]:
    """Return the columns that people have in common, where they differ in sensitive ones."""
    return [name for name in space.profile if name not in space.sensitive]


def _in_brackets(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = len(names) - MAX_NAMED_COLUMNS
    return f" ({', '.join(names[:MAX_NAMED_COLUMNS])}{f' and {more} more' if more > 0 else ''})"


def _beyond_reach(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of a certificate that every model would get."""
    reason = why_beyond_reach(result)
    if reason is None or result.bounds_verdict != "certified":
        return None
    share = " It is a share of people: 0.02 is 2 %." if result.loss.name == "zero-one" else ""
    return Obstacle(reason, Note(f"Set a smaller limit ({{delta}}).{share}", delta=param("delta")))


def why_beyond_reach(result: AuditResult) -> Note | None:
    """Return why no model could exceed the threshold with these people; None if one could."""
    limit = find_limit_below_delta(result)
    if limit is None:
        return None
    return Note(
        "No model could be over the limit δ = {delta:g} with these people: whatever it answers "
        "for those they are compared with, the mean loss can rise by at most {limit:.4g}.",
        delta=result.delta, limit=Mean(limit),
    )  # fmt: skip


def find_limit_below_delta(result: AuditResult) -> float | None:
    """Return an upper limit of ψ, and so of R, if it is not above the threshold; else None."""
    limit = find_largest_statistic(result)
    return None if limit is None or result.delta is None or result.delta < limit else limit


def find_largest_statistic(result: AuditResult) -> float | None:
    """Return an upper limit of ψ for any answers about others; None without limits.

    Nobody can be moved to a larger loss than the largest possible, and without other moves only
    people with twins can be moved.
    """
    if result.loss.range is None:
        return None
    space, room = result.space, result.loss.range[1] - result.problem.losses
    if result.most_gain is not None:
        room = np.minimum(room, result.most_gain)
    if space.has_twins and result.similarity.moves_only_to_twins:
        room = np.where(reaches_other(result.problem.geometry, space.sensitive_groups), room, 0.0)
    return float(space.frequencies @ room)


def _same_answers(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of a model that ignores the sensitive features.

    With a budget, people are also compared with others than twins, and what these add is a finding;
    a note then says that no sensitive feature changed an answer. Nothing is known of people who
    were not queried, unless the queries stopped at a certificate.
    """
    stopped_early = result.query_record.stopped not in {None, "everybody"}
    if stopped_early and result.bounds_verdict != "certified":
        return None
    only_twins = result.similarity.moves_only_to_twins or (
        result.problem.budget == 0 and result.statistic == 0
    )
    if not only_twins or not answers_ignore_group(result):
        return None
    names, several = " or ".join(result.space.sensitive), len(result.space.sensitive) > 1
    return Obstacle(
        Note(
            "The model gives every person the same answer with any other {names}: it does not use "
            "{columns}, or not for these people. This is no evidence of fairness: other columns "
            "may stand in for {them} (proxies).",
            names=names, columns="these columns" if several else "this column",
            them="them" if several else "it",
        ),
        Note("Query everybody: leave out {until_sure}.", until_sure=param("queries.until_sure"))
        if stopped_early
        else CHECK_COLUMNS,
        None if stopped_early else counterpart_settings(result.space),
        from_answers=True,
    )  # fmt: skip


def answers_ignore_group(result: AuditResult) -> bool:
    """Return whether no twin's answer differs from the person's own.

    Not for several answers per question, where equality means nothing.
    """
    space, geometry = result.space, result.problem.geometry
    is_twins = space.has_twins and space.family is None
    if not is_twins or result.query_record.draws is not None:
        return False
    families = geometry.blocks if geometry.is_free else space.families
    # people without twins show nothing
    if np.bincount(np.unique(families, return_inverse=True)[1].reshape(-1)).max() == 1:
        return False
    return _answers_agree(result)


def _answers_agree(result: AuditResult) -> bool:
    """Return whether all answers within each family are the same."""
    space, geometry = result.space, result.problem.geometry
    families = geometry.blocks if geometry.is_free else space.families
    answers = result.answers.predictions
    if answers.dtype.kind not in "biuf":
        answers = np.unique(answers.astype(str), return_inverse=True)[1]
    numbers = np.asarray(answers, np.float64).reshape(space.size, -1)
    order = np.argsort(families, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(families[order]) != 0])
    most, least = (
        extreme.reduceat(numbers[order], starts, axis=0) for extreme in (np.maximum, np.minimum)
    )
    return bool(np.all(most - least <= TOLERANCE * np.maximum(1.0, np.abs(most))))


def _more_company(result: AuditResult) -> Note:
    """Return how more people get someone to be compared with: the columns that keep them apart."""
    space = result.space
    if not result.similarity.moves_only_to_twins:
        return Note(
            "Set a budget above 0 ({budget}), or choose a similarity under which sensitive columns "
            "may change.",
            budget=param("budget"),
        )
    advice = [*_leave_out_notes(space), *_grouping_notes(space)]
    if not advice:
        advice = [Note("Use fewer columns ({features}), or coarser values.",
                       features=param("features"))]  # fmt: skip
    names = " or ".join(space.sensitive)
    advice.append(
        Note(
            "Keep every column that the decision may be based on, and none that was recorded after "
            "it: if you leave one out, a difference that it makes can look like a difference by "
            "{names}.",
            names=names,
        )
    )
    if not space.has_twins:
        advice.append(
            Note(
                "Or, if you have the model, give it ({model}): then each person is compared with a "
                "copy of themselves with another {names}.",
                model=param("model"),
                names=names,
            )
        )
    return join_notes(advice)


def _leave_out_notes(space: SampleSpace) -> Iterator[Note]:
    """Yield which columns keep everybody apart by themselves, and those that are left."""
    reasons = {}
    for name in _others(space):
        told = [one for one in space.sensitive if is_told(space, one, by=name)]
        if _is_id(space, name):
            reasons[name] = f"{name} (a different value for each person)"
        elif told:
            reasons[name] = f"{name} (it tells everybody's {' and '.join(told)})"
    if reasons:
        left = [name for name in _others(space) if name not in reasons]
        yield Note(
            "Leave out {columns}{rest}.",
            columns=enumerate_names([*reasons.values()]),
            rest=f": `{list_option('features', left)}`" if left else "",
        )


def _grouping_notes(space: SampleSpace) -> Iterator[Note]:
    """Yield which columns have many values, and how numbers are cut into ranges."""
    counts = {
        name: len(space.columns[name].levels)
        for name in _others(space)
        if len(space.columns[name].levels) > MANY_VALUES and not _is_id(space, name)
    }
    numbers = [name for name in counts if is_numeric(space.columns[name].levels)]
    if numbers:
        yield Note(
            "Group numbers into ranges{example}: {counts}. Make the ranges narrow: in a wide one "
            "people still differ, which can look like a difference by {names}.",
            # of few people edges would tell something
            example=Wording(f", for example {_bins_examples(space, numbers)}"),
            counts=_count_values({name: counts[name] for name in numbers}),
            names=" or ".join(space.sensitive),
        )
    if words := counts.keys() - numbers:
        yield Note(
            "Merge rare values, or leave out dates and codes: {counts}.",
            counts=_count_values({name: counts[name] for name in counts if name in words}),
        )


def _count_values(counts: Mapping[str, int]) -> Note:
    """Return how many values columns have."""
    notes = [
        Note("{name} has {count:,} values", name=name, count=Count(count))
        for name, count in counts.items()
    ]
    return join_notes(notes, ", ")


def _is_id(space: SampleSpace, name: str) -> bool:
    """Return whether everybody has a different value of a column, as of an ID."""
    column = space.columns[name]
    return len(column.levels) == space.n and looks_like_id(name, column)


def is_told(space: SampleSpace, name: str, *, by: str) -> bool:
    """Return whether people who share a value of a column all have the same in another, no chance.

    The other one must not be the same for everybody.
    """
    column, other = (number_rows([space.columns[one].codes[space.observed]]) for one in (by, name))
    counts = space.counts[space.observed]
    values = int(column.max()) + 1
    most = np.bincount(other, counts).max() / counts.sum()
    is_function = int(number_rows([column, other]).max()) + 1 == values
    return is_function and bool(most ** (counts.sum() - values) < MAX_AGREEMENT_CHANCE)


def enumerate_names(names: Sequence[str]) -> str:
    """Return names as they stand in a sentence."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def list_option(name: str, columns: Sequence[str]) -> str:
    """Return a reference to a parameter set to columns."""
    return option(name, shlex.quote(",".join(columns)), repr([*columns]))


def _bins_examples(space: SampleSpace, names: Sequence[str]) -> str:
    """Return how the first of some columns of numbers are cut into ranges, as is typed."""
    texts = []
    for name in names[:MAX_EXAMPLES]:
        edges = ",".join(
            np.format_float_positional(edge, trim="-")
            for edge in _suggest_edges(space.columns[name], space.counts)
        )
        texts.append(f"`{option(entry('bins', name), edges, f'[{edges}]')}`")
    return " ".join(texts)


def _suggest_edges(column: CodedColumn, counts: IntArray) -> list[float]:
    """Return two rounded numbers that cut people into three groups; one where they are equal."""
    known = column.codes >= 0
    people = np.bincount(column.codes[known], counts[known], len(column.levels)).cumsum()
    places = np.searchsorted(people, people[-1] * np.array([1 / 3, 2 / 3]))
    levels: FloatArray = column.levels.astype(np.float64)
    return sorted({float(f"{levels[place]:.2g}") for place in places})


def counterpart_settings(space: SampleSpace) -> dict[str, Any] | None:
    """Return the settings of an audit of proxies; None if the model receives no other columns."""
    others = [name for name in space.features if name not in space.sensitive]
    return {"similarity": Counterparts.name, "similarity_settings": {}} if others else None


def stated_settings(space: SampleSpace) -> dict[str, Any]:
    """Return the settings of an audit in which other columns may change."""
    columns = [name for name in space.profile if name not in space.sensitive]
    scales = suggest_space_scales(space, columns)
    mismatch = {name: 1.0 for name in columns if name not in scales}
    rules = {"scales": scales, "mismatch": mismatch}
    return {
        "similarity": "mixed-tabular",
        "similarity_settings": {name: rule for name, rule in rules.items() if rule},
        "budget": FIRST_BUDGET,
    }


def audit_keywords(settings: Mapping[str, Any], sensitive: Sequence[str]) -> dict[str, Any]:
    """Return settings as keywords of `audit`, with a similarity object."""
    keywords = {name: value for name, value in settings.items() if name != "similarity_settings"}
    keywords["similarity"] = similarity_from_settings(
        settings["similarity"],
        settings["similarity_settings"],
        defaults={"sensitive_features": [*sensitive]},
    )
    return keywords
