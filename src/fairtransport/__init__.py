"""Audits machine-learning models for individual bias.

Names are loaded when they are first used, so that ``import fairtransport`` is fast.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fairtransport.lazy import lazily

if TYPE_CHECKING:
    from fairtransport import access, datasets, inference, selection, similarity
    from fairtransport.audit import AuditResult, Audits, Comparison, audit, audit_many, compare
    from fairtransport.errors import (
        DataError,
        FairtransportError,
        InputError,
        ModelError,
        NoCandidateError,
    )
    from fairtransport.geometry import Embedding, Geometry
    from fairtransport.losses import Loss
    from fairtransport.monitor import Monitor
    from fairtransport.space import SampleSpace
    from fairtransport.transport import AuditProblem

__version__ = "0.1.0"

_HOMES = {
    "AuditProblem": "transport",
    "AuditResult": "audit",
    "Audits": "audit",
    "Comparison": "audit",
    "DataError": "errors",
    "Embedding": "geometry",
    "FairtransportError": "errors",
    "Geometry": "geometry",
    "InputError": "errors",
    "Loss": "losses",
    "ModelError": "errors",
    "Monitor": "monitor",
    "NoCandidateError": "errors",
    "SampleSpace": "space",
    "audit": "audit",
    "audit_many": "audit",
    "compare": "audit",
}
_MODULES = ("access", "datasets", "inference", "selection", "similarity")

__all__ = [
    "AuditProblem",
    "AuditResult",
    "Audits",
    "Comparison",
    "DataError",
    "Embedding",
    "FairtransportError",
    "Geometry",
    "InputError",
    "Loss",
    "ModelError",
    "Monitor",
    "NoCandidateError",
    "SampleSpace",
    "access",
    "audit",
    "audit_many",
    "compare",
    "datasets",
    "inference",
    "selection",
    "similarity",
]


__getattr__ = lazily(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _Package(ModuleType):
    """The package, in which a function is found before the submodule of the same name."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Python binds a submodule to its name when it is imported: `audit` is both
        if name in _HOMES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # cloudpickle, with which joblib sends functions to its workers, knows plain modules only
        return import_module, (__name__,)


sys.modules[__name__].__class__ = _Package
