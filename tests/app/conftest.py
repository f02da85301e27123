"""The app as a user starts it, and a client that speaks to it without a browser."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PATIENCE = 120.0
BOUNDARY = "----a-boundary-of-the-tests"


@dataclass
class Reply:
    status: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


def multipart(fields, files=()):
    """Return the body of a form; files are (name, file name, bytes)."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    for name, shown, data in files:
        heading = f'Content-Disposition: form-data; name="{name}"; filename="{shown}"'
        parts.append(f"--{BOUNDARY}\r\n{heading}\r\n\r\n".encode() + data + b"\r\n")
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


@dataclass
class Running:
    """A started app."""

    process: subprocess.Popen
    address: str
    folder: Path
    cookie: str = ""

    @property
    def host(self):
        return urllib.parse.urlsplit(self.address).netloc

    @property
    def token(self):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.address).query)["token"][0]

    def request(self, method, path, body=None, **headers):
        """Send one request, with nothing in it but what is given."""
        line = http.client.HTTPConnection(*self.host.split(":"), timeout=PATIENCE)
        line.putrequest(method, path, skip_host=True)
        for name, value in ({"Host": self.host} | headers).items():
            line.putheader(name, value)
        if body is not None:
            line.putheader("Content-Length", str(len(body)))
        line.endheaders(body)
        answer = line.getresponse()
        found = Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        line.close()
        return found

    def enter(self):
        entered = self.request("GET", f"/?token={self.token}")
        self.cookie = entered.headers["set-cookie"].split(";")[0]
        return entered

    def get(self, path):
        return self.request("GET", path, Cookie=self.cookie)

    def post(self, path, fields=(), files=()):
        return self.request(
            "POST", path, multipart(dict(fields), files), Cookie=self.cookie,
            Origin=f"http://{self.host}",
            **{"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"},
        )  # fmt: skip

    def table(self, path):
        """Choose a file, and return the page of its columns."""
        return self.post("/tables", {"way": "path", "path": str(path)}).headers["location"]

    def wait(self, audit, state="done"):
        """Wait until an audit is in a state."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            found = self.get(f"{audit}/state").json
            if found["state"] == state:
                return
            assert found["state"] == "running", self.get(audit).text
            time.sleep(0.1)
        pytest.fail(f"{audit} is not {state}")

    def stop(self, how=signal.SIGINT):
        """Send a signal; return the exit code and what was printed to standard error."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


def start_app(folder, *flags):
    """Start the app with a folder of its own for temporary files."""
    process = subprocess.Popen(
        [sys.executable, "-m", "fairtransport", "app", "--no-open", *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    )  # fmt: skip
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), process.communicate()
    return Running(process, address, Path(folder))


@pytest.fixture(scope="session")
def shared_app():
    """One app for all tests that leave it as it was."""
    with tempfile.TemporaryDirectory() as folder:
        running = start_app(folder)
        yield running
        if running.process.poll() is None:
            running.stop()


@pytest.fixture
def app(shared_app):
    """Return the app, entered."""
    shared_app.enter()
    return shared_app


@pytest.fixture
def own_app(tmp_path):
    """Return an app of this test alone, entered; it is stopped, however the test ends."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    running = start_app(folder)
    running.enter()
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.fixture(scope="session")
def loans(tmp_path_factory):
    """A file of cases with predictions that ask more of women than of men."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "income": rng.integers(1, 9, 600)})
    people["repaid"] = (rng.random(600) < 0.2 + 0.09 * people["income"]).astype(int)
    people["granted"] = (people["income"] + (people["sex"] == "m") > 4).astype(int)
    people["later"] = (people["income"] > 4).astype(int)
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    people.to_csv(path, index=False)
    return path


LOANS = {
    "decision": "3", "good.3": "1", "group.0": "on", "role.1": "case", "role.2": "label",
    "role.4": "unused", "answers": "column", "similarity": "ignore-sensitive", "limit": "3",
    "rng": "1",
}  # fmt: skip
"""What is typed for an audit of the loans."""


@pytest.fixture(scope="session")
def audited(shared_app, loans):
    """Return the address of a finished audit of the loans."""
    shared_app.enter()
    audit = shared_app.post(f"{shared_app.table(loans)}/audits", LOANS).headers["location"]
    shared_app.wait(audit)
    return audit
