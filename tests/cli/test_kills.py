"""A killed audit leaves its files whole, old or absent."""

import json
import subprocess
import sys

import pytest

TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race", "--seed", "1"]

KILLS = """
import json, os, random, signal, sys
from pathlib import Path
from fairtransport.cli import main

files, line = sys.argv[1].split(), sys.argv[2:]
here, rng, calls, opens, deadly, waiting = os.getcwd(), random.Random(1), 0, [], None, False

def count(*_):
    global calls
    calls += 1
    if calls == deadly:
        os.kill(os.getpid(), signal.SIGKILL)

def watch(event, told):
    global waiting
    if event == "open" and told[2] & os.O_ACCMODE and str(told[0]).startswith((here, *files)):
        opens.append(calls)
        if waiting:
            waiting = False
            repeat()

def repeat():
    '''From the first moment of writing on, go on a hundred times, each until another call:
    each of those that write a file, and others.'''
    global deadly
    tell, told = os.pipe()
    if not go_on():
        return at_the_end.append(told)
    total, moments = json.loads(os.read(tell, 10_000))
    states = {b"old": "old"} | {Path(name).read_bytes(): "new" for name in files}
    near = [moment + later for moment in moments for later in range(1, 36)]
    far = [rng.randint(1, total) for _ in range(100 - len(near))]
    found = []
    # a last one that nobody kills
    for deadly in [*near, *far, None]:
        for name in files:
            Path(name).unlink(missing_ok=True)
            if rng.random() < 0.5:
                Path(name).write_bytes(b"old")
        if not go_on():
            return
        found.append(
            {name: states.get(Path(name).read_bytes(), "torn") for name in os.listdir(".")})
    print(json.dumps(found), flush=True)
    os._exit(0)

def go_on():
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    else:
        sys.setprofile(count)
    return child

at_the_end = []
# what an audit imports and compiles is there before
main(line)
sys.addaudithook(watch)
waiting = True
main(line)
sys.setprofile(None)
for told in at_the_end:
    os.write(told, json.dumps([calls, opens]).encode())
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("report", ["a.html", "a.md"])
def test_an_audit_killed_at_any_moment_leaves_whole_files(report, folder, tmp_path):
    line = ["audit", folder / "people.csv", *TOLD, "--quiet", "--report", report]
    done = subprocess.run(
        [sys.executable, "-c", KILLS, f"{report} a.json", *line, "--json", "a.json"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert len(found) == 101
    assert found.pop() == {report: "new", "a.json": "new"}
    # who is killed between the two names of a finished file leaves the first; the next takes it
    names = {name for files in found for name in files if not name.endswith(".partial")}
    assert names == {report, "a.json"}
    # until it writes nothing can be torn; then some were killed before, some after a file was there
    assert {state for files in found for state in files.values()} == {"old", "new"}
