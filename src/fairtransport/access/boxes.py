"""Adapters that make estimators and callables a black box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairtransport.losses import Answer


@runtime_checkable
class BlackBox(Protocol):
    """What an audit needs to know of a model.

    Attributes
    ----------
    name
        How a report names the model.
    library
        The data frame library it wants its points in; None: that of the audit data.
    features
        The columns it wants, in its order; None: all that the audit gives it.
    classes
        The labels it knows, in the order of its scores; None if it does not say.
    """

    @property
    def name(self) -> str:
        """How a report names the model."""
        ...

    @property
    def library(self) -> str | None:
        """The data frame library of its frames."""
        ...

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns it wants."""
        ...

    @property
    def classes(self) -> list[Any] | None:
        """The labels it knows."""
        ...

    def answer(self, points: Any, kind: Answer) -> Any:
        """Return labels, scores or values for a frame of points, one a row."""
        ...


@dataclass(frozen=True, eq=False)
class Estimator:
    """A fitted scikit-learn-like estimator, pipelines included.

    One that was fitted on named columns receives a frame, in ``library``; another receives an
    array.
    """

    model: Any
    library: str | None = "pandas"

    @property
    def name(self) -> str:
        """The estimator's class, for a pipeline that of its last step."""
        steps = getattr(self.model, "steps", None)
        return type(steps[-1][1] if steps else self.model).__name__

    @property
    def description(self) -> str:
        """The estimator's class, for a pipeline those of all its steps."""
        steps = getattr(self.model, "steps", None)
        return ", then ".join(type(step).__name__ for _, step in steps) if steps else self.name

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns it was fitted on, where it remembers them."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    @property
    def classes(self) -> list[Any] | None:
        """The labels it was fitted on."""
        classes = getattr(self.model, "classes_", None)
        return None if classes is None else list(np.asarray(classes).tolist())

    def answer(self, points: Any, kind: Answer) -> Any:
        """Return ``predict_proba`` where scores are asked for, else ``predict``."""
        method = "predict_proba" if kind == "score" else "predict"
        if not hasattr(self.model, method):
            msg = f"the model {self.name} has no `{method}`, which a loss on {kind}s needs"
            raise ModelError(msg)
        rows = points if self.features is not None else np.asarray(points)
        return getattr(self.model, method)(rows)


@dataclass(frozen=True, eq=False)
class Function:
    """A callable that takes a frame of points and returns what the loss needs.

    That is one label or number a point, or class scores with one column a class in the
    order of ``classes`` (default: the labels of the audit data, sorted), or one score a point,
    that of the positive label.
    """

    function: Callable[[Any], Any]
    classes: list[Any] | None = None
    features: tuple[str, ...] | None = None
    library: str | None = None

    @property
    def name(self) -> str:
        """The callable's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def answer(self, points: Any, kind: Answer) -> Any:  # noqa: ARG002
        """Return what the callable returns."""
        return self.function(points)


def as_black_box(model: Any, classes: Sequence[Any] | None = None) -> BlackBox:
    """Return the black box behind a user's ``model``."""
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
