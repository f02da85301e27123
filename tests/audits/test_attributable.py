"""What sensitive features add to the statistic, and swaps with a random similar person."""

from functools import cache
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.audits.summarise import summarise_headline
from fairtransport.cli.entry_point import main
from fairtransport.inference import difference_law
from fairtransport.report.exports import render_junit
from fairtransport.report.rendering import render
from fairtransport.report.terminal import print_result

SIMILARITY = ft.similarity.MixedTabular(scales={"income": 10})


def people_of(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    income = rng.normal(30, 8, n).round() + 4 * (sex == "m")
    good = (rng.random(n) < 1 / (1 + np.exp(-(income - 32) / 5))).astype(int)
    return pd.DataFrame({"sex": sex, "income": income, "good": good})


PEOPLE, OTHERS = people_of(300, 0), people_of(60, 1)


def blind(points):
    return (points["income"] > 32).astype(int)


def biased(points):
    return (points["income"] + 6 * (points["sex"] == "m") > 32).astype(int)


def audited(model, **more):
    call = dict(
        features=["sex", "income"], sensitive_features="sex", similarity=SIMILARITY,
        budget=0.02, targets=OTHERS, delta=0.05, rng=0,
    )  # fmt: skip
    return ft.audit(PEOPLE, "good", model=model, **(call | more))


@cache
def audit_of_biased():
    return audited(biased)


def test_between_twins_all_of_it_is_attributable():
    result = audited(biased, similarity="ignore-sensitive", budget=0, targets=None)
    part = result.attributable

    assert part.same_group == 0
    assert part.value == result.statistic
    assert (part.lower_bound, part.upper_bound) == (result.lower_bound, result.upper_bound)
    assert (part.interval, part.pvalue, part.verdict) == (
        result.interval, result.pvalue, result.verdict,
    )  # fmt: skip


def test_of_a_blind_model_nothing_is():
    """Whom race does not change, near people of the same group change as much."""
    result = audited(blind, delta=0.1)
    part = result.attributable

    assert result.verdict == "rejected"
    assert part.value < 0.02 < part.same_group
    assert part.value + part.same_group == pytest.approx(result.statistic)
    assert part.verdict == "certified"


@pytest.mark.slow
def test_it_is_a_difference_of_two_audits_of_one_sample():
    result = audit_of_biased()
    part = result.attributable
    held = audited(biased, similarity=ft.similarity.MixedTabular({"income": 10}, exact=["sex"]))
    law = difference_law(
        result.problem, held.problem, result.space.counts, rng=0, loss_range=(0.0, 1.0),
        most_gains=(result.most_gain,) * 2, nested=True,
    )  # fmt: skip

    assert part.same_group == pytest.approx(held.statistic)
    assert part.value == pytest.approx(result.statistic - held.statistic)
    assert part.lower_bound == law.lower_bound(0.05) < part.value
    assert part.upper_bound == law.upper_bound(0.05) > part.value
    assert part.pvalue == law.pvalue(0.05)
    assert (part.lower_bound > 0.05) == (part.verdict == "rejected")


def test_with_targets_from_the_sample_there_are_no_bounds():
    part = audited(biased, targets=None).attributable

    assert part.value > 0
    assert (part.lower_bound, part.upper_bound) == (-np.inf, np.inf)
    assert part.verdict == "inconclusive"
    assert audited(biased, targets=None, delta=None).attributable.verdict is None


def test_what_cannot_be_found_is_not_attributed():
    result = audited(blind, similarity="ignore-sensitive", budget=0, features=["income"],
                     targets=None)  # fmt: skip

    assert result.attributable.verdict == "not-applicable"


@pytest.mark.slow
def test_both_parts_are_on_the_first_screen(capsys, tmp_path):
    result = audited(biased, judge="attributable")
    print_result(summarise_headline(result), "people")
    screen = " ".join(capsys.readouterr().out.replace("│", " ").split())
    part = result.attributable

    assert f"{part.same_group:.4f} of the statistic comes from people of the same sex" in screen
    assert f"{part.value:.4f} of it needs people of another sex" in screen
    assert "The verdict is about the part that needs sensitive features to change: " in screen
    page = result.to_html(tmp_path / "page.html").read_text("utf-8")
    first_screen = page.split("</section>")[0]
    assert f"{part.same_group:.4f} of the statistic comes from people of the same" in first_screen
    assert "The verdict is about the part" in first_screen
    shared = result.document(5).attributable
    assert (shared.lower_bound, shared.upper_bound, shared.pvalue) == (None, None, None)
    assert shared.verdict == part.verdict


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "code"), [("statistic", 3), ("attributable", 0)])
def test_exit_codes_follow_what_is_judged(judge, code, tmp_path):
    PEOPLE.assign(guess=blind(PEOPLE)).to_csv(tmp_path / "people.csv", index=False)
    OTHERS.assign(guess=blind(OTHERS)).to_csv(tmp_path / "others.csv", index=False)
    line = (
        f"audit {tmp_path}/people.csv --label good --prediction guess --sensitive sex --targets "
        f"{tmp_path}/others.csv --similarity mixed-tabular --similarity-settings.scales.income 10 "
        f"--budget 0.02 --delta 0.1 --judge {judge} --seed 0"
    )

    assert main(line.split()) == code


SURFACES = {
    "no bounds": ({"targets": None}, "inconclusive", "Not settled", "no bound on swaps with"),
    "within": (
        {"delta": 0.1},
        "certified",
        "Within the limit",
        "the share of errors would rise by at most",
    ),
}


@pytest.mark.parametrize("case", SURFACES)
def test_the_verdict_that_counts_is_the_one_on_every_surface(case, tmp_path):
    more, verdict, title, finding = SURFACES[case]
    result = audited(blind, judge="attributable", **({"delta": 0.05} | more))
    document, part = result.document(), result.attributable

    assert result.bounds_verdict == "rejected"
    assert result.verdict == part.verdict == document.verdict == verdict
    assert repr(result).startswith(
        f"AuditResult(verdict={verdict!r}, attributable={part.value:.4f}"
    )
    assert f"part       {part.value:.4f}" in repr(document)
    screen, page = str(result), result.to_html(tmp_path / "page.html").read_text("utf-8")
    heading = " ".join(screen.split("\nblind, ", maxsplit=1)[0].split())
    assert heading.startswith(f"{title.upper()} {finding}")
    assert heading.endswith(f"people of another sex; limit {result.delta:g}")
    junit = ET.fromstring(render_junit(document, failed=False))
    (properties, test) = junit.find("testsuite")
    values = {one.get("name").split(".")[1]: one.get("value") for one in properties}
    assert (values["verdict"], values["attributable"]) == (verdict, str(part.value))
    message = test.find("skipped").get("message") if case == "no bounds" else (
        test.find("system-out").text)  # fmt: skip
    assert title in message
    for text in (screen, message, page, result.to_markdown(), result._repr_html_()):
        assert title in text or title.upper() in text
        assert "δ-fairness rejected at level" not in text
        assert "Over the limit:" not in text
    assert (result.judged_bounds.lower, result.judged_bounds.upper) == (
        part.lower_bound, part.upper_bound,
    )  # fmt: skip


def test_a_shared_verdict_on_the_part_bounds_no_statistic():
    """That the part is at most δ says nothing of the statistic, which is more."""
    result = audited(blind, judge="attributable", delta=0.1)
    shared = result.document(5)

    assert shared.verdict == shared.attributable.verdict == "certified"
    assert shared.upper_bound is None or shared.upper_bound >= result.upper_bound
    assert shared.statistic > result.delta
    assert "left out of what is shared" in render(shared, "markdown")


def test_a_family_is_judged_by_the_statistic():
    with pytest.raises(ft.InputError, match="judge"):
        ft.audit_many(
            PEOPLE, "good", sensitive_features="sex", judge="attributable",
            audits={"a": {"model": blind}, "b": {"model": biased}},
        )  # fmt: skip


def test_a_random_twin_is_of_each_group_with_its_share():
    result = audited(biased, similarity="ignore-sensitive", budget=0, targets=None)
    share = (PEOPLE["sex"] == "m").mean()
    as_man, as_woman = (
        (biased(PEOPLE.assign(sex=sex)) != PEOPLE["good"]).mean() for sex in ("m", "f")
    )

    assert result.random_swap_risk == pytest.approx(share * as_man + (1 - share) * as_woman)
    assert result.baseline_risk < result.random_swap_risk < result.worst_case_risk


def test_without_twins_it_is_open():
    """Random swaps among people in the data change no mean, whatever the model."""
    people = PEOPLE.assign(guess=biased(PEOPLE), income=PEOPLE["income"] // 5)
    given = ft.audit(people, "good", y_pred="guess", sensitive_features="sex",
                     features=["income"], rng=0)  # fmt: skip

    assert given.random_swap_risk is None
    assert audit_of_biased().random_swap_risk is None
    assert audit_of_biased().summary.random_swap_risk is None


@pytest.mark.slow
def test_a_part_is_tested_at_a_threshold_of_none_as_its_bound_says():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 120), "age": rng.integers(20, 60, 120)})
    frame["y"] = rng.integers(0, 2, 120)
    reference = frame.sample(40, random_state=0).assign(age=lambda one: one["age"] + 100)
    result = ft.audit(
        frame, "y", model=lambda x: (x["sex"] == "m").astype(int), sensitive_features="sex",
        similarity=ft.similarity.MixedTabular(scales={"age": 40.0}), targets=reference,
        budget=9.0, delta=0.0, rng=0,
    )  # fmt: skip
    part = result.attributable

    assert part.verdict == "rejected"
    assert part.lower_bound > 0
    assert part.pvalue <= 0.05
