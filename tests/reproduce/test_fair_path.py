"""The path behind Table 1's last row chooses what the general search chooses."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from fairtransport.datasets.compas import DELTA, FEATURES, LABEL, LEVELS, SENSITIVE, split_compas
from fairtransport.reproduce.fair_path import FITTED_SHARE, STRENGTHS, fair_path
from fairtransport.selection import DeltaFairSearch


class OfThePath(ClassifierMixin, BaseEstimator):
    """The path's model at a place of its grid, as an estimator."""

    def __init__(self, path=None, place=0):
        self.path, self.place = path, place

    def fit(self, people, labels):
        self.classes_ = np.unique(labels)
        self.feature_names_in_ = np.array(people.columns)
        return self

    def predict(self, people):
        return self.path.models[self.place](people)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3])
def test_the_search_chooses_the_same_model(seed):
    training = split_compas(seed).training
    path = fair_path(training, seed)
    cut = round(FITTED_SHARE * len(training))
    people, labels = training[list(FEATURES)], training[LABEL]
    search = DeltaFairSearch(
        OfThePath(path), {"place": list(range(len(STRENGTHS)))}, delta=DELTA, levels=LEVELS,
        sensitive_features=list(SENSITIVE), method="m-out-of-n", n_resamples=1000,
        validation=(people.iloc[cut:], labels.iloc[cut:]), random_state=seed,
    ).fit(people.iloc[:cut], labels.iloc[:cut])  # fmt: skip

    assert search.best_index_ == path.chosen
    np.testing.assert_allclose(search.results_["statistic"], path.statistic)
    np.testing.assert_allclose(1 - search.results_["validation_error"], path.accuracy)
    assert 0 < path.candidates.sum() < len(STRENGTHS)
    np.testing.assert_array_equal(search.results_["passes"], path.candidates)
