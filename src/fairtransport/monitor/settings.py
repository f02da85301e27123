"""The settings of a monitor: those of an audit, and what a stream needs beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from fairtransport._core.validation import check_allowed, check_threshold, shape_of, short_repr
from fairtransport.access.answers import (
    all_classes,
    check_label_types,
    outcome_range,
    positive_label,
)
from fairtransport.access.black_box import Access, choose_access
from fairtransport.access.oracle import check_no_controls, check_not_random
from fairtransport.access.query_log import with_log
from fairtransport.data.build import check_no_overlap, reserve_columns
from fairtransport.data.columns import (
    Bins,
    bin_names,
    check_bins,
    plain_list,
    plain_values,
    sort_levels,
)
from fairtransport.data.twins import check_level_names, check_twins
from fairtransport.errors import DataError, InputError, entry, param

if TYPE_CHECKING:
    from fairtransport.access import BlackBox
    from fairtransport.data.columns import Value
    from fairtransport.losses import Loss
    from fairtransport.settings import AuditSettings
    from fairtransport.similarity import Similarity

SAVED = (
    "sensitive_features", "features", "pos_label", "bins", "missing", "levels", "loss_range",
    "budget", "delta", "alpha", "favourable",
)  # fmt: skip
"""The settings of an audit that a state file holds, with any values."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MonitorSettings:
    """The checked settings of a monitor.

    ``audit`` has checked column names, bins, levels and δ. ``features`` is None until the first
    records name them, ``classes`` if the labels are not known beforehand.
    """

    audit: AuditSettings
    access: Access
    y: str | None
    predictions: tuple[str, ...]
    sensitive: tuple[str, ...]
    features: tuple[str, ...] | None
    labels: list[Value] | None
    classes: list[Value] | None
    bins: Bins
    levels: dict[str, list[Value]]
    max_gain: float

    @cached_property
    def loss(self) -> Loss:
        """The loss."""
        return self.audit.chosen_loss

    @cached_property
    def similarity(self) -> Similarity:
        """The similarity."""
        return self.audit.chosen_similarity

    @property
    def label(self) -> str | None:
        """The column of the true label; None if the loss does not use it."""
        return self.y if self.loss.uses_truth else None

    @property
    def box(self) -> BlackBox | None:
        """The model; None with given predictions."""
        return self.access.box

    @property
    def delta(self) -> float:
        """The threshold of the verdict."""
        return cast("float", self.audit.delta)  # its check leaves nothing else

    @property
    def target_scope(self) -> str:
        """Whom people are compared with: "twins", "reference" or "observed"."""
        if self.box is not None and self.similarity.moves_only_to_twins:
            return "twins"
        return "observed" if self.audit.targets is None else "reference"

    @property
    def fixed_targets(self) -> bool:
        """Whether targets do not depend on the stream, as certificates need."""
        return self.target_scope != "observed"

    @property
    def saved(self) -> dict[str, object]:
        """The settings in a state file; None for a similarity or loss that is not a name."""
        audit, access = self.audit, self.access
        objects = {"similarity": audit.similarity, "loss": audit.loss}
        return {
            "y": self.y,
            "y_pred": access.predictions if access.parameter == "y_pred" else None,
            "y_score": access.predictions if access.parameter == "y_score" else None,
            "labels": self.labels,
            **{name: getattr(audit, name) for name in SAVED},
            **{name: one if isinstance(one, str) else None for name, one in objects.items()},
        }


def check_settings(
    audit: AuditSettings, *, y: object, model: object, y_pred: object, y_score: object,
    labels: object,
) -> MonitorSettings:  # fmt: skip
    """Return the settings of a monitor, checked."""
    loss = audit.chosen_loss
    sensitive = _check_names("sensitive_features", audit.sensitive_features)
    audit.queries.check_only(("log",), "a monitor queries the model once about every record")
    access = choose_access(with_log(model, audit.queries.log), y_pred, y_score, loss)
    check_not_random("model", access.box)
    check_no_controls("model", access.box)
    if loss.uses_truth and y is None:
        msg = f"{param('y')}, the true labels, must be given for the loss {loss.name!r}"
        raise InputError(msg)
    label = None if y is None else _check_names("y", y)[0]
    predictions = _check_predictions(access, loss, label)
    check_no_overlap(
        "sensitive_features", sensitive, reserve_columns(label, predictions, access.parameter)
    )
    features = access.features
    if audit.features is not None:
        features = _check_names("features", audit.features)
    bins = audit.bins
    edges = check_bins(bins, (*features, *sensitive) if features else list(bins or ()))
    listing = None if labels is None else _check_list("labels", labels)
    classes = _check_labels(listing, access, loss)
    _check_positive(audit.pos_label, classes, access, loss)
    low, high = _check_range(loss, access, audit.pos_label)
    _check_targets(audit, access, edges)
    delta = check_threshold(audit.delta, (low, high))
    levels = _check_levels(audit.levels, sensitive, edges, has_model=access.box is not None)
    limits = audit.loss_range
    # as lists, which a state file restores unchanged
    audit = replace(
        audit, delta=delta, sensitive_features=list(sensitive),
        features=None if audit.features is None else list(features or ()),
        bins={name: list(cuts) for name, cuts in edges.items()} or None,
        levels={name: levels[name] for name in audit.levels} if audit.levels else None,
        loss_range=None if limits is None else [float(limit) for limit in limits],
    )  # fmt: skip
    return MonitorSettings(
        audit=audit, access=access, y=label, predictions=predictions, sensitive=sensitive,
        features=features, labels=listing, classes=classes, bins=edges, levels=levels,
        max_gain=high - low,
    )  # fmt: skip


def _check_names(parameter: str, value: object) -> tuple[str, ...]:
    """Return distinct column names; a monitor takes no arrays."""
    items = (value,) if isinstance(value, str) else value
    columns = tuple(items) if isinstance(items, Sequence) else ()
    names = tuple(name for name in columns if isinstance(name, str))
    if not columns or len(set(names)) < len(columns):
        msg = (
            f"{param(parameter)} must be distinct column names in a monitor, got "
            f"{short_repr(value)}"
        )
        raise InputError(msg)
    return names


def _check_predictions(access: Access, loss: Loss, label: str | None) -> tuple[str, ...]:
    """Return the columns of given predictions; none with a model."""
    predictions = () if access.box else _check_names(access.parameter, access.predictions)
    if len(predictions) > 1 and loss.needs != "score":
        msg = (
            f"{param(access.parameter)} must be one column for the loss {loss.name!r}, "
            f"got {len(predictions)}"
        )
        raise InputError(msg)
    if label in predictions:
        msg = f"{param(access.parameter)} must not be the column of the true labels, got {label!r}"
        raise InputError(msg)
    return predictions


def _check_list(parameter: str, values: object) -> list[Value]:
    """Return the distinct values of a list."""
    if not isinstance(values, list | tuple) and len(shape_of(values)) != 1:
        msg = f"{param(parameter)} must list values, got {short_repr(values)}"
        raise InputError(msg)
    try:
        plain = plain_values(param(parameter), items := plain_list(values))
    except DataError as error:
        raise InputError(error.message) from None
    if any(one is None and item is not None for one, item in zip(plain, items, strict=True)):
        msg = f"{param(parameter)} must not hold NaN; None stands for a missing value"
        raise InputError(msg)
    return list(dict.fromkeys(plain))


def _check_labels(labels: list[Value] | None, access: Access, loss: Loss) -> list[Value] | None:
    """Return all possible labels, if they are known before the first record."""
    if labels is not None and (not labels or None in labels):
        msg = f"{param('labels')} must list labels, none of them missing, got {short_repr(labels)}"
        raise InputError(msg)
    try:
        check_label_types(labels or (), (), "")
        classes = all_classes(labels or [], access, loss)
    except DataError as error:
        msg = f"{param('labels')} do not fit: {error}"
        raise InputError(msg) from None
    if not classes and loss.needs == "score":
        msg = (
            f"{param('labels')} must list all labels for the loss {loss.name!r} of a stream, got "
            "None"
        )
        raise InputError(msg)
    return list(sort_levels(classes).tolist()) if classes else None


def _check_positive(
    pos_label: Value, classes: list[Value] | None, access: Access, loss: Loss
) -> None:
    """Check that the positive label is a possible one, as far as these are known."""
    if pos_label is None:
        return
    _check_list("pos_label", [pos_label])
    if loss.uses_truth:
        positive_label(classes or [], pos_label, classes or [])
    elif access.parameter != "y_score" and (choices := access.classes or classes):
        check_allowed("pos_label", pos_label, choices)


def _check_range(loss: Loss, access: Access, pos_label: Value) -> tuple[float, float]:
    """Return the limits of the loss, without which there are no bets."""
    limits = loss.range if loss.uses_truth else outcome_range(loss, access, pos_label)
    if limits is None:
        msg = (
            f"{param('loss_range')} must be given for the loss {loss.name!r} of a stream, got None"
        )
        raise InputError(msg)
    return limits


def _check_targets(audit: AuditSettings, access: Access, bins: Bins) -> None:
    """Check that a reference frame can be used."""
    if audit.targets is None:
        return
    if access.box is not None and audit.chosen_similarity.moves_only_to_twins:
        msg = (
            f"{param('targets')} must be left out with {param('model')} where people are compared "
            "only with themselves with other sensitive values"
        )
        raise InputError(msg)
    if bins:
        msg = (
            f"{param('bins')} must be left out with {param('targets')} in a monitor: cut the "
            "numbers of both into bins first"
        )
        raise InputError(msg)


def _check_levels(
    levels: object, sensitive: Sequence[str], bins: Bins, *, has_model: bool
) -> dict[str, list[Value]]:
    """Return all levels of the sensitive features, which determine the twins beforehand."""
    options = check_level_names(levels, sensitive, twins=has_model)
    if not has_model:
        return {}
    complete: dict[str, list[Value]] = {}
    for name in sensitive:
        if options.get(name) is not None and not isinstance(options[name], str):
            complete[name] = _check_list(entry("levels", name), options[name])
        elif name in bins:
            complete[name] = [*bin_names(bins[name])]
        if not complete.get(name):
            msg = (
                f"{param('levels', name)} must list all values that a stream can bring, as they "
                f"must be known beforehand, got {short_repr(options.get(name))}"
            )
            raise InputError(msg)
    check_twins(map(len, complete.values()))
    return complete
