"""From the plan to the people: moves, flows, who is affected, group metrics."""

from fairtransport.explain.disclosure import (
    Rounding,
    Suppression,
    are_few,
    find_identifying_targets,
    find_visible_moves,
    hide_small_counts,
    round_gap,
    round_pvalue,
    round_to_one_digit,
)
from fairtransport.explain.flows import (
    Flow,
    FlowTable,
    GroupFlow,
    flow_shapes,
    flow_table,
    group_flows,
)
from fairtransport.explain.groups import GroupMetrics, GroupRate, RateTable, group_metrics
from fairtransport.explain.moves import (
    Move,
    MovePlan,
    Profile,
    Value,
    WorstPair,
    describe_moves,
    find_moves,
    random_swap_risk,
    worst_pair,
)
from fairtransport.explain.proxies import Proxies

__all__ = [
    "Flow",
    "FlowTable",
    "GroupFlow",
    "GroupMetrics",
    "GroupRate",
    "Move",
    "MovePlan",
    "Profile",
    "Proxies",
    "RateTable",
    "Rounding",
    "Suppression",
    "Value",
    "WorstPair",
    "are_few",
    "describe_moves",
    "find_identifying_targets",
    "find_moves",
    "find_visible_moves",
    "flow_shapes",
    "flow_table",
    "group_flows",
    "group_metrics",
    "hide_small_counts",
    "random_swap_risk",
    "round_gap",
    "round_pvalue",
    "round_to_one_digit",
    "worst_pair",
]
