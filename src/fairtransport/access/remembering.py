"""A black box that several audits ask, each question once over all of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from fairtransport.access.boxes import (
    Estimator,
    Function,
    as_black_box,
    batches_of,
    identity_of,
    notes_on,
)
from fairtransport.access.wrapping import arriving_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from narwhals.typing import IntoDataFrame

    from fairtransport.access.boxes import BlackBox
    from fairtransport.access.questions import Question
    from fairtransport.access.wrapping import Arriving
    from fairtransport.losses import Answer
    from fairtransport.space.columns import Value, Values

T = TypeVar("T")
_Key: TypeAlias = tuple[object, ...]
"""What tells answers apart: the kind that was asked for, and the columns."""


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
        self._places: dict[_Key, dict[Question, int]] = {}
        self._said: dict[_Key, Values] = {}
        self.queried = 0

    @property
    def box(self) -> BlackBox:
        """The model itself."""
        return self._box

    @cached_property
    def second(self) -> Remembering:
        """The same model, asked a second time about a point, whichever audit asks first."""
        return Remembering(self._box)

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
        """Return what readers of the answers should know.

        Parameters
        ----------
        predictions, classes
            What it answered, and the labels that can occur.
        """
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

    @property
    def arriving(self) -> Arriving | None:
        """How the answers come as they arrive; None where the model gives all at once."""
        return None if arriving_of(self._box) is None else self._arriving

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return the model's answers, asking it about those points alone that are new.

        Parameters
        ----------
        points, kind
            As in `BlackBox.answer`.
        """
        key, questions = self._read(points, kind)
        new = self._new(key, questions)
        if new:
            answer = self._box.answer(_taken(points, new, len(questions)), kind)
            said = np.asarray(answer)
            if said.ndim == 0 or len(said) != len(new) or np.ma.is_masked(answer):
                return answer  # to be refused by whoever asked
            self._keep(key, [questions[at] for at in new], said)
        return self._kept(key, questions)

    def _arriving(
        self, points: IntoDataFrame, kind: Answer, read: Callable[[object, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield what is known, and then what is new as it arrives.

        Parameters
        ----------
        points, kind, read
            As in `Arriving`.
        """
        key, questions = self._read(points, kind)
        new = self._new(key, questions)
        known = sorted({*range(len(questions))} - {*new})
        if known:
            yield known, read(self._kept(key, [questions[at] for at in known]), len(known))

        def both(answer: object, many: int) -> tuple[T, Values]:
            """Return what is read of the answers, and these as they came, to be kept."""
            return read(answer, many), np.asarray(answer)

        arriving = arriving_of(self._box)
        if arriving is None or not new:
            return
        for part, (made, said) in arriving(_taken(points, new, len(questions)), kind, both):
            places = [new[at] for at in part]
            self._keep(key, [questions[at] for at in places], said)
            yield places, made

    def _read(self, points: IntoDataFrame, kind: Answer) -> tuple[_Key, list[Question]]:
        """Return what tells the answers apart, and the questions that the points are.

        Parameters
        ----------
        points, kind
            As in `BlackBox.answer`.
        """
        import narwhals as nw

        frame = nw.from_native(points, eager_only=True)
        questions = [tuple(map(_known, row)) for row in frame.rows()]
        return (_asked_as(self._box, kind), *frame.columns), questions

    def _new(self, key: _Key, questions: list[Question]) -> list[int]:
        """Return the places of questions that were not asked yet."""
        places = self._places.setdefault(key, {})
        return [at for at, one in enumerate(questions) if one not in places]

    def _keep(self, key: _Key, questions: list[Question], said: Values) -> None:
        """Keep answers as they came, and where each question's is."""
        places = self._places[key]
        before = len(places)
        self.queried += len(questions)
        self._said[key] = _joined(self._said[key], said) if before else said
        places.update({one: before + more for more, one in enumerate(questions)})

    def _kept(self, key: _Key, questions: list[Question]) -> Values:
        """Return the answers to questions that were asked before."""
        places = self._places[key]
        return self._said[key][[places[one] for one in questions]]


def _taken(points: IntoDataFrame, new: list[int], size: int) -> IntoDataFrame:
    """Return some of the points, or all as they are.

    Parameters
    ----------
    points
        A native frame.
    new
        Which rows.
    size
        How many there are.
    """
    import narwhals as nw

    if len(new) == size:
        return points
    return nw.from_native(points, eager_only=True)[new].to_native()


def _known(value: Value) -> Value:
    """Return a value that equals itself: what is missing is one and the same question.

    Parameters
    ----------
    value
        NaN becomes None.

    Examples
    --------
    >>> _known(float("nan")), _known(3)
    (None, 3)
    """
    return None if value != value else value  # noqa: PLR0124


def _asked_as(box: BlackBox, kind: Answer) -> str:
    """Return what tells questions apart: functions and most estimators' answers have few kinds.

    Parameters
    ----------
    box
        The model.
    kind
        What is asked for. A function says the same whatever that is.
    """
    if isinstance(box, Function):
        return "any"
    if isinstance(box, Estimator):
        return "score" if kind == "score" else "label"
    return kind


def _joined(first: Values, second: Values) -> Values:
    """Return answers one after the other; text and numbers stay what they are.

    Parameters
    ----------
    first, second
        Arrays of answers; of unlike kinds they become objects, where NumPy would make text of all.

    Examples
    --------
    >>> _joined(np.array([1, 2]), np.array(["yes"])).tolist()
    [1, 2, 'yes']
    """
    if first.dtype.kind != second.dtype.kind:
        # NumPy would make text of numbers, and 1 and "1" are different labels
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
