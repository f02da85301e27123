"""Questions that are asked a second time: which, of whom, and what counts as the same answer."""

import numpy as np
import pandas as pd
import pytest

import fairtransport as ft
from fairtransport.access.repeating import REPEATS, same_answer, to_repeat
from fairtransport.inference.finite.clopper_pearson import share_at_most

PEOPLE = pd.DataFrame({"g": ["a", "b"] * 30, "x": np.arange(60) // 2, "good": [0, 1, 1] * 20})


class Box:
    """A box that gives another answer to every fifth question it hears a second time."""

    name, library, features, classes = "box", "pandas", None, [0, 1]
    identity = "box 1"

    def __init__(self, *, moody=False, batches=None):
        self.asked, self.moody = {}, moody
        if batches:
            self.batches = batches

    def answer(self, points, _):
        said = []
        for g, x in zip(points["g"], points["x"], strict=True):
            times = self.asked[g, x] = self.asked.get((g, x), 0) + 1
            flips = self.moody and times > 1 and x % 5 == 0
            said.append((x + (g == "a") + flips) % 2)
        return np.array(said)


def audited(box, **more):
    return ft.audit(PEOPLE, "good", model=box, sensitive_features="g", delta=0.1, rng=0, **more)


@pytest.mark.parametrize(("batches", "again"), [(None, 0), (7, REPEATS)])
def test_only_models_elsewhere_are_asked_again_unless_told(batches, again):
    box = Box(batches=batches)
    result = audited(box)

    assert sum(box.asked.values()) == 60 + again
    assert max(box.asked.values()) == (2 if again else 1)
    # a second answer is no further question
    assert result.queried == 60
    assert result.asked.repeats.asked == again
    assert result.document().questions.repeated == again


def test_what_is_repeated_is_never_from_the_log(tmp_path):
    log = tmp_path / "a.sqlite"
    audited(Box(), query_log=log)
    box = Box()
    result = audited(box, query_log=log, repeats=12)

    assert len(box.asked) == sum(box.asked.values()) == result.asked.repeats.asked == 12
    # nobody is there to be asked again
    assert audited(ft.access.load(log), repeats=12).asked.repeats.asked == 0


def test_answers_that_differ_leave_no_verdict_and_are_told_with_their_limit():
    result = audited(Box(moody=True), repeats=60)
    differed = 12

    assert result.asked.repeats.differed == differed
    assert result.verdict == "not-applicable"
    assert "12 of 60 questions that were asked a second time got another" in result.applicability
    assert "`draws`" in result.instead
    summary = result.document().questions
    assert summary.differed == differed
    assert summary.differed_at_most == share_at_most(differed, 60, 0.05)
    assert any(
        "12 got another answer; of all questions at most 30" in one for one in result.warnings
    )


def test_the_limit_covers_the_share_of_unsteady_answers():
    """Of 1000 questions 100 are answered otherwise with probability .5: a share of .05."""
    rng = np.random.default_rng(5)
    chance, runs = np.r_[np.full(100, 0.5), np.zeros(900)], 2000
    seen = [
        int((rng.random(40) < chance[rng.permutation(1000)[:40]]).sum()) for _ in range(runs)
    ]  # fmt: skip
    missed = sum(share_at_most(one, 40, 0.05) < chance.mean() for one in seen)

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
    box = Box(batches=7, moody=moody)
    found = ft.audit_many(
        PEOPLE, "good", audits={"a": {"delta": 0.1}, "b": {"delta": 0.2}}, model=box,
        sensitive_features="g", rng=0, repeats=repeats,
    )  # fmt: skip
    again = REPEATS if repeats is None else repeats
    alone = audited(Box(batches=7, moody=moody), repeats=repeats)

    assert sum(box.asked.values()) == 60 + again
    assert found.queried == 60
    assert {one.asked.repeats for one in found.values()} == {alone.asked.repeats}
    assert (found.verdicts["a"] == "not-applicable") == (moody and again > 0)
    assert to_repeat(ft.access.as_black_box(len), None) == 0


@pytest.mark.parametrize("moody", [False, True])
def test_models_that_are_compared_are_asked_again(moody):
    boxes = {"old": Box(batches=7), "new": Box(batches=7, moody=moody)}
    found = ft.compare(PEOPLE, "good", models=boxes, sensitive_features="g", rng=0)

    assert [sum(box.asked.values()) for box in boxes.values()] == [60 + REPEATS] * 2
    assert (found.verdict == "not-applicable") == moody
    assert set(found.obstacles) == ({"new"} if moody else set())
