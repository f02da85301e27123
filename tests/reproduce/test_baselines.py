"""The baselines against what defines them, not against their own code."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtransport.datasets.compas import FEATURES, LABEL, all_profiles, load_compas, split_compas
from fairtransport.reproduce.compas import FULL_CODING, SELECTABLE, encode_people, evaluate
from fairtransport.reproduce.fair_path import find_details, path_claims, race_coefficient_claims
from fairtransport.reproduce.methods import (
    AdversarialDebiasing,
    AdversarialSettings,
    RepresentationSettings,
    adb,
    lfr,
    lr,
    reweighing_weights,
    rwt,
)


@pytest.fixture(scope="module")
def split():
    return split_compas(3)


def test_the_coding_has_one_level_of_each_feature():
    codes = encode_people(all_profiles())
    assert len(codes) == 72
    assert len(codes.drop_duplicates()) == 72
    for stem in ("age", "priors"):
        assert (codes[[name for name in codes if stem in name]].sum(axis=1) == 1).all()
    assert (codes[["felony", "misdemeanor"]].sum(axis=1) == 1).all()
    counts = load_compas()
    assert all((counts[column] == level).any() for column, level in FULL_CODING.values())


def test_the_selectable_columns_tell_all_profiles_apart():
    assert len(encode_people(all_profiles(), SELECTABLE).drop_duplicates()) == 72


@pytest.mark.reproduce
def test_reweighing_makes_race_and_label_independent(split):
    training = split.training
    weights = reweighing_weights(training)
    table = pd.crosstab(training["race"], training[LABEL], weights, aggfunc="sum").to_numpy()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    np.testing.assert_allclose(table, np.outer(rows, columns) / table.sum())
    # Kamiran and Calders: share of the race times share of the label over share of both
    race, label = training["race"], training[LABEL]
    both = training.groupby(["race", LABEL])[LABEL].transform("size") / len(training)
    product = race.map(race.value_counts(normalize=True)) * label.map(
        label.value_counts(normalize=True)
    )
    np.testing.assert_allclose(weights, product / both)


@pytest.mark.reproduce
def test_reweighing_has_a_race_coefficient_of_its_own(split):
    plain, reweighed = (find_details(fit(split.training, 0)) for fit in (lr, rwt))
    found = race_coefficient_claims([plain], [reweighed])
    assert found["plain_mean"] < 0 < found["reweighed_mean"]
    assert found["variables"] == 7
    assert 1 <= found["median_rank"] <= 7


def test_the_race_coefficient_is_ranked_by_size():
    one = {"coefficients": {"race_Caucasian": -2.0, "a": 1.0, "b": -3.0}}
    plain = {"coefficients": {"race_Caucasian": 2.5, "a": 1.0}}
    found = race_coefficient_claims([plain], [one])
    assert (found["median_rank"], found["largest_of_all"], found["larger_than_plain"]) == (2, 0, 0)


def test_path_claims_count_what_holds():
    paper = ["no priors", "> 3 priors", "race", "age > 45", "misdemeanor", "age < 25", "female"]
    swapped = ["> 3 priors", "no priors", *paper[2:]]
    details = [
        {"entry_order": order, "strength": strength, "selected": selected, "candidates": 3,
         "rejected_at_the_weakest_penalty": weak}
        for order, strength, selected, weak in (
            (paper, 0.01, paper[:6], True),
            (paper, 0.02, paper, False),
            (swapped, 0.03, paper[:2], False),
        )
    ]  # fmt: skip
    found = path_claims(details)
    assert found["entry_order_as_in_the_paper"] == pytest.approx(2 / 3)
    assert found["most_common_entry_order"] == paper[:6]
    assert found["sex_enters_last"] == 1
    assert found["sex_unselected"] == pytest.approx(2 / 3)
    assert found["race_unselected"] == pytest.approx(1 / 3)
    assert found["all_six_selected"] == pytest.approx(2 / 3)
    assert found["rejected_at_the_weakest_penalty"] == pytest.approx(1 / 3)
    assert found["strength_quartiles"][1] == 0.02


@pytest.mark.slow
@pytest.mark.reproduce
def test_a_representation_answers_and_leaves_the_global_seed_alone(split):
    few = split.training.iloc[:200]
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    model = lfr(few, 0, RepresentationSettings(prototypes=2))
    answers = model(split.audit[list(FEATURES)])
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert set(answers) <= {0, 1}
    assert np.array_equal(answers, lfr(few, 0, RepresentationSettings(prototypes=2))(split.audit))


QUICK = AdversarialSettings(epochs=1)


@pytest.mark.slow
@pytest.mark.reproduce
def test_the_adversarial_network_repeats_itself_and_depends_on_its_seed(split):
    import torch

    before = torch.get_rng_state(), torch.get_num_threads()
    first, again, other = (
        AdversarialDebiasing(QUICK, seed).fit(split.training) for seed in (1, 1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]
    profiles = all_profiles()
    assert np.array_equal(first(profiles), again(profiles))
    assert not np.array_equal(first(profiles), other(profiles))


@pytest.mark.slow
def test_the_adversarial_network_is_nearly_as_accurate_with_smaller_odds_differences():
    differences = {"plain": [], "adversarial": []}
    for seed in range(3):
        split = split_compas(seed)
        models = {"plain": lr, "adversarial": adb}
        figures = {
            name: evaluate(fit(split.training, seed), split.audit, seed)
            for name, fit in models.items()
        }
        assert figures["adversarial"]["accuracy"] > figures["plain"]["accuracy"] - 0.04
        for name, found in figures.items():
            differences[name].append(abs(found["aod"]))
    assert np.mean(differences["adversarial"]) < np.mean(differences["plain"]) / 2


@pytest.mark.slow
def test_the_adversarial_network_does_as_aif360s_does():
    """AIF360's figures were written by scripts/compare_adversarial.py, on the same splits."""
    theirs = pd.read_json(Path(__file__).with_name("adversarial_aif360.json"))
    found = []
    for seed in theirs["seed"]:
        split = split_compas(seed)
        found.append(evaluate(adb(split.training, seed), split.audit, seed))
    ours = pd.DataFrame(found)

    for column in ("faith", "accuracy", "aod", "eod", "spd"):
        error = np.sqrt((theirs[column].var() + ours[column].var()) / len(ours))
        assert abs(ours[column].mean() - theirs[column].mean()) <= 2 * error, column


@pytest.mark.reproduce
def test_the_classifiers_step_gives_nothing_to_the_adversary(split):
    """The gradient left to the classifier is against the adversary's, by the weight α alone."""
    import torch

    model = AdversarialDebiasing(AdversarialSettings(dropout=0.0))
    torch.manual_seed(0)
    classifier, adversary = model._networks(len(FULL_CODING))
    features = torch.tensor(encode_people(split.training).to_numpy()[:128], dtype=torch.float32)
    labels = torch.tensor(split.training[LABEL].to_numpy()[:128, None], dtype=torch.float32)
    races = features[:, [1]]
    model._set_gradients(classifier, adversary, features, labels, races)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        adversary(classifier(features), labels), races
    )
    theirs = torch.autograd.grad(loss, [*classifier.parameters(), *adversary.parameters()])
    for parameter, gradient in zip(classifier.parameters(), theirs, strict=False):
        inner = float((parameter.grad * gradient).sum())
        assert inner == pytest.approx(-0.1 * float((gradient**2).sum()), rel=1e-3, abs=1e-7)
    for parameter, gradient in zip(adversary.parameters(), theirs[4:], strict=True):
        assert torch.allclose(parameter.grad, gradient)
