"""A killed audit leaves its files whole, old or absent, and nothing else."""

import json
import subprocess
import sys

import pytest

TOLD = ["--label", "good", "--prediction", "guess", "--sensitive", "race", "--seed", "1"]

KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
from fairtransport.cli import main

def start(line):
    child = os.fork()
    if not child:
        os._exit(main(line))
    return child

files, line = sys.argv[1].split(), sys.argv[2:]
# what an audit imports is imported once, so that the kills hit the audit and its writing
main(line)
began = time.monotonic()
os.waitpid(start(line), 0)
lasts, rng, found = time.monotonic() - began, random.Random(1), []
finished = {name: Path(name).read_bytes() for name in files}
for _ in range(100):
    for name in files:
        Path(name).unlink(missing_ok=True)
        if rng.random() < 0.5:
            Path(name).write_bytes(b"old")
    child = start(line)
    time.sleep(rng.uniform(0, lasts))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    states = {b"old": "old"} | dict.fromkeys(finished.values(), "new")
    found.append({name: states.get(Path(name).read_bytes(), "torn") for name in os.listdir(".")})
print(json.dumps(found))
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
    # some were killed before they wrote and some after; none while a file was half there
    assert {state for files in found for state in files.values()} == {"old", "new"}
