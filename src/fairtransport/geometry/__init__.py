"""Which points are comparable and at what cost; arrays only, each cost a class."""

from fairtransport.geometry.cost import Cost
from fairtransport.geometry.cost_function import CostFunction
from fairtransport.geometry.cost_matrix import CostMatrix
from fairtransport.geometry.embedding import Embedding, check_coordinates
from fairtransport.geometry.free_moves import WithinTolerance, ZeroCost
from fairtransport.geometry.geometry import Geometry, as_geometry
from fairtransport.geometry.magnitudes import LARGEST_LOSS
from fairtransport.geometry.sparse import float_csr

__all__ = [
    "LARGEST_LOSS",
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
