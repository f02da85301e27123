"""Whether an audit could find anything, what makes its verdict empty, and what to do then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport._core.notes import Count, Figure, Mean, Note, join_notes
from fairtransport._core.ranks import number_rows
from fairtransport._core.validation import short_repr
from fairtransport.access.repeats import TOLERANCE
from fairtransport.audits.rates import why_untestable
from fairtransport.geometry.geometry import are_all_alike, reaches_other
from fairtransport.similarity.base import is_numeric, label_columns
from fairtransport.similarity.counterparts import Counterparts
from fairtransport.similarity.registry import similarity_from_settings, suggest_space_scales

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace

FEW = 0.05
"""Largest share of people with a comparable person of another group at which an audit shows hardly
anything; a rejection stands all the same."""
MANY_VALUES = 10
"""Text columns with more values leave few similar people."""
LITTLE = 0.01
"""Largest remaining share of the features' variance at which a learned distance is useless."""
MIN_REPEATS = 20
"""Minimum number of people who repeat values, to see what columns have in common."""
FIRST_BUDGET = 0.05
"""Budget of the audit proposed for proxies: .22 standard deviations."""

CHECK_COLUMNS = (
    "Check the other columns: compare people with themselves as typically recorded in another "
    "group, in the columns that depend on it. Columns that may rightly count can be held fixed "
    "(`legitimate`)."
)
GIVE_COLUMNS = " If dependence shows only jointly, name the columns (`given`)."
STATED = "audit with a distance between people, stated as below (scales are standard deviations)"


@dataclass(frozen=True)
class Obstacle:
    """Why an audit shows nothing, with advice and the settings of a better audit, if any.

    The settings are those of a settings file, so that a document can hold them.
    """

    reason: Note
    advice: str | None = None
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
    declare = f"declare all `levels` of {' and '.join(space.sensitive)} there can be"
    model = "" if space.has_twins else "give a `model` to ask and "
    return Obstacle(
        Note("Everybody has the {group}: there is no other group.", group=" and the ".join(group)),
        f"Audit people of several groups, or {model}{declare}.",
    )


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
            "No column was shown to depend on {names}{among}: {alone}these columns were not shown "
            "to reveal it better than guessing, judged by {people} people set aside for this. "
            "This is not evidence of fairness. A shift of a number between groups of {shifts}, the "
            "same for everybody, would have been seen with a probability of 80 %.",
            names=" or ".join(space.sensitive),
            among=f" among people alike in {among}" if among else "",
            alone="" if model.given else "one by one, ",
            people=Count(model.size), shifts=join_notes(shifts),
        ),
        f"{_see_more(similarity)}{'' if model.given else GIVE_COLUMNS}",
    )  # fmt: skip


def _see_more(similarity: Counterparts) -> str:
    """Return how to see weaker dependence, or that nothing is left to try."""
    if similarity.fit_share > Counterparts.fit_share:
        return "No more can be seen with these people: report that this audit cannot tell."
    return (
        "Audit more people, or hold out a larger share of them (`fit_share`), to see weaker "
        "dependence."
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
                f"Name {', '.join(columns)} as sensitive instead of {name} (`sensitive_features`).",
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
    return [*codes] if is_known and len(group) > last + MIN_REPEATS else []


def same_columns_note(name: str, columns: Sequence[str]) -> Note:
    """Return that columns determine a sensitive feature that the model does not receive."""
    return Note(
        "It receives {columns}, in which everybody of one {name} has the same: {it} for {name}.",
        columns=", ".join(columns), name=name,
        it="it stands" if len(columns) == 1 else "they stand",
    )  # fmt: skip


def why_zero(sensitive: Sequence[str], features: Sequence[str]) -> Note | None:
    """Return why swaps between twins change nothing; None if they can."""
    if set(sensitive) & set(features):
        return None
    return Note(
        "The model receives no sensitive feature ({names}), and people who differ only in these "
        "count as equal: the statistic is 0 by construction.",
        names=", ".join(sensitive),
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
            "The similarity puts all people of one label at distance 0: anybody may be swapped "
            "with anybody for nothing, so that the statistic says nothing of similar people."
        )
    elif variance_share <= LITTLE:
        reason = Note(
            "The similarity took out all but {percent:.2g} % of the features' variance: nearly "
            "everybody counts as similar to everybody, so that the statistic says nothing of "
            "similar people.",
            percent=Figure(100 * variance_share),
        )
    else:
        return None
    # what was learned left no differences between people
    learned = "" if measure is not None else " or learned by 'sensitive-subspace'"
    advice = f"Take a similarity that tells people apart: {STATED}{learned}."
    return Obstacle(reason, advice, stated_settings(space))


def _equal_losses(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of equal losses, once the model was queried about everybody."""
    losses = result.problem.losses
    # nothing is known of people who were not queried
    if np.ptp(losses) > 0 or result.query_record.stopped not in {None, "everybody"}:
        return None
    return Obstacle(
        Note(
            "Every loss is {loss:g}, whoever is asked about: no swap can change anything.",
            loss=Mean(losses[0]),
        ),
        "Audit what differs between people: scores instead of labels (the losses 'log' or "
        "'brier'), or the decisions themselves (the loss 'outcome').",
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
            "{differed} of {count} questions that were asked a second time got another answer: "
            "the model answers at random, by the order or number of the rows it receives, or has "
            "changed. The worst of several twins is then a matter of luck.",
            differed=Count(repeats.differed),
            count=Count(repeats.count),
        ),
        "Ask for several answers to each question with `draws`, so that noise is not counted as "
        "bias; or hold the model's version, seed and temperature fixed, and answer each row by its "
        "own values.",
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
            "People with one and the same profile got different answers: the system knows more "
            "than the audited columns, or answers at random, and the statistic counts that as "
            "bias. Rates, which do not, compare the people of the audit with those alike in all "
            "columns but the sensitive ones; {reason}.",
            reason=reason,
        ),
        f"{_to_rates(result)}, or give a `model` to ask.",
    )


def _to_rates(result: AuditResult) -> str:
    """Return how rates can be compared."""
    if result.loss.range is None:
        return "Give the least and the largest loss there can be as `loss_range`"
    there = "" if result.space.targets is None else " and without `targets`"
    numbers = [
        name for name in result.space.profile
        if name not in result.space.sensitive and is_numeric(result.space.columns[name].levels)
    ]  # fmt: skip
    binning = f", with `bins` for numbers ({', '.join(numbers)})" if numbers else ""
    return f"Audit with the similarity 'ignore-sensitive'{there}{binning}"


def _lonely(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of people with hardly anybody to be compared with."""
    space, share = result.space, result.comparable_share
    if share > FEW or result.bounds_verdict == "rejected":
        return None
    people = Count(round(share * space.n))
    who = Note(
        "Only {people} of {n} people have" if people else "Nobody has", people=people, n=space.n
    )
    reason = Note(
        "{who} anyone to be compared with: somebody of another {names} who is alike.",
        who=who, names=" or ".join(space.sensitive),
    )  # fmt: skip
    return Obstacle(reason, _more_company(result))


def _beyond_reach(result: AuditResult) -> Obstacle | None:
    """Return the obstacle of a certificate that every model would get."""
    reason = why_beyond_reach(result)
    if reason is None or result.bounds_verdict != "certified":
        return None
    share = " With 0-1 loss δ is a share of people: 0.02 is 2 in 100."
    return Obstacle(
        reason, f"Take a smaller `delta`.{share if result.loss.name == 'zero-one' else ''}"
    )


def why_beyond_reach(result: AuditResult) -> Note | None:
    """Return why no model could exceed the threshold with these people; None if one could."""
    limit = find_limit_below_delta(result)
    if limit is None:
        return None
    return Note(
        "No model could exceed δ = {delta:g} with these people: whatever it answers about those "
        "they are compared with, their mean loss can rise by {limit:.4g} at most.",
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
            "The model gave the same answer to every person whatever their recorded {names}: it "
            "does not use {columns}, or not for these people. This is no evidence of fairness: "
            "other columns can stand in for {them}.",
            names=names, columns="these columns" if several else "this column",
            them="them" if several else "it",
        ),
        "Ask about everybody: leave `until_sure` out." if stopped_early else CHECK_COLUMNS,
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


def _more_company(result: AuditResult) -> str:
    """Return how more people get somebody to be compared with."""
    space = result.space
    if not result.similarity.moves_only_to_twins:
        return "Take a `budget` above 0, or a similarity that lets sensitive features change."
    exact = getattr(result.similarity, "exact", ())
    levels = {
        name: space.columns[name].levels
        for name in space.profile if name not in space.sensitive or name in exact
    }  # fmt: skip
    ids = [name for name, values in levels.items()
           if len(values) == space.n and values.dtype.kind != "f"]  # fmt: skip
    many = {name: len(values) for name, values in levels.items()
            if name not in ids and (is_numeric(values) or len(values) > MANY_VALUES)}  # fmt: skip
    advice = []
    if many:
        counts = ", ".join(f"{name} has {count} values" for name, count in many.items())
        advice.append(f"Cut numbers into groups with `bins`, and merge rare values: {counts}.")
    named = f" ({', '.join(ids)})" if ids else ""
    advice.append(
        f"Leave ids and dates{named} out of `features`. Keep every column that the decision may "
        "rest on: one that is left out can look like a difference between groups."
    )
    if not space.has_twins:
        advice.append("Or give a `model` to ask: then everybody is compared with themselves.")
    return " ".join(advice)


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
