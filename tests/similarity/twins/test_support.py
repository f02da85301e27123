"""What made-up people may look like where the fitting data do not show all there is."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.similarity import ComparablePairs, MixedTabular, SensitiveSubspace
from fairtransport.similarity.twins import Twins, propose, steps_for
from fairtransport.space import build_space

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


def fitted(frame):
    # as an audit does it, which says whether values may be missing
    return SensitiveSubspace(["group"], fit_share=0.5).fit(frame)


def proposed(like, frame, budget):
    """Return each person's twins by the person's height, which nobody else has."""
    space = build_space(frame, sensitive_features="group", missing="level")
    making = like.making(space)
    steps = steps_for(making, twins := Twins(per_person=40, plausibility=0), budget, 0)
    found = propose(making, space, steps, twins, budget, 0)
    names = [*found.columns]
    rows = zip(*(found.columns[name].to_list() for name in names), strict=True)
    own = space.columns["height"].to_list()
    by_person = {}
    for person, row in zip(found.person.tolist(), rows, strict=True):
        by_person.setdefault(own[person], []).append(dict(zip(names, row, strict=True)))
    return by_person


def test_who_has_a_level_of_their_own_keeps_it_or_takes_one_that_is_known():
    like, later = fitted(people(300, 0)), people(40, 1, jobs=("cook", "clerk", "pilot", "smith"))
    jobs = dict(zip(later["height"], later["job"], strict=True))
    known = {"cook", "clerk"}
    taken = {}
    for height, twins in proposed(like, later, 20.0).items():
        taken.setdefault(jobs[height], set()).update(twin["job"] for twin in twins)

    assert taken["cook"] | taken["clerk"] == known
    assert taken["pilot"] == known | {"pilot"}
    assert taken["smith"] == known | {"smith"}


@pytest.mark.parametrize("budget", [0.0, 0.5])
def test_a_missing_number_stays_missing_and_others_stay_there(budget):
    like, later = fitted(people(300, 0)), people(40, 1)
    later.loc[:4, "kids"] = None  # nobody of the fitting data lacks it
    gone = {
        name: dict(zip(later["height"], later[name].isna(), strict=True))
        for name in ("income", "kids")
    }
    found = proposed(like, later, budget)

    assert found or not budget
    for height, twins in found.items():
        for name, missing in gone.items():
            assert {twin[name] is None for twin in twins} == {missing[height]}
        assert all(type(twin["kids"]) in (int, type(None)) for twin in twins)


@pytest.mark.parametrize("budget", [0.0, 0.5])
def test_a_persons_twins_do_not_depend_on_what_others_have_that_is_new(budget):
    like, later = fitted(people(300, 0)), people(40, 1)
    others = later.assign(job=["pilot", "smith"] * 10 + [*later["job"][20:]])
    others.loc[0, "kids"] = None
    alone, beside = proposed(like, later, budget), proposed(like, others, budget)

    for height in later["height"][20:]:
        assert alone.get(height) == beside.get(height)


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
    with pytest.raises(ft.DataError, match="'job' has the level 'pilot', which the data of `fit`"):
        like.transform(frame)


def test_where_levels_are_learned_pair_by_pair_a_new_one_is_refused():
    first, second = people(60, 0)[["height", "job"]], people(60, 1)[["height", "job"]]
    alike = (abs(first["height"] - second["height"]) < 8).astype(int)
    like = ComparablePairs().fit((first, second), alike)
    frame = pd.DataFrame({"group": "a", "height": [165.0, 170.0], "job": ["pilot", "cook"]})

    with pytest.raises(ft.DataError, match="'job' has the level 'pilot', which the data of `fit`"):
        like.geometry(build_space(frame, sensitive_features="group"))


def test_the_advised_audit_runs_on_rare_levels_dates_and_missing_numbers():
    frame = people(500, 2, jobs=["cook"] * 30 + [f"rare {at}" for at in range(20)])
    rng = np.random.default_rng(3)
    days = pd.to_timedelta(rng.integers(0, 400, 500), unit="D")
    frame = frame.assign(since=pd.Timestamp("2020-01-01") + days, good=1)
    found = ft.audit(
        frame, "good", model=lambda x: (x["height"] > 165).astype(int), budget=0.1,
        features=[*FEATURES, "since"], sensitive_features="group", delta=0.02, missing="level",
        similarity=SensitiveSubspace(["group"], fit_share=0.3), rng=0,
    )  # fmt: skip

    assert found.verdict == "rejected"
    for name in ("job", "since"):
        (said,) = (one for one in found.warnings if f"a value of {name!r} that nobody has" in one)
        assert said.endswith("it counts as different from every other.")
        assert int(said.split()[0]) < found.n
    shared = " ".join(found.document(10).warnings)
    assert "a value of 'job' that nobody has" in shared
    assert "rare" not in shared


def tall(points):
    return (points["height"] > 165).astype(int)


def test_who_has_a_level_of_their_own_is_as_plausible_as_others():
    """The model does not look at jobs, and what it does is found as well among pilots."""
    names = ["height", "job", "kids"]
    like = SensitiveSubspace(["group"]).fit(people(3000, 0)[["group", *names]])
    cooks, pilots = (
        ft.audit(people(400, 1).assign(good=1, job=job), "good", model=tall, features=names,
                 sensitive_features="group", similarity=like, budget=0.05, delta=0.15, rng=0)
        for job in ("cook", "pilot")
    )  # fmt: skip

    assert cooks.verdict == pilots.verdict == "rejected"
    assert pilots.statistic == pytest.approx(cooks.statistic, abs=0.05)
    assert pilots.made.implausible <= cooks.made.implausible + 0.1 * cooks.made.proposed


def test_very_many_new_levels_take_no_room_where_people_meet_their_own_twins():
    like = SensitiveSubspace(["group"]).fit(people(300, 0)[["group", "height", "job"]])
    later = people(3000, 1).assign(job=[f"job {at}" for at in range(3000)], good=1)
    found = ft.audit(
        later, "good", model=tall, features=["height", "job"], sensitive_features="group",
        similarity=like, budget=0.05, rng=0,
    )  # fmt: skip

    assert found.points > 50_000
    assert found.problem.geometry.searchable is None
    assert like.embed(found.space).shape[1] <= 4


def test_too_many_new_levels_of_people_who_meet_each_other_are_one_sentence():
    like = SensitiveSubspace(["group"]).fit(people(300, 0)[["group", "height", "job"]])
    later = people(12_000, 1).assign(job=[f"job {at}" for at in range(12_000)], good=1)

    with pytest.raises(ft.DataError, match="the column 'job' has 12,000 levels at 24,000 points"):
        ft.audit(later, "good", model=tall, features=["height", "job"], similarity=like, rng=0,
                 sensitive_features="group", twins="observed")  # fmt: skip


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
        ft.audit(table(audited).assign(good=1), "good", model=tall, features=["height", "code"],
                 sensitive_features="group", similarity=like, budget=0.1, rng=0)  # fmt: skip


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_numbers_that_no_float_holds_stay_what_they_are(kind):
    rng = np.random.default_rng(0)
    base = 2**60 if kind == "int64" else 2**63

    def accounts(n):
        return people(n, int(rng.integers(100)))[["group", "height"]].assign(
            account=np.array([base + int(at) for at in rng.integers(0, 10**9, n)], kind)
        )

    like, later = fitted(accounts(300)), accounts(40)
    own = dict(zip(later["height"], later["account"].tolist(), strict=True))
    found = proposed(like, later, 0.5)
    kept = [twin["account"] == own[height] for height, twins in found.items() for twin in twins]

    assert all(type(twin["account"]) is int for twins in found.values() for twin in twins)
    assert sum(kept) > 40  # steps of the height alone


def test_a_missing_number_is_not_taken_for_the_mean_of_the_fitting_data():
    frame = pd.DataFrame({"group": ["a", "b"] * 50, "x": [-1.0, 0.0, 1.0, 0.0] * 25})
    like = SensitiveSubspace(["group"]).fit(frame)
    later = frame.assign(x=frame["x"].where(frame["x"] != 0))
    space = build_space(later, sensitive_features="group", missing="level")

    assert not like.support_.is_of(space)
    assert like.support_.is_of(build_space(frame, sensitive_features="group"))
    said = like.warnings(space)
    assert said[0].startswith("50 of 100 people have the same x as someone in the data")
    assert said[1].startswith("50 of 100 people have a value of 'x' that nobody has")


def test_a_scale_for_what_was_no_number_is_a_sentence():
    frame = people(100, 0)[["group", "height", "job"]]
    like = MixedTabular(scales={"height": 5, "job": 1}).fit(frame)
    with pytest.raises(ft.DataError, match="'job' has a scale, but no numbers in the data of"):
        ft.audit(frame.assign(good=1, job=1.0), "good", model=tall, features=["height", "job"],
                 sensitive_features="group", similarity=like, budget=0.1, rng=0)  # fmt: skip


def test_new_levels_do_not_hide_that_people_were_fitted_on():
    """Half of the audited people are those of the fit; others have levels of their own."""
    frame = people(200, 0)[["group", "height", "job"]]
    like = SensitiveSubspace(["group"]).fit(frame)
    others = people(100, 1)[["group", "height"]].assign(job=[f"job {at}" for at in range(100)])
    both = build_space(pd.concat([frame, others]), sensitive_features="group")
    alone = build_space(others, sensitive_features="group")

    assert like.support_.is_from(both)
    assert not like.support_.is_from(alone)
    assert (like.support_.count_alike(both), like.support_.count_alike(alone)) == (200, 0)
