"""The black box: boxes, files, endpoints, prompts, and the oracle that asks each question once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtransport.access.asking import ask
from fairtransport.access.boxes import BlackBox, Estimator, Function, as_black_box
from fairtransport.access.identity import named
from fairtransport.access.logged import Recorded, logged, recorded
from fairtransport.lazy import lazily

if TYPE_CHECKING:
    from fairtransport.access.endpoints import connect
    from fairtransport.access.loading import load
    from fairtransport.access.model_files import FileModel
    from fairtransport.access.prompts import prompt

__all__ = [
    "BlackBox",
    "Estimator",
    "FileModel",
    "Function",
    "Recorded",
    "as_black_box",
    "ask",
    "connect",
    "load",
    "logged",
    "named",
    "prompt",
    "recorded",
]

_HOMES = {
    "FileModel": "model_files",
    "connect": "endpoints",
    "load": "loading",
    "prompt": "prompts",
}

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
