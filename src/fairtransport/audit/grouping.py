"""Group metrics of an audit's people, one comparison for each sensitive feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtransport.localise import GroupMetrics, group_metrics
from fairtransport.localise.profiles import plain
from fairtransport.space.row_numbers import row_numbers
from fairtransport.summary import GroupComparison

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairtransport.audit.core import Core
    from fairtransport.checks import BoolArray, FloatArray
    from fairtransport.space.columns import Value

MOST_METRICS = 200
"""Group metrics by a feature with more levels are in no document."""


class Compared(NamedTuple):
    """The metrics by one sensitive feature, and a sentence for each that is undefined.

    Attributes
    ----------
    metrics
        As a document has them.
    notes
        The sentences.
    """

    metrics: GroupComparison
    notes: tuple[str, ...]


def compare_groups(core: Core) -> tuple[Compared, ...]:
    """Return the metrics by each sensitive feature; none where predictions are no labels.

    Nor are there any of random answers: each question has several.

    Parameters
    ----------
    core
        The audit; only people in the data count, no twins.
    """
    space = core.space
    if core.loss.needs != "label" or space.label is None or core.asked.draws is not None:
        return ()
    rows = np.flatnonzero(space.observed)
    truth, said = space.values(space.label)[rows], core.answers.predictions[rows]
    found = []
    skipped = unmeasured(core)
    for name in space.sensitive:
        if name in skipped:
            continue
        privileged = core.privileged.get(name)
        metrics = group_metrics(
            truth, said, space.columns[name].take(rows).to_list(), space.counts[rows],
            privileged=privileged, favourable=None if privileged is None else core.favourable,
        )  # fmt: skip
        notes = tuple(f"Group metrics by {name}: {note}" for note in metrics.notes)
        found.append(Compared(_comparison(core, name, metrics), notes))
    return tuple(found)


def favoured(core: Core) -> BoolArray | None:
    """Return of each point whether it gets the favourable label; None where there is none.

    Parameters
    ----------
    core
        The audit.
    """
    if core.favourable is None or core.loss.needs != "label":
        return None
    return np.asarray(core.answers.predictions == core.favourable, dtype=bool)


def unmeasured(core: Core) -> list[str]:
    """Return the sensitive features that have too many levels for group metrics.

    Parameters
    ----------
    core
        The audit.
    """
    if core.loss.needs != "label" or core.space.label is None:
        return []
    columns = core.space.columns
    return [name for name in core.space.sensitive if len(columns[name].levels) > MOST_METRICS]


def people_by_answer(core: Core, feature: str, people: FloatArray) -> FloatArray:
    """Add up people at points by a feature's level, true label and prediction.

    Parameters
    ----------
    core
        The audit, with a label.
    feature
        A sensitive feature.
    people
        (K,) how many at each point.
    """
    space = core.space
    assert space.label is not None  # noqa: S101
    _, said = np.unique(core.answers.predictions.astype(str), return_inverse=True)
    codes = [space.columns[name].codes for name in (feature, space.label)]
    return np.asarray(np.bincount(row_numbers([*codes, said.reshape(-1)]), people))


def _comparison(core: Core, feature: str, metrics: GroupMetrics) -> GroupComparison:
    """Return metrics as a document has them.

    Parameters
    ----------
    core
        The audit, which knows the favourable label and the privileged group.
    feature, metrics
        The sensitive feature, and the metrics by it.
    """
    privileged = core.privileged.get(feature)
    return GroupComparison(
        feature,
        None if privileged is None else plain(core.favourable),
        plain(privileged),
        metrics.accuracy,
        named(metrics.accuracy_by_group),
        metrics.statistical_parity_difference,
        metrics.equal_opportunity_difference,
        metrics.average_odds_difference,
        metrics.demographic_parity_difference,
        metrics.equalized_odds_difference,
    )


def named(by_level: Mapping[Value, float | None]) -> dict[str, float | None]:
    """Return numbers by the levels' names, of which no two are the same.

    Parameters
    ----------
    by_level
        Levels of any type; None is a missing one.

    Examples
    --------
    >>> named({1: 0.5, "1": 0.6, "missing": 0.7, None: 0.8})
    {'1': 0.5, '1 (2)': 0.6, 'missing': 0.7, 'missing (2)': 0.8}
    """
    found: dict[str, float | None] = {}
    for level, number in by_level.items():
        name = first = "missing" if level is None else str(plain(level))
        copies = 1
        while name in found:
            copies += 1
            name = f"{first} ({copies})"
        found[name] = number
    return found
