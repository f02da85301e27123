"""Records of a stream as points, and their losses; labels become known with time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport._core.validation import list_values, short_repr
from fairtransport.access.answers import (
    TWO_LABELS,
    all_classes,
    ask,
    check_label_types,
    check_labels,
    knows_all_labels,
)
from fairtransport.access.oracle import AnswerBook, Oracle, Question, input_frame
from fairtransport.access.repeats import same_answer
from fairtransport.data.build import Roles, check_no_overlap, reserve_columns
from fairtransport.data.columns import (
    Value,
    bin_values,
    check_bins,
    check_not_missing,
    code_rows,
    object_array,
    plain_values,
)
from fairtransport.data.one_hot import check_no_one_hot
from fairtransport.data.sample_space import ColumnSet, SampleSpace
from fairtransport.data.sources import collect_frame, encode_column, frame_source
from fairtransport.data.text_files import NUMBER, TEXT, TRUTH, WHOLE
from fairtransport.errors import DataError, InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from narwhals.typing import IntoDataFrame

    from fairtransport._core.validation import FloatArray, Values
    from fairtransport.access import BlackBox
    from fairtransport.monitor.settings import MonitorSettings


Key: TypeAlias = tuple[Value, ...]
"""A point: its values in the order of `Points.names`."""
Records: TypeAlias = "Mapping[str, Value] | Sequence[Mapping[str, Value]] | IntoDataFrame"
"""A record, several, or a frame of them."""
ANY = "values of several kinds"
VALUE_KINDS: dict[str, tuple[type, ...]] = {
    TRUTH: (bool,),
    WHOLE: (int,),
    NUMBER: (int, float, Decimal),
    TEXT: (str,),
    "dates or times": (date, time, timedelta),
    ANY: (object,),
}
"""Kinds of columns, with the types of their values."""


def _holds(kind: str, types: Collection[type]) -> bool:
    """Return whether a column of a kind can hold values of some types; bools are no numbers."""
    allowed, takes_truth = VALUE_KINDS[kind], kind in {TRUTH, ANY}
    return all(issubclass(one, allowed) and (takes_truth or one is not bool) for one in types)


class Points:
    """Reads records as points and computes their losses."""

    def __init__(self, settings: MonitorSettings) -> None:
        self.settings = settings
        self.roles = Roles((), settings.sensitive, settings.label, settings.predictions, None)
        self.names: tuple[str, ...] = ()
        self.oracle = StreamOracle(settings)
        self.library = "pandas"
        self._reserved = reserve_columns(
            settings.y, settings.predictions, settings.access.parameter
        )
        self._categories: dict[str, tuple[Value, ...] | None] = {}
        self._kinds: dict[str, str] = {}
        if settings.features is not None:
            self.fix_features(settings.features)

    def snapshot(self) -> tuple[dict[str, object], dict[str, object]]:
        """Return the state that records change, for `roll_back`."""
        return dict(vars(self)), dict(vars(self.oracle))

    def roll_back(self, snapshot: tuple[dict[str, object], dict[str, object]]) -> None:
        """Restore a state, but keep answers to questions that can be repeated."""
        vars(self).update(snapshot[0])
        vars(self.oracle).update(snapshot[1])
        if not self.names:
            self.oracle.books = [AnswerBook()]

    def restore(self, answers: Mapping[Key, object], keys: Sequence[Key]) -> None:
        """Restore the answers and points of a state file."""
        label = self.settings.label
        place = None if label is None or not keys else self.names.index(label)
        for name, values in zip(self.names, zip(*keys, strict=True), strict=False):
            self._keep_kind(name, values)
        self.oracle.restore(answers, () if place is None else (key[place] for key in keys))

    def fix_features(self, features: Sequence[str]) -> None:
        """Fix the columns that describe a person."""
        settings = self.settings
        check_no_overlap("features", features, self._reserved)
        roles = replace(self.roles, features=tuple(features))
        check_bins(settings.bins, roles.profile)
        check_no_one_hot(settings.levels, roles.profile)
        self.roles, self.names = roles, roles.points
        others = {*settings.sensitive, *settings.predictions}
        places = list(enumerate(self.names))
        self._block = [place for place, name in places if name not in others]
        self._case = [place for place, name in places if name not in settings.predictions]
        self._answer = [self.names.index(name) for name in settings.predictions]

    def read(self, points: Records) -> list[Key]:
        """Return the points of a record or a batch, in order, checked."""
        columns = self._columns(points)
        if not columns:
            return []
        for name, values in columns.items():
            if name in self.settings.bins:
                columns[name] = bin_values(name, values, self.settings.bins[name])
            columns[name] = self._keep_kind(name, columns[name])
            check_not_missing(
                name, columns[name].count(None), self.settings.audit.missing,
                is_profile=name in self.roles.profile,
                is_numeric=any(isinstance(value, int | float) for value in columns[name]),
            )  # fmt: skip
        for name, levels in self.settings.levels.items():
            new = set(columns[name]).difference(levels)
            if new:
                level = short_repr(min(new, key=str))
                msg = f"{param('levels', name)} must hold every value, but lacks {level}"
                raise DataError(msg)
        if self.settings.label is not None:
            self.oracle.add_labels(columns[self.settings.label])
        return list(zip(*columns.values(), strict=True))

    def _keep_kind(self, name: str, values: Sequence[Value]) -> list[Value]:
        """Return a feature's values in the kind of its first ones; raise if they do not fit."""
        values, types = list(values), set(map(type, values)) - {type(None)}
        # declared levels, labels and predictions have their own rules
        if not types or name in self.settings.levels or name not in self.roles.profile:
            return values
        if name not in self._kinds:
            kind = next(kind for kind in VALUE_KINDS if _holds(kind, types))
            self._kinds = {**self._kinds, name: kind}
        kind = self._kinds[name]
        if kind == WHOLE and float in types:
            # a frame holds integers of a column with missing values as floats
            values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
        elif _holds(kind, types):
            return values
        for value in values:
            if value is not None and not _holds(kind, {type(value)}):
                msg = (
                    f"the column {name!r} held {kind} when the monitor began and must go on to, "
                    f"got {short_repr(value)}; a new monitor goes by its own first records"
                )
                raise DataError(msg)
        return values

    def check_columns(self, columns: Sequence[Value]) -> None:
        """Check that records have the required columns, and none that comes too late."""
        for name in columns:
            if not isinstance(name, str):
                msg = f"records must have text as names of columns, got {short_repr(name)}"
                raise DataError(msg)
        required = self.names or (*self.settings.sensitive, *sorted(self._reserved))
        absent = [name for name in required if name not in columns]
        if absent:
            msg = f"records must have the columns {', '.join(required)}, but lack {absent[0]!r}"
            raise DataError(msg)
        late = [name for name in columns if name not in (*required, *self._reserved)]
        # without `features`, points with a further column could not be compared with earlier ones
        if late and self.names and self.settings.features is None:
            msg = (
                f"records must have the columns of the first ones, {', '.join(self.names)}, "
                f"and no others, got {late[0]!r}; {param('features')} names those to look at"
            )
            raise DataError(msg)

    def block(self, key: Key) -> Key:
        """Return the values that a point shares with its twins."""
        return tuple(key[place] for place in self._block)

    def case_and_answer(self, key: Key) -> tuple[Key, Key]:
        """Return profile and label of a person, and the given answer."""
        return tuple(key[i] for i in self._case), tuple(key[i] for i in self._answer)

    def losses(self, keys: Sequence[Key]) -> FloatArray:
        """Return the loss at each point; unknown answers are queried, all at once."""
        if not keys:
            return np.empty(0)
        return self.oracle.answer(self.space(keys)).losses

    def space(self, keys: Sequence[Key]) -> SampleSpace:
        """Return points as a space, in their order."""
        settings = self.settings
        whole = {name: cats for name, cats in self._categories.items() if name not in settings.bins}
        return SampleSpace(
            columns=code_rows(self.names, keys, whole),
            counts=np.ones(len(keys), np.int64),
            features=self.roles.features,
            sensitive=self.roles.sensitive,
            label=self.roles.label,
            predictions=self.roles.predictions,
            bins=settings.bins,
            library=self.library,
        )

    def twins(self, key: Key) -> list[Key]:
        """Return the points that differ from one in sensitive features only, itself included."""
        levels, values = self.settings.levels, zip(self.names, key, strict=True)
        return list(product(*(levels.get(name, [value]) for name, value in values)))

    def space_of_twins(self, counts: Mapping[Key, int]) -> SampleSpace:
        """Return people and all their twins as a space, in which twins have count 0."""
        keys = list(dict.fromkeys(twin for key in counts for twin in self.twins(key)))
        is_declared = self.settings.box is not None
        return replace(
            self.space(keys),
            counts=np.array([counts.get(key, 0) for key in keys], np.int64),
            has_twins=True,
            column_sets=tuple(ColumnSet((name,), is_declared) for name in self.roles.sensitive),
        )

    def _columns(self, points: Records) -> dict[str, list[Value]]:
        """Return the columns of a batch in any form, as plain values."""
        from narwhals.dependencies import is_into_dataframe

        batch: object = points
        records = [batch] if isinstance(batch, Mapping) else batch
        if isinstance(records, list) and all(isinstance(one, Mapping) for one in records):
            return self._columns_of_records(records)
        is_eager: bool = is_into_dataframe(batch)
        if not is_eager:
            msg = (
                f"{param('points')} must be a record (a dict), a list of records or an eager data "
                f"frame, got {short_repr(points)}"
            )
            raise InputError(msg)
        frame = collect_frame(frame_source(batch, "points").frame)
        self._find_features([frame.columns])
        self.library = frame.implementation.name.lower()
        columns = {}
        for name in self.names:
            column = encode_column(frame, name)
            self._categories = {**self._categories, name: column.categories}
            levels = plain_values(f"the column {name!r}", column.levels.tolist())
            columns[name] = [[*levels, None][code] for code in column.codes.tolist()]
        return columns

    def _columns_of_records(self, records: Sequence[Mapping[str, Value]]) -> dict[str, list[Value]]:
        """Return the columns of a list of records."""
        if not records:
            return {}
        self._find_features({tuple(record): None for record in records})
        return {
            name: plain_values(f"the column {name!r}", [record[name] for record in records])
            for name in self.names
        }

    def _find_features(self, shapes: Iterable[Sequence[str]]) -> None:
        """Fix the features by the first columns, and check later ones by them."""
        for columns in shapes:
            self.check_columns(columns)
            if not self.names:
                self.fix_features([name for name in columns if name not in self._reserved])
                self.check_columns(columns)


PROBES = 8
"""Number of earlier questions repeated with the first query of a resumed monitor."""


class StreamOracle(Oracle):
    """The oracle of a monitor: labels may arrive later, and earlier answers may be restored."""

    def __init__(self, settings: MonitorSettings) -> None:
        super().__init__(settings.access, settings.loss, settings.audit.pos_label)
        self.labels: frozenset[Value] = frozenset()
        self._classes = settings.classes or []
        self._has_list = settings.labels is not None
        self._is_resumed = False
        self._are_answers_checked = False
        self._has_positive = False

    def add_labels(self, labels: Iterable[Value]) -> None:
        """Check the labels of new records; once all are known, also the earlier answers."""
        self.labels = self.labels.union(labels)
        if self._classes and (self._has_list or self.loss.needs == "score"):
            unknown = self.labels.difference(self._classes)
            if unknown:
                msg = (
                    f"{param('labels')} must hold every label, but lacks "
                    f"{short_repr(min(unknown, key=str))}"
                )
                raise DataError(msg)
        if self.loss.needs != "label":
            return
        check_label_types(self.labels, (), "")
        all_classes(sorted(self.labels, key=str), self.access, self.loss)
        if self.access.box is not None and not self._are_answers_checked:
            self._are_answers_checked = self._check_answers(list(self.answers.values()))

    def restore(self, answers: Mapping[Question, object], labels: Iterable[Value]) -> None:
        """Restore answers; some questions are repeated with the next query of the model."""
        self.answers.update(answers)
        self._order = self._classes
        self.labels = frozenset(labels)
        self._is_resumed = True
        self._has_positive = self.pos_label in answers.values()

    def classes(self, space: SampleSpace) -> list[Value]:  # noqa: ARG002
        """Return the labels that are known without the stream."""
        return self._classes

    def check_labels(self, predictions: Values, classes: list[Value]) -> None:  # noqa: ARG002
        """Check that predictions can be labels, as far as these are known."""
        if self.access.box is None:
            check_label_types(self.labels, set(predictions.tolist()), self.access.who)
        else:
            self._check_answers(predictions.tolist())

    def check_positive(self, predictions: Values) -> None:
        """Check that the model gives the positive label, once it has given two labels."""
        positive = self.pos_label
        is_asked = self.access.box is not None and positive is not None
        if not is_asked or self._has_list or self._has_positive:
            return
        answers = set(predictions.tolist())
        self._has_positive = positive in answers
        check_label_types([positive], answers, self.access.who)
        if len(answers) >= TWO_LABELS and positive not in answers:
            msg = (
                f"{param('pos_label')} must be a prediction "
                f"({list_values(sorted(answers, key=str))}), got {short_repr(positive)}; "
                f"{param('labels')} may list all that can occur"
            )
            raise InputError(msg)

    def prepare(self, space: SampleSpace, box: BlackBox) -> None:
        """Check that a resumed monitor's model gives the same answers as before."""
        # a replaced model would mix the evidence of two models: some old questions, spread over
        # all, are repeated
        questions = list(self.answers)[:: max(1, len(self.answers) // PROBES)][:PROBES]
        if not self._is_resumed or not questions:
            return
        categories = {name: space.columns[name].categories for name in space.features}
        columns = code_rows(space.features, questions, categories)
        points = input_frame(box, replace(space, columns=columns))
        expected, positive = self.expected(self._classes), self.positive(space, self._classes)
        answers = ask(box, points, len(questions), self.kind, expected, positive)
        for question, answer in zip(questions, answers.tolist(), strict=True):
            if not same_answer(self.answers[question], answer):
                msg = (
                    f"{self.access.who} must not change its answers, but for "
                    f"{short_repr(question)} it gave {short_repr(self.answers[question])} and now "
                    f"{short_repr(answer)}"
                )
                raise ModelError(msg)
        self._is_resumed = False

    def _check_answers(self, answers: list[Value]) -> bool:
        """Return whether labels are known; if they are, check answers by them."""
        who = self.access.who
        check_label_types(self.labels, set(answers), who)
        labels = sorted({*self._classes, *self.labels}, key=str)
        if not knows_all_labels(self.access, labels):
            return False
        try:
            check_labels(who, object_array(answers), labels)
        except ModelError as error:
            if self._classes:
                raise
            msg = f"{error}; {param('labels')} may list all that can occur"
            raise ModelError(msg) from None
        return True
