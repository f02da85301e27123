"""The black box: a frame of points in, labels or class scores out."""

from fairtransport.access.asking import ask
from fairtransport.access.boxes import BlackBox, Estimator, Function, as_black_box

__all__ = ["BlackBox", "Estimator", "Function", "as_black_box", "ask"]
