"""Attacks on shared documents: what somebody with pencil and paper can work out from them."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from jsonschema import validate
from tests.explain.audits import compas_audit, priced_audit

import fairtransport as ft
from fairtransport._core.notes import Count, Figure, Mean, Note, Wording
from fairtransport.documents.audit import audit_schema
from fairtransport.errors import InputError
from fairtransport.explain.disclosure import Rounding
from fairtransport.report import render


def is_few(people, at_least):
    return 1e-6 < people < at_least - 1e-6


def group_of(profile, summary):
    return tuple(profile[name] for name in summary.provenance.sensitive)


def moved_by_group(summary):
    moved = Counter()
    for move in summary.moves:
        moved[group_of(move.from_profile, summary)] += move.people
    return moved


class Between:
    """A number of people that is known up to the rounding of a document."""

    def __init__(self, number, room=0.0):
        self.low, self.high = number - room, number + room

    def __sub__(self, other):
        found = Between(0.0)
        found.low, found.high = self.low - other.high, self.high - other.low
        return found

    def is_few(self, at_least):
        return self.low > 1e-6 and self.high < at_least - 1e-6

    def __repr__(self):
        return f"{self.low} to {self.high}"


def sums(numbers, room):
    numbers = list(numbers)
    return Between(sum(numbers), room * len(numbers))


def rooms(summary):
    """Return how far numbers of moved people and sizes of groups may be off."""
    at_least = 0 if summary.suppression is None else summary.suppression.at_least
    return at_least / 2, at_least


def remainders(summary, at_least):
    """Few people who are left when the moves shown are taken off the groups."""
    moved, (off, size_off) = moved_by_group(summary), rooms(summary)
    moves = Counter(group_of(move.from_profile, summary) for move in summary.moves)
    told = {group_of(one.group, summary): one.people for one in summary.groups if one.people}
    for group, people in told.items():
        size = Between(people, size_off)
        left = size - Between(moved[group], off * moves[group])
        if size.is_few(at_least) or left.is_few(at_least):
            yield f"{size} in {group}, of whom {moved[group]} are moved"
    others = Between(summary.n) - sums(told.values(), size_off)
    moved_others = sums((people for group, people in moved.items() if group not in told), off)
    if told and (others.is_few(at_least) or (others - moved_others).is_few(at_least)):
        yield f"{others} in groups not told, of whom {moved_others} are moved"


def hidden_totals(summary, at_least):
    """Moves that must be small, given how many are hidden and of how many people."""
    for move in summary.moves:
        if is_few(move.people, at_least):
            yield f"a move of {move.people}"
    if summary.moves_found is not None:
        yield f"{summary.moves_found - len(summary.moves)} moves are not listed"


def name_of(levels, metrics):
    """The name of the group that somebody is of."""
    return ", ".join(str(levels[name]) for name in metrics.features)


def fractions(summary, at_least):
    """Few people who are wrong, or right and not moved, by an accuracy and a group's size."""
    off, size_off = rooms(summary)
    for metrics in summary.group_metrics:
        sizes, moved = Counter(), Counter()
        for one in summary.groups:
            sizes[name_of(one.group, metrics)] += one.people or np.nan
        for move in summary.moves:
            moved[name_of(move.from_profile, metrics)] += move.people
        rates = [
            (name_of(row.group, metrics), rate)
            for table in metrics.rates
            if table.kind != "error-of-label"
            for row in table.groups
            if row.rate is not None
            for rate in (row.rate, 1 - row.rate)
        ]
        for level, accuracy in [*metrics.accuracy_by_group.items(), *rates]:
            if accuracy is None or not sizes[level] > 0:
                continue
            fine = 1e-9 if summary.suppression is None else 0.005
            size, right = Between(sizes[level], size_off), Between(0.0)
            right.low, right.high = (accuracy - fine) * size.low, (accuracy + fine) * size.high
            left = (size - right, right, right - Between(moved[level], off))
            if any(people.is_few(at_least) for people in left):
                yield f"{left} people of {level} are wrong, right, not moved"


def exact_numbers(summary):
    """Numbers from whose differences people could be counted, and keys to try guesses with."""
    if summary.without_feature or len(summary.budget_curve) > 1 or summary.law is not None:
        yield "exact numbers of everybody"
    if summary.provenance.seed is not None or summary.provenance.data_sha256 is not None:
        yield "a key to try guesses with"
    if summary.observed_points is not None or summary.points is not None or summary.queried:
        yield "how many cells there are people in"


def people_at(result):
    """The audit data as rows, each a person, with what the model says of them."""
    space = result.space
    points = space.frame(library="pandas").assign(said=list(result.answers.predictions))
    return points.loc[points.index.repeat(space.counts)]


def targets(result, summary, at_least):
    """Moves to people of whom there are few."""
    space, people = result.space, people_at(result)
    for move in summary.moves:
        like = {**move.to_profile, space.label: move.label, "said": move.prediction_after}
        if space.has_twins:
            # the twins were made; whose twins they are is what may be told
            like = {name: like[name] for name in like if name not in (*space.sensitive, "said")}
        rows = np.logical_and.reduce([people[name] == value for name, value in like.items()])
        if result.target_scope == "observed" and is_few(rows.sum(), at_least):
            yield f"moved to one of {rows.sum()}: {like}"
        for name in space.sensitive:
            if is_few((people[name] == move.to_profile[name]).sum(), at_least):
                yield f"few have {name} {move.to_profile[name]}"


def listed_levels(result, summary, at_least):
    """Levels and groups of few people that a table names."""
    people = people_at(result)
    for table in summary.flows:
        if people[table.feature].dtype.kind in "if":
            continue
        for cell in table.cells:
            if is_few((people[table.feature] == cell.level).sum(), at_least):
                yield f"{table.feature} {cell.level}"


def attack(result, summary, at_least):
    return [
        *remainders(summary, at_least), *hidden_totals(summary, at_least),
        *fractions(summary, at_least), *exact_numbers(summary),
        *targets(result, summary, at_least), *listed_levels(result, summary, at_least),
    ]  # fmt: skip


def a_guess(points):
    return ((points["race"] == "a") | (points["job"] == "cook")).astype(int)


def random_audit(seed, access):
    """A few hundred people, unevenly spread, so that some cells are small and some are not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 400))
    people = pd.DataFrame(
        {
            "race": rng.choice(["a", "b", "c"], n, p=rng.dirichlet([1, 1, 0.3])),
            "sex": rng.choice(["f", "m"], n, p=rng.dirichlet([1, 1])),
            "job": rng.choice(["clerk", "cook", "king"], n, p=rng.dirichlet([1, 0.5, 0.1])),
            "good": rng.choice([0, 1], n, p=rng.dirichlet([0.2, 1])),
        }
    )
    options = {"sensitive_features": ["race", "sex"], "rng": seed}
    if access == "predictions":
        said = np.where(rng.random(n) < 0.15, 1 - a_guess(people), a_guess(people))
        return ft.audit(people.assign(said=said), "good", y_pred="said", **options)
    options |= {"model": a_guess, "features": ["race", "sex", "job"]}
    if access == "priced":
        similarity = ft.similarity.MixedTabular(mismatch={"job": 1.0})
        return ft.audit(people, "good", similarity=similarity, budget=0.05, **options)
    return ft.audit(people, "good", **options)


@pytest.mark.parametrize("access", ["predictions", "model", "priced"])
@pytest.mark.parametrize("seed", range(6))
def test_nothing_can_be_worked_out_about_few_people(seed, access):
    result, shared = random_audit(seed, access), 0
    sentence = "so that a reader could work out how many"
    for at_least in (3, 5, 10):
        try:
            document = result.document(at_least)
        except InputError as error:
            if sentence not in str(error):
                raise
        else:
            shared += 1
            assert attack(result, document, at_least) == []
    assert shared >= 2
    # the attacks are able to find what a document that is not for sharing tells
    found = attack(result, result.summary, 10)
    assert len(found) > len([*exact_numbers(result.summary)])


@pytest.mark.parametrize("at_least", [5, 10])
def test_nothing_can_be_worked_out_about_few_people_in_compas(at_least):
    result = compas_audit()
    document = result.document(at_least)

    assert attack(result, document, at_least) == []
    assert document.moves
    assert document.groups
    assert attack(result, result.summary, at_least)


def counted(*rows):
    people = pd.DataFrame(rows, columns=["group", "job", "good", "said", "count"])
    return ft.audit(
        people, "good", y_pred="said", counts="count", sensitive_features="group", rng=0
    )


def test_the_one_person_whom_all_others_are_compared_with_is_not_told():
    result = counted(("a", "clerk", 1, 1, 30), ("b", "clerk", 1, 0, 1))
    document = result.document(5)

    assert len(result.summary.moves) == 1
    assert document.moves == ()
    assert '"b"' not in document.to_json()


def kingly_audit(budget, kings=1):
    """Everybody would do worse as a king, at a cost of 1.5."""
    rows = [("a", "clerk", 1)] * 30 + [("b", "clerk", 1)] * 30 + [("a", "king", 1)] * kings
    people = pd.DataFrame(rows, columns=["group", "job", "good"])
    return ft.audit(
        people, "good", sensitive_features="group", features=["group", "job"], budget=budget,
        model=lambda points: (points["job"] != "king").astype(int),
        similarity=ft.similarity.MixedTabular(mismatch={"job": 1.5}),
    )  # fmt: skip


def test_a_move_to_a_twin_of_one_person_is_not_told():
    result = kingly_audit(budget=2)

    assert any(move.to_profile["job"] == "king" for move in result.summary.moves)
    assert "king" not in result.document(5).to_json()


@pytest.mark.parametrize("delta", [0.001, 0.07, 0.12, 0.5])
def test_rounded_numbers_agree_with_each_other_and_with_the_verdict(delta):
    """Bounds hold after rounding, the verdict is the audit's own, and text and data agree."""
    result = compas_audit()
    result = replace(result, settings=replace(result.settings, delta=delta))
    whole, told = result.summary, result.document(5)

    assert told.verdict == whole.verdict
    assert told.lower_bound <= whole.lower_bound
    assert whole.upper_bound <= told.upper_bound
    assert told.interval.lower <= whole.interval.lower <= whole.interval.upper
    assert told.interval.upper >= whole.interval.upper
    assert told.lower_bound <= told.statistic <= told.upper_bound
    assert abs(told.statistic - whole.statistic) <= told.suppression.step
    assert told.pvalue >= whole.pvalue
    assert (told.pvalue <= told.alpha) == (whole.pvalue <= whole.alpha)
    assert (told.lower_bound >= delta) == (told.verdict == "rejected")
    assert told.worst_case_risk == pytest.approx(told.baseline_risk + told.statistic)


def test_a_price_has_one_digit():
    result = kingly_audit(budget=0.1, kings=10)

    assert result.price == pytest.approx(2 / 3)
    assert result.document(5).price == 0.7


@pytest.mark.parametrize("access", ["predictions", "model", "priced"])
def test_a_shared_document_is_as_the_schema_says_and_can_be_read(access):
    document = random_audit(2, access).document(5)
    validate(document.as_json(), audit_schema())
    page, text = render(document, "html"), render(document, "markdown")

    assert "<dt>Random seed</dt><dd><bdi>left out</bdi></dd>" in page
    is_flat = len(document.budget_curve) == 1 and document.budget > 0
    assert ("A larger one would not change the result" in page) == is_flat
    assert ("A larger one would not change the result" in text) == is_flat


def test_how_many_are_left_in_a_group_is_not_told():
    many = [("a", "clerk", 1, 1, 30), ("b", "clerk", 1, 0, 30), ("c", "clerk", 1, 0, 200)]
    result = counted(*many, ("a", "cook", 1, 1, 3))
    people = {one.group["group"]: one.people for one in result.document(5).groups}

    assert {one.group["group"]: one.people for one in result.summary.groups}["a"] == 33
    assert people == {"a": 30, "b": 30, "c": 200}
    assert result.document(5).group_metrics == ()


def test_whether_somebody_is_there_changes_nothing_that_is_shown():
    many = [("a", "clerk", 1, 1, 30), ("b", "clerk", 1, 0, 30), ("a", "cook", 0, 1, 50)]
    alone = counted(*many).document(5)
    for few in (1, 2):
        more = counted(*many, ("b", "cook", 0, 0, few)).document(5)
        assert (more.moves, more.flows, more.moved) == (alone.moves, alone.flows, alone.moved)
        assert [one.people for one in more.groups] == [one.people for one in alone.groups]


def test_metrics_that_are_told_are_coarse():
    rows = [
        ("a", "clerk", 1, 1, 301), ("a", "clerk", 0, 0, 77), ("a", "clerk", 1, 0, 60),
        ("b", "clerk", 1, 0, 207), ("b", "clerk", 0, 0, 91), ("a", "clerk", 0, 1, 40),
    ]  # fmt: skip
    # 91 people of b have the label 0: a step of three times five of them is too coarse
    assert counted(*rows).document(5).group_metrics == ()
    result = counted(*((*row[:-1], 10 * row[-1]) for row in rows))
    (whole,), (told,) = result.summary.group_metrics, result.document(5).group_metrics

    for name in whole.accuracy_by_group:
        assert told.accuracy_by_group[name] == pytest.approx(
            whole.accuracy_by_group[name], abs=0.01
        )
        assert told.accuracy_by_group[name] * 50 == pytest.approx(
            round(told.accuracy_by_group[name] * 50)
        )
    assert told.accuracy != whole.accuracy


def test_names_of_levels_that_few_people_have_are_not_told():
    rows = [("a", "clerk", 1, 1, 30), ("b", "clerk", 1, 0, 30), ("a", "pope", 1, 1, 1)]
    result = counted(*rows, ("lonely", "clerk", 1, 0, 2), ("b", "cook", 1, 0, 40))
    whole, document = result.summary.to_json(), result.document(5).to_json()

    assert "pope" in whole
    assert "lonely" in whole
    assert "pope" not in document
    assert "lonely" not in document
    assert "cook" in document


def test_a_document_says_that_its_tables_are_of_the_moves_shown():
    sentence = "Flows and groups are computed only from the swaps that are listed."
    assert sentence in priced_audit(1).document(3).warnings
    assert sentence not in priced_audit(1).summary.warnings


def test_whether_other_swaps_would_do_is_not_told():
    result = compas_audit()

    assert result.summary.plan_is_unique is False
    assert result.document(10).plan_is_unique is None


def test_numbers_of_any_size_in_notes_are_rounded_by_their_kind():
    people = pd.DataFrame({"sex": ["f", "m"] * 60, "good": 1, "guess": 1})
    result = ft.audit(
        people, "good", y_pred="guess", sensitive_features="sex", rng=0, loss_range=(0, 1),
        loss=lambda truth, _: np.full(len(truth), 1.23457e-05),
    )  # fmt: skip

    assert result.summary.applicability.startswith("Every loss is 1.23457e-05, for")
    assert result.document(5).applicability.startswith("Every loss is about 0, for")


def test_digits_in_names_and_settings_are_no_numbers_of_people():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"c37": rng.integers(0, 2, 120), "37": rng.integers(0, 3, 120)})
    people = people.assign(good=1, level4=4)
    result = ft.audit(
        people, "good", model=lambda cases: cases["c37"].to_numpy(), budget=0.37, delta=0.1,
        sensitive_features=["c37", "37", "level4"], rng=0,
    ).overlap(people.head(37))  # fmt: skip
    exact, shared = (" ".join(result.document(share).warnings) for share in (None, 5))

    for text in (exact, shared):
        assert "Everybody has the level4 4, so the audit says nothing" in text
        assert "`budget` has no effect" in text
    assert (
        "120 of 120 people have the same values in all columns as a person in the training" in exact
    )
    assert "about 120 of 120 people have the same values" in shared


ROUNDED = {
    "few": (Count(2), "", "fewer than 5"),
    "many": (Count(12_347), "", "about 12,345"),
    "mean": (Mean(0.123456), ".4f", "about 0.1"),
    "tiny": (Mean(3.2e-9), "g", "about 0"),
    "figure": (Figure(1.23e-05), ".3g", "about 1e-05"),
    "word": (Wording("looks", "look"), "", "look"),
    "setting": (0.05, "g", "0.05"),
    "name": ("c37", "", "c37"),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_values_of_notes_are_rounded_by_kind(name):
    value, form, rounded = ROUNDED[name]
    inner = Note("{value:" + form + "}", value=value)
    note = pickle.loads(pickle.dumps(Note("1 is {inner}", inner=inner)))  # noqa: S301

    assert note == "1 is " + format(value, form)
    assert Rounding(5, 0.1).note(note) == f"1 is {rounded}"


def test_text_with_numbers_of_unknown_kinds_is_left_out():
    assert Rounding(5, 0.1).note("Nothing is known of 3 people.") is None
    assert Rounding(5, 0.1).note("Nothing is known.") == "Nothing is known."
