"""After a selection, only the audit on people who did not select keeps its level."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from fairtransport import NoCandidateError
from fairtransport.selection import DeltaFairSearch

RUNS, ALPHA, CELLS, WRONG = 150, 0.1, 40, 4


class WrongSomewhere(ClassifierMixin, BaseEstimator):
    """Errs on the first group in some cells: ψ is the second group's share there, .05."""

    def __init__(self, start=0):
        self.start = start

    def fit(self, people, labels):  # noqa: ARG002
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, people):
        inside = (people[:, 1] - self.start) % CELLS < WRONG
        return np.where(inside & (people[:, 0] == 0), 0, 1)


def selected(seed):
    """Return the verdicts of the selected model on both parts; None if nobody passed."""
    rng = np.random.default_rng(seed)
    people = np.column_stack([rng.integers(2, size=500), rng.integers(CELLS, size=500)])
    search = DeltaFairSearch(
        WrongSomewhere(), {"start": list(range(0, CELLS, WRONG))}, sensitive_features=[0],
        delta=0.0499, rule="certified", alpha=ALPHA, validation=0.4, final=0.4, levels={0: [0, 1]},
        random_state=seed,
    )  # fmt: skip
    try:
        search.fit(people, np.ones(500, int))
    except NoCandidateError:
        return None
    return search.results_["verdict"][search.best_index_], search.final_audit_.verdict


@pytest.mark.slow
def test_a_certificate_survives_selection_on_the_final_part_alone():
    """No candidate is δ-fair, so every certificate is a mistake."""
    found = [verdicts for verdicts in map(selected, range(RUNS)) if verdicts is not None]

    at_validation = len(found)
    at_the_end = sum(final == "certified" for _, final in found)
    assert all(verdict == "certified" for verdict, _ in found)
    assert at_validation > binom.ppf(0.999, RUNS, ALPHA)
    assert at_the_end <= binom.ppf(0.999, at_validation, ALPHA)
