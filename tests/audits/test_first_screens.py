"""What an auditor reads first of systems that misled once: from files to screen, JSON, code."""

import json

import numpy as np
import pandas as pd
import pytest

from fairtransport.cli.entry_point import main

TOLD = "--label good --sensitive sex --seed 0"
GIVEN = f"{TOLD} --prediction guess"


def applicants(n, seed):
    """People whose income goes with their sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    income = (rng.normal(30, 6, n) + 4 * (sex == "m")).round()
    good = (rng.random(n) < 1 / (1 + np.exp(-(income - 32) / 4))).astype(int)
    return pd.DataFrame({"sex": sex, "income": income, "good": good})


def by_income(people):
    return (people["income"] > 32).astype(int)


PEOPLE, OTHERS = applicants(400, 0), applicants(80, 1)


@pytest.fixture
def audit(tmp_path, capsys):
    """Return what an audit from the command line says: code, screen, document, first page."""

    def run(people, line, **others):
        for name, frame in {"people": people, **others}.items():
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
        written = f"--json {tmp_path}/audit.json --report {tmp_path}/report.html"
        words = line.replace("FOLDER", str(tmp_path)).split()
        code = main(["audit", f"{tmp_path}/people.csv", *words, *written.split()])
        screen = capsys.readouterr().out
        plain = " ".join("".join(" " if one in "│╭╮╰╯─" else one for one in screen).split())
        document = json.loads((tmp_path / "audit.json").read_text("utf-8"))
        page = (tmp_path / "report.html").read_text("utf-8").replace("\u00a0", " ")
        return code, plain, document, page.split("<body")[1].split("</section>")[0]

    return run


def test_a_blind_model_is_not_certified(audit, tmp_path):
    import skops.io as skops
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(OTHERS[["income"]], OTHERS["good"])
    skops.dump(model, tmp_path / "model.skops")
    code, screen, document, page = audit(PEOPLE, f"{TOLD} --model FOLDER/model.skops --delta 0.05")

    assert (code, document["verdict"]) == (5, "not-applicable")
    for text in (screen, page):
        assert "this audit cannot tell" in text.lower()
        assert "he model does not receive sex" in text
        assert "certified" not in text.split("receives")[0]
    assert "--similarity counterparts" in screen


def test_a_blind_system_that_knows_more_columns_is_not_rejected(audit):
    hidden = np.random.default_rng(2).normal(size=len(PEOPLE))
    people = PEOPLE.assign(guess=(PEOPLE["income"] + 8 * hidden > 32).astype(int))
    people["income"] = people["income"] // 5
    code, screen, document, page = audit(people, f"{GIVEN} --delta 0.05")

    assert (code, document["verdict"]) == (0, "inconclusive")
    assert document["disagreement"] > 0.3
    assert document["rates"]["lower_bound"] <= 0.05
    for text in (screen, page):
        assert "We could not show a difference" in text
        assert "This does not mean there is none" in text
        assert "δ-fairness rejected" not in text


def test_where_nobody_is_comparable_nothing_passes(audit):
    people = PEOPLE.assign(guess=by_income(PEOPLE), case=range(len(PEOPLE)))
    code, screen, document, page = audit(people, f"{GIVEN} --delta 0.05")

    assert (code, document["verdict"], document["comparable_share"]) == (5, "not-applicable", 0)
    assert "obody can be compared" in screen
    assert "obody can be compared" in page


def test_a_similarity_that_took_out_every_direction_claims_no_worst_case(audit):
    learned = "--similarity sensitive-subspace --similarity-settings.fit FOLDER/history.csv"
    people = PEOPLE.assign(guess=by_income(PEOPLE))
    code, screen, document, page = audit(
        people, f"{GIVEN} --features income {learned} --budget 0.01 --delta 0.05", history=OTHERS
    )

    assert (code, document["verdict"]) == (5, "not-applicable")
    for text in (screen, page):
        assert "nder this similarity, all people with the same true label have distance 0" in text
        assert "would go from" not in text


@pytest.mark.slow
def test_near_people_of_one_group_are_told_from_those_of_another(audit):
    stated = "--similarity mixed-tabular --similarity-settings.scales.income 10 --budget 0.02"
    line = f"{GIVEN} {stated} --targets FOLDER/others.csv --delta 0.1"
    people, others = (one.assign(guess=by_income(one)) for one in (PEOPLE, OTHERS))
    code, screen, document, page = audit(people, line, others=others)

    assert (code, document["verdict"]) == (3, "rejected")
    assert document["attributable"]["verdict"] == "certified"
    for text in (screen, page):
        assert "of the statistic comes from people of the same sex already" in text
        assert "of it needs people of another sex" in text
    judged, screen, _, page = audit(people, f"{line} --judge attributable", others=others)
    assert judged == 0
    for text in (screen, page):
        assert "the part that needs sensitive features to change: certified" in text


def test_the_group_that_fares_worse_is_named_as_such(audit):
    """Women are refused whom men of the same income are not."""
    people = PEOPLE.assign(income=PEOPLE["income"] // 5 * 5, good=1)
    people["guess"] = ((people["income"] > 30) | (people["sex"] == "m")).astype(int)
    code, screen, document, _ = audit(people, f"{GIVEN} --delta 0.05")

    assert (code, document["verdict"]) == (3, "rejected")
    errors = document["rates"]["by_group"][-1]
    assert (errors["measure"], errors["worst"]) == ("error", {"sex": "f"})
    assert "Errors, among people with equal income and good: f 80.3 %, m 0 %" in screen
    assert "would go from" not in screen
