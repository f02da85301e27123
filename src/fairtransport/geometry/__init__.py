"""Geometry: which points are comparable, and the costs of moves between them."""

from fairtransport.geometry.costs import (
    MAX_LOSS,
    Cost,
    CostFunction,
    CostMatrix,
    Embedding,
    WithinTolerance,
    ZeroCost,
    check_coordinates,
    float_csr,
)
from fairtransport.geometry.geometry import Geometry, as_geometry

__all__ = [
    "MAX_LOSS",
    "Cost",
    "CostFunction",
    "CostMatrix",
    "Embedding",
    "Geometry",
    "WithinTolerance",
    "ZeroCost",
    "as_geometry",
    "check_coordinates",
    "float_csr",
]
