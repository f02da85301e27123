"""What a reader of an audit's numbers should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.similarity.base import Parameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtransport.audit.core import Core
    from fairtransport.space import SampleSpace

FEW = 0.05
"""If no larger share of people has a comparable person, an audit has hardly anything to see."""


def find_warnings(core: Core, shared: int | None = None) -> Iterator[str]:
    """Yield one sentence for each thing that limits what the numbers mean."""
    space = core.space
    if isinstance(core.similarity, Parameters):
        yield from core.similarity.warnings(space)
    if space.has_twins and core.fixed_targets and core.delta is not None and space.open_levels:
        there = "the data" if core.target_scope == "twins" else "the data and in `targets`"
        yield (
            f"Twins take the levels of {', '.join(space.open_levels)} that occur in {there}, and a "
            "certificate covers no others; declare `levels` if there are any."
        )
    if core.target_scope == "reference":
        yield from _reference(core)
    unseen = [name for name in space.sensitive if name not in space.features]
    blind = len(unseen) == len(space.sensitive) and core.similarity.moves_only_to_twins
    if space.has_twins and blind:
        yield (
            f"The model receives no sensitive feature ({', '.join(unseen)}), and people who "
            "differ only in these count as equal: the statistic is 0 by construction."
        )
    if core.disagreement > 0:
        yield (
            "Some profiles have several predictions (the features do not tell these people "
            f"apart): {core.disagreement:.4f} of the statistic comes from that alone, without "
            "any change of a sensitive feature."
        )
    if core.target_scope == "observed":
        twins = " and with their twins" if space.has_twins else ""
        yield (
            f"People are compared only with people in the audit data{twins}, so the statistic "
            "may miss comparisons with others; nothing can be certified from it."
        )
        yield from _lonely(core)
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


def _reference(core: Core) -> Iterator[str]:
    """Say how much of the reference frame could be the audit data themselves."""
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


def _lonely(core: Core) -> Iterator[str]:
    """Say so when hardly anybody has anyone to be compared with, and what sets them apart."""
    space = core.space
    if not core.similarity.moves_only_to_twins:
        return
    exact = getattr(core.similarity, "exact", ())
    matched = [name for name in space.profile if name not in space.sensitive or name in exact]
    enough = FEW * core.n
    people = _accompanied(space, matched)
    if people > enough:
        return
    telling = [
        name for name in matched
        if _accompanied(space, [one for one in matched if one != name]) > enough
    ]  # fmt: skip
    who = f"Only {people} of {core.n} people have" if people else "Nobody has"
    why = f"; without {' or '.join(telling)} more would" if telling else ""
    yield (
        f"{who} anyone to be compared with, that is someone with other sensitive features and the "
        f"same {', '.join(matched) or 'label'}{why}. Name in `features` what should be the same."
    )


def _accompanied(space: SampleSpace, matched: Sequence[str]) -> int:
    """Return how many people have someone who differs from them in sensitive features alone."""
    seen = space.observed
    label = () if space.label is None else (space.label,)
    block = space.groups((*matched, *label))[seen]
    kinds = np.unique(np.column_stack([block, space.groups(space.sensitive)[seen]]), axis=0)
    return int(space.counts[seen][np.bincount(kinds[:, 0])[block] > 1].sum())
