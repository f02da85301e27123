"""The oracle: what the model says at points and the losses there, each question asked once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.access.asking import (
    as_array,
    as_list,
    ask_in_parts,
    check_kept,
    check_scores,
    check_values,
)
from fairtransport.access.batches import Asked, ask_all, parts_of
from fairtransport.access.identity import known_by
from fairtransport.access.labels import (
    all_classes,
    positive_label,
    refuse_disjoint,
    refuse_fractions,
    tells_labels,
)
from fairtransport.access.logged import about
from fairtransport.access.query_log import System
from fairtransport.access.questions import Question, asked_columns, distinct, questions_at
from fairtransport.access.repeating import Repeats, same_answer, to_ask_again
from fairtransport.access.truth import labels_in, outcome_range, truth_at
from fairtransport.access.wrapping import layers
from fairtransport.checks import FloatArray, IntArray, is_among, shown
from fairtransport.errors import InputError
from fairtransport.losses import Answer, Loss, evaluate
from fairtransport.space.columns import Value, Values, sorted_levels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairtransport.access.boxes import Access, BlackBox
    from fairtransport.space import SampleSpace


@dataclass(frozen=True, eq=False)
class AnsweredPoints:
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
    notes
        What the model says that readers of its answers should know.
    classes
        The labels that the columns of scores belong to; empty where there are no scores.
    """

    loss: Loss
    losses: FloatArray
    predictions: Values
    queried: int
    notes: tuple[str, ...] = ()
    classes: tuple[Value, ...] = ()


class Oracle:
    """Knows what the model says at points: asks it, each question once, or reads what is given.

    Every audit has one, whatever the box behind it. Answers are checked before they are
    remembered.

    Parameters
    ----------
    access
        Where predictions come from.
    loss
        What they are judged by.
    pos_label
        The positive label, as in `audit`.
    partial
        Whether the model may want fewer columns than a space has, as where it is compared with
        others.

    Attributes
    ----------
    said
        What the model said so far, by question.
    later
        The same for the second and later draws, where several answers a question were asked for.
    from_log
        How many of the answers were in its query log.
    """

    def __init__(
        self, access: Access, loss: Loss, pos_label: Value = None, *, partial: bool = False
    ) -> None:
        self.access, self.loss, self.pos_label, self.partial = access, loss, pos_label, partial
        self.said: dict[Question, object] = {}
        self.later: list[dict[Question, object]] = []
        self.from_log = 0
        self._order: list[Value] = []

    @property
    def queried(self) -> int:
        """How many distinct questions the model was asked."""
        return len(self.said)

    @property
    def kind(self) -> Answer:
        """What a model is asked for: labels also where the positive one is the outcome."""
        is_rate = not self.loss.uses_truth and self.pos_label is not None
        return "label" if is_rate else self.loss.needs

    def answer(self, space: SampleSpace, draw: int = 0) -> AnsweredPoints:
        """Return the model's answers and the losses at all points of a space.

        ``draw`` is which of several answers to each question is wanted.

        Parameters
        ----------
        space
            The points.
        draw
            0 for the first answers, which every audit has.
        """
        classes = self.classes(space)
        positive = self.positive(space, classes)
        if self.access.box is None:
            predictions = self._given(space, classes, positive)
        else:
            predictions = self._asked(space, self.access.box, classes, positive, draw)
        loss, notes = self.loss, self.access.notes_on(predictions, classes)
        if not loss.uses_truth:
            self.check_positive(predictions)
            loss, predictions = self._as_outcome(predictions)
        losses = evaluate(loss, truth_at(space, loss, classes), predictions)
        told = tuple(classes) if predictions.ndim > 1 else ()
        return AnsweredPoints(loss, losses, predictions, self.queried, notes, told)

    def notes(self) -> tuple[str, ...]:
        """Return what readers of all answers so far should know."""
        *_, inner = layers(self.access.box)
        if not hasattr(inner, "notes_on"):
            return ()
        return self.access.notes_on(as_array(list(self.said.values())), self._order)

    def known_loss(self) -> Loss:
        """Return the loss, with its range as far as it is known before anything is asked."""
        if self.loss.uses_truth:
            return self.loss
        return replace(self.loss, range=outcome_range(self.loss, self.access, self.pos_label))

    def classes(self, space: SampleSpace) -> list[Value]:
        """Return all labels that can occur.

        Parameters
        ----------
        space
            Whose true labels are among them.
        """
        return all_classes(labels_in(space), self.access, self.loss)

    def positive(self, space: SampleSpace, classes: Sequence[Value]) -> Value:
        """Return the label that a single score belongs to.

        Parameters
        ----------
        space
            Whose true labels are known.
        classes
            All labels that can occur.
        """
        return positive_label(classes, self.pos_label, labels_in(space))

    def expected(self, classes: list[Value]) -> list[Value] | None:
        """Return what the model may answer; None: whatever could be a label.

        Parameters
        ----------
        classes
            All labels that are known.
        """
        if self.kind != "label" or (self.loss.uses_truth and tells_labels(self.access, classes)):
            return classes
        return None

    def check_labels(self, predictions: Values, classes: list[Value]) -> None:
        """Refuse predictions that cannot be labels.

        Parameters
        ----------
        predictions
            One a point.
        classes
            All labels that can occur.
        """
        if self.access.box is None:
            refuse_fractions(self.access.who, predictions, classes)
        refuse_disjoint(classes, predictions)

    def check_positive(self, predictions: Values) -> None:
        """Refuse a positive label that is never predicted, where it is the outcome.

        Parameters
        ----------
        predictions
            One a point. Every outcome would be 0, and nothing would ever be found.
        """
        if self.pos_label is None or self.access.parameter == "y_score":
            return
        own = self.access.classes
        known = sorted_levels(predictions.tolist()).tolist() if own is None else own
        if not is_among(self.pos_label, known):
            msg = f"`pos_label` must be a prediction ({shown(known)}), got {shown(self.pos_label)}"
            raise InputError(msg)

    def prepare(self, space: SampleSpace, box: BlackBox) -> None:
        """Do what has to be done before the model is asked.

        Parameters
        ----------
        space, box
            The points, and who will be asked. A stream's oracle notes here whom it has seen.
        """

    def _asked(
        self, space: SampleSpace, box: BlackBox, classes: list[Value], positive: Value, draw: int
    ) -> Values:
        """Return the model's answers at all points, asking about questions that are new.

        Parameters
        ----------
        space
            The points.
        box
            The model.
        classes, positive
            All labels that can occur, and that of a single score.
        draw
            Which answers.
        """
        if self.kind == "score" and classes != self._order:
            # what was said has a column a class, in the order of other classes
            self.said.clear()
            self.later.clear()
            self._order = classes
        first, group, questions = self.questions(space)
        known = self._known(draw)
        new = [at for at, one in enumerate(questions) if one not in known]
        if new:
            self.prepare(space, box)
            rows = first[np.array(new, np.int64)]
            asked = [questions[at] for at in new]
            said = self._new(space, box, rows, asked, classes, positive, draw)
            if self.loss.needs == "label":
                self.check_labels(as_array(said) if isinstance(said, list) else said, classes)
            known.update(zip(asked, as_list(said), strict=True))
            if len(new) == len(questions) and not isinstance(said, list):
                return np.asarray(said[group])  # as the model gave them
        return as_array([known[one] for one in questions])[group]

    def questions(self, space: SampleSpace) -> tuple[IntArray, IntArray, list[Question]]:
        """Return the points that are questions of their own, which each point asks, and them.

        Parameters
        ----------
        space
            The points.

        Returns
        -------
        first, group, questions
            A point of each question; by point which question it is; the questions.
        """
        assert self.access.box is not None  # noqa: S101
        names = asked_columns(self.access.box, space, partial=self.partial)
        asked = [name for name in space.features if name in names]
        first, group = distinct(space, asked)
        return first, group, questions_at(space, first, asked)

    def ask_again(self, space: SampleSpace, many: int, rng: np.random.Generator) -> Repeats:
        """Ask some questions a second time, chosen at random, and count what differs.

        Parameters
        ----------
        space
            The points, asked about before.
        many
            How many questions, or all if there are fewer.
        rng
            Chooses.

        Notes
        -----
        The log is passed by: it would give the first answer again. What may be concluded from the
        count is in ``docs/theory.md``, "Asked a second time".
        """
        if self.access.box is None or many == 0:
            return Repeats()
        box = to_ask_again(self.access.box)
        first, _, questions = self.questions(space)
        chosen = np.sort(rng.permutation(len(questions))[:many])
        classes = self.classes(space)
        asked = self._asker(space, box, first[chosen], classes, self.positive(space, classes))
        differed = 0
        for part in parts_of(box, list(range(len(chosen)))):
            for places, now in asked(part):
                before = [self.said[questions[chosen[at]]] for at in places]
                pairs = zip(before, as_list(now), strict=True)
                differed += sum(not same_answer(*pair) for pair in pairs)
        return Repeats(len(chosen), differed)

    def _known(self, draw: int) -> dict[Question, object]:
        """Return what was said so far in a draw.

        Parameters
        ----------
        draw
            0 for the first answers.
        """
        if draw == 0:
            return self.said
        while len(self.later) < draw:
            self.later.append({})
        return self.later[draw - 1]

    def _new(
        self, space: SampleSpace, box: BlackBox, rows: IntArray, questions: list[Question],
        classes: list[Value], positive: Value, draw: int,
    ) -> Values | list[object]:  # fmt: skip
        """Return the answers to new questions, from a log or from the model.

        Parameters
        ----------
        space, box
            The points and the model.
        rows, questions
            Points that stand for the questions, and these.
        classes, positive, draw
            As in `_asked`.
        """
        names = asked_columns(box, space, partial=self.partial)
        asked = self._asker(space, box, rows, classes, positive)
        expected = self.expected(classes)

        def check(who: str, answers: list[object]) -> None:
            """Refuse answers of a log that the model could not have given."""
            check_kept(who, answers, self.kind, expected, positive)

        def system() -> System:
            """Return who answers what, under which a log keeps answers."""
            is_score = self.kind == "score"
            columns = tuple(name for name in space.features if name in names)
            return System(
                known_by(box), columns, self.kind, tuple(classes) if is_score else (),
                positive if is_score else None, about(box),
            )  # fmt: skip

        said, known = ask_all(box, questions, asked, check, system, draw)
        self.from_log += known
        return said

    def _asker(
        self, space: SampleSpace, box: BlackBox, rows: IntArray, classes: list[Value],
        positive: Value,
    ) -> Asked:  # fmt: skip
        """Return how the model is asked about some of the rows, by their places.

        Parameters
        ----------
        space, box
            The points and the model.
        rows
            Points that stand for questions.
        classes, positive
            As in `_asked`.
        """
        names = asked_columns(box, space, partial=self.partial)
        bins = {name: edges for name, edges in space.bins.items() if name in names}

        def asked(places: list[int]) -> Iterator[tuple[list[int], Values]]:
            """Yield places and answers, in the model's columns and library."""
            points = space.frame(names, rows[places], box.library or space.library)
            kind, expected = self.kind, self.expected(classes)
            came = ask_in_parts(box, points, len(places), kind, expected, positive, bins)
            for part, said in came:
                yield [places[at] for at in part], said

        return asked

    def _given(self, space: SampleSpace, classes: list[Value], positive: Value) -> Values:
        """Return given predictions, checked for the loss.

        Parameters
        ----------
        space
            The points; predictions are among their columns.
        classes, positive
            All labels that can occur, and that of a single score.

        Raises
        ------
        InputError
            If there are several columns where the loss takes one.
        """
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

    def _as_outcome(self, predictions: Values) -> tuple[Loss, FloatArray]:
        """Return predictions as outcomes, and the loss with the range that follows.

        Parameters
        ----------
        predictions
            Labels, of which the positive one is 1 and others 0, or numbers as they are.
        """
        if self.pos_label is not None and self.access.parameter != "y_score":
            outcome = np.asarray(predictions == self.pos_label, dtype=np.float64)
            return replace(self.loss, range=(0.0, 1.0)), outcome
        outcome = check_values(f"`{self.access.parameter}`", predictions)
        return self.known_loss(), outcome
