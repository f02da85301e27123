"""Audits of given predictions: how often blind systems are rejected, and others are found.

`python -m tests.validity.rate_audits` measures all cases through `audit` and writes
docs/rate_audits.json.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

import fairtransport as ft
from tests.validity.rates import ALPHA, DOCS, EVEN, OMITTED, SKEWED, Blind, Differing

SAMPLES, OTHERS = 500, 200
DELTA = 0.02
MANY = 60
"""Groups of a sensitive feature with many values, of which few people share one."""


@dataclass(frozen=True)
class Case:
    """A world, and what an audit of its people is asked to look at."""

    world: Blind | Differing
    second: bool = False
    """Whether there is a second sensitive feature, of three groups, that changes nothing."""

    @property
    def samples(self) -> int:
        """How many samples are audited."""
        return SAMPLES if isinstance(self.world, Blind) else OTHERS

    def people(self, rng: np.random.Generator) -> tuple[pd.DataFrame, float]:
        """Return a sample as an auditor has it, and R."""
        block, group, losses, label, means = self.world.draw(rng)
        x, y = (block, np.zeros_like(block)) if label is None else (block // 2, label)
        wrong = losses.astype(int)
        frame = pd.DataFrame({"x": x, "group": group, "y": y, "guess": np.where(wrong, 1 - y, y)})
        if self.second:
            frame["other"] = rng.integers(0, 3, len(frame))
        return frame, 0.0 if means is None else self.world.truth(means)


EVENLY = tuple([1 / MANY] * MANY)
BLIND = [
    Case(Blind(OMITTED[True], 500, 20, EVEN, follows_x=True)),
    Case(Blind(OMITTED[True], 500, 200, SKEWED, follows_x=True)),
    Case(Blind(OMITTED[True], 500, 2000, SKEWED, follows_x=True)),
    Case(Blind(OMITTED[True], 120, 200, EVENLY, follows_x=True)),
    Case(Blind(OMITTED[False], 500, 20, SKEWED, follows_x=False), second=True),
    Case(Blind(OMITTED[True], 5000, 20, SKEWED, follows_x=True)),
    Case(Blind(OMITTED[True], 5000, 200, EVEN, follows_x=True)),
    Case(Blind(OMITTED[False], 5000, 2000, SKEWED, follows_x=False)),
]
DIFFERING = [
    Case(Differing("one sign", 500, 20, EVEN, 0.2)),
    Case(Differing("one sign", 500, 20, EVEN, 0.2), second=True),
    Case(Differing("one sign", 5000, 20, SKEWED, 0.1)),
    Case(Differing("one sign", 5000, 200, EVEN, 0.1)),
    Case(Differing("one sign", 5000, 2000, EVEN, 0.2)),
]


@dataclass(frozen=True)
class Found:
    """What audits of samples of one case said; shares of the samples."""

    case: str
    n: int
    blocks: int
    groups: int
    smallest: float
    second: bool
    effect: float
    samples: int
    value: float
    differ: float
    rejected: float
    rejected_at_0: float
    misses: float


def measure(case: Case, samples: int | None = None, seed: int = 0) -> Found:
    """Audit samples of many worlds of a kind, as a user would."""
    many = case.samples if samples is None else samples
    rows = [_one(case, np.random.default_rng([seed, at]), at) for at in range(many)]
    shares = [float(np.mean(column)) for column in zip(*rows, strict=True)]
    world = case.world
    return Found(
        world.name, world.n, world.blocks, len(world.shares), min(world.shares), case.second,
        getattr(world, "effect", 0.0), many, *shares,
    )  # fmt: skip


def _one(case: Case, rng: np.random.Generator, at: int) -> tuple[float | bool, ...]:
    people, truth = case.people(rng)
    sensitive = ["group", "other"] if case.second else ["group"]
    call = dict(y_pred="guess", sensitive_features=sensitive, delta=DELTA, alpha=ALPHA, rng=at)
    result = ft.audit(people, "y", **call)
    lower = result.lower_bound
    rejected = result.bounds_verdict == "rejected"
    return truth, result.answers_differ, rejected, lower > 0, lower > truth


def main() -> None:
    """Measure all cases and write them down."""
    found = []
    for case in [*BLIND, *DIFFERING]:
        found.append(asdict(measure(case)))
        text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
        (DOCS / "rate_audits.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
