"""Families of audits of one sample: how often any verdict is wrong, and how many are right.

`python -m tests.validity.families` measures the cases that docs/families.json does not have yet.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fairtransport import AuditProblem, Embedding, Geometry
from fairtransport.inference import sampling_law
from fairtransport.inference.multiplicity import Family, holm

DOCS = Path(__file__).parents[2] / "docs"
ALPHA, SIZE = 0.05, 10
REPETITIONS, FEWER = 1000, 300
"""Families a case; fewer where bets are won, which takes longest."""


@dataclass(frozen=True)
class Families:
    """Ten audits of one sample, each with a threshold.

    ``shares`` are the thresholds over the population's values: at 1 δ-fairness holds and any
    rejection is wrong; below 1 any certificate is.
    """

    name: str
    n: int
    shares: tuple[float, ...]
    binary: bool

    @property
    def problems(self) -> list[AuditProblem]:
        """Ten models' losses over the same people."""
        rng = np.random.default_rng(31)
        if self.binary:
            blocks = np.repeat(np.arange(30), 2)
            losses = (rng.random((SIZE, 60)) < rng.uniform(0.05, 0.3, (SIZE, 1))).astype(float)
            return [AuditProblem(one, Geometry(blocks)) for one in losses]
        points = rng.normal(size=(25, 2))
        slopes = rng.normal(size=(SIZE, 2))
        losses = 1 / (1 + np.exp(-points @ slopes.T - rng.normal(size=(25, SIZE)))).T
        geometry = Geometry(np.zeros(25, np.int64), Embedding(points))
        return [AuditProblem(one, geometry, budget=0.05) for one in losses]

    @property
    def frequencies(self) -> np.ndarray:
        """f*."""
        size = 60 if self.binary else 25
        return np.random.default_rng(32).dirichlet(np.full(size, 2.0))


NULLS = (1.0,) * SIZE
MIXED = (1.0,) * 5 + (0.999,) * 5
FAR = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 1.0, 1.5)
CASES = [
    Families("ten true nulls, free moves, 0-1 loss", 300, NULLS, binary=True),
    Families("ten true nulls, a budget", 200, NULLS, binary=False),
    Families("five at δ, five a little above, free moves, 0-1 loss", 300, MIXED, binary=True),
    Families("five at δ, five a little above, a budget", 200, MIXED, binary=False),
    Families("eight above δ, one at it, one below, free moves, 0-1 loss", 300, FAR, binary=True),
    Families("eight above δ, one at it, one below, a budget", 200, FAR, binary=False),
]


@dataclass(frozen=True)
class Found:
    """Shares of families with anything wrong, and mean numbers of right rejections."""

    case: str
    n: int
    repetitions: int
    wrong: float
    false_rejections: float
    holm_false_rejections: float
    intervals_miss: float
    rejected: float
    holm_rejected: float
    bonferroni_rejected: float
    certified: float
    to_reject: int


def measure(case: Families, repetitions: int, seed: int = 0, *, intervals: int = 0) -> Found:
    """Draw samples, judge the family on each, and compare with the truth."""
    problems, chances = case.problems, case.frequencies
    truths = np.array([problem.value(chances) for problem in problems])
    deltas = truths * np.array(case.shares)
    family = Family(ALPHA, SIZE, SIZE, SIZE)
    fair = deltas >= truths
    rows, missed = [], 0
    for at in range(repetitions):
        rng = np.random.default_rng([seed, at])
        counts = rng.multinomial(case.n, chances)
        laws = [
            sampling_law(
                problem, counts, rng=at, alpha=ALPHA, loss_range=(0.0, 1.0),
                binary_losses=case.binary,
            )
            for problem in problems
        ]  # fmt: skip
        pairs = list(zip(laws, deltas, strict=True))
        # what a p-value above α is does not matter here, and takes most of the time
        pvalues = np.array([
            law.graded_pvalue(delta, family.levels) if law.rejects(delta, ALPHA) else 1.0
            for law, delta in pairs
        ])  # fmt: skip
        certified = [law.certifies(delta, family.end_level) for law, delta in pairs]
        verdicts = np.array(family.verdicts(family.adjusted(pvalues), certified))
        rejected, sure = verdicts == "rejected", verdicts == "certified"
        by_holm, by_bonferroni = holm(pvalues) <= ALPHA, pvalues <= ALPHA / SIZE
        rows.append((
            (rejected & fair).any() or (sure & ~fair).any(), (rejected & fair).any(),
            (by_holm & fair).any(), (rejected & ~fair).sum(), (by_holm & ~fair).sum(),
            (by_bonferroni & ~fair).sum(), (sure & fair).sum(),
        ))  # fmt: skip
        if at < intervals:
            level = family.end_level
            missed += any(
                not law.lower_bound(level) <= truth <= law.upper_bound(level)
                for law, truth in zip(laws, truths, strict=True)
            )
    wrong, false, false_holm, *right = np.array(rows, float).mean(axis=0).tolist()
    return Found(
        case.name, case.n, repetitions, wrong, false, false_holm,
        missed / intervals if intervals else float("nan"), *right, int((~fair).sum()),
    )  # fmt: skip


def main() -> None:
    """Measure the cases that are missing and write all down in their order."""
    path = DOCS / "families.json"
    rows = {row["case"]: row for row in json.loads(path.read_text("utf-8"))}
    # what takes longest comes last
    for case in sorted(CASES, key=lambda one: (not one.binary, one.shares != FAR)):
        if case.name in rows:
            continue
        repetitions = FEWER if case.shares != NULLS and not case.binary else REPETITIONS
        found = measure(case, repetitions, intervals=repetitions if case.binary else 0)
        rows[case.name] = asdict(found) | ({} if case.binary else {"intervals_miss": None})
        kept = [rows[one.name] for one in CASES if one.name in rows]
        path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
