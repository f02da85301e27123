"""Error rates of audits that ask in other ways than once about everybody.

`python -m tests.validity.asking` measures all cases through `audit` and writes
docs/questions.json, from which the tables in docs/questions.md are made.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import fairtransport as ft

DOCS = Path(__file__).parents[2] / "docs"
ALPHA = 0.05
CELLS = 40
"""Profiles of a fixed box; each has two groups."""
FEW = 20
"""Profiles of a random box."""


class RandomBox:
    """Errs with a probability of its own in each profile and group, anew at every question."""

    def __init__(self, errs, seed):
        self.errs, self.rng = errs, np.random.default_rng(seed)

    def __call__(self, points):
        chance = self.errs[points["x"].to_numpy(), points["g"].to_numpy()]
        return (self.rng.random(len(points)) >= chance).astype(int)


def random_boxes():
    """Boxes by name, each with its probabilities of an error and its ψ of mean losses."""
    half = np.full((FEW, 2), 0.4)
    alternating = half.copy()
    alternating[::2, 0] += 0.2
    alternating[1::2, 1] += 0.2
    one_group = half + np.array([0.0, 0.2])
    sparse = np.full((FEW, 2), 0.05)
    sparse[:2, 1] = 0.95
    boxes = {
        "noise alone": half, "one group fares worse": one_group,
        "each group fares worse somewhere": alternating, "a few profiles": sparse,
    }  # fmt: skip
    return {name: (errs, rise(errs)) for name, errs in boxes.items()}


def rise(errs):
    """Return ψ of mean losses where all profiles and groups are equally frequent."""
    return float((errs.max(axis=1, keepdims=True) - errs).mean())


def people(n, rng, cells=CELLS):
    """Draw people of all profiles and groups; the right answer is always 1."""
    return pd.DataFrame({"x": rng.integers(cells, size=n), "g": rng.integers(2, size=n), "y": 1})


def rejections(name, draws, delta, runs, n=200, seed=0):
    """Return how often δ-fairness is rejected."""
    errs, _ = random_boxes()[name]
    rejected = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run, draws])
        found = ft.audit(
            people(n, rng, FEW), "y",
            model=ft.access.Function(RandomBox(errs, rng), [0, 1], answers_at_random=True),
            sensitive_features="g", levels={"g": [0, 1]}, delta=delta, rng=run,
            queries=ft.Queries(draws=draws),
        )  # fmt: skip
        rejected += found.verdict == "rejected"
    return rejected


class FixedBox:
    """Errs on one group of some profiles, always."""

    def __init__(self, share, cells=CELLS):
        self.wrong = round(2 * share * cells)

    def __call__(self, points):
        return (~((points["x"] < self.wrong) & (points["g"] == 1))).astype(int).to_numpy()


def until_sure(share, delta, runs, n=1000, seed=0, cells=CELLS):
    """Return the verdicts and the questions of audits that ask until they are sure.

    ``share`` of the people have a twin on whom the box errs: it is ψ.
    """
    verdicts, questions = [], []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        found = ft.audit(
            people(n, rng, cells), "y", model=ft.access.Function(FixedBox(share, cells), [0, 1]),
            sensitive_features="g", levels={"g": [0, 1]}, delta=delta, rng=run,
            queries=ft.Queries(until_sure=True),
        )  # fmt: skip
        verdicts.append(found.verdict)
        questions.append((found.n, found.queried))
    return verdicts, np.array(questions)


DRAWS = (1, 2, 5, 20)
RUNS, FALSE_RUNS = 80, 1000
SHARES = (0.0125, 0.05, 0.1, 0.2, 0.4)
"""True ψ of fixed boxes, against δ = .1."""
DELTA = 0.1
MANY, MANY_PEOPLE, MANY_RUNS = 636, 5000, 20
"""Profiles, people and audits where there are many questions: 1,272 in all."""
EASY_SHARES, EASY_DELTA = (0.0, 0.1, 0.2, 0.3, 0.5), 0.05


def measured_draws(runs=RUNS):
    """Return false alarms at ψ = δ and rejections at a third of it, by box and draws."""
    return [
        {
            "box": name, "draws": draws, "psi": psi, "runs": runs,
            "false alarms": rejections(name, draws, psi, runs),
            "found": rejections(name, draws, psi / 3, runs // 2, seed=1) if psi else None,
        }
        for name, (_, psi) in random_boxes().items()
        for draws in DRAWS
    ]  # fmt: skip


def measured_stops():
    """Return verdicts, people and questions of audits that ask until sure."""
    return [stopped(share, DELTA, FALSE_RUNS if share == DELTA else RUNS // 2) for share in SHARES]


def measured_many():
    """Return the same where there are many questions and most cases are easy."""
    return [
        stopped(share, EASY_DELTA, MANY_RUNS, n=MANY_PEOPLE, cells=MANY) for share in EASY_SHARES
    ]


def stopped(share, delta, runs, cells=CELLS, **more):
    """Return what audits of one system found, and how much they asked for that."""
    verdicts, asked = until_sure(share, delta, runs, cells=cells, **more)
    return {
        "psi": share, "delta": delta, "runs": runs, "people": float(asked[:, 0].mean()),
        "questions": float(asked[:, 1].mean()), "most questions": int(asked[:, 1].max()),
        "all questions": 2 * cells,
        **{word: verdicts.count(word) for word in ("rejected", "certified", "inconclusive")},
    }  # fmt: skip


def write(**found):
    """Replace parts of docs/questions.json."""
    path = DOCS / "questions.json"
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(before | found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    measures = {"stops": measured_stops, "many": measured_many, "draws": measured_draws}
    for name in sys.argv[1:] or measures:
        write(**{name: measures[name]()})
