"""The black box: a frame of points in, labels or class scores out."""

from fairtransport.access.asking import ask
from fairtransport.access.boxes import BlackBox, Estimator, Function, as_black_box
from fairtransport.access.files import FileModel, load

__all__ = ["BlackBox", "Estimator", "FileModel", "Function", "as_black_box", "ask", "load"]
