"""What a reader of an audit's numbers should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.similarity.base import Parameters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fairtransport.audit.result import AuditResult


def find_warnings(
    result: AuditResult, declared: Collection[str], shared: int | None = None
) -> Iterator[str]:
    """Yield one sentence for each thing that limits what the numbers mean."""
    space = result.space
    if isinstance(result.similarity, Parameters):
        yield from result.similarity.warnings(space)
    open_ended = [name for name in space.sensitive if name not in declared]
    if result.target_scope == "twins" and result.delta is not None and open_ended:
        yield (
            f"Twins take the levels of {', '.join(open_ended)} that occur in the data, and a "
            "certificate covers no others; declare `levels` if there are any."
        )
    unseen = [name for name in space.sensitive if name not in space.features]
    blind = len(unseen) == len(space.sensitive) and result.similarity.moves_only_to_twins
    if space.has_twins and blind:
        yield (
            f"The model receives no sensitive feature ({', '.join(unseen)}), and people who "
            "differ only in these count as equal: the statistic is 0 by construction."
        )
    if result.disagreement > 0:
        yield (
            f"One profile has different predictions: {result.disagreement:.4f} of the statistic "
            "comes from that alone, without any change of a sensitive feature."
        )
    if result.target_scope == "observed":
        yield (
            "People are compared only with people in the audit data, so the statistic may miss "
            "comparisons with others; nothing can be certified from it."
        )
    if shared:
        yield (
            f"{shared} of {result.n} people have the same columns as someone in the training data. "
            "The guarantees hold only if they are other people."
        )
