"""Where answers come from: estimators and callables as black boxes, or predictions given."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from fairtransport.access.categories import remembered_categories, with_categories
from fairtransport.checks import is_among, shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.losses import Answer, Loss
    from fairtransport.space.columns import Value, Values


LABEL_LOSS = "loss='zero-one' for labels, or loss='squared' with a `loss_range` for numbers"
SCORE_LOSS = "loss='log' or loss='brier' for class scores"
"""Losses for models that give something else than the one asked for."""
LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""The libraries that points can be handed over in."""


@runtime_checkable
class BlackBox(Protocol):
    """What an audit needs to know of a model: a protocol, for classes of your own.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> class Fixed:
    ...     name, library, features, classes = "no", "pandas", None, [0, 1]
    ...     def answer(self, points, kind):
    ...         return [0] * len(points)
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 9, "good": [0, 1, 1, 1, 1, 0] * 3})
    >>> box = Fixed()
    >>> ft.audit(people, "good", model=box, sensitive_features="sex", rng=0).statistic
    0.0
    """

    @property
    def name(self) -> str:
        """How a report names the model.

        Returns
        -------
        str

        Examples
        --------
        >>> box.name
        'no'
        """
        ...

    @property
    def library(self) -> str | None:
        """The data frame library it wants its points in; None: that of the audit data.

        Returns
        -------
        str | None

        Examples
        --------
        >>> box.library
        'pandas'
        """
        ...

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns it wants, in its order; None: all that the audit gives it.

        Returns
        -------
        tuple[str, ...] | None

        Examples
        --------
        >>> print(box.features)
        None
        """
        ...

    @property
    def classes(self) -> Sequence[Value] | None:
        """The labels it knows, in the order of its scores; None if it does not say.

        Returns
        -------
        Sequence[Value] | None

        Examples
        --------
        >>> box.classes
        [0, 1]
        """
        ...

    def answer(self, points: Any, kind: Answer) -> object:
        """Return labels, scores or values for a frame of points, one a row.

        Parameters
        ----------
        points
            A frame in ``library``, with the columns ``features``.
        kind
            "label", "score", "value" or "any": what the loss needs.

        Returns
        -------
        array-like
            One answer a row; of scores one column a class, in the order of ``classes``.

        Examples
        --------
        >>> box.answer(people[:2], "label")
        [0, 0]
        """
        ...


def identity_of(box: object) -> str | None:
    """Return the text that tells a box and its version from all others; None if it has none.

    It names the model, the hash of its file or its address, protocol and settings; never a
    secret, and never where a file lies.

    Parameters
    ----------
    box
        Any black box; ``identity`` is optional for one.
    """
    identity = getattr(box, "identity", None)
    return None if identity is None else str(identity)


def notes_on(box: object, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
    """Return what a box says that readers of its answers should know.

    Parameters
    ----------
    box
        Any black box; ``notes_on`` is optional for one.
    predictions, classes
        What it answered, and the labels that can occur.
    """
    told = getattr(box, "notes_on", None)
    return () if told is None else tuple(told(predictions, classes))


def batches_of(box: object) -> int | None:
    """Return how many points a box is best asked about at once; None: all.

    Parameters
    ----------
    box
        Any black box; ``batches`` is optional for one.
    """
    size = getattr(box, "batches", None)
    return None if size is None else int(size)


@dataclass(frozen=True, eq=False)
class Estimator:
    """A fitted scikit-learn-like estimator, pipelines included.

    One that was fitted on named columns receives a frame, in ``library``; another receives an
    array.

    Attributes
    ----------
    model
        The estimator.
    library
        The data frame library that it wants; None: that of the audit data.

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
        """The estimator's class, for a pipeline that of its last step.

        Returns
        -------
        str

        Examples
        --------
        >>> box.name
        'LogisticRegression'
        """
        return type([step for _, step in self._steps][-1] if self._steps else self.model).__name__

    @property
    def description(self) -> str:
        """The estimator's class, for a pipeline those of all its steps.

        Returns
        -------
        str

        Examples
        --------
        >>> print(box.description)
        LogisticRegression
        """
        names = [type(step).__name__ for _, step in self._steps]
        return ", then ".join(names) if names else self.name

    @property
    def _steps(self) -> list[tuple[str, object]]:
        """The named steps of a pipeline; other models may mean something else by the word."""
        steps: object = getattr(self.model, "steps", None)
        if not isinstance(steps, list):
            return []
        is_pipeline = all(
            isinstance(step, tuple) and len(step) == 2  # noqa: PLR2004
            for step in steps
        )
        return list(steps) if is_pipeline else []

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns it was fitted on, where it remembers them.

        Returns
        -------
        tuple[str, ...] | None

        Examples
        --------
        >>> box.features
        ('sex', 'grade')
        """
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else tuple(plain_items(names) or (names,))

    @property
    def classes(self) -> list[Value] | None:
        """The labels it was fitted on.

        Returns
        -------
        list[Value] | None

        Examples
        --------
        >>> box.classes
        [0, 1]
        """
        classes: object = getattr(self.model, "classes_", None)
        listed = plain_items(classes) or [classes]
        return None if classes is None else listed

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return ``predict_proba`` where scores are asked for, else ``predict``.

        Parameters
        ----------
        points
            A frame of people.
        kind
            "label", "score", "value" or "any": what the loss needs.

        Returns
        -------
        array-like
            One answer a row; of scores one column a class, in the order of ``classes``.

        Raises
        ------
        ModelError
            If scores are asked for and the estimator has none.

        Examples
        --------
        >>> box.answer(people[:4], "score").round(1).tolist()
        [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]]
        """
        method = "predict_proba" if kind == "score" else "predict"
        if not hasattr(self.model, method):
            msg = (
                f"the model {self.name} has no `{method}`, which a loss on {kind}s needs: pass "
                f"{LABEL_LOSS if kind == 'score' else SCORE_LOSS}"
            )
            raise ModelError(msg)
        rows = np.asarray(points) if self.features is None else self._typed(points)
        return getattr(self.model, method)(rows)

    def _typed(self, points: IntoDataFrame) -> IntoDataFrame:
        """Return points with the categories that the model was fitted on.

        Parameters
        ----------
        points
            As the audit has them. Frames of other libraries than pandas stay as they are.
        """
        last = self._steps[-1][1] if self._steps else self.model
        # what earlier steps of a pipeline make of the columns is theirs to know
        known = remembered_categories(last) if last is self.model else {}
        if not known or self.library != "pandas":
            return points
        import pandas as pd

        return with_categories(points, known) if isinstance(points, pd.DataFrame) else points


@dataclass(frozen=True, eq=False)
class Function:
    """A callable that takes a frame of points and returns what the loss needs.

    That is one label or number a point, or class scores with one column a class in the
    order of ``classes`` (default: the labels of the audit data, sorted), or one score a point,
    that of the positive label. ``answers_at_random`` says whether the same question gets other
    answers when it is asked again; None: nothing.

    Attributes
    ----------
    function
        Takes a frame, returns one answer a row.
    classes
        The labels that scores are about.
    features
        The columns it wants; None: all that the audit gives it.
    library
        The data frame library it wants; None: that of the audit data.
    answers_at_random
        Whether it answers the same question differently; None: not known.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairtransport as ft
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 10, "grade": [1, 2, 3, 4] * 5})
    >>> def grants(asked):
    ...     return (asked["grade"] > 2).astype(int)
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
        """The callable's name.

        Returns
        -------
        str

        Examples
        --------
        >>> box.name
        'grants'
        """
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:  # noqa: ARG002
        """Return what the callable returns.

        Parameters
        ----------
        points
            A frame of people.
        kind
            "label", "score", "value" or "any": what the loss needs.

        Returns
        -------
        array-like
            What the callable returned, as it is; the audit looks at it afterwards.

        Examples
        --------
        >>> list(box.answer(people[:2], "label"))
        [0, 0]
        """
        return self.function(points)


@dataclass(frozen=True, eq=False)
class Described:
    """A black box whose description of itself was checked.

    Attributes
    ----------
    box
        The box itself, which answers.
    name, description
        How messages and reports name it.
    library
        What it wants its points in; None: that of the audit data.
    features, classes
        Its columns and labels, as plain lists; None where it does not say.
    """

    box: BlackBox
    name: str
    description: str
    library: str | None
    features: tuple[str, ...] | None
    classes: list[Value] | None

    @property
    def identity(self) -> str | None:
        """What tells the box from others."""
        return identity_of(self.box)

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return what readers of the answers should know.

        Parameters
        ----------
        predictions, classes
            What it answered, and the labels that can occur.
        """
        return notes_on(self.box, predictions, classes)

    @property
    def batches(self) -> int | None:
        """How many points it is best asked about at once; None: all."""
        return batches_of(self.box)

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return what the box returns.

        Parameters
        ----------
        points, kind
            As in `BlackBox.answer`.
        """
        return self.box.answer(points, kind)


def described(box: BlackBox) -> Described:
    """Check what a black box says of itself, once, before anything is built on it.

    Parameters
    ----------
    box
        Perhaps written by the user.

    Raises
    ------
    ModelError
        If its name, library, features or classes are not what they must be.
    """
    name: object = box.name
    if not isinstance(name, str):
        msg = f"the model must have text as its name, got {shown(name)}"
        raise ModelError(msg)
    if box.library is not None and not is_among(box.library, LIBRARIES):
        msg = (
            f"the model {name} must have one of {', '.join(LIBRARIES)} as its library, "
            f"got {shown(box.library)}"
        )
        raise ModelError(msg)
    features = _distinct(box.features, f"the model {name} must have distinct column names")
    if features is not None and not all(isinstance(one, str) for one in features):
        msg = f"the model {name} must have distinct column names, got {shown(box.features)}"
        raise ModelError(msg)
    rule = f"the model {name} must have distinct classes, all text or all numbers"
    classes = _distinct(box.classes, rule)
    if classes is not None and len({isinstance(one, str) for one in classes}) > 1:
        msg = f"{rule}, got {shown(box.classes)}"
        raise ModelError(msg)
    return Described(
        box, name, str(getattr(box, "description", name)), box.library,
        None if features is None else tuple(features), classes,
    )  # fmt: skip


def _distinct(given: object, rule: str) -> list[Any] | None:
    """Return distinct single values as a list, or say what the model must have.

    Parameters
    ----------
    given
        A list, tuple or array; None stays None.
    rule
        The beginning of the message.

    Raises
    ------
    ModelError
        If it is empty, or holds something twice or something that cannot be compared.
    """
    if given is None:
        return None
    listed = plain_items(given)
    if (
        not listed
        or not all(isinstance(one, Hashable) for one in listed)
        or len(set(listed)) < len(listed)
        # NaN differs from itself
        or any(one != one for one in listed)  # noqa: PLR0124
    ):
        msg = f"{rule}, got {shown(given)}"
        raise ModelError(msg)
    return listed


def plain_items(given: object) -> list[Any] | None:
    """Return what a list or an array holds, as plain Python objects; None if it is neither.

    Parameters
    ----------
    given
        Anything.

    Examples
    --------
    >>> plain_items(np.array([1, 2])), plain_items(("a", "b")), plain_items("ab")
    ([1, 2], ['a', 'b'], None)
    """
    listed = given.tolist() if hasattr(given, "tolist") else given
    return list(listed) if isinstance(listed, list | tuple) else None


def as_black_box(model: object, classes: Sequence[Value] | None = None) -> BlackBox:
    """Return the black box behind a user's ``model``.

    Parameters
    ----------
    model
        An estimator with ``predict``, a callable, or a black box, which is returned as it is.
    classes
        The labels that scores are about, where the model does not say.

    Returns
    -------
    BlackBox
        What an audit asks.

    Raises
    ------
    InputError
        If it can be asked in no known way.

    Examples
    --------
    >>> import fairtransport as ft
    >>> def grants(people):
    ...     return (people["income"] > 2).astype(int)
    >>> ft.access.as_black_box(grants).name
    'grants'
    >>> ft.access.as_black_box("a name")
    Traceback (most recent call last):
    fairtransport.errors.InputError: `model` must have `predict` or be callable, got 'a name'
    """
    if isinstance(model, type):
        msg = f"`model` must be a fitted estimator or a callable, got the class {model.__name__}"
        raise InputError(msg)
    if isinstance(model, BlackBox):
        return model
    if hasattr(model, "predict"):
        return Estimator(model)
    if callable(model):
        return Function(model, None if classes is None else list(classes))
    msg = f"`model` must have `predict` or be callable, got {shown(model)}"
    raise InputError(msg)


@dataclass(frozen=True, eq=False)
class Access:
    """How predictions are had.

    ``parameter`` is the name of the argument they came in.

    Attributes
    ----------
    parameter
        ``model``, ``y_pred`` or ``y_score``.
    box
        The model; None where predictions were given.
    given
        The predictions; None where a model is asked.
    """

    parameter: str
    box: BlackBox | None = None
    given: object = None

    @property
    def name(self) -> str:
        """How a report names what was audited."""
        if self.box is None:
            return "given predictions"
        return str(getattr(self.box, "description", self.box.name))

    @property
    def who(self) -> str:
        """How a message names where answers come from."""
        return f"`{self.parameter}`" if self.box is None else f"the model {self.box.name}"

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return what readers of the answers should know.

        Parameters
        ----------
        predictions, classes
            What came, and the labels that can occur.
        """
        return notes_on(self.box, predictions, classes)

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns the model asks for by name."""
        return None if self.box is None else self.box.features

    @property
    def classes(self) -> Sequence[Value] | None:
        """The labels the model knows; None if it does not say or there is none."""
        return None if self.box is None else self.box.classes


def choose_access(model: object, y_pred: object, y_score: object, loss: Loss) -> Access:
    """Return the one way of access a user gave, if the loss can be computed from it.

    Parameters
    ----------
    model, y_pred, y_score
        Exactly one of them.
    loss
        What it needs decides which of the latter two will do.

    Raises
    ------
    InputError
        If there is not one way, or the loss needs another.
    """
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
