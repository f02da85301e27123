"""The black box: boxes, files, endpoints, prompts, and the oracle that asks each question once."""

from fairtransport.access.asking import ask
from fairtransport.access.boxes import BlackBox, Estimator, Function, as_black_box
from fairtransport.access.endpoints import connect
from fairtransport.access.identity import named
from fairtransport.access.loading import load
from fairtransport.access.logged import Recorded, logged, recorded
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
