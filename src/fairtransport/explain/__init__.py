"""From the plan to the people: moves, flows, who is affected, group metrics."""
