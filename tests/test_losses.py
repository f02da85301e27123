"""The losses: their values beside scikit-learn's, their ranges, what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from fairtransport import DataError, InputError, Loss, ModelError
from fairtransport.losses import LOSSES, as_loss, evaluate, log_loss

SCORES = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]])
TRUTH = np.array([0, 2, 1, 0])


def test_zero_one_counts_wrong_labels_of_any_type():
    truth = np.array(["a", "b", 1, None], object)
    predicted = np.array(["a", "a", 1, 1], object)

    assert evaluate(LOSSES["zero-one"], truth, predicted).tolist() == [0, 1, 0, 1]


def test_log_loss_is_that_of_scikit_learn_above_the_clip():
    ours = evaluate(LOSSES["log"], TRUTH, SCORES).mean()

    assert ours == pytest.approx(metrics.log_loss(TRUTH, SCORES))


def test_log_loss_is_clipped_from_below_and_records_the_clip():
    loss = log_loss(clip=0.05)
    clipped = evaluate(loss, np.array([2]), SCORES[3:])

    assert loss.settings == {"clip": 0.05}
    assert loss.range == (0.0, -math.log(0.05))
    assert clipped == pytest.approx([-math.log(0.05)])
    assert LOSSES["log"].settings == {"clip": 0.01}


@pytest.mark.parametrize("clip", [0, 1, -1, math.nan, "a"])
def test_a_clip_is_a_probability(clip):
    with pytest.raises(InputError, match=r"`clip` must be a .*number above 0 and below 1"):
        log_loss(clip)


def test_brier_is_half_the_sum_of_squares_as_in_scikit_learn():
    ours = evaluate(LOSSES["brier"], TRUTH, SCORES).mean()

    assert ours == pytest.approx(metrics.brier_score_loss(TRUTH, SCORES, scale_by_half=True))


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_brier_of_two_classes_is_the_squared_difference(pairs):
    truth, score = np.array([y for y, _ in pairs]), np.array([p for _, p in pairs])
    ours = evaluate(LOSSES["brier"], truth, np.column_stack([1 - score, score]))

    np.testing.assert_allclose(ours, (score - truth) ** 2, atol=1e-15)


@given(st.integers(2, 5), st.integers(0, 10**6))
def test_bounded_losses_stay_in_their_range(classes, seed):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(classes, 0.2), size=8)
    truth = rng.integers(classes, size=8)
    for name in ("log", "brier"):
        low, high = LOSSES[name].range
        losses = evaluate(LOSSES[name], truth, scores)

        assert low <= losses.min()
        assert losses.max() <= high


@pytest.mark.parametrize(
    ("name", "expected"), [("absolute", [1, 2.5]), ("squared", [1, 6.25]), ("outcome", [2, 0.5])]
)
def test_losses_on_numbers(name, expected):
    losses = evaluate(LOSSES[name], np.array([1.0, 3.0]), np.array([2.0, 0.5]))

    assert losses.tolist() == expected


def test_only_the_outcome_does_without_the_truth_and_only_some_losses_are_bounded():
    assert [name for name, loss in LOSSES.items() if not loss.uses_truth] == ["outcome"]
    assert {name for name, loss in LOSSES.items() if loss.range is None} == {
        "absolute", "squared", "outcome",
    }  # fmt: skip


def harshness(truth, predicted):
    return np.where(truth == predicted, 0, 3)


def test_a_callable_is_named_after_itself_and_takes_a_range():
    loss = as_loss(harshness, (0, 3))

    assert (loss.name, loss.needs, loss.range) == ("harshness", "any", (0.0, 3.0))
    assert as_loss(harshness).range is None


def test_a_loss_object_is_taken_as_it_is():
    own = Loss("own", "label", harshness, (0.0, 3.0))

    assert as_loss(own) is own
    assert as_loss("zero-one", [0, 1]).range == (0.0, 1.0)


@pytest.mark.parametrize(
    ("loss", "loss_range", "message"),
    [
        ("hinge", None, "`loss` must be one of 'zero-one', .* a Loss or a callable, got 'hinge'"),
        (None, None, "`loss` must be one of .* got None"),
        ("absolute", (1, 0), r"`loss_range` must be two .*, the smaller first, got \(1, 0\)"),
        ("absolute", (0, 0), "`loss_range` must be two finite numbers, the smaller first"),
        ("absolute", (0, math.inf), "`loss_range` must be two finite numbers"),
        ("absolute", (0, math.nan), "`loss_range` must be two finite numbers"),
        ("absolute", (0, 1, 2), r"`loss_range` must have shape \(2\), got \(3,\)"),
        ("absolute", "wide", "`loss_range` must be numeric, got 'wide'"),
        ("zero-one", (0, 2), r"`loss_range` must be left out for 'zero-one', whose range is"),
    ],
)
def test_a_loss_that_cannot_be_used_is_refused(loss, loss_range, message):
    with pytest.raises(InputError, match=message):
        as_loss(loss, loss_range)


def raising(_truth, _predicted):
    return {}["no such key"]


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (raising, ModelError, "the loss 'raising' failed: KeyError: 'no such key'"),
        (lambda y, p: y - p, ModelError, "the loss '<lambda>' failed: .*TypeError"),
        (lambda y, p: [0.0, math.nan], DataError, "must be finite, got nan for truth 'b' and an"),
        (lambda y, p: [0.0, math.inf], DataError, "must be finite, got inf for truth 'b'"),
        (lambda y, p: 1.0, InputError, r"`loss '<lambda>'` must have shape \(2\), got \(\)"),
        (lambda y, p: ["low", "high"], InputError, "`loss '<lambda>'` must be numeric"),
        (lambda y, p: [0.0, 3.5], DataError, r"losses of '<lambda>' must lie in \[0, 3\], got 3.5"),
        (lambda y, p: [0.0, -0.5], DataError, r"losses of '<lambda>' must lie in \[0, 3\], got -0"),
    ],
)
def test_a_callable_that_answers_wrongly_is_refused(function, error, message):
    labels = np.array(["a", "b"], object)

    with pytest.raises(error, match=message):
        evaluate(as_loss(function, (0, 3)), labels, labels)
