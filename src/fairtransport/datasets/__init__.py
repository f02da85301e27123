"""Data sets that ship with the package, as tables of counts."""

from fairtransport.datasets.adult import load_adult
from fairtransport.datasets.compas import load_compas, split_compas

__all__ = ["load_adult", "load_compas", "split_compas"]
