"""Rates by group among people alike: equal to brute force, in the file's own words."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

import fairtransport as ft
from fairtransport.cli.entry_point import main
from fairtransport.report import render
from fairtransport.report.sections.rates import NO_SIZE, NOTHING_SHOWN, decision_lines
from fairtransport.report.terminal import result_text
from fairtransport.report.text import percent

LABELS = ["declined", "approved"]


def draw_people(seed, n=900, effect=0.0):
    """Decisions that depend on two columns, on a group by some effect, and on chance."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({
        "ethnicity": rng.choice(["White", "Black", "Asian"], n, p=[0.55, 0.35, 0.1]),
        "sex": rng.choice(["Female", "Male"], n), "age": rng.integers(0, 5, n),
        "income": rng.integers(0, 4, n),
    })  # fmt: skip
    share = 0.2 + 0.1 * people["income"] + effect * (people["ethnicity"] == "Black")
    people["decision"] = np.where(rng.random(n) < share, *LABELS)
    people["repaid"] = rng.choice(LABELS, n)
    return people


def compare_by_hand(people, feature, alike, value):
    """Return people and rates of each group and of the largest, by group-bys."""
    reference = people[feature].value_counts().index[0]
    cells = people.assign(value=value).groupby([*alike, feature])["value"].agg(["size", "mean"])
    table = {}
    for group in people[feature].unique():
        if group != reference:
            others = cells.xs(reference, level=feature).add_suffix("_r")
            both = cells.xs(group, level=feature).join(others, how="inner")
            weight = both["size"] / both["size"].sum()
            table[group] = (
                both["size"].sum(), (weight * both["mean"]).sum(), both["size_r"].sum(),
                (weight * both["mean_r"]).sum(),
            )  # fmt: skip
    return reference, table


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("measure", ["decision", "error"])
def test_rates_are_those_of_group_bys(seed, measure):
    people = draw_people(seed, 400)
    features = ["ethnicity", "sex", "age", "income"]
    y = "repaid" if measure == "error" else None
    result = ft.audit(people, y, y_pred="decision", features=features, favourable="approved",
                      sensitive_features=["ethnicity", "sex"], rng=0)  # fmt: skip
    people["both"] = people["ethnicity"] + ", " + people["sex"]
    value = people["decision"] == "declined"
    if measure == "error":
        value = people["decision"] != people["repaid"]
    truth = [] if y is None else [y]

    tables = [one for one in result.rates.by_group if one.measure == measure]
    assert [one.features for one in tables] == [("ethnicity",), ("sex",), ("ethnicity", "sex")]
    for table, column, held in zip(
        tables, ["ethnicity", "sex", "both"], [["sex"], ["ethnicity"], []], strict=True
    ):
        alike = [*held, "age", "income", *truth]
        reference, expected = compare_by_hand(people, column, alike, value)
        assert sorted(table.alike) == sorted(alike)
        assert ", ".join(table.reference.values()) == reference
        assert {", ".join(one.group.values()) for one in table.groups} == set(expected)
        for one in table.groups:
            numbers = (one.people, one.rate, one.reference_people, one.reference_rate)
            assert numbers == pytest.approx(expected[", ".join(one.group.values())])
        groups = people.groupby(alike)[column].transform("nunique")
        assert table.people == (groups > 1).sum()


@pytest.fixture(scope="module")
def unequal():
    people = draw_people(0, 2400, effect=0.3).drop(columns="repaid")
    return ft.audit(people, y_pred="decision", favourable="approved", rng=0, delta=0.02,
                    sensitive_features=["ethnicity", "sex"])  # fmt: skip


def test_the_first_screen_speaks_the_words_of_the_file(unequal):
    lines = decision_lines(unequal.summary)
    first = unequal.rates.by_group[0]
    pair = first.groups[0]

    assert first.worst == {"ethnicity": "Black"}
    assert lines[0] == (
        f"Declined, among people with equal sex, age and income: Black {100 * pair.rate:.1f} %, "
        f"White {100 * pair.reference_rate:.1f} % ({pair.people:,} and "
        f"{pair.reference_people:,} people compared)."
    )
    limit = (
        "most often among people with equal age and income, at most 2 more people in 100 may get"
    )
    assert f"if everyone were treated like the group that gets “declined” {limit}" in " ".join(
        lines
    )
    (established,) = [one for one in lines if one.startswith("Found")]
    least = float(established.split("at least ")[1].split(",")[0]) / 100
    assert 0.02 < least <= unequal.lower_bound < least + 0.001
    assert "sex not shown" in " ".join(lines)
    assert not any(" p " in one for one in lines)
    text = " ".join(lines)
    for word in ("ψ", "statistic", "mean prediction", "outcome", "worse", "100 %."):
        assert word not in text


def test_differences_that_cancel_are_named():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 1000), "job": rng.choice(["a", "b"], 1000)}
    )
    likely = np.where((people["sex"] == "f") == (people["job"] == "a"), 0.8, 0.2)
    people["decision"] = np.where(rng.random(1000) < likely, *LABELS)
    result = ft.audit(
        people, y_pred="decision", favourable="approved", sensitive_features="sex", rng=0
    )
    text = " ".join(decision_lines(result.summary))

    assert result.lower_bound > 0.2
    assert "This is more than the difference between the groups above" in text
    assert "may depend on job, and differences then cancel in the rates by group" in text


def audit_combinations(effects, seed=5, n=8000):
    """Audit people who are declined more often by some share if of a sex and a race."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({
        "sex": rng.choice(["f", "m"], n), "race": rng.choice(["A", "B"], n),
        "band": rng.choice(["low", "mid", "high"], n),
    })  # fmt: skip
    more = pd.Series(0.0, people.index)
    for (sex, race), effect in effects.items():
        more[(people["sex"] == sex) & (people["race"] == race)] = effect
    people["decision"] = np.where(rng.random(n) < 0.3 + more, *LABELS)
    return ft.audit(people, y_pred="decision", favourable="approved", rng=0, delta=0.05,
                    sensitive_features=["sex", "race"])  # fmt: skip


@pytest.mark.parametrize(
    ("effects", "worst"),
    [({("f", "A"): 0.3}, "f and A"), ({("f", "B"): 0.2, ("m", "A"): 0.2}, "f and B")],
)
def test_a_combination_of_groups_that_fares_worst_is_named_first(effects, worst):
    result = audit_combinations(effects)
    first, *lines = decision_lines(result.summary)
    pair = result.rates.by_group[-1].groups[0]
    gaps = [abs(one.groups[0].difference) for one in result.rates.by_group[:-1]]

    assert result.lower_bound > max(gaps)  # features alone do not show what was found
    assert abs(pair.difference) > result.rates.value
    assert first.startswith(f"Declined, among people with equal band: {worst} ")
    assert "This is less than the largest difference between the groups above" in " ".join(lines)
    assert "cancel" not in " ".join(lines)


def test_a_combination_comes_last_where_one_feature_explains_what_was_found(unequal):
    lines = decision_lines(unequal.summary)
    heads = [one.split(":")[0] for one in lines if one.startswith("Declined")]
    alike = "Declined, among people with equal"

    assert heads == [f"{alike} sex, age and income", f"{alike} ethnicity, age and income",
                     f"{alike} age and income"]  # fmt: skip
    nothing = decision_lines(audit_combinations({}).summary)
    assert any(one.startswith(NOTHING_SHOWN) for one in nothing)
    assert sum(one.startswith("Declined") for one in nothing) == 2


def test_the_gap_that_the_estimate_is_compared_with_is_one_of_the_screen(unequal):
    (found,) = [one for one in decision_lines(unequal.summary) if one.startswith("Found")]
    tables = unequal.rates.by_group
    largest = max(abs(one.difference) for table in tables for one in table.groups)

    assert ("less than the largest difference between the groups above" in found) == (
        unequal.rates.value < largest
    )
    hidden = replace(unequal.summary.rates, by_group=tables[1:2])  # sex alone, of no effect
    text = " ".join(decision_lines(replace(unequal.summary, rates=hidden)))
    assert "less than" not in text
    assert "This is more than the difference between the groups above" in text


def test_other_groups_stand_beside_the_reference_people_like_them(unequal):
    table = unequal.rates.by_group[0]
    asian = next(one for one in table.groups if one.group == {"ethnicity": "Asian"})
    text = (
        f"Other groups, each beside White with equal values: Asian {percent(asian.rate)} beside "
        f"{percent(asian.reference_rate)} ({asian.people} and {asian.reference_people:,})."
    )

    assert text in decision_lines(unequal.summary)
    people = draw_people(0, 600)[["ethnicity", "decision"]]
    alone = ft.audit(people, y_pred="decision", favourable="approved", rng=0,
                     sensitive_features="ethnicity")  # fmt: skip
    (others,) = [one for one in decision_lines(alone.summary) if one.startswith("Other groups")]
    assert others.startswith("Other groups: ")
    assert "White" not in others  # its rate is the same in every comparison


@pytest.mark.parametrize("share_at_least", [None, 5])
def test_a_limit_that_nothing_could_exceed_is_said_first(share_at_least):
    people = draw_people(7, 900).drop(columns="repaid")
    call = dict(y_pred="decision", favourable="approved", sensitive_features="sex", rng=0)
    approved = (people["decision"] == "approved").mean()
    beyond, within = (
        ft.audit(people, features=["age"], delta=delta, **call).document(share_at_least)
        for delta in (approved + 0.001, approved - 0.001)
    )
    first = decision_lines(beyond)[0]

    assert beyond.verdict == within.verdict == "inconclusive"
    assert first.startswith("A limit of ")
    assert first.endswith(" more people in 100 can get “declined”.")
    if share_at_least is None:
        assert f"at most {100 * approved:.1f}".removesuffix(".0") in first
    for form in ("html", "markdown"):
        text = render(beyond, form)
        assert first in text
        assert "can show that the limit is exceeded" not in text
        assert "larger sample" not in text
        assert "mean loss can rise" not in text
        assert "can show that the limit is exceeded" in render(within, form)
    assert within.rates.largest_possible is None
    screen = " ".join(result_text(beyond, "people").split())
    assert screen.index(first) < screen.index("Declined, among people with equal")


def test_a_family_says_in_a_note_that_nothing_could_exceed_a_limit():
    people = draw_people(7, 300).drop(columns="repaid")
    family = ft.audit_many(
        people, y_pred="decision", favourable="approved", rng=0, delta=0.9,
        audits={"by sex": {"sensitive_features": "sex"},
                "by ethnicity": {"sensitive_features": "ethnicity"}},
    )  # fmt: skip

    assert any(
        one.startswith("No model could be over the limit δ = 0.9")
        for one in family.summary.warnings
    )


def test_without_a_favourable_decision_both_are_named_and_none_is_better():
    people = draw_people(4, 600, effect=0.3)
    result = ft.audit(people, "repaid", y_pred="decision", sensitive_features="ethnicity", rng=0,
                      features=["age", "income"])  # fmt: skip
    text = " ".join(decision_lines(result.summary))

    assert "Declined, among people with equal" in text
    assert "Approved, among people with equal" in text
    assert all(one.worst is None for one in result.rates.by_group if one.measure == "decision")
    for word in ("better", "worse"):
        assert word not in text


def test_several_decisions_numbers_and_flags():
    people = draw_people(5, 600)
    people.loc[people.index % 5 == 0, "decision"] = "postponed"
    call = dict(sensitive_features="sex", features=["age"], rng=0)
    several = ft.audit(people, y_pred="decision", favourable="approved", **call)
    score = np.linspace(0, 1, 600)
    number = ft.audit(people, y_pred=score, loss="outcome", loss_range=(0, 1), **call)
    people["yes"] = people["decision"] == "declined"
    flag = ft.audit(people, y_pred="yes", favourable=False, **call)

    assert decision_lines(several.summary)[0].startswith(
        "Not approved, among people with equal age:"
    )
    assert decision_lines(number.summary)[0].startswith("Mean prediction, among people with equal")
    mean = pd.Series(score).groupby(people["sex"]).mean().to_numpy()
    assert number.rates.by_group[0].groups[0].rate == pytest.approx(mean.min(), abs=0.05)
    assert decision_lines(flag.summary)[0].startswith("yes = True, among people with equal age:")


def test_rates_of_few_people_are_not_shared(unequal):
    shared = unequal.document(5).rates

    assert [one.features for one in shared.by_group] == [("ethnicity",), ("sex",)]
    for table, exact in zip(shared.by_group, unequal.rates.by_group, strict=False):
        assert table.people % 10 == 0
        by_name = {str(one.group): one for one in exact.groups}
        for one in table.groups:
            assert one.people % 10 == one.reference_people % 10 == 0
            assert one.rate == pytest.approx(by_name[str(one.group)].rate, abs=0.1)
    assert unequal.document(400).rates.by_group == ()
    assert decision_lines(unequal.document(400))[0].startswith("Your limit")


def make_pairs(profiles, people, wrong):
    """So many men and women of each profile; women of the first profiles get an error."""
    rows = [
        {"sex": sex, "job": f"job {job:02d}", "good": 1, "guess": int(sex == "m" or job >= wrong)}
        for job in range(profiles)
        for sex in "fm"
        for _ in range(people)
    ]
    return pd.DataFrame(rows)


PAIRS = dict(y="good", y_pred="guess", sensitive_features="sex", features=["job"])


def test_a_declaration_makes_the_bound_sharp():
    """R = ψ = .2 in 40 people: .103 if answers are declared a function, else about .003."""
    people = make_pairs(5, 4, 2)
    declared = ft.audit(people, **PAIRS, rng=0, delta=0.1, deterministic=True)
    bounds = [ft.audit(people, **PAIRS, rng=seed).lower_bound for seed in range(40)]

    assert declared.statistic == declared.rates.value == pytest.approx(0.2)
    assert declared.lower_bound == declared.rates.lower_bound == pytest.approx(0.1036, abs=5e-4)
    assert declared.verdict == "rejected"
    assert np.mean(bounds) == pytest.approx(0.003, abs=5e-4)
    assert declared.rates.pvalue is None
    assert declared.summary.method == "finite-sample"
    assert "declared to depend on these columns only" in " ".join(decision_lines(declared.summary))


def test_coins_that_look_like_a_function_are_not_taken_for_one():
    rng = np.random.default_rng(0)
    people = make_pairs(200, 1, 0).assign(guess=rng.integers(0, 2, 400))
    result = ft.audit(people, **PAIRS, rng=0, delta=0.02)

    assert result.disagreement == 0
    assert result.statistic > 0.2
    assert (result.verdict, result.lower_bound) == ("inconclusive", 0)
    assert not result.rates.deterministic
    # whoever declares it answers for it
    assert ft.audit(people, **PAIRS, rng=0, delta=0.02, deterministic=True).verdict == "rejected"


def test_a_declaration_that_the_data_contradict_is_refused():
    people = make_pairs(10, 2, 4)
    people.loc[0, "guess"] = 1 - people.loc[0, "guess"]
    with raises(ft.InputError, "`deterministic` must not be declared where equal people have"):
        ft.audit(people, **PAIRS, deterministic=True)
    with raises(ft.InputError, "`deterministic` is for given predictions"):
        ft.audit(people, "good", model=lambda x: (x["sex"] == "m").astype(int), deterministic=True,
                 features=["sex", "job"], sensitive_features="sex")  # fmt: skip
    with raises(ft.InputError, "`deterministic` must be True or False"):
        ft.audit(people, **PAIRS, deterministic="yes")


def test_families_and_comparisons_take_the_declaration():
    people = make_pairs(10, 2, 4).assign(new=1)
    common = dict(sensitive_features="sex", features=["job"], deterministic=True, rng=0)
    family = ft.audit_many(
        people, "good", **common, delta=0.05,
        audits={"old": {"y_pred": "guess"}, "plain": {"y_pred": "guess", "deterministic": False}},
    )  # fmt: skip
    compared = ft.compare(people, "good", y_pred={"old": "guess", "new": "new"}, **common)

    assert family["old"].lower_bound > family["plain"].lower_bound
    assert compared.summary.models[0].lower > 0.05
    assert "at worst" not in compared.to_markdown()
    assert "For given predictions there are lower bounds only: old 0.0" in (compared.to_markdown())
    people.loc[0, "new"] = 0
    with raises(ft.InputError, "`deterministic` must not be declared"):
        ft.compare(people, "good", y_pred={"old": "guess", "new": "new"}, **common)


def test_the_command_line_takes_decisions_without_outcomes(tmp_path, capsys):
    people = draw_people(6, 800).drop(columns="repaid")
    people.to_csv(tmp_path / "lending.csv", index=False)
    line = f"audit {tmp_path}/lending.csv --prediction decision --sensitive sex,ethnicity --seed 0"
    words = [*line.split(), "--json", f"{tmp_path}/audit.json"]

    assert main([*words, "--favourable", "approved", "--delta", "0.05"]) == 0
    screen = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "Declined, among people with equal" in screen
    assert NOTHING_SHOWN in screen
    document = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert document["rates"]["by_group"][0]["decision"] == "declined"
    assert main(words) == 2
    assert "`--favourable` must be given: the decision" in capsys.readouterr().err
    assert main([*words, "--favourable", "approved", "--deterministic"]) == 2
    assert "`--deterministic` must not be declared where" in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_is_established_of_innocent_decisions():
    """Decisions that do not depend on the group: at most 5 % of samples, with their error."""
    alarms = 0
    for seed in range(200):
        people = draw_people(1000 + seed, 300).drop(columns="repaid")
        result = ft.audit(people, y_pred="decision", favourable="approved", rng=seed,
                          sensitive_features=["ethnicity", "sex"])  # fmt: skip
        text = " ".join(decision_lines(result.headline))
        alarm = "Found: " in text
        assert alarm == (result.lower_bound > 0)
        assert alarm or NO_SIZE in text or NOTHING_SHOWN in text
        alarms += alarm
    assert alarms <= 16  # the 97.5 % quantile of a binomial of 200 at 5 %
