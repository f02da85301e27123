"""Starting, cancelling, killing: what runs is ended, and no file is left."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from fairtransport.app.form import Measure
from tests.app.conftest import LOANS, PATIENCE, start_app

SLOW_MODEL = """
import time
import numpy as np
class Slow:
    classes_ = np.array([0, 1])
    feature_names_in_ = np.array(["sex", "income"])
    def predict(self, people):
        time.sleep({seconds})
        return (people["income"] > 4).astype(int).to_numpy()
"""


def children(pid):
    """Return the processes whose parent this is."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text("utf-8").rsplit(")", 1)
        except OSError:  # it has just ended
            continue
        if int(rest.split()[1]) == pid:
            found.append(int(name.split()[0]))
    return found


def is_there(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(true, what):
    ends = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < ends, what
        time.sleep(0.05)


@pytest.fixture
def slow_model(tmp_path, monkeypatch):
    """A pickle of a model that takes a minute to answer."""
    import joblib

    (tmp_path / "slow_models.py").write_text(SLOW_MODEL.format(seconds=60), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    import slow_models

    path = tmp_path / "slow.joblib"
    joblib.dump(slow_models.Slow(), path)
    yield path
    import sys

    del sys.modules["slow_models"]


SLOW = LOANS | {"answers": "model", "allow_pickle": "on"}


def start_slowly(app, loans, model):
    """Start an audit that will not be done for a minute, and wait until its model is asked."""
    audit = app.post(f"{app.table(loans)}/audits", SLOW | {"model_path": str(model)})
    audit = audit.headers["location"]
    wait_until(
        lambda: re.search("^Comparing|queries", app.get(f"{audit}/state").json["words"]),
        "no queries",
    )
    return audit


@pytest.mark.slow
def test_ctrl_c_ends_it_and_removes_its_folder(own_app, loans):
    own_app.post("/tables", {"way": "file"}, [("file", "a.csv", loans.read_bytes())])
    kept = list(own_app.folder.iterdir())
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o077 == 0

    code, said = own_app.stop()

    assert code == 0
    assert "Traceback" not in said
    assert list(own_app.folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("port", ["99999999", "-1", "1"])
def test_a_port_that_cannot_be_had_is_named(port, tmp_path):
    import subprocess
    import sys

    if port == "1" and os.geteuid() == 0:
        port = "70000"
    done = subprocess.run(
        [sys.executable, "-m", "fairtransport", "app", "--no-open", "--port", port],
        capture_output=True, text=True, check=False, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip

    assert done.returncode == 2
    assert "`--port` must be a free port of this machine" in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_taken_port_is_named(app, tmp_path):
    import subprocess
    import sys

    port = app.host.split(":")[1]
    done = subprocess.run(
        [sys.executable, "-m", "fairtransport", "app", "--no-open", "--port", port],
        capture_output=True, text=True, check=False, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip

    assert done.returncode == 2
    assert f"got {port}: Address already in use" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_running_audit_can_be_cancelled(slow_model, loans, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    app = start_app(folder)
    try:
        app.enter()
        audit = start_slowly(app, loans, slow_model)
        workers = list(children(app.process.pid))
        started = time.monotonic()
        app.post(f"{audit}/cancel")
        page = app.get(audit).text

        assert time.monotonic() - started < 30
        assert "The audit was cancelled" in page
        assert len(children(app.process.pid)) == len(workers) - 1
        assert app.get(f"{audit}/report").status == 404
    finally:
        app.stop()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_server_takes_its_audits_and_files_with_it(slow_model, loans, tmp_path, how):
    folder = tmp_path / "temporary"
    folder.mkdir()
    app = start_app(folder)
    app.enter()
    app.post("/tables", {"way": "file"}, [("file", "a.csv", loans.read_bytes())])
    start_slowly(app, loans, slow_model)
    theirs = children(app.process.pid)
    assert len(theirs) == 2  # the audit, and the one that removes the folder

    app.stop(how)

    wait_until(lambda: not any(map(is_there, theirs)), "processes are left")
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_two_audits_run_at_once_and_keep_apart(own_app, loans):
    table = own_app.table(loans)
    first = own_app.post(f"{table}/audits", LOANS).headers["location"]
    other = LOANS | {"decision": "4", "good.4": "1", "role.3": "unused"}
    second = own_app.post(f"{table}/audits", other).headers["location"]
    both = [own_app.get(f"{one}/state").json["state"] for one in (first, second)]
    for one in (first, second):
        own_app.wait(one)

    found = [own_app.get(f"{one}/files/audit.json").json for one in (first, second)]

    assert "running" in both
    assert found[0]["statistic"] > 0
    assert found[1]["statistic"] == 0


@pytest.mark.slow
def test_a_killed_audit_says_so(own_app, loans):
    audit = own_app.post(f"{own_app.table(loans)}/audits", LOANS).headers["location"]
    own_app.wait(audit)
    assert "iframe" in own_app.get(f"{audit}/full").text
    _watcher, worker = sorted(children(own_app.process.pid))
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: own_app.get(f"{audit}/state").json["state"] == "failed", "still done")

    assert "audit stopped before it was finished" in own_app.get(audit).text


def test_there_is_room_for_so_many_audits(tmp_path):
    from fairtransport.app import jobs as module
    from fairtransport.audits.from_text import AuditRequest, ModelSource
    from fairtransport.errors import InputError

    request = AuditRequest(
        data=tmp_path / "none.csv", shown="x", label=None, sources=(ModelSource(),),
        values={"sensitive_features": ["sex"]},
    )  # fmt: skip
    jobs, counted = module.Jobs(), Measure("zero-one")
    try:
        for _ in range(2):
            jobs.start(request, counted, {}, "t").state = module.DONE
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MAX_AUDITS", 2)
            with pytest.raises(InputError, match="the app holds at most 2 audits"):
                jobs.start(request, counted, {}, "t")
    finally:
        jobs.end()
    assert list(jobs) == []


@pytest.fixture
def finished_job(loans):
    """An audit of the loans, without a server."""
    from fairtransport.app.form import Table, fill, find_measure
    from fairtransport.app.jobs import Jobs

    jobs, table = Jobs(), Table(loans, str(loans))
    job = jobs.start(fill(table, LOANS, {}).request, find_measure(table, LOANS), LOANS, "t")
    wait_until(lambda: job.state != "running", "still running")
    yield job
    jobs.end()


@pytest.mark.slow
def test_an_answer_that_comes_too_late_is_not_that_of_the_next_question(finished_job, monkeypatch):
    from fairtransport.app import jobs
    from fairtransport.errors import FairtransportError

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "PATIENCE", 0.0)
        with pytest.raises(FairtransportError, match="takes longer than 120 seconds"):
            finished_job.ask("file", name="report.md")
    text = finished_job.ask("file", name="audit.json").decode()

    assert text.startswith("{")
    assert finished_job.ask("file", name="report.md").decode().startswith("#")


@pytest.mark.slow
def test_an_audit_that_ends_by_itself_leaves_no_process_and_no_pipe(tmp_path):
    from fairtransport.app.jobs import Jobs
    from fairtransport.audits.from_text import AuditRequest, ModelSource

    request = AuditRequest(
        data=tmp_path / "none.csv", shown="x", label=None, sources=(ModelSource(),),
        values={"sensitive_features": ["sex"]},
    )  # fmt: skip
    jobs = Jobs()
    handles = len(list(Path("/proc/self/fd").iterdir()))
    job = jobs.start(request, Measure("zero-one"), {}, "t")
    wait_until(lambda: job.state == "failed", "still running")
    wait_until(lambda: not Path(f"/proc/{job.pid}").exists(), "the process is left")
    wait_until(lambda: len(list(Path("/proc/self/fd").iterdir())) == handles, "a pipe is left")
    jobs.end()


def memory_and_threads(pid):
    """Return the resident kilobytes and the threads of a process."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return tuple(int(status.split(f"{name}:")[1].split()[0]) for name in ("VmRSS", "Threads"))


@pytest.mark.slow
def test_files_that_are_chosen_again_and_again_take_no_more_memory(own_app, loans):
    def choose(times):
        for _ in range(times):
            own_app.get(own_app.table(loans))
        return memory_and_threads(own_app.process.pid)

    memory, threads = choose(10)
    more_memory, more_threads = choose(60)

    assert more_threads <= threads + 2
    assert more_memory < memory + 30_000


@pytest.mark.slow
def test_audits_that_are_removed_take_no_more_memory(own_app, loans):
    table = own_app.table(loans)

    def audit(times):
        for _ in range(times):
            address = own_app.post(f"{table}/audits", LOANS).headers["location"]
            own_app.wait(address)
            own_app.get(f"{address}/files/audit.json")
            own_app.post(f"{address}/remove")
        return memory_and_threads(own_app.process.pid)

    memory, threads = audit(2)
    more_memory, more_threads = audit(4)

    assert more_threads <= threads + 2
    assert more_memory < memory + 10_000
    assert len(children(own_app.process.pid)) == 1  # the one that removes the folder


def test_without_the_extra_one_sentence_says_what_to_install():
    import subprocess
    import sys

    program = (
        "import sys; sys.modules['starlette'] = None\n"
        "from fairtransport.cli import main; sys.exit(main(['app', '--no-open']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "the app needs the packages starlette, uvicorn and python-multipart" in said
    assert "pip install 'fairtransport[app]'" in said
