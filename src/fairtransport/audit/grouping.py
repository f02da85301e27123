"""Group metrics of an audit's people, one comparison for each sensitive feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.localise import GroupMetrics, group_metrics
from fairtransport.localise.profiles import plain
from fairtransport.summary import GroupComparison

if TYPE_CHECKING:
    from fairtransport.audit.result import AuditResult


def compare_groups(result: AuditResult, at_least: int | None = None) -> tuple[GroupComparison, ...]:
    """Return the metrics by each sensitive feature; none where predictions are no labels.

    With ``at_least``, a feature some of whose groups have fewer people with some label and
    some prediction shows no numbers.
    """
    space = result.space
    if result.loss.needs != "label" or space.label is None:
        return ()
    rows = np.flatnonzero(space.observed)
    truth, said = space.values(space.label)[rows], result.answers.predictions[rows]
    counts = space.counts[rows]
    found = []
    for name in space.sensitive:
        group = space.columns[name].take(rows)
        privileged = result.privileged.get(name)
        metrics = group_metrics(
            truth, said, group.to_list(), counts, privileged=privileged,
            favourable=None if privileged is None else result.favourable,
        )  # fmt: skip
        cells = zip(truth.tolist(), said.tolist(), group.codes.tolist(), strict=True)
        hidden = at_least is not None and _smallest(list(cells), counts.tolist()) < at_least
        found.append(_comparison(result, name, metrics, hidden=hidden))
    return tuple(found)


def _smallest(cells: list[tuple[object, ...]], counts: list[int]) -> int:
    people: dict[tuple[object, ...], int] = {}
    for cell, count in zip(cells, counts, strict=True):
        people[cell] = people.get(cell, 0) + count
    return min(people.values())


def _comparison(
    result: AuditResult, feature: str, metrics: GroupMetrics, *, hidden: bool
) -> GroupComparison:
    privileged = result.privileged.get(feature)
    by_group = {str(plain(name)): share for name, share in metrics.accuracy_by_group.items()}
    numbers = (
        metrics.statistical_parity_difference,
        metrics.equal_opportunity_difference,
        metrics.average_odds_difference,
        metrics.demographic_parity_difference,
        metrics.equalized_odds_difference,
    )
    return GroupComparison(
        feature,
        None if privileged is None else plain(result.favourable),
        plain(privileged),
        metrics.accuracy,
        dict.fromkeys(by_group) if hidden else by_group,
        *((None,) * len(numbers) if hidden else numbers),
    )
