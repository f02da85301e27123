"""A monitor is saved whole, and goes on as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.monitor.people import asking, biased, people, told, with_guess

import fairtransport as ft
from fairtransport.inference.sequential import MAX_SEQUENTIAL_LOSS


@pytest.mark.parametrize("make", [asking, told])
def test_a_saved_monitor_goes_on_as_if_nothing_had_happened(tmp_path, make):
    frame, whole = with_guess(people(200)), make()
    whole.update(frame)
    monitor, path = make(), tmp_path / "state"
    for at in range(0, 200, 23):
        monitor.update(frame.iloc[at : at + 23])
        monitor.position = at + 23
        monitor.save(path)
        monitor = ft.Monitor.resume(path, model=biased if make is asking else None)
        assert monitor.position == at + 23

    assert monitor.state == whole.state
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]
    assert "n=200" in repr(monitor)


def scored():
    """A monitor of given scores, whose losses take many values."""
    return ft.Monitor(y="good", y_score="score", pos_label=1, labels=[0, 1], loss="brier",
                      sensitive_features="group", delta=0.02)  # fmt: skip


def saved_in_batches(path, make, frame, cuts, model=None):
    """Return the state file of a monitor that is saved and resumed between batches."""
    monitor = make()
    for start, end in pairwise([0, *cuts, len(frame)]):
        monitor.update(frame.iloc[start:end])
        monitor.save(path)
        monitor = ft.Monitor.resume(path, model=model)
    return json.loads(path.read_text())


@pytest.mark.parametrize(("make", "answer"), [(asking, None), (told, "guess"), (scored, "score")])
def test_a_resumed_monitor_has_the_bytes_of_a_whole_run(tmp_path, make, answer):
    rng = np.random.default_rng(8)
    frame = with_guess(people(700, seed=4)).assign(score=rng.choice(rng.random(40), 700))
    frame = frame[["group", "x", "good", *([answer] if answer else [])]]
    model = None if answer else biased
    whole, *others = (
        saved_in_batches(tmp_path / "state", make, frame, cuts, model)
        for cuts in ([], [1, 2, 31, 32, 33], sorted(rng.integers(1, 700, 12).tolist()))
    )

    # a bound that was decided inside a batch must not be bet on until the batch ends
    assert np.count_nonzero(whole["stream"]["evidence"]["crossed"]) > 20
    for other in others:
        assert other["stream"] == whole["stream"]
        assert other["history"] == whole["history"]
        # the same questions, in the order of the batches
        assert sorted(other["answers"]) == sorted(whole["answers"])


def test_scores_that_hang_on_the_batch_change_the_wealth_by_no_more_than_they_differ():
    error, n = 2.0**-40, 700

    def wavering(points):
        """Return scores whose last bits depend on how many are asked for, as those of BLAS do."""
        sway = error * (len(points) % 7)
        return np.where(points["group"] == "a", 0.75, 0.5) - points["x"] / 16 + sway

    def make():
        return asking(wavering, loss="brier", labels=[0, 1], pos_label=1)

    frame = people(n, seed=4)
    states = []
    for cuts in ([], list(range(1, 60))):
        monitor = make()
        for start, end in pairwise([0, *cuts, n]):
            monitor.update(frame.iloc[start:end])
        states.append(monitor._stream.evidence.bets)
    logs = [bets.log_wealth + np.log(bets.product) for bets in states]
    first = states[0]
    slope = np.abs(first._factors(np.arange(len(first.deltas)), first.most_gain)[1])
    # a Brier loss moves by at most twice as much as a score, a gain by twice that
    limit = n * slope * 4 * 6 * error / (1 - MAX_SEQUENTIAL_LOSS)

    assert (states[0].crossed == states[1].crossed).all()
    assert np.abs(logs[0] - logs[1]).max() > 0
    assert (np.abs(logs[0] - logs[1]) <= limit).all()


def test_values_that_json_cannot_hold_are_refused(tmp_path):
    monitor = told()
    monitor.update({"group": pd.Timestamp(0), "x": 1, "good": 1, "guess": 1})
    with pytest.raises(ft.DataError, match="a monitor can be saved if values are text"):
        monitor.save(tmp_path / "state")


def test_files_that_are_no_state_are_refused(tmp_path):
    path = tmp_path / "state"
    with pytest.raises(ft.DataError, match="could not be read"):
        ft.Monitor.resume(path)
    path.write_text("{}")
    with pytest.raises(ft.InputError, match="`path` must be a state file"):
        ft.Monitor.resume(path)


WORKER = """
import sys
from pathlib import Path
import pandas as pd
import fairtransport as ft
frame, path = pd.read_csv(sys.argv[1]), Path(sys.argv[2])
monitor = ft.Monitor.resume(path) if path.exists() else ft.Monitor(
    y="good", y_pred="guess", sensitive_features="group", delta=0.05)
while (at := monitor.position or 0) < len(frame):
    monitor.update(frame.iloc[at:at + 7])
    monitor.position = at + 7
    monitor.save(path)
    print("saved", flush=True)
"""


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_lost_or_counted_twice(tmp_path):
    frame = with_guess(people(3000, seed=9))
    frame.to_csv(tmp_path / "people.csv", index=False)
    path, command = tmp_path / "state", [sys.executable, "-c", WORKER, str(tmp_path / "people.csv")]
    for saves in (1, 30, 80, 120):
        with subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE) as process:
            for _ in range(saves):
                assert process.stdout.readline() == b"saved\n"
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        assert 0 < ft.Monitor.resume(path).state.n < len(frame)
    subprocess.run([*command, str(path)], check=True, stdout=subprocess.DEVNULL)
    whole = told()
    whole.update(frame)

    assert ft.Monitor.resume(path).state == whole.state
