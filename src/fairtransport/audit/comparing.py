"""compare(): several models on one sample, and how sure the differences between them are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from fairtransport.access.boxes import Access, choose_access, described, plain_items
from fairtransport.access.logged import with_log
from fairtransport.access.oracle import Oracle
from fairtransport.access.repeating import refuse_random
from fairtransport.audit.asked import Asked
from fairtransport.audit.comparison import Comparison
from fairtransport.audit.single import count_people, repeated, solve, with_twins
from fairtransport.audit.warnings import find_warnings
from fairtransport.checks import shown, threshold
from fairtransport.errors import InputError
from fairtransport.settings import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairtransport.access.query_log import QueryLog
    from fairtransport.audit.result import AuditResult
    from fairtransport.settings import LossLike, Rng, SimilarityLike
    from fairtransport.space import SampleSpace
    from fairtransport.space.reader import ColumnLike, ColumnsLike, TableLike

FEWEST = 2


def compare(
    X: TableLike,  # noqa: N803
    y: ColumnLike | None = None,
    *,
    models: Mapping[str, object] | None = None,
    y_pred: Mapping[str, str] | None = None,
    y_score: Mapping[str, str | Sequence[str]] | None = None,
    sensitive_features: ColumnsLike,
    tolerance: float = 0.0,
    features: Sequence[str] | None = None,
    counts: str | None = None,
    pos_label: object = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing: str = "error",
    levels: Mapping[str, Sequence[object]] | None = None,
    targets: TableLike | None = None,
    similarity: SimilarityLike = "ignore-sensitive",
    loss: LossLike = "zero-one",
    loss_range: Sequence[float] | None = None,
    budget: float = 0.0,
    alpha: float = 0.05,
    disagreement: str = "rates",
    rng: Rng = None,
    query_log: str | Path | QueryLog | None = None,
    repeats: int | None = None,
) -> Comparison:
    """Compare models for individual bias on one sample of people.

    Each model is audited on the same people, and the difference of what two audits find gets
    bounds of its own: what both models do to a person cancels, so that these are narrower than
    the difference of two intervals. They hold at every sample size.

    Parameters
    ----------
    X
        As in `audit`.
    y
        As in `audit`.
    models
        The models, by names of your own, the one to compare with first. Each is what `audit`
        takes as ``model``, and receives the columns that it was fitted on. Exactly one of
        ``models``, ``y_pred`` and ``y_score`` is given.
    y_pred
        As in `audit`, by model: columns' names. Without models to ask there are no bounds of a
        difference.
    y_score
        As in `audit`, by model: columns' names.
    sensitive_features
        As in `audit`.
    tolerance
        How much more bias than an earlier model a later one may have.
    features
        As in `audit`; default: all columns that some model was fitted on.
    counts
        As in `audit`.
    pos_label
        As in `audit`.
    bins
        As in `audit`.
    missing
        As in `audit`.
    levels
        As in `audit`.
    targets
        As in `audit`.
    similarity
        As in `audit`.
    loss
        As in `audit`.
    loss_range
        As in `audit`.
    budget
        As in `audit`.
    alpha
        As in `audit`. All intervals of a table hold together at level 1 − α.
    disagreement
        As in `audit`.
    rng
        As in `audit`.
    query_log
        As in `audit`; one file for all models.
    repeats
        As in `audit`, of each model. One that gives other answers then is compared with none.

    Returns
    -------
    Comparison
        One audit a model, and the differences between them.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    DataError
        If the data cannot be audited as asked.
    ModelError
        If a model fails or answers something that cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"group": ["a", "b"] * 50, "good": [1, 0, 1, 1] * 25})
    >>> comparison = ft.compare(
    ...     people, "good", sensitive_features=["group"], features=["group"], rng=0,
    ...     models={
    ...         "old": lambda x: (x["group"] == "a").astype(int),
    ...         "new": lambda x: (x["group"] == "c").astype(int),
    ...     },
    ... )
    >>> row = comparison.differences.iloc[0]
    >>> float(row["difference"]), row["verdict"]
    (-0.75, 'better')
    """
    settings = AuditSettings(
        sensitive_features=sensitive_features,
        features=features,
        counts=counts,
        pos_label=pos_label,
        bins=bins,
        missing=missing,
        levels=levels,
        targets=targets,
        similarity=similarity,
        loss=loss,
        loss_range=loss_range,
        budget=budget,
        alpha=alpha,
        disagreement=disagreement,
        rng=rng,
        query_log=query_log,
        repeats=repeats,
    )
    return compare_with(
        settings, X, y, models=models, y_pred=y_pred, y_score=y_score, tolerance=tolerance
    )


def compare_with(
    settings: AuditSettings, X: TableLike, y: ColumnLike | None = None, *,  # noqa: N803
    models: object = None, y_pred: object = None, y_score: object = None, tolerance: float = 0.0,
) -> Comparison:  # fmt: skip
    """Compare models as the settings say; the other arguments are those of `compare`.

    Parameters
    ----------
    settings
        What is asked of every model.
    X, y, models, y_pred, y_score, tolerance
        As in `compare`.

    Notes
    -----
    All audits share one space and one geometry, so that differences of their gains are about the
    same people point by point.
    """
    within = threshold(tolerance, settings.chosen_loss.range, "tolerance")
    accesses = _accesses(settings, {"models": models, "y_pred": y_pred, "y_score": y_score})
    for access in accesses.values():
        refuse_random("models", access.box)
    together = _together(list(accesses.values()))
    space, made = with_twins(settings, count_people(settings, X, y, together), together)
    geometry = cache(settings.chosen_similarity.geometry)

    obstacles: dict[str, str] = {}

    def audited(name: str, access: Access) -> AuditResult:
        """Return the audit of one model on the common points; note what it could not find."""
        oracle = Oracle(access, settings.chosen_loss, settings.pos_label, partial=True)
        # people are told apart by what any of the models said; the oracle reads its own
        seen = space if access.box is not None else _with_predictions(space, access)
        result = solve(settings, seen, oracle, lambda _: geometry(space))
        asked = Asked(repeats=repeated(settings, seen, oracle))
        result = replace(result, asked=asked)
        obstacle = result.applicability or _blind(result, access)
        if obstacle is not None:
            obstacles[name] = obstacle
        result = replace(result, made=made)
        return replace(result, warnings=tuple(find_warnings(result)))

    audits = {name: audited(name, one) for name, one in accesses.items()}
    return Comparison(audits, within, obstacles)


def _accesses(settings: AuditSettings, ways: dict[str, object]) -> dict[str, Access]:
    """Return how the predictions of each model are had.

    Parameters
    ----------
    settings
        The loss and the query log.
    ways
        By parameter: models or predictions by name; exactly one of them is given.

    Raises
    ------
    InputError
        If there is not one way, or fewer than two names.
    """
    given = {name: value for name, value in ways.items() if value is not None}
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none"
        msg = f"exactly one of `models`, `y_pred` and `y_score` must be given, got {got}"
        raise InputError(msg)
    ((parameter, by_name),) = given.items()
    if (
        not isinstance(by_name, Mapping)
        or len(by_name) < FEWEST
        or not all(isinstance(name, str) and name for name in by_name)
    ):
        msg = f"`{parameter}` must map at least two names to models, got {shown(by_name)}"
        raise InputError(msg)
    if parameter != "models":
        for value in by_name.values():
            _check_columns(parameter, value)
    return {
        name: choose_access(
            with_log(value if parameter == "models" else None, settings.query_log),
            value if parameter == "y_pred" else None,
            value if parameter == "y_score" else None,
            settings.chosen_loss,
        )
        for name, value in by_name.items()
    }


def _check_columns(parameter: str, value: object) -> None:
    """Refuse predictions that are not told by columns' names: models share one table."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        msg = f"`{parameter}` must map names of models to columns of the data, got {shown(value)}"
        raise InputError(msg)


def _together(accesses: list[Access]) -> Access:
    """Return the way of access to all models: the columns that any of them asks for or said.

    Parameters
    ----------
    accesses
        Those of the models, all of one kind.
    """
    first = accesses[0]
    if first.box is None:
        said = dict.fromkeys(name for one in accesses for name in _columns(one))
        return replace(first, given=list(said))
    asked = [one.features for one in accesses]
    union = tuple(dict.fromkeys(name for names in asked for name in names or ()))
    known = None if None in asked else union
    return replace(first, box=replace(described(first.box), features=known))


def _columns(access: Access) -> tuple[str, ...]:
    """Return the columns of a model's given predictions."""
    given = access.given
    return (given,) if isinstance(given, str) else tuple(plain_items(given) or ())


def _with_predictions(space: SampleSpace, access: Access) -> SampleSpace:
    """Return the common space as one model's audit reads it: its own predictions."""
    return replace(space, predictions=_columns(access))


def _blind(result: AuditResult, access: Access) -> str | None:
    """Say of a model that receives fewer columns than others if it cannot tell twins apart.

    Parameters
    ----------
    result, access
        Its audit, and its columns.
    """
    known = result.space.features if access.features is None else access.features
    seen = set(result.space.sensitive) & set(known)
    if not result.similarity.moves_only_to_twins or result.target_scope != "twins" or seen:
        return None
    return (
        "The model receives no sensitive feature, and people who differ only in these count as "
        "equal: its statistic is 0 by construction."
    )
