"""Answers of black boxes: querying, checks, and comparison with the true labels."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Hashable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fairtransport._core.validation import (
    FloatArray,
    describe_error,
    error_text,
    is_among,
    is_real,
    list_values,
    short_repr,
)
from fairtransport.access.black_box import (
    CUT,
    SCORE_LOSSES,
    Estimator,
    Function,
    align_answers,
    layers,
    model_phrase,
)
from fairtransport.data.columns import object_array, sort_levels
from fairtransport.errors import (
    DataError,
    FairtransportError,
    InputError,
    ModelError,
    option,
    param,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from narwhals.typing import IntoDataFrame
    from numpy.typing import NDArray

    from fairtransport._core.validation import Values
    from fairtransport.access.black_box import Access, BlackBox
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer, Loss


UNSEEN = re.compile(r"unknown categor|previously unseen", re.IGNORECASE)
"""Errors of encoders about values that they were not fitted on."""
MAX_COLUMNS = 8
"""Maximum number of columns in an error message."""
MAX_CLASSES = 8
"""Maximum number of labels in an error message."""
TYPES = re.compile(r"dtype|categor|could not convert|to float", re.IGNORECASE)
"""Errors of models that expect other types."""
SUM_TOLERANCE = 1e-3
"""Tolerance of a row's sum of class scores (single precision, rounding)."""


T = TypeVar("T")
PASSED_ON = (FairtransportError, KeyboardInterrupt)
"""Exceptions that are not failures of the model."""


def ask(
    box: BlackBox, points: IntoDataFrame, size: int, kind: Answer, classes: Sequence[Value] | None,
    positive: Value, bins: Mapping[str, object] | None = None,
) -> Values:  # fmt: skip
    """Query a model about ``size`` points at once and check its answers.

    Parameters
    ----------
    box, points, size
        The model, the frame of points, and their number.
    kind
        The kind of answer that the loss needs.
    classes
        All possible labels, in the order of the returned scores; None: unknown.
    positive
        The label of a single score per point.
    bins
        The binned columns, which an error names as a possible cause.

    Returns
    -------
    Labels (size,), numbers (size,) or scores (size, number of classes).

    Raises
    ------
    ModelError
        If the model fails or the loss cannot use its answers.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> box = ft.access.as_black_box(lambda points: (points["grade"] > 2).astype(int))
    >>> points = pd.DataFrame({"grade": [1, 2, 3]})
    >>> ft.access.ask(box, points, 3, "label", classes=[0, 1], positive=1).tolist()
    [0, 0, 1]
    """
    try:
        answers = align_answers(box.name, points, box.answer(points, kind))
        return _check_answer(box, answers, size, kind, classes, positive)
    except PASSED_ON:
        raise
    except BaseException as error:  # a model that ends the program has failed, too
        raise _failure(box, points, size, bins, error) from error


def ask_in_parts(
    box: BlackBox, points: IntoDataFrame, size: int, kind: Answer, classes: Sequence[Value] | None,
    positive: Value, bins: Mapping[str, object] | None = None,
) -> Iterator[tuple[Sequence[int], Values]]:  # fmt: skip
    """Query a model like `ask`, but yield rows and checked answers as they arrive."""

    def check(answer: object, count: int) -> Values:
        """Return a part of the answers, checked."""
        return _check_answer(box, answer, count, kind, classes, positive)

    def attempt(step: Callable[[], T]) -> T:
        """Run a step of the model; raise its errors as a ModelError."""
        try:
            return step()
        except PASSED_ON:
            raise
        except BaseException as error:
            raise _failure(box, points, size, bins, error) from error

    stream = attempt(lambda: iter(box.stream_answers(points, kind, check)))
    try:
        while (part := attempt(lambda: next(stream, None))) is not None:
            # outside `attempt`: a GeneratorExit here is the consumer's, not the model's
            yield part
    finally:
        if isinstance(stream, Generator):
            stream.close()


def _failure(
    box: BlackBox, points: IntoDataFrame, size: int, bins: Mapping[str, object] | None,
    error: BaseException,
) -> ModelError:  # fmt: skip
    """Return the error of a model that failed."""
    hint = f"; it receives the names of the bins of {', '.join(bins)}, as text" if bins else ""
    failure = f"{model_phrase(box)} failed on {size} rows: {describe_error(error)}"
    return ModelError(f"{failure}{hint}{_about_columns(points, error)}")


def _check_answer(
    box: BlackBox, answer: object, size: int, kind: Answer, classes: Sequence[Value] | None,
    positive: Value,
) -> Values:  # fmt: skip
    """Return a model's answers as an array if the loss can use them."""
    who, array = model_phrase(box), np.asarray(answer)
    if np.ma.is_masked(answer):
        masked = np.ma.getmaskarray(np.ma.asanyarray(answer))
        msg = f"{who} must not give masked answers, got {int(masked.sum())}"
        raise ModelError(msg)
    if kind == "score":
        own = list(classes or ()) if box.classes is None else box.classes
        array = _order_columns(who, array, column_names(answer), own, positive)
        return check_scores(who, array, size, own, classes or own, positive)
    array = _check_one_per_row(box, array, size, kind, classes)
    if kind == "value":
        return check_values(who, array)
    if kind == "any":
        return array
    return check_labels(who, array, classes, call_in_advice(box))


def column_names(answer: object) -> list[Value] | None:
    """Return the column names of a data frame; None for other objects."""
    if isinstance(answer, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    frame = nw.from_native(answer, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def _order_columns(
    who: str, array: Values, names: list[Value] | None, own: Sequence[Value], positive: Value
) -> Values:
    """Return class scores in the order of ``own``, matched by their column names."""
    if names is None:
        return array
    texts = list(map(str, names))
    spellings: list[tuple[list[Value], list[Value]]] = [
        (names, list(own)), (list(texts), list(map(str, own))),
    ]  # fmt: skip
    for columns, labels in spellings:
        if sorted(columns, key=str) == sorted(labels, key=str):
            return np.asarray(array[:, np.array([columns.index(label) for label in labels])])
    count = range(len(names))
    is_numbered = texts in ([str(at) for at in count], [f"column_{at}" for at in count])
    is_score = len(names) == 1 and (str(positive) in texts or texts[0] not in map(str, own))
    if is_numbered or is_score:
        return array
    msg = (
        f"{who} must name the columns of its class probabilities as the classes, "
        f"{list_values(own)}, got {list_values(names)}; return an array to go by position"
    )
    raise ModelError(msg)


def _about_columns(points: IntoDataFrame, error: BaseException) -> str:
    """Return the received columns if the model seems to expect other types or values."""
    message = error_text(error)
    if not TYPES.search(message):
        return ""
    import narwhals as nw

    frame = nw.from_native(points, eager_only=True)
    columns = [f"{name} ({kind})" for name, kind in frame.schema.items()]
    rest = [f"{len(columns) - MAX_COLUMNS} more"] if len(columns) > MAX_COLUMNS else []
    received = f"; it received {', '.join([*columns[:MAX_COLUMNS], *rest])}"
    text = [name for name, kind in frame.schema.items() if kind in {nw.String, nw.Object}]
    if UNSEEN.search(message):
        values = set(re.findall(r"'([^']*)'", message))
        where = [name for name in text if values & set(frame[name].unique().to_list())]
        which = f" of {', '.join(where[:MAX_COLUMNS])}" if where else ""
        return (
            f"{received}. It was not fitted on all values{which}: leave these people out, or pass "
            "a model that takes unknown values"
        )
    if not text:
        return received
    example = ", ".join(f"{name!r}: 'category'" for name in text[:MAX_COLUMNS])
    return (
        f"{received}. Where the model was fitted on categories, pass {param('X')} as a pandas "
        f"frame with these, or a function for {param('model')}, as in lambda x: "
        f"model.predict(x.astype({{{example}}}))"
    )


def call_in_advice(box: BlackBox) -> str:
    """Return a call of the model inside a function of a frame, for advice."""
    estimator = next((layer for layer in layers(box) if isinstance(layer, Estimator)), None)
    return "model(x)" if estimator is None else estimator.call("predict")


def check_labels(
    who: str, labels: Values, classes: Sequence[Value] | None, call: str = "model.predict(x)"
) -> Values:
    """Return the labels if all are among ``classes``, or could be labels if it is None."""
    allowed = None if classes is None else set(classes)
    for label in _list_distinct(labels.tolist()):
        if allowed is None and not _is_label(label):
            msg = f"{who} must give labels, got {short_repr(label)}"
            raise ModelError(msg)
        if allowed is not None and not (isinstance(label, Hashable) and label in allowed):
            names = ", ".join(short_repr(item, 20) for item in list(classes or ())[:8])
            msg = f"{who} gave the unknown label {short_repr(label)}; known: {names}"
            raise ModelError(msg + advise_on_label(label, list(classes or ()), call))
    return labels


def _list_distinct(labels: list[object]) -> Collection[object]:
    """Return the distinct labels in their order; unchanged if some are no single values."""
    try:
        return dict.fromkeys(labels)
    except TypeError:
        return labels


def advise_on_label(label: object, known: Sequence[Value], call: str) -> str:
    """Return advice if a model returns numbers, or text instead of numbers."""
    if isinstance(label, str) and any(isinstance(item, int | float) for item in known):
        return (
            f". Labels and answers must be of one type: pass {param('y')} as text, or a function "
            f"for {param('model')} that returns numbers, as in lambda x: (np.asarray({call}) == "
            f"{short_repr(label)}).astype(int)"
        )
    if not isinstance(label, float) or not math.isfinite(label) or label.is_integer():
        return ""
    losses = (
        f"Probabilities take {SCORE_LOSSES}"
        if 0 <= label <= 1
        else f"A model of numbers takes {option('loss', 'squared')} or "
        f"{option('loss', 'absolute')} with a {param('loss_range')}"
    )
    return (
        f". {losses}; for labels, pass a function for {param('model')} that cuts them, as in "
        f"lambda x: ({call} > {CUT}).astype(int)"
    )


def _is_label(value: object) -> bool:
    """Return whether a value is text, a bool or a finite number."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def check_values(who: str, values: Values) -> FloatArray:
    """Return predictions as finite numbers."""
    try:
        numbers = values.astype(np.float64) if is_real(values) else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        msg = f"{who} must give numbers for this loss, got {short_repr(values.flat[0])}"
        raise ModelError(msg)
    _check_usable(who, numbers, np.isfinite(numbers), "finite numbers")
    return numbers


def check_scores(
    who: str, scores: Values, size: int, own: Sequence[Value], classes: Sequence[Value],
    positive: Value,
) -> FloatArray:  # fmt: skip
    """Return class scores, in the order of ``own``, in the order of ``classes``."""
    array = check_values(who, scores)
    _check_usable(who, array, (array >= 0) & (array <= 1), "probabilities in [0, 1]")
    if array.shape in {(size,), (size, 1)}:
        array = _two_columns(who, array.reshape(size), own, positive)
    if array.shape != (size, len(own)):
        msg = f"{who} must give {size} rows of {len(own)} probabilities, got shape {array.shape}"
        raise ModelError(msg)
    sums = array.sum(axis=1)
    _check_usable(who, sums, np.abs(sums - 1) <= SUM_TOLERANCE, "class probabilities that sum to 1")
    # rounding errors would lift a bounded loss above its range
    array = array / sums[:, None]
    place = {label: column for column, label in enumerate(own)}
    # a class that the model does not know has probability 0
    ordered = np.zeros((size, len(classes)))
    for column, label in enumerate(classes):
        if label in place:
            ordered[:, column] = array[:, place[label]]
    return ordered


def _two_columns(who: str, score: FloatArray, own: Sequence[Value], positive: Value) -> FloatArray:
    """Return a single score per row as two columns, in the model's own order."""
    if len(own) != 2 or positive not in own:  # noqa: PLR2004
        msg = (
            f"{who} gave one probability per row, which needs two classes and "
            f"{param('pos_label')} among them; classes: {list_values(own)}, {param('pos_label')}: "
            f"{short_repr(positive)}"
        )
        raise ModelError(msg)
    at_end = np.column_stack([1 - score, score])
    return at_end if own[1] == positive else at_end[:, ::-1]


def _check_one_per_row(
    box: BlackBox, array: Values, size: int, kind: Answer, classes: Sequence[Value] | None
) -> Values:
    """Return an array with one entry per row, which may be a single column."""
    if array.shape == (size, 1):
        array = array[:, 0]
    if array.shape != (size,):
        what = "label" if kind == "label" else "number"
        msg = f"{model_phrase(box)} must give one {what} per row ({size}), got shape {array.shape}"
        raise ModelError(msg + _advise_on_columns(box, array, size, kind, classes))
    return array


def _advise_on_columns(
    box: BlackBox, array: Values, size: int, kind: Answer, classes: Sequence[Value] | None
) -> str:
    """Return advice if a model returns one column per class."""
    if array.ndim != TWO_LABELS or len(array) != size or array.shape[1] < TWO_LABELS:
        return ""
    call = f"np.asarray({call_in_advice(box)})"
    if kind != "label":
        return (
            f". Pass a function for {param('model')} that returns one column, as in lambda x: "
            f"{call}[:, 1]"
        )
    advice = f". Class probabilities take {SCORE_LOSSES}; for labels, pass"
    owner = next((getattr(one.function, "__self__", None) for one in layers(box)
                  if isinstance(one, Function)), None)  # fmt: skip
    if hasattr(owner, "predict"):
        return f"{advice} the estimator itself or its `predict`"
    position = f"{call}.argmax(axis=1)"
    count = array.shape[1]
    known = list(classes or ())
    if known == list(range(count)):
        label = position
    elif len(known) == count <= MAX_CLASSES:
        label = f"np.array({known!r})[{position}]"
    else:
        label = f"np.asarray(model.classes_)[{position}]"
    return (
        f"{advice} a function for {param('model')} that returns the label of the largest "
        f"probability, in the order of the columns, as in lambda x: {label}"
    )


def _check_usable(who: str, values: FloatArray, good: NDArray[np.bool_], rule: str) -> None:
    """Check that all answers obey a rule."""
    if not good.all():
        bad = values[~good]
        msg = f"{who} must give {rule}, got {bad.flat[0]:g} for {len(bad)} of {good.size}"
        raise ModelError(msg)


def check_logged(
    who: str, answers: list[object], kind: Answer, expected: Sequence[Value] | None, positive: Value
) -> None:
    """Check that the model could have given the answers that a log holds."""
    if not answers:
        return
    if kind == "score":
        classes = expected or ()
        check_scores(who, np.asarray(answers), len(answers), classes, classes, positive)
    elif kind == "value":
        check_values(who, as_array(answers))
    elif kind == "label":
        check_labels(who, object_array(answers), expected)


def as_list(values: Values | list[object]) -> list[object]:
    """Return answers as plain Python values."""
    return values if isinstance(values, list) else list(values.tolist())


def as_array(values: Sequence[object]) -> Values:
    """Return an array of numbers if all values are, else one of objects."""
    if all(type(value) in (bool, int, float, list) for value in values):
        return np.array(values)
    return object_array(values)


TWO_LABELS = 2
MIN_CONTINUOUS = 20
"""Number of distinct values from which on numbers are hardly labels."""


def all_classes(labels: list[Value], access: Access, loss: Loss) -> list[Value]:
    """Return all possible labels: those of the data and those the model knows."""
    own = access.classes
    if own is None or loss.needs not in {"label", "score"}:
        return labels
    # no common label is a mistake in types, such as 1 and "1": every answer would be an error
    if labels and not set(labels) & set(own):
        call = "model.predict(x)" if access.box is None else call_in_advice(access.box)
        advice = advise_on_continuous(labels) or advise_on_label(own[-1], labels, call)
        raise _disjoint_error(labels, f"the model answers {list_values(own)}", advice)
    return list(sort_levels([*labels, *own]).tolist())


def positive_label(classes: Sequence[Value], pos_label: Value, labels: Sequence[Value]) -> Value:
    """Return the label of a single score; None if there is no usual one."""
    if pos_label is None:
        usual = set(classes) in ({0, 1}, {-1, 1})
        return classes[-1] if usual else None
    # a stream's labels may not all be known yet
    if labels and classes and not is_among(pos_label, classes):
        msg = (
            f"{param('pos_label')} must be one of the labels {list_values(classes)}, got "
            f"{short_repr(pos_label)}"
        )
        raise InputError(msg)
    return pos_label


def knows_all_labels(access: Access, labels: Collection[Value]) -> bool:
    """Return whether all labels are known; a single one leaves the others unknown."""
    return access.classes is not None or len(labels) >= TWO_LABELS


def check_no_fractions(who: str, predictions: Values, labels: Sequence[Value]) -> None:
    """Check that no predicted label is a score, which would count as a wrong label."""
    if predictions.dtype.kind != "f" or any(isinstance(label, str) for label in labels):
        return
    odd = (predictions != np.rint(predictions)) & ~np.isin(predictions, np.asarray(labels))
    if odd.any():
        score = float(predictions[odd][0])
        msg = f"{who} must hold labels, as {list_values(labels)}, got {score:g}"
        if 0 <= score <= 1:
            msg += f". Pass probabilities as {param('y_score')} with {SCORE_LOSSES}, or cut them"
        raise DataError(msg)


def check_overlap(labels: Sequence[Value], predictions: Values) -> None:
    """Check that some prediction is a true label."""
    predicted = sort_levels(predictions.tolist()).tolist()
    if not set(predicted) & set(labels):
        raise _disjoint_error(
            labels, f"the predictions are {list_values(predicted)}", advise_on_continuous(labels)
        )


def _disjoint_error(labels: Sequence[Value], predictions: str, advice: str) -> DataError:
    """Return the error if no true label is ever predicted."""
    msg = (
        "true labels and predictions must have the same values, but "
        f"{param('y')} has {list_values(labels)}, and {predictions}"
    )
    way_out = (
        f"; write both in the same words or numbers, or leave {param('y')} out and give "
        f"{param('favourable')}, to audit the decisions alone"
    )
    return DataError(msg + (advice or way_out))


def advise_on_continuous(labels: Sequence[Value]) -> str:
    """Return advice if labels look like a measured quantity, else an empty text."""
    is_number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in labels)
    if len(labels) < MIN_CONTINUOUS or not is_number:
        return ""
    return (
        f". {param('y')} looks continuous, with {len(labels)} different numbers: cut it into "
        f"labels, or pass {option('loss', 'squared')} with a {param('loss_range')}"
    )


def find_unpredicted(access: Access, loss: Loss, labels: Sequence[Value]) -> Iterator[str]:
    """Yield warnings on true labels that the model cannot predict, such as 1 and 2 for 0 and 1."""
    own = access.classes
    if own is None or loss.needs not in {"label", "score"}:
        return
    never = [label for label in labels if not is_among(label, own)]
    if never:
        yield (
            f"The model cannot predict the true labels {short_repr(never)}. It knows only "
            f"{short_repr(list(own))}, so every prediction for a person with such a label is "
            "wrong. Check that labels and predictions are written in the same way."
        )


def check_label_types(labels: Iterable[Value], predicted: Iterable[Value], who: str) -> None:
    """Check that labels are of one type, and predictions of the same."""
    truth = sorted(labels, key=str)
    first = truth[0] if truth else None
    for label in truth:
        if isinstance(label, str) != isinstance(first, str):
            msg = (
                f"labels must be text or numbers, not both, got {short_repr(first)} and "
                f"{short_repr(label)}"
            )
            raise DataError(msg)
    is_whole = all(isinstance(label, int | float) and label == int(label) for label in truth)
    for prediction in predicted if truth else ():
        if isinstance(first, str) != isinstance(prediction, str):
            msg = (
                f"true labels and predictions must be of the same type, got {short_repr(first)} "
                f"and {short_repr(prediction)}"
            )
            raise DataError(msg)
        if is_whole and isinstance(prediction, float) and prediction != int(prediction):
            msg = (
                f"{who} must give labels such as {short_repr(first)}, not probabilities, got "
                f"{prediction:g}"
            )
            raise ModelError(msg)


def outcome_range(loss: Loss, access: Access, pos_label: Value) -> tuple[float, float] | None:
    """Return the range of the outcome loss, if known."""
    if loss.range is not None:
        return loss.range
    if pos_label is not None or access.parameter == "y_score":
        return 0.0, 1.0
    own = access.classes or ()
    numbers = [label for label in own if isinstance(label, int | float)]
    if not numbers or len(numbers) < len(own):
        return None
    return float(min(numbers)), float(max(numbers))


def labels_in(space: SampleSpace) -> list[Value]:
    """Return the distinct true labels."""
    return [] if space.label is None else list(space.columns[space.label].levels.tolist())


def truth_at(space: SampleSpace, loss: Loss, classes: Sequence[Value]) -> Values:
    """Return the true labels at all points as the loss needs them."""
    if space.label is None:
        return np.zeros(space.size)
    column = space.columns[space.label]
    if loss.needs == "score":
        place = {label: index for index, label in enumerate(classes)}
        return np.array([place[label] for label in column.levels.tolist()])[column.codes]
    if loss.needs == "value":
        try:
            return column.values().astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            msg = (
                f"{param('y')} must be numeric for the loss {loss.name!r}, got "
                f"{short_repr(column.levels[0])}"
            )
            raise DataError(msg) from None
    return column.values()
