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
def test_fitted_on_other_people_there_is_one(similarity):
    result = audited(similarity.fit(draw(200, 1)))

    assert result.verdict == "certified"
    assert result.upper_bound < 0.9
    assert not any("depends on the sample" in one for one in result.warnings)
