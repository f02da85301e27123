"""Audits machine-learning models for individual bias.

``__init__.pyi`` lists the public names, which are loaded when they are first used.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
