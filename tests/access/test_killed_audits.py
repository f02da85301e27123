"""An audit that is killed in front of a real server goes on where it stopped."""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest

KILLS, BATCH, QUESTIONS = 30, 16, 320
RUNNER = """
import json, os, random, signal, sys, time, urllib.request
from pathlib import Path
import pandas as pd
import fairtransport as ft
from fairtransport.access import batches

batches.BATCH = {batch}
people = pd.read_csv("people.csv")

def audit(run):
    def remote(points):
        body = json.dumps([run, points.values.tolist()]).encode()
        with urllib.request.urlopen(urllib.request.Request(sys.argv[1], body)) as answer:
            return json.load(answer)

    result = ft.audit(people, "good", model=ft.access.named(remote, "server 1"),
                      sensitive_features="g", rng=0, query_log="a.sqlite")
    Path("found.json").write_text(
        json.dumps([result.statistic, result.lower_bound, result.queried]))

def start(run):
    child = os.fork()
    if not child:
        try:
            audit(run)
        finally:
            os._exit(0)
    return child

def fresh():
    for name in ("a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "found.json"):
        Path(name).unlink(missing_ok=True)

audit("warm")
fresh()
began = time.monotonic()
os.waitpid(start("timed"), 0)
lasts, rng, found = time.monotonic() - began, random.Random(1), []
for kill in range({kills}):
    fresh()
    child = start(f"killed {{kill}}")
    time.sleep(rng.uniform(0, lasts))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    ended = Path("found.json").exists()
    os.waitpid(start(f"rerun {{kill}}"), 0)
    found.append([ended, json.loads(Path("found.json").read_text())])
print(json.dumps(found))
"""


class Server:
    """Answers over HTTP, slowly, and remembers every request with its points."""

    def __init__(self):
        requests = self.requests = {}

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                run, points = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.setdefault(run, []).append([tuple(point) for point in points])
                time.sleep(0.005)
                body = json.dumps([int((7 * x + (g == "a")) % 3 == 0) for g, x in points]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

            def handle(self):
                with suppress(OSError):  # whoever asked was killed
                    super().handle()

            def finish(self):
                with suppress(OSError):
                    super().finish()

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    one = Server()
    yield one
    one.http.shutdown()
    one.http.server_close()


@pytest.mark.slow
def test_an_audit_killed_at_any_moment_goes_on_and_asks_nothing_twice(server, tmp_path):
    people = pd.DataFrame({
        "g": ["a", "b"] * (QUESTIONS // 2), "x": np.arange(QUESTIONS) // 2,
        "good": np.arange(QUESTIONS) % 7 % 2,
    })  # fmt: skip
    people.to_csv(tmp_path / "people.csv", index=False)
    script = RUNNER.format(batch=BATCH, kills=KILLS)
    done = subprocess.run(
        [sys.executable, "-c", script, server.url], cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    cut_off = 0

    assert len(found) == KILLS
    assert len({tuple(result) for _, result in found}) == 1
    assert found[0][1][2] == QUESTIONS
    for kill in range(KILLS):
        before = server.requests.get(f"killed {kill}", [])
        after = server.requests.get(f"rerun {kill}", [])
        asked = [point for request in [*before, *after] for point in request]
        assert len(set(asked)) == QUESTIONS
        # the one request that was under way is asked once more, and nothing else
        repeated = {point for point in asked if asked.count(point) > 1}
        assert len(asked) - QUESTIONS == len(repeated)
        assert repeated in (set(), set(before[-1]) if before else set())
        cut_off += bool(repeated)
    # the kills were of use: most fell between the first question and the last
    halves = [len(server.requests.get(f"killed {kill}", [])) for kill in range(KILLS)]
    assert sum(0 < half < QUESTIONS // BATCH for half in halves) >= KILLS // 3
    assert cut_off >= 1
