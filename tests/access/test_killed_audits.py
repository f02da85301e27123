"""An audit that is killed in front of a server goes on where it stopped.

The proxy before the server kills it, at a request and a phase of it that are chosen at random
beforehand: how busy the machine is does not matter.
"""

import json
import subprocess
import sys
from itertools import chain
from queue import Queue

import numpy as np
import pandas as pd
import pytest
from tests.access.faulty import KILLS, Faulty

pytestmark = pytest.mark.slow

MOMENTS, BY_COMMAND, BATCH, QUESTIONS = 30, 6, 8, 160
RUNNER = """
import json, os, sys
import pandas as pd
import fairtransport as ft
from fairtransport.cli import main

people = pd.read_csv("people.csv")

def by_python(url, at_a_time, name):
    box = ft.access.connect(url, batch_size={batch}, at_a_time=at_a_time, retries=0)
    result = ft.audit(people, "good", model=box, sensitive_features="g", rng=0, delta=0.1,
                      queries=ft.Queries(log=f"{{name}}.sqlite", repeats=0))
    result.to_json(f"{{name}}.json")
    return 0

def by_command(url, at_a_time, name):
    return main(["audit", "people.csv", "--label", "good", "--model", url, "--sensitive", "g",
                 "--seed", "0", "--delta", "0.1", "--repeats", "0", "--query-log",
                 f"{{name}}.sqlite", "--json", f"{{name}}.json", "--batch-size", "{batch}",
                 "--at-a-time", str(at_a_time), "--retries", "0", "--fail-on", "never", "--quiet"])

def ended(forks, way, *arguments):
    audit = by_command if way == "command" else by_python
    if not forks:  # so that those who are forked later find everything loaded
        print(os.getpid(), flush=True)
        return audit(*arguments)
    child = os.fork()
    if not child:
        code = 1
        try:
            code = audit(*arguments)
        finally:
            os._exit(code)
    print(child, flush=True)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for line in sys.stdin:
    print(ended(*json.loads(line)), flush=True)
"""


def judged(rows):
    return [int((7 * row["x"] + (row["g"] == "a")) % 3 == 0) for row in rows]


class Runner:
    """A process that forks an audit whenever it is told to, and says how that ended."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUNNER.format(batch=BATCH)], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def audit(self, proxy, way, at_a_time, name, *, forks=True):
        """Return how an audit ended; the proxy may kill it on the way."""
        line = json.dumps([forks, way, f"{proxy.url}/invocations", at_a_time, name])
        proxy.victims = Queue()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        proxy.victims.put(int(self.process.stdout.readline()))
        return int(self.process.stdout.readline())


@pytest.fixture
def runner(tmp_path):
    people = pd.DataFrame({
        "g": ["a", "b"] * (QUESTIONS // 2), "x": np.arange(QUESTIONS) // 2,
        "good": np.arange(QUESTIONS) % 7 % 2,
    })  # fmt: skip
    people.to_csv(tmp_path / "people.csv", index=False)
    one = Runner(tmp_path)
    with one.process:  # which closes its input, at which it ends
        yield one


def times_asked(posts):
    """Return how often each question was asked."""
    return pd.Series(list(chain(*posts))).value_counts()


def test_an_audit_killed_at_any_moment_goes_on_and_asks_nothing_twice(runner, tmp_path):
    rng, requests = np.random.default_rng(1), QUESTIONS // BATCH
    phases = rng.permutation(np.resize(list(KILLS), MOMENTS)).tolist()
    documents, cut_off = {}, 0
    with Faulty(judged) as server, Faulty(server.url) as proxy:
        for way in ("python", "command"):
            assert runner.audit(proxy, way, 1, f"whole {way}", forks=False) == 0
            documents[way] = (tmp_path / f"whole {way}.json").read_bytes()
        for kill, phase in enumerate(phases):
            way = "command" if kill < BY_COMMAND else "python"
            at_a_time, name = int(rng.choice([1, 1, 3])), f"killed {kill}"
            before = int(rng.integers(requests))
            proxy.posts.clear()
            server.posts.clear()
            proxy.faults = [None] * before + [phase]

            assert runner.audit(proxy, way, at_a_time, name) == -9
            assert not (tmp_path / f"{name}.json").exists()
            killed = list(proxy.posts)
            assert before < len(killed) <= before + at_a_time

            assert runner.audit(proxy, way, at_a_time, name) == 0
            assert (tmp_path / f"{name}.json").read_bytes() == documents[way]
            asked = times_asked(proxy.posts)
            repeated = set(asked[asked > 1].index)
            assert len(asked) == QUESTIONS
            assert asked.max() <= 2
            # what was under way is asked once more, and nothing else
            lost = [post for post in killed if set(post) & repeated]
            assert repeated == set(chain(*lost))
            assert len(lost) <= at_a_time
            if phase != "killed after":
                assert set(killed[before]) <= repeated
            if phase == "killed before":
                assert times_asked(server.posts)[killed[before]].max() == 1
            cut_off += bool(lost)
    # all of them but those who had their answer, and perhaps wrote it down
    assert cut_off >= MOMENTS - phases.count("killed after")
