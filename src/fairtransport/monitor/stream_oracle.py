"""What a stream adds to the oracle: labels become known one by one, and a monitor may resume."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtransport.access.asking import ask, check_labels
from fairtransport.access.labels import (
    TWO_LABELS,
    all_classes,
    positive_label,
    refuse_unlike,
    tells_labels,
)
from fairtransport.access.oracle import AnsweredPoints, Oracle
from fairtransport.access.questions import Question, asked_frame
from fairtransport.access.repeating import same_answer
from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError, ModelError
from fairtransport.space.columns import code_rows, object_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairtransport.access import BlackBox
    from fairtransport.monitor.stream_settings import Settings
    from fairtransport.space import SampleSpace
    from fairtransport.space.columns import Value, Values

PROBES = 8
"""Earlier questions that are asked again when a resumed monitor first asks."""


class StreamOracle(Oracle):
    """The oracle of a monitor.

    Parameters
    ----------
    settings
        What the monitor was told.

    Attributes
    ----------
    named
        Labels that are known before the first record; None if there are none.
    labels
        The labels of all records so far, the batch at hand included.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.access, settings.loss, settings.pos_label)
        self.named = settings.classes
        self.labels: frozenset[Value] = frozenset()
        self._are_listed = settings.named_labels
        self._is_resumed = False
        self._all_known = False
        self._is_positive_seen = False

    def note(self, labels: Iterable[Value]) -> None:
        """Take notice of the labels of new records.

        Parameters
        ----------
        labels
            True labels.

        Raises
        ------
        DataError
            If one is none of those that were listed, or of another kind than the others.
        """
        self.labels = self.labels.union(labels)
        if self.named is not None and (self._are_listed or self.loss.needs == "score"):
            lacked = self.labels.difference(self.named)
            if lacked:
                msg = f"`labels` must hold every label, but lacks {shown(min(lacked, key=str))}"
                raise DataError(msg)
        if self.loss.needs == "label":
            refuse_unlike(self.labels, (), "")
            all_classes(sorted(self.labels, key=str), self.access, self.loss)

    def restore(self, said: Mapping[Question, object], labels: Iterable[Value]) -> None:
        """Take over what was said; before the model is next asked, some of it is asked again.

        Parameters
        ----------
        said
            Answers by question.
        labels
            True labels that were seen.
        """
        self.said.update(said)
        self._order = self.named or []
        self.labels = frozenset(labels)
        self._is_resumed = True
        self._is_positive_seen = self.pos_label in said.values()

    def answer(self, space: SampleSpace, draw: int = 0) -> AnsweredPoints:
        """Return answers and losses; earlier answers have to be labels, too, once any are known.

        Parameters
        ----------
        space, draw
            As in `Oracle.answer`.
        """
        if self.access.box is not None and self.loss.needs == "label" and not self._all_known:
            self._all_known = self._are_known(list(self.said.values()))
        return super().answer(space, draw)

    def classes(self, space: SampleSpace) -> list[Value]:  # noqa: ARG002
        """Return the labels that are known whatever the stream brings.

        Parameters
        ----------
        space
            Not looked at: a batch does not have all labels.
        """
        return self.named or []

    def positive(self, space: SampleSpace, classes: Sequence[Value]) -> Value:  # noqa: ARG002
        """Return the label that a single score belongs to.

        Parameters
        ----------
        space, classes
            The first is not looked at; the labels that are known.
        """
        label: Value = positive_label(classes, self.pos_label, [])
        return label

    def expected(self, classes: list[Value]) -> list[Value] | None:
        """Return the classes of scores; labels are compared with those of the stream later.

        Parameters
        ----------
        classes
            The labels that are known.
        """
        return classes if self.kind == "score" else None

    def check_labels(self, predictions: Values, classes: list[Value]) -> None:  # noqa: ARG002
        """Refuse predictions that cannot be labels, as far as these are known.

        Parameters
        ----------
        predictions, classes
            One a point; the second is not looked at.
        """
        if self.access.box is None:
            refuse_unlike(self.labels, set(predictions.tolist()), self.access.who)
        else:
            self._are_known(predictions.tolist())

    def check_positive(self, predictions: Values) -> None:
        """Refuse a positive label that the model does not give.

        Parameters
        ----------
        predictions
            Of a batch: once two labels were given and the positive one is neither, it is a slip.
        """
        positive = self.pos_label
        asks = self.access.box is not None and positive is not None
        if not asks or self._are_listed or self._is_positive_seen:
            return
        said = set(predictions.tolist())
        self._is_positive_seen = positive in said
        refuse_unlike([positive], said, self.access.who)
        if len(said) >= TWO_LABELS and positive not in said:
            known = sorted(said, key=str)
            msg = (
                f"`pos_label` must be a prediction ({shown(known)}), got {shown(positive)}; "
                "`labels` may list all that can occur"
            )
            raise InputError(msg)

    def prepare(self, space: SampleSpace, box: BlackBox) -> None:
        """Refuse a model that says something else than before the monitor was saved.

        Parameters
        ----------
        space, box
            The new points, and the model; a few earlier questions are asked again.

        Raises
        ------
        ModelError
            If an answer differs: the evidence so far was about another model.
        """
        before = list(self.said)[:: max(1, len(self.said) // PROBES)][:PROBES]
        if not self._is_resumed or not before:
            return
        categories = {name: space.columns[name].categories for name in space.features}
        columns = code_rows(space.features, before, categories)
        points = asked_frame(box, replace(space, columns=columns))
        positive = self.positive(space, self.named or [])
        again = ask(box, points, len(before), self.kind, self.expected(self.named or []), positive)
        for question, answer in zip(before, again.tolist(), strict=True):
            if not same_answer(self.said[question], answer):
                msg = (
                    f"{self.access.who} must not change its answers, but for {shown(question)} it "
                    f"said {shown(self.said[question])} and now {shown(answer)}"
                )
                raise ModelError(msg)
        self._is_resumed = False

    def _are_known(self, answers: list[Value]) -> bool:
        """Say whether labels are known, and refuse answers that then are none.

        Parameters
        ----------
        answers
            Of the model, new or earlier.
        """
        who = self.access.who
        refuse_unlike(self.labels, set(answers), who)
        known = sorted({*(self.named or ()), *self.labels}, key=str)
        if not tells_labels(self.access, known):
            return False
        try:
            check_labels(who, object_array(answers), known)
        except ModelError as error:
            if self.named is not None:
                raise
            msg = f"{error}; `labels` may list all that can occur"
            raise ModelError(msg) from None
        return True
