"""What a monitor was told, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtransport.answers import choose_access
from fairtransport.checks import choice, number, shown, threshold
from fairtransport.errors import InputError
from fairtransport.losses import Loss, as_loss
from fairtransport.similarity import Similarity, as_similarity
from fairtransport.space.binning import Bins, bin_names, check_bins
from fairtransport.space.columns import plain_list, sorted_levels

if TYPE_CHECKING:
    from fairtransport.access import BlackBox


@dataclass(frozen=True, eq=False)
class Settings:
    """The checked settings of a monitor.

    ``plain`` holds those that a state file can keep, as they were given; ``parameter`` names
    the argument that predictions come in. ``features`` is None until the first records tell.
    """

    plain: dict[str, Any]
    loss: Loss
    similarity: Similarity
    box: BlackBox | None
    parameter: str
    targets: Any
    label: str | None
    predictions: tuple[str, ...]
    sensitive: tuple[str, ...]
    features: tuple[str, ...] | None
    classes: list[Any] | None
    pos_label: Any
    bins: Bins
    missing: str
    levels: dict[str, list[Any]]
    most_gain: float
    budget: float
    delta: float
    alpha: float

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


def check_settings(
    *, y: Any, model: Any, y_pred: Any, y_score: Any, sensitive_features: Any, features: Any,
    labels: Any, pos_label: Any, bins: Any, missing: str, levels: Any, targets: Any,
    similarity: Any, loss: Any, loss_range: Any, budget: float, delta: float, alpha: float,
) -> Settings:  # fmt: skip
    """Return the settings of a monitor, or say which one breaks its rule."""
    chosen = as_loss(loss, loss_range)
    likeness = as_similarity(similarity)
    access = choose_access(model, y_pred, y_score, chosen)
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
    sensitive = _names("sensitive_features", sensitive_features)
    named = access.features if features is None else _names("features", features)
    edges = check_bins(bins, (*(named or ()), *sensitive) if named else list(bins or ()))
    classes = _classes(labels, access.box, chosen)
    low, high = _range(chosen, access.parameter, access.box, pos_label)
    if targets is not None and access.box is not None and likeness.moves_only_to_twins:
        msg = "`targets` must be left out with `model` where people move only to their twins"
        raise InputError(msg)
    if targets is not None and edges:
        msg = "`bins` must be left out with `targets` in a monitor: pass both already binned"
        raise InputError(msg)
    budget = number("budget", budget, at_least=0)
    delta = threshold(delta, (low, high))
    alpha = number("alpha", alpha, above=0, below=1)
    choice("missing", missing, ("error", "level"))
    declared = _levels(levels, sensitive, edges, has_model=access.box is not None)
    plain = {
        "y": label, "y_pred": y_pred, "y_score": y_score, "sensitive_features": list(sensitive),
        "features": None if features is None else list(named or ()),
        "labels": None if labels is None else plain_list(labels), "pos_label": pos_label,
        "bins": {name: list(cuts) for name, cuts in edges.items()} or None, "missing": missing,
        "levels": None if levels is None else {key: plain_list(levels[key]) for key in levels},
        "similarity": similarity if isinstance(similarity, str) else None,
        "loss": loss if isinstance(loss, str) else None,
        "loss_range": None if loss_range is None else [float(limit) for limit in loss_range],
        "budget": budget, "delta": delta, "alpha": alpha,
    }  # fmt: skip
    return Settings(
        plain=plain, loss=chosen, similarity=likeness, box=access.box, parameter=access.parameter,
        targets=targets, label=label if chosen.uses_truth else None, predictions=predictions,
        sensitive=sensitive, features=named, classes=classes, pos_label=pos_label, bins=edges,
        missing=missing, levels=declared, most_gain=high - low, budget=budget, delta=delta,
        alpha=alpha,
    )  # fmt: skip


def _names(parameter: str, value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    good = isinstance(names, Sequence) and all(isinstance(name, str) for name in names)
    if not good or not len(names) or len(set(names)) < len(names):
        msg = f"`{parameter}` must be distinct column names in a monitor, got {shown(value)}"
        raise InputError(msg)
    return tuple(names)


def _classes(labels: Any, box: BlackBox | None, loss: Loss) -> list[Any] | None:
    """Return the labels that can occur, where they are known before the first record."""
    known = [] if labels is None else plain_list(labels)
    if box is not None and box.classes is not None and loss.needs in {"label", "score"}:
        known = [*known, *box.classes]
    if not known and loss.needs == "score":
        msg = f"`labels` must list all labels for the loss {loss.name!r} of a stream, got None"
        raise InputError(msg)
    return list(sorted_levels(known).tolist()) if known else None


def _range(loss: Loss, parameter: str, box: BlackBox | None, pos_label: Any) -> tuple[float, float]:
    if loss.range is not None:
        return loss.range
    if not loss.uses_truth:
        own = None if box is None else box.classes
        if pos_label is not None or parameter == "y_score":
            return 0.0, 1.0
        if own and all(isinstance(one, int | float) for one in own):
            return float(min(own)), float(max(own))
    msg = f"`loss_range` must be given for the loss {loss.name!r} of a stream, got None"
    raise InputError(msg)


def _levels(
    levels: Any, sensitive: Sequence[str], bins: Bins, *, has_model: bool
) -> dict[str, list[Any]]:
    """Return all levels of the sensitive features, which fix the twins beforehand."""
    if not has_model:
        if levels is not None:
            msg = "`levels` needs `model`: without one there are no twins to ask about"
            raise InputError(msg)
        return {}
    given = {} if levels is None else levels
    if not isinstance(given, Mapping):
        msg = f"`levels` must map sensitive features to values, got {shown(levels)}"
        raise InputError(msg)
    for name in given:
        if name not in sensitive:
            msg = f"`levels` must name sensitive features, got {shown(name)}"
            raise InputError(msg)
    declared: dict[str, list[Any]] = {}
    for name in sensitive:
        if name in given and not isinstance(given[name], str):
            declared[name] = plain_list(given[name])
        elif name in bins:
            declared[name] = bin_names(bins[name])
        if not declared.get(name):
            msg = (
                f"`levels[{name!r}]` must list all values that a stream can bring, so that twins "
                f"are known beforehand, got {shown(given.get(name))}"
            )
            raise InputError(msg)
    return declared
