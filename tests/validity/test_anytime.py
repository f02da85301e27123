"""Errors over all time: streams on the edge of the hypothesis, looked at after every record."""

import numpy as np
import pytest

from fairtransport import Monitor
from fairtransport.inference.sequential import CostlyMoves, FreeMoves
from fairtransport.reproduce.figures import regular
from tests.validity.cases import continuous, exact_corner, near_corner, rare_bias, twins

pytestmark = pytest.mark.slow

ALPHA, STREAMS, RECORDS = 0.05, 2000, 500


def at_most_alpha(share, streams):
    return share <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / streams)


def gains_of(case):
    return case.problem.frontiers.base_gain


def continuous_for_free():
    """Continuous gains in (0, 1) with a budget of 0: pairs of points swap for free."""
    from fairtransport import AuditProblem, Geometry
    from fairtransport.reproduce.figures import Population

    case = continuous()
    geometry = Geometry(np.repeat(np.arange(150), 2))
    return Population("pairs", AuditProblem(case.problem.losses, geometry), case.frequencies)


@pytest.mark.parametrize("make", [twins, rare_bias, continuous_for_free])
def test_free_moves_looked_at_after_every_record(make):
    """ψ = δ exactly: both verdicts are wrong, and a confidence sequence must hold throughout."""
    case = make()
    gains, rng = gains_of(case), np.random.default_rng([1, *case.name.encode()])
    truth = float(case.frequencies @ gains)
    rejected = certified = missed = 0
    for _ in range(STREAMS):
        cells = rng.choice(case.problem.size, RECORDS, p=case.frequencies)
        process = FreeMoves(truth, ALPHA, 1.0, fixed_targets=True)
        process.bets.take(gains[cells])
        rejected += process.rejected_at > 0
        certified += process.certified_at > 0
        # limits only ever tighten, so the last ones tell about all times
        missed += not process.lower <= truth <= process.upper
    shares = np.array([rejected, certified, missed]) / STREAMS
    print(f"{case.name}: rejected, certified, not covered: {shares}")  # noqa: T201
    assert all(at_most_alpha(share, STREAMS) for share in shares), shares


@pytest.mark.parametrize("make", [regular, near_corner, exact_corner])
def test_moves_that_cost_looked_at_after_every_batch(make):
    case, streams = make(), 300
    problem, rng = case.problem, np.random.default_rng([2, *case.name.encode()])
    wrong = np.zeros(3)
    for _ in range(streams):
        cells = rng.choice(problem.size, RECORDS, p=case.frequencies)
        process = CostlyMoves(case.truth, ALPHA, 1.0, fixed_targets=True)
        for at in range(0, RECORDS, 50):
            counts = np.bincount(cells[:at], minlength=problem.size)
            process.take(problem, cells[at : at + 50], counts)
            process.look(problem, np.bincount(cells[: at + 50], minlength=problem.size))
        covered = process.lower <= case.truth <= process.upper
        wrong += [process.rejected_at > 0, process.certified_at > 0, not covered]
    shares = wrong / streams
    print(f"{case.name}: rejected, certified, not covered: {shares}")  # noqa: T201
    assert all(at_most_alpha(share, streams) for share in shares), shares


def test_people_seen_so_far_as_targets_raise_no_more_false_alarms():
    """Predictions only: gains grow with the stream, and earlier records are revised."""
    rng, streams, truth = np.random.default_rng(3), 400, 0.1
    rejected = 0
    for _ in range(streams):
        x = rng.integers(0, 20, RECORDS)
        # in four of twenty profiles one group is always wrong: half of these people are harmed
        group = rng.integers(0, 2, RECORDS)
        wrong = (x < 4) & (group == 1)
        records = [
            {"x": int(a), "group": int(g), "y": 1, "guess": int(not w)}
            for a, g, w in zip(x, group, wrong, strict=True)
        ]
        monitor = Monitor(y="y", y_pred="guess", sensitive_features="group", features=["x"],
                          delta=truth, alpha=ALPHA)  # fmt: skip
        rejected += monitor.update(records).verdict == "rejected"
    print(f"people seen so far: rejected {rejected / streams}")  # noqa: T201
    assert at_most_alpha(rejected / streams, streams)
