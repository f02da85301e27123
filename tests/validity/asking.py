"""Error rates of audits that ask in other ways than once about everybody.

`python -m tests.validity.asking` measures all cases through `audit` and writes
docs/questions.json, from which the tables in docs/simulations.md are made.
"""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
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
    """Boxes by name: the probabilities of an error by profile and group."""
    half = np.full((FEW, 2), 0.4)
    alternating = half.copy()
    alternating[::2, 0] += 0.2
    alternating[1::2, 1] += 0.2
    sparse = np.full((FEW, 2), 0.05)
    sparse[:2, 1] = 0.95
    return {
        "noise alone": half,
        "one group": half + np.array([0.0, 0.2]),
        "four groups": np.full((FEW, 4), 0.4) + np.array([0.0, 0.05, 0.1, 0.2]),
        "few profiles": sparse,
        "signs differ": alternating,
        "one group, 300 profiles": np.full((300, 2), 0.4) + np.array([0.0, 0.2]),
    }


def rise(errs):
    """Return ψ of mean losses where all profiles and groups are equally frequent."""
    return float((errs.max(axis=1, keepdims=True) - errs).mean())


def people(n, rng, cells=CELLS, groups=2):
    """Draw people of all profiles and groups; the right answer is always 1."""
    columns = {"x": rng.integers(cells, size=n), "g": rng.integers(groups, size=n)}
    return pd.DataFrame(columns | {"y": 1})


def audit_draws(name, draws, about, run, n=200, seed=0):
    """Audit one sample of a random box at δ, the true value; return the result and δ."""
    errs, rng = random_boxes()[name], np.random.default_rng([seed, run, draws])
    cells, groups = errs.shape
    sample, worst = people(n, rng, cells, groups), errs.max(axis=1)
    rises = worst[sample["x"]] - errs[sample["x"], sample["g"]]
    truth = rise(errs) if about == "population" else float(rises.mean())
    result = ft.audit(
        sample, "y",
        model=ft.access.Function(RandomBox(errs, rng), [0, 1], answers_at_random=True),
        sensitive_features="g", levels={"g": range(groups)}, delta=truth, rng=run,
        queries=ft.Queries(draws=draws, about=about),
    )  # fmt: skip
    return result, truth


def measure_draws(case):
    """Return false alarms where the truth is δ, and rejections where it is 3 δ."""
    name, draws, about, runs = case
    alarms, detections = 0, 0
    for run in range(runs):
        result, truth = audit_draws(name, draws, about, run)
        alarms += result.verdict == "rejected"
        # the bound does not depend on δ: at another one the verdict is this
        detections += result.law.rejects(truth / 3, ALPHA)
    return describe_draws(name, draws, about, runs, alarms, detections)


def describe_draws(name, draws, about, runs, alarms, detections):
    """Return a row of the table, with the figures to compare it with."""
    psi = rise(random_boxes()[name])
    references, oracle = REFERENCES.get((name, draws), (None, None))
    of_population = about == "population"
    return {
        "box": name, "draws": draws, "about": about, "psi": psi, "runs": runs,
        "false alarms": int(alarms), "found": int(detections) if psi else None,
        "reference": None if references is None else [references[not of_population]],
        "oracle": oracle if of_population else None,
    }  # fmt: skip


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


DRAW_CASES = (
    ("noise alone", 20), ("one group", 5), ("one group", 20), ("four groups", 20),
    ("few profiles", 20), ("signs differ", 20), ("one group, 300 profiles", 5),
)  # fmt: skip
REFERENCES = {
    ("one group", 5): ((0.17, 0.19), (0.24, 0.51)),
    ("one group", 20): ((0.73, 0.83), (0.83, 0.96)),
    ("four groups", 20): ((0.51, 0.68), (0.73, 0.94)),
    ("few profiles", 20): ((0.29, 0.70), (0.34, 0.56)),
    ("signs differ", 20): ((0.04, 0.03), (0.85, 0.97)),
    ("one group, 300 profiles", 5): ((0.71, 0.89), (0.80, 0.94)),
}
"""Shares found in 200 samples of a separate simulation, without `audit`: about the population and
about these cases; and by bets and a normal bound that know the worst twin."""
RUNS, FALSE_RUNS, DRAW_RUNS = 80, 1000, 500
SHARES = (0.0125, 0.05, 0.1, 0.2, 0.4)
"""True ψ of fixed boxes, against δ = .1."""
DELTA = 0.1
MANY, MANY_PEOPLE, MANY_RUNS = 636, 5000, 20
"""Profiles, people and audits where there are many questions: 1,272 in all."""
EASY_SHARES, EASY_DELTA = (0.0, 0.1, 0.2, 0.3, 0.5), 0.05


def measured_draws(runs=DRAW_RUNS):
    """Return false alarms and detections by box, draws and what the bound is about."""
    cases = [(*case, about, runs) for case in DRAW_CASES for about in ("population", "these")]
    # spawned, since compiled loops that ran in this process do not survive a fork
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        rows = []
        for row in pool.map(measure_draws, cases):
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
            rows.append(row)
    return rows


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
