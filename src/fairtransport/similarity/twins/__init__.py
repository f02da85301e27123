"""Made-up twins: people whom nobody observed, along what tells the sensitive features."""

from fairtransport.similarity.twins.asked import KINDS, Twins, as_twins
from fairtransport.similarity.twins.displacements import Steps, free_directions, goes_along
from fairtransport.similarity.twins.proposing import Maker, Proposals, propose, steps_for
from fairtransport.similarity.twins.support import Making

__all__ = [
    "KINDS",
    "Maker",
    "Making",
    "Proposals",
    "Steps",
    "Twins",
    "as_twins",
    "free_directions",
    "goes_along",
    "propose",
    "steps_for",
]
