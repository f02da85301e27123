"""Free moves record by record, costly ones by batch: the statistic is that of an audit."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.monitor.people import LEVELS, asking, biased, line, people, told, with_guess

import fairtransport as ft


def test_late_arrivals_revise_what_earlier_records_gained():
    """After the worst twin is known, evidence is that of the final gains."""
    good = {"group": "a", "x": 1, "good": 1, "guess": 1}
    bad = {"group": "b", "x": 1, "good": 1, "guess": 0}
    late, early = told(), told()
    late.update([good] * 40 + [bad])
    early.update([bad] + [good] * 40)

    assert late.state.statistic == early.state.statistic == 40 / 41
    assert late.state.e_value == pytest.approx(early.state.e_value, rel=1e-9)
    assert late.state.stopped_at == 41
    assert early.state.stopped_at < 41


def test_moves_that_cost_have_the_statistic_of_an_audit():
    frame = with_guess(people(300)).drop(columns="group").assign(group="a")
    options = dict(y_pred="guess", sensitive_features="group", similarity=line(), budget=0.02)
    frame["guess"] = (frame["x"] > 2).astype(int)
    monitor = ft.Monitor(y="good", **options, delta=0.02)
    for at in range(0, 300, 60):
        state = monitor.update(frame.iloc[at : at + 60])
    result = ft.audit(frame, "good", **options)

    assert state.statistic == pytest.approx(result.statistic, rel=1e-9)
    assert state.verdict == "rejected"
    assert state.stopped_at in range(60, 301, 60)
    assert 0.02 < state.lower < result.statistic
    assert state.upper is None
    assert [look.n for look in state.history] == [60, 120, 180, 240, 300]


def test_a_model_and_costs_move_to_observed_points_and_their_twins():
    frame = people(200)
    options = dict(model=biased, sensitive_features="group", features=["group", "x"],
                   levels=LEVELS, similarity=line(), budget=0.05)  # fmt: skip
    state = ft.Monitor(y="good", **options, delta=0.05).update(frame)

    assert state.statistic == pytest.approx(ft.audit(frame, "good", **options).statistic, rel=1e-9)
    assert state.target_scope == "observed"


@pytest.mark.parametrize("budget", [0.0, 0.001])
def test_a_reference_frame_allows_certificates_and_survives_a_file(tmp_path, budget):
    frame = people(600).assign(group="a", guess=lambda f: f["good"])
    frame.loc[frame["x"] == 4, "guess"] = 0
    reference = pd.DataFrame({"group": "a", "x": [0, 1, 2, 3, 4] * 2, "good": [0] * 5 + [1] * 5,
                              "guess": [0] * 5 + [1] * 4 + [0]})  # fmt: skip
    options = dict(y="good", y_pred="guess", sensitive_features="group", similarity=line(),
                   budget=budget, delta=0.6, targets=reference)  # fmt: skip
    whole = ft.Monitor(**options)
    whole.update(frame.iloc[:250])
    whole.save(tmp_path / "state")
    whole.update(frame.iloc[250:])
    saved = ft.Monitor.resume(tmp_path / "state", similarity=line(), targets=reference)
    saved.update(frame.iloc[250:])

    assert saved.state == whole.state
    assert whole.state.verdict == "certified"
    assert whole.state.target_scope == "reference"
    assert whole.state.upper < 0.6
    with pytest.raises(ft.InputError, match="`targets` must be those"):
        ft.Monitor.resume(tmp_path / "state", similarity=line())
    with pytest.raises(ft.InputError, match="`similarity` must be given again"):
        ft.Monitor.resume(tmp_path / "state", targets=reference)
    with pytest.raises(ft.InputError, match="`loss` must be that of the saved"):
        ft.Monitor.resume(tmp_path / "state", similarity=line(), targets=reference, loss="log")


def test_history_is_thinned_and_ends_with_the_records():
    history = asking().update(people(2000)).history

    assert [look.n for look in history[:21]] == list(range(1, 22))
    assert 100 < len(history) < 200
    assert all(a.lower <= b.lower and a.upper >= b.upper
               for a, b in pairwise(history))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["model", "predictions"])
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 299), unique=True, max_size=8))
def test_the_same_records_in_any_batches_give_the_same_state(kind, cuts):
    make = asking if kind == "model" else told
    frame = with_guess(people(300, seed=3))
    whole, parts = make(), make()
    whole.update(frame)
    for part in np.split(np.arange(300), sorted(cuts)):
        parts.update(frame.iloc[part])

    assert parts.state == whole.state
