"""Models as black boxes: the base class, estimators and callables, wrappers, identities."""

from __future__ import annotations

import pickle
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairtransport._core.environment import find_package, get_version
from fairtransport._core.validation import describe_error, is_among, short_repr
from fairtransport.errors import FairtransportError, InputError, ModelError, option, param

if TYPE_CHECKING:
    from builtins import property as overridable
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import Values
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer, Loss
else:

    class overridable:  # noqa: N801
        """A property that a plain attribute of a subclass or an instance can replace."""

        def __init__(self, compute: Callable[[BlackBox], object]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __get__(self, box: BlackBox | None, owner: type) -> object:
            if box is None:  # so that a dataclass field of this name has no default
                raise AttributeError
            return self.compute(box)


T = TypeVar("T")
LABEL_LOSS = (
    f"{option('loss', 'zero-one')} for labels, or {option('loss', 'squared')} with a "
    f"{param('loss_range')} for numbers"
)
SCORE_LOSSES = f"{option('loss', 'log')} or {option('loss', 'brier')}"
"""Losses for models that lack what the requested loss needs."""
CUT = 0.5
"""The score above which advice calls a label positive."""
LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Data frame libraries that a model can receive its points in."""


class BlackBox(ABC):
    """Base class of models that an audit queries, also of your own.

    A subclass must define `answer`. Other members have defaults, which class attributes, properties
    or instance attributes override.

    Attributes
    ----------
    name
        Name of the model in reports; default: the name of its class.
    description
        Description of the model in reports; default: its name.
    library
        Data frame library of the points it receives; None: that of the audit data.
    features
        Columns it receives, in order; None: all that the audit provides.
    classes
        Class labels in the order of its scores; None if unknown.
    identity
        Text that identifies the model and its version, without secrets; a query log stores answers
        under it. None: the model has none.
    points_per_call
        Maximum number of points per call of `answer`; None: all.
    answers_at_random
        Whether a repeated question can get another answer; None: unknown.
    controls
        Further columns that it receives, with their values, the usual value first: edits that
        should not matter, such as of a prompt. An audit compares sensitive edits with them. Empty:
        there are none, but any edit may change an answer; an audit without controls then says so.
        None: none are needed.
    is_streaming
        Whether `stream_answers` yields some answers before all have arrived.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> class Fixed(ft.access.BlackBox):
    ...     classes = [0, 1]
    ...     def answer(self, points, kind):
    ...         return [0] * len(points)
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> box = Fixed()
    >>> ft.audit(people, "good", model=box, sensitive_features="sex", rng=0).statistic
    0.0
    """

    @abstractmethod
    def answer(self, points: Any, kind: Answer) -> object:
        """Return labels, scores or values for a frame of points, one per row.

        Parameters
        ----------
        points
            A frame in ``library``, with the columns ``features``.
        kind
            "label", "score", "value" or "any": the kind of answer that the loss needs.

        Returns
        -------
        array-like
            One answer per row; scores have one column per class, in the order of ``classes``.

        Examples
        --------
        >>> box.answer(people[:2], "label")
        [0, 0]
        """

    def stream_answers(
        self, points: Any, kind: Answer, check: Callable[[Any, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield rows and their answers as they arrive; by default all of them at once.

        Parameters
        ----------
        points, kind
            As for `answer`.
        check
            Function that takes some answers and their number and returns checked answers. If it
            raises, no further question is sent, pending answers are still yielded, then the error
            is raised.

        Returns
        -------
        iterator of (rows, answers)
            The rows of the answered points, and the checked answers.

        Examples
        --------
        >>> list(box.stream_answers(people[:2], "label", lambda answers, count: answers))
        [(range(0, 2), [0, 0])]
        """
        # not a generator, in which a StopIteration of the model would become a RuntimeError
        size = len(points)
        answers = align_answers(self.name, points, self.answer(points, kind))
        return iter([(range(size), check(answers, size))])

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:  # noqa: ARG002
        """Return notes for readers of the answers; none by default.

        Parameters
        ----------
        predictions
            All answers so far, one per row.
        classes
            The class labels, in the order of scores.

        Returns
        -------
        tuple of str
            Sentences, which become warnings of the audit.

        Examples
        --------
        >>> box.notes_on(pd.Series([0, 0]).to_numpy(), [0, 1])
        ()
        """
        return ()

    @overridable
    def name(self) -> str:
        """Name of the model in reports."""
        return type(self).__name__

    @overridable
    def description(self) -> str:
        """How reports describe the model."""
        return self.name

    @overridable
    def library(self) -> str | None:
        """Library of the data frames it receives; None: that of the audit data."""
        return None

    @overridable
    def features(self) -> tuple[str, ...] | None:
        """Columns it receives, in order; None: all that the audit provides."""
        return None

    @overridable
    def classes(self) -> Sequence[Value] | None:
        """Class labels in the order of its scores; None if unknown."""
        return None

    @overridable
    def identity(self) -> str | None:
        """Text that identifies the model and its version; None if it has none."""
        return None

    @overridable
    def points_per_call(self) -> int | None:
        """Maximum number of points per call of `answer`; None: all."""
        return None

    @overridable
    def answers_at_random(self) -> bool | None:
        """Whether a repeated question can get another answer; None: unknown."""
        return None

    @overridable
    def controls(self) -> Mapping[str, Sequence[Value]] | None:
        """Further columns, edits of which should not matter, with their values."""
        return None

    @overridable
    def is_streaming(self) -> bool:
        """Whether `stream_answers` yields some answers before all have arrived."""
        return False


@dataclass(frozen=True, eq=False)
class Estimator(BlackBox):
    """A fitted scikit-learn-like estimator, pipelines included.

    If fitted on named columns, it receives a frame in ``library``, otherwise an array.

    Attributes
    ----------
    model
        The estimator.
    library
        Data frame library of the points it receives; None: that of the audit data.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": [0, 1] * 10, "grade": [1, 2, 3, 4] * 5})
    >>> model = LogisticRegression().fit(people, (people["grade"] > 2).astype(int))
    >>> box = ft.access.Estimator(model)
    >>> box.answer(people[:4], "label").tolist()
    [0, 0, 1, 1]
    """

    model: object
    library: str | None = "pandas"

    @property
    def name(self) -> str:
        """The estimator's class, for a pipeline that of its last step."""
        return type([step for _, step in self._steps][-1] if self._steps else self.model).__name__

    @property
    def description(self) -> str:
        """The estimator's class, for a pipeline those of all its steps."""
        names = [type(step).__name__ for _, step in self._steps]
        return ", then ".join(names) if names else self.name

    @property
    def _steps(self) -> list[tuple[str, object]]:
        """The named steps of a pipeline; empty if the model is none."""
        steps: object = getattr(self.model, "steps", None)
        if not isinstance(steps, list):
            return []
        is_pipeline = all(
            isinstance(step, tuple) and len(step) == 2  # noqa: PLR2004
            for step in steps
        )
        return list(steps) if is_pipeline else []

    @property
    def is_pipeline(self) -> bool:
        """Whether it has steps before its last one."""
        return len(self._steps) > 1

    @property
    def features(self) -> tuple[str, ...] | None:
        """Columns it was fitted on, if it stores them."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else tuple(plain_items(names) or (names,))

    @property
    def classes(self) -> list[Value] | None:
        """The labels it was fitted on."""
        classes: object = getattr(self.model, "classes_", None)
        return None if classes is None else plain_items(classes) or [classes]

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return ``predict_proba`` for scores, else ``predict``.

        Examples
        --------
        >>> box.answer(people[:4], "score").round(1).tolist()
        [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]]
        """
        self.check_method(kind)
        rows = np.asarray(points) if self.features is None else self._restore_types(points)
        return getattr(self.model, _method_for(kind))(rows)

    def check_method(self, kind: Answer) -> None:
        """Raise unless the estimator has the method that gives this kind of answer."""
        method = _method_for(kind)
        if hasattr(self.model, method):
            return
        if kind == "score":
            advice = (
                f"pass {LABEL_LOSS}. Where {param('predict')} returns probabilities, pass a "
                f"function for {param('model')}: lambda x: {self.call('predict')}"
            )
        else:
            advice = (
                f"pass {SCORE_LOSSES} for probabilities, or a function for {param('model')} that "
                f"cuts them, as in lambda x: ({self.call('predict_proba')}[:, 1] > {CUT})"
                ".astype(int)"
            )
        msg = f"{model_phrase(self)} has no {param(method)}, which this loss needs: "
        raise ModelError(msg + advice)

    def call(self, method: str) -> str:
        """Return a call of the model inside a function of a frame, for advice."""
        return f"model.{method}({'np.asarray(x)' if self.features is None else 'x'})"

    def _restore_types(self, points: IntoDataFrame) -> IntoDataFrame:
        """Return points with the categories that the model was fitted on."""
        last = self._steps[-1][1] if self._steps else self.model
        # the last step of a pipeline may receive other columns than the pipeline
        categories = find_categories(last) if last is self.model else {}
        if not categories or self.library != "pandas":
            return points
        import pandas as pd

        return (
            restore_categories(points, categories) if isinstance(points, pd.DataFrame) else points
        )


def _method_for(kind: Answer) -> str:
    """Return the method of an estimator that gives a kind of answer."""
    return "predict_proba" if kind == "score" else "predict"


@dataclass(frozen=True, eq=False)
class Function(BlackBox):
    """A callable that takes a frame of points and returns answers for the loss.

    It returns one label or number per point, or class scores with one column per class in the order
    of ``classes`` (default: the sorted labels of the audit data), or one score per point, that of
    the positive label. Data frame columns named after the classes may be in any order.

    Attributes
    ----------
    function
        Takes a frame, returns one answer per row.
    classes
        Class labels in the order of scores.
    features
        Columns it receives, in order; None: all that the audit provides.
    library
        Data frame library of the points it receives; None: that of the audit data.
    answers_at_random
        Whether a repeated question can get another answer; None: unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 10, "grade": [1, 2, 3, 4] * 5})
    >>> def grants(points):
    ...     return (points["grade"] > 2).astype(int)
    >>> box = ft.access.Function(grants, features=("grade",))
    >>> box.answer(people[:4], "label").tolist()
    [0, 0, 1, 1]
    """

    function: Callable[[Any], object]
    classes: Sequence[Value] | None = None
    features: tuple[str, ...] | None = None
    library: str | None = None
    answers_at_random: bool | None = None

    @property
    def name(self) -> str:
        """The callable's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:  # noqa: ARG002
        """Return what the callable returns.

        Examples
        --------
        >>> list(box.answer(people[:2], "label"))
        [0, 0]
        """
        return self.function(points)


def as_black_box(model: object, classes: Sequence[Value] | None = None) -> BlackBox:
    """Return the black box behind a user's ``model``.

    Parameters
    ----------
    model
        An estimator with ``predict`` or ``predict_proba``, a callable, or a black box, which is
        returned unchanged.
    classes
        Class labels in the order of scores, if the model does not provide them.

    Returns
    -------
    BlackBox
        The black box that an audit queries.

    Raises
    ------
    InputError
        If ``model`` is none of these.

    Examples
    --------
    >>> import fairtransport as ft
    >>> def grants(people):
    ...     return (people["income"] > 2).astype(int)
    >>> ft.access.as_black_box(grants).name
    'grants'
    >>> ft.access.as_black_box("a name")
    Traceback (most recent call last):
    fairtransport.errors.InputError: `model` must have `predict` or be callable, got 'a name';
    `fairtransport.access.load` reads a model from a file
    """
    if isinstance(model, type):
        msg = (
            f"{param('model')} must be a fitted estimator or a callable, got the class "
            f"{model.__name__}"
        )
        raise InputError(msg)
    if isinstance(model, BlackBox):
        return model
    if hasattr(model, "predict"):
        return Estimator(model)
    if callable(model):
        return Function(model, None if classes is None else list(classes))
    if hasattr(model, "predict_proba"):
        return Estimator(model)
    msg = f"{param('model')} must have `predict` or be callable, got {short_repr(model)}"
    if isinstance(model, str | PathLike):
        msg += "; `fairtransport.access.load` reads a model from a file"
    raise InputError(msg)


def named(model: object, identity: str) -> Named:
    """Give a model an identity, under which a query log stores its answers.

    Parameters
    ----------
    model
        A model as `audit` takes it.
    identity
        A name with a version, such as "claims model 2026-11". Give the same name only to the same
        system: its stored answers are reused.

    Returns
    -------
    Named
        The model, with an ``identity``.

    Raises
    ------
    InputError
        If the name is not text.

    Examples
    --------
    >>> import fairtransport as ft
    >>> model = ft.access.named(lambda points: [1] * len(points), "claims model 2026-11")
    >>> model.identity
    'named: claims model 2026-11'
    """
    if not isinstance(identity, str) or not identity.strip():
        msg = f"{param('identity')} must be text that names the model, got {short_repr(identity)}"
        raise InputError(msg)
    return Named(as_black_box(model), identity)


@dataclass(frozen=True, eq=False)
class Wrapper(BlackBox):
    """A black box that delegates everything to an inner one."""

    box: BlackBox

    def answer(self, points: Any, kind: Answer) -> object:
        """Return what the inner box returns."""
        return self.box.answer(points, kind)

    def stream_answers(
        self, points: Any, kind: Answer, check: Callable[[Any, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield rows and answers as the inner box does."""
        return self.box.stream_answers(points, kind, check)

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return notes for readers of the answers."""
        return self.box.notes_on(predictions, classes)

    @overridable
    def name(self) -> str:
        """Name of the model in reports."""
        return self.box.name

    @overridable
    def description(self) -> str:
        """How reports describe the model."""
        return self.box.description

    @overridable
    def library(self) -> str | None:
        """Library of the data frames that the model receives."""
        return self.box.library

    @overridable
    def features(self) -> tuple[str, ...] | None:
        """Columns that the model receives."""
        return self.box.features

    @overridable
    def classes(self) -> Sequence[Value] | None:
        """Class labels of the model."""
        return self.box.classes

    @overridable
    def identity(self) -> str | None:
        """Text that identifies the model."""
        return self.box.identity

    @overridable
    def points_per_call(self) -> int | None:
        """Maximum number of points per call."""
        return self.box.points_per_call

    @overridable
    def answers_at_random(self) -> bool | None:
        """Whether the model answers at random."""
        return self.box.answers_at_random

    @overridable
    def controls(self) -> Mapping[str, Sequence[Value]] | None:
        """Further columns of the model, edits of which should not matter."""
        return self.box.controls

    @overridable
    def is_streaming(self) -> bool:
        """Whether answers arrive in parts."""
        return self.box.is_streaming


def layers(box: BlackBox | None) -> Iterator[BlackBox]:
    """Yield a black box and those inside it, from the outside in."""
    inner = box
    while inner is not None:
        yield inner
        inner = inner.box if isinstance(inner, Wrapper) else None


def model_phrase(box: BlackBox) -> str:
    """Return the model's name for error messages, which mark a pipeline."""
    is_pipeline = any(isinstance(one, Estimator) and one.is_pipeline for one in layers(box))
    return f"the pipeline ending in {box.name}" if is_pipeline else f"the model {box.name}"


def has_notes(box: BlackBox) -> bool:
    """Return whether a black box may have notes on its answers."""
    silent = (BlackBox.notes_on, Wrapper.notes_on)
    return any(type(layer).notes_on not in silent for layer in layers(box))


NAME_IT = "give it one: fairtransport.access.named(model, 'a name with a version')"


@dataclass(frozen=True, eq=False)
class Named(Wrapper):
    """A black box under a name that its user vouches for."""

    own_name: str

    @property
    def identity(self) -> str:
        """The name."""
        return f"named: {self.own_name}"

    @property
    def description(self) -> str:
        """How a report describes the model."""
        return f"{super().description}, known as {self.own_name!r}"


@dataclass(frozen=True, eq=False)
class CheckedBox(Wrapper):
    """A black box whose properties were checked."""

    name: str
    description: str
    library: str | None
    features: tuple[str, ...] | None
    classes: list[Value] | None


def check_box(box: BlackBox) -> CheckedBox:
    """Check the properties of a black box once, before they are used."""
    name: object = box.name
    if not isinstance(name, str):
        msg = f"the model must have text as its name, got {short_repr(name)}"
        raise ModelError(msg)
    if box.library is not None and not is_among(box.library, LIBRARIES):
        msg = (
            f"the model {name} must have one of {', '.join(LIBRARIES)} as its library, "
            f"got {short_repr(box.library)}"
        )
        raise ModelError(msg)
    features = _check_distinct(box.features, f"the model {name} must have distinct column names")
    if features is not None and not all(isinstance(column, str) for column in features):
        msg = f"the model {name} must have distinct column names, got {short_repr(box.features)}"
        raise ModelError(msg)
    rule = f"the model {name} must have distinct classes, all text or all numbers"
    classes = _check_distinct(box.classes, rule)
    if classes is not None and len({isinstance(label, str) for label in classes}) > 1:
        msg = f"{rule}, got {short_repr(box.classes)}"
        raise ModelError(msg)
    _check_controls(box.controls, features or (), name)
    return CheckedBox(
        box, name, str(box.description), box.library,
        None if features is None else tuple(features), classes,
    )  # fmt: skip


def _check_controls(controls: object, features: Sequence[str], name: str) -> None:
    """Check that a model's controls are no features, and have several values."""
    rule = f"the model {name} must have controls that map new columns to two values or more"
    if controls is None:
        return
    if not isinstance(controls, Mapping):
        msg = f"{rule}, got {short_repr(controls)}"
        raise ModelError(msg)
    for column, values in controls.items():
        levels = _check_distinct(values, rule)
        if not isinstance(column, str) or column in features or len(levels or ()) < 2:  # noqa: PLR2004
            msg = f"{rule}, got {short_repr(dict(controls))}"
            raise ModelError(msg)


def _check_distinct(values: object, rule: str) -> list[Any] | None:
    """Return distinct single values as a list; None stays None."""
    if values is None:
        return None
    items = plain_items(values)
    if (
        not items
        or not all(isinstance(item, Hashable) for item in items)
        or len(set(items)) < len(items)
        # NaN differs from itself
        or any(item != item for item in items)  # noqa: PLR0124
    ):
        msg = f"{rule}, got {short_repr(values)}"
        raise ModelError(msg)
    return items


def plain_items(values: object) -> list[Any] | None:
    """Return the items of a list or an array as plain Python objects; None if it is neither."""
    items = values.tolist() if hasattr(values, "tolist") else values
    return list(items) if isinstance(items, list | tuple) else None


@dataclass(frozen=True, eq=False)
class Access:
    """Source of predictions: a model, or the values passed as ``parameter``."""

    parameter: str
    box: BlackBox | None = None
    predictions: object = None

    @property
    def name(self) -> str:
        """Name of the audited predictions in reports."""
        return "given predictions" if self.box is None else self.box.description

    @property
    def who(self) -> str:
        """Source of the predictions in error messages."""
        return f"{param(self.parameter)}" if self.box is None else model_phrase(self.box)

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return notes for readers of the answers."""
        return () if self.box is None else self.box.notes_on(predictions, classes)

    @property
    def features(self) -> tuple[str, ...] | None:
        """Columns that the model requires by name."""
        return None if self.box is None else self.box.features

    @property
    def answers_at_random(self) -> bool | None:
        """Whether the model declares random or fixed answers; None: neither."""
        answer = None if self.box is None else self.box.answers_at_random
        return None if answer is None else bool(answer)

    @property
    def classes(self) -> Sequence[Value] | None:
        """Class labels of the model; None if unknown or without a model."""
        return None if self.box is None else self.box.classes

    @property
    def controls(self) -> Mapping[str, Sequence[Value]] | None:
        """Further columns of the model, edits of which should not matter; None: none needed."""
        return None if self.box is None else self.box.controls


def choose_access(model: object, y_pred: object, y_score: object, loss: Loss) -> Access:
    """Return the source of predictions, if the loss can be computed from them."""
    ways = {"model": model, "y_pred": y_pred, "y_score": y_score}
    passed = [name for name, value in ways.items() if value is not None]
    if len(passed) != 1:
        need = "none; name the column of the decisions, or give the model"
        got = " and ".join(f"{param(name)}" for name in passed) or need
        msg = (
            f"exactly one of {param('model')}, {param('y_pred')} and {param('y_score')} must be "
            f"given, got {got}"
        )
        raise InputError(msg)
    (parameter,) = passed
    if parameter == "model":
        return _access_model(model, loss)
    if loss.needs == "label" and parameter == "y_score":
        msg = (
            f"the loss {loss.name!r} needs labels: give {SCORE_LOSSES}, or cut the probabilities "
            f"into labels and give them as {param('y_pred')}"
        )
        raise InputError(msg)
    if loss.needs == "score" and parameter == "y_pred":
        msg = (
            f"the loss {loss.name!r} needs probabilities: give {param('y_score')} instead of "
            f"{param('y_pred')}"
        )
        raise InputError(msg)
    return Access(parameter, predictions=ways[parameter])


def _access_model(model: object, loss: Loss) -> Access:
    """Return the access to a model, whose properties may fail."""
    try:
        access = Access("model", box=check_box(as_black_box(model)))
        for layer in layers(access.box):
            if isinstance(layer, Estimator):
                layer.check_method(loss.needs)
    except (FairtransportError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # even SystemExit
        msg = (
            f"the model of class {type(model).__name__} failed when its attributes were read: "
            f"{describe_error(error)}"
        )
        raise ModelError(msg) from error
    return access


def align_answers(name: str, points: object, answers: object) -> object:
    """Return answers in the order of the points, matched by a pandas index."""
    if isinstance(answers, np.ndarray | list | tuple):
        return answers
    import narwhals as nw

    frame = nw.from_native(points, eager_only=True, pass_through=True)
    table = nw.from_native(answers, allow_series=True, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not isinstance(table, nw.DataFrame | nw.Series):
        return answers
    own, other = nw.maybe_get_index(frame), nw.maybe_get_index(table)
    # the number of answers is checked later
    if own is None or other is None or len(own) != len(other) or own.equals(other):
        return answers
    if not other.is_unique or not own.isin(other).all():
        unknown = other[~other.isin(own)]
        wrong = unknown[0] if len(unknown) else other[other.duplicated()][0]
        msg = (
            f"the model {name} must answer in the index of the frame it receives, in any order, "
            f"got {short_repr(wrong)} in the index of its {type(answers).__name__}; return an "
            "array to go by position"
        )
        raise ModelError(msg)
    return answers.loc[own]  # type: ignore[attr-defined]


def find_identity(box: BlackBox) -> str:
    """Return the identity of a black box; raise if it has none.

    Endpoints, prompts and files have their own. The identity of an estimator is the hash of its
    content with the versions of the packages of its code. Callables have none; nor have estimators
    with other code, whose changes no hash would show.
    """
    identity = "" if box.identity is None else str(box.identity)
    if identity.strip():
        return identity
    for inner in layers(box):
        if isinstance(inner, Estimator):
            return _hash_estimator(inner)
    msg = (
        f"{param('queries.log')} needs a model with an identity, which the callable {box.name} "
        "lacks; "
    )
    msg += NAME_IT
    raise InputError(msg)


def _hash_estimator(box: Estimator) -> str:
    """Return the hash of an estimator's content, with the packages of its code."""
    import joblib

    try:
        content = pickle.dumps(box.model, protocol=2, fix_imports=False)
        digest = joblib.hash(box.model, hash_name="sha1")
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # even SystemExit
        msg = (
            f"{param('queries.log')} needs a model with an identity, and {box.name} cannot be "
            "hashed "
            f"({describe_error(error)}); {NAME_IT}"
        )
        raise InputError(msg) from error
    return f"estimator: {digest}, {', '.join(_list_packages(box, content))}"


def _list_packages(box: Estimator, content: bytes) -> list[str]:
    """Return the packages, with versions, of the code in a pickled model."""
    import sys
    from pickletools import genops

    modules = {
        str(argument).split()[0].split(".")[0]
        for code, argument, _ in genops(content)
        if code.name == "GLOBAL"
    }
    packages = []
    for module in sorted(modules - set(sys.stdlib_module_names) - {"__builtin__"}):
        package = None if module == "__main__" else find_package(module)
        if package is None:
            msg = (
                f"{param('queries.log')} needs a model with an identity, and {box.name} has code "
                f"from {module!r}, which is no installed package; {NAME_IT}"
            )
            raise InputError(msg)
        packages.append(f"{module} {get_version(package)}")
    return packages


CATEGORICAL = re.compile(r"\[categorical_feature: ([\d,]+)\]")


def find_categories(model: object) -> dict[int, list[Value]]:
    """Return the categories of a model's columns by position; empty if it keeps none.

    LightGBM's boosters keep the categories of pandas columns in the columns' order, and the
    positions of these among their parameters.
    """
    booster = getattr(model, "booster_", model)
    levels = getattr(booster, "pandas_categorical", None)
    if not levels or not hasattr(booster, "model_to_string"):
        return {}
    # the parameters do not depend on the number of trees
    match = CATEGORICAL.search(booster.model_to_string(num_iteration=1))
    places = [] if match is None else [int(place) for place in match[1].split(",")]
    return dict(zip(places, levels, strict=True)) if len(places) == len(levels) else {}


def restore_categories(points: pd.DataFrame, categories: dict[int, list[Value]]) -> pd.DataFrame:
    """Return a frame with the model's categorical columns; unknown levels stay levels."""
    import pandas as pd

    frame = points.copy(deep=False)
    for place, levels in categories.items():
        name = frame.columns[place]
        codes, values = pd.factorize(frame[name])
        all_levels = pd.Index(dict.fromkeys([*levels, *values.tolist()]))
        # the code of a missing value is -1, which indexes the last entry
        level_codes = np.r_[all_levels.get_indexer(values), -1][codes]
        frame[name] = pd.Categorical.from_codes(level_codes, categories=all_levels)
    return frame
