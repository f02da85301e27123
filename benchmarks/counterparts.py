"""CPU seconds for the fit of counterparts to 40,000 people with 50 columns."""

from __future__ import annotations

from time import process_time

import numpy as np
import pandas as pd

from fairtransport.similarity import Counterparts

PEOPLE, COLUMNS = 40_000, 50


def draw_people(n: int) -> pd.DataFrame:
    """Return people with floats, integers, levels, amounts that are often 0, and flags.

    Every second column is shifted by .3 standard deviations between the groups.
    """
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, n)
    people = {"group": np.where(groups, "m", "f")}
    for at in range(COLUMNS):
        value = rng.normal(size=n) + 0.3 * groups * (at % 2)
        kinds = (
            value,
            (40 + 10 * value).round(),
            np.array(list("abcdefgh"))[np.clip(2 * value + 4, 0, 7).astype(int)],
            np.where(rng.random(n) < 0.7, 0, np.exp(7 + value).round()),
            value > 0,
        )
        people[f"c{at}"] = kinds[at % len(kinds)]
    return pd.DataFrame(people)


def main() -> None:
    """Time fits without legitimate columns, with one and with two."""
    Counterparts(["group"]).fit(draw_people(2000))  # compiles
    people = draw_people(PEOPLE)
    for legitimate in ((), ("c0",), ("c0", "c1")):
        start = process_time()
        Counterparts(["group"], legitimate=legitimate).fit(people)
        seconds = process_time() - start
        print(f"{len(legitimate)} legitimate columns: {seconds:.1f} s")


if __name__ == "__main__":
    main()
