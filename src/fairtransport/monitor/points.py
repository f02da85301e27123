"""Records of a stream become points: their columns, their losses, each question asked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.monitor.stream_oracle import StreamOracle
from fairtransport.space.binning import bin_values, check_bins
from fairtransport.space.columns import Value, code_rows
from fairtransport.space.frame_source import collected, frame_source
from fairtransport.space.reader import coded_column
from fairtransport.space.roles import Roles, refuse_taken
from fairtransport.space.sample_space import SampleSpace
from fairtransport.space.single_values import plain_values, refuse_missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from narwhals.typing import IntoDataFrame

    from fairtransport.checks import FloatArray
    from fairtransport.monitor.stream_settings import Settings

Key: TypeAlias = tuple[Value, ...]
"""A point: its values in the order of `Points.names`."""
Records: TypeAlias = "Mapping[str, Value] | Sequence[Mapping[str, Value]] | IntoDataFrame"
"""A record, several, or a frame of them."""


class Points:
    """Reads records and computes losses.

    Parameters
    ----------
    settings
        What the monitor was told.

    Attributes
    ----------
    roles
        Which columns play which part; without features until these are known.
    names
        The columns of a point in their order; empty until the features are known.
    oracle
        What is known of the points: what the model says there, and the losses.
    library
        The data frame library of the last batch.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roles = Roles((), settings.sensitive, settings.label, settings.predictions, None)
        self.names: tuple[str, ...] = ()
        self.oracle = StreamOracle(settings)
        self.library = "pandas"
        given = (settings.plain["y"], *settings.predictions)
        self._taken = {name for name in given if name is not None}
        self._categories: dict[str, tuple[Value, ...] | None] = {}
        if settings.features is not None:
            self.fix_features(settings.features)

    def memory(self) -> tuple[dict[str, object], dict[str, object]]:
        """Return what records change, for `recall`."""
        return dict(vars(self)), dict(vars(self.oracle))

    def recall(self, memory: tuple[dict[str, object], dict[str, object]]) -> None:
        """Forget what came since, but for answers to questions that can be asked again.

        Parameters
        ----------
        memory
            What `memory` returned before a batch that failed.
        """
        vars(self).update(memory[0])
        vars(self.oracle).update(memory[1])
        if not self.names:
            self.oracle.said.clear()

    def restore(self, said: Mapping[Key, object], keys: Sequence[Key]) -> None:
        """Take over what was said and the points that were seen.

        Parameters
        ----------
        said
            Answers by question.
        keys
            Points of the saved stream, whose labels are known labels.
        """
        label = self.settings.label
        at = None if label is None or not keys else self.names.index(label)
        self.oracle.restore(said, () if at is None else (key[at] for key in keys))

    def fix_features(self, features: Sequence[str]) -> None:
        """Settle which columns describe a person.

        Parameters
        ----------
        features
            Their names; from here on records must have them.

        Raises
        ------
        InputError
            If one is the label or a prediction, or bins are for columns that are not there.
        """
        settings = self.settings
        refuse_taken("features", features, self._taken)
        roles = replace(self.roles, features=tuple(features))
        check_bins(settings.bins, roles.profile)
        self.roles, self.names = roles, roles.points
        self._sensitive = [self.names.index(name) for name in settings.sensitive]
        apart = {*settings.sensitive, *settings.predictions}
        self._block = [at for at, name in enumerate(self.names) if name not in apart]
        self._case = [at for at, name in enumerate(self.names) if name not in settings.predictions]
        self._answer = [self.names.index(name) for name in settings.predictions]

    def read(self, points: Records) -> list[Key]:
        """Return the points of a record or a batch, in order, checked.

        Parameters
        ----------
        points
            A record, several, or an eager frame.

        Raises
        ------
        DataError
            If a value is missing, of the wrong kind, or none of the declared levels.
        """
        columns = self._columns(points)
        if not columns:
            return []
        for name, values in columns.items():
            if name in self.settings.bins:
                columns[name] = bin_values(name, values, self.settings.bins[name])
            refuse_missing(
                name, columns[name].count(None), self.settings.missing,
                is_profile=name in self.roles.profile,
            )  # fmt: skip
        for name, levels in self.settings.levels.items():
            new = set(columns[name]).difference(levels)
            if new:
                lacked = shown(min(new, key=str))
                msg = f"`levels[{name!r}]` must hold every value, but lacks {lacked}"
                raise DataError(msg)
        if self.settings.label is not None:
            self.oracle.note(columns[self.settings.label])
        return list(zip(*columns.values(), strict=True))

    def refuse_absent(self, columns: Sequence[Value]) -> None:
        """Refuse records without a column that is needed, or with one that came too late.

        Parameters
        ----------
        columns
            Of the records.

        Raises
        ------
        DataError
            Naming the first.
        """
        for name in columns:
            if not isinstance(name, str):
                msg = f"records must have text as names of columns, got {shown(name)}"
                raise DataError(msg)
        needed = self.names or tuple(
            name for name in (*self.settings.sensitive, *sorted(self._taken)) if name
        )
        absent = [name for name in needed if name not in columns]
        if absent:
            msg = f"records must have the columns {', '.join(needed)}, but lack {absent[0]!r}"
            raise DataError(msg)
        late = [name for name in columns if name not in (*needed, *self._taken)]
        # without `features` a further column would make points that earlier ones cannot be compared
        # with
        if late and self.names and self.settings.features is None:
            msg = (
                f"records must have the columns of the first ones, {', '.join(self.names)}, "
                f"and no others, got {late[0]!r}; `features` names those to look at"
            )
            raise DataError(msg)

    def block(self, key: Key) -> Key:
        """Return what a point has in common with its twins.

        Parameters
        ----------
        key
            The point.
        """
        return tuple(key[at] for at in self._block)

    def case_and_answer(self, key: Key) -> tuple[Key, Key]:
        """Return profile and label of a person, and what was given as the answer.

        Parameters
        ----------
        key
            The point.
        """
        return tuple(key[at] for at in self._case), tuple(key[at] for at in self._answer)

    def losses(self, keys: Sequence[Key]) -> FloatArray:
        """Return the loss at each point; unknown answers are asked for, all at once.

        Parameters
        ----------
        keys
            Points.
        """
        if not keys:
            return np.empty(0)
        return self.oracle.answer(self.space(keys)).losses

    def space(self, keys: Sequence[Key]) -> SampleSpace:
        """Return points as a space, in their order.

        Parameters
        ----------
        keys
            Points; each counts once.
        """
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
        """Return the points that differ from one in sensitive features alone, itself included.

        Parameters
        ----------
        key
            The point; levels are the declared ones, so that twins do not depend on the stream.
        """
        combos = product(*(self.settings.levels[name] for name in self.settings.sensitive))
        return [self._replaced(key, combo) for combo in combos]

    def _columns(self, points: Records) -> dict[str, list[Value]]:
        """Return the columns of whatever a batch came as, as plain values.

        Raises
        ------
        InputError
            If it is neither records nor an eager frame.
        """
        from narwhals.dependencies import is_into_dataframe

        given: object = points
        records = [given] if isinstance(given, Mapping) else given
        if isinstance(records, list) and all(isinstance(one, Mapping) for one in records):
            return self._columns_of_records(records)
        is_eager: bool = is_into_dataframe(given)
        if not is_eager:
            msg = (
                "`points` must be a record (a dict), a list of records or an eager data frame, "
                f"got {shown(points)}"
            )
            raise InputError(msg)
        frame = collected(frame_source(given, "points").frame)
        self._find_features([frame.columns])
        self.library = frame.implementation.name.lower()
        columns = {}
        for name in self.names:
            column = coded_column(frame, name)
            self._categories = {**self._categories, name: column.categories}
            levels = plain_values(f"the column {name!r}", column.levels.tolist())
            columns[name] = [[*levels, None][code] for code in column.codes.tolist()]
        return columns

    def _columns_of_records(self, records: Sequence[Mapping[str, Value]]) -> dict[str, list[Value]]:
        """Return the columns of a list of records.

        Parameters
        ----------
        records
            A mapping a person; each must have the names that the first batch fixed.
        """
        if not records:
            return {}
        self._find_features({tuple(record): None for record in records})
        return {
            name: plain_values(f"the column {name!r}", [record[name] for record in records])
            for name in self.names
        }

    def _find_features(self, shapes: Iterable[Sequence[str]]) -> None:
        """Settle the features by the first columns ever seen, and hold all to the same.

        Parameters
        ----------
        shapes
            Lists of columns that the batch has, each once.
        """
        for columns in shapes:
            self.refuse_absent(columns)
            if not self.names:
                self.fix_features([name for name in columns if name not in self._taken])
                self.refuse_absent(columns)

    def _replaced(self, key: Key, combo: Sequence[Value]) -> Key:
        """Return a point with other sensitive values."""
        values = list(key)
        for at, value in zip(self._sensitive, combo, strict=True):
            values[at] = value
        return tuple(values)
