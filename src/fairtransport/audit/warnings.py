"""What a reader of an audit's numbers should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.audit.rates import is_bounded_by_rates
from fairtransport.checks import shown
from fairtransport.similarity.base import Parameters, is_numeric
from fairtransport.summary import WHY_STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairtransport.audit.core import Core

MANY_GROUPS = 20
"""Values of a numeric sensitive feature from which on groups of them say more."""


def find_warnings(core: Core, shared: int | None = None) -> Iterator[str]:
    """Yield one sentence for each thing that limits what the numbers mean.

    Parameters
    ----------
    core
        The audit.
    shared
        How many people could be in the model's training data, where that is known.
    """
    space = core.space
    yield from core.answers.notes
    if isinstance(core.similarity, Parameters):
        yield from core.similarity.warnings(space)
    seen = space.made_up is None or set(space.sensitive) & set(space.features)
    open_levels = space.has_twins and seen and bool(space.open_levels)
    if open_levels and core.fixed_targets and core.delta is not None:
        there = "the data" if core.target_scope == "twins" else "the data and in `targets`"
        yield (
            f"Twins take the levels of {', '.join(space.open_levels)} that occur in {there}, and a "
            "certificate covers no others; declare `levels` if there are any."
        )
    if core.target_scope == "reference":
        yield from _reference(core)
    if core.target_scope == "twins" and space.targets is not None:
        yield (
            "`targets` is not used: under this similarity people are compared with their twins "
            "alone, who differ from them in sensitive features."
        )
    yield from _one_level(core)
    for name in space.sensitive:
        many = len(space.columns[name].levels)
        if many > MANY_GROUPS and is_numeric(space.columns[name].levels):
            yield (
                f"The sensitive feature {name} has {many} values, each of which is a group of its "
                f"own; `bins[{name!r}]` makes fewer groups of them."
            )
    yield from _answers(core)
    yield from _bracket(core)
    yield from _made_up(core)
    if core.target_scope == "observed":
        twins = " and with their twins" if space.has_twins else ""
        yield (
            f"People are compared only with people in the audit data{twins}, so the statistic "
            "may miss comparisons with others; nothing can be certified from it."
        )
    yield from _asking(core)
    if core.problem.budget > 0 and core.similarity.moves_only_to_twins:
        yield (
            f"The `budget` of {core.problem.budget:g} buys nothing: between people who differ "
            "only in sensitive features moves are free, and there are no others."
        )
    if shared:
        yield (
            f"{shared} of {core.n} people have the same columns as someone in the training data. "
            "The guarantees hold only if they are other people."
        )


def _one_level(core: Core) -> Iterator[str]:
    """Say of which sensitive features an audit says nothing, as everybody has the same level.

    Parameters
    ----------
    core
        The audit. Where that is so of all of them it is not applicable.
    """
    columns = {name: core.space.columns[name] for name in core.space.sensitive}
    same = [name for name, column in columns.items() if len(np.unique(column.codes)) == 1]
    if len(same) == len(columns):
        return
    for name in same:
        yield (
            f"Everybody has the {name} {shown(columns[name].at(0))}: no swap changes it, and "
            f"nothing is said of {name}. Declare its other `levels`, if a model can be asked."
        )


def _bracket(core: Core) -> Iterator[str]:
    """Say what a search that was limited leaves open."""
    if core.bracket is None:
        return
    yield (
        "The search for the statistic was limited: the figure given is its lower value, which the "
        "swaps that were found add; the true one may be larger, up to the bracket's upper value. "
        "Bounds, p-values and verdict hold for the true one. Whether other swaps are as bad, or "
        "worse, and how the statistic depends on the budget, was not searched for; with sensitive "
        "features held fixed its upper value is given."
    )


def _asking(core: Core) -> Iterator[str]:
    """Say what the way of asking does to the numbers.

    Parameters
    ----------
    core
        The audit.
    """
    asked = core.asked
    if (most := asked.differ_at_most(core.alpha)) is not None:
        differed = asked.repeats.differed or "none"
        yield (
            f"Of {asked.repeats.asked} questions that were asked a second time, {differed} got "
            f"another answer; of all questions at most {100 * most:.3g} % would "
            f"({100 * (1 - core.alpha):g} % confidence)."
        )
    if asked.stopped is not None:
        yield (
            f"The asking stopped after {core.n} of {asked.people} people and {core.queried} "
            f"questions, when {WHY_STOPPED[asked.stopped]}."
        )


def _answers(core: Core) -> Iterator[str]:
    """Say what answers that differ inside a profile do to the statistic and to its bounds.

    Parameters
    ----------
    core
        The audit.
    """
    rated = is_bounded_by_rates(core)
    if core.answers_differ:
        description = (
            " The statistic describes these people and is no evidence: bounds, p-values and "
            "verdict are about the rates R, which lie below it."
        )
        yield (
            "Some profiles have several predictions (the features do not tell these people "
            f"apart): {core.disagreement:.4f} of the statistic comes from that alone, without "
            f"any change of a sensitive feature.{description if rated else ''}"
        )
    elif rated:
        yield (
            "No profile has several predictions here, but others could: the bounds are those of "
            "the rates R, which lie below the statistic. If the system is a function of these "
            'columns, set `disagreement` to "bias" for narrower ones.'
        )


def _made_up(core: Core) -> Iterator[str]:
    """Say whom verdicts are about where twins were made up.

    Parameters
    ----------
    core
        The audit.
    """
    made = core.space.made_up
    if made is None:
        return
    yield (
        "People are compared with twins that were made up for them. Bounds and verdict are about "
        "these twins and hold for no others."
    )
    if made.from_the_sample:
        yield (
            "The twins were made to look like the people of the audit data, on whom, or mostly on "
            "whom, the similarity was fitted. Which twins there are then depends on the sample, so "
            "there is no upper bound and nothing can be certified. Fit it on other people."
        )


def _reference(core: Core) -> Iterator[str]:
    """Say how much of the reference frame could be the audit data themselves.

    Parameters
    ----------
    core
        The audit.
    """
    reference = core.space.reference
    if reference is None or not reference.shared:
        return
    same = f"{reference.shared} of the {reference.rows} rows of `targets` "
    same += "looks" if reference.shared == 1 else "look"
    if core.fixed_targets:
        yield (
            f"{same} the same as someone in the audit data. The upper bound holds only if "
            "`targets` was chosen without looking at them."
        )
    else:
        yield (
            f"{same} the same as someone in the audit data, as if `targets` was taken from them. "
            "Whom people are compared with then depends on the sample, so there is no upper bound "
            "and nothing can be certified. Name people who were chosen without the audit data."
        )
