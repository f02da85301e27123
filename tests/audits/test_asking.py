"""Ways of asking: until there is a verdict, for several draws; what is told, what is refused."""

import itertools

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.errors import InputError

rng = np.random.default_rng(3)
PEOPLE = pd.DataFrame({"x": rng.integers(30, size=500), "g": rng.integers(2, size=500), "y": 1})
SETTINGS = {"sensitive_features": "g", "levels": {"g": [0, 1]}, "rng": 0}


class Box:
    """Errs on group 1 of some profiles; counts what it was asked."""

    def __init__(self, wrong, chance=1.0):
        self.wrong, self.chance, self.asked = wrong, chance, []
        self.rng = np.random.default_rng(1)

    def __call__(self, points):
        self.asked += list(zip(points["x"], points["g"], strict=True))
        errs = (points["x"] < self.wrong) & (points["g"] == 1)
        return (~(errs & (self.rng.random(len(points)) < self.chance))).astype(int).to_numpy()


def audited(box, *, says=None, **more):
    model = ft.access.Function(box, [0, 1], answers_at_random=says)
    names = ("log", "repeats", "draws", "about", "unit", "until_sure", "limit")
    queries = ft.Queries(**{name: more.pop(name) for name in names if name in more})
    return ft.audit(PEOPLE, "y", model=model, queries=queries, **SETTINGS | {"delta": 0.1} | more)


@pytest.mark.parametrize(
    ("wrong", "verdict", "most"),
    [(24, "rejected", 40), (1, "certified", 60), (6, "inconclusive", 60)],
)
def test_the_asking_stops_at_the_verdict(wrong, verdict, most):
    box = Box(wrong)
    result = audited(box, until_sure=True)

    assert result.verdict == verdict
    assert len(box.asked) == result.queried + 20
    assert len(set(box.asked)) == result.queried <= most
    assert result.query_record.people == 500
    assert result.query_record.stopped == ("everybody" if verdict == "inconclusive" else verdict)
    assert (result.n < 500) == (verdict != "inconclusive")
    assert any(f"stopped after {result.n} of 500 people" in one for one in result.warnings)
    assert (result.lower_bound >= 0.1) == (verdict == "rejected")
    assert (result.upper_bound <= 0.1) == (verdict == "certified")
    assert (result.pvalue <= 0.05) == (verdict == "rejected")
    assert (result.certificate_pvalue <= 0.05) == (verdict == "certified")
    assert 0 <= result.interval.lower <= result.lower_bound
    document = result.document()
    assert (document.method, document.guarantee) == ("anytime", "finite-sample")
    assert [one.method for one in document.methods] == ["anytime"]
    assert document.questions.stopped == result.query_record.stopped
    # limits for a fixed number of people would not hold here
    assert all(cell.lower is None for table in document.flows for cell in table.cells)
    assert "anytime" in result.to_markdown()
    assert f"mong the {result.n} people queried, errors would" in result.to_markdown()
    assert f", for {result.n} of 500 people, until " in result.to_markdown()
    # how many people would do is not known where the answers decide when to stop
    assert result.outlook is document.outlook is None


def test_a_statistic_is_that_of_the_people_asked_about():
    box = Box(24)
    result = audited(box, until_sure=True)
    gains = [
        (x < 24) * (g == 0) for x, g in result.moves[["from_x", "from_g"]].itertuples(index=False)
    ]

    assert all(gains)
    assert result.statistic == result.moved.total / result.n == result.law.estimate


@pytest.mark.parametrize("budget", [2, 9, 20])
def test_a_budget_of_questions_is_never_exceeded(budget):
    box = Box(6)
    result = audited(box, until_sure=True, limit=budget)

    repeats = result.query_record.repeats.count
    # a person needs two questions, and some are asked again
    assert budget - 1 <= len(box.asked) == result.queried + repeats <= budget
    assert repeats == budget // 3
    assert (result.verdict, result.query_record.stopped) == ("inconclusive", "budget")


def test_stopped_audits_go_on_from_their_log(tmp_path):
    log, first = tmp_path / "a.sqlite", Box(24)
    more = {"queries": ft.Queries(until_sure=True, log=log, repeats=0)}

    def asked(box):
        model = ft.access.named(ft.access.Function(box, [0, 1]), "box 1")
        return ft.audit(PEOPLE, "y", model=model, **SETTINGS, delta=0.1, **more)

    found, second = asked(first), Box(24)
    again = asked(second)
    assert len(first.asked) == found.queried > 0
    assert not second.asked
    assert again.document().to_json() == found.document().to_json()


@pytest.mark.parametrize("draws", [1, 2, 7])
def test_each_question_is_asked_so_many_times(draws):
    box = Box(24, 0.6)
    result = audited(box, draws=draws, says=True)
    times = pd.Series(box.asked).value_counts()

    document = result.document()
    assert (document.about, document.questions.unit) == ("population", None)
    assert set(times) == {draws}
    assert len(times) == result.queried == 60
    assert result.query_record.draws == result.document().questions.draws == draws
    assert result.upper_bound == np.inf
    assert result.verdict in {"rejected", "inconclusive"}
    assert result.baseline_risk == pytest.approx(
        float(result.space.frequencies @ result.problem.losses)
    )
    assert result.statistic == result.law.estimate != result.solution.value
    assert result.document().method == "draws"
    assert result.outlook is None
    assert any("chance is not counted" in one for one in result.document().warnings)
    # a question has several answers, and accuracy is none of the most frequent one's
    assert result.document().group_metrics == ()
    assert any("This report has no group metrics" in one for one in result.document().warnings)


def test_one_answer_is_for_good_unless_the_model_says_otherwise():
    plain, told = audited(Box(24)), audited(Box(24), draws=1, says=False)

    assert plain.query_record.draws is told.query_record.draws is None
    assert plain.document().to_json() == told.document().to_json()
    assert audited(Box(24), says=True).document().method == "draws"
    random = ft.access.Function(Box(24), [0, 1], answers_at_random=True)
    more = {"sensitive_features": "g"}
    with pytest.raises(InputError, match="`models` must not answer at random"):
        ft.compare(PEOPLE, "y", models={"a": random, "b": random}, **more)
    with pytest.raises(InputError, match="`model` must not answer at random"):
        ft.Monitor(y="y", model=random, levels={"g": [0, 1]}, delta=0.1, **more)


def test_draws_are_kept_apart_in_a_log(tmp_path):
    log = tmp_path / "a.sqlite"

    def asked(box, draws):
        model = ft.access.named(ft.access.Function(box, [0, 1]), "box 1")
        return ft.audit(
            PEOPLE,
            "y",
            model=model,
            **SETTINGS,
            delta=0.1,
            queries=ft.Queries(log=log, draws=draws),
        )

    first, more, same = Box(24, 0.6), Box(24, 0.6), Box(24, 0.6)
    asked(first, 2)
    found = asked(more, 5)
    assert (len(first.asked), len(more.asked)) == (120, 180)
    assert asked(same, 5).lower_bound == found.lower_bound
    assert not same.asked


def test_every_surface_says_what_a_bound_from_draws_is_about():
    both = {about: audited(Box(24, 0.6), draws=5, about=about) for about in ("population", "these")}
    for about, words in (
        ("population", "about the population that these people were drawn from"),
        ("these", "about these people only"),
    ):
        result, other = both[about], "these people only" if about == "population" else "population"
        document = result.document()
        assert document.about == about
        assert document.guarantee_words == f"finite-sample, {words}"
        assert words in repr(document)
        assert any(f"The bound is {words}." in one for one in document.warnings)
        page = result.to_markdown()
        assert f"Guarantee: finite-sample, {words}" in page
        assert f"The bound is {words}" in page
        assert other not in document.guarantee_words
    assert "statistic of these cases" in both["these"].to_markdown()
    assert "random sample" in both["population"].to_markdown()
    assert "random sample" not in both["these"].to_markdown()
    for result in both.values():  # means of draws are no numbers of people
        assert "the share of errors would rise by at least" in " ".join(str(result).split())
        assert "of these people" not in str(result)
    # the label stays where the way of asking is left out
    shared = both["these"].document(share=2)
    assert (shared.questions, shared.about) == (None, "these")
    # a statement about these cases alone has no sampling error
    assert both["these"].lower_bound >= both["population"].lower_bound


def test_differences_of_graded_scores_count_up_to_a_unit():
    noise = np.random.default_rng(4)

    def score(points):
        worse = (points["g"] == 1) & (points["x"] < 24)
        rare = noise.random(len(points)) < 0.03
        return np.where(rare, 9.0, 0.4 * worse + 0.5 * (noise.random(len(points)) < 0.5))

    more = {"loss": "outcome", "loss_range": (0, 9), "delta": 0.01, **SETTINGS}
    found = {
        unit: ft.audit(
            PEOPLE[["x", "g"]], model=ft.access.Function(score, answers_at_random=True), **more,
            queries=ft.Queries(draws=20, about="these", unit=unit),
        )
        for unit in (None, 1.0)
    }  # fmt: skip
    assert found[1.0].document().questions.unit == 1.0
    assert any("are cut off at 1." in one for one in found[1.0].document().warnings)
    assert "differences of two losses are clipped at 1" in found[1.0].to_markdown()
    assert found[None].lower_bound < found[1.0].lower_bound
    assert found[1.0].verdict == "rejected"


@pytest.mark.slow
def test_the_mean_evalue_of_audits_about_these_cases_is_at_most_one():
    """Over all outcomes of two draws of four questions, through `audit`."""
    chances, total = np.array([[0.3, 0.6], [0.5, 0.2]]), 0.0
    cases = pd.DataFrame({"x": [0, 0, 0, 1], "g": [0, 0, 1, 1], "y": 1})
    rises = chances.max(axis=1)[cases["x"]] - chances[cases["x"], cases["g"]]
    for bits in itertools.product((0, 1), repeat=8):
        wrong, asked = np.reshape(bits, (2, 2, 2)), []

        def answer(points, wrong=wrong, asked=asked):
            asked.append(1)
            return 1 - wrong[len(asked) - 1, points["x"], points["g"]]

        result = ft.audit(
            cases, "y", model=ft.access.Function(answer, [0, 1], answers_at_random=True),
            delta=float(rises.mean()), queries=ft.Queries(draws=2, about="these"), **SETTINGS,
        )  # fmt: skip
        chance = np.where(wrong == 1, chances, 1 - chances).prod()
        total += chance * result.evalue
    assert 0.1 < total <= 1 + 1e-12


def test_many_draws_of_a_biased_box_reject_where_noise_alone_does_not():
    assert audited(Box(24, 0.9), draws=10, delta=0.05).verdict == "rejected"

    class Noise(Box):
        def __call__(self, points):
            return (self.rng.random(len(points)) < 0.5).astype(int)

    plain = audited(Noise(0), delta=0.05)
    drawn = audited(Noise(0), delta=0.05, draws=10)
    # one answer for good makes bias of noise
    assert plain.statistic > 0.15
    assert drawn.statistic < 0.05 < drawn.solution.value
    assert drawn.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"until_sure": True, "delta": None}, "`delta` must be given with `queries.until_sure`"),
        ({"until_sure": 1}, "`queries.until_sure` must be True or False, got 1"),
        ({"limit": 5}, "`queries.limit` must be given with `queries.until_sure`"),
        ({"until_sure": True, "limit": 0}, "must be a whole number of at least 1, got 0"),
        ({"until_sure": True, "limit": 1}, "2 queries about one person, beside 0 repeated"),
        ({"until_sure": True, "draws": 2}, "must not be given together"),
        ({"draws": 0}, "`queries.draws` must be a whole number of at least 1, got 0"),
        ({"draws": 2.5}, "`queries.draws` must be a whole number of at least 1, got 2.5"),
        ({"repeats": -1}, "`queries.repeats` must be a whole number of at least 0, got -1"),
        ({"draws": 2, "about": "those"}, "`queries.about` must be one of"),
        ({"about": "these"}, "`queries.about` must be given with `queries.draws` of 2 or more"),
        ({"unit": 0.5}, "`queries.unit` must be given with `queries.draws` of 2 or more, got 0.5"),
        ({"says": True, "about": "these"}, "`queries.draws` of 2 or more, got 'these' with 1"),
        ({"draws": 2, "unit": 0}, "`queries.unit` must be a number above 0, got 0"),
        ({"draws": 2, "unit": -1.0}, "`queries.unit` must be a number above 0, got -1.0"),
        ({"draws": 2, "unit": np.inf}, "`queries.unit` must be a finite number above 0, got inf"),
        ({"draws": 2, "unit": "one"}, "`queries.unit` must be a number above 0, got 'one'"),
        ({"draws": 2, "unit": 0.5}, "`queries.unit` is for losses of more than two values"),
        ({"draws": 2, "unit": 3.0, "loss": "absolute", "loss_range": (0, 2)},
         "`queries.unit` must be at most the range of the loss, 2, got 3"),
        ({"draws": 2, "budget": 0.1}, "`queries.draws` needs a `budget` of 0, got 0.1"),
        ({"says": True, "budget": 0.1}, "a model that answers at random needs a `budget` of 0"),
        ({"says": True, "until_sure": True}, "a model that does not answer at random"),
        ({"says": False, "draws": 2},
         "`queries.draws` needs a model that answers at random, got one that"),
        ({"draws": 2, "method": "efron"}, "needs the `method` 'finite-sample', got 'efron'"),
        ({"until_sure": True, "loss": "squared"},
         "`loss_range` must be given for the loss 'squared'"),
        ({"until_sure": True, "targets": PEOPLE[:9]}, "without `targets`, got `targets`"),
        ({"draws": 2, "similarity": ft.similarity.IgnoreSensitive(tolerance={"x": 1})},
         "IgnoreSensitive() without `targets`, got IgnoreSensitive(exact=(), tolerance={'x': 1}"),
    ],
)  # fmt: skip
def test_ways_of_asking_without_a_proof_are_refused_before_anything_is_asked(more, sentence):
    box = Box(3)
    with pytest.raises(InputError) as caught:
        audited(box, **more)
    assert sentence in str(caught.value)
    assert not box.asked


def test_given_predictions_cannot_be_asked_for():
    for more in (ft.Queries(draws=2), ft.Queries(until_sure=True)):
        with pytest.raises(InputError, match="needs a `model` to query, got predictions"):
            ft.audit(
                PEOPLE,
                "y",
                y_pred="x",
                sensitive_features="g",
                features=["g"],
                delta=0.1,
                queries=more,
            )


def test_an_audit_that_stopped_plans_no_other():
    with pytest.raises(InputError, match="`pilot` must be an audit with one answer for each"):
        ft.inference.sample_size(pilot=audited(Box(24), until_sure=True), delta=0.1)
