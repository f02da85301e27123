"""The simulations' law is the one that `audit` makes, from what an auditor knows."""

import numpy as np
import pandas as pd
import pytest

from fairtransport import audit
from fairtransport.similarity import Precomputed
from tests.validity import cases
from tests.validity.simulation import audited


def audit_of(case, counts, delta):
    """Audit a sample of a population, with its points as the reference frame."""
    size = case.problem.size
    points = pd.DataFrame({"cell": np.arange(size), "group": "a"})
    everything = np.arange(size)
    people = points.loc[np.repeat(everything, counts)]
    return audit(
        people, model=lambda x: case.problem.losses[x["cell"].to_numpy()], targets=points,
        sensitive_features=["group"], features=["cell"], loss="outcome",
        loss_range=case.loss_range, budget=case.problem.budget, delta=delta, rng=3,
        similarity=Precomputed(case.problem.geometry.costs(everything, everything), points=points),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", [cases.exact_corner, cases.skewed_gains, cases.hundred_kinks])
@pytest.mark.parametrize("declared", [None, 0.9, 1.15])
def test_bounds_and_verdicts_of_an_audit_are_those_that_are_measured(make, declared):
    case = make()
    counts = np.random.default_rng(2).multinomial(150, case.frequencies)
    delta = None if declared is None else declared * case.truth
    result = audit_of(case, counts, delta)
    law = audited(
        case, counts, rng=3, delta=delta, most_gain=float(case.problem.losses.max())
    )  # fmt: skip

    assert result.target_scope == "reference"
    assert result.fixed_targets
    assert (result.lower_bound, result.upper_bound) == (law.lower_bound(), law.upper_bound())
    assert result.interval == law.interval()
    if delta is not None:
        # everybody is of one group here, which makes the verdict itself not applicable
        verdicts = {(True, False): "rejected", (False, True): "certified"}
        both = law.rejects(delta), law.certifies(delta)
        assert result.tested == verdicts.get(both, "inconclusive")
        assert (result.tested == "rejected") == (result.pvalue <= 0.05)


def test_a_reference_frame_tells_the_largest_gain():
    """Its losses were all asked about: nobody can be moved to a larger one."""
    case = cases.three_cells()
    counts = np.random.default_rng(2).multinomial(300, case.frequencies)
    result = audit_of(case, counts, None)
    assert result.law.most_gain == pytest.approx(0.7)
    assert result.upper_bound < audited(case, counts, rng=3).upper_bound()
