"""A cache of a model's answers, shared by several audits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from fairtransport._core.validation import short_repr
from fairtransport.access.answers import column_names
from fairtransport.access.black_box import (
    BlackBox,
    Estimator,
    Function,
    Wrapper,
    align_answers,
    as_black_box,
)
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import Values
    from fairtransport.access.oracle import Question
    from fairtransport.data.columns import Value
    from fairtransport.losses import Answer

T = TypeVar("T")
_Key: TypeAlias = tuple[object, ...]
"""What distinguishes answers: the kind of answer, and the columns."""


@dataclass(frozen=True, eq=False)
class CachedModel(Wrapper):
    """A model whose answers are cached, so that several audits query each point once.

    Answers are cached unchecked, as each audit checks them by its own rules.
    """

    _rows: dict[_Key, dict[Question, int]] = field(default_factory=dict, init=False)
    _answers: dict[_Key, Values] = field(default_factory=dict, init=False)
    _columns: dict[_Key, list[Value] | None] = field(default_factory=dict, init=False)

    @property
    def queried(self) -> int:
        """Number of questions sent to the model."""
        return sum(map(len, self._answers.values()))

    @cached_property
    def second(self) -> CachedModel:
        """The same model with a second cache, for repeated questions."""
        return CachedModel(self.box)

    def answer(self, points: IntoDataFrame, kind: Answer) -> object:
        """Return the model's answers, querying it only about new points."""
        key, questions = self._read_questions(points, kind)
        new = self._find_new(key, questions)
        if new:
            new_points = _take_rows(points, new, len(questions))
            answer = align_answers(self.name, new_points, self.box.answer(new_points, kind))
            answers = np.asarray(answer)
            if answers.ndim == 0 or len(answers) != len(new) or np.ma.is_masked(answer):
                return answer  # the caller rejects it
            self._store(key, [questions[row] for row in new], answer)
        return self._look_up(key, questions)

    def stream_answers(
        self, points: IntoDataFrame, kind: Answer, check: Callable[[Any, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield cached answers, then new ones as they arrive; all at once if the model does."""
        if not self.is_streaming:
            return BlackBox.stream_answers(self, points, kind, check)
        return self._stream_answers(points, kind, check)

    def _stream_answers(
        self, points: IntoDataFrame, kind: Answer, check: Callable[[Any, int], T]
    ) -> Iterator[tuple[Sequence[int], T]]:
        """Yield cached answers, then new ones as they arrive."""
        key, questions = self._read_questions(points, kind)
        new = self._find_new(key, questions)
        old = sorted({*range(len(questions))} - {*new})
        if old:
            yield old, check(self._look_up(key, [questions[row] for row in old]), len(old))
        if not new:
            return

        def check_and_keep(answer: object, count: int) -> tuple[T, object]:
            """Return the checked answers, and the raw ones to be stored."""
            return check(answer, count), answer

        stream = self.box.stream_answers(
            _take_rows(points, new, len(questions)), kind, check_and_keep
        )
        for part, (result, answers) in stream:
            rows = [new[row] for row in part]
            self._store(key, [questions[row] for row in rows], answers)
            yield rows, result

    def _read_questions(self, points: IntoDataFrame, kind: Answer) -> tuple[_Key, list[Question]]:
        """Return the key of the answers, and the question at each point."""
        import narwhals as nw

        frame = nw.from_native(points, eager_only=True)
        questions = [tuple(map(_without_nan, row)) for row in frame.rows()]
        return (_kind_of_answer(self.box, kind), *frame.columns), questions

    def _find_new(self, key: _Key, questions: list[Question]) -> list[int]:
        """Return the rows of new questions."""
        rows = self._rows.setdefault(key, {})
        return [row for row, question in enumerate(questions) if question not in rows]

    def _store(self, key: _Key, questions: list[Question], answer: object) -> None:
        """Store raw answers, and the row of each question's answer."""
        answers, names = np.asarray(answer), column_names(answer)
        if self._columns.setdefault(key, names) != names:
            msg = (
                f"the model {self.name} must answer in the same columns each time, got "
                f"{short_repr(names)} after {short_repr(self._columns[key])}"
            )
            raise ModelError(msg)
        before = self._answers.get(key)
        start = 0 if before is None else len(before)
        self._answers[key] = answers if before is None else _concatenate(before, answers)
        self._rows[key].update(
            {question: row for row, question in enumerate(questions, start=start)}
        )

    def _look_up(self, key: _Key, questions: list[Question]) -> Values | pd.DataFrame:
        """Return the stored answers to questions, with their column names."""
        rows, names = self._rows[key], self._columns[key]
        answers = self._answers[key][[rows[question] for question in questions]]
        if names is None:
            return answers
        import pandas as pd

        return pd.DataFrame(answers, columns=names)


def cached(model: object) -> CachedModel:
    """Return a model with a cache of its answers."""
    return CachedModel(as_black_box(model))


def _take_rows(points: IntoDataFrame, rows: list[int], size: int) -> IntoDataFrame:
    """Return some of the points; all of them unchanged."""
    import narwhals as nw

    if len(rows) == size:
        return points
    # renumbered, like all points: a model may answer with a new series
    return nw.maybe_reset_index(nw.from_native(points, eager_only=True)[rows]).to_native()


def _without_nan(value: Value) -> Value:
    """Return None for NaN, so that missing values are equal."""
    return None if value != value else value  # noqa: PLR0124


def _kind_of_answer(box: BlackBox, kind: Answer) -> str:
    """Return one kind for all kinds with the same answers from a function or estimator."""
    if isinstance(box, Function):
        return "any"
    if isinstance(box, Estimator):
        return "score" if kind == "score" else "label"
    return kind


def _concatenate(first: Values, second: Values) -> Values:
    """Concatenate answers without converting numbers to text."""
    if first.dtype.kind != second.dtype.kind:
        # NumPy would make text of numbers, but 1 and "1" are different labels
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
