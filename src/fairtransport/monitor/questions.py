"""What a monitor asks its model: each question once, every answer checked as in an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from fairtransport.access import ask
from fairtransport.access.asking import check_labels
from fairtransport.answers import (
    TWO_LABELS,
    asked_features,
    asked_kind,
    positive_label,
    refuse_unlike,
    tells_labels,
)
from fairtransport.checks import shown
from fairtransport.errors import InputError, ModelError
from fairtransport.space.columns import object_array

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from fairtransport.access import BlackBox
    from fairtransport.monitor.settings import Settings

Question: TypeAlias = tuple[Any, ...]
PROBES = 8
"""Earlier questions that go along when a resumed monitor first asks again."""
TOLERANCE = 1e-6
"""How far a score may be from what it was: sums depend on how many points are asked at once."""


class AsFrame(Protocol):
    """Makes a frame of questions, in the order of columns and the library a model wants."""

    def __call__(self, rows: Sequence[Question], order: Sequence[str], library: str | None) -> Any:
        """Return the frame."""
        ...


class Questions:
    """Asks a model and remembers.

    Attributes
    ----------
    answers
        What the model said, by the values of the features.
    """

    def __init__(self, settings: Settings, box: BlackBox) -> None:
        self.settings, self.box = settings, box
        self.who = f"the model {box.name}"
        self.answers: dict[Question, Any] = {}
        self._is_resumed = False
        self._all_known = False
        self._is_positive_seen = False

    def restore(self, answers: dict[Question, Any]) -> None:
        """Take over what was said; the next time, some of it is asked again."""
        self.answers.update(answers)
        self._is_resumed = True
        self._is_positive_seen = self.settings.pos_label in answers.values()

    def ask(
        self, questions: list[Question], features: Sequence[str], labels: Collection[Any],
        frame: AsFrame,
    ) -> NDArray[Any]:  # fmt: skip
        """Return the answers, in order; those to new questions are asked for, all at once.

        ``labels`` are those of all records so far, this batch's included.
        """
        self._check_known(list(self.answers.values()), labels, is_all=True)
        new = list(dict.fromkeys(one for one in questions if one not in self.answers))
        if new:
            said = self._said(new, features, frame)
            self._check_known(said, labels)
            self.answers.update(zip(new, said, strict=True))
        answers = [self.answers[one] for one in questions]
        self._check_positive(answers)
        return typed(answers)

    def _said(self, new: list[Question], features: Sequence[str], frame: AsFrame) -> list[Any]:
        settings = self.settings
        before = list(self.answers)[:: max(1, len(self.answers) // PROBES)][:PROBES]
        again = before if self._is_resumed else []
        kind = asked_kind(settings.loss, settings.pos_label)
        cut = {name: edges for name, edges in settings.bins.items() if name in features}
        points = frame([*new, *again], asked_features(self.box, features), self.box.library)
        said = ask(
            self.box, points, len(new) + len(again), kind,
            settings.classes if kind == "score" else None, positive_of(settings), cut,
        ).tolist()  # fmt: skip
        for question, answer in zip(again, said[len(new) :], strict=True):
            if not _same(self.answers[question], answer):
                msg = (
                    f"{self.who} must not change its answers, but for {shown(question)} it said "
                    f"{shown(self.answers[question])} and now {shown(answer)}"
                )
                raise ModelError(msg)
        self._is_resumed = False
        return list(said[: len(new)])

    def _check_known(
        self, answers: list[Any], labels: Collection[Any], *, is_all: bool = False
    ) -> None:
        """Refuse answers that are no label, as soon as labels are known."""
        settings = self.settings
        if settings.loss.needs != "label" or (is_all and self._all_known):
            return
        refuse_unlike(labels, set(answers), self.who)
        known = sorted({*(settings.classes or ()), *labels}, key=str)
        if not tells_labels(self.box, known):
            return
        try:
            check_labels(self.who, object_array(answers), known)
        except ModelError as error:
            if settings.classes is not None:
                raise
            msg = f"{error}; `labels` may list all that can occur"
            raise ModelError(msg) from None
        self._all_known = self._all_known or is_all

    def _check_positive(self, answers: list[Any]) -> None:
        """Refuse a positive label that the model does not give."""
        positive, settings = self.settings.pos_label, self.settings
        is_outcome = not settings.loss.uses_truth and positive is not None
        if not is_outcome or settings.named_labels or self._is_positive_seen:
            return
        said = set(answers)
        self._is_positive_seen = positive in said
        refuse_unlike([positive], said, self.who)
        if len(said) >= TWO_LABELS and positive not in said:
            known = sorted(said, key=str)
            msg = (
                f"`pos_label` must be a prediction ({shown(known)}), got {shown(positive)}; "
                "`labels` may list all that can occur"
            )
            raise InputError(msg)


def positive_of(settings: Settings) -> Any:
    """Return the label that a single score belongs to."""
    return positive_label(settings.classes or [], settings.pos_label, [])


def typed(values: list[Any]) -> NDArray[Any]:
    """Return an array of numbers if all values are, else one of objects."""
    if all(type(value) in (bool, int, float, list) for value in values):
        return np.array(values)
    return object_array(values)


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, float | list) and isinstance(now, float | list):
        return np.shape(before) == np.shape(now) and np.allclose(
            before, now, rtol=TOLERANCE, atol=TOLERANCE
        )
    return bool(before == now)
