"""Which files a path means: one, all in a folder, or those whose names a pattern matches."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from fairtransport.checks import shown
from fairtransport.errors import DataError, InputError
from fairtransport.filesystem import is_file, is_folder
from fairtransport.space.database import location
from fairtransport.space.single_values import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")
"""The endings of files that can be read."""
SIGNS = re.compile(r"[*?]")
"""What makes a name a pattern; brackets are part of it, as in a second download's data[1].csv."""
ASIDE = ("_", ".")
"""How files begin that others keep beside theirs, as Spark's _SUCCESS."""
PARTITION = re.compile(r"([^=]+)=(.*)", re.DOTALL)
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Spark calls a folder of rows in which the value is missing."""


@dataclass(frozen=True)
class Shards:
    """Files of one kind that are read as one table.

    Attributes
    ----------
    paths
        The files, sorted.
    kind
        Their ending, small letters.
    partitions
        What each one's folders say, as in ``race=a/sex=f``: values by columns, None where one is
        missing. Folders above the one that was given, or above the first sign of a pattern, say
        nothing.
    """

    paths: tuple[Path, ...]
    kind: str
    partitions: tuple[dict[str, str | None], ...]

    @property
    def locations(self) -> list[str]:
        """The files as DuckDB finds them."""
        return [location(path) for path in self.paths]

    @property
    def partitioned_by(self) -> list[str]:
        """The columns that are told by folders."""
        return list(self.partitions[0])


def find_shards(path: Path, parameter: str) -> Shards:
    """Return the files that a path means, if they can be read as one table."""
    if is_folder(path):
        base, found = path, _in_folder(path)
    elif not is_file(path) and SIGNS.search(str(path)):
        base, found = _matching(path)
    else:
        return _one(path, parameter)
    files = list(_of_one_kind(found, parameter))
    if not files:
        msg = (
            f"`{parameter}` must be an existing file, a folder with files in it or a pattern that "
            f"some match, got {shown(str(path), 200)}"
        )
        raise InputError(msg)
    kept = tuple(file for file in files if file.stat().st_size)
    if not kept:
        msg = f"the files of {shown(str(path), 200)} are empty"
        raise DataError(msg)
    folders = [file.relative_to(base).parent.parts for file in kept]
    partitions = tuple(_partition(parts) for parts in folders)
    for file, said in zip(kept, partitions, strict=True):
        if list(said) != list(partitions[0]):
            msg = (
                f"the folders of `{parameter}` must tell the same columns, as in race=a, but "
                f"those of {_short(kept[0], base)} and {_short(file, base)} do not"
            )
            raise InputError(msg)
    return _whole_text(Shards(kept, kept[0].suffix.lower(), partitions), parameter)


def _one(path: Path, parameter: str) -> Shards:
    kind = path.suffix.lower()
    if kind not in KINDS:
        msg = (
            f"`{parameter}` must be a file of type {', '.join(KINDS)}, "
            f"got {shown(str(path), 200)}"
        )  # fmt: skip
        raise InputError(msg)
    if not is_file(path):
        msg = f"`{parameter}` must be an existing file, got {shown(str(path), 200)}"
        raise InputError(msg)
    if path.stat().st_size == 0:
        msg = f"the file {path.name!r} is empty"
        raise DataError(msg)
    return _whole_text(Shards((path,), kind, ({},)), parameter)


def _in_folder(path: Path) -> Iterator[Path]:
    """Yield the files of a folder, then those of the folders in it."""
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith(ASIDE))
        yield from (Path(folder, name) for name in sorted(names) if not name.startswith(ASIDE))


def _matching(path: Path) -> tuple[Path, Iterator[Path]]:
    """Return the folder that a pattern begins in, and the files that it matches."""
    fixed = next(at for at, part in enumerate(path.parts) if SIGNS.search(part))
    base = Path(*path.parts[:fixed])
    pattern = str(path).replace("[", "[[]")
    names = glob(pattern, recursive=True, include_hidden=True)  # noqa: PTH207 - an absolute one
    files = (file for file in sorted(map(Path, names)) if is_file(file))
    return base, (file for file in files if not _is_aside(file.relative_to(base)))


def _is_aside(file: Path) -> bool:
    return any(part.startswith(ASIDE) for part in file.parts)


def _of_one_kind(files: Iterable[Path], parameter: str) -> Iterator[Path]:
    """Yield files, as long as they are of one type that can be read."""
    first: Path | None = None
    for file in files:
        first = first or file
        kind = file.suffix.lower()
        if kind not in KINDS or kind != first.suffix.lower():
            others = "" if file == first else f" {first.name!r} and"
            msg = f"`{parameter}` must be files of one type ({', '.join(KINDS)}), got{others} "
            raise InputError(msg + repr(file.name))
        yield file


def _partition(folders: Sequence[str]) -> dict[str, str | None]:
    """Return what folders say.

    Examples
    --------
    >>> _partition(["2026", "race=a%20b", "site=__HIVE_DEFAULT_PARTITION__"])
    {'race': 'a b', 'site': None}
    """
    said: dict[str, str | None] = {}
    for folder in folders:
        if pair := PARTITION.fullmatch(folder):
            said[unquote(pair[1])] = None if pair[2] == NO_VALUE else unquote(pair[2])
    return said


def _whole_text(shards: Shards, parameter: str) -> Shards:
    for path in shards.paths:
        if not is_text(location(path)):
            msg = f"`{parameter}` must have a path of UTF-8 text, got {str(path)!r}"
            raise InputError(msg)
    return shards


def _short(file: Path, base: Path) -> str:
    return repr(str(file.relative_to(base)))
