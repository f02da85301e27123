"""A result's document for strangers: nothing in it tells of fewer people than agreed."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.audit.grouping import compare_groups, people_by_answer
from fairtransport.audit.summarise import MOST_MOVES, flow_tables, listed_moves, omissions
from fairtransport.localise import (
    are_few,
    group_flows,
    hide_small_moves,
    most_affected,
    telling_targets,
    too_small,
)
from fairtransport.summary import GroupComparison, Limits

if TYPE_CHECKING:
    from collections.abc import Hashable

    from fairtransport.audit.grouping import Compared
    from fairtransport.audit.result import AuditResult
    from fairtransport.checks import FloatArray
    from fairtransport.localise import Moved
    from fairtransport.summary import AuditSummary, Flow, FlowTable, GroupFlow

METRIC_DIGITS = 2
OF_THE_MOVES_SHOWN = "Flows, affected profiles and groups are those of the moves that are shown."


def shared_summary(result: AuditResult, at_least: int) -> AuditSummary:
    """Return what a result may tell strangers: no cell of fewer than ``at_least`` people.

    Notes
    -----
    All tables of swaps are made from the moves that are shown, so that they tell no more.
    What is exact and comes from everybody (the budget curve, the statistic without a feature,
    the law of the draws) is left out, for differences of exact numbers are counts.
    """
    whole, space = result.summary, result.space
    telling = telling_targets(space, at_least, observed=result.target_scope == "observed")
    moved, gone = hide_small_moves(result.moved, at_least, telling)
    left = space.counts.astype(np.float64)
    np.subtract.at(left, moved.sources, moved.people)
    groups = _groups(result, moved, left, at_least)
    compared = _compared(result, left, at_least, all_told=_are_all_told(groups, space.n))
    return replace(
        whole,
        price=_one_digit(whole.price),
        price_interval=Limits(None, None),
        moves=listed_moves(result, moved),
        flows=tuple(
            _without_rare(table, at_least) for table in flow_tables(result, moved, fixed=False)
        ),
        most_affected=tuple(
            replace(one, people=None) for one in most_affected(moved, space)[:MOST_MOVES]
        ),
        groups=groups,
        group_metrics=tuple(_rounded(one.metrics) for one in compared),
        worst_pair=None,  # two people, each of them one of few
        budget_curve=whole.budget_curve if len(whole.budget_curve) == 1 else (),
        without_feature=(),
        law=None,
        warnings=(
            OF_THE_MOVES_SHOWN,
            *result.warnings,
            *result.law.notes,
            *(note for one in compared for note in one.notes),
            *omissions(result, moved),
        ),
        suppression=gone,
        provenance=replace(
            whole.provenance, seed=None, data_sha256=None, similarity_record=None
        ),
    )  # fmt: skip


def _one_digit(number: float) -> float:
    return float(f"{number:.0e}") if math.isfinite(number) else number


def _groups(
    result: AuditResult, moved: Moved, left: FloatArray, at_least: int
) -> tuple[GroupFlow, ...]:
    """Return the groups of many people, and those that moves show; ``left`` are not shown."""
    groups = group_flows(moved, result.space, result.problem.losses)
    people = np.array([group.people for group in groups])
    rest = np.bincount(result.space.groups(result.space.sensitive), left).astype(np.float64)
    hidden = too_small(people, at_least, rest=rest) | (people < at_least)
    return tuple(
        replace(group, people=None if unsaid else group.people, risk=None, risk_after=None)
        for group, unsaid, size in zip(groups, hidden, people, strict=True)
        if size >= at_least or _is_touched(group)
    )


def _are_all_told(groups: tuple[GroupFlow, ...], n: int) -> bool:
    return math.isclose(sum(group.people or 0.0 for group in groups), n)


def _is_touched(flow: Flow | GroupFlow) -> bool:
    return flow.out > 0 or flow.into > 0


def _without_rare(table: FlowTable, at_least: int) -> FlowTable:
    """Leave out labels, levels and groups that few people have and no shown move touches."""
    keys = [(cell.label, cell.level, tuple(cell.group.values())) for cell in table.cells]
    people: defaultdict[tuple[int, Hashable], float] = defaultdict(float)
    for key, cell in zip(keys, table.cells, strict=True):
        for part in enumerate(key):
            people[part] += math.inf if _is_touched(cell) else cell.people or 0.0
    cells = (
        replace(cell, people=None)
        for key, cell in zip(keys, table.cells, strict=True)
        if all(people[part] >= at_least for part in enumerate(key))
    )
    return replace(table, cells=tuple(cells))


def _compared(
    result: AuditResult, left: FloatArray, at_least: int, *, all_told: bool
) -> list[Compared]:
    """Return the group metrics that are made from many people, moves taken off or not."""
    everybody = result.space.counts.astype(np.float64)

    def may_be_told(feature: str) -> bool:
        counts = (people_by_answer(result, feature, people) for people in (everybody, left))
        return not any(are_few(people, at_least).any() for people in counts)

    return [one for one in compare_groups(result) if all_told and may_be_told(one.metrics.feature)]


def _rounded(metrics: GroupComparison) -> GroupComparison:
    def shorten(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: shorten(number) for name, number in value.items()}
        return round(value, METRIC_DIGITS) if isinstance(value, float) else value

    kept = ("favourable", "privileged")
    return replace(
        metrics,
        **{
            field.name: shorten(getattr(metrics, field.name))
            for field in fields(metrics)
            if field.name not in kept
        },
    )
