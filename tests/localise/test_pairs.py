"""The worst pair, against a loop over all pairs."""

import numpy as np
import pytest
from tests.localise.audits import compas_audit, priced_audit


@pytest.mark.parametrize("seed", range(3))
def test_the_worst_pair_has_the_largest_ratio_of_all(seed):
    result = priced_audit(seed)
    said = result.answers.predictions
    ratios = [0.0]
    for i in range(result.points):
        for j in range(result.points):
            cost = result.problem.costs_of(np.array([i]), np.array([j]))[0]
            if 0 < cost < np.inf:
                ratios.append(abs(said[i] - said[j]) / np.sqrt(cost))
    pair = result.summary.worst_pair

    assert pair.ratio == pytest.approx(max(ratios))
    assert abs(pair.prediction - pair.prediction_of_second) / pair.distance == pytest.approx(
        pair.ratio
    )


def test_without_positive_distances_there_is_none():
    assert compas_audit().summary.worst_pair is None
