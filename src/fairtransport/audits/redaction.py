"""Redacted documents: no number in them is finer than an agreed number of people."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audits.decisions import redact_decisions
from fairtransport.audits.groups import compare_groups, people_by_answer
from fairtransport.audits.rates import compare_alike
from fairtransport.audits.summarise import (
    NO_OPTIONS,
    build_flow_tables,
    list_moves,
    list_omissions,
    select_largest_groups,
    summarise,
    summarise_headline,
)
from fairtransport.audits.warnings import find_warnings, list_notes
from fairtransport.documents.audit import CurvePoint, GroupComparison, Limits, RatesFound
from fairtransport.errors import InputError, param
from fairtransport.explain.disclosure import (
    MAX_FULL_CELLS,
    MAX_HIDDEN,
    MOVED_BOUND,
    Rounding,
    Suppression,
    are_few,
    find_identifying_targets,
    find_visible_moves,
    hide_small_counts,
    round_gap,
    round_pvalue,
    round_to_one_digit,
)
from fairtransport.explain.flows import group_flows
from fairtransport.explain.groups import GroupRate
from fairtransport.transport import AuditProblem

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.audits.groups import FeatureComparison
    from fairtransport.audits.result import AuditResult
    from fairtransport.data import SampleSpace
    from fairtransport.documents.audit import AttributablePart, AuditSummary, ControlsFound
    from fairtransport.explain.flows import Flow, FlowTable, GroupFlow
    from fairtransport.explain.groups import RateTable
    from fairtransport.explain.moves import MovePlan
    from fairtransport.settings import DocumentOptions

COARSEST_METRIC = 0.1
"""Group metrics that would need coarser rounding are left out."""
COUNTED_ELSEWHERE = (
    "Groups of fewer than {} people with equal values in all columns are counted with the largest "
    "such group, and nobody is compared with values that only they have."
)
OF_THE_MOVES_SHOWN = "Flows and groups are computed only from the swaps that are listed."


def redact(
    result: AuditResult, summary: AuditSummary, at_least: int, options: DocumentOptions = NO_OPTIONS
) -> AuditSummary:
    """Return the summary for sharing, without any number finer than ``at_least`` people.

    All tables of swaps are built from the shown moves, after rounding their numbers of people, so
    that they disclose no more. Everything else that depends on the counts is rounded by one
    `Rounding`, or left out if it were another equation for them (other methods' bounds, the budget
    curve, the statistic without a feature, the law of the draws, the numbers of points, questions
    and moves). Which moves and names are shown does not depend on anybody at a point of few people.

    If few people in total are at such points, everything but the verdict is from
    `count_at_largest`: the document would be the same if any of these points had nobody.
    """
    counted = count_at_largest(result, at_least)
    if counted is not None:
        summary = _loosen(summary, _summarise(counted, options), at_least, _width(result))
        result = counted
    space = result.space
    rounding = Rounding.of_mean(at_least, space.n, _width(result))
    identifying = find_identifying_targets(space, at_least, from_sample=not result.fixed_targets)
    visible = find_visible_moves(result.moved, at_least, identifying)
    visible_moves = result.moved.take(visible)
    many = replace(space, counts=hide_small_counts(space, at_least))
    people_after = space.counts.astype(np.float64)
    # metrics of both would disclose the people left after the shown moves
    np.subtract.at(people_after, visible_moves.sources, visible_moves.people)
    moves = _round_moves(visible_moves, rounding)
    comparisons = _compare_large_groups(result, people_after, at_least, options)
    hidden = rounding.total(result.moved.people[~visible])
    decisions, missing = summary.decisions, summary.decisions_missing
    if decisions is not None and decisions.scores is not None:
        decisions, missing = None, "A shared document does not show how far scores change."
    return replace(
        summary.without_details(),
        **_headline(summary, rounding),
        comparable_share=Rounding.of_mean(at_least, space.n).nearest(summary.comparable_share),
        applicability=_round_reason(summary.applicability, rounding),
        advice=_round_reason(summary.advice, rounding),
        random_swap_risk=_nearest(summary.random_swap_risk, rounding),
        attributable=_round_part(summary.attributable, rounding),
        controls=_round_controls(summary.controls, rounding),
        # the missing number of cases would disclose how far bound and estimate are from δ
        outlook=None,
        decisions=redact_decisions(decisions, at_least, has_small=counted is None),
        decisions_missing=missing,
        rates=_round_rates(result, summary, rounding),
        # its scales were taken from the data
        next_audit=None,
        points=None,
        observed_points=None,
        queried=None if summary.queried else 0,
        # the shown moves disclose nothing about others
        plan_is_unique=None,
        moved=moves.total + hidden,
        moves_found=None,
        moves=list_moves(result, moves, options.max_moves),
        flows=tuple(
            _without_rare(table)
            for table in build_flow_tables(result, moves, fixed=False, space=many)
        ),
        groups=select_largest_groups(_groups(result, moves, rounding)),
        group_metrics=tuple(_round_metrics(result, one.metrics, at_least) for one in comparisons),
        costs=summary.costs,
        warnings=(
            OF_THE_MOVES_SHOWN,
            *([] if counted is None else [COUNTED_ELSEWHERE.format(at_least)]),
            *_round_notes(list_notes(result), rounding),
            *(note for one in comparisons for note in one.notes),
            *_round_notes(list_omissions(result, folds=False), rounding),
        ),
        suppression=Suppression(at_least, rounding.step, hidden),
        provenance=replace(
            summary.provenance, seed=None, data_sha256=None, similarity_record=None, classes=(),
        ),
    )  # fmt: skip


def count_at_largest(result: AuditResult, at_least: int) -> AuditResult | None:
    """Return the audit with the few people of small points counted at the largest point.

    None if there are many such people, or none and answers are not declared fixed. Rejected if
    there are many, and small points have hardly room for more.

    The result depends on which point is the largest, on the counts of the others with at least k
    people, and on n. These would all be the same if one of the c people at a small point were at
    the largest one instead: c − 1 people, and in the end none, give the same result.
    """
    space, record = result.space, result.query_record
    few = are_few(space.counts, at_least)
    hidden = int(space.counts[few].sum())
    if hidden > MAX_HIDDEN * at_least:
        _check_room(space.counts[few], at_least)
        return None
    if not record.once_about_everybody:
        if hidden:
            msg = (
                f"{param('share')} must be left out where few people are equal in all columns and "
                f"the model was not queried once about everybody: {hidden} of {space.n} people are "
                f"among fewer than {at_least}"
            )
            raise InputError(msg)
        return None
    if hidden == 0:
        return result
    counts = np.where(few, 0, space.counts)
    counts[np.argmax(space.counts)] += hidden
    points = _find_remaining_points(space, counts)
    taken = space.take(points, counts)
    columns = {name: column.without_unused() for name, column in taken.columns.items()}
    remaining = replace(taken, columns=columns)
    answers, labels = result.answers, result.answers.labels
    answers = replace(
        answers, losses=answers.losses[points], predictions=answers.predictions[points],
        labels=None if labels is None else labels[points],
    )  # fmt: skip
    geometry = result.similarity.geometry(remaining)
    problem = AuditProblem(answers.losses, geometry, budget=result.problem.budget)
    own_warnings = {*find_warnings(result)}
    shifts = result.shifts
    counted = replace(
        result, space=remaining, answers=answers, solution=problem.solve(remaining.frequencies),
        shifts=None if shifts is None else shifts.move(points, space.size),
    )  # fmt: skip
    added = (note for note in result.warnings if note not in own_warnings)
    return replace(counted, warnings=(*find_warnings(counted), *added))


def _check_room(counts: IntArray, at_least: int) -> None:
    """Reject small points so full that their total discloses the number of people at each.

    Notes
    -----
    More than 4k people leave room in c small points for fewer than c(k − 1) − 4k more. So points
    must have room for 8(k − 1) − 4k more, which eight or fewer never have.
    """
    people, room = int(counts.sum()), len(counts) * (at_least - 1)
    if room - people >= MAX_FULL_CELLS * (at_least - 1) - MAX_HIDDEN * at_least:
        return
    msg = (
        f"{param('share')} must be larger, or left out: {people} people are in {len(counts)} "
        f"groups of fewer than {at_least}, which hold {room} at most, so that a reader could work "
        "out how many are in each"
    )
    raise InputError(msg)


def _find_remaining_points(space: SampleSpace, counts: IntArray) -> IntArray:
    """Return the points that there would be if the people were at points of these counts."""
    there = counts > 0
    remains = there if space.targets is None else there | space.targets
    if space.has_twins:
        families = space.families
        remains = np.isin(families, families[there])
        for one in space.column_sets:
            groups = space.groups(one.columns)
            if not one.is_declared:
                remains &= np.isin(groups, groups[there])
    return np.flatnonzero(remains)


def _summarise(result: AuditResult, options: DocumentOptions) -> AuditSummary:
    """Return a summary with the head from the options."""
    summary = summarise(result, summarise_headline(result), options)
    return replace(summary, provenance=replace(summary.provenance, **options.head))


def _loosen(
    own: AuditSummary, counted: AuditSummary, at_least: int, width: float
) -> AuditSummary:  # fmt: skip
    """Return a summary of counted people with bounds that hold for all, and the original verdict.

    People are compared at the levels that many people have; a verdict that is due to others is not
    disclosed.
    """
    room, ends = MOVED_BOUND * at_least * width / own.n, counted.interval
    lower = None if ends.lower is None else max(ends.lower - room, 0.0)
    upper = None if ends.upper is None else min(ends.upper + room, width)
    rates = counted.rates
    if rates is not None:
        rates = replace(rates, pvalue=None)  # it would be about people at other points
    loose = replace(counted, interval=Limits(lower, upper), rates=rates)
    is_due_to_others = (own.applicability is None) != (counted.applicability is None)
    if own.is_about_part and not is_due_to_others:
        return _show_part_verdict(own, loose)
    if own.delta is not None:
        is_due_to_others |= own.verdict == "rejected" and upper is not None and upper <= own.delta
        is_due_to_others |= own.verdict == "certified" and (lower or 0.0) > own.delta
    if is_due_to_others:
        return loose
    controls = loose.controls
    if controls is not None:
        # only the verdict: the test of all people would be another equation
        controls = replace(controls, exceeds=controls.exceeds or own.verdict == "rejected")
    # only the verdict: levels below α would disclose how many people there are
    pvalue = None if own.pvalue is None else own.alpha if own.pvalue <= own.alpha else 1.0
    return replace(loose, verdict=own.verdict, pvalue=pvalue, controls=controls)


def _show_part_verdict(own: AuditSummary, loose: AuditSummary) -> AuditSummary:
    """Return a summary with the original verdict on the part; open if others decide it."""
    verdict = own.verdict if own.verdict == loose.attributable.verdict else "inconclusive"
    part = replace(loose.attributable, verdict=verdict)
    return replace(loose, verdict=verdict, attributable=part)


def _width(result: AuditResult) -> float:
    """Return the maximum change of a sum of losses by one person."""
    if result.loss.range is not None:
        return result.loss.range[1] - result.loss.range[0]
    return float(np.ptp(result.problem.losses)) or 1.0


def _headline(summary: AuditSummary, rounding: Rounding) -> dict[str, Any]:
    """Return the headline numbers, rounded so that bounds hold and agree with the verdict."""
    # the ends of the interval are bounds too; separate ones would disclose the statistic again
    ends = Limits(rounding.down(summary.interval.lower), rounding.up(summary.interval.upper))
    lower, upper = ends.lower, ends.upper
    if summary.verdict == "rejected" and lower is not None:
        lower = max(lower, summary.delta or 0.0)
    is_certified = summary.verdict == "certified" and not summary.is_about_part
    if is_certified and upper is not None and summary.delta is not None:
        upper = min(upper, summary.delta)
    statistic = rounding.nearest(summary.statistic)
    # δ is on no grid, and a bound moved to it must not pass the estimate
    statistic = max(statistic, -math.inf if lower is None else lower)
    statistic = min(statistic, math.inf if upper is None else upper)
    baseline = rounding.nearest(summary.baseline_risk)
    return {
        "statistic": statistic,
        "baseline_risk": baseline,
        "worst_case_risk": round(baseline + statistic, 12),
        "price": round_to_one_digit(summary.price),
        "price_interval": Limits(None, None),
        "interval": ends,
        "lower_bound": lower,
        "upper_bound": upper,
        "pvalue": None if summary.pvalue is None else round_pvalue(summary.pvalue, summary.alpha),
        "duality_gap": round_gap(summary.duality_gap),
        "disagreement": rounding.nearest(summary.disagreement),
        "budget_curve": tuple(
            CurvePoint(one.budget, statistic) for one in summary.budget_curve
        ) if len(summary.budget_curve) == 1 else (),
    }  # fmt: skip


def _nearest(mean: float | None, rounding: Rounding) -> float | None:
    """Return a mean rounded, or None."""
    return None if mean is None else rounding.nearest(mean)


def _round_part(part: AttributablePart, rounding: Rounding) -> AttributablePart:
    """Return the part without bounds, which would be further equations for the counts."""
    return replace(
        part, value=rounding.nearest(part.value), same_group=rounding.nearest(part.same_group),
        interval=Limits(None, None), lower_bound=None, upper_bound=None, pvalue=None,
    )  # fmt: skip


def _round_controls(controls: ControlsFound | None, rounding: Rounding) -> ControlsFound | None:
    """Return the mean shifts without bounds, which would be further equations for the counts."""
    if controls is None:
        return None
    sensitive, control = map(rounding.nearest, (controls.sensitive_shift, controls.control_shift))
    return replace(
        controls, people=None, sensitive_shift=sensitive, control_shift=control,
        difference=sensitive - control, interval=Limits(None, None), lower_bound=None,
        upper_bound=None, pvalue=None, permutation_pvalue=None,
    )  # fmt: skip


def _round_rates(
    result: AuditResult, summary: AuditSummary, rounding: Rounding
) -> RatesFound | None:
    """Return the headline's bound and p-value, and the rates of many people only."""
    if summary.rates is None:
        return None
    headline = _headline(summary, rounding)
    return RatesFound(
        groups=summary.rates.groups, value=None, lower_bound=headline["lower_bound"],
        pvalue=None if summary.rates.pvalue is None
        else round_pvalue(summary.rates.pvalue, summary.alpha),
        pvalue_at_delta=headline["pvalue"], features=(),
        by_group=compare_alike(result, rounding.at_least),
        deterministic=summary.rates.deterministic,
        largest_possible=None if summary.rates.largest_possible is None
        else min(rounding.nearest(summary.rates.largest_possible), summary.delta or 0.0),
    )  # fmt: skip


def _round_moves(moves: MovePlan, rounding: Rounding) -> MovePlan:
    """Return moves of rounded numbers of people, ordered by these."""
    rounded = replace(moves, people=rounding.people(moves.people))
    # the order of exact numbers would disclose more than the rounded ones
    return rounded.take(np.lexsort((moves.targets, moves.sources, -rounded.people)))


def _round_notes(notes: Iterable[str], rounding: Rounding) -> list[str]:
    """Return notes with rounded values, without those whose numbers are unknown."""
    return [text for note in notes if (text := rounding.note(note))]


def _round_reason(reason: str | None, rounding: Rounding) -> str | None:
    """Return the reason of a missing verdict with rounded values; None if there is none."""
    return None if reason is None else rounding.note(reason)


def _groups(result: AuditResult, moves: MovePlan, rounding: Rounding) -> tuple[GroupFlow, ...]:
    """Return the groups of many people, and those in shown moves."""
    space = result.space
    groups = group_flows(moves, space, result.problem.losses)
    group_of = space.sensitive_groups
    ends = np.cumsum(np.bincount(group_of))[:-1]
    people = np.split(space.counts[np.argsort(group_of, kind="stable")], ends)
    sizes = [rounding.total(counts) for counts in people]
    return tuple(
        replace(group, people=size or None, risk=None, risk_after=None)
        for group, size in zip(groups, sizes, strict=True)
        if size or _is_touched(group)
    )


def _is_touched(flow: Flow | GroupFlow) -> bool:
    """Return whether a shown move leaves or enters."""
    return flow.out > 0 or flow.into > 0


def _without_rare(table: FlowTable) -> FlowTable:
    """Leave out labels, levels and groups without people or shown moves."""
    keys = [(cell.label, cell.level, tuple(cell.group.values())) for cell in table.cells]
    there: set[tuple[int, Hashable]] = set()
    for key, cell in zip(keys, table.cells, strict=True):
        if cell.people or _is_touched(cell):
            there |= set(enumerate(key))
    cells = (
        replace(cell, people=None)
        for key, cell in zip(keys, table.cells, strict=True)
        if there.issuperset(enumerate(key))
    )
    return replace(table, cells=tuple(cells))


def _compare_large_groups(
    result: AuditResult,
    people_after: FloatArray,
    at_least: int,
    options: DocumentOptions,
) -> list[FeatureComparison]:
    """Return the group metrics of many people, with moves taken off or not."""
    space = result.space
    everybody = space.counts.astype(np.float64)
    sizes = np.bincount(space.sensitive_groups, everybody)
    if are_few(sizes, at_least).any():
        return []

    def may_be_shown(features: Sequence[str]) -> bool:
        """Return whether no cell of the metrics has few people, and rounding is fine enough."""
        counts = (
            people_by_answer(result, features, people) for people in (everybody, people_after)
        )
        rounding = Rounding.of_mean(at_least, _count_fewest_alike(result, features))
        few = any(are_few(people, at_least).any() for people in counts)
        return not few and rounding.step <= COARSEST_METRIC

    # which groups fall short of a share would disclose their sizes
    comparisons = compare_groups(result, replace(options, min_share=0.0))
    return [one for one in comparisons if may_be_shown(one.metrics.features)]


def _round_metrics(result: AuditResult, metrics: GroupComparison, at_least: int) -> GroupComparison:
    """Return metrics rounded for the smallest group that one of them is a share of."""
    rounding = Rounding.of_mean(at_least, _count_fewest_alike(result, metrics.features))

    def shorten(value: Any) -> Any:
        """Return numbers rounded, words unchanged."""
        if isinstance(value, dict):
            return {name: shorten(number) for name, number in value.items()}
        return rounding.nearest(value) if isinstance(value, float) else value

    numbers = {
        one.name: shorten(getattr(metrics, one.name))
        for one in fields(metrics)
        if one.name.endswith(("difference", "accuracy", "accuracy_by_group"))
    }
    rates = tuple(_round_rate_table(table, rounding) for table in metrics.rates)
    return replace(metrics, **numbers, rates=rates)


def _round_rate_table(table: RateTable, rounding: Rounding) -> RateTable:
    """Return rounded rates and their differences; intervals would disclose the rates again."""
    rates = [_nearest(row.rate, rounding) for row in table.groups]
    places = [at for at, row in enumerate(table.groups) if row.group == table.reference]
    base = rates[places[0]] if places else None

    def round_row(row: GroupRate, rate: float | None) -> GroupRate:
        """Return a row computed from rounded rates only."""
        if row.difference is None or rate is None or base is None:
            return GroupRate(group=row.group, people=None, rate=rate)
        return GroupRate(
            group=row.group, people=None, rate=rate, difference=round(rate - base, 12),
            ratio=rate / base if base > 0 else None,
        )  # fmt: skip

    rows = tuple(round_row(row, rate) for row, rate in zip(table.groups, rates, strict=True))
    return replace(table, confidence=None, groups=rows)


def _count_fewest_alike(result: AuditResult, features: Sequence[str]) -> float:
    """Return the size of the smallest group with one true label."""
    space = result.space
    names = [*features, *([] if space.label is None else [space.label])]
    people = np.bincount(space.groups(names), space.counts)
    return float(people[people > 0].min())
