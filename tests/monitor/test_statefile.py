"""A monitor is saved whole, and goes on as if nothing had happened."""

import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from tests.monitor.people import asking, biased, people, told, with_guess

import fairtransport as ft


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
