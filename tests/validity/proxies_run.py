"""Coverage and power with planted proxy bias: `python -m tests.validity.proxies_run`.

It goes on from what docs/proxies.json has, a few samples of each cell at a time, until each has as
many as are wanted; it can be stopped at any moment.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairtransport.similarity import SensitiveSubspace
from fairtransport.similarity.twins import Twins, steps_for
from tests.validity import proxies
from tests.validity.proxy_truth import Stated, population

if TYPE_CHECKING:
    import pandas as pd

    from fairtransport.audit import AuditResult

DOCS = Path(__file__).parents[2] / "docs" / "proxies.json"
RUNS, AT_A_TIME = 500, 25
FITS, FITTED_ON = 10, 500
"""As many draws of fitting data, of so many people; samples take them in turn."""
ALPHA, BUDGET = 0.05, 0.05


@dataclass(frozen=True)
class Cell:
    """A way of making up twins, and where the similarity was fitted.

    ``fitted`` is "quantiles" (people without chance), "drawn" (on other people, drawn at random) or
    "share" (on 30 % of the audited sample, who are set aside).
    """

    name: str
    kind: str
    budget: float
    plausibility: float
    fitted: str
    n: int = 150
    per_person: int = 10

    @property
    def twins(self) -> Twins:
        """What is asked for."""
        return Twins(
            self.kind, per_person=self.per_person, plausibility=self.plausibility, questions=1000
        )


CELLS = [
    Cell("generated, no budget, all count", "generate", 0.0, 0.0, "quantiles"),
    Cell("searched, no budget, all count", "search", 0.0, 0.0, "quantiles"),
    Cell("generated, a budget, all count", "generate", 0.05, 0.0, "drawn"),
    Cell("generated, a budget, plausible ones", "generate", 0.05, 0.99, "drawn"),
    Cell("searched, a budget, plausible ones", "search", 0.05, 0.99, "drawn"),
    Cell("generated, fitted on 30 % of the sample", "generate", 0.05, 0.99, "share", 300),
]
POWER = {300: 40, 1000: 40, 5000: 40}
"""Samples of each size."""


@dataclass
class Tally:
    """What has come out of a cell so far."""

    name: str
    n: int
    runs: int = 0
    above: int = 0
    below: int = 0
    statistic: float = 0.0
    truth: float = 0.0


def sample(cell: Cell, at: int) -> tuple[AuditResult, Stated]:
    """Audit a sample, and say which twins it was about."""
    people = proxies.draw(cell.n, np.random.default_rng([16, CELLS.index(cell), at]))
    fitting = _fitting(cell.fitted, at % FITS) if cell.fitted != "share" else None
    like = SensitiveSubspace(["sex"], fit_share=0.3 if fitting is None else None)
    if fitting is not None:
        like.fit(fitting)
    result = proxies.audited(
        people, like, twins=cell.twins, budget=cell.budget, alpha=ALPHA, delta=None
    )
    if fitting is None:
        fitting = _aside(people, result)
    return result, Stated(result.similarity, fitting, cell.twins, cell.budget)


def truth(cell: Cell, result: AuditResult, stated: Stated, at: int) -> float:
    """Return ψ of the twins that a sample was about."""
    if cell.kind == "generate" and cell.fitted != "share":
        return _once(cell, at % FITS if cell.fitted == "drawn" else 0)
    return stated.value(_everybody(100, 100), result.made.steps.rows)


@cache
def _once(cell: Cell, fit: int) -> float:
    """Return ψ of generated twins, which all samples of one fit share."""
    fitting = _fitting(cell.fitted, fit)
    like = SensitiveSubspace(["sex"]).fit(fitting)
    steps = steps_for(like.making(None), cell.twins, cell.budget, 0)
    stated = Stated(like, fitting, cell.twins, cell.budget)
    return stated.value(_everybody(400, 200), steps.rows)


@cache
def _fitting(how: str, fit: int) -> pd.DataFrame:
    if how == "quantiles":
        return proxies.history()
    return proxies.draw(FITTED_ON, np.random.default_rng([15, fit])).drop(columns="good")


@cache
def _everybody(heights: int, grades: int) -> np.ndarray:
    return population(heights, grades, np.random.default_rng(18))


def _aside(people: pd.DataFrame, result: AuditResult) -> pd.DataFrame:
    """Return who was set aside: those not audited, as no two have one height."""
    column = result.space.columns["height"]
    audited = column.levels[column.codes[result.space.counts > 0]]
    return people[~people["height"].isin(audited)]


def go_on(tally: Tally, cell: Cell, until: int) -> None:
    """Audit further samples of a cell."""
    for at in range(tally.runs, until):
        result, stated = sample(cell, at)
        value = truth(cell, result, stated, at)
        tally.above += int(result.lower_bound > value)
        tally.below += int(result.upper_bound < value)
        tally.statistic += (result.statistic - tally.statistic) / (at + 1)
        tally.truth += (value - tally.truth) / (at + 1)
        tally.runs = at + 1


@cache
def _for_power() -> SensitiveSubspace:
    first = proxies.draw(2000, np.random.default_rng(15), proxies.OTHERS).drop(columns="good")
    return SensitiveSubspace(["sex"]).fit(first)


def power_of(kind: str, per_person: int, n: int, at: int) -> dict[str, float]:
    """Audit one sample with further columns that tell nothing."""
    cases = proxies.draw(n, np.random.default_rng([16, n, at]), proxies.OTHERS)
    twins = Twins(kind, per_person=per_person)
    found = proxies.audited(cases, _for_power(), twins=twins, budget=BUDGET)
    return {
        "statistic": found.statistic, "lower_bound": found.lower_bound,
        "rejected": float(found.verdict == "rejected"),
    }  # fmt: skip


WAYS = (("observed", 20), ("generate", 20), ("search", 20), ("generate", 4), ("search", 4))


def main() -> None:
    """Go on, cell by cell in turn, and write down what there is after each."""
    found = json.loads(DOCS.read_text("utf-8")) if DOCS.exists() else {}
    tallies = {row["name"]: Tally(**row) for row in found.get("coverage", [])}
    powers = {(row["twins"], row["per_person"], row["n"]): row for row in found.get("power", [])}
    for until in range(AT_A_TIME, RUNS + 1, AT_A_TIME):
        for cell in CELLS:
            tally = tallies.setdefault(cell.name, Tally(cell.name, cell.n))
            if tally.runs < until:
                go_on(tally, cell, until)
                _write(tallies, powers)
        for n, wanted in POWER.items():
            for kind, per_person in WAYS:
                start = {"twins": kind, "per_person": per_person, "n": n, "runs": 0}
                row = powers.setdefault((kind, per_person, n), start)
                while row["runs"] < min(wanted, until * wanted * 2 // RUNS):
                    one = power_of(kind, per_person, n, row["runs"])
                    row["runs"] += 1
                    for name, value in one.items():
                        mean = row.get(name, 0.0)
                        row[name] = mean + (value - mean) / row["runs"]
                _write(tallies, powers)


def _write(tallies: dict[str, Tally], powers: dict[tuple[str, int, int], dict]) -> None:
    document = {
        "all": proxies.value_of_all_twins(), "all_at_budget": proxies.value_of_all_twins(BUDGET),
        "delta": proxies.DELTA, "alpha": ALPHA,
        "coverage": [asdict(tallies[one.name]) for one in CELLS if one.name in tallies],
        "power": [powers[*way, n] for n in POWER for way in WAYS if (*way, n) in powers],
    }  # fmt: skip
    draft = DOCS.with_suffix(".draft")
    draft.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draft.replace(DOCS)


if __name__ == "__main__":
    main()
