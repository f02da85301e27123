"""Audits machine-learning models for individual bias.

``__init__.pyi`` lists the public names, which are loaded when they are first used.
"""

import lazy_loader

from fairtransport._core.environment import check_environment

__version__ = "0.1.0"

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    check_environment()
    return _load(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
