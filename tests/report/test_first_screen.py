"""The first screen of a report: whose decision changes, the limit, and what is not said."""

import re
from dataclasses import replace

import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.report import render
from fairtransport.report.sections import decisions, first_screen
from tests.report.samples import sample, with_budget

UNDRAWN = {"flows": (), "law": None, "methods": (), "budget_curve": ()}


def first_page(summary):
    """The text of the first screen, up to the links to the sections."""
    page = render(summary, "html").split('<nav class="next"')[0].split('<div class="page1">')[1]
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page)).replace("\u00a0", " ")


def test_it_counts_people_each_way_and_by_feature():
    text = first_page(sample(**UNDRAWN))

    assert "143 of 1,584 people (9 %) would get another decision if only their recorded" in text
    assert "134 people 8.5 % (7.1–10.0 %)" in text
    assert "African-American: 5 of 964; Caucasian: 0 of 620" in text
    assert "only both together 69" in text
    wrong = (
        "The decision is wrong for 55 of the 134 who are worse off: they have the true label “0”"
    )
    assert f"{wrong} (" in text
    assert "the 55 above whose true label is “0”: their decision is wrong already." in text
    condition = "a random sample, drawn independently of each other, and were not used to train the"
    assert f"{condition} model" in text


@pytest.mark.parametrize("output_format", ["html", "markdown", "notebook"])
def test_every_surface_has_the_same_block(output_format):
    text = render(sample(**UNDRAWN), output_format).replace("\u00a0", " ")

    for part in ("Over the limit", "143 of 1,584 people", "55 of the 134", "3.65 %"):
        assert part in text
    assert "random sample" in text


@pytest.mark.parametrize(
    ("verdict", "title", "said"),
    [
        ("rejected", "Over the limit", "95 % confidence"),
        ("certified", "Within the limit", "This is not a finding that the model is fair"),
        ("inconclusive", "Not settled", "are not enough to say whether the model is over"),
    ],
)
def test_verdicts_say_what_they_do_not_mean(verdict, title, said):
    text = first_page(sample(verdict=verdict, **UNDRAWN))

    assert title in text
    assert said in text
    assert ("no verdict" in text) == (verdict == "inconclusive")


def test_an_audit_that_cannot_tell_shows_no_decisions():
    reason = "The model does not receive race and sex."
    summary = sample(
        verdict="not-applicable", applicability=reason, advice="Audit the other columns.", **UNDRAWN
    )
    text = first_page(summary)

    for part in ("This audit cannot tell", reason, "Audit the other columns.", "no verdict"):
        assert part in text
    assert "There is nothing to compare with the limit." in text
    assert "143 of" not in text
    assert "That the model is fair, or within a limit." in text
    assert '<h2 id="people">' not in render(summary, "html")


def test_why_there_are_no_decisions_is_said():
    assert with_budget().decisions_missing in first_page(replace(with_budget(), **UNDRAWN))


def test_without_a_favourable_label_nothing_is_better_or_worse():
    one = sample().decisions
    unjudged = [
        replace(row, total=replace(row.total, worse_off=None, better_off=None))
        for row in one.by_feature
    ]
    plain = replace(
        one, favourable=(), worse_off=None, better_off=None, by_feature=tuple(unjudged),
        cases=tuple(replace(case, effect="changed") for case in one.cases),
    )  # fmt: skip
    page = render(sample(decisions=plain, favourable=None, **UNDRAWN), "html")
    text = page.split('id="warnings"')[0].split("</style>")[1]

    assert "Whose decision would change" in text
    assert not re.search("(worse|better) off", text.replace("To see who is worse off", ""))


def test_a_shared_document_has_both_ways_without_their_decisions():
    whole = sample().decisions
    shared = replace(
        whole, changes=(), by_feature=(), only_together=None, by_group=(), by_label=(), cases=(),
        random_share=None,
    )  # fmt: skip
    rows = decisions.direction_rows(shared)

    assert [(row.decision, row.alternative, row.effect) for row in rows] == [
        ("not 0", "0", "worse off"), ("0", "not 0", "better off")
    ]  # fmt: skip
    assert "worse off get “not 0” , and would then get “0”" in first_page(
        sample(decisions=shared, **UNDRAWN)
    )


@pytest.mark.parametrize(
    ("delta", "upper", "end"),
    [(0.0365, 0.0735, "10"), (0.5, 0.07, "60"), (0.0004, 0.0009, "0.125")],
)
def test_the_axis_of_the_limit_ends_at_a_round_number(delta, upper, end):
    bounds = {"lower_bound": 0.0, "upper_bound": upper, "statistic": upper}
    scale = first_screen.build_scale(sample(delta=delta, **bounds))

    assert 2 <= len(scale.ticks) <= first_screen.MAX_TICKS + 1
    assert scale.ticks[-1][1] == end
    assert scale.limit == f"{100 * 100 * delta / float(end):.2f}%"


def test_without_a_limit_only_what_was_found_is_drawn():
    scale = first_screen.build_scale(sample(delta=None, verdict=None))

    assert (scale.limit, scale.beyond, scale.limit_text) == (None, None, "")
    assert scale.value is not None


def test_bars_share_one_scale():
    bars = first_screen.build_bars(decisions.direction_rows(sample().decisions))

    assert [bar.upper for bar in bars] == ["100.00%", "10.87%"]
    assert bars[0].width == f"{100 * (134 / 1584) / 0.0994:.2f}%"


def test_people_are_listed_with_who_they_would_have_to_be():
    table = decisions.cases_table(sample())
    titles = [column.title for column in table.columns]
    rows = [[cell.text for cell in row] for row in table.rows]

    assert titles == [
        "People", "Who they are", "Decision", "If recorded as", "As recorded", "True label 0",
        "Such a person is in your file",
    ]  # fmt: skip
    assert rows[0][0] == "46"
    assert rows[0][1].startswith("race African-American, sex Male, age_cat Greater than 45")
    assert rows[0][2:] == ["1 → 0", "race Caucasian, sex Female", "worse off", "23 of 46", "yes"]
    assert rows[1][3] == "only sex Female"
    assert rows[2][-1] == "no"


def test_bounds_are_told_as_sure_as_they_are():
    (limit, both), (_, one) = (
        decisions.limit_lines(sample(**settings))
        for settings in ({"guarantee": "asymptotic"}, {"upper_bound": None})
    )
    (_, none) = decisions.limit_lines(sample(lower_bound=None, upper_bound=None, pvalue=None))

    assert limit.startswith("Your limit: at most 3.65 % of all people (57 of these 1,584) may have")
    assert "at most 7.2 %, each with approximately 95 % confidence" in both
    assert ". In the population: at least 5.0 %, with 95 % confidence" in one
    assert none == "Found: 6.06 % of these people (96 people)."


def test_without_a_limit_it_says_what_was_counted():
    (line,) = decisions.limit_lines(sample(delta=None, verdict=None))

    found = (
        "Found: 6.06 % of these people (96 people) have a correct decision that would become wrong"
    )
    assert line.startswith(f"{found} with another race or sex. In the population: at least 5.0 %")


def test_columns_that_change_together_are_one_row():
    people = pd.DataFrame({"sex": [*"fmfm"] * 50, "race": [*"aabb"] * 50, "good": [1, 0] * 100})
    result = ft.audit(
        people, "good", model=lambda asked: (asked["sex"] == "m").astype(int), favourable=1, rng=0,
        sensitive_features=["sex", "race"], together=[["sex", "race"]],
    )  # fmt: skip

    (row,) = decisions.changed_by_feature_table(result.decisions).rows
    assert [cell.text for cell in row][0::2] == [
        "sex and race", "f, a: 50 of 50; f, b: 50 of 50; m, a: 0 of 50; 0 of 50 in 1 other groups"
    ]  # fmt: skip
    assert "sex and race" in result.to_markdown()
