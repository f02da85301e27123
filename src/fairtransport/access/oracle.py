"""Oracle: the model's answers and the losses at points, each question asked once.

Answers in the query log are reused; a sample of questions is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from fairtransport._core.progress import track_questions
from fairtransport._core.ranks import find_firsts
from fairtransport._core.validation import (
    FloatArray,
    IntArray,
    Values,
    check_integer,
    is_among,
    list_values,
    short_repr,
)
from fairtransport.access.answers import (
    all_classes,
    as_array,
    as_list,
    ask_in_parts,
    check_logged,
    check_no_fractions,
    check_overlap,
    check_scores,
    check_values,
    find_unpredicted,
    knows_all_labels,
    labels_in,
    outcome_range,
    positive_label,
    truth_at,
)
from fairtransport.access.black_box import find_identity, has_notes
from fairtransport.access.query_log import (
    System,
    describe_box,
    find_log,
    is_recorded,
    write_question,
)
from fairtransport.access.repeats import (
    Repeats,
    count_contradictions,
    same_answer,
    second_box,
    split_repeats,
)
from fairtransport.data.columns import Value, sort_levels
from fairtransport.data.controls import add_columns
from fairtransport.errors import InputError, ModelError, param
from fairtransport.losses import Answer, Loss, evaluate

if TYPE_CHECKING:
    from collections.abc import Collection, Sized

    from narwhals.typing import IntoDataFrame

    from fairtransport.access.black_box import Access, BlackBox
    from fairtransport.access.query_log import QueryLog, QuestionKey, Store
    from fairtransport.data import SampleSpace


@dataclass(frozen=True, eq=False)
class AnsweredPoints:
    """The model's answer and the loss at every point; labels, where answers are decisions."""

    loss: Loss
    losses: FloatArray
    predictions: Values
    queried: int
    notes: tuple[str, ...] = ()
    classes: tuple[Value, ...] = ()
    labels: Values | None = None


class Oracle:
    """Computes answers and losses at points from a model, or from given predictions."""

    def __init__(
        self, access: Access, loss: Loss, pos_label: Value = None, favourable: object = None, *,
        partial: bool = False,
    ) -> None:  # fmt: skip
        self.access, self.loss, self.pos_label, self.partial = access, loss, pos_label, partial
        self.favourable = favourable
        self.books: list[AnswerBook] = [AnswerBook()]
        self._order: list[Value] = []
        self._questions: Questions | None = None

    @property
    def answers(self) -> dict[Question, object]:
        """The first answer to each question."""
        return self.books[0].as_dict()

    @property
    def queried(self) -> int:
        """Number of distinct questions put to the model."""
        return len(self.books[0])

    @property
    def counts_unfavourable(self) -> bool:
        """Whether the outcome is any decision except the favourable one."""
        is_decision = self.access.parameter == "y_pred" and self.pos_label is None
        return is_decision and self.favourable is not None and not self.loss.uses_truth

    @property
    def kind(self) -> Answer:
        """Kind of answer; labels if the outcome is the positive label."""
        is_rate = not self.loss.uses_truth and self.pos_label is not None
        return "label" if is_rate else self.loss.needs

    def answer(self, space: SampleSpace, draw: int = 0) -> AnsweredPoints:
        """Return answers and losses at all points; ``draw`` counts repeated answers from 0."""
        classes = self.classes(space)
        positive = self.positive(space, classes)
        truth = truth_at(space, self.loss, classes)
        if self.access.classes is not None and not self.loss.uses_truth:
            self.check_positive(np.empty(0))  # checked by the model's classes before any query
        if self.access.box is None:
            predictions = self._check_given(space, classes, positive)
        else:
            predictions = self._ask_model(space, self.access.box, classes, positive, draw)
        loss = self.loss
        unpredicted = find_unpredicted(self.access, loss, labels_in(space))
        notes = (*unpredicted, *self.access.notes_on(predictions, classes))
        labels = self._decisions(predictions)
        if not loss.uses_truth:
            self.check_positive(predictions)
            loss, predictions = self._as_outcome(predictions)
        losses = evaluate(loss, truth, predictions)
        columns = tuple(classes) if predictions.ndim > 1 else ()
        return AnsweredPoints(loss, losses, predictions, self.queried, notes, columns, labels)

    def notes(self) -> tuple[str, ...]:
        """Return notes on all answers so far."""
        if self.access.box is None or not has_notes(self.access.box):
            return ()
        return self.access.notes_on(as_array(list(self.answers.values())), self._order)

    def known_loss(self) -> Loss:
        """Return the loss, with its range if known before any answer."""
        if self.loss.uses_truth:
            return self.loss
        is_one_label = self.pos_label is not None and self.access.parameter != "y_score"
        if is_one_label or self.counts_unfavourable:
            return replace(self.loss, range=(0.0, 1.0), binary=True)
        return replace(self.loss, range=outcome_range(self.loss, self.access, self.pos_label))

    def classes(self, space: SampleSpace) -> list[Value]:
        """Return all possible labels."""
        return all_classes(labels_in(space), self.access, self.loss)

    def positive(self, space: SampleSpace, classes: Sequence[Value]) -> Value:
        """Return the label of a single score."""
        return positive_label(classes, self.pos_label, labels_in(space))

    def expected(self, classes: list[Value]) -> list[Value] | None:
        """Return the labels that the model may answer; None: any."""
        are_known = self.loss.uses_truth and knows_all_labels(self.access, classes)
        return classes if self.kind != "label" or are_known else None

    def check_labels(self, predictions: Values, classes: list[Value]) -> None:
        """Check that predictions can be labels."""
        if self.access.box is None:
            check_no_fractions(self.access.who, predictions, classes)
        # first batch only: a later one may have no true label, if all true labels are equal
        if not self.answers:
            check_overlap(classes, predictions)

    def check_positive(self, predictions: Values) -> None:
        """Check that the positive label is predicted, if it is the outcome."""
        if self.pos_label is None or self.access.parameter == "y_score":
            return
        own = self.access.classes
        labels = sort_levels(predictions.tolist()).tolist() if own is None else own
        if not is_among(self.pos_label, labels):
            msg = (
                f"{param('pos_label')} must be a prediction ({list_values(labels)}), got "
                f"{short_repr(self.pos_label)}"
            )
            raise InputError(msg)

    def prepare(self, space: SampleSpace, box: BlackBox) -> None:
        """Prepare for new questions; a hook for subclasses."""

    def _ask_model(
        self, space: SampleSpace, box: BlackBox, classes: list[Value], positive: Value, draw: int
    ) -> Values:
        """Return the model's answers at all points, asking only new questions."""
        space = complete_space(box, space)
        if self.kind == "score" and classes != self._order:
            # stored scores have one column per class, in the order of other classes
            self.books = [AnswerBook()]
            self._order = classes
        self.books += [AnswerBook() for _ in range(draw + 1 - len(self.books))]
        book, questions = self.books[draw], self.questions(space)
        new = book.find_new(questions)
        if len(new):
            self.prepare(space, box)
            new_answers = self._ask_new(box, questions, new, classes, positive, draw)
            if self.loss.needs == "label":
                # before they are stored: rejected answers must not be reused
                self.check_labels(new_answers, classes)
            book.add(questions, new, new_answers)
        return book.look_up(questions)[questions.group]

    def questions(self, space: SampleSpace) -> Questions:
        """Return the distinct questions at the points of a space, cached for the last one."""
        assert self.access.box is not None  # noqa: S101
        space = complete_space(self.access.box, space)
        if self._questions is None or self._questions.space is not space:
            names = input_columns(self.access.box, space, partial=self.partial)
            self._questions = Questions.at_points(space, names)
        return self._questions

    def ask_again(self, space: SampleSpace, count: int, rng: np.random.Generator) -> Repeats:
        """Repeat random questions and count the answers that differ.

        The log is bypassed, as it would return the first answer. The order and the batches change,
        so that answers that depend on them differ too. ``docs/theory.md``, "Asked a second time",
        says what the count shows.
        """
        if self.access.box is None or count == 0:
            return Repeats()
        box = second_box(self.access.box)
        space = complete_space(box, space)
        questions = self.questions(space)
        # Hoeffding's limit on the answers that differ needs simple random sampling without
        # replacement
        sample = rng.permutation(len(questions))[:count]
        if np.all(np.diff(sample) > 0):
            sample = sample[::-1]
        classes = self.classes(space)
        rows = questions.first[sample]
        ask_part = self._build_asker(space, box, rows, classes, self.positive(space, classes))
        before = as_list(self.books[0].look_up(questions)[sample])
        differed = 0
        batches = split_repeats(box, range(len(sample)))
        for part in chain.from_iterable(split_questions(box, batch) for batch in batches):
            for places, now in ask_part(part):
                pairs = zip([before[place] for place in places], as_list(now), strict=True)
                differed += sum(not same_answer(*pair) for pair in pairs)
        names = input_columns(box, space, partial=self.partial)
        points = space.frame(names, rows, box.library or space.library)
        return Repeats(len(sample), differed, count_contradictions(box, points))

    def _ask_new(
        self, box: BlackBox, questions: Questions, new: IntArray, classes: list[Value],
        positive: Value, draw: int,
    ) -> Values:  # fmt: skip
        """Return the answers to new questions, from a log or from the model."""
        space = questions.space
        ask_part = self._build_asker(space, box, questions.first[new], classes, positive)
        expected = self.expected(classes)

        def check(who: str, answers: list[object]) -> None:
            """Check that the model could have given the answers of a log."""
            check_logged(who, answers, self.kind, expected, positive)

        def system() -> System:
            """Return the system under which a log stores the answers."""
            is_score = self.kind == "score"
            return System(
                find_identity(box), questions.names, self.kind, tuple(classes) if is_score else (),
                positive if is_score else None, describe_box(box),
            )  # fmt: skip

        if (log := find_log(box)) is None:
            return ask_all(box, len(new), ask_part)
        with log.open(read_only=is_recorded(box)) as store:
            answers = _from_log(
                box, log, store, questions.write_out(new), ask_part, check, system(), draw
            )
        return as_array(answers)

    def _build_asker(
        self, space: SampleSpace, box: BlackBox, rows: IntArray, classes: list[Value],
        positive: Value,
    ) -> AskPart:  # fmt: skip
        """Return a function that queries the model about some of the rows."""
        names = input_columns(box, space, partial=self.partial)
        bins = {name: edges for name, edges in space.bins.items() if name in names}

        def ask_part(places: Sequence[int]) -> Iterator[tuple[Sequence[int], Values]]:
            """Yield places and answers, in the model's columns and library."""
            points = space.frame(names, rows[np.asarray(places)], box.library or space.library)
            kind, expected = self.kind, self.expected(classes)
            stream = ask_in_parts(box, points, len(places), kind, expected, positive, bins)
            for part, answers in stream:
                is_whole = isinstance(part, range) and part == range(len(places))
                yield places if is_whole else [places[index] for index in part], answers

        return ask_part

    def _check_given(self, space: SampleSpace, classes: list[Value], positive: Value) -> Values:
        """Return given predictions, checked for the loss."""
        columns = [space.values(name) for name in space.predictions]
        who, loss = self.access.who, self.loss
        if loss.needs == "score":
            scores = np.column_stack(columns)
            return check_scores(who, scores, space.size, classes, classes, positive)
        if len(columns) > 1:
            msg = f"{who} must be one column for the loss {loss.name!r}, got {len(columns)}"
            raise InputError(msg)
        if loss.needs == "label":
            self.check_labels(columns[0], classes)
        is_number = loss.needs == "value" and (loss.uses_truth or columns[0].dtype != object)
        return check_values(who, columns[0]) if is_number else columns[0]

    def _decisions(self, predictions: Values) -> Values | None:
        """Return predictions that are labels, or 0 and 1 if the loss accepts anything; else None.

        For a loss on numbers, 0 and 1 are values, not decisions.
        """
        is_score = self.access.parameter == "y_score"
        if self.kind == "label" and not (is_score and not self.loss.uses_truth):
            return predictions
        is_open = not self.loss.uses_truth or self.loss.needs == "any"
        if not is_open or is_score or predictions.ndim > 1:
            return None
        if predictions.dtype.kind in "OU":
            return predictions
        return predictions.astype(np.int64) if np.isin(predictions, (0, 1)).all() else None

    def _as_outcome(self, predictions: Values) -> tuple[Loss, FloatArray]:
        """Return predictions as outcomes, and the loss with the range that follows."""
        if self.pos_label is not None and self.access.parameter != "y_score":
            outcome = np.asarray(predictions == self.pos_label, dtype=np.float64)
            return self.known_loss(), outcome
        if self.counts_unfavourable:
            return self.known_loss(), np.asarray(predictions != self.favourable, dtype=np.float64)
        outcome = check_values(f"{param(self.access.parameter)}", predictions)
        return self.known_loss(), outcome


Question: TypeAlias = tuple[Value, ...]
"""A model's input: the values of the features, in their order."""


def input_columns(box: BlackBox, space: SampleSpace, *, partial: bool = False) -> tuple[str, ...]:
    """Return the columns that a model receives, in its order."""
    names = space.features if box.features is None else (*box.features, *(box.controls or ()))
    if not set(names) <= set(space.features) or not (partial or len(names) == len(space.features)):
        msg = (
            f"{param('features')} must be the columns that the model was fitted on "
            f"({', '.join(names)}), got {', '.join(space.features)}"
        )
        raise InputError(msg)
    return tuple(names)


def complete_space(box: BlackBox, space: SampleSpace) -> SampleSpace:
    """Return points with all columns that a model receives, also its own."""
    return add_columns(space.encoded, box.controls or {})


def input_frame(box: BlackBox, space: SampleSpace) -> IntoDataFrame:
    """Return all points as a model receives them: its columns in its order, in its library."""
    return space.frame(input_columns(box, space), None, box.library or space.library)


@dataclass(frozen=True, eq=False)
class Questions:
    """The distinct questions at the points of a space, in the order of their first points.

    ``first`` has the first point of each question, ``group`` the question of each point.
    """

    space: SampleSpace
    names: tuple[str, ...]
    first: IntArray
    group: IntArray

    @classmethod
    def at_points(cls, space: SampleSpace, names: Collection[str]) -> Self:
        """Return the questions about some features."""
        columns = tuple(name for name in space.features if name in names)
        groups = space.groups(columns)
        first = find_firsts(groups, int(groups.max()) + 1)
        order = np.argsort(first, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return cls(space, columns, first[order], place[groups])

    def __len__(self) -> int:
        return len(self.first)

    def write_out(self, places: IntArray | None = None) -> list[Question]:
        """Return some of the questions, or all, as plain values."""
        rows = self.first if places is None else self.first[places]
        columns = [self.space.columns[name].take(rows).to_list() for name in self.names]
        return list(zip(*columns, strict=True))


class AnswerBook:
    """Answers by question.

    The questions of the first space stay codes: they are written out only to look up those of
    another space, as there may be a million.
    """

    def __init__(self) -> None:
        self._answers: dict[Question, object] = {}
        self._first: tuple[Questions, Values] | None = None

    def __len__(self) -> int:
        return len(self._answers) if self._first is None else len(self._first[0])

    def as_dict(self) -> dict[Question, object]:
        """Return the answers by question, written out."""
        if self._first is not None:
            questions, answers = self._first
            self._answers.update(zip(questions.write_out(), as_list(answers), strict=True))
            self._first = None
        return self._answers

    def find_new(self, questions: Questions) -> IntArray:
        """Return the places of the unanswered questions."""
        if not len(self):
            return np.arange(len(questions))
        if self._is_first(questions):
            return np.empty(0, np.int64)
        answers = self.as_dict()
        return np.flatnonzero([question not in answers for question in questions.write_out()])

    def add(self, questions: Questions, places: IntArray, answers: Values) -> None:
        """Store the answers to some of the questions."""
        if not len(self) and len(places) == len(questions):
            self._first = questions, answers
        else:
            self.as_dict().update(zip(questions.write_out(places), as_list(answers), strict=True))

    def look_up(self, questions: Questions) -> Values:
        """Return the answers to all of the questions."""
        if self._first is not None and self._is_first(questions):
            return self._first[1]
        answers = self.as_dict()
        return as_array([answers[question] for question in questions.write_out()])

    def _is_first(self, questions: Questions) -> bool:
        """Whether these are the questions that are stored as codes."""
        return self._first is not None and self._first[0] is questions


AskPart: TypeAlias = Callable[[Sequence[int]], Iterator[tuple[Sequence[int], Values]]]
"""Queries questions by their places, and yields places and answers in parts."""


MAX_POINTS_PER_CALL = 1_000_000
"""Maximum number of points per call of a model in this process, to keep its frame small."""
LOGGED_BATCH_SIZE = 64
"""Questions per batch with a log, unless the box has ``points_per_call``.

Each batch is stored once complete: a killed process loses only the current one.
"""


def split_questions(box: BlackBox, places: Sequence[int]) -> list[Sequence[int]]:
    """Return batches of questions for a box; one batch if it streams or takes all."""
    size = box.points_per_call
    if size is not None:
        size = check_integer(f"points_per_call of the model {box.name}", size)
    elif find_log(box) is not None:
        size = LOGGED_BATCH_SIZE
    if size is None or box.is_streaming:
        return [places] if places else []
    return [places[start : start + size] for start in range(0, len(places), size)]


def ask_all(box: BlackBox, count: int, ask_part: AskPart) -> Values:
    """Return the model's answers to ``count`` questions."""
    everything = range(count)
    if box.points_per_call is None:
        starts = everything[::MAX_POINTS_PER_CALL]
        blocks = [everything[start : start + MAX_POINTS_PER_CALL] for start in starts]
        parts = [part for block in blocks for _, part in ask_part(block)]
        is_one_kind = len({part.dtype for part in parts}) == 1
        return np.concatenate(parts) if is_one_kind else as_array([*chain(*map(as_list, parts))])
    answers: dict[int, object] = {}
    for places, part in _stream_parts(box, everything, ask_part, 0):
        answers.update(zip(places, part.tolist(), strict=True))
    return as_array([answers[place] for place in everything])


def _from_log(
    box: BlackBox, log: QueryLog, store: Store, questions: Sequence[tuple[object, ...]],
    ask_part: AskPart, check: Callable[[str, list[object]], None], system: System, draw: int,
) -> list[object]:  # fmt: skip
    """Return answers of a log, querying missing ones and storing each batch as it arrives."""
    keys: list[QuestionKey] = [(write_question(question), draw) for question in questions]
    # the same question, draw and system is never paid for twice
    logged = store.answers(system, keys)
    answers = {key: logged[key] for key in keys if key in logged}
    known_count = len(answers)
    # others can write to a log, so its answers are checked like a model's
    check(log.name, list(answers.values()))
    missing = [index for index, key in enumerate(keys) if key not in answers]
    if missing and is_recorded(box):
        msg = (
            f"{log.name} has no answer of this kind to {len(missing)} of {len(keys)} queries, "
            f"such as {short_repr(questions[missing[0]])}; give the model itself as "
            f"{param('model')}"
        )
        raise ModelError(msg)
    with _report_progress(log, answers, len(keys)):
        for places, part in _stream_parts(box, missing, ask_part, known_count):
            pairs = zip([keys[index] for index in places], part.tolist(), strict=True)
            # the stored answers: those of another process that was first take precedence
            answers.update(store.add(system, pairs))
    return [answers[key] for key in keys]


def _stream_parts(
    box: BlackBox, places: Sequence[int], ask_part: AskPart, known_count: int
) -> Iterator[tuple[Sequence[int], Values]]:
    """Yield answers as they arrive, with a progress bar."""
    stream = (item for part in split_questions(box, places) for item in ask_part(part))
    return track_questions(stream, len(places) + known_count, known_count)


@contextmanager
def _report_progress(log: QueryLog, answers: Sized, total: int) -> Iterator[None]:
    """Add the location of the answers so far to an error or interrupt."""
    try:
        yield
    except ModelError as error:
        msg = f"{error}; {_where(log, answers, total)}"
        raise ModelError(msg) from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_where(log, answers, total)) from None


def _where(log: QueryLog, answers: Sized, total: int) -> str:
    """Return the location of the answers so far, as the end of a sentence."""
    return f"{len(answers)} of {total} answers are in {log.name}: run the same audit again to go on"


def check_not_random(name: str, box: BlackBox | None) -> None:
    """Check that a model does not declare that it answers at random."""
    if box is not None and box.answers_at_random:
        msg = (
            f"{param(name)} must not answer at random, and a model says that it does; `audit` "
            "takes such a model"
        )
        raise InputError(msg)


def check_no_controls(name: str, box: BlackBox | None) -> None:
    """Check that a model has no controls."""
    if box is not None and box.controls:
        msg = (
            f"{param(name)} must have no controls of its own, got {', '.join(box.controls)}; "
            "`audit` alone takes them"
        )
        raise InputError(msg)
