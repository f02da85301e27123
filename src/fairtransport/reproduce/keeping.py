"""Keeps what each seed of a study came to, so that a run can be taken up again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Self

from fairtransport.errors import FairtransportError
from fairtransport.filesystem import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Kept:
    """A folder of one small file a seed, for one way of making the figures."""

    folder: Path

    @classmethod
    def under(cls, cache: Path, settings: Mapping[str, Any]) -> Self:
        """Make the folder of some settings; what was kept under others does not count."""
        text = json.dumps(settings, sort_keys=True)
        folder = cache / hashlib.sha256(text.encode()).hexdigest()[:12]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"`cache` could not be made at {str(cache)!r}: {error.strerror or error}"
            raise FairtransportError(msg) from error
        return cls(folder)

    def file(self, seed: int) -> Path:
        """Return where a seed is kept."""
        return self.folder / f"split-{seed:04}.json"

    def read(self, seed: int) -> dict[str, Any]:
        """Return what a seed has come to so far."""
        try:
            found = json.loads(self.file(seed).read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            msg = f"The kept split {str(self.file(seed))!r} cannot be read; delete it: {error}"
            raise FairtransportError(msg) from error
        return dict(found)

    def keep(self, seed: int, found: Mapping[str, Any]) -> None:
        """Write down what a seed has come to, whole or not at all."""
        write_text(self.file(seed), json.dumps(found, indent=1), "cache")


def versions(libraries: Sequence[str]) -> dict[str, str | None]:
    """Return the versions of libraries; None for those that are not installed."""
    return {name: _version(name) for name in libraries}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
