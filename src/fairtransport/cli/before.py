"""What can be found wrong before a model is read, which may take long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtransport.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from fairtransport.cli.flags import Answers, Cases, Columns, Comparison


def check_before(
    data: Path | None, cases: Cases, answers: Answers, comparison: Comparison, *,
    delta: float | None, alpha: float, below: float = 1.0,
) -> None:  # fmt: skip
    """Refuse what needs no model to be seen: the file of cases, numbers, several sources.

    ``below`` is the limit of α.
    """
    from fairtransport.access.boxes import choose_access
    from fairtransport.checks import number, threshold
    from fairtransport.losses import as_loss
    from fairtransport.space.file_source import FileSource

    if data is not None:
        FileSource(data)
    loss = as_loss(comparison.loss, comparison.limits)
    # any callable stands for the model
    choose_access(None if answers.model is None else len, answers.prediction, answers.score, loss)
    if not cases.sensitive:
        msg = "`sensitive_features` must name at least one column, got none"
        raise InputError(msg)
    if loss.uses_truth and cases.label is None:
        msg = f"`y` must be given for the loss {loss.name!r}, got None"
        raise InputError(msg)
    number("alpha", alpha, above=0, below=below)
    number("budget", comparison.budget, at_least=0)
    if delta is not None:
        threshold(delta, loss.range)


def columns_of(
    data: Path, cases: Cases, answers: Answers, model: Any, counts: str | None = None
) -> Columns:
    """Return how to find the columns that a similarity is about, as the audit will choose them."""

    def find() -> dict[str, Any]:
        from fairtransport.space.file_source import FileSource

        sensitive = list(cases.sensitive or ())
        chosen: Collection[str] | None = cases.features or getattr(model, "features", None)
        if chosen is None:
            taken = {cases.label, counts, answers.prediction, *(answers.score or ())}
            chosen = [name for name in FileSource(data).columns if name not in taken]
        others = [name for name in chosen if name not in sensitive]
        return {"sensitive_features": sensitive, "features": others}

    return find
