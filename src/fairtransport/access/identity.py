"""What a model is known by, so that the answers of another are never taken for its own."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtransport.access.boxes import Estimator, as_black_box, identity_of
from fairtransport.access.wrapping import Wrapped, layers
from fairtransport.checks import said, shown
from fairtransport.errors import InputError

if TYPE_CHECKING:
    from fairtransport.access.boxes import BlackBox

NAME_IT = "give it one: fairtransport.access.named(model, 'a name with a version')"


@dataclass(frozen=True, eq=False)
class Named(Wrapped):
    """A black box under a name that its user vouches for: one name, one system, one version."""

    own_name: str

    @property
    def identity(self) -> str:
        """The name."""
        return f"named: {self.own_name}"

    @property
    def description(self) -> str:
        """How a report describes the model."""
        return f"{super().description}, known as {self.own_name!r}"


def named(model: object, identity: str) -> Named:
    """Name a model, so that a query log knows its answers from those of others.

    Parameters
    ----------
    model
        A model as `audit` takes it.
    identity
        A name with a version, as in "claims model 2026-11". Whoever gives the same name vouches
        that it is the same system, which would give the same answers.

    Returns
    -------
    Named
        The same model, with an ``identity``.

    Raises
    ------
    InputError
        If the name is no text.

    Examples
    --------
    >>> import fairtransport as ft
    >>> model = ft.access.named(lambda asked: [1] * len(asked), "claims model 2026-11")
    >>> model.identity
    'named: claims model 2026-11'
    """
    if not isinstance(identity, str) or not identity.strip():
        msg = f"`identity` must be text that names the model, got {shown(identity)}"
        raise InputError(msg)
    return Named(as_black_box(model), identity)


def known_by(box: BlackBox) -> str:
    """Return what a black box is known by, or say that it has to be named.

    Parameters
    ----------
    box
        The model.

    Raises
    ------
    InputError
        If it has no identity: its answers could be taken for another's.

    Notes
    -----
    A box that says so itself (endpoints, prompts, files) is believed. An estimator is known by
    the hash of what it holds, together with the versions of the packages that its classes and
    functions come from; one with code from elsewhere, whose changes no hash would show, has no
    identity, and neither has a callable.
    """
    own = identity_of(box)
    if own is not None and own.strip():
        return own
    for inner in layers(box):
        if isinstance(inner, Estimator):
            return _of_estimator(inner)
    msg = f"`query_log` needs a model with an identity, which the callable {box.name} lacks; "
    msg += NAME_IT
    raise InputError(msg)


def _of_estimator(box: Estimator) -> str:
    """Return the hash of what an estimator holds, with the packages that its code is from.

    Raises
    ------
    InputError
        If it cannot be hashed, or has code that no installed package has.
    """
    import joblib

    try:
        held = pickle.dumps(box.model, protocol=2, fix_imports=False)
        digest = joblib.hash(box.model, hash_name="sha1")
    except Exception as error:
        msg = (
            f"`query_log` needs a model with an identity, and {box.name} cannot be hashed "
            f"({said(error)}); {NAME_IT}"
        )
        raise InputError(msg) from error
    return f"estimator: {digest}, {', '.join(_packages(box, held))}"


def _packages(box: Estimator, held: bytes) -> list[str]:
    """Return the packages and versions that a pickled model takes its code from.

    Parameters
    ----------
    box
        The estimator, for messages.
    held
        Its pickle. It is read as a list of instructions, never run.
    """
    import sys
    from importlib.metadata import packages_distributions, version
    from pickletools import genops

    modules = {
        str(argument).split()[0].split(".")[0]
        for code, argument, _ in genops(held)
        if code.name == "GLOBAL"
    }
    found, installed = [], packages_distributions()
    for module in sorted(modules - set(sys.stdlib_module_names) - {"__builtin__"}):
        if module == "__main__" or module not in installed:
            msg = (
                f"`query_log` needs a model with an identity, and {box.name} has code from "
                f"{module!r}, which is no installed package; {NAME_IT}"
            )
            raise InputError(msg)
        found.append(f"{module} {version(installed[module][0])}")
    return found
