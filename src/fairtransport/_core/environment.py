"""The environment: a variable that packages read, and which packages are installed."""

from __future__ import annotations

import os
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_environment() -> None:
    """Check SOURCE_DATE_EPOCH, with which parts of NumPy fail to load unless it is a date."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    try:
        time.gmtime(int(epoch))
    except (ValueError, OverflowError, OSError):
        from fairtransport.errors import InputError

        msg = (
            "the variable SOURCE_DATE_EPOCH must be the whole number of seconds from 1970 to a "
            f"date, got {epoch[:60]!r}"
        )
        raise InputError(msg) from None


@cache
def get_version(package: str) -> str:
    """Return the version of an installed package."""
    from importlib.metadata import version

    return version(package)


@cache
def _list_modules() -> Mapping[str, list[str]]:
    """Return the packages of every module that can be imported."""
    from importlib.metadata import packages_distributions

    return packages_distributions()


def find_package(module: str) -> str | None:
    """Return the package of a module; None if it has none."""
    if module not in _list_modules():
        _list_modules.cache_clear()  # it may have been installed since
    packages = _list_modules().get(module)
    return None if packages is None else packages[0]
