"""What a similarity calls comparable, in words and figures."""

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.data.columns import CodedColumn
from fairtransport.similarity import Custom, IgnoreSensitive, MixedTabular, SensitiveSubspace, check

RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame({
    "sex": RNG.choice(["f", "m"], 200), "age": RNG.integers(20, 60, 200),
    "job": RNG.choice(["clerk", "cook", "nurse"], 200), "good": RNG.integers(0, 2, 200),
})  # fmt: skip
PROFILE = ["sex", "age", "job"]
STATED = MixedTabular(scales={"age": 5}, mismatch={"job": 2.0})


def costs_of(found):
    return {one.column: one for one in found.columns}


def test_the_share_is_that_of_an_audit_of_the_same_people():
    found = check("ignore-sensitive", PEOPLE, "good", sensitive_features="sex")
    audited = ft.audit(
        PEOPLE.assign(guess=0), "good", y_pred="guess", sensitive_features="sex",
        features=PROFILE, rng=0,
    )  # fmt: skip
    alike = PEOPLE.groupby(["age", "job", "good"])["sex"].transform("nunique") > 1

    assert found.comparable_share == audited.comparable_share == alike.mean()
    assert 0 < found.comparable_share < 1


def test_a_column_costs_what_the_rule_says():
    found = costs_of(check(STATED, PEOPLE[PROFILE], sensitive_features=["sex"], budget=0.1))

    assert (found["sex"].free, found["sex"].cost) == (1.0, None)
    assert (found["job"].free, found["job"].forbidden, found["job"].cost) == (0.0, 0.0, 2.0)
    # the median of (difference / 5)² of two people whose ages differ
    ages = PEOPLE["age"].to_numpy()
    apart = np.abs(ages[:, None] - ages)[~np.eye(200, dtype=bool)]
    assert 0.4 < found["age"].cost / np.median((apart[apart > 0] / 5) ** 2) < 2.5
    kept = costs_of(check(IgnoreSensitive(tolerance={"age": 2}), PEOPLE[PROFILE],
                          sensitive_features=["sex"]))  # fmt: skip
    assert kept["job"].forbidden == 1
    assert 0 < kept["age"].free < 1


def test_pairs_are_comparable_and_of_another_group():
    found = check(STATED, PEOPLE, "good", sensitive_features=["sex"], budget=0.1, pairs=20)

    assert len(found.pairs) == 20
    for pair in found.pairs:
        first, second = pair.first, pair.second
        assert first["sex"] != second["sex"]
        stated = ((first["age"] - second["age"]) / 5) ** 2 + 2 * (first["job"] != second["job"])
        assert pair.squared_distance == pytest.approx(stated)
        others = PEOPLE[PEOPLE["sex"] != first["sex"]]
        nearest = ((others["age"] - first["age"]) / 5) ** 2 + 2 * (others["job"] != first["job"])
        assert stated >= nearest.min()


def test_what_was_learned_says_how_much_variance_it_took_out():
    numbers = PEOPLE[["sex", "age"]].assign(pay=RNG.normal(0, 1, 200))
    learned = SensitiveSubspace(sensitive_features=["sex"]).fit(numbers)
    found = check(learned, numbers)

    assert found.sensitive == ("sex",)
    assert 0 < found.kept_variance < 1
    assert f"counts {100 * found.kept_variance:.3g} %" in repr(found)


def test_words_can_be_read():
    said = repr(check(STATED, PEOPLE, "good", sensitive_features=["sex"], budget=0.1))

    assert said.startswith(
        "Similarity of 200 people\nSquared distances add up: a difference of 5 in age"
    )
    assert "a similar person with another sex." in said
    assert "  sex: free\n" in said
    assert "  job: squared distance 2 (median)" in said
    assert "sex f → m" in said


def test_people_without_company_and_columns_without_an_answer_are_told():
    alone = PEOPLE.drop_duplicates("age")[PROFILE]
    found = check("ignore-sensitive", alone, sensitive_features="sex")
    own = Custom(lambda first, second: 0.0 * (first["age"] == second["age"]), takes="rows")

    assert found.comparable_share == 0
    assert "nobody has one" in repr(found)
    assert costs_of(check(own, PEOPLE[PROFILE], sensitive_features="sex"))["sex"].free == 1


def test_sensitive_features_must_be_known():
    with pytest.raises(ft.InputError, match="`sensitive_features` must be given"):
        check(STATED, PEOPLE)


def test_the_document_and_the_report_tell_it_and_a_shared_one_does_not(tmp_path):
    result = ft.audit(
        PEOPLE, "good", model=lambda x: (x["age"] > 40).astype(int), features=PROFILE,
        sensitive_features="sex", similarity=STATED, budget=0.05, delta=0.05, rng=0,
    )  # fmt: skip
    document = json.loads(result.to_json(tmp_path / "a.json").read_text("utf-8"))
    page = result.to_html(tmp_path / "a.html").read_text("utf-8")

    assert document["similarity_check"]["comparable_share"] == document["comparable_share"]
    assert len(document["similarity_check"]["pairs"]) == 8
    assert "Who counts as similar" in page
    assert result.document(5).similarity_check is None


@dataclass(eq=False)
class WholeRows(MixedTabular):
    """Prices a change as a similarity of its own does: with a geometry over all columns."""


@dataclass
class WholeBlocks(IgnoreSensitive):
    """The same of free moves."""


@pytest.mark.parametrize(
    ("whole", "similarity"),
    [
        (WholeRows, STATED),
        (WholeRows, MixedTabular(scales={"age": 3}, mismatch={"sex": 2.0}, exact="job")),
        (WholeRows, MixedTabular(default_scale=2, default_mismatch=1)),
        (WholeBlocks, IgnoreSensitive()),
        (WholeBlocks, IgnoreSensitive(tolerance={"age": 2})),
        (WholeBlocks, IgnoreSensitive(exact=["sex"])),
    ],
)
def test_a_change_costs_the_same_by_its_column_alone(whole, similarity):
    expected = whole(**similarity.get_params())

    for label in (None, "good"):
        people = PEOPLE if label else PEOPLE[PROFILE]
        summaries = [check(one, people, label, sensitive_features="sex", budget=0.1)
                     for one in (similarity, expected)]  # fmt: skip
        assert summaries[0] == summaries[1]


@pytest.mark.parametrize("similarity", [IgnoreSensitive(), MixedTabular(default_scale=1)])
def test_work_grows_in_proportion_to_the_columns(similarity, monkeypatch):
    work = Counter()
    take = CodedColumn.take

    def count_take(column, rows):
        work["columns"] += 1
        return take(column, rows)

    monkeypatch.setattr(CodedColumn, "take", count_take)

    def count_columns(size):
        numbers = RNG.integers(0, 3, (8, size))
        people = pd.DataFrame(numbers, columns=[f"c{at}" for at in range(size)])
        work.clear()
        check(similarity, people.assign(g=["a", "b"] * 4), sensitive_features="g", pairs=0)
        return work["columns"]

    few, many = count_columns(20), count_columns(80)
    assert many <= 4 * few
