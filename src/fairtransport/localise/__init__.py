"""From the plan to the people: moves, flows, who is affected, group metrics."""

from fairtransport.localise.affected import Affected, GroupFlow, group_flows, most_affected
from fairtransport.localise.flows import Flow, FlowTable, flow_shapes, flow_table
from fairtransport.localise.group_metrics import GroupMetrics, group_metrics
from fairtransport.localise.moves import Move, Moved, describe_moves, find_moved
from fairtransport.localise.pairs import WorstPair, worst_pair
from fairtransport.localise.profiles import Profile, Value
from fairtransport.localise.sharing import (
    Suppression,
    are_few,
    hide_small_moves,
    telling_targets,
    too_small,
)

__all__ = [
    "Affected",
    "Flow",
    "FlowTable",
    "GroupFlow",
    "GroupMetrics",
    "Move",
    "Moved",
    "Profile",
    "Suppression",
    "Value",
    "WorstPair",
    "are_few",
    "describe_moves",
    "find_moved",
    "flow_shapes",
    "flow_table",
    "group_flows",
    "group_metrics",
    "hide_small_moves",
    "most_affected",
    "telling_targets",
    "too_small",
    "worst_pair",
]
