"""Fitted similarities where the fitting data do not show all there is, and people held out."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.data import build_space
from fairtransport.similarity import ComparablePairs, SensitiveSubspace

FEATURES = ["height", "job", "income", "kids"]


def people(n, seed, jobs=("cook", "clerk")):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    return pd.DataFrame({
        "group": group,
        "height": 160 + 10 * (group == "b") + 5 * rng.normal(size=n),
        "job": rng.choice(jobs, n),
        "income": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 10, n)),
        "kids": pd.array(rng.poisson(2, n), "Int64"),
    })  # fmt: skip


def tall(points):
    return (points["height"] > 165).astype(int)


def test_a_level_that_is_new_is_as_far_from_all_others_as_a_level_is():
    like = SensitiveSubspace(["group"]).fit(people(300, 0)[["group", "height", "job"]])
    frame = pd.DataFrame({"group": "a", "height": 165.0, "job": ["pilot", "smith", "cook"]})
    space = build_space(frame, sensitive_features="group")
    costs = like.geometry(space).costs(np.arange(3), np.arange(3))
    place = {job: at for at, job in enumerate(space.columns["job"].to_list())}
    # what height tells of the group is taken out, and hardly any of the job
    to_known = costs[place["pilot"], place["cook"]]

    assert costs[place["pilot"], place["smith"]] == pytest.approx(1)
    assert 0.5 <= to_known <= 1
    assert costs[place["smith"], place["cook"]] == pytest.approx(to_known)
    with pytest.raises(ft.DataError, match="'job' has the value 'pilot', which is not in the data"):
        like.transform(frame)


def test_where_levels_are_learned_pair_by_pair_a_new_one_is_refused():
    first, second = people(60, 0)[["height", "job"]], people(60, 1)[["height", "job"]]
    alike = (abs(first["height"] - second["height"]) < 8).astype(int)
    like = ComparablePairs().fit((first, second), alike)
    frame = pd.DataFrame({"group": "a", "height": [165.0, 170.0], "job": ["pilot", "cook"]})

    with pytest.raises(ft.DataError, match="'job' has the value 'pilot', which is not in the data"):
        like.geometry(build_space(frame, sensitive_features="group"))


def test_people_can_be_held_out_with_rare_levels_dates_and_missing_numbers():
    frame = people(500, 2, jobs=["cook"] * 30 + [f"rare {at}" for at in range(20)])
    rng = np.random.default_rng(3)
    days = pd.to_timedelta(rng.integers(0, 400, 500), unit="D")
    frame = frame.assign(since=pd.Timestamp("2020-01-01") + days, good=1)
    found = ft.audit(
        frame, "good", model=lambda x: (x["height"] > 165).astype(int), budget=0.1,
        features=[*FEATURES, "since"], sensitive_features="group", delta=0.02, missing="level",
        similarity=SensitiveSubspace(["group"], hold_out=0.3), rng=0,
    )  # fmt: skip

    assert found.verdict == "rejected"
    for name in ("job", "since"):
        (said,) = (one for one in found.warnings if f"a value of {name} that does not occur" in one)
        assert said.endswith("It counts as different from every other value.")
        assert int(said.split()[0]) < found.n
    shared = " ".join(found.document(10).warnings)
    assert "a value of job that does not occur" in shared
    assert "rare" not in shared


def test_too_many_new_levels_of_people_who_meet_each_other_are_one_sentence():
    like = SensitiveSubspace(["group"]).fit(people(300, 0)[["group", "height", "job"]])
    later = people(12_000, 1).assign(job=[f"job {at}" for at in range(12_000)], good=1)

    with pytest.raises(ft.DataError, match="'job' has 12,000 values in 24,000 different rows"):
        ft.audit(later, "good", model=tall, features=["height", "job"], similarity=like, rng=0,
                 sensitive_features="group")  # fmt: skip


@pytest.mark.parametrize(
    ("fitted_on", "audited", "got"),
    [
        (["1", "2", "A"], [1, 2, 3], r"\(text\), got 1"),
        ([True, False, True], ["yes", "no", "no"], r"\(truth values\), got 'no'"),
        (
            pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"]),
            pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"], utc=True),
            r"\(times\), got .*2020",
        ),
    ],
)
def test_levels_of_another_kind_than_in_the_fitting_data_are_refused(fitted_on, audited, got):
    def table(values):
        return pd.DataFrame({
            "group": ["a", "b", "b"] * 20, "height": np.arange(60.0), "code": [*values] * 20,
        })  # fmt: skip

    like = SensitiveSubspace(["group"]).fit(table(fitted_on))
    with pytest.raises(ft.DataError, match=f"'code' must hold what it holds in .* {got}"):
        ft.audit(table(audited).assign(good=1), "good", model=lambda x: (x["height"] > 30) * 1,
                 features=["height", "code"], sensitive_features="group", similarity=like,
                 budget=0.1, rng=0)  # fmt: skip


def test_a_missing_number_is_not_taken_for_the_mean_of_the_fitting_data():
    frame = pd.DataFrame({"group": ["a", "b"] * 50, "x": [-1.0, 0.0, 1.0, 0.0] * 25})
    like = SensitiveSubspace(["group"]).fit(frame)
    later = frame.assign(x=frame["x"].where(frame["x"] != 0))
    space = build_space(later, sensitive_features="group", missing="level")

    (own,) = like.warnings(build_space(frame, sensitive_features="group"))
    assert own.startswith("The similarity was fitted on all 100 people of the audit data.")
    said = like.warnings(space)
    assert said[0].startswith("50 of 100 people have the same x as a person in the data")
    assert said[1].startswith("50 of 100 people have a value of x that does not occur")


def test_new_levels_do_not_hide_that_people_were_fitted_on():
    """Half of the audited people are those of the fit; others have levels of their own."""
    frame = people(200, 0)[["group", "height", "job"]]
    like = SensitiveSubspace(["group"]).fit(frame)
    others = people(100, 1)[["group", "height"]].assign(job=[f"job {at}" for at in range(100)])
    both = build_space(pd.concat([frame, others]), sensitive_features="group")
    alone = build_space(others, sensitive_features="group")

    assert like.warnings(both)[0].startswith("200 of 300 people have the same height, job as")
    assert not any("have the same" in said for said in like.warnings(alone))


def heights(n, seed):
    """People whose height tells their group, and whose mark does not."""
    return people(n, seed)[["group", "height"]].assign(
        mark=np.random.default_rng(seed).normal(size=n), good=1
    )


def held_out(frame, share, **settings):
    return ft.audit(
        frame, "good", model=tall, features=["height", "mark"], sensitive_features="group",
        similarity=SensitiveSubspace(["group"], hold_out=share), rng=0, **settings,
    )  # fmt: skip


def test_people_held_out_are_not_audited_and_are_told_of():
    found = held_out(heights(300, 3), 0.3, budget=0.05)
    (said,) = (one for one in found.warnings if "held out to fit" in one)

    assert int(said.split()[0]) + found.n == 300
    assert 60 < int(said.split()[0]) < 120
    assert said.endswith(f"The audit is of the other {found.n} people.")
    assert found.similarity.is_fitted


def test_too_few_people_to_hold_some_out_are_a_sentence_with_the_setting():
    with pytest.raises(ft.InputError, match="`hold_out` must leave some people to fit on"):
        held_out(heights(2, 0), 0.01)


def test_a_column_of_the_fitting_data_that_is_not_audited_is_a_sentence():
    like = SensitiveSubspace(["group"]).fit(heights(300, 4).drop(columns="good"))
    with pytest.raises(ft.InputError, match="fitted on the column 'mark', which is not among the"):
        ft.audit(heights(300, 3), "good", model=tall, features=["height"], similarity=like,
                 sensitive_features="group", budget=0.05, rng=0)  # fmt: skip
