"""Twins that were made to look like the audited people themselves certify nothing."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft


def draw(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    height = rng.normal(np.where(sex == "m", 180, 170), 5)
    return pd.DataFrame({"sex": sex, "height": height, "grade": rng.normal(size=n)})


SIMILARITIES = [
    ft.similarity.SensitiveSubspace(["sex"]),
    ft.similarity.MixedTabular(scales={"height": 10, "grade": 2}),
]


def audited(similarity):
    cases = draw(200, 0).assign(good=lambda people: (people["grade"] > 0).astype(int))
    return ft.audit(
        cases, "good", similarity=similarity, features=["height", "grade"], budget=0.05, delta=0.9,
        model=lambda points: ((points["grade"] > 0) & (points["height"] > 165)).astype(int),
        sensitive_features="sex", twins=ft.similarity.Twins("generate", per_person=8), rng=0,
    )  # fmt: skip


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=lambda one: one.name)
def test_fitted_on_the_audit_data_there_is_no_upper_bound(similarity):
    result = audited(similarity.fit(draw(200, 0)))

    assert result.upper_bound == np.inf
    assert result.verdict == "inconclusive"
    assert any("Which twins there are then depends on the sample" in one for one in result.warnings)


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=lambda one: one.name)
@pytest.mark.parametrize("own", [199, 150])
def test_nor_where_most_of_them_are_audited(similarity, own):
    some = pd.concat([draw(200, 0)[:own], draw(100, 1)])
    result = audited(similarity.fit(some))

    assert result.upper_bound == np.inf
    assert result.verdict == "inconclusive"


def test_people_who_look_alike_by_chance_are_others():
    def few(n, seed):
        rng = np.random.default_rng(seed)
        sex = rng.choice(["f", "m"], n)
        shoe = rng.integers(40, 44, n) + 2 * (sex == "m")
        return pd.DataFrame({"sex": sex, "shoe": shoe, "mark": rng.integers(1, 5, n)})

    like = ft.similarity.SensitiveSubspace(["sex"]).fit(few(300, 1))
    result = ft.audit(
        few(400, 2).assign(good=1), "good", similarity=like, features=["shoe", "mark"], budget=0.1,
        model=lambda points: (points["shoe"] > 41).astype(int), sensitive_features="sex", rng=0,
    )  # fmt: skip

    assert result.target_scope == "twins"
    assert result.upper_bound < 1


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=lambda one: one.name)
def test_fitted_on_other_people_there_is_one(similarity):
    result = audited(similarity.fit(draw(200, 1)))

    assert result.verdict == "certified"
    assert result.upper_bound < 0.9
    assert not any("depends on the sample" in one for one in result.warnings)
