"""Records of a stream become points: their columns, their losses, each question asked once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairtransport.access import ask
from fairtransport.access.asking import check_scores, check_values
from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.losses import Answer, evaluate
from fairtransport.space.binning import bin_names
from fairtransport.space.columns import Column, encode, encode_series, object_array
from fairtransport.space.sample_space import native_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairtransport.access import BlackBox
    from fairtransport.checks import FloatArray
    from fairtransport.monitor.settings import Settings

Key: TypeAlias = tuple[Any, ...]
"""A point: its values in the order of `Points.names`."""


class Points:
    """Reads records, remembers the model's answers, and computes losses.

    Attributes
    ----------
    names
        The columns of a point: features, sensitive ones, label, predictions; empty until known.
    answers
        What the model said, by the values of the features.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.features: tuple[str, ...] = ()
        self.names: tuple[str, ...] = ()
        self.answers: dict[Key, Any] = {}
        self.library = "pandas"
        self._categories: dict[str, tuple[Any, ...] | None] = {}
        if settings.features is not None:
            self.fix_features(settings.features)

    def fix_features(self, features: Sequence[str]) -> None:
        """Settle which columns describe a person."""
        settings = self.settings
        label = () if settings.label is None else (settings.label,)
        for name in features:
            if name in (*label, *settings.predictions):
                msg = f"`features` must not hold label or predictions, got {name!r}"
                raise InputError(msg)
        unknown = [name for name in settings.bins if name not in (*features, *settings.sensitive)]
        if unknown:
            msg = f"`bins` must name columns of the points, got {shown(unknown[0])}"
            raise InputError(msg)
        self.features = tuple(features)
        columns = (*features, *settings.sensitive, *label, *settings.predictions)
        self.names = tuple(dict.fromkeys(columns))
        self._profile = [
            self.names.index(name) for name in dict.fromkeys((*features, *settings.sensitive))
        ]
        self._sensitive = [self.names.index(name) for name in settings.sensitive]
        self._asked = [self.names.index(name) for name in self.features]
        others = [at for at in self._profile if at not in self._sensitive]
        self._block = [*others, *(self.names.index(name) for name in label)]

    def read(self, points: Any) -> list[Key]:
        """Return the points of a record or a batch, in order, checked."""
        columns = self._columns(points)
        for name, values in columns.items():
            if name in self.settings.bins:
                columns[name] = self._binned(name, values)
            self._refuse_missing(name, columns[name])
        for name, levels in self.settings.levels.items():
            new = set(columns[name]).difference(levels)
            if new:
                lacked = shown(min(new, key=str))
                msg = f"`levels[{name!r}]` must hold every value, but lacks {lacked}"
                raise DataError(msg)
        return list(zip(*columns.values(), strict=True))

    def block(self, key: Key) -> Key:
        """Return what a point has in common with its twins."""
        return tuple(key[at] for at in self._block)

    def losses(self, keys: Sequence[Key]) -> FloatArray:
        """Return the loss at each point; unknown answers are asked for, all at once."""
        if not keys:
            return np.empty(0)
        box = self.settings.box
        if box is None:
            answers = self._given(keys)
        else:
            answers = self._ask(box, [tuple(key[at] for at in self._asked) for key in keys])
        truth = self._truth(keys)
        if self.settings.loss.needs == "label":
            _refuse_unlike(truth, answers)
        return evaluate(self.settings.loss, truth, self._outcome(answers))

    def twins(self, key: Key) -> list[Key]:
        """Return the points that differ from one in sensitive features alone, itself included."""
        combos = product(*(self.settings.levels[name] for name in self.settings.sensitive))
        return [self._replaced(key, combo) for combo in combos]

    def frame(self, keys: Sequence[Key]) -> Any:
        """Return points as a data frame."""
        return self._native(self.names, keys)

    def _columns(self, points: Any) -> dict[str, list[Any]]:
        import narwhals as nw

        records = [points] if isinstance(points, Mapping) else points
        if isinstance(records, list) and all(isinstance(one, Mapping) for one in records):
            return self._columns_of_records(records)
        try:
            frame = nw.from_native(points, eager_only=True)
        except TypeError:
            msg = (
                "`points` must be a record (a dict), a list of records or an eager data frame, "
                f"got {shown(points)}"
            )
            raise InputError(msg) from None
        self._find_features(frame.columns)
        self._refuse_absent(frame.columns)
        self.library = frame.implementation.name.lower()
        columns = {}
        for name in self.names:
            try:
                column = encode_series(frame[name])
            except TypeError:
                msg = f"the column {name!r} must hold single values"
                raise DataError(msg) from None
            self._categories[name] = column.categories
            columns[name] = column.to_list()
        return columns

    def _columns_of_records(self, records: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
        for record in records:
            self._find_features(list(record))
            self._refuse_absent(list(record))
        return {name: [_plain(name, record[name]) for record in records] for name in self.names}

    def _find_features(self, columns: Sequence[str]) -> None:
        if not self.names:
            taken = {self.settings.plain["y"], *self.settings.predictions}
            self.fix_features([name for name in columns if name not in taken])

    def _refuse_absent(self, columns: Sequence[str]) -> None:
        absent = [name for name in self.names if name not in columns]
        if absent:
            msg = f"records must have the columns {', '.join(self.names)}, but lack {absent[0]!r}"
            raise DataError(msg)

    def _binned(self, name: str, values: list[Any]) -> list[Any]:
        edges = self.settings.bins[name]
        names = bin_names(edges)
        for value in values:
            if value is not None and not isinstance(value, int | float):
                msg = f"`bins[{name!r}]` needs a numeric column, got {shown(value)}"
                raise DataError(msg)
        return [None if value is None else names[bisect_right(edges, value)] for value in values]

    def _refuse_missing(self, name: str, values: list[Any]) -> None:
        is_profile = self.names.index(name) in self._profile
        if None in values and not (is_profile and self.settings.missing == "level"):
            way_out = "; missing='level' makes it a level of its own" if is_profile else ""
            many = values.count(None)
            msg = f"the column {name!r} must not have missing values, got {many}{way_out}"
            raise DataError(msg)

    def _replaced(self, key: Key, combo: Sequence[Any]) -> Key:
        values = list(key)
        for at, value in zip(self._sensitive, combo, strict=True):
            values[at] = value
        return tuple(values)

    def _ask(self, box: BlackBox, questions: list[Key]) -> NDArray[Any]:
        settings = self.settings
        new = list(dict.fromkeys(one for one in questions if one not in self.answers))
        if new:
            names = self.features if box.features is None else box.features
            if set(names) != set(self.features):
                msg = (
                    f"`features` must be the columns that the model was fitted on "
                    f"({', '.join(names)}), got {', '.join(self.features)}"
                )
                raise InputError(msg)
            points = self._native(self.features, new, names, box.library)
            kind: Answer = settings.loss.needs
            # labels, of which the positive one counts; or labels nobody listed beforehand
            if not settings.loss.uses_truth and settings.pos_label is not None:
                kind = "any"
            if kind == "label" and settings.classes is None:
                kind = "any"
            cut = {name: edges for name, edges in settings.bins.items() if name in self.features}
            said = ask(box, points, len(new), kind, settings.classes or [], self._positive, cut)
            self.answers.update(zip(new, said.tolist(), strict=True))
        return _typed([self.answers[one] for one in questions])

    def _given(self, keys: Sequence[Key]) -> NDArray[Any]:
        places = [self.names.index(name) for name in self.settings.predictions]
        who, classes = f"`{self.settings.parameter}`", self.settings.classes or []
        if self.settings.loss.needs == "score":
            scores = np.array([[key[at] for at in places] for key in keys], object)
            return check_scores(who, scores, len(keys), classes, classes, self._positive)
        answers = _typed([key[places[0]] for key in keys])
        numeric = self.settings.loss.uses_truth or self.settings.pos_label is None
        is_value = self.settings.loss.needs == "value" and numeric
        return check_values(who, answers) if is_value else answers

    @property
    def _positive(self) -> Any:
        classes, pos_label = self.settings.classes, self.settings.pos_label
        usual = classes is not None and set(classes) in ({0, 1}, {-1, 1})
        return classes[-1] if pos_label is None and classes and usual else pos_label

    def _outcome(self, answers: NDArray[Any]) -> NDArray[Any]:
        settings = self.settings
        if settings.loss.uses_truth:
            return answers
        if settings.pos_label is not None and settings.parameter != "y_score":
            return np.array([one == settings.pos_label for one in answers.tolist()], np.float64)
        return check_values(f"`{settings.parameter}`", answers)

    def _truth(self, keys: Sequence[Key]) -> NDArray[Any]:
        label, needs = self.settings.label, self.settings.loss.needs
        if label is None:
            return np.zeros(len(keys))
        values = [key[self.names.index(label)] for key in keys]
        if needs == "score":
            place = {one: at for at, one in enumerate(self.settings.classes or [])}
            for value in values:
                if value not in place:
                    msg = f"`labels` must hold every label, but lacks {shown(value)}"
                    raise DataError(msg)
            return np.array([place[value] for value in values])
        if needs == "value":
            try:
                return np.array(values, np.float64)
            except (TypeError, ValueError):
                msg = f"`y` must be numeric for the loss {self.settings.loss.name!r}"
                raise DataError(msg) from None
        return _typed(values)

    def _native(
        self, names: Sequence[str], rows: Sequence[Key], order: Sequence[str] | None = None,
        library: str | None = None,
    ) -> Any:  # fmt: skip
        columns: dict[str, Column] = {}
        for at, name in enumerate(names):
            values = object_array([row[at] for row in rows])
            missing = np.array([value is None for value in values], bool)
            categories = None if name in self.settings.bins else self._categories.get(name)
            columns[name] = encode(values, missing, categories)
        chosen = names if order is None else order
        return native_frame({name: columns[name] for name in chosen}, library or self.library)


def _plain(name: str, value: Any) -> Any:
    """Return a record's value as a plain Python object, NaN as None."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, Hashable):
        msg = f"the column {name!r} must hold single values, got {shown(value)}"
        raise DataError(msg)
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124


def _typed(values: list[Any]) -> NDArray[Any]:
    if all(type(value) in (bool, int, float, list) for value in values):
        return np.array(values)
    return object_array(values)


def _refuse_unlike(truth: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Refuse labels that are text beside predictions that are numbers: no two are equal."""
    for label, prediction in zip(truth.tolist(), predicted.tolist(), strict=True):
        if isinstance(label, str) != isinstance(prediction, str):
            msg = (
                f"true labels and predictions must be of the same type, got {shown(label)} "
                f"and {shown(prediction)}"
            )
            raise DataError(msg)
