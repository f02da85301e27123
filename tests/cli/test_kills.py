"""A killed audit leaves its files whole, old or absent, and nothing else."""

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
    '''From the first moment of writing on, go on a hundred times, each until another call.'''
    global deadly
    tell, told = os.pipe()
    if not go_on():
        return at_the_end.append(told)
    total, moments = json.loads(os.read(tell, 10_000))
    states = {b"old": "old"} | {Path(name).read_bytes(): "new" for name in files}
    found = []
    for kill in range(100):
        for name in files:
            Path(name).unlink(missing_ok=True)
            if rng.random() < 0.5:
                Path(name).write_bytes(b"old")
        near = rng.choice(moments) + rng.randint(1, 40)
        deadly = near if kill % 2 else rng.randint(1, total)
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
def test_an_audit_killed_at_any_moment_leaves_whole_files_and_nothing_else(
    report, folder, tmp_path
):
    line = ["audit", folder / "people.csv", *TOLD, "--quiet", "--report", report]
    done = subprocess.run(
        [sys.executable, "-c", KILLS, f"{report} a.json", *line, "--json", "a.json"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert len(found) == 100
    assert {name for files in found for name in files} == {report, "a.json"}
    # until it writes nothing can be torn; then some were killed before, some after a file was there
    assert {state for files in found for state in files.values()} == {"old", "new"}
