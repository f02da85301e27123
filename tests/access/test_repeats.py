"""Questions that are asked a second time: which, of whom, and what counts as the same answer."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.access.repeats import DEFAULT_REPEATS, count_repeats, same_answer
from fairtransport.inference.clopper_pearson import share_upper_bound

PEOPLE = pd.DataFrame({"g": ["a", "b"] * 30, "x": np.arange(60) // 2, "good": [0, 1, 1] * 20})


class Box(ft.access.BlackBox):
    """A box that gives another answer to every fifth question it hears a second time."""

    name, library, features, classes = "box", "pandas", None, [0, 1]
    identity = "box 1"

    def __init__(self, *, moody=False, points_per_call=None):
        self.asked, self.moody = {}, moody
        if points_per_call:
            self.points_per_call = points_per_call

    def answer(self, points, _):
        said = []
        for g, x in zip(points["g"], points["x"], strict=True):
            times = self.asked[g, x] = self.asked.get((g, x), 0) + 1
            flips = self.moody and times > 1 and x % 5 == 0
            said.append((x + (g == "a") + flips) % 2)
        return np.array(said)


def audited(box, **more):
    return ft.audit(PEOPLE, "good", model=box, sensitive_features="g", delta=0.1, rng=0, **more)


@pytest.mark.parametrize("points_per_call", [None, 7])
def test_some_questions_are_asked_again_unless_told(points_per_call):
    box = Box(points_per_call=points_per_call)
    result = audited(box)

    assert sum(box.asked.values()) == 60 + DEFAULT_REPEATS
    assert max(box.asked.values()) == 2
    # a second answer is no further question
    assert result.queried == 60
    assert result.query_record.repeats.count == DEFAULT_REPEATS
    assert result.document().questions.repeated == DEFAULT_REPEATS
    # of a model in this process nobody expects anything else
    is_told = any("repeated queries" in one for one in result.warnings)
    assert is_told == (points_per_call is not None)


def by_position(points):
    return np.arange(len(points)) % 2


def by_batch(points):
    return (points["x"] >= points["x"].mean()).astype(int).to_numpy()


def by_size(points):
    return np.full(len(points), len(points) % 2)


class Batched(ft.access.BlackBox):
    """A model elsewhere, which receives seven points a call."""

    points_per_call, classes = 7, (0, 1)

    def __init__(self, function):
        self.function = function

    def answer(self, points, _):
        return self.function(points)


@pytest.mark.parametrize(
    ("model", "size"),
    [(by_position, 60), (by_position, 8), (by_position, 6), (by_batch, 60), (by_size, 60)],
)
@pytest.mark.parametrize("wrap", [ft.access.as_black_box, Batched])
@pytest.mark.parametrize("seed", range(3))
def test_answers_that_depend_on_the_other_rows_leave_no_verdict(model, size, wrap, seed):
    result = ft.audit(
        PEOPLE[:size], "good", model=wrap(model), sensitive_features="g", delta=0.1, rng=seed
    )

    assert result.verdict == "not-applicable"
    assert "by the order or number of the rows" in result.applicability


def build_quota():
    """A model that says yes to the first thirty whom it hears of."""
    heard = iter(range(10_000))
    return lambda points: np.array([next(heard) < 30 for _ in range(len(points))], int)


def build_follower():
    """A model that compares each point with the one before, also across calls."""
    last = [0]

    def follow(points):
        values = [*last, *points["x"]]
        last[0] = values[-1]
        return (np.diff(values) < 0).astype(int)

    return follow


def spot_twins(points):
    """Say yes to a point whose twin is asked about in the same call, before it."""
    return points.duplicated(["x"]).astype(int).to_numpy()


@pytest.mark.parametrize("build", [build_quota, build_follower, lambda: spot_twins])
@pytest.mark.parametrize("seed", range(3))
def test_models_that_remember_questions_leave_no_verdict(build, seed):
    result = ft.audit(PEOPLE, "good", model=build(), sensitive_features="g", delta=0.4, rng=seed)
    assert result.verdict == "not-applicable"
    assert "repeated queries got a different" in result.applicability


def test_a_model_that_answers_at_random_is_not_asked_again():
    box = ft.access.Function(len, answers_at_random=True)
    assert count_repeats(box, None) == count_repeats(box, 9) == count_repeats(None, 9) == 0
    assert count_repeats(ft.access.as_black_box(len), None) == DEFAULT_REPEATS
    assert count_repeats(ft.access.as_black_box(len), 30, limit=24) == 8


def test_what_is_repeated_is_never_from_the_log(tmp_path):
    log = tmp_path / "a.sqlite"
    audited(Box(), queries=ft.Queries(log=log))
    box = Box()
    result = audited(box, queries=ft.Queries(log=log, repeats=12))

    assert len(box.asked) == sum(box.asked.values()) == result.query_record.repeats.count == 12
    # nobody is there to be asked again
    again = audited(ft.access.load(log), queries=ft.Queries(repeats=12))
    assert again.query_record.repeats.count == 0


def test_answers_that_differ_leave_no_verdict_and_are_told_with_their_limit():
    result = audited(Box(moody=True), queries=ft.Queries(repeats=60))
    differed = 12

    assert result.query_record.repeats.differed == differed
    assert result.verdict == "not-applicable"
    assert "12 of 60 repeated queries got a different answer" in result.applicability
    assert "`queries.draws`" in result.advice
    summary = result.document().questions
    assert summary.differed == differed
    assert summary.differed_at_most == share_upper_bound(differed, 60, 0.05)
    assert any(
        "12 got a different answer; of all queries at most 30" in one for one in result.warnings
    )


def test_the_limit_covers_the_share_of_unsteady_answers():
    """Of 1000 questions 100 are answered otherwise with probability .5: a share of .05."""
    rng = np.random.default_rng(5)
    chance, runs = np.r_[np.full(100, 0.5), np.zeros(900)], 2000
    seen = [
        int((rng.random(40) < chance[rng.permutation(1000)[:40]]).sum()) for _ in range(runs)
    ]  # fmt: skip
    missed = sum(share_upper_bound(one, 40, 0.05) < chance.mean() for one in seen)

    # three standard errors above .05
    assert missed / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (1, 1, True), ("a", "b", False), (0.5, 0.5 + 1e-9, True), (0.5, 0.51, False),
        ([0.2, 0.8], [0.2, 0.8 + 1e-8], True), ([0.2, 0.8], [0.3, 0.7], False), (1, "1", False),
    ],
)  # fmt: skip
def test_rounding_is_no_difference(before, now, same):
    assert same_answer(before, now) is same


@pytest.mark.parametrize("moody", [False, True])
@pytest.mark.parametrize("repeats", [None, 60, 0])
def test_the_audits_of_a_family_share_second_answers_too(moody, repeats):
    box = Box(points_per_call=7, moody=moody)
    found = ft.audit_many(
        PEOPLE, "good", audits={"a": {"delta": 0.1}, "b": {"delta": 0.2}}, model=box,
        sensitive_features="g", rng=0, queries=ft.Queries(repeats=repeats),
    )  # fmt: skip
    again = DEFAULT_REPEATS if repeats is None else repeats
    alone = audited(Box(points_per_call=7, moody=moody), queries=ft.Queries(repeats=repeats))

    assert sum(box.asked.values()) == 60 + again
    assert found.queried == 60
    assert {one.query_record.repeats for one in found.values()} == {alone.query_record.repeats}
    assert (found.verdicts["a"] == "not-applicable") == (moody and again > 0)


@pytest.mark.parametrize("moody", [False, True])
def test_models_that_are_compared_are_asked_again(moody):
    boxes = {"old": Box(points_per_call=7), "new": Box(points_per_call=7, moody=moody)}
    found = ft.compare(PEOPLE, "good", models=boxes, sensitive_features="g", rng=0)

    assert [sum(box.asked.values()) for box in boxes.values()] == [60 + DEFAULT_REPEATS] * 2
    assert (found.verdict == "not-applicable") == moody
    assert set(found.obstacles) == ({"new"} if moody else set())


class Contradicting:
    """An estimator whose scores belong to the other label, above a threshold."""

    classes_ = np.array([0, 1])

    def __init__(self, threshold):
        self.threshold = threshold

    def predict(self, points):
        return (points[:, 1].astype(float) > 15).astype(int)

    def predict_proba(self, points):
        score = np.where(points[:, 1].astype(float) > self.threshold, 0.9, 0.2)
        return np.column_stack([1 - score, score])


@pytest.mark.parametrize("loss", ["zero-one", "brier"])
@pytest.mark.parametrize(("threshold", "is_told"), [(15, False), (25, True)])
def test_labels_that_contradict_the_scores_are_told(loss, threshold, is_told):
    result = audited(Contradicting(threshold), loss=loss)
    told = [one for one in result.warnings if "contradict each other" in one]
    assert len(told) == is_told
    assert (result.query_record.repeats.contradictions > 0) == is_told


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
@pytest.mark.parametrize("when", ["read", "called"])
def test_scores_that_fail_are_left_alone_where_labels_are_needed(error, when):
    def fail(*_):
        raise error

    class Failing(Contradicting):
        predict_proba = property(fail) if when == "read" else fail

    result = audited(Failing(15))
    assert result.query_record.repeats.contradictions == 0
