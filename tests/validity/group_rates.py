"""Rates by group: how often all intervals of a table hold together, and how wide they are.

`python -m tests.validity.group_rates` measures all populations and prints a table, whose extremes
are in docs/groups.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from fairtransport.inference.simultaneous_intervals import rate_intervals

ALPHA, SAMPLES = 0.05, 1000
REFERENCES = ("largest", "highest")


@dataclass(frozen=True)
class Population:
    """Groups by their sizes (or shares of n people, where n is given) and their true rates."""

    name: str
    sizes: tuple[float, ...]
    rates: tuple[float, ...]
    n: int | None = None

    def draw(self, rng):
        """Return successes, sizes and true rates of the groups that have people."""
        rates = np.array(self.rates)
        sizes = np.array(self.sizes)
        if self.n is not None:
            sizes = rng.multinomial(self.n, sizes)
        there = sizes > 0
        sizes, rates = sizes[there].astype(np.int64), rates[there]
        return rng.binomial(sizes, rates), sizes, rates


POPULATIONS = (
    Population("two groups alike", (300, 280), (0.5, 0.5)),
    Population("two groups, one small", (1269, 315), (0.55, 0.75)),
    Population("small groups", (20, 12, 8, 5), (0.4, 0.6, 0.3, 0.5)),
    Population("rates near 0", (400, 150, 60, 20), (0.02, 0.01, 0.04, 0.005)),
    Population("rates near 1", (400, 150, 60, 20), (0.98, 0.99, 0.95, 0.995)),
    Population("rates of 0 and 1", (50, 40, 30), (0.0, 1.0, 0.5)),
    Population("twelve groups", (300,) + (40,) * 6 + (10,) * 5, tuple(np.linspace(0.2, 0.8, 12))),
    Population("fourteen groups alike", (60,) * 14, (0.3,) * 14),
    Population("sizes at random", (0.6, 0.2, 0.15, 0.05), (0.5, 0.3, 0.45, 0.2), n=200),
)


def holds(intervals, rates, reference):
    """Tell whether every interval of a table has the true value."""
    is_other = np.arange(len(rates)) != reference
    difference = (rates - rates[reference])[is_other]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (rates / rates[reference])[is_other]
    ratio_holds = (intervals.ratio_lower[is_other] <= ratio + 1e-12) & (
        ratio <= intervals.ratio_upper[is_other] + 1e-12
    )
    return bool(
        (intervals.lower <= rates + 1e-12).all()
        and (rates <= intervals.upper + 1e-12).all()
        and (intervals.difference_lower[is_other] <= difference + 1e-12).all()
        and (difference <= intervals.difference_upper[is_other] + 1e-12).all()
        # 0 / 0 is no ratio that an interval could miss
        and (ratio_holds | np.isnan(ratio)).all()
    )


def measure(population, reference, samples=SAMPLES, seed=0):
    """Return the share of tables that hold, and mean widths as shares of the plain ones."""
    rng = np.random.default_rng([seed, REFERENCES.index(reference)])
    hits, widths, plain_widths = 0, [], []
    for _ in range(samples):
        successes, sizes, rates = population.draw(rng)
        is_fixed = reference == "largest"
        place = int(np.argmax(sizes if is_fixed else successes / sizes))
        table = rate_intervals(successes, sizes, place, ALPHA, is_fixed=is_fixed)
        plain = rate_intervals(successes, sizes, place, ALPHA, is_fixed=False)
        hits += holds(table, rates, place)
        for one, into in ((table, widths), (plain, plain_widths)):
            difference = np.nanmean(one.difference_upper - one.difference_lower)
            into.append(((one.upper - one.lower).mean(), difference))
    own, other = np.mean(widths, axis=0), np.mean(plain_widths, axis=0)
    return {"holds": hits / samples, "rate": own[0] / other[0], "difference": own[1] / other[1]}


def main():
    """Print the table of the documentation."""
    sys.stdout.write(
        "| population | all hold, reference the largest | rates' width | differences' width | "
        "all hold, reference the highest |\n|---|---:|---:|---:|---:|\n"
    )
    for population in POPULATIONS:
        largest, highest = (measure(population, reference) for reference in REFERENCES)
        sys.stdout.write(
            f"| {population.name} | {largest['holds']:.1%} | {largest['rate']:.2f} | "
            f"{largest['difference']:.2f} | {highest['holds']:.1%} |\n".replace("%", " %")
        )


if __name__ == "__main__":
    main()
