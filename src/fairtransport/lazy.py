"""Packages whose names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


def lazily(
    package: str, homes: Mapping[str, str], modules: Collection[str] = ()
) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``.

    Parameters
    ----------
    package
        Its name.
    homes
        By public name, the module inside the package that has it.
    modules
        The modules that are public themselves.

    Returns
    -------
    callable
        Imports a module when one of its names is first asked for: ``import fairtransport`` loads
        neither numba nor scikit-learn.

    Examples
    --------
    >>> find = lazily("fairtransport", {"AuditProblem": "transport"})
    >>> find("AuditProblem").__name__
    'AuditProblem'
    """

    def find(name: str) -> Any:
        """Return a public name from its home, or fail as a package without it does."""
        if name in modules:
            return import_module(f"{package}.{name}")
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        msg = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(msg)

    return find
