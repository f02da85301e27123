"""What the model says at every point of a space, and the loss there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtransport.access import BlackBox, as_black_box, ask
from fairtransport.access.asking import check_scores, check_values
from fairtransport.access.boxes import described
from fairtransport.checks import FloatArray, is_among, shown
from fairtransport.errors import DataError, InputError, ModelError
from fairtransport.losses import Answer, Loss, evaluate
from fairtransport.space.columns import sorted_levels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from fairtransport.space import SampleSpace


TWO_LABELS = 2


@dataclass(frozen=True, eq=False)
class Access:
    """How predictions are had: from a black box, or given with the data.

    ``parameter`` is the name of the argument they came in.
    """

    parameter: str
    box: BlackBox | None = None
    given: Any = None

    @property
    def name(self) -> str:
        """How a report names what was audited."""
        if self.box is None:
            return "given predictions"
        return str(getattr(self.box, "description", self.box.name))

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns the model asks for by name."""
        return None if self.box is None else self.box.features


@dataclass(frozen=True, eq=False)
class Answers:
    """The model's answer and the loss at every point.

    Attributes
    ----------
    loss
        The loss, with its range as far as it is known without the data.
    losses
        (K,) the loss at each point.
    predictions
        (K,) labels or numbers, or (K, classes) scores.
    queried
        How many distinct questions the model was asked.
    """

    loss: Loss
    losses: FloatArray
    predictions: NDArray[Any]
    queried: int


def choose_access(model: Any, y_pred: Any, y_score: Any, loss: Loss) -> Access:
    """Return the one way of access a user gave, if the loss can be computed from it."""
    ways = {"model": model, "y_pred": y_pred, "y_score": y_score}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none"
        msg = f"exactly one of `model`, `y_pred` and `y_score` must be given, got {got}"
        raise InputError(msg)
    (parameter,) = given
    if parameter == "model":
        return Access(parameter, box=described(as_black_box(model)))
    if loss.needs == "label" and parameter == "y_score":
        msg = f"the loss {loss.name!r} needs labels: threshold the scores and pass `y_pred`"
        raise InputError(msg)
    if loss.needs == "score" and parameter == "y_pred":
        msg = f"the loss {loss.name!r} needs class scores: pass `y_score` instead of `y_pred`"
        raise InputError(msg)
    return Access(parameter, given=ways[parameter])


def answer_everywhere(
    space: SampleSpace, access: Access, loss: Loss, pos_label: Any = None
) -> Answers:
    """Return the model's answers and losses at all points, each distinct question asked once."""
    labels = [] if space.label is None else space.columns[space.label].levels.tolist()
    classes = all_classes(labels, access.box, loss)
    positive = positive_label(classes, pos_label, labels)
    if access.box is None:
        predictions, queried = _given(space, access.parameter, loss, classes, positive), 0
    else:
        predictions, queried = _asked(space, access.box, loss, classes, positive, pos_label)
    if loss.needs == "label":
        _refuse_disjoint(classes, predictions)
    if not loss.uses_truth:
        loss, predictions = _as_outcome(loss, predictions, access, pos_label)
    truth = _truth(space, loss, classes)
    return Answers(loss, evaluate(loss, truth, predictions), predictions, queried)


def all_classes(labels: list[Any], box: BlackBox | None, loss: Loss) -> list[Any]:
    """Return all labels that can occur: those of the data and those the model knows."""
    own = None if box is None else box.classes
    if own is None or loss.needs not in {"label", "score"}:
        return labels
    if labels and not set(labels) & set(own):
        msg = (
            f"the labels {shown(labels)} and the model's classes {shown(own)} have nothing "
            "in common; are they of the same type?"
        )
        raise DataError(msg)
    return list(sorted_levels([*labels, *own]).tolist())


def positive_label(classes: Sequence[Any], pos_label: Any, labels: Sequence[Any]) -> Any:
    """Return the label that a single score belongs to; None where there is no usual one."""
    if pos_label is None:
        usual = set(classes) in ({0, 1}, {-1, 1})
        return classes[-1] if usual else None
    if labels and not is_among(pos_label, classes):
        msg = (
            f"`pos_label` must be one of the labels {shown(list(classes))}, got {shown(pos_label)}"
        )
        raise InputError(msg)
    return pos_label


def _asked(
    space: SampleSpace, box: BlackBox, loss: Loss, classes: Sequence[Any], positive: Any,
    pos_label: Any,
) -> tuple[NDArray[Any], int]:  # fmt: skip
    # people who look the same to the model are one question, whatever else they differ in
    _, first, question = np.unique(
        space.groups(space.features), return_index=True, return_inverse=True
    )
    points = space.frame(asked_features(box, space.features), first, box.library or space.library)
    kind = asked_kind(loss, pos_label)
    known: Sequence[Any] | None = classes
    if kind == "label" and (not loss.uses_truth or not tells_labels(box, classes)):
        known = None
    return ask(box, points, len(first), kind, known, positive, _cut(space))[question], len(first)


def asked_features(box: BlackBox, features: Sequence[str]) -> Sequence[str]:
    """Return the columns that a model receives, in its order."""
    names = features if box.features is None else box.features
    if set(names) != set(features):
        msg = (
            f"`features` must be the columns that the model was fitted on "
            f"({', '.join(names)}), got {', '.join(features)}"
        )
        raise InputError(msg)
    return names


def asked_kind(loss: Loss, pos_label: Any) -> Answer:
    """Return what a model is asked for: labels also where the positive one is the outcome."""
    return "label" if not loss.uses_truth and pos_label is not None else loss.needs


def tells_labels(box: BlackBox, labels: Collection[Any]) -> bool:
    """Say whether all labels are known: one alone does not tell which others there are."""
    return box.classes is not None or len(labels) >= TWO_LABELS


def _cut(space: SampleSpace) -> dict[str, Any]:
    return {name: edges for name, edges in space.bins.items() if name in space.features}


def _given(
    space: SampleSpace, parameter: str, loss: Loss, classes: Sequence[Any], positive: Any
) -> NDArray[Any]:
    columns = [space.values(name) for name in space.predictions]
    who = f"`{parameter}`"
    if loss.needs == "score":
        scores = np.column_stack(columns)
        return check_scores(who, scores, space.size, classes, classes, positive)
    if len(columns) > 1:
        msg = f"{who} must be one column for the loss {loss.name!r}, got {len(columns)}"
        raise InputError(msg)
    if loss.needs == "label":
        _refuse_fractions(who, columns[0], classes)
    is_number = loss.needs == "value" and (loss.uses_truth or columns[0].dtype != object)
    return check_values(who, columns[0]) if is_number else columns[0]


def _refuse_fractions(who: str, predictions: NDArray[Any], labels: Sequence[Any]) -> None:
    """Refuse a score among predicted labels; it would pass for a label of its own, and an error."""
    if predictions.dtype.kind != "f" or any(isinstance(one, str) for one in labels):
        return
    odd = (predictions != np.rint(predictions)) & ~np.isin(predictions, labels)
    if odd.any():
        msg = f"{who} must hold labels, as {shown(list(labels))}, got {predictions[odd][0]:g}"
        raise DataError(msg)


def _refuse_disjoint(labels: Sequence[Any], predictions: NDArray[Any]) -> None:
    predicted = sorted_levels(predictions.tolist()).tolist()
    if not set(predicted) & set(labels):
        msg = (
            f"the true labels {shown(labels)} and the predicted ones {shown(predicted)} "
            "have nothing in common; are they of the same type?"
        )
        raise DataError(msg)


def refuse_unlike(labels: Iterable[Any], predicted: Iterable[Any], who: str) -> None:
    """Refuse predictions that cannot be labels: text beside numbers, scores beside whole numbers.

    Labels are of one kind, too.
    """
    truth = sorted(labels, key=str)
    first = truth[0] if truth else None
    for label in truth:
        if isinstance(label, str) != isinstance(first, str):
            msg = f"labels must be text or numbers, not both, got {shown(first)} and {shown(label)}"
            raise DataError(msg)
    is_whole = all(isinstance(label, int | float) and label == int(label) for label in truth)
    for prediction in predicted if truth else ():
        if isinstance(first, str) != isinstance(prediction, str):
            msg = (
                f"true labels and predictions must be of the same type, got {shown(first)} "
                f"and {shown(prediction)}"
            )
            raise DataError(msg)
        if is_whole and isinstance(prediction, float) and prediction != int(prediction):
            msg = f"{who} must give labels such as {shown(first)}, not scores, got {prediction:g}"
            raise ModelError(msg)


def _as_outcome(
    loss: Loss, predictions: NDArray[Any], access: Access, pos_label: Any
) -> tuple[Loss, FloatArray]:
    """Return predictions as outcomes, and the loss with the range that follows."""
    own = None if access.box is None else access.box.classes
    if pos_label is not None and access.parameter != "y_score":
        known = sorted_levels(predictions.tolist()).tolist() if own is None else own
        if not is_among(pos_label, known):
            msg = f"`pos_label` must be a prediction ({shown(known)}), got {shown(pos_label)}"
            raise InputError(msg)
        outcome = np.asarray(predictions == pos_label, dtype=np.float64)
        return replace(loss, range=(0.0, 1.0)), outcome
    outcome = check_values(f"`{access.parameter}`", predictions)
    if loss.range is None and access.parameter == "y_score":
        return replace(loss, range=(0.0, 1.0)), outcome
    if loss.range is None and own and all(isinstance(label, int | float) for label in own):
        return replace(loss, range=(float(min(own)), float(max(own)))), outcome
    return loss, outcome


def _truth(space: SampleSpace, loss: Loss, classes: Sequence[Any]) -> NDArray[Any]:
    if space.label is None:
        return np.zeros(space.size)
    column = space.columns[space.label]
    if loss.needs == "score":
        place = {label: at for at, label in enumerate(classes)}
        return np.array([place[label] for label in column.levels.tolist()])[column.codes]
    if loss.needs == "value":
        try:
            return column.values().astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            msg = f"`y` must be numeric for the loss {loss.name!r}, got {shown(column.levels[0])}"
            raise DataError(msg) from None
    return column.values()
