"""Between which levels the worse treatment goes, and the order of moves."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audit.summarise import summarise_headline
from fairtransport.localise import find_directions
from fairtransport.report.direction_words import direction_sentence
from fairtransport.report.screen import print_result

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


def test_directions_add_up_the_moves():
    result = audited()
    moves = result.moves
    by_hand = {}
    for name in ("sex", "race"):
        for _, row in moves.iterrows():
            ends = row[f"from_{name}"], row[f"to_{name}"]
            if ends[0] != ends[1]:
                people, added = by_hand.get((name, *ends), (0.0, 0.0))
                gain = row["people"] * (row["loss_after"] - row["loss"]) / 200
                by_hand[name, *ends] = people + row["people"], added + gain
    found = find_directions(result.moved, result.space)

    assert {(one.feature, one.better, one.worse) for one in found} == set(by_hand)
    for one in found:
        people, added = by_hand[one.feature, one.better, one.worse]
        assert one.people == pytest.approx(people)
        assert one.contribution == pytest.approx(added)
    contributions = [one.contribution for one in found]
    assert contributions == sorted(contributions, reverse=True)
    # higher predictions are those of men
    assert (found[0].feature, found[0].better, found[0].worse) == ("sex", "f", "m")


def test_the_screen_names_the_direction(capsys):
    print_result(summarise_headline(audited()), "people")
    screen = " ".join(capsys.readouterr().out.replace("│", " ").split())

    assert "By sex: predictions are higher for m than for similar people of f, which adds" in screen
    assert "(the other way round: nothing)" in screen
    assert "Sensitive sex, race" in screen
    assert "Loss outcome" in screen


def label(points):
    """A model that denies women a loan, and grants one to men of race c whatever they are."""
    grants = (points["sex"] == "m") & ((points["age"] > 1) | (points["race"] == "c"))
    return grants.astype(int)


def test_a_denial_is_not_a_favour():
    result = ft.audit(
        PEOPLE, "good", model=label, features=["sex", "race", "age"], favourable=1, rng=0,
        sensitive_features=["sex", "race"], privileged={"sex": "m"},
    )  # fmt: skip
    moves = result.moves
    added = moves["people"] * (moves["loss_after"] - moves["loss"]) / 200
    for one in result.summary.directions:
        these = (moves[f"from_{one.feature}"] == one.better) & (
            moves[f"to_{one.feature}"] == one.worse
        )
        denied = these & (moves["prediction"] == 1) & (moves["prediction_after"] == 0)
        granted = these & (moves["prediction"] == 0) & (moves["prediction_after"] == 1)
        assert one.harmful == pytest.approx(added[denied].sum())
        assert one.lenient == pytest.approx(added[granted].sum())
        assert one.harmful + one.lenient == pytest.approx(one.contribution)
    by_sex = {(one.better, one.worse): one for one in result.summary.directions
              if one.feature == "sex"}  # fmt: skip
    # women are denied what men get; men are granted what women do not get
    assert by_sex["m", "f"].harmful > by_sex["m", "f"].lenient == 0
    assert by_sex["f", "m"].lenient > by_sex["f", "m"].harmful == 0
    page = result.to_markdown()
    assert "1 is denied to them, which similar people get" in page
    assert "Lenient" in page
    shared = result.document(5)
    assert all(one.harmful is not None for one in shared.directions)


def test_without_a_favourable_label_nothing_is_called_harmful():
    assert all(one.harmful is None for one in audited().summary.directions)


def test_strangers_are_told_of_the_moves_shown():
    shared = audited().document(5)

    assert shared.directions
    assert all(one.people % 5 == 0 for one in shared.directions)


def test_moves_come_in_the_order_of_what_they_add():
    moved = audited().moved
    added = moved.people * moved.gains

    assert (np.diff(added) <= 1e-9).all()
    assert not (np.diff(moved.people) <= 0).all()


def test_a_result_prints_as_its_verdict():
    result = audited(delta=0.05)
    said = str(result).splitlines()

    assert said[0].startswith("δ-fairness rejected at level 5 %")
    assert said[1].startswith("The mean prediction would rise from")
    assert said[2] == repr(result)
    # without a range there are no bounds to tell of
    open_one = audited(loss_range=None)
    assert str(open_one) == repr(open_one)


def test_many_values_of_a_sensitive_number_are_pointed_out():
    people = PEOPLE.assign(age=RNG.integers(20, 80, 200))
    few = audited(sensitive_features="age")
    many = ft.audit(
        people[["sex", "age"]], model=lambda points: points["age"] / 100, rng=0,
        sensitive_features="age", loss="outcome",
    )  # fmt: skip

    assert not any("group of its own" in one for one in few.warnings)
    assert any("The sensitive feature age has" in one and "bins['age']" in one
               for one in many.warnings)  # fmt: skip


def test_a_large_group_is_not_called_better_off_for_its_size(capsys):
    """Half of each group is misclassified, and would not be as the other."""
    people = pd.DataFrame({"sex": ["m"] * 900 + ["f"] * 100, "good": [0, 1] * 500})
    result = ft.audit(
        people, "good", model=lambda x: (x["sex"] == "m").astype(int), features=["sex"],
        sensitive_features="sex", rng=0,
    )  # fmt: skip
    print_result(summarise_headline(result), "people")
    screen = " ".join(capsys.readouterr().out.replace("│", " ").split())

    assert [one.per_person for one in find_directions(result.moved, result.space)] == [0.5, 0.5]
    assert "people of m would fare worse as similar people of f, which adds 0.4500" in screen
    assert "the other way round: 0.0500" in screen


def by_race(names):
    """A model that treats two of three races alike, whatever they are called."""
    rng = np.random.default_rng(0)
    race, income = rng.choice(3, 600), rng.integers(0, 6, 600)
    people = pd.DataFrame({"race": np.array([*names])[race], "income": income})
    return ft.audit(
        people.assign(good=rng.integers(0, 2, 600)), "good", features=["race", "income"], rng=0,
        model=lambda x: ((x["income"] > 2) & (x["race"] == names[0])).astype(int),
        sensitive_features="race", delta=0.05,
    )  # fmt: skip


def test_who_is_treated_worse_does_not_hang_on_names():
    one, other = by_race("abc"), by_race("acb")
    first, same = (result.summary.directions[0] for result in (one, other))
    said, again = (direction_sentence(result.summary) for result in (one, other))

    assert (first.better, first.worse, same.better, same.worse) == ("b", "a", "c", "a")
    assert first.contribution == same.contribution
    assert first.back_at_most == pytest.approx(same.back_at_most)
    assert said.startswith("By race: people of b would fare worse as similar people of a, which ")
    assert again.startswith("By race: people of c would fare worse as similar people of a, which ")
    # those of a have two targets that are as bad, and the first by name is taken
    assert said.endswith("(the other way round: 0.0717).")
    assert again.endswith("(the other way round: up to 0.0717, as targets are tied).")


def test_where_nobody_can_go_back_it_is_said_who_is_treated_worse():
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"race": rng.choice(list("abc"), 300), "good": 1})
    result = ft.audit(
        people, "good", model=lambda x: (x["race"] == "a").astype(int), features=["race"],
        sensitive_features="race", rng=0,
    )  # fmt: skip

    assert not result.solution.plan_is_unique
    assert result.summary.directions[0].back_at_most == 0
    assert direction_sentence(result.summary).startswith(
        "By race: the model does worse for b than for similar people of a, which adds "
    )


def test_with_a_budget_ties_leave_open_what_goes_back():
    moved = by_race("abc").moved
    with_budget = find_directions(moved, by_race("abc").space)

    assert {one.back_at_most for one in with_budget} == {None}


@pytest.mark.parametrize("seed", range(8))
def test_the_most_that_goes_back_is_that_of_the_best_targets_one_by_one(seed):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(rng.integers(0, 3, (120, 4)), columns=["race", "sex", "job", "good"])
    people["good"] %= 2
    worth = rng.integers(0, 2, (3, 3, 3))
    result = ft.audit(
        people, "good", model=lambda x: worth[x["race"], x["sex"], x["job"]], rng=0,
        sensitive_features=["race", "sex"],
    )  # fmt: skip
    moved, codes = result.moved, result.space.columns["race"].codes
    most = np.zeros((3, 3))
    for source, many, gain in zip(moved.sources, moved.people, moved.gains, strict=True):
        reached = np.unique(codes[result.problem.best_targets(0.0, source)])
        most[codes[source], reached] += many * gain / 120

    found = [one for one in result.summary.directions if one.feature == "race"]
    assert found
    for one in found:
        assert one.back_at_most == pytest.approx(most[one.worse, one.better])
