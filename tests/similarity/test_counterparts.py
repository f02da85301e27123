"""Gate and maps of counterparts, against independent computations."""

import datetime as dt
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.errors import FairtransportError
from fairtransport.similarity.column_kinds import ColumnKind, score_column
from fairtransport.similarity.counterpart_gate import (
    _shuffle_groups,
    find_detectable_shift,
    prepare_scores,
    run_gate,
)
from fairtransport.similarity.counterpart_maps import Uniforms, couple_codes


def draw(n=1500, seed=0):
    """People with columns of all kinds, most of which depend on the sex."""
    rng = np.random.default_rng(seed)
    is_man = rng.random(n) < 0.5
    job = np.where(rng.random(n) < 0.5, np.where(is_man, "a", "b"), rng.choice(list("abc"), n))
    days = rng.integers(0, 3000, n) + 800 * is_man
    return pd.DataFrame(
        {
            "sex": np.where(is_man, "m", "f"),
            "height": (167 + 13 * is_man + rng.normal(0, 6, n)).round(1),
            "noise": rng.normal(size=n),
            "band": pd.Categorical(
                np.array(["low", "mid", "high"])[np.clip(rng.integers(0, 3, n) + is_man, 0, 2)],
                ["low", "mid", "high"], ordered=True,
            ),
            "flag": rng.random(n) < np.where(is_man, 0.7, 0.2),
            "gain": np.where(rng.random(n) < np.where(is_man, 0.4, 0.1), 5 + days, 0),
            "day": [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in days],
            "job_a": (job == "a").astype(int),
            "job_b": (job == "b").astype(int),
            "job_c": (job == "c").astype(int),
            "short": pd.Series(np.where(rng.random(n) < 0.1, np.nan, is_man + rng.normal(size=n))),
        }
    )  # fmt: skip


PEOPLE = draw()


def draw_alike(kind, n=2000, seed=3):
    """People with two columns that go together in one way for women and in another for men."""
    rng = np.random.default_rng(seed)
    is_man, first = rng.random(n) < 0.5, rng.integers(0, 3, n)
    second = (first + np.where(is_man, 1, 0) + (rng.random(n) < 0.1)) % 3
    names = {"text": list("abc"), "number": [0, 1, 2], "flag": [0, 1, 1]}[kind]
    columns = {"first": np.array(names)[first], "second": np.array(names)[second]}
    return pd.DataFrame({"sex": np.where(is_man, "m", "f"), **columns, "own": rng.normal(size=n)})


@pytest.mark.parametrize("kind", ["text", "number", "flag"])
def test_given_columns_show_what_depends_on_the_group_in_another_way_for_each_of_their_values(kind):
    people = draw_alike(kind)
    alone = ft.similarity.Counterparts(["sex"]).fit(people)
    given = ft.similarity.Counterparts(["sex"], given={"second": ["first"]}).fit(people)
    if kind != "flag":  # whose second value is also more frequent in one group
        assert not alone.gate_["moves"].any()
    assert given.gate_[given.gate_["moves"]]["column"].tolist() == ["second"]
    # counterparts go together as people of the other group do
    own, others = counterparts_of(given, people)
    women = (own["sex"] == "f").to_numpy()
    for of_women in (True, False):
        made = others[women == of_women]
        real = people[people["sex"] == ("m" if of_women else "f")]
        shares = pd.crosstab(made["first"], made["second"], normalize="index")
        true_shares = pd.crosstab(real["first"], real["second"], normalize="index")
        assert (shares - true_shares).abs().max().max() < 0.08


def test_given_columns_leave_the_level_of_the_gate():
    """Columns of levels that are independent of the group jointly, given others or not."""
    opened = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 7])
        people = pd.DataFrame({name: rng.choice(list("pqrs"), 300) for name in ("a", "b", "c")})
        people["sex"] = rng.choice(["f", "m"], 300)
        given = {"a": ["b"], "c": ["b"]}
        similarity = ft.similarity.Counterparts(["sex"], given=given).fit(people)
        opened += bool(similarity.gate_["moves"].any())
    assert opened <= 14  # 2.5 % of 200 and more than three binomial errors, P < .001


@pytest.fixture(scope="module")
def fitted():
    return ft.similarity.Counterparts(["sex"]).fit(PEOPLE)


def counterparts_of(similarity, people):
    """Return people and their counterparts, row by row."""
    from fairtransport.data import build_space

    space = similarity.add_counterparts(
        build_space(people, sensitive_features=["sex"], missing="level", label_matters=False)
    )
    frame = space.frame(library="pandas").assign(family=space.families, count=space.counts)
    own, other = frame[space.counts > 0], frame[space.counts == 0]
    return own.set_index("family").sort_index(), other.set_index("family").sort_index()


def test_the_gate_moves_what_depends_and_nothing_else(fitted):
    gate = fitted.gate_.set_index("column")
    assert not gate.loc["noise", "moves"]
    assert gate.drop(index="noise")["moves"].all()
    assert set(gate.index) == {"height", "noise", "band", "flag", "gain", "day", "job", "short"}


def test_counterparts_have_the_laws_of_the_other_group(fitted):
    others = draw(4000, 1)
    own, moved = counterparts_of(fitted, others)
    assert (own["noise"] == moved["noise"]).all()
    assert (own["sex"] != moved["sex"]).all()
    for group in "fm":
        real, made = others[others["sex"] == group], moved[moved["sex"] == group]
        assert made["height"].mean() == pytest.approx(real["height"].mean(), abs=0.6)
        assert made["flag"].mean() == pytest.approx(real["flag"].mean(), abs=0.05)
        assert (made["gain"] > 0).mean() == pytest.approx((real["gain"] > 0).mean(), abs=0.05)
        assert made["job_a"].mean() == pytest.approx(real["job_a"].mean(), abs=0.06)
        for level in ("low", "mid", "high"):
            share = (real["band"] == level).mean()
            assert (made["band"] == level).mean() == pytest.approx(share, abs=0.06)
    # at most one job, missing stays missing, days stay days, women never fall in height
    assert (moved[["job_a", "job_b", "job_c"]].sum(axis=1) == 1).all()
    assert (own["short"].isna() == moved["short"].isna()).all()
    assert all(type(day) is dt.date for day in moved["day"])
    women = own["sex"] == "f"
    assert (moved.loc[women, "height"] >= own.loc[women, "height"]).mean() > 0.99
    order = {"low": 0, "mid": 1, "high": 2}
    steps = moved["band"].map(order).astype(int) - own["band"].map(order).astype(int)
    assert (steps[women] >= 0).all()
    assert (steps[~women] <= 0).all()


def test_legitimate_columns_stay_and_explain_others():
    people = PEOPLE.assign(again=PEOPLE["flag"].astype(float) + draw(seed=5)["noise"])
    alone = ft.similarity.Counterparts(["sex"]).fit(people).gate_.set_index("column")
    among = ft.similarity.Counterparts(["sex"], legitimate=["flag"]).fit(people)
    gate = among.gate_.set_index("column")
    assert alone.loc["again", "moves"]
    assert not gate.loc["again", "moves"]
    assert "flag" not in gate.index
    own, moved = counterparts_of(among, people)
    assert (own["flag"] == moved["flag"]).all()


def test_columns_that_say_the_same_move_as_one():
    people = PEOPLE[["sex", "band"]].assign(number=PEOPLE["band"].cat.codes + 1)
    own, moved = counterparts_of(ft.similarity.Counterparts(["sex"]).fit(people), people)
    assert (own["band"] != moved["band"]).any()
    assert (moved["band"].astype(str).map({"low": 1, "mid": 2, "high": 3}) == moved["number"]).all()


def test_same_ranks_and_fewest_changes_are_the_couplings_of_transport():
    from scipy.stats import wasserstein_distance

    rng = np.random.default_rng(0)
    n, size = 200_000, 4
    own, other = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
    codes = rng.choice(size, n, p=own)
    uniforms = Uniforms(rng.random(n), rng.random(n), rng.random(n))
    laws = np.tile(own, (n, 1)), np.tile(other, (n, 1))
    ordered = couple_codes(codes, *laws, uniforms, is_ordered=True)
    levels = couple_codes(codes, *laws, uniforms, is_ordered=False)
    for new in (ordered, levels):
        assert np.bincount(new, minlength=size) / n == pytest.approx(other, abs=0.01)
    codes_of = np.arange(size)
    cost = wasserstein_distance(codes_of, codes_of, own, other)
    assert np.abs(ordered - codes).mean() == pytest.approx(cost, abs=0.01)
    assert (levels != codes).mean() == pytest.approx(np.abs(own - other).sum() / 2, abs=0.01)


def test_the_gate_is_the_permutation_test_of_scipy():
    from scipy.stats import permutation_test

    rng = np.random.default_rng(4)
    groups = np.r_[np.zeros(14, int), np.ones(16, int)]
    values = rng.normal(size=30) + 0.6 * groups
    scores = prepare_scores(
        [score_column(ColumnKind("x", "number"), values)], np.zeros(30, int), None
    )

    def statistic(sample):
        sums = [scores[0][sample == group].sum(axis=0) for group in (0, 1)]
        return sum((one**2).sum() / (groups == group).sum() for group, one in enumerate(sums))

    (test,) = run_gate(scores, groups, np.zeros(30, int), 4999, rng)
    reference = permutation_test(
        (groups,), statistic, permutation_type="pairings", alternative="greater",
        n_resamples=4999, rng=rng,
    )  # fmt: skip
    assert test.statistic == pytest.approx(statistic(groups))
    assert test.pvalue == pytest.approx(reference.pvalue, abs=0.03)


def test_groups_are_shuffled_within_cells():
    from fairtransport.similarity.counterpart_gate import _shuffle_groups

    rng = np.random.default_rng(0)
    cells, groups = rng.integers(0, 5, 200), rng.integers(0, 3, 200).astype(np.int8)
    (shuffled,) = _shuffle_groups(groups, cells, 50, rng)
    for cell in range(5):
        expected = np.sort(groups[cells == cell])
        assert (np.sort(shuffled[:, cells == cell], axis=1) == expected).all()


def draw_units(rng, units=40, *, mixed=False):
    """Draw units of one to four rows that share a score; groups are shared, or differ inside."""
    unit = np.repeat(np.arange(units), rng.integers(1, 5, units))
    score = rng.normal(size=units)[unit]
    share = rng.beta(0.3, 0.3, units) if mixed else rng.integers(2, size=units)
    groups = (rng.random(len(unit)) < share[unit]).astype(np.int64)
    score += 0.5 * mixed * rng.normal(size=len(unit))
    # in the worst order: inside units by group
    order = np.lexsort((groups, unit))
    return unit[order], score[order, None], groups[order]


@pytest.mark.parametrize("mixed", [False, True])
def test_the_gate_keeps_its_level_with_units(mixed):
    rng, samples, level = np.random.default_rng(1), 200, 0.05
    opened = np.zeros(2)
    for _ in range(samples):
        units, score, groups = draw_units(rng, mixed=mixed)
        cells = np.zeros(len(units), np.int64)
        scores = prepare_scores([score], cells, None)
        for at, own in enumerate((units, None)):
            opened[at] += run_gate(scores, groups, cells, 99, rng, own)[0].pvalue <= level
    error = np.sqrt(level * (1 - level) / samples)
    assert opened[0] / samples < level + 3 * error
    assert opened[1] / samples > level + 3 * error  # rows are no units


def test_the_gate_with_units_is_the_test_over_all_deals():
    rng = np.random.default_rng(0)
    sizes = [2, 2, 2, 2, 3, 3, 3, 1]
    units = np.repeat(np.arange(len(sizes)), sizes)
    score, groups = rng.normal(size=(len(units), 1)), rng.integers(2, size=len(units))
    # one group a unit, so that the order inside units does not matter
    groups = groups[np.searchsorted(units, units)]
    cells = np.zeros(len(units), np.int64)
    scores = prepare_scores([score], cells, None)
    values, sizes = scores[0][:, 0], np.array(sizes)

    def statistic(dealt):
        """Return the sum over groups of squared sums, divided by group sizes."""
        codes = np.repeat(dealt, sizes)
        return sum(values[codes == one].sum() ** 2 / (codes == one).sum() for one in (0, 1))

    own = groups[np.searchsorted(units, np.arange(len(sizes)))]
    deals = [
        [*own[list(twos)], *own[list(threes)], own[7]]
        for twos in permutations(range(4)) for threes in permutations(range(4, 7))
    ]  # fmt: skip
    exact = np.mean([statistic(deal) >= statistic(own) - 1e-9 for deal in deals])
    (test,) = run_gate(scores, groups, cells, 4000, rng, units)
    assert test.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000) + 1e-3)
    assert test.null_mean == pytest.approx(np.mean([statistic(deal) for deal in deals]), rel=0.1)


def test_groups_of_a_unit_are_dealt_among_units_alike_in_cells():
    units = np.repeat(np.arange(5), [2, 2, 2, 2, 1])
    cells = np.array([0, 1, 1, 0, 0, 0, 0, 0, 1])
    groups = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8], np.int8)
    (dealt,) = _shuffle_groups(groups, cells, 400, np.random.default_rng(0), units)
    at_cell = [{*dealt[:, rows].ravel().tolist()} for rows in ([0, 3], [1, 2], [4, 5, 6, 7], [8])]
    assert at_cell == [{0, 3}, {1, 2}, {4, 5, 6, 7}, {8}]
    for first, second, pairs in ((0, 1, {(0, 1), (3, 2)}), (3, 2, {(0, 1), (3, 2)})):
        assert {*map(tuple, dealt[:, [first, second]].tolist())} == pairs
    pairs = {*map(frozenset, dealt[:, [4, 5]].tolist()), *map(frozenset, dealt[:, [6, 7]].tolist())}
    assert pairs == {frozenset({4, 5}), frozenset({6, 7})}


@pytest.mark.parametrize("explained", [False, True])
def test_the_detectable_shift_is_seen_about_as_often_as_it_says(explained):
    rng, seen = np.random.default_rng(0), 0
    groups, cells = np.arange(300) % 2, np.zeros(300, int)
    if explained:  # two in three are in cells of one group and tell nothing
        cells = np.where(np.arange(300) < 100, 2, groups)
    shift = find_detectable_shift(groups, cells, 5, 0.025)
    for _ in range(100):
        columns = [rng.normal(size=300) + shift * groups * (at == 0) for at in range(5)]
        blocks = [score_column(ColumnKind("x", "number"), one) for one in columns]
        tests = run_gate(prepare_scores(blocks, cells, None), groups, cells, 999, rng)
        seen += tests[0].pvalue <= 0.025
    assert 65 <= seen <= 92


@pytest.mark.parametrize(
    ("settings", "people", "message"),
    [
        ({"legitimate": ["sex"]}, PEOPLE, "`legitimate` must not hold sensitive features"),
        ({"legitimate": ["wealth"]}, PEOPLE, "`legitimate` must name columns .* got 'wealth'"),
        ({"legitimate": ["height"]}, PEOPLE[["sex", "height"]], "must leave columns that could"),
        ({"given": {"flag": ["wealth"]}}, PEOPLE, "`given` must name columns .* got 'wealth'"),
        ({"given": {"flag": ["flag"]}}, PEOPLE, "`given` must map columns that can move"),
        ({"given": ["flag"]}, PEOPLE, "`given` must map columns to columns"),
        ({"fit_share": 1.0}, PEOPLE, "`fit_share` must be"),
        ({"level": 0}, PEOPLE, "`level` must be"),
        ({}, PEOPLE.head(30), "at least 20 people of each group, got 1"),
        ({}, PEOPLE[PEOPLE["sex"] == "f"], "two groups or more, got one of 'sex'"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(settings, people, message):
    with pytest.raises(FairtransportError, match=message):
        ft.similarity.Counterparts(["sex"], **settings).fit(people)


def test_small_shifts_of_whole_numbers_move_as_many_people_as_they_should():
    from scipy.stats import poisson

    def draw_counts(seed, n=8000):
        """Return people whose number of visits is .65 larger, at the same rank, for men."""
        rng = np.random.default_rng(seed)
        is_man, rank = rng.random(n) < 0.5, rng.random(n)
        visits = poisson.ppf(rank, 20 + 0.65 * is_man).astype(int)
        return pd.DataFrame({"sex": np.where(is_man, "m", "f"), "visits": visits})

    own, moved = counterparts_of(ft.similarity.Counterparts(["sex"]).fit(draw_counts(0)),
                                 draw_counts(1))  # fmt: skip
    women = own["sex"] == "f"
    steps = (moved["visits"] - own["visits"])[women]
    assert steps.mean() == pytest.approx(0.65, abs=0.25)
    assert set(steps) >= {0, 1}
    assert (steps > 0).mean() == pytest.approx(0.65, abs=0.2)
    # what is recorded in steps of five stays so
    fives = [one.assign(visits=5 * one["visits"]) for one in (draw_counts(0), draw_counts(1))]
    _, moved = counterparts_of(ft.similarity.Counterparts(["sex"]).fit(fives[0]), fives[1])
    assert (moved["visits"] % 5 == 0).all()


def test_a_column_of_one_value_cannot_move_and_is_named():
    people = PEOPLE[["sex", "height"]].assign(country="x")
    result = ft.audit(
        people.assign(good=(people["height"] > 175).astype(int)), "good",
        model=lambda asked: (asked["height"] > 170).astype(int),
        features=["height", "country"], sensitive_features="sex", similarity="counterparts", rng=0,
    )  # fmt: skip
    assert any("all have the same country" in note for note in result.warnings)


def test_a_person_is_explained_in_a_sentence(fitted):
    person = PEOPLE.iloc[[0]]
    sentence = fitted.explain(person)
    other = "f" if person["sex"].iloc[0] == "m" else "m"
    assert sentence.startswith(f"The same person as typically recorded with sex {other}: height ")
    assert sentence.endswith("all else equal.")
    with pytest.raises(FairtransportError, match="`person` must be one person, got 2"):
        fitted.explain(PEOPLE.head(2))
    assert "height" in fitted.describe()
