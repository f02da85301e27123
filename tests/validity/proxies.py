"""Planted bias through a proxy: height tells sex, the model uses height, the truth is known.

Heights are normal around 170 (women) and 180 (men) with a standard deviation of 5, grades are
independent of both, and whoever has a grade above 0 is good. The model turns the good away who are
no taller than 165. Sex is taken out of the distance, so that heights change for free: of the good
who are taller, all have a comparable person who is turned away. Among twins that were made up by
steps of which the longest lowers a height by s, that is those with a height of at most 165 + s.

`proxies_run` measures coverage and power, `proxy_truth` works out ψ of any stated twins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

import fairtransport as ft
from fairtransport import similarity
from fairtransport.similarity.twins import Steps, Twins, steps_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtransport.audit import AuditResult

MEANS, SPREAD, LEAST = {"f": 170.0, "m": 180.0}, 5.0, 165.0
FEATURES = ["height", "grade"]
OTHERS = [f"answer_{at}" for at in range(6)]
"""Further columns, which tell nothing and set people apart."""
DELTA = 0.3


def history() -> pd.DataFrame:
    """Return fitting data without chance: quantiles of heights with quantiles of grades."""
    heights, grades = norm.ppf((np.arange(100) + 0.5) / 100), norm.ppf((np.arange(20) + 0.5) / 20)
    rows = [
        (sex, mean + SPREAD * height, grade)
        for sex, mean in MEANS.items() for height in heights for grade in grades
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["sex", *FEATURES])


def draw(n: int, rng: np.random.Generator, others: Sequence[str] = ()) -> pd.DataFrame:
    """Return people of the population."""
    sex, grade = rng.choice([*MEANS], n), rng.normal(size=n)
    height = rng.normal([MEANS[one] for one in sex], SPREAD)
    good = (grade > 0).astype(int)
    people = pd.DataFrame({"sex": sex, "height": height, "grade": grade, "good": good})
    return people.assign(**{name: rng.normal(size=n) for name in others})


def model(x: pd.DataFrame) -> np.ndarray:
    """Turn away the good who are not tall enough."""
    return ((x["grade"] > 0) & (x["height"] > LEAST)).astype(int).to_numpy()


def share_between(low: float, high: float) -> float:
    """Return the share of people whose height is between two."""
    means = np.array([*MEANS.values()])
    return float((norm.cdf(high, means, SPREAD) - norm.cdf(low, means, SPREAD)).mean())


def value_of_all_twins(budget: float = 0.0) -> float:
    """Return ψ with everybody as a target, where heights change for free and grades do not.

    All who are good and tall enough are turned away at no cost. The budget lets the others in whose
    grade is least below 0: those above −t, where the mean of g² over them uses it up.
    """
    free = 0.5 * share_between(LEAST, np.inf)
    if budget == 0:
        return free
    # the integral of g² over the normal density from 0 to t
    spent = lambda t: norm.cdf(t) - 0.5 - t * norm.pdf(t) - budget  # noqa: E731
    return free + float(norm.cdf(brentq(spent, 0.0, 10.0))) - 0.5


def value_of_twins(like: similarity.SensitiveSubspace, twins: Twins, seed: int = 0) -> float:
    """Return ψ of the twins that are made up without a budget, all of them counting."""
    return value_of_steps(like, steps_for(like.making(None), twins, 0.0, seed))


def value_of_steps(like: similarity.SensitiveSubspace, steps: Steps) -> float:
    """Return ψ of the twins that some steps make."""
    lowers = max(0.0, -steps.rows[:, 0].min()) * like.encoding_.parts["height"].scale
    return 0.5 * share_between(LEAST, LEAST + lowers)


def audited(cases: pd.DataFrame, like: object, **settings: object) -> AuditResult:
    """Audit the model as a user does."""
    return ft.audit(
        cases, "good", model=model, sensitive_features=["sex"], similarity=like,
        features=[name for name in cases if name not in ("sex", "good")],
        **{"rng": 0, "delta": DELTA, **settings},
    )  # fmt: skip
