"""The order of moves, and what a result prints as."""

import numpy as np
import pandas as pd

import fairtransport as ft

RNG = np.random.default_rng(4)
PEOPLE = pd.DataFrame({
    "sex": RNG.choice(["f", "m"], 200), "race": RNG.choice(["a", "b", "c"], 200),
    "age": RNG.integers(0, 4, 200), "good": RNG.integers(0, 2, 200),
})  # fmt: skip


def score(points):
    """A model that says less of women, and of race c by age."""
    return (
        0.7 - 0.3 * (points["sex"] == "f") - 0.1 * (points["race"] == "c") * points["age"]
    ).clip(0, 1)


def audited(**more):
    call = dict(
        model=score, sensitive_features=["sex", "race"], loss="outcome", loss_range=(0, 1), rng=0
    )
    return ft.audit(PEOPLE[["sex", "race", "age"]], **(call | more))


def test_moves_come_in_the_order_of_what_they_add():
    moved = audited().moved
    added = moved.people * moved.gains

    assert (np.diff(added) <= 1e-9).all()
    assert not (np.diff(moved.people) <= 0).all()


def test_a_result_prints_as_its_verdict():
    result = audited(delta=0.05)
    said = str(result).splitlines()

    assert said[0].startswith("OVER THE LIMIT   ")
    assert said[4].startswith("Predictions would be up to ")
    text = " ".join(str(result).split())
    assert "Your limit: the mean prediction may rise by at most 0.05 if everybody" in text
    assert f"Found: {result.statistic:.4f}. In the population: at least " in text
    # without a limit there is none to tell of
    assert not any("limit:" in line for line in str(audited()).splitlines())


def test_many_values_of_a_sensitive_number_are_pointed_out():
    people = PEOPLE.assign(age=RNG.integers(20, 80, 200))
    few = audited(sensitive_features="age")
    many = ft.audit(
        people[["sex", "age"]], model=lambda points: points["age"] / 100, rng=0,
        sensitive_features="age", loss="outcome", loss_range=(0, 1),
    )  # fmt: skip

    assert not any("group of its own" in one for one in few.warnings)
    assert any("The sensitive feature age has" in one and "bins['age']" in one
               for one in many.warnings)  # fmt: skip
