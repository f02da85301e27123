"""Moves of the optimal plan as objects, as columns and as a file; the worst pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from fairtransport._core.files import escape_formula
from fairtransport._core.parallel import threads_for
from fairtransport._core.ranks import number_rows
from fairtransport._core.schema import Doc
from fairtransport.data.database import Database
from fairtransport.errors import InputError, param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray, Values
    from fairtransport.data import SampleSpace
    from fairtransport.data.columns import Rows
    from fairtransport.geometry import Geometry
    from fairtransport.transport import Solution


MIN_MOVED_PEOPLE = 1e-9
"""Smaller numbers of people are rounding errors of the plan."""


Value = str | int | float | bool | None
"""A value of the audit data in a document."""
Profile = dict[str, Value]
"""A person's columns by name."""


Prediction = Value | tuple[float, ...]
"""A label or number, or one score per class."""


@dataclass(frozen=True)
class Move:
    """People of one profile who are swapped with those of another."""

    from_profile: Annotated[Profile, Doc("Who they are.")]
    to_profile: Annotated[Profile, Doc("Who they are compared with.")]
    changed: Annotated[tuple[str, ...], Doc("The columns in which the two differ.")]
    label: Annotated[
        Value, Doc("The true label, the same for both; null where the loss does without.")
    ]
    people: Annotated[float, Doc("How many are swapped; with a budget not always a whole number.")]
    prediction: Annotated[
        Prediction, Doc("The prediction of the one: a label, a number or scores by class.")
    ]
    prediction_after: Annotated[Prediction, Doc("The prediction of the other.")]
    loss: Annotated[float, Doc("The loss of the one.")]
    loss_after: Annotated[float, Doc("The loss of the other.")]
    cost: Annotated[float, Doc("The squared distance between the two.")]
    tied: Annotated[bool, Doc("Whether another swap would have raised the loss as much.")]


@dataclass(frozen=True, eq=False)
class MovePlan:
    """The part of a plan that moves people, as arrays: one entry per move, largest gains first."""

    sources: IntArray
    targets: IntArray
    people: FloatArray
    gains: FloatArray
    costs: FloatArray
    tied: BoolArray

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def total(self) -> float:
        """Number of people moved."""
        return float(self.people.sum())

    def take(self, rows: Rows) -> MovePlan:
        """Return some of the moves."""
        return MovePlan(
            self.sources[rows], self.targets[rows], self.people[rows], self.gains[rows],
            self.costs[rows], self.tied[rows],
        )  # fmt: skip


def find_moves(solution: Solution, n: int) -> MovePlan:
    """Return the moves of a solution's plan for n people, largest gains first."""
    plan = solution.plan.tocoo()
    # masses are shares: times n they are integers up to rounding, unless the budget splits a
    # profile
    people = np.round(plan.data * n, 9)
    real = (plan.row != plan.col) & (people > MIN_MOVED_PEOPLE)
    sources, targets = plan.row[real].astype(np.int64), plan.col[real].astype(np.int64)
    losses = solution.problem.losses
    moves = MovePlan(
        sources,
        targets,
        people[real],
        losses[targets] - losses[sources],
        solution.problem.costs_of(sources, targets),
        solution.tied(sources),
    )
    # ties are ordered by people and points, so that tables are reproducible
    totals = np.round(moves.people * moves.gains, 9)
    return moves.take(np.lexsort((targets, sources, -moves.people, -totals)))


def describe_moves(
    moves: MovePlan, space: SampleSpace, predictions: Values, losses: FloatArray
) -> tuple[Move, ...]:
    """Return the moves with the columns of both profiles."""
    profiles = Profiles(space)
    codes = space.codes(space.profile)

    def describe(at: int) -> Move:
        """Return one move with both ends' columns by name."""
        source, target = int(moves.sources[at]), int(moves.targets[at])
        differ = codes[source] != codes[target]
        return Move(
            profiles.profile(source),
            profiles.profile(target),
            tuple(name for name, other in zip(space.profile, differ, strict=True) if other),
            profiles.label(source),
            float(moves.people[at]),
            get_prediction(predictions, source),
            get_prediction(predictions, target),
            float(losses[source]),
            float(losses[target]),
            float(moves.costs[at]),
            bool(moves.tied[at]),
        )

    return tuple(map(describe, range(len(moves))))


def get_prediction(predictions: Values, point: int) -> Prediction:
    """Return the prediction at a point."""
    prediction = predictions[point]
    return (
        tuple(float(score) for score in prediction)
        if np.ndim(prediction)
        else to_plain_value(prediction)
    )


def build_moves_columns(
    moves: MovePlan, space: SampleSpace, predictions: Values, losses: FloatArray
) -> dict[str, Sequence[Prediction]]:
    """Return moves as the columns of a table: from-profile, to-profile and the numbers.

    Built by column, so that a table of all moves is cheap compared with the audit.
    """
    profiles = Profiles(space)
    ends = {"from": moves.sources, "to": moves.targets}
    table: dict[str, Sequence[Prediction]] = {
        f"{end}_{name}": profiles.values(name, points)
        for end, points in ends.items()
        for name in space.profile
    }
    table["changed"] = _describe_changes(table, space.profile)
    if space.label is not None:
        table["label"] = profiles.values(space.label, moves.sources)
    table["people"] = moves.people.tolist()
    for name, points in (("prediction", moves.sources), ("prediction_after", moves.targets)):
        answers = predictions[points].tolist()
        table[name] = [
            tuple(answer) if isinstance(answer, list) else to_plain_value(answer)
            for answer in answers
        ]
    table["loss"] = losses[moves.sources].tolist()
    table["loss_after"] = losses[moves.targets].tolist()
    table["cost"] = moves.costs.tolist()
    table["tied"] = moves.tied.tolist()
    return table


def _describe_changes(table: dict[str, Sequence[Prediction]], names: Sequence[str]) -> list[str]:
    """Return what changes, as in "sex: Male → Female"; it may be only the prediction."""

    def words(value: Prediction) -> str:
        """Return a value as text."""
        return "missing" if value is None else str(value)

    size = len(table[f"from_{names[0]}"]) if names else 0
    parts: list[list[str]] = [[] for _ in range(size)]
    for name in names:
        ends = zip(table[f"from_{name}"], table[f"to_{name}"], strict=True)
        for part, (before, after) in zip(parts, ends, strict=True):
            if before != after:
                part.append(f"{name}: {words(before)} → {words(after)}")
    return [", ".join(part) or "nothing" for part in parts]


CSV, PARQUET = ".csv", ".parquet"
SCORED = ("prediction", "prediction_after")


def check_moves_ending(flag: str, path: Path) -> None:
    """Check that a file of moves ends in .csv or .parquet."""
    if path.suffix.lower() not in (CSV, PARQUET):
        msg = f"{param(flag)} must end in {CSV} or {PARQUET}, got {path.name!r}"
        raise InputError(msg)


def encode_moves(
    path: Path, columns: Mapping[str, Sequence[Any]], classes: Sequence[object]
) -> bytes:
    """Return a table of moves as the bytes of a file, by its ending."""
    import pandas as pd

    check_moves_ending("path", path)
    table = pd.DataFrame(_flatten_scores(columns, classes))
    if path.suffix.lower() == CSV:
        table = table.rename(columns=escape_formula).map(escape_formula)
        # older Pythons quote only the characters that end a line: with "\n", no carriage return
        text = table.to_csv(index=False, lineterminator="\r\n")
        return text.encode("utf-8", "backslashreplace")
    # DuckDB writes Parquet, so that no further library is needed
    return Database().as_parquet(_convert_mixed_columns(table))


def _flatten_scores(
    columns: Mapping[str, Sequence[Any]], classes: Sequence[object]
) -> dict[str, Sequence[Any]]:
    """Return the columns, with scores split into one for each class."""
    flat: dict[str, Sequence[Any]] = {}
    for name, values in columns.items():
        if name in SCORED and classes:
            for at, label in enumerate(classes):
                flat[f"{name}_{label}"] = [scores[at] for scores in values]
        else:
            flat[name] = values
    return flat


def _convert_mixed_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with columns of mixed types as text, which Parquet cannot store otherwise.

    A column of missing values only is text, too.
    """
    from pandas.api.types import infer_dtype

    mixed = [
        name
        for name in table.columns
        if table[name].dtype == object
        and infer_dtype(table[name], skipna=True) not in {"string", "boolean"}
    ]
    for name in mixed:
        table[name] = table[name].map(str, na_action="ignore").astype("str")
    return table


def to_plain_value(value: object) -> Value:
    """Return a value of the audit data as text, number, bool or None."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def to_plain_levels(levels: Values) -> list[Value]:
    """Return the levels of a column, converted like by `to_plain_value`."""
    values: list[Value] = levels.tolist()
    # for these dtypes, tolist() returns Python's own values
    own = levels.dtype.kind in "biuU" or levels.dtype == np.float64
    return values if own else [to_plain_value(value) for value in values]


class Profiles:
    """The points of a space, each as a profile, a label and a group."""

    def __init__(self, space: SampleSpace) -> None:
        self._space = space

    def values(self, name: str, points: IntArray) -> list[Value]:
        """Return one column of many points."""
        column = self._space.columns[name]
        levels = [*to_plain_levels(column.levels), None]
        return [levels[code] for code in column.codes[points].tolist()]

    def part(self, point: int, names: Sequence[str]) -> Profile:
        """Return some columns of a point."""
        return {name: self._value(name, point) for name in names}

    def _value(self, name: str, point: int) -> Value:
        """Return one value of a point."""
        # looked up singly, as few levels of a continuous feature are ever shown
        return to_plain_value(self._space.columns[name].at(point))

    def profile(self, point: int) -> Profile:
        """Return the columns that describe a person: all but label and predictions."""
        return self.part(point, self._space.profile)

    def group(self, point: int) -> Profile:
        """Return the sensitive columns of a point."""
        return self.part(point, self._space.sensitive)

    def label(self, point: int) -> Value:
        """Return the true label of a point; None if the loss does not use it."""
        name = self._space.label
        return None if name is None else self.part(point, (name,))[name]


def format_group(group: Profile) -> str:
    """Return a group as text: its values, separated by commas."""
    return ", ".join("missing" if value is None else str(value) for value in group.values())


def random_swap_risk(space: SampleSpace, geometry: Geometry, losses: FloatArray) -> float | None:
    """Return the mean loss when everybody is swapped with a random twin.

    The twin belongs to each sensitive group with a probability equal to the group's share of all
    people, the person's own group included. None if people are compared with others than twins:
    with prices or a reference frame, who is comparable depends on the budget; and among people in
    the data, random swaps do not change the mean loss of any model.
    """
    if not (space.has_twins and geometry.is_free and geometry.targets is None):
        return None
    groups = space.sensitive_groups
    weights = np.asarray(np.bincount(groups, space.counts), np.float64)[groups]
    blocks = number_rows([geometry.blocks])
    means = np.bincount(blocks, weights * losses) / np.bincount(blocks, weights)
    return float(space.frequencies @ means[blocks])


CHUNK_ENTRIES = 1 << 20
MAX_SEARCHED_PAIRS = 10**8
"""Maximum number of pairs to search."""
MIN_COMPILED_PAIRS = 10**6
"""Number of pairs from which on a compiled loop is worth loading."""
SEARCH_ROWS = 512
"""Points per block: the largest ratio so far saves the next ones most of their distances."""
RATIO_TOLERANCE = 1e-9
"""Relative tolerance of sums in another order."""


@dataclass(frozen=True)
class WorstPair:
    """Two comparable people of one label whose predictions differ most relative to their distance.

    Any two people, if the loss uses no label. The largest ratio of differences is the empirical
    Lipschitz constant of the paper's Definition 1.
    """

    first: Annotated[Profile, Doc("The one.")]
    second: Annotated[Profile, Doc("The other.")]
    prediction: Annotated[Prediction, Doc("The prediction of the one.")]
    prediction_of_second: Annotated[Prediction, Doc("The prediction of the other.")]
    distance: Annotated[float, Doc("Their distance.")]
    ratio: Annotated[
        float,
        Doc(
            "The empirical Lipschitz constant: difference divided by distance.",
            may_be_infinite=True,
        ),
    ]


def worst_pair(
    space: SampleSpace, geometry: Geometry, predictions: Values, *, are_labels: bool
) -> WorstPair | None:
    """Return the pair with the largest ratio; None if no distance is positive.

    Labels differ by 0 or 1, even if stored as numbers (``are_labels``); other numbers by their
    difference, scores by total variation. Only people with the same true label are comparable.
    """
    if geometry.is_free or _count_pairs(geometry) > MAX_SEARCHED_PAIRS:
        return None
    # a quick pass first, so that only rows that can contain the worst pair are computed in full
    is_candidate = _find_candidates(geometry, predictions, are_labels=are_labels)
    best, pair = 0.0, (0, 0)
    for members in geometry.members:
        candidates, step = members[is_candidate[members]], max(1, CHUNK_ENTRIES // len(members))
        for at in range(0, len(candidates), step):
            rows = candidates[at : at + step]
            differences = _compute_differences(predictions, rows, members, are_labels=are_labels)
            ratios = _compute_ratios(geometry.costs(rows, members), differences)
            top = int(ratios.argmax())
            if ratios.flat[top] > best:
                best = float(ratios.flat[top])
                row, col = divmod(top, len(members))
                pair = (int(rows[row]), int(members[col]))
    if not best:
        return None
    profiles = Profiles(space)
    first, second = pair
    cost = geometry.costs(np.array([first]), np.array([second]))[0, 0]
    return WorstPair(
        profiles.profile(first),
        profiles.profile(second),
        get_prediction(predictions, first),
        get_prediction(predictions, second),
        float(np.sqrt(cost)),
        best,
    )


def _count_pairs(geometry: Geometry) -> int:
    """Return the number of comparable pairs, each point with itself included."""
    return sum(len(members) ** 2 for members in geometry.members)


def _find_candidates(geometry: Geometry, predictions: Values, *, are_labels: bool) -> BoolArray:
    """Return which points may be the first of the worst pair.

    If there are many pairs, a compiled loop finds the largest ratio of each point; up to rounding
    errors, points below the overall maximum are not in the pair.
    """
    is_candidate = np.ones(geometry.size, bool)
    if (place := geometry.searchable) is None or _count_pairs(geometry) < MIN_COMPILED_PAIRS:
        return is_candidate
    from fairtransport.transport.kernels import largest_ratios

    labels = are_labels or not np.issubdtype(predictions.dtype, np.floating)
    answers = np.unique(predictions, return_inverse=True)[1] if labels else predictions
    columns = np.ascontiguousarray(answers.reshape(geometry.size, -1), np.float64)
    ratios, floor = np.zeros(geometry.size), 0.0
    for members in geometry.members:
        targets = geometry.targets_in(members)
        for at in range(0, len(members), SEARCH_ROWS):
            rows = members[at : at + SEARCH_ROWS]
            largest = np.empty(len(rows))
            with threads_for(float(len(rows)) * len(targets)):
                largest_ratios(rows, targets, place, columns, labels, floor, largest)
            ratios[rows] = largest
            # the kernel adds squares in another order: points within rounding errors of the best
            # are computed again, by the reported sums
            floor = max(floor, float(largest.max()) * (1 - RATIO_TOLERANCE))
    return ratios >= floor


def _compute_ratios(costs: FloatArray, differences: FloatArray) -> FloatArray:
    """Return differences over distances, 0 where two points coincide or are not comparable."""
    positive = (costs > 0) & np.isfinite(costs)
    return np.divide(differences, np.sqrt(costs), out=np.zeros_like(costs), where=positive)


def _compute_differences(
    predictions: Values, rows: IntArray, cols: IntArray, *, are_labels: bool
) -> FloatArray:
    """Return the differences of predictions, (rows, cols)."""
    if predictions.ndim > 1:
        return np.asarray(
            np.abs(np.subtract(predictions[rows][:, None], predictions[cols][None])).sum(axis=2) / 2
        )
    first_values, second_values = predictions[rows][:, None], predictions[cols][None]
    if not are_labels and np.issubdtype(predictions.dtype, np.floating):
        return np.asarray(np.abs(np.subtract(first_values, second_values)))
    return np.asarray(first_values != second_values, dtype=np.float64)
