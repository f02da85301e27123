"""The part that needs sensitive features to change: coverage and widths through `audit`.

`python -m tests.validity.attributable_audits` measures all cases and writes
docs/attributable_audits.json.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import fairtransport as ft
from fairtransport.audits.sensitivity import hold_fixed
from fairtransport.inference import sampling_law
from tests.validity.rates import ALPHA, DOCS

SAMPLES, WIDTHS, SIZE = 60, 6, 300
"""Samples, those of which widths are compared, and people of each."""
REFERENCE = pd.DataFrame(product("fm", range(24), [0, 1]), columns=["sex", "x", "y"])
"""All people whom others may be compared with: it does not depend on the sample."""
POPULATION = REFERENCE[REFERENCE["x"] < 8]
SHARES = np.random.default_rng(5).dirichlet(np.full(len(POPULATION), 2.0))


def model(points: pd.DataFrame) -> Any:
    """Say yes from x = 4 on, to men one step earlier."""
    return (points["x"] + (points["sex"] == "m") > 3).astype(int)


@dataclass(frozen=True)
class Case:
    """What an audit of these people is asked."""

    name: str
    similarity: Any
    budget: float


STATED = ft.similarity.MixedTabular(scales={"x": 1.0}, mismatch={"sex": 0.5})
TOLERANT = ft.similarity.IgnoreSensitive(tolerance={"x": 1})


def audited(case: Case, people: pd.DataFrame, rng: int = 0, **more: Any) -> ft.AuditResult:
    """Audit people as a user would."""
    return ft.audit(
        people, "y", model=model, features=["sex", "x"], sensitive_features="sex",
        levels={"sex": ["f", "m"]}, targets=REFERENCE, similarity=case.similarity,
        budget=case.budget, alpha=ALPHA, rng=rng, **more,
    )  # fmt: skip


def population(case: Case) -> ft.AuditResult:
    """Return the audit of everybody."""
    people = POPULATION.assign(people=(SHARES * 10**6).round().astype(int))
    return audited(case, people, counts="people")


def corner() -> float:
    """Return the first budget at which the population's curve bends."""
    budgets = population(Case("", STATED, 0.1)).budget_curve.budgets
    return float(budgets[budgets > 0][0])


def cases() -> list[Case]:
    """Return a regular case, one just beyond a corner, and one without a budget."""
    return [
        Case("budget between corners", STATED, 0.15),
        Case("near a corner, 1.02 times", STATED, 1.02 * corner()),
        Case("no budget, same-group moves", TOLERANT, 0.0),
    ]


@dataclass(frozen=True)
class Found:
    """How often the bounds of the part held, and how wide its interval is."""

    case: str
    n: int
    samples: int
    part: float
    statistic: float
    lower: float
    upper: float
    paired_over_apart: float


def measure(case: Case, samples: int = SAMPLES, seed: int = 0) -> Found:
    """Audit samples as a user would, and compare what is said of the part with the truth."""
    everybody = population(case)
    truth = everybody.statistic - hold_fixed(everybody).value(everybody.space.frequencies)
    rows, ratios = [], []
    for at in range(samples):
        rng = np.random.default_rng([seed, at])
        result = audited(case, POPULATION.iloc[rng.choice(len(POPULATION), SIZE, p=SHARES)], at)
        part = result.attributable
        rows.append((part.lower_bound <= truth, part.upper_bound >= truth))
        if at < WIDTHS:
            ratios.append((part.interval.upper - part.interval.lower) / width_apart(result))
    lower, upper = zip(*rows, strict=True)
    return Found(
        case.name, SIZE, samples, truth, everybody.statistic, float(np.mean(lower)),
        float(np.mean(upper)), float(np.median(ratios)),
    )  # fmt: skip


def width_apart(result: ft.AuditResult) -> float:
    """Return the width of the difference of two separate intervals that hold together."""
    whole = result.law.interval(ALPHA / 2)
    held = sampling_law(
        hold_fixed(result), result.space.counts, rng=result.seed, loss_range=result.loss.range,
        binary_losses=result.loss.binary, most_gain=result.most_gain, alpha=ALPHA,
    ).interval(ALPHA / 2)  # fmt: skip
    return (whole.upper - held.lower) - (whole.lower - held.upper)


def main() -> None:
    """Measure all cases and write them down."""
    found = [asdict(measure(case)) for case in cases()]
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    (DOCS / "attributable_audits.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
