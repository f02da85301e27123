"""What a monitor was told, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Required, TypedDict

from fairtransport.access.boxes import Access, choose_access
from fairtransport.access.labels import all_classes, positive_label, refuse_unlike
from fairtransport.access.logged import with_log
from fairtransport.access.repeating import refuse_random
from fairtransport.access.truth import outcome_range
from fairtransport.checks import one_of, shape_of, shown, threshold
from fairtransport.errors import DataError, InputError
from fairtransport.settings import AuditSettings, LossLike, SimilarityLike, checked
from fairtransport.space.binning import Bins, bin_names, check_bins
from fairtransport.space.columns import plain_list, sorted_levels
from fairtransport.space.roles import refuse_taken
from fairtransport.space.single_values import plain_values
from fairtransport.space.twins import check_declared, check_twins

if TYPE_CHECKING:
    from pathlib import Path

    from fairtransport.access import BlackBox
    from fairtransport.access.query_log import QueryLog
    from fairtransport.losses import Loss
    from fairtransport.similarity import Similarity
    from fairtransport.space.columns import Value
    from fairtransport.space.reader import TableLike


class Words(TypedDict, total=False):
    """What a monitor is told that a state file can keep, whatever it is."""

    y: str | None
    y_pred: str | None
    y_score: str | Sequence[str] | None
    sensitive_features: Required[str | Sequence[str]]
    features: Sequence[str] | None
    labels: Sequence[Value] | None
    pos_label: Value
    bins: Mapping[str, Sequence[float]] | None
    missing: str
    levels: Mapping[str, Sequence[Value]] | None
    loss_range: Sequence[float] | None
    budget: float
    delta: Required[float]
    alpha: float
    disagreement: str


class Plain(Words):
    """What a state file keeps: a similarity or loss that is no name has to be given again."""

    similarity: str | None
    loss: str | None


class Told(Words, total=False):
    """What a monitor is told, as the arguments of `Monitor`."""

    model: object
    targets: TableLike | None
    similarity: SimilarityLike
    loss: LossLike
    query_log: str | Path | QueryLog | None


@dataclass(frozen=True, eq=False)
class Settings:
    """The checked settings of a monitor.

    ``plain`` holds those that a state file can keep, as they were given. ``features`` is None
    until the first records tell.

    Attributes
    ----------
    plain
        Words and numbers, for the state file.
    loss, similarity, access
        What they name, made.
    targets
        A reference frame or None.
    label, predictions, sensitive, features
        Columns by their parts.
    classes, pos_label
        Labels that are known beforehand, and the positive one.
    bins, missing, levels
        How values become levels; twins take the declared ones.
    most_gain
        The width of the loss's range, known before any record.
    budget, delta, alpha, disagreement
        As in `audit`.
    """

    plain: Plain
    loss: Loss
    similarity: Similarity
    access: Access
    targets: TableLike | None
    label: str | None
    predictions: tuple[str, ...]
    sensitive: tuple[str, ...]
    features: tuple[str, ...] | None
    classes: list[Value] | None
    pos_label: Value
    bins: Bins
    missing: str
    levels: dict[str, list[Value]]
    most_gain: float
    budget: float
    delta: float
    alpha: float
    disagreement: str

    @property
    def box(self) -> BlackBox | None:
        """The model that is asked; None where predictions are given."""
        return self.access.box

    @property
    def named_labels(self) -> bool:
        """Whether the user listed the labels that can occur."""
        return self.plain["labels"] is not None

    @property
    def target_scope(self) -> str:
        """Where mass may go: "twins", "reference" or "observed"."""
        if self.box is not None and self.similarity.moves_only_to_twins:
            return "twins"
        return "observed" if self.targets is None else "reference"

    @property
    def fixed_targets(self) -> bool:
        """Whether targets do not depend on the stream, as certificates need."""
        return self.target_scope != "observed"


def check_settings(told: Told) -> Settings:
    """Return the settings of a monitor, or say which one breaks its rule.

    Parameters
    ----------
    told
        All arguments of `Monitor`.

    Raises
    ------
    InputError
        Before any record comes: what is wrong, the rule, and what was given.
    """
    sensitive = _names("sensitive_features", told["sensitive_features"])
    asked = AuditSettings(
        sensitive_features=sensitive, similarity=told["similarity"], loss=told["loss"],
        loss_range=told["loss_range"], budget=told["budget"], alpha=told["alpha"],
        missing=told["missing"], disagreement=told["disagreement"],
    )  # fmt: skip
    y, features, bins, levels = told["y"], told["features"], told["bins"], told["levels"]
    labels, pos_label, targets = told["labels"], told["pos_label"], told["targets"]
    chosen, likeness = asked.chosen_loss, asked.chosen_similarity
    model = with_log(told["model"], checked("query_log", told["query_log"]))
    access = choose_access(model, told["y_pred"], told["y_score"], chosen)
    refuse_random("model", access.box)
    if chosen.uses_truth and y is None:
        msg = f"`y` must be given for the loss {chosen.name!r}, got None"
        raise InputError(msg)
    label = None if y is None else _names("y", y)[0]
    predictions = () if access.box else _names(access.parameter, access.given)
    if len(predictions) > 1 and chosen.needs != "score":
        msg = (
            f"`{access.parameter}` must be one column for the loss {chosen.name!r}, "
            f"got {len(predictions)}"
        )
        raise InputError(msg)
    if label in predictions:
        msg = f"`{access.parameter}` must not be the column of the true labels, got {label!r}"
        raise InputError(msg)
    refuse_taken("sensitive_features", sensitive, {label, *predictions})
    named = access.features if features is None else _names("features", features)
    edges = check_bins(bins, (*(named or ()), *sensitive) if named else list(bins or ()))
    listed = None if labels is None else _listed("labels", labels)
    classes = _classes(listed, access, chosen)
    _check_positive(pos_label, classes, access, chosen)
    low, high = _range(chosen, access, pos_label)
    if targets is not None and access.box is not None and likeness.moves_only_to_twins:
        msg = "`targets` must be left out with `model` where people move only to their twins"
        raise InputError(msg)
    if targets is not None and edges:
        msg = "`bins` must be left out with `targets` in a monitor: pass both already binned"
        raise InputError(msg)
    delta = threshold(told["delta"], (low, high))
    declared = _levels(levels, sensitive, edges, has_model=access.box is not None)
    plain: Plain = {
        "y": label, "y_pred": told["y_pred"], "y_score": told["y_score"],
        "sensitive_features": list(sensitive),
        "features": None if features is None else list(named or ()),
        "labels": listed, "pos_label": pos_label,
        "bins": {name: list(cuts) for name, cuts in edges.items()} or None,
        "missing": asked.missing,
        "levels": {name: declared[name] for name in levels} if levels else None,
        "similarity": asked.similarity if isinstance(asked.similarity, str) else None,
        "loss": asked.loss if isinstance(asked.loss, str) else None,
        "loss_range": None if asked.loss_range is None else [float(x) for x in asked.loss_range],
        "budget": asked.budget, "delta": delta, "alpha": asked.alpha,
        "disagreement": asked.disagreement,
    }  # fmt: skip
    return Settings(
        plain=plain, loss=chosen, similarity=likeness, access=access,
        targets=targets, label=label if chosen.uses_truth else None, predictions=predictions,
        sensitive=sensitive, features=named, classes=classes, pos_label=pos_label, bins=edges,
        missing=asked.missing, levels=declared, most_gain=high - low, budget=asked.budget,
        delta=delta, alpha=asked.alpha, disagreement=asked.disagreement,
    )  # fmt: skip


def _names(parameter: str, value: object) -> tuple[str, ...]:
    """Return distinct column names; a monitor takes no arrays.

    Parameters
    ----------
    parameter
        Which setting, for the message.
    value
        A name, or several.

    Raises
    ------
    InputError
        If none is given, one is no text, or one comes twice.

    Examples
    --------
    >>> _names("y", "label"), _names("sensitive_features", ["sex", "race"])
    (('label',), ('sex', 'race'))
    """
    given = (value,) if isinstance(value, str) else value
    listed = tuple(given) if isinstance(given, Sequence) else ()
    names = tuple(name for name in listed if isinstance(name, str))
    if not listed or len(set(names)) < len(listed):
        msg = f"`{parameter}` must be distinct column names in a monitor, got {shown(value)}"
        raise InputError(msg)
    return names


def _listed(parameter: str, values: object) -> list[Value]:
    """Return the distinct values of a list.

    Parameters
    ----------
    parameter, values
        Its name for messages, and a list or a one-dimensional array.

    Raises
    ------
    InputError
        If it is none, or holds what is no value; None stands for a missing one.

    Examples
    --------
    >>> _listed("labels", [0, 1, 1])
    [0, 1]
    """
    if not isinstance(values, list | tuple) and len(shape_of(values)) != 1:
        msg = f"`{parameter}` must list values, got {shown(values)}"
        raise InputError(msg)
    try:
        listed = plain_values(f"`{parameter}`", given := plain_list(values))
    except DataError as error:
        raise InputError(str(error)) from None
    if any(one is None and value is not None for one, value in zip(listed, given, strict=True)):
        msg = f"`{parameter}` must not hold NaN; None stands for a missing value"
        raise InputError(msg)
    return list(dict.fromkeys(listed))


def _classes(labels: list[Value] | None, access: Access, loss: Loss) -> list[Value] | None:
    """Return the labels that can occur, where they are known before the first record.

    Parameters
    ----------
    labels
        What the user listed.
    access, loss
        What the model knows; losses on scores need all labels.
    """
    if labels is not None and (not labels or None in labels):
        msg = f"`labels` must list labels, none of them missing, got {shown(labels)}"
        raise InputError(msg)
    try:
        refuse_unlike(labels or (), (), "")
        known = all_classes(labels or [], access, loss)
    except DataError as error:
        msg = f"`labels` do not fit: {error}"
        raise InputError(msg) from None
    if not known and loss.needs == "score":
        msg = f"`labels` must list all labels for the loss {loss.name!r} of a stream, got None"
        raise InputError(msg)
    return list(sorted_levels(known).tolist()) if known else None


def _check_positive(
    pos_label: Value, classes: list[Value] | None, access: Access, loss: Loss
) -> None:
    """Refuse a positive label that is none of those that can occur, as far as these are known.

    Parameters
    ----------
    pos_label, classes
        The label, and those that are known.
    access, loss
        Of an outcome it must be a prediction, else a true label.
    """
    if pos_label is None:
        return
    _listed("pos_label", [pos_label])
    if loss.uses_truth:
        positive_label(classes or [], pos_label, classes or [])
    elif access.parameter != "y_score" and (known := access.classes or classes):
        one_of("pos_label", pos_label, known)


def _range(loss: Loss, access: Access, pos_label: Value) -> tuple[float, float]:
    """Return the limits of the loss, without which nothing can be staked."""
    limits = loss.range if loss.uses_truth else outcome_range(loss, access, pos_label)
    if limits is None:
        msg = f"`loss_range` must be given for the loss {loss.name!r} of a stream, got None"
        raise InputError(msg)
    return limits


def _levels(
    levels: object, sensitive: Sequence[str], bins: Bins, *, has_model: bool
) -> dict[str, list[Value]]:
    """Return all levels of the sensitive features, which fix the twins beforehand.

    Parameters
    ----------
    levels
        What the user declared.
    sensitive, bins
        The sensitive features, and edges, whose bins are levels.
    has_model
        Without one there are no twins.

    Raises
    ------
    InputError
        If a feature has none, or twins would be too many.
    """
    given = check_declared(levels, sensitive, twins=has_model)
    if not has_model:
        return {}
    declared: dict[str, list[Value]] = {}
    for name in sensitive:
        if given.get(name) is not None and not isinstance(given[name], str):
            declared[name] = _listed(f"levels[{name!r}]", given[name])
        elif name in bins:
            declared[name] = [*bin_names(bins[name])]
        if not declared.get(name):
            msg = (
                f"`levels[{name!r}]` must list all values that a stream can bring, so that twins "
                f"are known beforehand, got {shown(given.get(name))}"
            )
            raise InputError(msg)
    check_twins(map(len, declared.values()))
    return declared
