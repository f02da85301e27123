"""How many cases would settle an open verdict: plans and fresh audits agree with the estimate."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.inference import sample_size
from fairtransport.report.sections.finding import outlook_sentence

PROFILE = ["sex", "age"]


def people(size, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "sex": rng.choice(["f", "m"], size), "age": rng.integers(20, 60, size),
        "good": rng.integers(0, 2, size),
    })  # fmt: skip


def model(points):
    # one in ten is judged by sex alone
    return np.where(points["age"] % 10 == 3, points["sex"] == "m", points["age"] > 40).astype(int)


def audited(size, seed=1, **more):
    settings = {"sensitive_features": "sex", "features": PROFILE, "model": model} | more
    return ft.audit(people(size, seed), "good", rng=0, **settings)


def test_an_exact_plan_is_told_where_there_is_one():
    result = audited(400, delta=0.04)
    plan = sample_size(pilot=result)

    assert result.verdict == "inconclusive"
    assert result.outlook.goal == "reject"
    assert plan.n <= result.outlook.cases < 1.1 * plan.n + 10
    sentence = outlook_sentence(result.summary)
    more, power = f"{result.outlook.cases - 400:,} more than here", 100 * result.outlook.power
    assert sentence.startswith(f"About {result.outlook.cases:,} people ({more}) would show with")
    assert f"a chance of {power:g} % that the model is over the limit." in sentence
    assert sentence in " ".join(str(result).split())


def test_a_certificate_has_an_outlook_too():
    result = audited(400, delta=0.06)

    assert (result.verdict, result.outlook.goal) == ("inconclusive", "certify")
    assert audited(2 * result.outlook.cases, 8, delta=0.06).verdict == "certified"


@pytest.mark.slow
@pytest.mark.parametrize("levels", [{"sex": ["f", "m"]}, None])
def test_so_many_cases_do_settle_it_in_about_as_many_samples_as_said(levels):
    # scores have no exact plan
    scores = ft.access.Function(
        lambda points: 0.5 + 0.1 * (points["sex"] == "m") - 0.001 * points["age"], classes=[0, 1]
    )
    asked = {"model": scores, "loss": "brier", "delta": 0.045, "levels": levels}
    truth = audited(20_000, 3, **asked).statistic
    # a sample like the population, as the estimate assumes
    pilots = [audited(300, seed, **asked) for seed in range(30)]
    pilot = min(pilots, key=lambda one: abs(one.statistic - truth))

    assert pilot.verdict == "inconclusive"
    settled = np.mean([
        audited(pilot.outlook.cases, 100 + seed, **asked).verdict == "rejected"
        for seed in range(60)
    ])  # fmt: skip
    error = np.sqrt(0.8 * 0.2 / 60)
    assert abs(settled - pilot.outlook.power) < 3 * error


def test_what_cannot_be_settled_is_told():
    given = audited(300, model=None, y_pred=np.zeros(300, int), features=PROFILE, delta=0.6)
    near = audited(2000, delta=float(audited(2000).statistic) + 1e-9)

    assert given.statistic < 0.6
    assert given.outlook is None or not given.outlook.possible
    assert near.outlook.cases is None
    assert "more than ten million people" in outlook_sentence(near.summary)


def test_only_an_open_verdict_has_one_and_shared_documents_have_none():
    assert audited(400).outlook is None
    assert audited(400, delta=0.5).outlook is None
    assert audited(400, delta=0.04).document(5).outlook is None


def test_it_is_cheap():
    import time

    delta, took = float(audited(400).statistic) * 0.99, []
    # the least of three, as the first may compile and others may keep the processor busy
    for _ in range(3):
        result = audited(400, delta=delta)
        _ = result.verdict
        begin = time.process_time()
        _ = result.outlook
        took.append(time.process_time() - begin)

    assert min(took) < 0.5
