"""Whether the rows of a table look like independent people: weights, repeated rows, units, IDs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammainc

from fairtransport._core.notes import Count, Figure, Note
from fairtransport._core.ranks import number_rows
from fairtransport.data.columns import merge_columns
from fairtransport.data.database import CountedSource, merge_rows
from fairtransport.data.design import Clusters, build_units
from fairtransport.errors import FairtransportError, InputError, option, param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtransport._core.units import Units
    from fairtransport._core.validation import FloatArray, IntArray
    from fairtransport.data.build import Roles
    from fairtransport.data.columns import Bins, CodedColumn
    from fairtransport.data.database import RowCounts, Source

INDEPENDENT = "Bounds are too narrow if rows are not independent people."

MIN_ROWS = 30
"""Minimum number of rows for any note."""
MAX_ROWS = 1_000_000
"""Maximum number of rows of a table that is read again for unaudited columns."""
MIN_MEAN_WEIGHT = 5
MAX_CELL_SHARE = 0.05
"""A table with less than this share of all combinations is sparse: its rows are people."""
MIN_OWN_VALUES = 0.6
"""A column with other values in more than this share of the rows describes single rows."""
MAX_NUMBER_CODES = 10
"""Unaudited numbers of more values may be figures, not codes of groups."""
MAX_NEAR_LEAST = 0.2
"""Share of counts below twice the least from which on counts seem cut off from below."""
MIN_REPEATED_SHARE = 0.1
"""Minimum share of repeated rows; a table of counts has each combination once."""

MIN_MULTIPLE_POINTS = 30
"""Minimum number of counts with a common divisor; by chance at most 1 in 2**30."""
CONTINUOUS_SHARE = 0.2
"""A numeric column with more values than this share of people is continuous."""
MIN_VALUES = 50
MIN_REPEATED_PEOPLE = 10
MIN_SAME_REST = 0.9
"""Minimum share of agreement in all else among pairs with one value of a continuous column."""
MAX_CHANCE_REST = 0.6
"""Maximum share of agreement among all pairs, without which the first means nothing."""

MIN_EVEN_POINTS, MIN_EVEN_MEAN = 10, 8
"""Minimum number of points, and of people per point, of a test whether counts are even."""
MAX_EVEN_CHANCE = 1e-4
"""Significance level of this test."""

MAX_COLUMNS_TRIED = 20
"""Maximum number of unaudited columns that are tried as units."""
MIN_ALIKE_UNITS, MIN_ALIKE_ROWS = 10, 2
"""Minimum number of values of such a column, and of rows per value."""
MAX_ROWS_COMPARED = 10_000
"""Number of rows that show whether a column determines another."""
MAX_ALIKE_PEOPLE = 10_000
"""Maximum number of people in the permutation test; beyond it, units are sampled."""
DEALS = 999

MIN_UNITS = 20
MAX_ROWS_PER_UNIT = 20
MIN_UNIT_SHARE = 0.5
"""Minimum share of people whose unit has several rows."""
MAX_UNIT_CHANCE = 1e-9
"""Maximum chance that everybody with the same value has the same sensitive features."""
MAX_ID_CHARACTERS = 40

UNIT_WORDS = (
    "account", "applicant", "case", "client", "customer", "employee", "household", "member",
    "participant", "patient", "person", "respondent", "student", "subject", "unit", "user",
    "worker",
)  # fmt: skip
ID_WORDS = ("id", "ids", "uid", "uuid", "guid", "pid", "ssn")


def find_dependence(source: Source, roles: Roles, rows: RowCounts) -> Iterator[str]:
    """Yield a note for each sign that rows of a table are not independent people."""
    if roles.counts is not None:
        weights = tuple(_weights(source, roles, rows))
        yield from weights or _even_counts(rows)
        return
    people = int(rows.counts.sum())
    if people < MIN_ROWS:
        return
    yield from _ids(roles, rows)
    if roles.design:
        return
    unit = _find_unit(source, roles, rows)
    if unit is not None:
        name, units = unit
        yield Note(
            "The column {name} has {units} values for {people} rows, and rows with the same value "
            "have the same {sensitive}, like several rows of one person. {rule} Name the column: "
            "`{clusters}`.",
            name=name, units=Count(units), people=people, sensitive=" and ".join(roles.sensitive),
            rule=INDEPENDENT, clusters=option("clusters", name),
        )  # fmt: skip
    elif (repeated := _count_repeated(roles, rows)) >= MIN_REPEATED_PEOPLE:
        yield Note(
            "{repeated} of {people} rows repeat another row in every column, more than chance "
            "explains. {rule} If rows belong together, name their column ({clusters}). If they "
            "are copies, keep each person once.",
            repeated=Count(repeated), people=people, rule=INDEPENDENT, clusters=param("clusters"),
        )  # fmt: skip
    else:
        yield from _even_counts(rows)


def _even_counts(rows: RowCounts) -> Iterator[str]:
    """Yield a note if counts vary less than those of independent people.

    Over k points, Σ (count − mean)²/mean is about χ² with k − 1 degrees of freedom, or larger if
    points are not equally frequent.
    """
    counts = rows.counts[rows.counts > 0]
    mean, degrees = counts.mean(), len(counts) - 1
    if degrees + 1 < MIN_EVEN_POINTS or mean < MIN_EVEN_MEAN:
        return
    if gammainc(degrees / 2, ((counts - mean) ** 2).sum() / mean / 2) < MAX_EVEN_CHANCE:
        yield Note(
            "Each of the {points} different rows stands for {least} to {most} people. This is more "
            "even than chance allows for independent people. {rule} If rows are copies, keep each "
            "person once. If they belong together, name their column ({clusters}).",
            points=Count(len(counts)), least=Count(counts.min()), most=Count(counts.max()),
            rule=INDEPENDENT, clusters=param("clusters"),
        )  # fmt: skip


def _weights(source: Source, roles: Roles, rows: RowCounts) -> Iterator[str]:
    """Yield a note if counts look like survey weights."""
    # sums over equal rows are no smaller than weights, so most tables need no second reading
    added_up = rows.counts[rows.counts > 0]
    if added_up.min(initial=2) < 2 or added_up.sum() < MIN_MEAN_WEIGHT * len(added_up):  # noqa: PLR2004
        return
    if isinstance(source, CountedSource):
        values, times = rows.counts, np.ones(len(rows.counts), np.int64)
    else:
        assert roles.counts is not None  # noqa: S101
        column = source.count([roles.counts], {}, None)
        values = column.columns[roles.counts].values().astype(np.int64)
        times = column.counts
    values, times = values[values > 0], times[values > 0]
    count, people = int(times.sum()), int(values @ times)
    if count < MIN_ROWS or values.min() < 2 or people < MIN_MEAN_WEIGHT * count:  # noqa: PLR2004
        return
    near_least = times[values < 2 * values.min()].sum() / count
    if _lists_people(source, roles, rows, count, is_cut_off=near_least >= MAX_NEAR_LEAST):
        yield Note(
            "The counts in {name} look like survey weights: each of {rows} rows stands for at "
            "least {least} people, {people} in all. With weights as counts, bounds are too narrow. "
            "Name weights as such: `{weight}`, without {counts}.",
            name=roles.counts, rows=Count(count), least=Count(values.min()), people=people,
            weight=option("sample_weight", str(roles.counts)), counts=param("counts"),
        )  # fmt: skip


def _lists_people(
    source: Source, roles: Roles, rows: RowCounts, count: int, *, is_cut_off: bool
) -> bool:  # fmt: skip
    """Return whether rows of a table of counts are people, instead of distinct kinds of people.

    Unaudited columns count too, except possible figures of a kind: columns with other values in
    nearly every row, as an ID has, or numbers of many values. Counts that were cut off from below
    make a table sparse for another reason.
    """
    table = _read_whole(source, roles, count)
    most_kinds = (1 - MIN_REPEATED_SHARE) * count
    if table is not None and len(table.counts) <= most_kinds:
        return True
    columns, counts = (table or rows).columns, (table or rows).counts
    max_values = max(MIN_VALUES, MIN_OWN_VALUES * count)
    own = {name for name, column in columns.items() if len(column.levels) > max_values}
    if is_cut_off:
        return False
    if not own.isdisjoint(roles.points):
        return True
    kinds, _ = merge_rows({name: columns[name] for name in columns if name not in own}, counts)
    if own and len(kinds.counts) <= most_kinds:
        return True
    described = {
        name: column
        for name, column in kinds.columns.items()
        if name in roles.points
        or len(column.levels) <= MAX_NUMBER_CODES
        or column.levels.dtype.kind not in "iuf"
    }
    return _is_sparse(merge_rows(described, kinds.counts)[0])


def _read_whole(source: Source, roles: Roles, count: int) -> RowCounts | None:
    """Return the rows of all columns but the counts; None if the table is not read again."""
    if isinstance(source, CountedSource) or count > MAX_ROWS:
        return None
    try:
        return source.count([name for name in source.columns if name != roles.counts], {}, None)
    except FairtransportError:  # these columns are not audited
        return None


def _is_sparse(rows: RowCounts) -> bool:
    """Return whether rows are few of all combinations, without columns that others determine."""
    cells = 1
    kept: list[IntArray] = []
    for column in sorted(rows.columns.values(), key=lambda one: -len(one.levels)):
        if not any(_determines(other, column.codes) for other in kept):
            kept.append(column.codes)
            cells *= len(column.levels)
        if len(rows.counts) < MAX_CELL_SHARE * cells:
            return True
    return False


def _determines(codes: IntArray, others: IntArray) -> bool:
    """Return whether a column determines another."""
    first, second = codes[:MAX_ROWS_COMPARED], others[:MAX_ROWS_COMPARED]
    return bool(number_rows([first, second]).max() == number_rows([first]).max())


def _ids(roles: Roles, rows: RowCounts) -> Iterator[str]:
    """Yield a note for each feature with another value for everybody, like an ID."""
    for name in roles.features:
        column = rows.columns[name]
        if len(column.levels) == int(rows.counts.sum()) and looks_like_id(name, column):
            yield Note(
                "The column {name} has a different value for each person, as an ID has, so no two "
                "people are equal in it. Leave it out ({features}); a model should not use it.",
                name=name, features=param("features"),
            )  # fmt: skip


def check_groups(roles: Roles, rows: RowCounts) -> None:
    """Reject a sensitive feature with another value for everybody, which makes no groups."""
    people = int(rows.counts.sum())
    for name in roles.sensitive:
        column = rows.columns[name]
        if people >= MIN_ROWS and len(column.levels) == people and looks_like_id(name, column):
            msg = (
                f"{param('sensitive_features')} must name columns that put people into groups, got "
                f"{name!r}, which has a different value for each person, as an ID has"
            )
            raise InputError(msg)


def looks_like_id(name: str, column: CodedColumn) -> bool:
    """Return whether distinct values are those of an ID: short words, or numbers in a row."""
    levels = column.levels
    if _has_id_name(name):
        return True
    if levels.dtype.kind in "iu":
        return int(levels.max()) - int(levels.min()) + 1 == len(levels)
    texts = [level for level in levels if isinstance(level, str)] if levels.dtype == object else []
    if len(texts) < len(levels) or _is_date(texts[0]):
        return False
    return all(len(text) <= MAX_ID_CHARACTERS and len(text.split()) == 1 for text in texts)


def _is_date(text: str) -> bool:
    """Return whether a text is a date or a number."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return text.replace(".", "", 1).lstrip("+-").isdigit()
    return True


def _has_id_name(name: str) -> bool:
    """Return whether a column's name is that of an ID, as in person_id or customerId."""
    spaced = "".join(f" {letter}" if letter.isupper() else letter for letter in name)
    words = "".join(letter if letter.isalnum() else " " for letter in spaced).lower().split()
    joined = "".join(words)
    return (
        any(word in ID_WORDS for word in (*words, joined))
        or joined in UNIT_WORDS
        or any(joined.endswith(f"{word}id") for word in UNIT_WORDS)
    )


def _find_unit(source: Source, roles: Roles, rows: RowCounts) -> tuple[str, int] | None:
    """Return a column that identifies units of several rows, and the number of units."""
    for name in roles.features:
        if name not in roles.sensitive and _is_unit(name, roles, rows):
            return name, len(rows.columns[name].levels)
    point_columns = set(roles.points)
    if isinstance(source, CountedSource) or rows.counts.sum() > MAX_ROWS:
        return None
    for name in source.columns:
        if name in point_columns or not _has_id_name(name):
            continue
        profile = [one for one in roles.profile if one in source.columns]
        table = source.count([name, *profile], {}, None)
        if set(roles.sensitive) <= set(profile) and _is_unit(name, roles, table):
            return name, len(table.columns[name].levels)
    return None


def _is_unit(name: str, roles: Roles, rows: RowCounts) -> bool:
    """Return whether people who share a value of a column look like one person.

    They share all sensitive features, beyond chance; along the column's order these change often,
    so that they are no function of it, as age groups are of age; and the column is named like an
    ID, or nearly all of them agree in another column.
    """
    column, counts = rows.columns[name], rows.counts
    people, units = int(counts.sum()), len(column.levels)
    if not units >= MIN_UNITS or not 1.5 * units <= people <= MAX_ROWS_PER_UNIT * units:
        return False
    if column.has_missing:
        return False
    group = number_rows([rows.columns[one].codes for one in roles.sensitive])
    first_group = np.full(units, -1, np.int64)
    first_group[column.codes] = group
    if np.any(first_group[column.codes] != group):
        return False
    sizes = np.bincount(column.codes, counts)
    chance = _pairs(np.bincount(group, counts)) / _pairs(np.array([people]))
    multiple = sizes[sizes > 1]
    is_chance = chance ** (multiple.sum() - len(multiple)) > MAX_UNIT_CHANCE
    changes = np.mean(first_group[1:] != first_group[:-1])
    if is_chance or multiple.sum() < MIN_UNIT_SHARE * people or changes < (1 - chance) / 2:
        return False
    others = [one for one in roles.features if one != name and one not in roles.sensitive]
    return _has_id_name(name) or any(_is_kept(rows, name, other) for other in others)


def _is_kept(rows: RowCounts, name: str, other: str) -> bool:
    """Return whether pairs with one value of a column agree in another, beyond chance."""
    same, chance = _share_of_pairs(rows, [name], [other])
    return same >= MIN_SAME_REST and chance <= MAX_CHANCE_REST


def _count_repeated(roles: Roles, rows: RowCounts) -> int:
    """Return the number of rows that repeat another one; 0 if that is natural.

    Many counts with a common divisor show copies. Otherwise a continuous column does: people who
    share its value agree in all else, random people do not, and the other columns do not determine
    it.
    """
    repeated = int(rows.counts.sum()) - len(rows.counts)
    if repeated < MIN_REPEATED_PEOPLE:
        return 0
    if len(rows.counts) >= MIN_MULTIPLE_POINTS and np.gcd.reduce(rows.counts) > 1:
        return repeated
    people = int(rows.counts.sum())
    sizes = {name: len(rows.columns[name].levels) for name in roles.profile}
    numbers = [name for name in sizes if rows.columns[name].levels.dtype.kind in "iuf"]
    continuous = max(numbers, key=lambda name: sizes[name], default=None)
    least = max(MIN_VALUES, CONTINUOUS_SHARE * people)
    if continuous is None or sizes[continuous] < least:
        return 0
    rest = [name for name in sizes if sizes[name] < least]
    others = [name for name in sizes if name != continuous]
    if not rest or not others:
        return 0
    same, _ = _share_of_pairs(rows, [continuous], others)
    _, chance = _share_of_pairs(rows, [continuous], rest)
    same_number, _ = _share_of_pairs(rows, rest, [continuous])
    is_repeated = same >= MIN_SAME_REST and chance <= MAX_CHANCE_REST and same_number <= 0.5  # noqa: PLR2004
    return repeated if is_repeated else 0


def _share_of_pairs(
    rows: RowCounts, names: Sequence[str], others: Sequence[str]
) -> tuple[float, float]:
    """Return the share of pairs with the same others: of pairs with the same names, and of all."""
    codes = {name: rows.columns[name].codes for name in (*names, *others)}
    named_pairs = _pairs(_sizes([codes[name] for name in names], rows.counts))
    both = _pairs(_sizes(list(codes.values()), rows.counts))
    alone = _pairs(_sizes([codes[name] for name in others], rows.counts))
    everybody = _pairs(np.array([rows.counts.sum()]))
    return (both / named_pairs if named_pairs else 0.0), alone / everybody


def _sizes(codes: list[IntArray], counts: IntArray) -> IntArray:
    """Return the number of people of each combination of codes."""
    return np.bincount(number_rows(codes), counts).astype(np.int64)


def _pairs(sizes: IntArray) -> float:
    """Return the number of pairs of people in the same part."""
    numbers = np.asarray(sizes, np.float64)
    return float((numbers * (numbers - 1) / 2).sum())


def find_possible_units(
    source: Source, roles: Roles, rows: RowCounts, bins: Bins
) -> dict[str, Units]:
    """Return people by the values of each unaudited column that could identify units."""
    people = int(rows.counts.sum())
    if isinstance(source, CountedSource) or roles.counts is not None or roles.design:
        return {}
    if not MIN_ROWS <= people <= MAX_ROWS:
        return {}
    others = [name for name in source.columns if name not in roles.points]
    units = {}
    for name in others[:MAX_COLUMNS_TRIED]:
        try:
            values = source.count([name], {}, None)
        except FairtransportError:  # this column is not audited
            continue
        column, count = values.columns[name], len(values.counts)
        if column.has_missing or not MIN_ALIKE_UNITS <= count <= people / MIN_ALIKE_ROWS:
            continue
        table = source.count([name, *roles.points], bins, None)
        units[name] = build_units(
            table, _place_rows(rows, table, roles.points), Clusters(name), None
        )
    return units


def _place_rows(rows: RowCounts, table: RowCounts, names: Sequence[str]) -> IntArray:
    """Return the row of ``rows`` that contains each row of a finer table."""
    columns = {name: merge_columns(rows.columns[name], table.columns[name]) for name in names}
    _, number = merge_rows(columns, np.r_[rows.counts, table.counts])
    place = np.full(number.max() + 1, -1)
    place[number[: len(rows.counts)]] = np.arange(len(rows.counts))
    return place[number[len(rows.counts) :]]


def find_alike_units(possible: Mapping[str, Units], gains: FloatArray, seed: int) -> Iterator[str]:
    """Yield a note on the column whose groups have the most similar gains, beyond chance."""
    rng = np.random.default_rng([seed, 23])
    found = [(name, _design_effect(units, gains, rng)) for name, units in possible.items()]
    name, effect = max(found, key=lambda one: one[1], default=("", 1.0))
    if effect <= 1:
        return
    yield Note(
        "Results are more equal among people with the same {name} than chance explains. If {name} "
        "only plays a part in the decision, ignore this. If people with the same {name} were "
        "sampled together, like members of a household, bounds are too narrow, as if there were "
        "{effect:.2g} times as many people. Then name the column: `{clusters}`.",
        name=name, effect=Figure(effect), clusters=option("clusters", name),
    )  # fmt: skip


def _design_effect(units: Units, gains: FloatArray, rng: np.random.Generator) -> float:
    """Return 1 + (ΣN²/n − 1)ρ for the intraclass correlation ρ; 1 if ρ may be due to chance.

    In the permutation test, the first permutation with as large a sum of squares between units ends
    the test: if units do not matter, the chance of a note is at most 1 in 1,000.
    """
    people = np.bincount(units.unit, units.people)
    order = rng.permutation(len(people))
    kept = np.zeros(len(people), bool)
    kept[order[np.cumsum(people[order]) <= MAX_ALIKE_PEOPLE]] = True
    entries = kept[units.unit]
    unit = np.repeat(units.unit[entries], units.people[entries])
    gain = np.repeat(gains[units.point[entries]], units.people[entries])
    sizes = np.bincount(unit)[kept]
    n, number = len(gain), len(sizes)
    gain = gain - gain.mean() if n else gain
    total = float(gain @ gain)
    if number < MIN_ALIKE_UNITS or n < MIN_ALIKE_ROWS * number or total <= 0:
        return 1.0

    def between(values: FloatArray) -> float:
        return float((np.bincount(unit, values)[kept] ** 2 / sizes).sum())

    observed = between(gain)
    for _ in range(DEALS):
        if between(rng.permutation(gain)) >= observed * (1 - 1e-12):
            return 1.0
    inside = (total - observed) / (n - number)
    spread = observed / (number - 1)
    mean_size = (n - (sizes**2).sum() / n) / (number - 1)
    correlation = (spread - inside) / (spread + (mean_size - 1) * inside)
    return float(1 + ((sizes**2).sum() / n - 1) * correlation)
