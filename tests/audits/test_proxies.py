"""Which columns tell a sensitive feature, and what of the statistic goes through them."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

import fairtransport as ft
from fairtransport.cli import main
from fairtransport.errors import InputError
from fairtransport.explain import proxies as module

FEATURES = ["height", "shoe", "grade", "job"]


def draw(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    height = rng.normal(np.where(sex == "m", 180, 170), 5)
    return pd.DataFrame({
        "sex": sex, "height": height, "shoe": (height / 4 + rng.normal(size=n)).round(),
        "grade": rng.normal(size=n), "job": rng.choice(["a", "b", "c"], n),
    })  # fmt: skip


def model(points):
    return (points["height"] > 170).astype(int)


def heights_differ_between_sexes(price=0.0):
    """A similarity in which another height costs nothing for somebody of the other sex."""

    def cost(first, second):
        grade = (first["grade"] - second["grade"]) ** 2 + (first["job"] != second["job"])
        tall = ((first["height"] - second["height"]) / 5) ** 2
        return grade + np.where(first["sex"] == second["sex"], tall, price)

    return ft.similarity.Custom(cost)


@pytest.fixture(scope="module")
def result():
    people = draw(600, 0).assign(good=lambda cases: (cases["grade"] > 0).astype(int))
    return ft.audit(
        people, "good", model=model, features=FEATURES, sensitive_features="sex",
        similarity=heights_differ_between_sexes(), budget=0.05, delta=0.1, rng=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(result):
    (one,) = result.proxies(model).proxy_list
    return one, {column.name: column for column in one.columns}


def test_a_planted_proxy_is_found(found):
    one, columns = found

    # the best predictor, by height at 175, is right for Φ(1) = .84 of the people
    assert one.lower <= norm.cdf(1) <= one.upper
    assert one.lower > 0.7
    assert one.columns[0].name == "height"
    assert columns["height"].alone > columns["shoe"].alone > 0.65
    for name in ("grade", "job"):
        assert abs(columns[name].alone - 0.5) < 0.1
    # shoes tell most of what height tells
    assert columns["height"].without > 0.65


def test_what_goes_through_a_column_is_what_the_model_uses(result, found):
    one, columns = found

    assert result.statistic > 0.2
    assert one.statistic == pytest.approx(result.statistic)
    assert one.needing == pytest.approx(result.statistic, abs=0.01)
    assert columns["height"].moved_alone == pytest.approx(one.needing)
    assert columns["height"].moved_without == pytest.approx(0)
    for name in ("shoe", "grade", "job"):
        assert columns[name].moved_alone == pytest.approx(0)
        assert columns[name].moved_without == pytest.approx(one.needing)


@pytest.mark.slow
def test_words_and_seed(result, found):
    said = str(found[0])

    assert said.startswith("The model's columns predict sex with a balanced accuracy of 0.8")
    assert "guessing would have 0.50" in said
    assert "Another predictor may do better" in said
    assert result.proxies(model).proxy_list == result.proxies(model).proxy_list
    (without,) = result.proxies().proxy_list
    assert (without.statistic, without.columns[0].moved_alone) == (None, None)
    assert without.accuracy == found[0].accuracy


@pytest.mark.slow
def test_swaps_that_need_it_are_told_from_those_that_do_not():
    """Grades may change a little for the budget, which has nothing to do with the sex."""

    def both(points):
        return ((points["height"] > 165) & (points["grade"] > 0)).astype(int)

    people = draw(300, 4).assign(good=lambda cases: (cases["grade"] > 0).astype(int))
    audited = ft.audit(
        people, "good", model=both, features=FEATURES, sensitive_features="sex",
        similarity=heights_differ_between_sexes(0.02), budget=0.05, rng=0,
    )  # fmt: skip
    (one,) = audited.proxies(both).proxy_list
    height = next(column for column in one.columns if column.name == "height")

    assert audited.attributable.same_group > 0.01
    assert audited.attributable.value - 1e-9 <= one.needing < one.statistic
    assert one.statistic == pytest.approx(audited.statistic)
    # what of them goes through a column is no more than they add
    assert 0.5 * one.needing < height.moved_alone <= one.needing + 1e-9


@pytest.mark.slow
def test_documents_have_it_once_it_was_asked(result, tmp_path):
    assert result.summary.proxies == result.proxy_list == ()
    fresh = result.proxies(model)
    (one,) = fresh.proxy_list
    told = json.loads(fresh.to_json(tmp_path / "audit.json").read_text("utf-8"))["proxies"]

    assert told[0]["columns"][0]["name"] == "height"
    assert told[0]["needing"] == pytest.approx(one.needing)
    page = fresh.to_html(tmp_path / "audit.html").read_text("utf-8")
    for text in (page, fresh.to_markdown()):
        assert "Columns that predict sex" in text
        assert "The other columns that the model receives predict sex" in text
        assert "The column that depends most on sex is height." in text
        assert f"{one.needing:.4f} of it in swaps that need sensitive features to change" in text
    # the result that was asked stays as it was, and a plan at another budget is another plan
    assert result.proxy_list == result.headline.proxies == fresh.at_budget(0).proxy_list == ()
    assert "Columns that predict sex" not in result.to_markdown()
    # who shares a document tells nothing of halves of the people
    assert fresh.document(share=5).proxies == ()


@pytest.mark.slow
def test_the_command_line_reports_it_if_told_to(capsys, tmp_path):
    people = draw(300, 0).assign(good=lambda cases: (cases["grade"] > 0).astype(int))
    with pytest.raises(InputError, match="`proxies` needs sensitive features of at most 20 values"):
        ft.audit(
            people, y_pred="good", features=FEATURES, sensitive_features="height",
            loss="outcome", loss_range=(0, 1), rng=0,
        ).proxies()  # fmt: skip
    people.assign(guess=model).to_csv(tmp_path / "cases.csv", index=False)
    line = ["audit", str(tmp_path / "cases.csv"), "--label", "good", "--prediction", "guess"]
    line += ["--sensitive", "sex", "--features", ",".join(FEATURES), "--proxies", "--seed", "0"]
    assert main(line) == 5
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "The column that depends most on sex is height." in printed


@pytest.mark.slow
def test_names_are_text_and_of_many_columns_those_used_most_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_PROXY_COLUMNS", 4)
    people = draw(200, 5).rename(columns={"height": "<b>tall</b>"}).assign(good=1)
    noise = np.random.default_rng(6).normal(size=(200, 40))
    names = [f"noise_{at}" for at in range(40)]
    people = people.join(pd.DataFrame(noise, columns=names))
    features = ["<b>tall</b>", "job", *names]
    result = ft.audit(
        people, "good", y_pred=np.ones(200, int), features=features, sensitive_features="sex",
        rng=0,
    ).proxies()  # fmt: skip
    (one,) = result.proxy_list
    page = result.to_html(tmp_path / "audit.html").read_text("utf-8")

    assert (len(one.columns), one.left_out) == (4, 38)
    assert one.columns[0].name == "<b>tall</b>"
    assert "&lt;b&gt;tall&lt;/b&gt;" in page
    assert "<b>tall" not in page
    assert "<b>tall" not in result.to_markdown()
    assert "38 more columns were not examined" in page


def test_another_model_is_refused(result):
    with pytest.raises(InputError, match="`model` is not the audited model"):
        result.proxies(lambda points: (points["grade"] > 0).astype(int))


def test_what_tells_nothing_looks_like_guessing():
    people = draw(400, 2).assign(good=1, sex=np.random.default_rng(3).choice(["f", "m"], 400))
    given = dict(y_pred=np.ones(400, int), features=FEATURES, sensitive_features="sex", rng=0)
    (one,) = ft.audit(people, "good", **given).proxies().proxy_list

    assert one.lower < 0.5 < one.upper


def test_refusals():
    people = draw(60, 2).assign(good=1)
    given = dict(y_pred=np.ones(60, int), rng=0)
    with pytest.raises(InputError, match="`model` must be left out where the audit was of pred"):
        ft.audit(people, "good", sensitive_features="sex", **given).proxies(model)
    with pytest.raises(InputError, match="at most 20 values, got 60 of height"):
        ft.audit(people, "good", sensitive_features="height", **given).proxies()
    alone = people[["sex", "good"]]
    with pytest.raises(InputError, match="needs an audit with columns that are not sensitive"):
        ft.audit(alone, "good", sensitive_features="sex", **given).proxies()


def test_intervals_are_the_exact_ones_of_each_level_together(result, monkeypatch):
    rows = np.flatnonzero(result.space.observed)
    telling = module.ProxyPredictor(result.space, "sex", rows[:200], rows[200:320])
    monkeypatch.setattr(module.ProxyPredictor, "_count_right", lambda *_: ([30, 41], [52, 50]))
    shown, lower, upper = telling.interval(["height"], 0.1)
    exact = [binomtest(*pair).proportion_ci(0.95) for pair in ((30, 52), (41, 50))]

    assert shown == pytest.approx((30 / 52 + 41 / 50) / 2)
    assert lower == pytest.approx(np.mean([one.low for one in exact]))
    assert upper == pytest.approx(np.mean([one.high for one in exact]))


@pytest.mark.parametrize("n", [30, 300])
def test_intervals_cover(n):
    rng = np.random.default_rng(7)
    shares, covered = np.array([0.9, 0.6]), 0
    for _ in range(500):
        of = rng.multinomial(n, [0.3, 0.7])
        right = rng.binomial(of, shares)
        lower, upper = module.bound_balanced_accuracy(right.tolist(), of.tolist(), 0.1)
        covered += lower <= shares.mean() <= upper

    assert covered >= 500 * 0.9 - 3 * np.sqrt(500 * 0.9 * 0.1)
