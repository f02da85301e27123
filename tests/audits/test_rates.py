"""Given predictions whose answers differ inside a profile: verdicts, words and codes are on R."""

import json

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits.summarise import summarise_headline
from fairtransport.cli.entry_point import main
from fairtransport.inference import rate_law, sample_size
from fairtransport.report.terminal import print_result

CALL = dict(y_pred="guess", sensitive_features="sex", rng=0)
N = 1500


def people_of(effect, seed=0, n=N):
    """A system that knows a hidden column, and rates that differ by so much between two sexes."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "job": rng.integers(0, 6, n)})
    hidden = rng.random(n)
    people["good"] = (rng.random(n) < 0.5).astype(int)
    wrong = hidden < 0.3 + effect * (people["sex"] == "m")
    people["guess"] = people["good"].where(~wrong, 1 - people["good"])
    return people


BLIND, DIFFERENT = people_of(0.0), people_of(0.25)
BY_COLUMNS = BLIND.assign(guess=lambda x: ((x["job"] > 3) & (x["sex"] == "m")).astype(int))
FILES = {"blind": BLIND, "different": DIFFERENT}
DISTANCE = ft.similarity.MixedTabular(scales={"job": 2})


@pytest.fixture(scope="module")
def blind():
    return ft.audit(BLIND, "good", delta=0.02, **CALL)


@pytest.fixture(scope="module")
def different():
    return ft.audit(DIFFERENT, "good", delta=0.02, **CALL)


def screen_of(result, capsys):
    print_result(summarise_headline(result), "people")
    text = capsys.readouterr().out
    return " ".join("".join(" " if sign in "│╭╮╰╯─" else sign for sign in text).split())


def test_a_blind_system_that_knows_more_is_not_rejected(blind):
    assert blind.verdict == "inconclusive"
    assert blind.rates.lower_bound == blind.lower_bound == 0
    assert blind.rates.pvalue > 0.05
    assert blind.pvalue == blind.rates.pvalue_at_delta == 1
    # the statistic describes these people
    assert blind.statistic > 0.6


def test_a_difference_is_rejected_by_the_bound_of_the_rates(different):
    people = DIFFERENT
    law = rate_law(
        [people["job"], people["good"]], people["sex"], people["good"] != people["guess"],
        strata=people["good"], rng=0,
    )  # fmt: skip
    rates = different.rates

    assert different.verdict == "rejected"
    assert different.lower_bound == rates.lower_bound == law.lower_bound(0.05) > 0.02
    assert (rates.value, rates.pvalue) == (law.estimate, law.permutation_pvalue)
    assert different.pvalue == law.pvalue(0.02) <= 0.05
    assert different.evalue == law.evalue(0.02)
    assert different.upper_bound == np.inf
    assert different.guarantee == "finite-sample"
    (row,) = rates.features
    assert (row.feature, row.level, row.lower_bound) == ("sex", 0.05, rates.lower_bound)


@pytest.mark.parametrize("share", [None, 5])
def test_every_page_says_what_r_says_and_not_why(different, blind, share, capsys, tmp_path):
    for result, words in (
        (different, "at least"),
        (blind, "We could not show a difference"),
    ):
        page = result.to_html(tmp_path / "page.html", share=share).read_text("utf-8")
        first_screen = page.split("</section>")[0]
        pages = [
            first_screen,
            result.to_markdown(share=share),
            result._repr_html_(),
            " ".join(str(result).split()),
        ]
        for text in (*pages, screen_of(result, capsys)):
            assert words in text
            assert "because of" not in text
            assert "because" not in text.split(words)[1].split(".")[0]
            # the statistic is no finding, and one p-value is enough
            assert "ould go from" not in text
            assert "statistic=" not in text
        assert "FaiTH" not in first_screen
        assert "ermutation" not in first_screen
        assert "Errors, among people with equal job and good" in page or share
        # no bar of the statistic
        assert "<figure" not in first_screen


@pytest.mark.parametrize(("name", "code"), [("blind", 0), ("different", 3)])
@pytest.mark.parametrize("judge", ["statistic", "attributable"])
def test_exit_codes_and_documents_follow(name, code, judge, tmp_path):
    FILES[name].to_csv(tmp_path / "people.csv", index=False)
    line = (
        f"audit {tmp_path}/people.csv --label good --prediction guess --sensitive sex --seed 0 "
        f"--delta 0.02 --judge {judge} --json {tmp_path}/audit.json --quiet"
    ).split()

    assert main(line) == code
    document = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert document["verdict"] == ("rejected" if code else "inconclusive")
    assert document["rates"]["lower_bound"] == document["lower_bound"]
    assert document["rates"]["groups"] == ["sex"]
    assert document["method"] == "rates"
    assert document["methods"] == []
    assert main([*line, "--fail-on", "not-certified"]) == (code or 4)


def test_where_no_answers_differ_bounds_and_words_are_the_same():
    """Which bounds there are does not depend on whether answers differ in the sample."""
    result = ft.audit(BY_COLUMNS, "good", delta=0.02, **CALL)

    assert result.disagreement == 0
    assert result.verdict == "rejected"
    assert 0.02 < result.rates.lower_bound == result.lower_bound < result.statistic
    assert result.summary.method == "rates"
    assert not result.rates.deterministic
    assert repr(result).startswith(
        f"AuditResult(verdict='rejected', R={result.rates.value:.4f}, lower_bound=0."
    )


def test_with_a_model_to_ask_there_are_no_rates():
    result = ft.audit(
        BY_COLUMNS, "good", model=lambda x: ((x["job"] > 3) & (x["sex"] == "m")).astype(int),
        features=["job", "sex"], sensitive_features="sex", delta=0.02, rng=0,
    )  # fmt: skip

    assert result.rates is None
    assert result.method == result.law.method == "finite-sample"


@pytest.mark.parametrize("method", ["m-out-of-n", "limit-law", "subsampling"])
def test_the_method_does_not_matter(different, method):
    result = ft.audit(DIFFERENT, "good", delta=0.02, method=method, **CALL)

    assert result.rates == different.rates
    assert result.verdict == "rejected"
    assert result.guarantee == "finite-sample"


def test_features_are_told_one_at_a_time_and_hold_together():
    rng = np.random.default_rng(3)
    people = DIFFERENT.assign(race=rng.choice(list("abc"), N))
    result = ft.audit(people, "good", delta=0.01, **CALL | dict(sensitive_features=["sex", "race"]))
    sex, race = result.rates.features

    assert result.rates.groups == ("sex", "race")
    assert sex.level == race.level == 0.05 / 4
    assert sex.lower_bound > 0.02
    assert race.lower_bound == 0
    # six groups are harder to tell apart than two: one feature's bound is a bound of R too
    assert result.rates.lower_bound >= sex.lower_bound
    assert result.rates.value >= result.rates.lower_bound
    assert result.rates.pvalue <= 4 * sex.pvalue
    alone = rate_law(
        [people["job"], people["good"], people["race"]], people["sex"],
        people["good"] != people["guess"], strata=people["good"], alpha=0.0125, rng=1,
    )  # fmt: skip
    assert sex.lower_bound == pytest.approx(alone.lower_bound(0.0125), abs=0.02)


def test_what_must_agree_is_held_fixed():
    people = DIFFERENT.assign(race=np.random.default_rng(3).choice(["a", "b"], N))
    call = CALL | dict(sensitive_features=["sex", "race"])
    exact = ft.audit(
        people, "good", delta=0.01, similarity=ft.similarity.IgnoreSensitive(exact=["race"]), **call
    )
    nobody = ft.audit(
        people, "good", similarity=ft.similarity.IgnoreSensitive(exact=["race", "sex"]), **call
    )

    assert exact.rates.groups == ("sex",)
    assert exact.verdict == "rejected"
    assert nobody.rates is None
    assert nobody.applicability.startswith("Nobody can be compared")


UNTESTABLE = {
    "distance": (dict(similarity=DISTANCE, budget=0.05),
                 "compares people whose other columns differ",
                 "Use the similarity 'ignore-sensitive', and group numbers into ranges: `bins={'"),
    "tolerance": (dict(similarity=ft.similarity.IgnoreSensitive(tolerance={"job": 1})),
                  "compares people whose other columns differ", "Use the similarity"),
    "targets": (dict(targets=BY_COLUMNS.head(50)), "compared with those of another file",
                "Use the similarity 'ignore-sensitive', without `targets`"),
    "range": (dict(loss="squared", method="limit-law"), "the range of the loss is not known",
              "Give the smallest and the largest possible loss (`loss_range`)"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNTESTABLE)
def test_where_rates_are_not_about_those_compared_there_is_no_verdict(name):
    settings, reason, advice = UNTESTABLE[name]
    result = ft.audit(DIFFERENT, "good", delta=0.02, **CALL, **settings)

    assert result.verdict == "not-applicable"
    assert result.rates is None
    assert result.applicability.startswith("People with equal values in all columns got different")
    assert reason in result.applicability
    assert result.advice.startswith(advice)


def test_the_verdict_on_rates_is_the_attributable_one():
    result = ft.audit(DIFFERENT, "good", delta=0.02, judge="attributable", **CALL)

    assert result.bounds_verdict == result.verdict == "rejected"
    assert result.attributable.lower_bound == -np.inf
    assert (
        "The verdict is about all of R, since all of it needs sensitive features to change"
        in result.to_markdown()
    )


def test_budgets_and_flips_change_nothing(different):
    other = different.at_budget(3.0)
    flips = different.sensitivity(draws=2).flips

    assert (other.verdict, other.rates) == (different.verdict, different.rates)
    assert (flips.rejected_below, flips.certified_from) == (different.lower_bound, None)
    assert (flips.budget_rejected_from, flips.budget_certified_until) == (0.0, None)


def test_outcomes_are_said_without_worse_and_better():
    people = DIFFERENT.assign(guess=DIFFERENT["guess"] != DIFFERENT["good"])
    result = ft.audit(
        people.astype({"guess": int}), loss="outcome", loss_range=(0, 1), delta=0.02,
        features=["job"], **CALL,
    )  # fmt: skip

    assert result.verdict == "rejected"
    said = result.to_markdown()
    assert "treated like the group with the largest mean prediction" in said
    assert "worst-treated" not in said.split("## ")[0]


def test_what_is_shared_tells_no_more_than_the_headline(different):
    whole, shared = different.summary, different.document(5)
    rates = shared.rates

    assert rates.value is None
    assert rates.features == ()
    assert rates.lower_bound == shared.lower_bound <= whole.rates.lower_bound
    assert rates.pvalue_at_delta == shared.pvalue
    assert rates.pvalue is None
    assert shared.pvalue in {0.05, 1.0}
    assert shared.verdict == "rejected"


def test_a_family_has_verdicts_on_rates():
    found = ft.audit_many(
        DIFFERENT, "good", sensitive_features="sex", features=["job"], delta=0.02, rng=0,
        audits={"old": {"y_pred": "guess"}, "lenient": {"y_pred": "guess", "delta": 0.3}},
    )  # fmt: skip
    old, lenient = found.members

    assert found.verdicts == {"old": "rejected", "lenient": "inconclusive"}
    assert 0.02 < old.lower < 0.2
    assert old.upper is lenient.upper is None
    assert any("rates among people with equal values" in note for note in found.headline.warnings)


def test_models_are_compared_with_bounds_of_rates():
    people = DIFFERENT.assign(other=BLIND["guess"])
    found = ft.compare(
        people, "good", y_pred={"old": "guess", "new": "other"}, sensitive_features="sex",
        features=["job"], rng=0,
    )  # fmt: skip
    old, _ = found.summary.models

    assert old.lower < 0.2 < old.statistic
    assert old.upper is None
    assert found.verdict == "undecided"
    assert any("rates among people with equal values" in note for note in found.warnings)


def test_no_plan_is_made_for_a_verdict_on_rates(different):
    with pytest.raises(ft.InputError, match="`pilot` must be an audit whose verdict is about the"):
        sample_size(pilot=different, delta=0.02)


def test_a_stream_has_no_verdict_once_answers_differ(tmp_path, capsys):
    settings = dict(y="good", y_pred="guess", sensitive_features="sex", delta=0.02)
    monitor = ft.Monitor(**settings)
    same = BY_COLUMNS.drop_duplicates(["sex", "job", "good"])
    before = monitor.update(same)
    state = monitor.update(DIFFERENT)
    monitor.save(tmp_path / "state")

    assert before.applicability is None
    assert state.verdict == "not-applicable"
    assert state.stopped_at is None
    assert state.applicability.startswith("People with equal values in all columns got different")
    again = ft.Monitor.resume(tmp_path / "state")
    assert again.state.verdict == "not-applicable"
    DIFFERENT.to_csv(tmp_path / "people.csv", index=False)
    line = f"monitor {tmp_path}/people.csv --state {tmp_path}/new --label good --prediction guess "
    assert main([*line.split(), "--sensitive", "sex", "--delta", "0.02"]) == 5
    out = capsys.readouterr().out
    assert "This audit cannot tell: people with equal values in all columns" in " ".join(
        out.split()
    )
    assert "Evidence of bias" not in out
