"""Audits with counterparts in worlds whose true counterfactual is known, through `audit`.

``python -m tests.validity.counterparts docs/counterparts.json`` writes the figures of the docs;
names of worlds after the path renew these alone.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import poisson

import fairtransport as ft
from fairtransport.similarity.counterpart_gate import prepare_scores, run_gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DELTAS = (0.0, 0.01, 0.02, 0.05)
SAMPLES = 200
TRUTH_PEOPLE = 400_000
LEVELS = np.array(list("abcdefghijkl"))


def score(people: pd.DataFrame) -> pd.Series:
    """Return what the true label depends on, but for noise."""
    return people["x0"] + 0.5 * people["x1"]


def half_sum(people: pd.DataFrame) -> pd.Series:
    """Return half the sum of the first eight columns."""
    return people[[f"x{at}" for at in range(8)]].sum(axis=1) / 2


Draw = tuple[np.ndarray, pd.DataFrame, pd.DataFrame]
"""Groups, columns, and the columns that the same people would have in the other group."""


@dataclass(frozen=True)
class World:
    """People, what they would be in the other group, and a model that does not see the group."""

    name: str
    n: int
    draw: Callable[[np.random.Generator, int], Draw]
    model: Callable[[pd.DataFrame], np.ndarray]
    legitimate: Sequence[str] = ()
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    innocent: bool = False
    merit: Callable[[pd.DataFrame], pd.Series] = score


def normals(rng: np.random.Generator, n: int, count: int = 4) -> pd.DataFrame:
    """Return independent columns x0, x1 and so on."""
    return pd.DataFrame({f"x{at}": rng.normal(size=n) for at in range(count)})


def decide(people: pd.DataFrame) -> np.ndarray:
    """Return the decision of a model that uses two columns."""
    return (score(people) > 0).astype(int).to_numpy()


def _unchanged(rng: np.random.Generator, n: int) -> Draw:
    people = normals(rng, n, 6)
    return rng.integers(0, 2, n), people, people


def _mixed(rng: np.random.Generator, n: int) -> Draw:
    people = normals(rng, n, 2)
    people["grade"], people["zip"] = rng.integers(1, 6, n), rng.choice(LEVELS[:8], n)
    return rng.integers(0, 2, n), people, people


def _height(rng: np.random.Generator, n: int) -> Draw:
    groups, people, rest = rng.integers(0, 2, n), normals(rng, n), 6 * rng.normal(size=n)
    return (
        groups,
        people.assign(height=168 + 13 * groups + rest),
        people.assign(height=168 + 13 * (1 - groups) + rest),
    )


def _shifted(rng: np.random.Generator, n: int, shift: float, count: int, columns: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, columns)
    other = people.copy()
    for at in range(count):
        people[f"x{at}"] += shift * (groups - 0.5)
        other[f"x{at}"] += shift * (0.5 - groups)
    return groups, people, other


def _zip(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    same, anywhere, place = rng.random(n) < 0.5, rng.integers(0, 12, n), rng.integers(0, 3, n)

    def homes(group: np.ndarray) -> np.ndarray:
        return LEVELS[np.where(same, anywhere, np.where(group == 1, place, 9 + place))]

    return groups, people.assign(zip=homes(groups)), people.assign(zip=homes(1 - groups))


def _interaction(rng: np.random.Generator, n: int) -> Draw:
    groups, people, rest = rng.integers(0, 2, n), normals(rng, n, 3), rng.normal(0, 0.5, n)
    sign = 2 * groups - 1
    return (
        groups,
        people.assign(x3=sign * people["x2"] + rest),
        people.assign(x3=-sign * people["x2"] + rest),
    )


def _flags(rng: np.random.Generator, n: int) -> Draw:
    """Two flags that are alike in one group and mostly differ in the other."""
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    first, other = rng.integers(0, 2, n), rng.random(n) < 0.2
    return (
        groups,
        people.assign(first=first, second=np.where(other, 1 - first, first) ^ groups),
        people.assign(first=first, second=np.where(other, 1 - first, first) ^ (1 - groups)),
    )


def _explained_by_levels(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    level = np.where(rng.random(n) < 0.6, groups, rng.integers(0, 4, n))
    people["x0"] += 0.8 * level - 1
    people = people.assign(level=level.astype(str))
    return groups, people, people


def _explained_by_number(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    number = rng.normal(size=n) + groups - 0.5
    people["x0"] += number
    people = people.assign(number=number)
    return groups, people, people


def _explained_curved(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    first = rng.normal(size=n) + groups - 0.5
    second = 0.7 * first + 0.7 * rng.normal(size=n)
    people["x0"] = 0.5 * people["x0"] + np.sin(2 * first) + 0.5 * second
    people = people.assign(first=first, second=second)
    return groups, people, people


def _explained_in_part(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    number = rng.normal(size=n) + groups - 0.5
    base = people["x0"] + 0.7 * number
    return (
        groups,
        people.assign(x0=base + 0.8 * (groups - 0.5), number=number),
        people.assign(x0=base + 0.8 * (0.5 - groups), number=number),
    )


def _three_groups(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 3, n), normals(rng, n, 3)
    people["x1"] = people["x1"].where(rng.random(n) < 0.9)
    people["district"] = LEVELS[np.where(rng.random(n) < 0.6, groups, rng.integers(0, 9, n))]
    return groups, people, people


def _two_explaining(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    job = np.where(rng.random(n) < 0.5, groups, rng.integers(0, 3, n))
    town = np.where(rng.random(n) < 0.4, 1 - groups, rng.integers(0, 2, n))
    people["x0"] += np.where(job == town, 1.0, -0.5) + 0.5 * job
    people = people.assign(job=job.astype(str), town=town.astype(str))
    return groups, people, people


def _scaled(rng: np.random.Generator, n: int) -> Draw:
    groups, people, rest = rng.integers(0, 2, n), normals(rng, n, 3), rng.normal(size=n)
    scales = np.where(groups == 1, 2.0, 1.0)
    return groups, people.assign(gap=scales * rest), people.assign(gap=(3 - scales) * rest)


def _mostly_zero(rng: np.random.Generator, n: int) -> Draw:
    groups, people = rng.integers(0, 2, n), normals(rng, n, 3)
    rank, gain = rng.random(n), np.exp(rng.normal(7, 1, n)).round()

    def gains(group: np.ndarray) -> np.ndarray:
        return np.where(rank < np.where(group == 1, 0.4, 0.1), gain, 0.0)

    return groups, people.assign(gain=gains(groups)), people.assign(gain=gains(1 - groups))


def _whole_numbers(rng: np.random.Generator, n: int) -> Draw:
    groups, people, rank = rng.integers(0, 2, n), normals(rng, n, 3), rng.random(n)

    def visits(group: np.ndarray) -> np.ndarray:
        return poisson.ppf(rank, 20 + 2 * group).astype(int)

    return groups, people.assign(visits=visits(groups)), people.assign(visits=visits(1 - groups))


def _one_hot(rng: np.random.Generator, n: int) -> Draw:
    groups, people, other = _zip(rng, n)

    def encode(frame: pd.DataFrame) -> pd.DataFrame:
        flags = {f"zip_{one}": (frame["zip"] == one).astype(int) for one in LEVELS}
        return frame.drop(columns="zip").assign(**flags)

    return groups, encode(people), encode(other)


def _forest() -> Callable[[pd.DataFrame], np.ndarray]:
    from sklearn.ensemble import RandomForestClassifier

    def encode(people: pd.DataFrame) -> np.ndarray:
        columns = people["x0"], people["x1"], people["grade"], people["zip"] == "a"
        return np.column_stack([np.asarray(one, float) for one in columns])

    rng = np.random.default_rng(99)
    _, people, _ = _mixed(rng, 1500)
    label = score(people) + 0.3 * (people["grade"] - 3) + rng.normal(0, 0.7, 1500) > 0
    forest = RandomForestClassifier(20, max_depth=8, random_state=0).fit(encode(people), label)
    return lambda asked: forest.predict(encode(asked)).astype(int)


def _both(condition: Callable[[pd.DataFrame], pd.Series]) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda people: decide(people) * condition(people).astype(int).to_numpy()


WORLDS = (
    World("independent, linear model", 500, _unchanged, decide, innocent=True),
    World(
        "independent, thresholds", 500, _unchanged, innocent=True,
        model=lambda people: ((people["x0"] > 0.3) & (people["x1"] > -1)).astype(int).to_numpy(),
    ),
    World("independent, forest of mixed columns", 500, _mixed, _forest(), innocent=True),
    World("strong proxy that is not used", 500, _height, decide, innocent=True),
    World("explained by levels", 500, _explained_by_levels, decide, ("level",), innocent=True),
    World("explained by a number", 500, _explained_by_number, decide, ("number",), innocent=True),
    World(
        "explained by two numbers, curved", 500, _explained_curved, decide, ("first", "second"),
        innocent=True,
    ),
    World("three groups, missing values, unused district", 600, _three_groups, innocent=True,
          model=lambda people: (people["x0"] + 0.5 * people["x1"].fillna(0) > 0)
          .astype(int).to_numpy()),
    World("explained by two columns of levels", 600, _two_explaining, decide, ("job", "town"),
          innocent=True),
    World("tiny proxy (0.1 sd)", 2000, lambda rng, n: _shifted(rng, n, 0.1, 1, 4), decide),
    World("weak proxy (0.4 sd)", 2000, lambda rng, n: _shifted(rng, n, 0.4, 1, 4), decide),
    World(
        "eight weak proxies (0.3 sd)", 2000, lambda rng, n: _shifted(rng, n, 0.3, 8, 10),
        lambda people: (half_sum(people) > 0).astype(int).to_numpy(), merit=half_sum,
    ),
    World("height (2.2 sd)", 500, _height, _both(lambda people: people["height"] > 167)),
    World(
        "zip code of 12 levels", 500, _zip,
        _both(lambda people: ~people["zip"].isin(["j", "k", "g"])),
    ),
    World(
        "the same in one-hot columns", 500, _one_hot,
        _both(lambda people: people[["zip_j", "zip_k", "zip_g"]].sum(axis=1) == 0),
    ),
    World("own shift beside a legitimate number", 2000, _explained_in_part, decide, ("number",)),
    World("another spread alone (1 and 2 sd)", 1000, _scaled,
          _both(lambda people: people["gap"].abs() < 1.5)),
    World("mostly 0, of other frequency", 1000, _mostly_zero,
          _both(lambda people: people["gain"] > 0)),
    World("small shift in whole numbers (20 and 22)", 2000, _whole_numbers,
          _both(lambda people: people["visits"] > 19)),
    World("interaction alone", 2000, _interaction,
          _both(lambda people: people["x3"] * people["x2"] > -0.5)),
    World("the same, given the other column", 2000, _interaction,
          _both(lambda people: people["x3"] * people["x2"] > -0.5), given={"x3": ["x2"]}),
    World("interaction of two flags", 1000, _flags,
          _both(lambda people: people["first"] + people["second"] != 1)),
    World("the same, given the other flag", 1000, _flags,
          _both(lambda people: people["first"] + people["second"] != 1),
          given={"second": ["first"]}),
)  # fmt: skip


@dataclass(frozen=True)
class Figures:
    """What audits of many samples of one world found."""

    world: str
    n: int
    samples: int
    innocent: bool
    true_flips: float
    mean_statistic: float
    gate_open: float
    rejected: dict[str, float]
    above_truth: float


def draw_labels(rng: np.random.Generator, world: World, people: pd.DataFrame) -> np.ndarray:
    """Return true labels: merit and noise."""
    noise = rng.normal(0, 0.7, len(people))
    return (world.merit(people.fillna(0)) + noise > 0).astype(int).to_numpy()


def find_true_flips(world: World) -> float:
    """Return the share of people judged rightly who would not be in the other group."""
    if world.innocent:
        return 0.0
    rng = np.random.default_rng(1)
    _, people, other = world.draw(rng, TRUTH_PEOPLE)
    labels = draw_labels(rng, world, people)
    right = world.model(people) == labels
    return float((right & (world.model(other) != labels)).mean())


def audit_sample(world: World, seed: int) -> ft.AuditResult:
    """Return the audit of one sample."""
    rng = np.random.default_rng([seed, 5])
    groups, people, _ = world.draw(rng, world.n)
    features = list(people.columns)
    data = people.assign(group=groups.astype(str), label=draw_labels(rng, world, people))
    return ft.audit(
        data, "label", model=world.model, features=features, sensitive_features="group",
        missing="level", delta=0.01, rng=seed,
        similarity=ft.similarity.Counterparts(legitimate=world.legitimate, given=world.given),
    )  # fmt: skip


def simulate(world: World, samples: int = SAMPLES) -> Figures:
    """Return the figures of a world."""
    truth = find_true_flips(world)
    results = [audit_sample(world, seed) for seed in range(samples)]
    applies = [result.verdict != "not-applicable" for result in results]
    bounds = np.array([result.lower_bound for result in results])
    for result, bound, there in zip(results, bounds, applies, strict=True):
        rejected = there and bound > 0.01
        assert (result.verdict == "rejected") == rejected, (world.name, result.verdict, bound)
        assert result.verdict != "certified", world.name
    return Figures(
        world.name, world.n, samples, world.innocent, round(truth, 4),
        round(float(np.mean([result.statistic for result in results])), 4),
        float(np.mean(applies)),
        {f"{delta:g}": float((bounds > delta).mean()) for delta in DELTAS},
        float((bounds > truth).mean()),
    )  # fmt: skip


def measure_gate_level(samples: int = 10_000, n: int = 200, columns: int = 6) -> float:
    """Return how often the gate opens where all columns are independent of the group.

    Scores are of normal columns, and groups are shuffled within four cells of levels.
    """
    from fairtransport.similarity.column_kinds import ColumnKind, score_column

    opened = 0
    for seed in range(samples):
        rng = np.random.default_rng([seed, 3])
        cells = rng.integers(0, 4, n)
        kind = ColumnKind("x", "number")
        blocks = [score_column(kind, rng.normal(size=n) + cells) for _ in range(columns)]
        groups = (rng.random(n) < 0.2 + 0.15 * cells).astype(np.int64)
        tests = run_gate(prepare_scores(blocks, cells, None), groups, cells, 399, rng)
        opened += min(test.pvalue for test in tests) <= 0.025
    return opened / samples


def main(path: Path, *names: str) -> None:
    """Write the figures of the worlds, one after the other, or renew those of some."""
    if names:
        figures = json.loads(path.read_text("utf-8"))
    else:
        figures = {"worlds": [], "gate_level": {"samples": 10_000, "opened": measure_gate_level()}}
    rows = {row["world"]: row for row in figures["worlds"]}
    for world in WORLDS:
        if names and world.name not in names:
            continue
        rows[world.name] = asdict(simulate(world))
        figures["worlds"] = [rows[one.name] for one in WORLDS if one.name in rows]
        path.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
