"""A result's document for strangers: nothing in it tells of fewer people than agreed."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit.grouping import MOST_METRICS, compare_groups, favoured, people_by_answer
from fairtransport.audit.summarise import (
    MOST_CELLS,
    MOST_DIRECTIONS,
    MOST_GROUPS,
    MOST_LABELS,
    MOST_LEVELS,
    flow_tables,
    largest_groups,
    listed_moves,
    omissions,
)
from fairtransport.localise import (
    Grain,
    are_few,
    can_be_shown,
    coarse_gap,
    coarse_pvalue,
    counts_of_many,
    find_directions,
    group_flows,
    most_affected,
    one_digit,
    telling_targets,
)
from fairtransport.summary import CurvePoint, GroupComparison, Limits, RatesFound, Suppression

if TYPE_CHECKING:
    from collections.abc import Hashable

    from fairtransport.audit.concluded import Concluded
    from fairtransport.audit.core import Core
    from fairtransport.audit.grouping import Compared
    from fairtransport.checks import FloatArray
    from fairtransport.localise import Moved
    from fairtransport.summary import (
        AttributablePart,
        AuditSummary,
        Flow,
        FlowTable,
        GroupFlow,
        TwinsMade,
    )

COARSEST_METRIC = 0.1
"""Group metrics that would have to be rounded more are left out."""
OF_THE_MOVES_SHOWN = "Flows, affected profiles and groups are those of the moves that are shown."


def shared_summary(core: Concluded, whole: AuditSummary, at_least: int) -> AuditSummary:
    """Return what a result may tell strangers: no number finer than ``at_least`` people.

    Parameters
    ----------
    core
        The audit.
    whole
        Its full document.
    at_least
        k, the fewest people that anything may tell of.

    Notes
    -----
    All tables of swaps are made from the moves that are shown, after the numbers of people
    in these were rounded, so that they tell no more. What else depends on the counts is
    rounded by one `Grain`, or left out where it would add another equation for them (other
    methods' bounds, the budget curve, the statistic without a feature, the law of the draws,
    how many points, questions and moves there are). Which moves and names are shown depends
    on nobody who is one of few at a point.
    """
    space = core.space
    grain = Grain.of_mean(at_least, space.n, _width(core))
    telling = telling_targets(space, at_least, observed=not core.fixed_targets)
    seen = can_be_shown(core.moved, at_least, telling)
    shown = core.moved.take(seen)
    many = replace(space, counts=counts_of_many(space, at_least))
    left = space.counts.astype(np.float64)
    # who is left when the shown moves are taken off could be told from metrics of both
    np.subtract.at(left, shown.sources, shown.people)
    moved = _rounded_moves(shown, grain)
    compared = _compared(core, left, at_least)
    hidden = grain.total(core.moved.people[~seen])
    return replace(
        whole.without_details(),
        **_headline(whole, grain),
        comparable_share=Grain.of_mean(at_least, space.n).nearest(whole.comparable_share),
        applicability=_rounded_note(core, whole.applicability, grain),
        random_swap_risk=_nearest(whole.random_swap_risk, grain),
        attributable=_rounded_part(whole.attributable, grain),
        # how many cases are lacking would tell how far bound and estimate are from δ
        outlook=None,
        made_twins=_without_numbers(whole.made_twins),
        rates=_rounded_rates(whole, grain),
        # it has scales that were taken from the data
        ready=(),
        points=None,
        observed_points=None,
        queried=None if whole.queried else 0,
        # the moves that are told say nothing of others
        plan_is_unique=None,
        moved=moved.total + hidden,
        moves_found=None,
        moves=listed_moves(core, moved),
        directions=tuple(
            # how many people a level has is not told, nor what the others could add
            replace(one, per_person=None, back_at_most=None)
            for one in find_directions(moved, space, favoured(core))[:MOST_DIRECTIONS]
        ),
        flows=tuple(
            _without_rare(table) for table in flow_tables(core, moved, fixed=False, space=many)
        ),
        most_affected=tuple(
            replace(one, people=None)
            for one in most_affected(moved, space, core.settings.moves_limit, favoured(core))
        ),
        groups=largest_groups(_groups(core, moved, grain)),
        group_metrics=tuple(_rounded_metrics(core, one.metrics, at_least) for one in compared),
        costs=whole.costs,
        warnings=(
            OF_THE_MOVES_SHOWN,
            *_rounded_notes(core, [*core.warnings, *core.law.notes], grain),
            *(note for one in compared for note in one.notes),
            *_rounded_notes(core, omissions(core, folds=False), grain),
        ),
        suppression=Suppression(at_least, grain.step, hidden),
        provenance=replace(
            whole.provenance, seed=None, data_sha256=None, similarity_record=None, classes=(),
        ),
    )  # fmt: skip


def _width(core: Core) -> float:
    """Return how much one person can change a sum of losses.

    Parameters
    ----------
    core
        The audit: the range of its loss, or of the losses where none is known.
    """
    if core.loss.range is not None:
        return core.loss.range[1] - core.loss.range[0]
    return float(np.ptp(core.problem.losses)) or 1.0


def _headline(whole: AuditSummary, grain: Grain) -> dict[str, Any]:
    """Return the numbers of everybody, rounded: bounds hold, and say what the verdict says.

    Parameters
    ----------
    whole
        The full document.
    grain
        How coarse.
    """
    # the ends of the interval are bounds too; others would tell the statistic once more
    ends = Limits(grain.down(whole.interval.lower), grain.up(whole.interval.upper))
    lower, upper = ends.lower, ends.upper
    if whole.verdict == "rejected" and lower is not None:
        lower = max(lower, whole.delta or 0.0)
    if whole.verdict == "certified" and upper is not None and whole.delta is not None:
        upper = min(upper, whole.delta)
    statistic = grain.nearest(whole.statistic)
    # δ is on no grid, and a bound that was moved to it must not pass the estimate
    statistic = max(statistic, -math.inf if lower is None else lower)
    statistic = min(statistic, math.inf if upper is None else upper)
    baseline = grain.nearest(whole.baseline_risk)
    return {
        "statistic": statistic,
        "bracket": None if whole.bracket is None else replace(
            whole.bracket, lower=statistic,
            upper=max(statistic, grain.up(whole.bracket.upper) or 0.0),
        ),
        "baseline_risk": baseline,
        "worst_case_risk": round(baseline + statistic, 12),
        "price": one_digit(whole.price),
        "price_interval": Limits(None, None),
        "interval": ends,
        "lower_bound": lower,
        "upper_bound": upper,
        "pvalue": None if whole.pvalue is None else coarse_pvalue(whole.pvalue, whole.alpha),
        "duality_gap": coarse_gap(whole.duality_gap),
        "disagreement": grain.nearest(whole.disagreement),
        "budget_curve": tuple(
            CurvePoint(one.budget, statistic) for one in whole.budget_curve
        ) if len(whole.budget_curve) == 1 else (),
    }  # fmt: skip


def _nearest(mean: float | None, grain: Grain) -> float | None:
    """Return a mean rounded, None where there is none."""
    return None if mean is None else grain.nearest(mean)


def _without_numbers(made: TwinsMade | None) -> TwinsMade | None:
    """Return how twins were made up, but not how many: that tells of points.

    Parameters
    ----------
    made
        None stays None.
    """
    if made is None:
        return None
    return replace(
        made, twins=None, proposed=None, equal=None, costly=None, implausible=None, examples=()
    )


def _rounded_part(part: AttributablePart, grain: Grain) -> AttributablePart:
    """Return the part without bounds, which would be further equations for the counts.

    Parameters
    ----------
    part, grain
        The attributable part, and how coarse numbers are.
    """
    return replace(
        part, value=grain.nearest(part.value), same_group=grain.nearest(part.same_group),
        interval=Limits(None, None), lower_bound=None, upper_bound=None, pvalue=None,
    )  # fmt: skip


def _rounded_rates(whole: AuditSummary, grain: Grain) -> RatesFound | None:
    """Return rates that tell no more than the bound and the p-value of the headline do.

    Parameters
    ----------
    whole, grain
        The full document, and how coarse numbers are.
    """
    if whole.rates is None:
        return None
    headline = _headline(whole, grain)
    return RatesFound(
        groups=whole.rates.groups, value=None, lower_bound=headline["lower_bound"],
        pvalue=coarse_pvalue(whole.rates.pvalue, whole.alpha),
        pvalue_at_delta=headline["pvalue"], features=(),
    )  # fmt: skip


def _rounded_moves(moved: Moved, grain: Grain) -> Moved:
    """Return moves of rounded numbers of people, in an order that these give.

    Parameters
    ----------
    moved
        The moves that are shown; their exact order would tell exact numbers.
    grain
        How coarse.
    """
    rounded = replace(moved, people=grain.people(moved.people))
    # the order of exact numbers would tell more than the rounded ones do
    return rounded.take(np.lexsort((moved.targets, moved.sources, -rounded.people)))


def _rounded_notes(core: Core, notes: list[str], grain: Grain) -> list[str]:
    """Return sentences with their numbers rounded, but for settings, limits of tables and names."""
    settings = (core.n, core.alpha, core.delta, core.problem.budget, core.n_resamples)
    told = {float(one) for one in settings if one is not None}
    told |= {MOST_CELLS, MOST_GROUPS, MOST_LABELS, MOST_LEVELS, MOST_METRICS}
    names = [*core.space.columns, *(f"`{name}`" for name in core.space.columns)]
    return [grain.sentence(note, names, told) for note in notes]


def _rounded_note(core: Core, note: str | None, grain: Grain) -> str | None:
    """Return one sentence so, None where there is none."""
    return None if note is None else _rounded_notes(core, [note], grain)[0]


def _groups(core: Core, moved: Moved, grain: Grain) -> tuple[GroupFlow, ...]:
    """Return the groups of many people, and those that moves show.

    Parameters
    ----------
    core
        The audit.
    moved
        The moves that are shown, rounded.
    grain
        How coarse.
    """
    space = core.space
    groups = group_flows(moved, space, core.problem.losses)
    group_of = space.sensitive_groups
    ends = np.cumsum(np.bincount(group_of))[:-1]
    people = np.split(space.counts[np.argsort(group_of, kind="stable")], ends)
    sizes = [grain.total(counts) for counts in people]
    return tuple(
        replace(group, people=size or None, risk=None, risk_after=None)
        for group, size in zip(groups, sizes, strict=True)
        if size or _is_touched(group)
    )


def _is_touched(flow: Flow | GroupFlow) -> bool:
    """Say whether a shown move leaves or enters."""
    return flow.out > 0 or flow.into > 0


def _without_rare(table: FlowTable) -> FlowTable:
    """Leave out labels, levels and groups that nobody has and no shown move touches.

    Parameters
    ----------
    table
        Flows of the moves shown; people are those at points of many.
    """
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


def _compared(core: Core, left: FloatArray, at_least: int) -> list[Compared]:
    """Return the group metrics that are made from many people, moves taken off or not.

    Parameters
    ----------
    core
        The audit.
    left
        (K,) who is left at each point when the shown moves are taken off: a reader can do that.
    at_least
        k.
    """
    space = core.space
    everybody = space.counts.astype(np.float64)
    sizes = np.bincount(space.sensitive_groups, everybody)
    if are_few(sizes, at_least).any():
        return []

    def may_be_told(feature: str) -> bool:
        """Whether no cell of a feature's metrics is of few people, nor rounding too coarse."""
        counts = (people_by_answer(core, feature, people) for people in (everybody, left))
        grain = Grain.of_mean(at_least, _fewest_alike(core, feature))
        few = any(are_few(people, at_least).any() for people in counts)
        return not few and grain.step <= COARSEST_METRIC

    return [one for one in compare_groups(core) if may_be_told(one.metrics.feature)]


def _rounded_metrics(core: Core, metrics: GroupComparison, at_least: int) -> GroupComparison:
    """Return metrics that are coarse for the fewest people whom one of them is a share of.

    Parameters
    ----------
    core
        The audit.
    metrics
        By one sensitive feature.
    at_least
        k.
    """
    grain = Grain.of_mean(at_least, _fewest_alike(core, metrics.feature))

    def shorten(value: Any) -> Any:
        """Return a number or a table of them rounded; words as they are."""
        if isinstance(value, dict):
            return {name: shorten(number) for name, number in value.items()}
        return grain.nearest(value) if isinstance(value, float) else value

    kept = ("favourable", "privileged")
    found = {one.name: getattr(metrics, one.name) for one in fields(metrics)}
    return replace(
        metrics, **{name: shorten(value) for name, value in found.items() if name not in kept}
    )


def _fewest_alike(core: Core, feature: str) -> float:
    """Return how many people the smallest level of a feature has for one true label.

    Parameters
    ----------
    core
        The audit, with a label.
    feature
        A sensitive feature.
    """
    space = core.space
    assert space.label is not None  # noqa: S101
    people = np.bincount(space.groups((feature, space.label)), space.counts)
    return float(people[people > 0].min())
