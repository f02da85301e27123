"""Group metrics beside AIF360's and fairlearn's on random data, and where they are undefined."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.messages import raises

from fairtransport.errors import InputError
from fairtransport.explain.groups import group_metrics


def people(seed, groups=2, n=300):
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=n)
    truth = rng.binomial(1, 0.3 + 0.3 * group / groups)
    flipped = rng.random(n) < 0.2 + 0.2 * group / groups
    return truth, np.where(flipped, 1 - truth, truth), group, rng.gamma(1.0, size=n)


def aif360_metric(truth, prediction, group, weights, favourable):
    """AIF360's own metric: group 1 is privileged, all others are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from aif360.datasets import BinaryLabelDataset
        from aif360.metrics import ClassificationMetric

        def dataset(label):
            frame = pd.DataFrame({"side": (group == 1) * 1.0, "label": label * 1.0, "w": weights})
            return BinaryLabelDataset(
                df=frame, label_names=["label"], protected_attribute_names=["side"],
                instance_weights_name="w", favorable_label=favourable,
                unfavorable_label=1 - favourable,
            )  # fmt: skip

        return ClassificationMetric(
            dataset(truth), dataset(prediction),
            unprivileged_groups=[{"side": 0}], privileged_groups=[{"side": 1}],
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.reproduce
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("groups", [2, 3])
def test_signed_differences_are_aif360s(seed, groups):
    truth, prediction, group, weights = people(seed, groups)
    favourable = seed % 2
    theirs = aif360_metric(truth, prediction, group, weights, favourable)
    ours = group_metrics(truth, prediction, group, weights, favourable=favourable, privileged=1)
    assert ours.accuracy == pytest.approx(theirs.accuracy())
    assert ours.statistical_parity_difference == pytest.approx(
        theirs.statistical_parity_difference()
    )
    assert ours.equal_opportunity_difference == pytest.approx(theirs.equal_opportunity_difference())
    assert ours.average_odds_difference == pytest.approx(theirs.average_odds_difference())
    assert ours.accuracy_by_group[1] == pytest.approx(theirs.accuracy(privileged=True))
    assert ours.notes == ()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_largest_differences_are_fairlearns(seed, weighted):
    import fairlearn.metrics as fairlearn

    truth, prediction, group, weights = people(seed, groups=4)
    given = weights if weighted else None
    ours = group_metrics(truth, prediction, group, given)
    options = {"sensitive_features": group, "sample_weight": given}
    assert ours.demographic_parity_difference == pytest.approx(
        fairlearn.demographic_parity_difference(truth, prediction, **options)
    )
    assert ours.equalized_odds_difference == pytest.approx(
        fairlearn.equalized_odds_difference(truth, prediction, **options)
    )
    assert ours.average_odds_difference is None
    signed = group_metrics(truth, prediction, group, given, favourable=1, privileged=0)
    assert signed.equalized_odds_difference == pytest.approx(ours.equalized_odds_difference)


def test_weights_stand_for_repeated_people():
    truth, prediction, group, _ = people(7, groups=3)
    times = np.random.default_rng(7).integers(0, 4, size=len(truth))
    options = {"favourable": 0, "privileged": 2}
    weighted = group_metrics(truth, prediction, group, times, **options)
    repeated = (np.repeat(part, times) for part in (truth, prediction, group))
    assert weighted == group_metrics(*repeated, **options)


def test_words_and_lists_are_labels_and_groups_too():
    truth, prediction, group, weights = people(2)
    numbers = group_metrics(truth, prediction, group, weights, favourable=1, privileged=0)
    words = group_metrics(
        pd.Series(np.where(truth, "yes", "no")),
        np.where(prediction, "yes", "no").tolist(),
        np.where(group, "b", "a").astype(object),
        weights,
        favourable="yes",
        privileged="a",
    )
    assert words.average_odds_difference == pytest.approx(numbers.average_odds_difference)
    assert list(words.accuracy_by_group) == ["a", "b"]
    assert words.accuracy_by_group["b"] == pytest.approx(numbers.accuracy_by_group[1])


def test_a_missing_group_is_a_group_and_mixed_types_are_told_apart():
    found = group_metrics([1, 0, 1, 0], [1, 0, 0, 0], ["1", 1, None, float("nan")])
    assert found.accuracy_by_group == {"1": 1.0, 1: 1.0, None: 0.5}


def test_a_group_without_positives_has_no_odds_and_is_told_of():
    found = group_metrics([1, 0, 0, 0], [1, 0, 1, 0], list("aabb"), favourable=1, privileged="a")
    assert found.statistical_parity_difference == 0
    assert found.equal_opportunity_difference is None
    assert found.average_odds_difference is None
    assert found.equalized_odds_difference is None
    assert found.demographic_parity_difference == 0
    assert any("label 1 in group 'b' are undefined" in note for note in found.notes)


def test_no_negatives_leave_equal_opportunity_alone():
    found = group_metrics([1, 0, 1, 1], [1, 0, 1, 0], list("aabb"), favourable=1, privileged="a")
    assert found.equal_opportunity_difference == -0.5
    assert found.average_odds_difference is None
    assert found.equalized_odds_difference is None


def test_one_group_differs_from_none():
    found = group_metrics([1, 0], [1, 1], ["a", "a"], favourable=1, privileged="a")
    assert found.demographic_parity_difference == 0
    assert found.statistical_parity_difference is None
    assert "people in the other groups" in found.notes[0]


def test_a_group_without_weight_has_no_accuracy():
    found = group_metrics([1, 0], [1, 1], ["a", "b"], [1, 0])
    assert found.accuracy == 1
    assert found.accuracy_by_group == {"a": 1.0, "b": None}
    assert found.demographic_parity_difference is None


def test_more_labels_have_accuracies_alone():
    found = group_metrics([0, 1, 2], [0, 1, 1], list("aab"), favourable=0, privileged="a")
    assert found.accuracy_by_group == {"a": 1.0, "b": 0.0}
    assert found.statistical_parity_difference is None
    assert found.notes == ("Differences between groups need two labels, got 3.",)


def test_a_favourable_label_that_nobody_has_or_gets_has_rate_zero():
    found = group_metrics([0, 0], [0, 0], list("ab"), favourable=1, privileged="a")
    assert found.statistical_parity_difference == 0
    assert found.equal_opportunity_difference is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prediction": [1]}, "`prediction` must have as many entries as `truth`, 2, got 1"),
        ({"truth": [], "prediction": [], "group": []}, "`truth` must have at least one entry"),
        ({"weights": [1, -1]}, "`weights` must be finite and >= 0, got -1"),
        ({"weights": [0, 0]}, "`weights` must not all be 0"),
        ({"privileged": "a"}, "`favourable` must be given together with `privileged`, got None"),
        ({"favourable": 7, "privileged": "a"}, "`favourable` must be one of the labels 0, 1"),
        ({"favourable": 1, "privileged": "c"}, "`privileged` must be one of the groups"),
    ],
)
def test_bad_input_is_named(changes, message):
    arguments = {"truth": [1, 0], "prediction": [1, 1], "group": ["a", "b"], **changes}
    with raises(InputError, message):
        group_metrics(**arguments)
