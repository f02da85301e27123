"""Questions to the black box, all at once or in parts, every answer checked."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.wrapping import arriving_of
from fairtransport.checks import FloatArray, is_real, reason, said, shown
from fairtransport.errors import FairtransportError, ModelError
from fairtransport.space.columns import object_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from narwhals.typing import IntoDataFrame
    from numpy.typing import NDArray

    from fairtransport.access.boxes import BlackBox
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values

TYPES = re.compile(r"dtype|categor|could not convert|to float", re.IGNORECASE)
"""What models say when they want other types."""
SUM_TOLERANCE = 1e-3
"""How far a row of class scores may be from summing to one (single precision, rounding)."""

PASSED_ON = (FairtransportError, KeyboardInterrupt, GeneratorExit)
"""What is no failure of a model."""


def ask(
    box: BlackBox, points: IntoDataFrame, size: int, kind: Answer, classes: Sequence[Value] | None,
    positive: Value, bins: Mapping[str, object] | None = None,
) -> Values:  # fmt: skip
    """Ask for ``size`` points at once and check what comes back.

    Parameters
    ----------
    box, points, size
        Whom to ask, the frame of points, and how many there are.
    kind
        What the loss needs.
    classes
        The labels that can occur, in the order scores are returned in; None: not known.
    positive
        The label that a single score a point belongs to.
    bins
        The columns that were cut into bins: where the model fails they may be why.

    Returns
    -------
    Labels (size,), numbers (size,) or scores (size, number of classes).

    Raises
    ------
    ModelError
        If the model fails, or answers something that the loss cannot use.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> box = ft.access.as_black_box(lambda asked: (asked["grade"] > 2).astype(int))
    >>> asked = pd.DataFrame({"grade": [1, 2, 3]})
    >>> ft.access.ask(box, asked, 3, "label", classes=[0, 1], positive=1).tolist()
    [0, 0, 1]
    """
    try:
        return _checked(box, box.answer(points, kind), size, kind, classes, positive)
    except PASSED_ON:
        raise
    except BaseException as error:  # a model that ends the program has not answered either
        raise _failure(box, points, size, bins, error) from error


def ask_in_parts(
    box: BlackBox, points: IntoDataFrame, size: int, kind: Answer, classes: Sequence[Value] | None,
    positive: Value, bins: Mapping[str, object] | None = None,
) -> Iterator[tuple[Sequence[int], Values]]:  # fmt: skip
    """Ask as `ask` does, and yield places and answers as they come, each checked.

    Parameters
    ----------
    box, points, size, kind, classes, positive, bins
        As in `ask`.

    Yields
    ------
    places, answers
        Of some points. A box whose answers come all together yields once.
    """
    arriving = arriving_of(box)
    if arriving is None:
        yield range(size), ask(box, points, size, kind, classes, positive, bins)
        return

    def read(answer: object, many: int) -> Values:
        """Return a part of the answers if it can be used."""
        return _checked(box, answer, many, kind, classes, positive)

    try:
        yield from arriving(points, kind, read)
    except PASSED_ON:
        raise
    except BaseException as error:
        raise _failure(box, points, size, bins, error) from error


def _failure(
    box: BlackBox, points: IntoDataFrame, size: int, bins: Mapping[str, object] | None,
    error: BaseException,
) -> ModelError:  # fmt: skip
    """Return what is said of a model that failed.

    A context manager could not raise it: it takes a `ModelError`, which is a RuntimeError, from
    a StopIteration for Python's own and lets the model's error pass.

    Parameters
    ----------
    box, points, size
        Who was asked, what about, and about how many.
    bins
        Columns that the model received as names of bins, perhaps unlike what it was fitted on.
    error
        What it raised.
    """
    cut = f"; it receives the names of the bins of {', '.join(bins)}, as text" if bins else ""
    failed = f"the model {box.name} failed on {size} points: {said(error)}"
    return ModelError(f"{failed}{cut}{_about_types(points, error)}")


def _checked(
    box: BlackBox, answer: object, size: int, kind: Answer, classes: Sequence[Value] | None,
    positive: Value,
) -> Values:  # fmt: skip
    """Return what a model gave if it can be used.

    Parameters
    ----------
    box
        Who answered.
    answer
        What came back.
    size, kind, classes, positive
        As in `ask`.

    Raises
    ------
    ModelError
        Saying what must come and what came.
    """
    who, array = f"the model {box.name}", np.asarray(answer)
    if np.ma.is_masked(answer):
        masked = np.ma.getmaskarray(np.ma.asanyarray(answer))
        msg = f"{who} must not give masked answers, got {int(masked.sum())}"
        raise ModelError(msg)
    if kind == "score":
        own = list(classes or ()) if box.classes is None else box.classes
        return check_scores(who, array, size, own, classes or own, positive)
    array = _one_a_point(who, array, size)
    if kind == "value":
        return check_values(who, array)
    if kind == "any":
        return array
    return check_labels(who, array, classes)


def _about_types(points: IntoDataFrame, error: BaseException) -> str:
    """Return what to do where a model wants its columns of another type, as far as that is told.

    Parameters
    ----------
    points
        What it was given.
    error
        What it said; only words about types lead to advice.
    """
    if not TYPES.search(reason(error)):
        return ""
    import narwhals as nw

    frame = nw.from_native(points, eager_only=True)
    text = [name for name, kind in frame.schema.items() if kind in {nw.String, nw.Object}]
    if not text:
        return ""
    wanted = ", ".join(f"{name!r}: 'category'" for name in text[:8])
    return (
        f"; the columns {', '.join(text[:8])} were handed over as text: where the model was fitted "
        "on categories, pass `X` as a pandas frame with these, or a function for `model`, as in "
        f"lambda x: model.predict(x.astype({{{wanted}}}))"
    )


def check_labels(who: str, labels: Values, classes: Sequence[Value] | None) -> Values:
    """Return the labels if all of them are known, or could be where ``classes`` is None.

    Parameters
    ----------
    who
        Who gave them, for messages.
    labels
        One a point.
    classes
        Those that can occur; None: not known.

    Raises
    ------
    ModelError
        Naming the first that is none.
    """
    known = None if classes is None else set(classes)
    for label in labels.tolist():
        if known is None and not _is_label(label):
            msg = f"{who} must give labels, got {shown(label)}"
            raise ModelError(msg)
        if known is not None and not (isinstance(label, Hashable) and label in known):
            shown_classes = ", ".join(shown(one, 20) for one in list(classes or ())[:8])
            msg = f"{who} gave the unknown label {shown(label)}; known: {shown_classes}"
            raise ModelError(msg + _about_numbers(label))
    return labels


def _about_numbers(label: object) -> str:
    """Return what to do with a model that gives numbers, as a regressor does.

    Parameters
    ----------
    label
        What it gave where a label was wanted.
    """
    if not isinstance(label, float) or not math.isfinite(label) or label.is_integer():
        return ""
    return (
        ". A model of numbers takes loss='squared' or loss='absolute' with a `loss_range`; for "
        "labels, pass a function for `model` that cuts them, as in "
        "lambda x: (model.predict(x) > 0.5).astype(int)"
    )


def _is_label(value: object) -> bool:
    """Say whether a value is text, a truth value or a finite number.

    Parameters
    ----------
    value
        Anything that a model may return.

    Examples
    --------
    >>> [_is_label(value) for value in ("yes", 1, True, 0.5, float("nan"), None)]
    [True, True, True, True, False, False]
    """
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def check_values(who: str, values: Values) -> FloatArray:
    """Return predictions as finite numbers.

    Parameters
    ----------
    who
        Who gave them, for messages.
    values
        Of any shape.

    Raises
    ------
    ModelError
        If they are no numbers, or not finite.

    Examples
    --------
    >>> check_values("the model", np.array([1, 2])).tolist()
    [1.0, 2.0]
    """
    try:
        numbers = values.astype(np.float64) if is_real(values) else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        msg = f"{who} must give numbers for this loss, got {shown(values.flat[0])}"
        raise ModelError(msg)
    _refuse_unusable(who, numbers, np.isfinite(numbers), "finite numbers")
    return numbers


def check_scores(
    who: str, scores: Values, size: int, own: Sequence[Value], classes: Sequence[Value],
    positive: Value,
) -> FloatArray:  # fmt: skip
    """Return class scores as probabilities in the order of ``classes``.

    ``own`` is the order in which the model gives them; a class that it does not know gets 0.

    Parameters
    ----------
    who
        Who gave them, for messages.
    scores
        (size, classes), or one a point: that of ``positive``.
    size
        How many points there are.
    own, classes
        The model's order of classes, and the audit's.
    positive
        The label of a single score; it needs two classes.

    Raises
    ------
    ModelError
        If they are not in [0, 1], do not sum to 1, or have the wrong shape.

    Examples
    --------
    >>> check_scores("it", np.array([0.25]), 1, ["no", "yes"], ["no", "yes"], "yes").tolist()
    [[0.75, 0.25]]
    """
    array = check_values(who, scores)
    _refuse_unusable(who, array, (array >= 0) & (array <= 1), "scores in [0, 1]")
    if array.shape in {(size,), (size, 1)}:
        array = _two_columns(who, array.reshape(size), own, positive)
    if array.shape != (size, len(own)):
        msg = f"{who} must give {size} rows of {len(own)} class scores, got shape {array.shape}"
        raise ModelError(msg)
    sums = array.sum(axis=1)
    _refuse_unusable(who, sums, np.abs(sums - 1) <= SUM_TOLERANCE, "class scores that sum to 1")
    # what rounding left over would lift a bounded loss above its range
    array = array / sums[:, None]
    place = {label: at for at, label in enumerate(own)}
    # a class that the model does not know has probability 0
    ordered = np.zeros((size, len(classes)))
    for at, label in enumerate(classes):
        if label in place:
            ordered[:, at] = array[:, place[label]]
    return ordered


def _two_columns(who: str, score: FloatArray, own: Sequence[Value], positive: Value) -> FloatArray:
    """Return a single score a point as two columns, in the model's own order.

    Raises
    ------
    ModelError
        If there are not two classes with the positive one among them.

    Examples
    --------
    The score is that of ``pos_label``, whichever place the model gives it.

    >>> _two_columns("the model", np.array([0.75]), ["no", "yes"], "yes").tolist()
    [[0.25, 0.75]]
    >>> _two_columns("the model", np.array([0.75]), ["no", "yes"], "no").tolist()
    [[0.75, 0.25]]
    """
    if len(own) != 2 or positive not in own:  # noqa: PLR2004
        msg = (
            f"{who} gave one score a point, which needs two classes and "
            f"`pos_label` among them; classes: {shown(list(own))}, `pos_label`: {shown(positive)}"
        )
        raise ModelError(msg)
    at_end = np.column_stack([1 - score, score])
    return at_end if own[1] == positive else at_end[:, ::-1]


def _one_a_point(who: str, array: Values, size: int) -> Values:
    """Return an array with one entry a point; a single column will do.

    Raises
    ------
    ModelError
        If it has another shape.

    Examples
    --------
    >>> _one_a_point("the model", np.array([[1], [0]]), 2).tolist()
    [1, 0]
    """
    if array.shape == (size, 1):
        array = array[:, 0]
    if array.shape != (size,):
        msg = f"{who} must give one label or number a point ({size}), got shape {array.shape}"
        raise ModelError(msg)
    return array


def _refuse_unusable(who: str, values: FloatArray, good: NDArray[np.bool_], rule: str) -> None:
    """Refuse answers of which some are not as they must be.

    Parameters
    ----------
    who, rule
        Who gave them, and what they must be, for the message.
    values
        The answers.
    good
        Which of them are.
    """
    if not good.all():
        bad = values[~good]
        msg = f"{who} must give {rule}, got {bad.flat[0]:g} for {len(bad)} of {good.size}"
        raise ModelError(msg)


def check_kept(
    who: str, answers: list[object], kind: Answer, expected: Sequence[Value] | None, positive: Value
) -> None:
    """Refuse answers of a log that a model could not have given, and so are none of its.

    Parameters
    ----------
    who
        The log, for messages.
    answers
        As they were kept.
    kind, expected, positive
        What the loss needs, the classes that can occur, and the label of a single score.

    Raises
    ------
    ModelError
        As for answers that a model gives now.
    """
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
    """Return answers as plain Python values.

    Parameters
    ----------
    values
        An array, or a list, which is returned as it is.
    """
    return values if isinstance(values, list) else list(values.tolist())


def as_array(values: Sequence[object]) -> Values:
    """Return an array of numbers if all values are, else one of objects.

    Parameters
    ----------
    values
        Labels, numbers or rows of scores. Mixed ones must not become text.

    Examples
    --------
    >>> as_array([1, 2.5]).dtype.kind, as_array([1, "yes"]).dtype.kind
    ('f', 'O')
    """
    if all(type(value) in (bool, int, float, list) for value in values):
        return np.array(values)
    return object_array(values)
