"""Imports of what only the reproduction needs, with a sentence if it is not installed."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from fairtransport.errors import FairtransportError

if TYPE_CHECKING:
    from types import ModuleType


def needed(module: str) -> ModuleType:
    """Import a module of the extra ``reproduce``.

    AIF360 warns on import of each optional package of its own that is absent; those are of no
    use here, so warnings are held back meanwhile.

    Parameters
    ----------
    module
        Its full name.

    Raises
    ------
    FairtransportError
        If it is not installed, saying how to.
    """
    if module in sys.modules:
        return sys.modules[module]
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        msg = (
            f"This reproduction needs {package}, which is not installed: "
            "pip install 'fairtransport[reproduce]'"
        )
        raise FairtransportError(msg) from None
    finally:
        logging.disable(before)
