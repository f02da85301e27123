"""Made-up twins in an audit: what they are asked for, what they show, where there can be none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import fairtransport as ft
from fairtransport.similarity import MixedTabular, SensitiveSubspace

ASKED = {"sensitive_features": "sex", "delta": 0.02, "rng": 0}


def draw(n, seed, **further):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    height = rng.normal(np.where(sex == "m", 180, 170), 5)
    return pd.DataFrame({
        "sex": sex, "height": height, "grade": rng.normal(size=n), "mark": rng.normal(size=n),
        "good": 1, **{name: one(rng, n) for name, one in further.items()},
    })  # fmt: skip


def by_grade(points):
    return (points["grade"] > 0).astype(int)


def test_what_a_model_is_told_and_does_not_use_is_no_part_of_what_needs_it():
    """Answers are the same with the sex and without it, and so is what needs it to change."""
    like = SensitiveSubspace(["sex"]).fit(draw(500, 1).drop(columns="good"))
    with_it, without = (
        ft.audit(draw(500, 2), "good", model=by_grade, features=features, similarity=like,
                 budget=0.1, judge="attributable", **ASKED)
        for features in (["sex", "height", "grade", "mark"], ["height", "grade", "mark"])
    )  # fmt: skip

    assert with_it.statistic == pytest.approx(without.statistic)
    assert with_it.statistic > 0.1
    assert with_it.attributable.value == pytest.approx(without.attributable.value, abs=0.005)
    assert with_it.attributable.verdict == without.attributable.verdict != "rejected"


@pytest.mark.slow
def test_what_a_model_uses_is_found_beside_it():
    like = SensitiveSubspace(["sex"]).fit(draw(500, 1).drop(columns="good"))
    found = ft.audit(
        draw(500, 2), "good", model=lambda points: by_grade(points) * (points["sex"] == "m"),
        features=["sex", "height", "grade", "mark"], similarity=like, judge="attributable",
        budget=0.1, **ASKED,
    )  # fmt: skip

    assert found.attributable.verdict == "rejected"


def whole_numbers(n=300):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], n)
    kids, age = rng.poisson(np.where(sex == "m", 3, 1)), rng.integers(20, 60, n)
    return pd.DataFrame({"sex": sex, "kids": kids, "age": age, "good": (age > 40).astype(int)})


def by_kids(points):
    return ((points["age"] > 40) & (points["kids"] > 1)).astype(int)


def test_an_audit_in_which_nobody_has_a_twin_can_be_read(tmp_path):
    found = ft.audit(
        whole_numbers(), "good", model=by_kids, features=["kids", "age"],
        similarity=SensitiveSubspace(["sex"], fit_share=0.3), **ASKED,
    )  # fmt: skip

    assert found.verdict == "not-applicable"
    assert "nobody has a made-up twin" in str(found)
    assert "Nobody has a made-up twin" in found.to_markdown()
    assert found.to_html(tmp_path / "a.html").exists()


@pytest.mark.parametrize("twins", ["generate", "search"])
@pytest.mark.parametrize("similarity", ["subspace", "mixed"])
def test_columns_that_never_differ_have_no_twins(similarity, twins):
    same = draw(300, 3).assign(height=180.0, grade=1.0, job="x")
    like = SensitiveSubspace(["sex"], fit_share=0.3)
    if similarity == "mixed":
        like = MixedTabular(scales={"grade": 1}, mismatch={"job": 0}).fit(same)
    with pytest.raises(ft.InputError, match=f'twins="{twins}"` needs columns in which people may'):
        ft.audit(same, "good", model=by_grade, features=["grade", "job"], similarity=like,
                 twins=twins, **ASKED)  # fmt: skip


def test_people_who_must_be_alike_in_everything_meet_observed_ones():
    like = MixedTabular(exact=["height", "grade"]).fit(draw(300, 4))
    found = ft.audit(draw(300, 3), "good", model=by_grade, features=["height", "grade"],
                     similarity=like, budget=0.05, **ASKED)  # fmt: skip

    assert found.made is None
    assert found.statistic == 0


def test_numbers_that_are_codes_stay_codes():
    def codes(rng, n):
        return rng.choice([10115, 20095, 80331], n)

    people, others = draw(300, 3, code=codes), draw(300, 4, code=codes)
    names = ["height", "grade", "code"]
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="error"), ["code"]), remainder="passthrough"
        ),
        LogisticRegression(),
    ).fit(others[names], others["grade"] > 0)
    like = MixedTabular(scales={"height": 5, "grade": 1}, mismatch={"code": 0.2}).fit(others)
    found = ft.audit(people.assign(good=people["grade"] > 0), "good", model=model,
                     similarity=like, budget=0.1, **ASKED)  # fmt: skip

    assert found.target_scope == "twins"
    assert set(found.space.columns["code"].levels.tolist()) == {10115, 20095, 80331}


def test_both_kinds_of_people_set_aside_are_told_of():
    found = ft.audit(
        whole_numbers(), "good", model=by_kids, features=["kids", "age"], budget=0.05,
        similarity=SensitiveSubspace(["sex"], fit_share=0.3), twins="search", **ASKED,
    )  # fmt: skip
    (said,) = (one for one in found.warnings if "set aside to fit" in one)
    fitted_on = int(said.split()[0])

    assert fitted_on + found.made.aside + found.n == 300
    assert said.endswith(f"the audit is of {found.n} others.")


def test_too_few_people_to_set_some_aside_are_a_sentence_with_the_setting():
    with pytest.raises(ft.InputError, match="`fit_share` must leave some people to audit"):
        ft.audit(draw(2, 0), "good", model=by_grade, features=["height", "grade"],
                 similarity=SensitiveSubspace(["sex"], fit_share=0.01), **ASKED)  # fmt: skip


def test_who_is_outside_a_range_goes_no_farther_out():
    others = draw(300, 4, kids=lambda rng, n: rng.integers(0, 11, n))
    people = draw(300, 3, kids=lambda rng, n: rng.integers(0, 11, n).astype(float))
    people.loc[:20, "kids"] = 12.6
    most = []

    def model(points):
        most.append(points["kids"].max())
        return by_grade(points)

    like = SensitiveSubspace(["sex"]).fit(others.drop(columns=["good", "mark"]))
    ft.audit(people, "good", model=model, features=["height", "grade", "kids"], similarity=like,
             budget=0.05, **ASKED)  # fmt: skip

    assert max(most) == 12.6


def test_a_column_of_the_fitting_data_that_is_not_audited_is_a_sentence():
    like = SensitiveSubspace(["sex"]).fit(draw(300, 4).drop(columns="good"))
    with pytest.raises(ft.InputError, match="fitted on the column 'mark', which the audit's"):
        ft.audit(draw(300, 3), "good", model=by_grade, features=["height", "grade"],
                 similarity=like, budget=0.05, **ASKED)  # fmt: skip


TYPES = {"height": "float32", "grade": "float64", "mark": "int8", "points": "uint8"}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_model_is_asked_in_the_types_of_the_data(library):
    def typed(n, seed):
        people = draw(n, seed, points=lambda rng, n: rng.integers(0, 250, n))
        people = people.assign(mark=(people["mark"] * 5).round())
        return people.drop(columns="sex").astype(TYPES), people[["sex"]]

    asked = []

    def model(points):
        asked.append({name: str(points[name].dtype).lower() for name in TYPES})
        return np.asarray(points["height"] > 175).astype(int)

    (fitting, sexes), (people, others) = typed(300, 1), typed(200, 2)
    like = SensitiveSubspace(["sex"]).fit(fitting.drop(columns="good").join(sexes))
    table = people.join(others)
    found = ft.audit(
        table if library == "pandas" else pl.from_pandas(table), "good", model=model,
        features=[*TYPES], similarity=like, budget=0.1, **ASKED,
    )  # fmt: skip

    assert found.statistic > 0.3
    assert len(found.space.made_up.twin) > 1000
    assert {name: {one[name] for one in asked} for name in TYPES} == {
        name: {kind} for name, kind in TYPES.items()
    }


@pytest.mark.parametrize("budget", [0.0, 0.1])
def test_proposals_add_up(budget):
    """Whole numbers: several steps lead to the same twin, which is one pair."""
    people, others = whole_numbers(300), whole_numbers(400).iloc[300:]
    like = SensitiveSubspace(["sex"]).fit(others.drop(columns="good"))
    made = ft.audit(people, "good", model=by_kids, features=["kids", "age"], similarity=like,
                    budget=budget, **ASKED).summary.made_twins  # fmt: skip

    assert made.twins == made.proposed - made.equal - made.costly - made.implausible
    assert (made.twins > 0) == (budget > 0)


def test_pairs_at_other_sensitive_levels_are_told_apart_from_proposals():
    people, others = draw(200, 3), draw(300, 4)
    like = SensitiveSubspace(["sex"]).fit(others.drop(columns="good"))
    found = ft.audit(people, "good", model=by_grade, similarity=like, budget=0.05,
                     features=["sex", "height", "grade", "mark"], **ASKED)  # fmt: skip
    made = found.summary.made_twins
    more = made.twins - (made.proposed - made.equal - made.costly - made.implausible)

    assert more == 200
    assert f"a twin, {more} of them at other sensitive levels alone." in found.to_markdown()
