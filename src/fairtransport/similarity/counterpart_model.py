"""CounterpartModel: gate and maps fitted on a hold-out, which make counterparts of people."""

from __future__ import annotations

import copy
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np

from fairtransport._core.ranks import number_rows
from fairtransport._core.schema import Doc
from fairtransport._core.validation import short_repr
from fairtransport.data.columns import MISSING, CodedColumn, merge_columns, sort_levels
from fairtransport.data.one_hot import OneHot, find_one_hot
from fairtransport.data.sample_space import ColumnSet
from fairtransport.errors import DataError, InputError, param
from fairtransport.similarity.column_kinds import (
    ColumnKind,
    Design,
    coarse_codes,
    find_cells,
    is_one_to_one,
    measure_association,
    read_kind,
    score_column,
)
from fairtransport.similarity.counterpart_gate import (
    find_detectable_shift,
    prepare_scores,
    run_gate,
)
from fairtransport.similarity.counterpart_maps import LevelMap, Move, NumberMap, Uniforms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray
    from fairtransport.data import SampleSpace
    from fairtransport.similarity.column_kinds import ColumnValues, People
    from fairtransport.similarity.counterpart_maps import ColumnMap

MIN_DRAWS, DRAWS_PER_LEVEL = 1999, 20
"""Minimum number of shuffles of the gate, and their number times its level."""
MIN_GROUP_PEOPLE = 20
"""Minimum number of people of a group in the hold-out, to be moved to its law."""
MIN_CELL_SIZE, ALIKE_SIZE = 5, 6
"""Minimum mean number of people in cells of levels, and size of other cells of similar people."""
MIN_ASSOCIATION, MAX_TIED_COLUMNS = 0.2, 3
"""Minimum Cramér's V of the columns that a level column moves given, and their maximum number."""
MAX_ALIAS_SHARE = 0.1
"""Maximum share of distinct values, among people, of columns that are compared one to one."""


@dataclass(frozen=True, kw_only=True)
class GateRow:
    """How one column depends on a sensitive feature, and whether it moves."""

    feature: Annotated[str, Doc("The sensitive feature.")]
    column: Annotated[str, Doc("The column.")]
    strength: Annotated[
        float, Doc("Strength of the dependence beyond chance: 0 none, 1 tells the group entirely.")
    ]
    statistic: Annotated[float, Doc("The test statistic, on the scale of a chi-squared one.")]
    pvalue: Annotated[float, Doc("The p-value, adjusted for all columns together.")]
    moves: Annotated[bool, Doc("Whether the column was shown to depend and so moves.")]
    share: Annotated[float, Doc("The share of the way that it moves; 0 if it does not.")]
    is_exact: Annotated[
        bool, Doc("Whether the test is exact: no numbers among the columns that may count.")
    ]


class _Link(NamedTuple):
    """One column's map, its given columns, and the share of the way."""

    kind: ColumnKind
    given: tuple[ColumnKind, ...]
    map: ColumnMap
    share: float


class CounterpartModel:
    """Gate and maps, fitted on the people of a space, with their level and seed."""

    def __init__(
        self, space: SampleSpace, legitimate: Sequence[str], given: Mapping[str, tuple[str, ...]],
        level: float, seed: int,
    ) -> None:  # fmt: skip
        self.level, self.seed, self.library = level, seed, space.library
        rows, self.units = list_people(space)
        self.size = len(rows)
        per_person = 1.0 if space.units is None else space.units.n / self.size
        self._read_hold_out(space, rows, legitimate, given)
        self.gate = tuple(
            row
            for place, feature in enumerate(self.groups)
            for row in self._run_gate(feature, place)
        )
        self.detectable_shift = {
            feature: self._find_detectable_shift(codes, per_person)
            for feature, codes in self.codes.items()
        }
        self.tied: dict[tuple[str, str], tuple[ColumnKind, ...]] = {}
        self.maps = {feature: self._fit_maps(feature) for feature in self.groups}

    def _read_hold_out(
        self, space: SampleSpace, rows: IntArray, legitimate: Sequence[str],
        given: Mapping[str, tuple[str, ...]],
    ) -> None:  # fmt: skip
        """Read groups and columns of the people fitted on, one-hot and one-to-one ones as one."""
        self.groups, self.codes = {}, {}
        for feature in space.sensitive:
            column = space.columns[feature].take(rows)
            self.codes[feature] = column.codes
            self.groups[feature] = tuple(column.levels.tolist())
            _check_groups(feature, column)
        names = [name for name in space.columns if name in (*space.features, *legitimate)]
        names = [name for name in names if name not in space.sensitive]
        raw = {name: space.columns[name].take(rows) for name in names}
        self.columns = tuple(names)
        self.one_hot = find_one_hot(raw, np.ones(len(rows)), names, names, (), twins=False)
        columns = decode(self.one_hot, raw)
        whole = {one: feature.name for feature in self.one_hot for one in feature.columns}
        fixed = dict.fromkeys(whole.get(name, name) for name in legitimate)
        self.given = {
            whole.get(name, name): tuple(dict.fromkeys(whole.get(one, one) for one in others))
            for name, others in given.items()
        }
        self.kinds = {
            name: read_kind(name, column, is_ordered=name in space.bins)
            for name, column in columns.items()
        }
        self.people: People = {name: kind.read(columns[name]) for name, kind in self.kinds.items()}
        self.legitimate = tuple(self.kinds[name] for name in fixed)
        movable = [name for name in columns if name not in fixed]
        self.constant = tuple(name for name in movable if not _varies(self.people[name]))
        self.aliases = self._find_aliases([one for one in movable if one not in self.constant])
        self.movable = tuple(
            name for name in movable if name not in (*self.aliases, *self.constant)
        )

    def _find_aliases(self, names: Sequence[str]) -> dict[str, tuple[str, dict[Any, Any]]]:
        """Return columns that are one-to-one with an earlier one, and the map of values."""
        aliases: dict[str, tuple[str, dict[Any, Any]]] = {}
        sizes = {name: len(np.unique(self.people[name])) for name in names}
        for at, name in enumerate(names):
            for other in names[:at]:
                if (
                    other in aliases
                    or sizes[name] != sizes[other]
                    or sizes[name] > MAX_ALIAS_SHARE * self.size
                ):
                    continue
                own, others = self.people[name], self.people[other]
                if is_one_to_one(others, own):
                    pairs = zip(others.tolist(), own.tolist(), strict=True)
                    aliases[name] = (other, dict(pairs))
                    break
        return aliases

    def _run_gate(self, feature: str, place: int) -> list[GateRow]:
        """Test all columns for dependence on a feature, those with the same given ones at once."""
        if not self.movable:
            return []
        there = self.codes[feature] >= 0
        if self.units is not None:  # missing members of a unit may reveal its groups
            there = ~np.isin(self.units, self.units[~there])
        units = None if self.units is None else self.units[there]
        groups = self.codes[feature][there]
        people = {name: values[there] for name, values in self.people.items()}
        sets = dict.fromkeys(self.given.get(name, ()) for name in self.movable)
        tests: dict[str, GateRow] = {}
        for number, extra in enumerate(sets):
            names = [name for name in self.movable if self.given.get(name, ()) == extra]
            level = self.level / len(self.groups) * len(names) / len(self.movable)
            within = [*self.legitimate, *(self.kinds[name] for name in extra)]
            cells, is_exact = find_cells(within, people, len(groups), MIN_CELL_SIZE, ALIKE_SIZE)
            rows = len(groups)
            design = Design(within, people)(people, rows) if within else None
            blocks = [self._score(name, people, design, interacts=bool(extra)) for name in names]
            regressors = None if is_exact or design is None else np.c_[np.ones(rows), design]
            scores = prepare_scores(blocks, cells, regressors)
            # shuffles vary with the columns and the seed, never with the groups
            digest = zlib.crc32(b"".join(np.sort(people[name]).tobytes() for name in names))
            rng = np.random.default_rng([self.seed, place, number, digest])
            draws = max(MIN_DRAWS, int(DRAWS_PER_LEVEL / level))
            column_tests = run_gate(scores, groups, cells, draws, rng, units)
            for name, test in zip(names, column_tests, strict=True):
                excess = max(0.0, test.statistic - test.null_mean)
                moves = test.pvalue <= level
                tests[name] = GateRow(
                    feature=feature, column=name, statistic=test.statistic, pvalue=test.pvalue,
                    strength=float(min(1.0, np.sqrt(excess / rows))), moves=bool(moves),
                    share=excess / test.statistic if moves else 0.0, is_exact=is_exact,
                )  # fmt: skip
        return [tests[name] for name in self.movable]

    def _find_detectable_shift(self, codes: IntArray, per_person: float) -> float:
        """Return the detectable shift of a number among people alike in legitimate columns."""
        there = codes >= 0
        people = {name: values[there] for name, values in self.people.items()}
        cells, _ = find_cells(self.legitimate, people, there.sum(), MIN_CELL_SIZE, ALIKE_SIZE)
        level = self.level / len(self.groups)
        return find_detectable_shift(
            codes[there], cells, len(self.movable), level, per_person
        )  # fmt: skip

    def _score(
        self, name: str, people: People, design: FloatArray | None, *, interacts: bool
    ) -> FloatArray:  # fmt: skip
        """Return the scores of a column; shifts may depend on given columns, even in sign."""
        kind = self.kinds[name]
        scores = score_column(kind, people[name])
        if not interacts or design is None:
            return scores
        shifts = scores if kind.kind == "levels" else scores[:, :1]
        products = shifts[:, :, None] * (design - design.mean(axis=0))[:, None, :]
        return np.hstack([scores, products.reshape(len(scores), -1)])

    def _fit_maps(self, feature: str, pick: IntArray | None = None) -> tuple[_Link, ...]:
        """Fit the maps of the columns that move, on the hold-out or on a resample of it."""
        rows = np.flatnonzero(self.codes[feature] >= 0) if pick is None else pick
        groups, count = self.codes[feature][rows], len(self.groups[feature])
        people = {name: values[rows] for name, values in self.people.items()}
        shares = {
            row.column: row.share for row in self.gate if row.feature == feature and row.moves
        }
        links: list[_Link] = []
        for name in (one for one in self.movable if one in shares):
            kind, extra = self.kinds[name], self.given.get(name, ())
            given = (*self.legitimate, *(self.kinds[one] for one in extra))
            if kind.is_number:
                fitted: ColumnMap = NumberMap(
                    kind, people[name], groups, count, given, people, interacts=bool(extra)
                )
            else:
                given = self._tie(feature, kind, given, [one.kind.name for one in links], shares)
                fitted = LevelMap(
                    kind, people[name], groups, count, given, people, interacts=bool(extra)
                )
            links.append(_Link(kind, given, fitted, shares[name]))
        return tuple(links)

    def _tie(
        self, feature: str, kind: ColumnKind, given: tuple[ColumnKind, ...],
        done: Sequence[str], moving: Mapping[str, float],
    ) -> tuple[ColumnKind, ...]:  # fmt: skip
        """Return the columns that a level column moves given: associated ones, strongest first."""
        key = feature, kind.name
        if key not in self.tied:  # once, on the hold-out itself
            codes = coarse_codes(kind, self.people[kind.name])
            others = [
                one for name, one in self.kinds.items()
                if name in self.movable and name != kind.name and one not in given
                and (name not in moving or name in done)
            ]  # fmt: skip
            ties = {
                one.name: measure_association(
                    coarse_codes(one, self.people[one.name]), codes
                )
                for one in (*given, *others)
            }  # fmt: skip
            tied = [one for one in others if ties[one.name] > MIN_ASSOCIATION]
            tied = sorted(tied, key=lambda one: -ties[one.name])[:MAX_TIED_COLUMNS]
            both = sorted((*given, *tied), key=lambda one: -ties[one.name])
            self.tied[key] = tuple(both)
        return self.tied[key]

    def resample(self, rng: np.random.Generator) -> Self:
        """Return the model with maps refitted on a hold-out resampled within groups."""
        other = copy.copy(self)
        other.maps = {}
        for feature, codes in self.codes.items():
            if self.units is None:
                members = [np.flatnonzero(codes == group) for group in range(codes.max() + 1)]
                pick = np.concatenate([rng.choice(one, len(one)) for one in members])
            else:
                members = np.split(np.arange(len(codes)), np.flatnonzero(np.diff(self.units)) + 1)
                drawn = rng.integers(len(members), size=len(members))
                pick = np.concatenate([members[unit] for unit in drawn.tolist()])
                pick = pick[codes[pick] >= 0]
            other.maps[feature] = self._fit_maps(feature, pick)
        return other

    def is_open(self, feature: str) -> bool:
        """Return whether some column was shown to depend on a sensitive feature."""
        return any(row.moves for row in self.gate if row.feature == feature)

    def add_counterparts(self, space: SampleSpace) -> SampleSpace:
        """Return the people of a space with their counterparts, as separate families.

        Equal people with equal counterparts are one point.
        """
        self._check_columns(space)
        rows, _ = list_people(space)
        own = {name: column.take(rows) for name, column in space.columns.items()}
        parts, families = [own], [np.arange(len(rows))]
        for feature in space.sensitive:
            if not self.is_open(feature) and feature not in space.features:
                continue
            for target in range(len(self.groups[feature])):
                members, columns = self._move_people(space, own, feature, target)
                parts.append(columns)
                families.append(members)
        sizes = np.cumsum([0, *map(len, families)])
        columns = {name: merge_columns(*(part[name] for part in parts)) for name in space.columns}
        points = number_rows([column.codes for column in columns.values()])
        signature = np.full((len(rows), len(parts)), -1, np.int64)
        for at, members in enumerate(families):
            signature[members, at] = points[sizes[at] : sizes[at + 1]]
        kinds = number_rows(list(signature.T))
        first = np.zeros(len(rows), bool)
        first[np.unique(kinds, return_index=True)[1]] = True
        family = np.concatenate(families)
        chosen = np.flatnonzero(first[family])
        chosen = chosen[np.lexsort((kinds[family[chosen]], points[chosen]))]
        people = np.bincount(kinds)
        units, is_own = space.units, chosen < len(rows)
        if units is not None:
            point_of = np.zeros(len(people), np.int64)
            point_of[kinds[family[chosen[is_own]]]] = np.flatnonzero(is_own)
            units = units.place_members(point_of[kinds])
        return replace(
            space,
            units=units,
            columns={name: column.take(chosen) for name, column in columns.items()},
            counts=np.where(is_own, people[kinds[family[chosen]]], 0),
            has_twins=True,
            family=kinds[family[chosen]],
            column_sets=tuple(ColumnSet((name,), is_declared=True) for name in space.sensitive),
        )

    def _check_columns(self, space: SampleSpace) -> None:
        """Check that a space has the columns and groups of the hold-out."""
        names = [name for name in space.features if name not in space.sensitive]
        for name in (*self.columns, *names):
            if name not in space.columns or name not in (*self.columns, *self.groups):
                where = "audit" if name not in space.columns else f"data of {param('fit')}"
                msg = (
                    f"{param('similarity')} must be fitted on the columns of the audit, but the "
                    f"{where} lacks {name!r}"
                )
                raise InputError(msg)
        for feature in space.sensitive:
            for value in space.columns[feature].levels.tolist():
                if value not in self.groups[feature]:
                    msg = (
                        f"{param('similarity')} must be fitted on people of every group, but not "
                        f"on {feature} {short_repr(value)}"
                    )
                    raise InputError(msg)

    def _move_people(
        self, space: SampleSpace, own: Mapping[str, CodedColumn], feature: str, target: int
    ) -> tuple[IntArray, dict[str, CodedColumn]]:
        """Return who is not of a group, and these people as typically recorded in it."""
        level = self.groups[feature][target]
        place = [self.groups[feature].index(one) for one in own[feature].levels.tolist()]
        groups = np.array([*place, MISSING], np.int64)[own[feature].codes]
        members = np.flatnonzero((groups != target) & (groups != MISSING))
        # numbers of each person, also of those who do not move: the same for refitted maps
        key = [self.seed, 7, list(self.groups).index(feature), target]
        links = self.maps[feature]
        uniforms = np.random.default_rng(key).random((2 * len(links) + 1, len(groups)))
        before = {name: column.take(members) for name, column in own.items()}
        after = dict(before)
        decoded = decode(self.one_hot, {name: before[name] for name in self.columns})
        people = {name: kind.read(decoded[name]) for name, kind in self.kinds.items()}
        moved = {name: values.copy() for name, values in people.items()}
        for source in range(len(self.groups[feature])):
            rows = groups[members] == source
            if rows.any():
                self._move_rows(links, people, moved, rows, Move(source, target, 1.0),
                                uniforms[:, members[rows]])  # fmt: skip
        for name, (other, values) in self.aliases.items():
            changed = moved[other] != people[other]
            news = [values.get(one, MISSING) for one in moved[other][changed].tolist()]
            moved[name][changed] = np.array(news, moved[name].dtype)
        for name, kind in self.kinds.items():
            if (moved[name] != people[name]).any():
                after |= self._write(kind, moved[name], decoded[name], before)
        after[feature] = _constant(before[feature], level)
        return members, {name: after[name] for name in space.columns}

    @staticmethod
    def _move_rows(
        links: Sequence[_Link], people: People, moved: dict[str, Any], rows: BoolArray,
        move: Move, uniforms: FloatArray,
    ) -> None:  # fmt: skip
        """Move the columns of people of one group in turn."""
        for at, link in enumerate(links):
            own, other = (
                {one.name: values[one.name][rows] for one in link.given}
                for values in (people, moved)
            )
            numbers = Uniforms(uniforms[2 * at + 1], uniforms[2 * at + 2], uniforms[0])
            name = link.kind.name
            moved[name][rows] = link.map.move(
                people[name][rows], replace(move, share=link.share), own, other, numbers
            )

    def _write(
        self, kind: ColumnKind, values: ColumnValues, decoded: CodedColumn,
        before: Mapping[str, CodedColumn],
    ) -> dict[str, CodedColumn]:  # fmt: skip
        """Return the columns of the data for a moved column."""
        column = kind.write(values, decoded)
        feature = next((one for one in self.one_hot if one.name == kind.name), None)
        if feature is None:
            return {kind.name: column}
        changed = column.codes != decoded.codes
        flags = feature.encode(column)
        written = {}
        for name, flag in flags.items():
            binary = ColumnKind(name, "levels", tuple(flag.levels.tolist()))
            own = binary.read(before[name])
            written[name] = binary.write(np.where(changed, flag.codes, own), before[name])
        return written


def list_people(space: SampleSpace) -> tuple[IntArray, IntArray | None]:
    """Return the point of every person, and their unit if people belong to units."""
    if space.units is None:
        return np.repeat(np.arange(space.size), space.counts), None
    return space.units.list_members()


def explain_family(space: SampleSpace, family: int) -> Iterator[str]:
    """Yield a sentence for each counterpart of a family."""
    points = np.flatnonzero(space.families == family)
    person = int(points[space.counts[points] > 0][0])
    for point in points.tolist():
        if point == person:
            continue
        differing = [
            name for name in space.columns
            if space.columns[name].codes[point] != space.columns[name].codes[person]
        ]  # fmt: skip
        groups = [name for name in space.sensitive if name in differing]
        changes = [
            f"{name} {_short(space.columns[name].at(person))} → "
            f"{_short(space.columns[name].at(point))}"
            for name in differing
            if name not in groups
        ]
        who = " and ".join(f"{name} {space.columns[name].at(point)}" for name in groups)
        what = f"{'; '.join(changes)}; all else equal" if changes else "nothing else changes"
        yield f"The same person as typically recorded with {who}: {what}."


def decode(
    one_hot: Sequence[OneHot], columns: Mapping[str, CodedColumn]
) -> dict[str, CodedColumn]:  # fmt: skip
    """Return columns with one-hot sets as one column each."""
    decoded = dict(columns)
    for feature in one_hot:
        whole = feature.decode(columns)
        for name in feature.columns:
            del decoded[name]
        decoded[feature.name] = whole
    return decoded


def _short(value: object) -> str:
    """Return a value as text."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _constant(column: CodedColumn, level: object) -> CodedColumn:
    """Return a column with the same value everywhere."""
    levels = column.levels.tolist()
    if level not in levels:
        column = column.with_levels(sort_levels([*levels, level]))
    code = column.levels.tolist().index(level)
    return replace(column, codes=np.full(len(column.codes), code))


def _varies(values: ColumnValues) -> bool:
    """Return whether there are two values or more."""
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values[values != MISSING]
    return len(known) > 0 and bool((known != known[0]).any())


def _check_groups(feature: str, column: CodedColumn) -> None:
    """Check that each group has enough people in the hold-out."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
    if len(counts) < 2:  # noqa: PLR2004
        msg = f"{param('sensitive_features')} must have two groups or more, got one of {feature!r}"
        raise InputError(msg)
    if counts.min() < MIN_GROUP_PEOPLE:
        value = column.levels.tolist()[int(counts.argmin())]
        msg = (
            f"the hold-out must have at least {MIN_GROUP_PEOPLE} people of each group, got "
            f"{counts.min()} of {feature} {short_repr(value)}: merge groups, raise "
            f"{param('fit_share')} or audit more people"
        )
        raise DataError(msg)
