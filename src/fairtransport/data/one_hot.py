"""One-hot columns: sets of 0/1 columns of one feature are read as that feature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.data.columns import CodedColumn, object_array
from fairtransport.errors import InputError, option, param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairtransport._core.validation import BoolArray, FloatArray, IntArray

SEPARATORS = "_-.= "
"""Separators between the names of a feature and a level."""
FLAG_WORDS = frozenset({"is", "has", "had", "was", "are", "flag", "ind", "num", "no", "n", "x"})
"""First words of many unrelated 0/1 columns."""
MIN_COVER_PEOPLE = 30
"""Minimum number of people: with fewer, unrelated columns may sum to 1 by chance."""
MAX_COVER_STEPS = 1000
"""Maximum number of steps of the search for columns that sum to 1."""
MAX_OVERLAP_RATIO = 0.5
"""Columns that are set together more often than this share of chance are separate flags."""
MAX_RARITY = 0.01
"""Maximum ratio of the observed to the expected frequency of a rare combination."""
MAX_FALSE_ALARM = 0.001
"""Significance level of rare combinations of independent columns."""
MAX_NAMED_LEVELS = 3
"""Maximum number of levels in the name of a dropped level."""
FLAGS = (("0", "1"), ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"))
"""Pairs of texts for 0 and 1, in any case."""


@dataclass(frozen=True)
class OneHot:
    """A feature stored as 0/1 columns, one for each level except perhaps one.

    ``flags`` holds the two values of each column: row 0 is unset, row 1 is set.
    """

    name: str
    columns: tuple[str, ...]
    levels: tuple[str, ...]
    flags: tuple[CodedColumn, ...]
    dropped: str | None = None

    def decode(self, columns: Mapping[str, CodedColumn]) -> CodedColumn:
        """Return the feature as one column of level names."""
        # rows with no column set have the dropped level, which comes last
        every = [*self.levels, *([] if self.dropped is None else [self.dropped])]
        names = sorted(every)
        is_set = np.column_stack([
            _is_set(columns[name], flag)
            for name, flag in zip(self.columns, self.flags, strict=True)
        ])  # fmt: skip
        which = np.where(is_set.any(axis=1), is_set.argmax(axis=1), len(self.levels))
        places = np.array([names.index(level) for level in every], np.int64)
        return CodedColumn(object_array(names), places[which])

    def encode(self, column: CodedColumn) -> dict[str, CodedColumn]:
        """Return the 0/1 columns of the data, as a model receives them."""
        names = column.levels.tolist()
        return {
            name: flag.take((column.codes == names.index(level)).astype(np.int64))
            for name, level, flag in zip(self.columns, self.levels, self.flags, strict=True)
        }


def find_one_hot(
    columns: Mapping[str, CodedColumn], counts: FloatArray, profile: Sequence[str],
    sensitive: Sequence[str], together: Sequence[Sequence[str]], *, twins: bool,
) -> tuple[OneHot, ...]:  # fmt: skip
    """Return the one-hot features that sensitive columns belong to.

    ``counts`` are of independent people. Columns in ``together`` are left unchanged, as its sets
    define how they change.
    """
    flags = {name: flag for name in profile if (flag := _find_flag(columns[name])) is not None}
    binary = {name: _is_set(columns[name], flag) for name, flag in flags.items()}
    features: list[OneHot] = []
    for name in (*sensitive, *_find_named(together, profile, binary)):
        if name not in binary or any(name in feature.columns for feature in features):
            continue
        # columns of other features, and those alone in a set, are excluded
        reserved = {one for feature in features for one in feature.columns}
        reserved |= {names[0] for names in together if len(names) == 1}
        if name in reserved:
            continue
        free = {one: values for one, values in binary.items() if one not in reserved}
        in_set = any(name in names for names in together)
        members, head = _find_members(name, free, counts, strict=twins and not in_set)
        if len(members) < 2:  # noqa: PLR2004
            continue
        in_sets = {one for names in together for one in names if one in members}
        if in_sets:
            _check_one_set(members, in_sets, together)
            continue
        features.append(_build_feature(members, head, free, columns))
    return tuple(features)


def _find_named(
    together: Sequence[Sequence[str]], profile: Sequence[str], binary: Mapping[str, BoolArray]
) -> Iterator[str]:
    """Yield a column of each one-hot feature whose name is in a set."""
    for name in (one for names in together for one in names if one not in profile):
        heads = tuple(name + separator for separator in SEPARATORS)
        yield from [one for one in binary if one.startswith(heads)][:1]


def find_feature_name(name: str, columns: Mapping[str, CodedColumn]) -> str:
    """Return the name of the one-hot feature that a column belongs to, or its own."""
    if _find_flag(columns[name]) is None:
        return name
    for head in _prefixes(name):
        members = [
            _is_set(column, flag)
            for one, column in columns.items()
            if one.startswith(head) and len(one) > len(head)
            and (flag := _find_flag(column)) is not None
        ]  # fmt: skip
        if len(members) > 1 and np.all(np.sum(members, axis=0) == 1):
            return head[:-1]
    return name


def check_no_one_hot(levels: Mapping[str, Sequence[object]], profile: Sequence[str]) -> None:
    """Reject 0/1 columns that share a prefix: their names do not show whether they are one feature.

    ``levels`` are those of the sensitive columns.
    """
    for name, values in levels.items():
        if _find_values(values) is None:
            continue
        for head in _prefixes(name):
            members = [one for one in profile if one.startswith(head) and len(one) > len(head)]
            flags = [one for one in members if _find_values(levels.get(one, (0, 1))) is not None]
            if len(flags) > 1:
                msg = (
                    f"{param('sensitive_features')} must not hold one-hot columns in a monitor, "
                    f"which cannot change {', '.join(flags)} as one feature, got {name!r}: pass "
                    "one column of groups and encode it in the model, or use other prefixes if "
                    "they are different features"
                )
                raise InputError(msg)


def _find_flag(column: CodedColumn) -> CodedColumn | None:
    """Return the two values of a 0/1 column, the set one last; None for another column."""
    levels = column.levels.tolist()
    values = None if column.has_missing else _find_values(levels)
    is_number = column.levels.dtype.kind in "biuf"
    if values is None or is_number == isinstance(values[0], str):
        return None
    if is_number:
        return CodedColumn(np.array([0, 1], column.levels.dtype), np.arange(2))
    return replace(column, codes=np.array([levels.index(value) for value in values], np.int64))


def _is_set(column: CodedColumn, flag: CodedColumn) -> BoolArray:
    """Return where a 0/1 column has the second of its two values."""
    return np.asarray(column.levels[column.codes] == flag.at(1), bool)


def _find_values(levels: Sequence[object]) -> list[object] | None:
    """Return the values of a 0/1 column, the set one last; None for another column.

    Text must contain both, as the spelling of a missing one is unknown.
    """
    words = {str(one).lower(): one for one in levels if isinstance(one, str)}
    if not words:
        return [0, 1] if set(levels) <= {0, 1} else None
    pair = next((pair for pair in FLAGS if set(pair) == set(words)), None)
    if pair is None or len(levels) > len(pair):
        return None
    return [words[word] for word in pair]


def _check_one_set(
    members: Sequence[str], in_sets: set[str], together: Sequence[Sequence[str]]
) -> None:
    """Check that all columns of a one-hot feature are in one set, if any are."""
    if any(set(members) <= set(names) for names in together):
        return
    absent = next((name for name in members if name not in in_sets), members[0])
    msg = (
        f"{param('together')} must name all one-hot columns of a feature in one set "
        f"({', '.join(members)}), got one without {absent!r}"
    )
    raise InputError(msg)


def _find_members(
    name: str, binary: Mapping[str, BoolArray], counts: FloatArray, *, strict: bool
) -> tuple[list[str], str]:
    """Return the columns that belong to a sensitive one, and their common prefix.

    If this is ambiguous, ``strict`` raises; otherwise the column stands alone.
    """
    members, head, overlapping = _find_by_prefix(name, binary, counts)
    if len(members) > 1:
        return members, head
    if overlapping and strict:
        raise InputError(_ambiguous(name, overlapping, "of which some people have several"))
    covers = _find_covers(name, binary, counts)
    if len(covers) > 1 and strict:
        columns = list(dict.fromkeys([*covers[0], *covers[1]]))
        raise InputError(_ambiguous(name, columns, "which sum to 1 in several ways"))
    if len(covers) == 1:
        return covers[0], ""
    exclusive = _find_exclusive(name, binary, counts) if strict else []
    if len(exclusive) > 1:
        raise InputError(_ambiguous(name, exclusive, "of which hardly anybody has two"))
    return [name], ""


def _find_by_prefix(
    name: str, binary: Mapping[str, BoolArray], counts: FloatArray
) -> tuple[list[str], str, list[str]]:
    """Return the columns and the prefix of a feature, and else columns that may be one."""
    partial, overlapping = ([name], ""), list[str]()
    for head in _prefixes(name):
        members = [one for one in binary if one.startswith(head) and len(one) > len(head)]
        if len(members) < 2:  # noqa: PLR2004
            break
        total = np.sum([binary[one] for one in members], axis=0)
        if np.all(total == 1):
            return members, head, []
        if total.max() <= 1:
            partial = (members, head) if len(partial[0]) == 1 else partial
        elif _is_rarer_than_chance([binary[one] for one in members], counts):
            overlapping = members
    return *partial, overlapping


def _ambiguous(name: str, columns: Sequence[str], reason: str) -> str:
    """Return the message about columns that may or may not be one feature."""
    return (
        f"{param('sensitive_features')} must say how {name!r} changes, as it may be one of the "
        f"one-hot columns {', '.join(columns)}, {reason}: pass {_together(columns)} to change them "
        f"as the combinations that occur, or {_together([name])} to change it alone"
    )


def _together(columns: Sequence[str]) -> str:
    """Return what to pass for columns that change together."""
    return option("together", ",".join(columns), repr([[*columns]]))


def find_rare_cells(table: IntArray, level: float) -> BoolArray:
    """Return which combinations are much rarer than under independence.

    They occur at most a hundredth as often as expected, and an exact binomial test at this level
    rejects independence.
    """
    from scipy.special import bdtr

    n = table.sum()
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = rows * columns / n
    rare = (table <= MAX_RARITY * expected) & (expected > 0)
    chance = bdtr(table, np.broadcast_to(columns, table.shape), rows / n)
    return np.asarray(rare & (chance <= level), bool)


def _prefixes(name: str) -> Iterator[str]:
    """Yield the beginnings of a name that end in a separator, the shortest first."""
    for place, letter in enumerate(name[:-1]):
        if place and letter in SEPARATORS and name[:place].lower() not in FLAG_WORDS:
            yield name[: place + 1]


def _is_rarer_than_chance(columns: Sequence[BoolArray], counts: FloatArray) -> bool:
    """Return whether columns are set together much less often than under independence."""
    several = int(counts[np.sum(columns, axis=0) > 1].sum())
    shares = np.array([counts[column].sum() / counts.sum() for column in columns])
    # the chances that no column, or exactly one, is set if they are independent
    none = np.prod(1 - shares)
    one = sum(share * np.prod(np.delete(1 - shares, place)) for place, share in enumerate(shares))
    return bool(several < MAX_OVERLAP_RATIO * counts.sum() * (1 - none - one))


def _find_exclusive(
    name: str, binary: Mapping[str, BoolArray], counts: FloatArray
) -> list[str]:  # fmt: skip
    """Return a column with those that exclude it and each other, beyond chance.

    Columns of another feature are left out, even if one of its levels excludes this one.
    """
    level = MAX_FALSE_ALARM / len(binary) ** 2
    members, covered = [name], binary[name]
    others = {one: values for one, values in binary.items() if one != name}
    while True:
        excluding = [
            one for one, values in others.items()
            if find_rare_cells(_count_both(covered, values, counts), level)[1, 1]
            and len(_find_members(one, others, counts, strict=False)[0]) == 1
        ]  # fmt: skip
        if not excluding:
            return sorted(members, key=list(binary).index)
        largest = max(excluding, key=lambda one: counts[others[one]].sum())
        members.append(largest)
        covered = covered | others.pop(largest)


def _count_both(first: BoolArray, second: BoolArray, counts: FloatArray) -> IntArray:
    """Return (2, 2) numbers of people with each combination of two 0/1 columns."""
    table = np.bincount(2 * first + second, counts, minlength=4)
    return np.rint(table).astype(np.int64).reshape(2, 2)


def _find_covers(name: str, binary: Mapping[str, BoolArray], counts: FloatArray) -> list[list[str]]:
    """Return up to two sets of columns with ``name`` that sum to 1 everywhere."""
    start = binary[name]
    if counts.sum() < MIN_COVER_PEOPLE or start.all() or not start.any():
        return []
    others = {one: values for one, values in binary.items()
              if values.any() and not (values & start).any()}  # fmt: skip
    covers: list[list[str]] = []
    stack: list[tuple[list[str], BoolArray]] = [([name], start)]
    for _ in range(MAX_COVER_STEPS):
        if not stack or len(covers) > 1:
            break
        members, covered = stack.pop()
        if covered.all():
            covers.append(sorted(members, key=list(binary).index))
            continue
        # one of the columns that are set at the first open row must belong
        row = int(np.argmin(covered))
        stack += [([*members, one], covered | values) for one, values in others.items()
                  if values[row] and not (values & covered).any()]  # fmt: skip
    return covers


def _build_feature(
    members: Sequence[str], head: str, binary: Mapping[str, BoolArray],
    columns: Mapping[str, CodedColumn],
) -> OneHot:  # fmt: skip
    """Return the feature of some columns."""
    levels = tuple(name[len(head) :] for name in members)
    name = head[:-1]
    if not head:
        several = len(members) > MAX_NAMED_LEVELS
        name = f"{members[0]} or others" if several else " or ".join(members)
    dropped = None
    if not np.any([binary[one] for one in members], axis=0).all():
        more = ", …" if len(levels) > MAX_NAMED_LEVELS else ""
        dropped = f"none of {', '.join(levels[:MAX_NAMED_LEVELS])}{more}"
    flags = tuple(flag for one in members if (flag := _find_flag(columns[one])) is not None)
    while name in columns and name not in members:
        name += "_"
    return OneHot(name, tuple(members), levels, flags, dropped)
