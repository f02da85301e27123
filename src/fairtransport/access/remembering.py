"""A black box that several audits ask, each question once over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.boxes import (
    Estimator,
    Function,
    as_black_box,
    batches_of,
    identity_of,
    notes_on,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.access.boxes import BlackBox
    from fairtransport.access.oracle import Question
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values


class Remembering:
    """A model that is asked about a point once, whichever audit asks first.

    What it said is kept as it came, so that each audit checks it by its own rules.

    Parameters
    ----------
    model
        A model as `audit` takes it.

    Attributes
    ----------
    queried
        How many distinct questions it was asked.
    """

    def __init__(self, model: object) -> None:
        self._box: BlackBox = as_black_box(model)
        self._places: dict[tuple[object, ...], dict[Question, int]] = {}
        self._said: dict[tuple[object, ...], Values] = {}
        self.queried = 0

    @property
    def box(self) -> BlackBox:
        """The model itself."""
        return self._box

    @property
    def name(self) -> str:
        """How a report names the model."""
        return self._box.name

    @property
    def description(self) -> str:
        """How a report describes the model."""
        return str(getattr(self._box, "description", self._box.name))

    @property
    def identity(self) -> str | None:
        """What tells the model from others."""
        return identity_of(self._box)

    def notes_on(self, predictions: Values, classes: Sequence[Value]) -> tuple[str, ...]:
        """Return what readers of the answers should know."""
        return notes_on(self._box, predictions, classes)

    @property
    def batches(self) -> int | None:
        """How many points it is best asked about at once."""
        return batches_of(self._box)

    @property
    def library(self) -> str | None:
        """The data frame library that the model wants its points in."""
        return self._box.library

    @property
    def features(self) -> tuple[str, ...] | None:
        """The columns that the model wants."""
        return self._box.features

    @property
    def classes(self) -> Sequence[Value] | None:
        """The labels that the model knows."""
        return self._box.classes

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return the model's answers, asking it about those points alone that are new."""
        import narwhals as nw

        frame = nw.from_native(points, eager_only=True)
        questions = [tuple(map(_known, row)) for row in frame.rows()]
        key = (_asked_as(self._box, kind), *frame.columns)
        places = self._places.setdefault(key, {})
        new = [at for at, one in enumerate(questions) if one not in places]
        if new:
            asked = points if len(new) == len(questions) else frame[new].to_native()
            answer = self._box.answer(asked, kind)
            said = np.asarray(answer)
            if said.ndim == 0 or len(said) != len(new) or np.ma.is_masked(answer):
                return answer  # to be refused by whoever asked
            self.queried += len(new)
            before = len(places)
            self._said[key] = _joined(self._said[key], said) if before else said
            places.update({questions[at]: before + more for more, at in enumerate(new)})
        return self._said[key][[places[one] for one in questions]]


def _known(value: Value) -> Value:
    """Return a value that equals itself: what is missing is one and the same question."""
    return None if value != value else value  # noqa: PLR0124


def _asked_as(box: BlackBox, kind: Answer) -> str:
    """Return what tells questions apart: functions and most estimators' answers have few kinds."""
    if isinstance(box, Function):
        return "any"
    if isinstance(box, Estimator):
        return "score" if kind == "score" else "label"
    return kind


def _joined(first: Values, second: Values) -> Values:
    """Return answers one after the other; text and numbers stay what they are."""
    if first.dtype.kind != second.dtype.kind:
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
