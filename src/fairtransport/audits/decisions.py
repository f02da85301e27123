"""Decisions of an audit: whose answer would change, as counts, table, chart and sentences."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairtransport.data.sample_space import plain_frame
from fairtransport.explain.decisions import (
    DecisionCounts,
    Decisions,
    FeatureDecisions,
    LabelDecisions,
    ShareOfPeople,
    find_decisions,
    rule_of_labels,
    rule_of_numbers,
)
from fairtransport.explain.disclosure import MOVED_BOUND, Rounding
from fairtransport.explain.moves import to_plain_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from altair.typing import ChartType
    from narwhals.typing import IntoDataFrame

    from fairtransport.access.oracle import AnsweredPoints
    from fairtransport.audits.result import AuditResult
    from fairtransport.data.columns import Value
    from fairtransport.explain.decisions import DecisionRule
    from fairtransport.losses import Loss

Part = TypeVar("Part", FeatureDecisions, LabelDecisions)
SHARED_ROUNDINGS = 3
"""Changed, worse off and better off are rounded separately, and together disclose as much as one
number with a step finer by this factor."""

FREE = 1e-12
"""Squared distances up to this are rounding errors of 0."""


@dataclass(frozen=True, kw_only=True)
class AuditDecisions(Decisions):
    """Whose decision would change if only their recorded sensitive features were different.

    It has the fields of the document's block ``decisions``; ``str`` describes it in sentences.

    Examples
    --------
    Women need a better grade than men for the same answer.

    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 200, "grade": [1, 1, 2, 2, 3, 3, 4, 4] * 50})
    >>> people["good"] = (people["grade"] > 2).astype(int)
    >>> def hires(x):
    ...     return (x["grade"] > 2 + (x["sex"] == "f")).astype(int)
    >>> decisions = ft.audit(people, "good", model=hires, sensitive_features="sex",
    ...                      favourable=1, rng=0).decisions
    >>> print(decisions)
    100 of 400 people (25 %; with 95 % confidence 20.8–29.6 %) would get another decision if only
    their recorded sex were different.
    50 are worse off as recorded: they get “0”, and would then get “1” (f: 50 of 200)
    50 are better off as recorded: they get “1”, and would then get “0” (m: 50 of 200)
    The decision is wrong for 50 of the 50 who are worse off: they have the true label “1” (50 f).
    >>> decisions.table()
      sex  people  changed  worse_off  better_off
    0   f     200       50         50           0
    1   m     200       50          0          50
    >>> decisions.people()[["sex", "grade", "people", "effect", "changes"]]
      sex  grade  people      effect  changes
    0   f      3      50   worse off  sex = m
    1   m      3      50  better off  sex = f
    """

    library: str

    def table(self) -> IntoDataFrame:
        """Return the counts by sensitive group, in the library of the audit data."""
        names = list(dict.fromkeys(name for row in self.by_group for name in row.group))
        rows = [row for row in self.by_group if len(row.group) == len(names)]
        columns: dict[str, list[Value]] = {
            name: [row.group[name] for row in rows] for name in names
        }
        for count in ("people", "changed", "worse_off", "better_off"):
            columns[count] = [getattr(row, count) for row in rows]
        return plain_frame(columns, self.library)

    def people(self) -> IntoDataFrame:
        """Return the people affected: each profile, its decision, and what would have to change."""
        columns: dict[str, list[Any]] = {
            name: [case.profile[name] for case in self.cases]
            for name in (self.cases[0].profile if self.cases else ())
        }
        for name in ("people", "decision", "alternative", "effect", "is_observed"):
            columns[name] = [getattr(case, name) for case in self.cases]
        columns["changes"] = [
            ", ".join(f"{name} = {value}" for name, value in case.changes.items())
            for case in self.cases
        ]
        return plain_frame(columns, self.library)

    def plot(self) -> ChartType:
        """Return a chart with one bar per direction and the number of people."""
        from fairtransport.report.charts.intervals import decisions_chart
        from fairtransport.report.charts.style import offline

        return offline(decisions_chart(self))

    def __str__(self) -> str:
        from fairtransport.report.sections.decisions import decision_lines

        return "\n".join(decision_lines(self))


def find_missing_reason(result: AuditResult) -> str | None:
    """Return why there are no decisions to compare, in a sentence; None if there are."""
    record = result.query_record
    if result.space.predictions:
        return (
            "Without the model, it is not known what people would get with other sensitive values."
        )
    if record.draws is not None or record.answers_at_random:
        return "The model answers at random, so one answer does not show what a person gets."
    if record.people is not None:
        return "The audit stopped early, so not everybody's answer is known."
    if _lacks_counterparts(result):
        return "No column was shown to depend on a sensitive feature: nobody has a counterpart."
    if not _has_free_twins(result):
        return (
            "The similarity does not compare people with copies of themselves that differ only in "
            "sensitive features."
        )
    return None


def _lacks_counterparts(result: AuditResult) -> bool:
    """Return whether counterparts were sought, and none was found."""
    return result.space.family is not None and not result.space.alternatives.any()


def _has_free_twins(result: AuditResult) -> bool:
    """Return whether all twins are in the space and swaps with them are free."""
    space = result.space
    if not space.has_twins:
        return False
    families = space.families
    first = np.unique(families, return_index=True)[1][families].astype(np.int64)
    points = np.arange(space.size)
    return bool((result.problem.costs_of(points, first) <= FREE).all())


def find_audit_decisions(result: AuditResult, max_cases: int) -> Decisions | None:
    """Return whose decision would change; None if that is not known."""
    if find_missing_reason(result) is not None:
        return None
    rule = rule_of_answers(result.answers, result.loss, result.settings.favourable_order)
    return find_decisions(result.space, rule, result.alpha, max_cases, seed=result.seed)


def rule_of_answers(answers: AnsweredPoints, loss: Loss, order: Sequence[Any]) -> DecisionRule:
    """Return the meaning of the answers: labels, scores of a label, or numbers."""
    predictions = answers.predictions
    if answers.labels is not None:
        return rule_of_labels(answers.labels, order)
    if predictions.ndim > 1:
        classes = [to_plain_value(label) for label in answers.classes]
        at = classes.index(order[-1]) if order and order[-1] in classes else len(classes) - 1
        return rule_of_numbers(np.asarray(predictions[:, at], np.float64), classes[at])
    if loss.needs in ("score", "value") or predictions.dtype.kind == "f":
        return rule_of_numbers(np.asarray(predictions, np.float64))
    return rule_of_labels(predictions, order)


def redact_decisions(
    decisions: Decisions | None, at_least: int, *, has_small: bool
) -> Decisions | None:  # fmt: skip
    """Return the decisions with rounded numbers of people, without single profiles and scores.

    If some people are at points of few people, only the three shares remain, more coarsely.
    """
    if decisions is None:
        return None
    rounding = Rounding.of_mean(SHARED_ROUNDINGS * at_least if has_small else at_least, decisions.n)
    room = 0.0 if has_small else MOVED_BOUND * at_least / decisions.n

    def round_people(number: float) -> float:
        """Return a number of people, rounded."""
        return float(rounding.people(number))

    def round_share(count: ShareOfPeople) -> ShareOfPeople:
        """Return a share whose three numbers are rounded, the interval outwards."""
        share = rounding.nearest(count.share)
        if not has_small:  # only then do they add up with those of groups
            share = round_people(count.people) / decisions.n
        lower, upper = rounding.down(count.lower - room), rounding.up(count.upper + room)
        return replace(
            count, share=share, people=round(share * decisions.n), lower=max(0.0, lower or 0.0),
            upper=min(1.0, 1.0 if upper is None else upper),
        )  # fmt: skip

    def round_counts(count: DecisionCounts) -> DecisionCounts:
        """Return the counts of a group, rounded."""
        return replace(
            count, people=round_people(count.people), changed=round_people(count.changed),
            worse_off=None if count.worse_off is None else round_people(count.worse_off),
            better_off=None if count.better_off is None else round_people(count.better_off),
        )  # fmt: skip

    def round_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
        """Return the counts of features or labels, in total and by group."""
        return tuple(
            replace(one, total=round_counts(one.total), groups=tuple(map(round_counts, one.groups)))
            for one in parts
        )

    worse_off, better_off = (
        None if count is None else round_share(count)
        for count in (decisions.worse_off, decisions.better_off)
    )
    shares = Decisions(
        favourable=decisions.favourable, n=decisions.n, alternatives=decisions.alternatives,
        random_share=None, changed=round_share(decisions.changed), worse_off=worse_off,
        better_off=better_off,
    )  # fmt: skip
    if has_small:
        return shares
    together = decisions.only_together
    return replace(
        shares, by_feature=round_parts(decisions.by_feature),
        only_together=None if together is None else round_counts(together),
        by_group=tuple(map(round_counts, decisions.by_group)),
        by_label=round_parts(decisions.by_label),
        changes=tuple(
            replace(one, count=round_share(one.count)) for one in decisions.changes
        ),
    )  # fmt: skip


def as_audit_decisions(decisions: Decisions, library: str) -> AuditDecisions:
    """Return the block of a document with the methods for users."""
    values = {one.name: getattr(decisions, one.name) for one in fields(Decisions)}
    return AuditDecisions(**values, library=library)
