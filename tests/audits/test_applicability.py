"""Audits that can find nothing say so first: from data to verdict, screen, documents, exit code."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits.applicability import FEW, FIRST_BUDGET
from fairtransport.audits.summarise import summarise_headline
from fairtransport.report.sections.finding import next_audit_flags
from fairtransport.report.terminal import print_result


def applicants(n=400, seed=0):
    """People whose income and job go with their sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    income = (rng.normal(30, 8, n) + 6 * (sex == "m")).round()
    good = (rng.random(n) < 1 / (1 + np.exp(-(income - 32) / 5))).astype(int)
    job = np.where(rng.random(n) < 0.3 + 0.4 * (sex == "m"), "driver", "nurse")
    return pd.DataFrame({"sex": sex, "income": income, "job": job, "good": good})


def by_income(points):
    """A model that is blind to sex."""
    return (points["income"] > 32).astype(int)


PEOPLE = applicants()
CALL = dict(sensitive_features="sex", delta=0.05, rng=0)


def blind(**more):
    call = {"model": by_income, "features": ["income", "job"], **CALL, **more}
    return ft.audit(PEOPLE, "good", **call)


def lonely():
    people = PEOPLE.assign(id=range(len(PEOPLE)), guess=by_income(PEOPLE))
    return ft.audit(people, "good", y_pred="guess", **CALL)


def everybody_in_one_place(**more):
    """A subspace of one feature is all of it."""
    learned = ft.similarity.SensitiveSubspace(["sex"], features=["income"]).fit(applicants(seed=1))
    settings = CALL | {"similarity": learned, "budget": 0.01} | more
    return ft.audit(PEOPLE, "good", model=by_income, features=["income"], **settings)


def equal_losses():
    return ft.audit(
        PEOPLE.assign(good=1), "good", model=lambda points: [1] * len(points),
        features=["sex", "income"], **CALL,
    )  # fmt: skip


EMPTY = {
    "blind": (blind, "The model does not receive sex"),
    "lonely": (lonely, "Nobody can be compared"),
    "one place": (everybody_in_one_place, "Under this similarity, all people with the same"),
    "equal losses": (equal_losses, "Every loss is 0"),
}


@pytest.fixture(params=EMPTY)
def empty(request):
    make, words = EMPTY[request.param]
    return make(), words


def test_the_verdict_is_that_there_is_none(empty):
    result, words = empty
    document = result.summary

    assert result.verdict == document.verdict == "not-applicable"
    assert result.applicability == document.applicability
    assert result.applicability.startswith(words)
    assert document.advice == result.advice != ""
    assert result.advice is not None
    # one place for it
    assert not any(words in warning for warning in document.warnings)


def test_every_page_says_it_first_and_what_to_do(empty, capsys, tmp_path):
    result, words = empty
    print_result(summarise_headline(result), "people", verbose=True)
    screen = " ".join(re.sub(r"[^\S ]|[│╭╮╰╯─]", " ", capsys.readouterr().out).split())
    page = result.to_html(tmp_path / "report.html").read_text("utf-8")
    markdown = result.to_markdown()

    assert screen.startswith(f"THIS AUDIT CANNOT TELL people {words}")
    figure = "FaiTH statistic" if result.rates is None else "R, lower bound"
    assert screen.index(words) < screen.index(figure)
    for text in (page, markdown):
        assert "This audit cannot tell" in text
        before = text.split(figure)[0].split("<body")[-1]
        assert "certified" not in re.sub("nothing (can be|is) certified", "", before)
    assert any(row.startswith("**This audit cannot tell.**") for row in markdown.splitlines()[2:5])
    assert "<table" not in result._repr_html_()
    # no worst case is claimed that means nothing
    assert "if people were swapped with similar people" not in screen


def test_no_threshold_gets_a_verdict(empty):
    result, _ = empty
    thresholds = result.to_markdown().split("What would change the result")[1].split("## ")[0]

    assert "This audit cannot tell: no verdict follows from its bounds." in thresholds
    assert "over the limit" not in thresholds


def test_of_a_model_that_receives_no_sensitive_feature_counterparts_are_advised():
    result = blind()

    assert result.advice.startswith("Check the other columns")
    assert result.next_audit["similarity"].name == "counterparts"
    assert result.summary.next_audit == {"similarity": "counterparts", "similarity_settings": {}}
    text = " ".join(str(result).split())
    assert text.startswith("THIS AUDIT CANNOT TELL")
    assert "The model does not receive sex" in text
    # both lines can be pasted
    assert "ft.audit(..., **result.next_audit)" in text
    assert "similarity=ft.similarity.Counterparts(['sex'], legitimate=[...])" in text
    assert "ft.audit(..., **result.next_audit)" in result._repr_html_()


def test_without_a_threshold_it_is_said_too():
    result = blind(delta=None)

    assert result.verdict == "not-applicable"
    assert result.pvalue is None


def test_what_is_shared_says_why_and_tells_no_figures():
    result = blind()
    shared = result.document(5)

    assert shared.verdict == "not-applicable"
    assert shared.applicability == result.applicability
    assert shared.advice == result.advice
    assert shared.next_audit is None
    people = PEOPLE.assign(id=[0, 0, *range(2, len(PEOPLE))], guess=by_income(PEOPLE))
    people.loc[[0, 1], ["income", "job", "good", "guess"]] = [30.0, "nurse", 1, 0]
    people["sex"] = ["f", "m"] * 200
    few = ft.audit(people, "good", y_pred="guess", **CALL)
    assert few.applicability.startswith("Only 2 of 400 people can be compared")
    assert few.document(5).applicability.startswith("Only fewer than 5 of 400 people can")


def test_the_next_audit_runs_and_is_applicable():
    settings = everybody_in_one_place().next_audit
    other = blind(features=["income"], **settings)

    assert settings["budget"] == FIRST_BUDGET
    assert other.applicability is None
    assert other.statistic > 0


def test_a_stated_distance_is_the_next_audit_where_everybody_is_in_one_place():
    result = everybody_in_one_place()
    like = result.next_audit["similarity"]

    assert like.name == result.summary.next_audit["similarity"] == "mixed-tabular"
    assert result.summary.next_audit["similarity_settings"]["scales"] == like.scales
    assert everybody_in_one_place(**result.next_audit).applicability is None


def test_without_a_setting_to_change_there_is_no_next_audit():
    assert equal_losses().next_audit is None
    assert equal_losses().summary.next_audit is None


def test_the_flags_of_the_next_audit_run(run_line, tmp_path):
    flags = shlex.split(next_audit_flags(everybody_in_one_place().summary))
    PEOPLE.assign(guess=by_income(PEOPLE)).to_csv(tmp_path / "people.csv", index=False)
    code = run_line(
        "audit", tmp_path / "people.csv", "--label", "good", "--prediction", "guess",
        "--sensitive", "sex", "--features", "income", *flags,
    )  # fmt: skip

    assert code == 0


@pytest.fixture
def run_line():
    from fairtransport.cli.entry_point import main

    return lambda *line: main([str(word) for word in line])


@pytest.mark.parametrize(
    ("fail_on", "code"), [(None, 5), ("rejected", 5), ("not-certified", 5), ("never", 0)]
)
def test_exit_codes(fail_on, code, run_line, tmp_path):
    people = PEOPLE.assign(id=range(len(PEOPLE)), guess=by_income(PEOPLE))
    people.to_csv(tmp_path / "people.csv", index=False)
    told = [] if fail_on is None else ["--fail-on", fail_on]
    found = run_line(
        "audit", tmp_path / "people.csv", "--label", "good", "--prediction", "guess",
        "--sensitive", "sex", "--delta", "0.05", "--json", tmp_path / "audit.json", *told,
    )  # fmt: skip

    assert found == code
    document = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert document["verdict"] == "not-applicable"
    assert document["comparable_share"] == 0


def test_a_rejection_by_few_stands():
    """Nobody else has company, but those who have are treated differently."""
    rng = np.random.default_rng(3)
    alone = pd.DataFrame({"sex": rng.choice(["f", "m"], 3000), "id": range(1, 3001), "good": 1,
                          "guess": 1})  # fmt: skip
    pair = pd.DataFrame({"sex": ["f"] * 100 + ["m"] * 30, "id": 0, "good": 1,
                         "guess": [1] * 100 + [0] * 30})  # fmt: skip
    call = dict(y_pred="guess", sensitive_features="sex", rng=0)
    found = ft.audit(pd.concat([alone, pair]), "good", delta=0.001, **call)
    open_one = ft.audit(pd.concat([alone, pair]), "good", delta=0.04, **call)

    assert 0 < found.comparable_share < FEW
    assert found.verdict == "rejected"
    assert found.applicability is None
    assert open_one.verdict == "not-applicable"


def test_the_share_of_people_who_have_company_is_told(capsys):
    people = PEOPLE.assign(guess=by_income(PEOPLE))
    call = dict(y_pred="guess", sensitive_features="sex", rng=0)
    some = ft.audit(people, "good", features=["income", "job"], **call)
    by_hand = people.groupby(["income", "job", "good"])["sex"].transform("nunique").gt(1).mean()
    all_of_them = ft.audit(people, "good", features=[], **call)

    assert some.comparable_share == pytest.approx(by_hand)
    assert FEW < by_hand < 0.9
    print_result(summarise_headline(some), "people", verbose=True)
    company = f"{100 * by_hand:.1f} % of the people could be compared with somebody of another sex"
    assert company in " ".join(capsys.readouterr().out.split())
    assert all_of_them.comparable_share == 1
    print_result(summarise_headline(all_of_them), "people", verbose=True)
    assert "could be compared with" not in capsys.readouterr().out


def test_people_whom_a_column_sets_apart_are_told_of():
    result = lonely()

    assert "Group numbers into ranges, for example `bins={'income': [" in result.advice
    assert "Leave out id (a different value for each person)" in result.advice
    assert "`features=['income', 'job']`" in result.advice
    assert "give it (`model`)" in result.advice


def test_advice_that_is_typed_lets_people_be_compared(run_line, tmp_path, capsys):
    """A copy of the sex, an ID and wages keep everybody apart, until the advice is followed."""
    rng = np.random.default_rng(4)
    sex, band = rng.choice(["f", "m"], 500), rng.integers(0, 3, 500)
    people = pd.DataFrame({
        "id": range(500), "sex": sex, "band": band, "wage": rng.permutation(5000)[:500] + 1000,
        "is_f": (sex == "f").astype(int), "decision": rng.choice(["yes", "no"], 500),
    })  # fmt: skip
    people.to_csv(tmp_path / "people.csv", index=False)
    report = tmp_path / "report.html"
    line = ["audit", tmp_path / "people.csv", "--prediction", "decision", "--favourable", "yes",
            "--sensitive", "sex"]  # fmt: skip

    assert run_line(*line, "--delta", "0.1", "--report", report) == 5
    screen = " ".join(capsys.readouterr().out.split())
    assert "Leave out id (a different value for each person) and is_f (it tells everybody" in screen
    assert "wage has 500 values" in screen
    columns, bins = re.findall(r"`(--features \S+|--bins\S+ \S+)`", screen)
    assert columns == "--features band,wage"
    for page in (screen, report.read_text("utf-8")):
        assert "bins=" not in page.split("<body")[-1]
        assert bins in page
    assert run_line(*line, *columns.split(), *bins.split()) == 0
    assert "compared)" in capsys.readouterr().out
    # what is shared has no ranges, which would tell of few people
    result = ft.audit(people, y_pred="decision", favourable="yes", sensitive_features="sex", rng=0)
    assert "bins={'wage'" in result.advice
    assert "bins=" not in result.document(5).advice


def test_nobody_may_be_moved_without_a_budget():
    """Where every move costs something, an audit without a budget compares nobody."""
    similarity = ft.similarity.MixedTabular(scales={"income": 5}, mismatch={"job": 1, "sex": 1})
    call = dict(model=by_income, features=["income", "job"], similarity=similarity)
    without = ft.audit(PEOPLE, "good", **call, **CALL)
    with_one = ft.audit(PEOPLE, "good", budget=0.1, **call, **CALL)

    assert without.comparable_share == 0
    assert "Set a budget above 0 (`budget`)" in without.advice
    assert with_one.comparable_share == 1
    assert with_one.applicability is None


def test_nearly_all_of_the_variance_taken_out_is_nearly_one_place():
    def doubled(people, seed):
        noise = np.random.default_rng(seed).normal(0, 0.1, len(people))
        return people.assign(spending=(people["income"] + noise).round(1))

    def audited(*features):
        learned = ft.similarity.SensitiveSubspace(["sex"], features=list(features))
        learned.fit(doubled(applicants(seed=2), 2))
        return ft.audit(
            doubled(PEOPLE, 1), "good", model=by_income, features=list(features),
            similarity=learned, budget=0.01, **CALL,
        )  # fmt: skip

    nothing_left, enough = audited("income", "spending"), audited("income", "job")

    assert nothing_left.applicability.startswith("The similarity removed all but 0.0066 % of")
    assert enough.applicability is None
    assert 0.01 < enough.similarity.kept_variance(enough.space) < 1


def test_several_audits_keep_it_apart():
    found = ft.audit_many(
        PEOPLE, "good", sensitive_features="sex", rng=0, delta=0.05,
        audits={
            "blind": {"model": by_income, "features": ["income"]},
            "seeing": {"model": lambda points: (points["sex"] == "m").astype(int),
                       "features": ["sex"]},
        },
    )  # fmt: skip

    assert found.verdicts == {"blind": "not-applicable", "seeing": "rejected"}
    assert any(
        one.startswith("blind: This audit cannot tell: The model does not receive")
        for one in found.headline.warnings
    )


def test_names_of_columns_are_not_alive(tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    people = PEOPLE.rename(columns={"job": evil, "sex": "<b>sex"})
    asked = {"features": ["income", evil], "sensitive_features": "<b>sex", "rng": 0}
    blind = ft.audit(people, "good", model=by_income, **asked)
    free = ft.similarity.MixedTabular(mismatch={"income": 0, evil: 0})
    advised = ft.audit(people, "good", model=by_income, similarity=free, **asked)

    assert "<b>sex" in blind.applicability
    assert evil in repr(advised.next_audit)
    for result in (blind, advised):
        page = result.to_html(tmp_path / "report.html").read_text("utf-8")
        for text in (page, result.to_markdown(), result._repr_html_()):
            assert "<img src=x" not in text
            assert "<b>sex" not in text


def of_two(n=400, **fixed):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "race": rng.choice(["a", "b"], n), "sex": rng.choice(["f", "m"], n),
        "income": rng.integers(0, 6, n), "good": rng.integers(0, 2, n),
    })  # fmt: skip
    return frame.assign(**fixed)


def test_a_feature_of_one_level_is_said_to_be_left_open():
    """The model decides by race alone, and nobody here is of another."""
    asked = {"model": lambda x: (x["race"] == "a").astype(int), "delta": 0.05, "rng": 0,
             "sensitive_features": ["race", "sex"]}  # fmt: skip
    note = "Everybody has the race 'a', so the audit says nothing about race."
    one = ft.audit(of_two(race="a"), "good", **asked)
    both = ft.audit(of_two(), "good", **asked)
    family = ft.audit_many(
        of_two(), "good", audits={"all": {}, "a": {"where": {"race": "a"}}}, **asked
    )

    assert both.verdict == "rejected"
    assert not [one for one in both.warnings if note in one]
    for result in (one, family["a"]):
        assert [said for said in result.warnings if said.startswith(note)]


def test_targets_that_are_not_used_are_said_to_be():
    targets = of_two(50, race="a")
    asked = {"model": lambda x: (x["race"] == "a").astype(int), "rng": 0, "targets": targets,
             "sensitive_features": "race", "levels": {"race": ["a", "b"]}}  # fmt: skip
    twins = ft.audit(of_two(), "good", **asked)
    like = ft.similarity.MixedTabular(default_scale=1, default_mismatch=1)
    near = ft.audit(of_two(), "good", similarity=like, **asked)

    assert (twins.target_scope, near.target_scope) == ("twins", "reference")
    assert any(said.startswith("`targets` is not used") for said in twins.warnings)
    assert not any(said.startswith("`targets` is not used") for said in near.warnings)
    assert "a reference table and with their copies that differ" in near.to_markdown()


def test_what_was_learned_in_vain_is_not_advised_again():
    frame = of_two().assign(race=lambda x: x["income"] > 2)
    found = ft.audit(
        frame, "good", model=lambda x: (x["income"] > 3).astype(int), features=["income"], rng=0,
        similarity=ft.similarity.SensitiveSubspace(["race"], hold_out=0.3), delta=0.05,
        sensitive_features="race",
    )  # fmt: skip

    assert "have distance 0" in found.applicability
    assert "sensitive-subspace" not in found.advice
