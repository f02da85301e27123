"""From the plan to the people: moves, flows, who is affected, group metrics."""

from fairtransport.localise.affected import Affected, GroupFlow, group_flows, most_affected
from fairtransport.localise.direction import Direction, find_directions
from fairtransport.localise.flows import Flow, FlowTable, flow_shapes, flow_table
from fairtransport.localise.group_metrics import GroupMetrics, group_metrics
from fairtransport.localise.moves import Move, Moved, describe_moves, find_moved
from fairtransport.localise.pairs import WorstPair, worst_pair
from fairtransport.localise.profiles import Profile, Value
from fairtransport.localise.random_swap import random_swap_risk
from fairtransport.localise.rounding import Grain, coarse_gap, coarse_pvalue, one_digit
from fairtransport.localise.sharing import (
    Suppression,
    are_few,
    can_be_shown,
    counts_of_many,
    telling_targets,
)
from fairtransport.localise.telling import Proxies

__all__ = [
    "Affected",
    "Direction",
    "Flow",
    "FlowTable",
    "Grain",
    "GroupFlow",
    "GroupMetrics",
    "Move",
    "Moved",
    "Profile",
    "Proxies",
    "Suppression",
    "Value",
    "WorstPair",
    "are_few",
    "can_be_shown",
    "coarse_gap",
    "coarse_pvalue",
    "counts_of_many",
    "describe_moves",
    "find_directions",
    "find_moved",
    "flow_shapes",
    "flow_table",
    "group_flows",
    "group_metrics",
    "most_affected",
    "one_digit",
    "random_swap_risk",
    "telling_targets",
    "worst_pair",
]
