"""One monitor at a time on a state, and nothing lost or left behind when one is killed."""

import errno
import signal
import subprocess
import sys

import numpy as np
import pytest

import fairtransport as ft
from fairtransport.cli import main
from fairtransport.errors import DataError
from fairtransport.monitor import state
from fairtransport.monitor.state import lock_state

FLAGS = ["--label", "good", "--prediction", "guess", "--sensitive", "group", "--delta", "0.05"]


def rows(count, rng):
    """Cases of a system that answers the same to the same: other monitors do not apply."""
    drawn = rng.integers(0, (2, 300, 2), (count, 3)).tolist()
    return "".join(f"{'ab'[group]},{x},{good},{(group + x // 7) % 2}\n" for group, x, good in drawn)


def test_a_state_in_use_is_refused_until_it_is_free(tmp_path):
    path = tmp_path / "s"
    with lock_state(path):
        for _ in range(3):
            with pytest.raises(DataError, match="in use by another mon"), lock_state(path):
                pytest.fail("there are two of them")
            # a save replaces the state by another file, under the same lock
            (tmp_path / "draft").write_text("new")
            (tmp_path / "draft").replace(path)
    with lock_state(path):
        pass

    assert [entry.name for entry in tmp_path.iterdir()] == ["s"]


def test_a_name_that_leads_to_the_state_is_locked_too(tmp_path):
    (tmp_path / "s").touch()
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link"
    link.symlink_to(tmp_path / "s")
    with (
        lock_state(tmp_path / "s"),
        pytest.raises(DataError, match="in use by another mon"),
        lock_state(link),
    ):
        pytest.fail("there are two of them")


def test_a_lock_file_that_was_left_behind_is_no_lock(tmp_path):
    (tmp_path / ".s.lock").touch()
    with lock_state(tmp_path / "s"):
        pass

    assert list(tmp_path.iterdir()) == []


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    flock, calls = state.fcntl.flock, []

    def slow(*arguments):
        if not calls:  # another monitor ends between opening and locking
            (tmp_path / ".s.lock").unlink()
        calls.append(arguments)
        flock(*arguments)

    monkeypatch.setattr(state.fcntl, "flock", slow)
    with lock_state(tmp_path / "s"):
        with pytest.raises(DataError, match="in use"), lock_state(tmp_path / "s"):
            pytest.fail("there are two of them")
        assert len(calls) == 3

    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_locked_a_warning_says_so(tmp_path, monkeypatch):
    def cannot(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(state.fcntl, "flock", cannot)
    with (
        pytest.warns(UserWarning, match=r"cannot be locked here \(No locks available\)"),
        lock_state(tmp_path / "s"),
    ):
        pass


def test_a_folder_without_room_for_a_lock_is_named(tmp_path):
    with (
        pytest.raises(DataError, match=r"`path` could not be locked, .*: No such file"),
        lock_state(tmp_path / "none" / "s"),
    ):
        pytest.fail("it was locked")


def test_the_command_refuses_a_state_in_use(tmp_path, capsys):
    cases, path = tmp_path / "c.csv", tmp_path / "s"
    cases.write_text("group,x,good,guess\n" + rows(20, np.random.default_rng(0)))
    line = ["monitor", str(cases), "--state", str(path), *FLAGS]
    assert main(line) in {0, 3}
    before = path.read_bytes()
    with lock_state(path):
        capsys.readouterr()
        assert main(line) == 1
    error = " ".join(capsys.readouterr().err.split())

    assert error.startswith("Error: `--state` is in use by another monitor, ")
    assert path.read_bytes() == before
    assert main(line) in {0, 3}


def test_a_failed_first_run_leaves_no_state(tmp_path):
    cases, state = tmp_path / "c.csv", tmp_path / "s"
    cases.write_text("group,x,good,guess\na,1,1,\n")

    assert main(["monitor", str(cases), "--state", str(state), *FLAGS]) == 1
    assert not state.exists()
    cases.write_text("group,x,good,guess\na,1,1,1\n")
    assert main(["monitor", str(cases), "--state", str(state), *FLAGS]) == 0


# Everything is loaded once; each run is a fork of it that reads and saves in small pieces. Only its
# parent knows that a process which it kills is still that run's, so the server does it.
SERVER = """
import os, select, signal, sys
import fairtransport as ft
from fairtransport.cli import main
import fairtransport.monitor.follow, fairtransport.report.charts
from fairtransport.monitor import follow, growing_file
growing_file.PIECE = 3000
follow.SPACING = 0.0
cases = [{"group": group, "good": 1, "guess": guess} for group, guess in (("a", 0), ("b", 1))]
ft.Monitor(y="good", y_pred="guess", sensitive_features="group", delta=0.05).update(cases)
for line in sys.stdin:
    patience, *words = line.rstrip().split("\\t")
    child = os.fork()
    if not child:
        os._exit(main(words))
    handle = os.pidfd_open(child)
    if not select.select([handle], [], [], float(patience))[0]:
        os.kill(child, signal.SIGKILL)
    os.close(handle)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
LONG = 600
"""Seconds that no run takes."""


class Server:
    """Runs the command in processes that start fast."""

    def __init__(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=pipe, stdout=pipe, bufsize=0
        )

    def start(self, *line, patience=LONG):
        """Start a run that is killed after some seconds."""
        self.process.stdin.write(("\t".join(map(str, (patience, *line))) + "\n").encode())

    def wait(self):
        return int(self.process.stdout.readline())

    def run(self, *line, patience=LONG):
        self.start(*line, patience=patience)
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.mark.slow
def test_killed_at_a_hundred_moments_nothing_is_lost_counted_twice_or_left(tmp_path):
    rng = np.random.default_rng(11)
    cases, state = tmp_path / "c.csv", tmp_path / "s"
    line = ["monitor", cases, "--state", state, *FLAGS, "--quiet"]
    cases.write_text("group,x,good,guess\n" + rows(300, rng))
    with Server() as server:
        server.run(*line)
        kills, total, progress, n, patience = 0, 300, set(), 300, 0.7
        while kills < 100:
            text = rows(count := int(rng.integers(800)), rng)
            with cases.open("a") as file:
                file.write(text)
            total += count
            kills += server.run(*line, patience=rng.uniform(0, patience)) == -signal.SIGKILL
            before, n = n, ft.Monitor.resume(state).state.n
            progress.add(n > before)
            # on a busy machine a kill must wait longer to find something saved
            patience *= 0.98 if n > before else 1.02
            assert before <= n <= total
        assert server.run(*line) in {0, 3}
        server.run("monitor", cases, "--state", tmp_path / "whole", *line[4:])
    found, whole = (ft.Monitor.resume(tmp_path / name) for name in ("s", "whole"))

    assert progress == {True, False}  # some before the first save, some after
    assert found.state.n == total
    assert found.state == whole.state
    assert found.position == whole.position
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["c.csv", "s", "whole"]


@pytest.mark.slow
def test_monitors_side_by_side_never_go_back(tmp_path):
    rng = np.random.default_rng(5)
    cases, state = tmp_path / "c.csv", tmp_path / "s"
    line = ["monitor", cases, "--state", state, *FLAGS, "--quiet"]
    cases.write_text("group,x,good,guess\n" + rows(200, rng))
    codes, seen, total = [], [0], 200
    with Server() as one, Server() as two:
        for _ in range(25):
            for server in (one, two):
                server.start(*line)
            codes += [server.wait() for server in (one, two)]
            seen.append(ft.Monitor.resume(state).state.n)
            assert seen[-1] == total  # whoever was let in took in all
            with cases.open("a") as file:
                file.write(rows(400, rng))
            total += 400

    assert set(codes) <= {0, 1, 3}
    assert 1 in codes
    assert seen == sorted(seen)
    assert {entry.name for entry in tmp_path.iterdir()} == {"c.csv", "s"}
