"""Writes three reports: a model, a file of decisions, a hiring prompt.

    python examples/reports.py FOLDER

The people of the last two are simulated, and so is the server for the prompt.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import fairtransport as ft
from fairtransport.reproduce.compas import IN_WORDS, audit_of_split

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = pd.DataFrame(
    [("a", "Emily"), ("a", "Greg"), ("b", "Lakisha"), ("b", "Jamal")], columns=["group", "name"]
)


def audit_compas() -> ft.AuditResult:
    """Audit a logistic regression on COMPAS."""
    return audit_of_split(labels=IN_WORDS)


def audit_loans() -> ft.AuditResult:
    """Audit a lender's decisions, without model and outcomes; women need a higher income."""
    loans = pd.read_csv(Path(__file__).with_name("loans.csv"))
    return ft.audit(
        loans, y_pred="decision", favourable="granted", sensitive_features="sex", delta=0.03, rng=1
    )


class Chat(BaseHTTPRequestHandler):
    """Answers like a language model that prefers some names."""

    def do_POST(self) -> None:
        """Invite from five years on, and two years earlier with a name of group a."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = request["messages"][-1]["content"]
        match = re.search(r"(\d+) years", text)
        years = int(match[1]) if match else 0
        reply = "yes" if years + 2 * ("Emily" in text or "Greg" in text) >= 5 else "no"
        choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serve_chat() -> Iterator[str]:
    """Serve the stand-in, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def audit_prompt() -> ft.AuditResult:
    """Audit a prompt that decides whom to invite; names stand for groups."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({
        "group": rng.choice(["a", "b"], 400), "years": rng.integers(0, 10, 400)
    })  # fmt: skip
    with serve_chat() as url:
        model = ft.access.prompt(
            "{name} applies, with {years} years in similar work. Invite? Answer yes or no.",
            url, answers=["yes", "no"], model="stand-in", stand_ins=NAMES,
        )  # fmt: skip
        return ft.audit(
            people, model=model, favourable="yes", sensitive_features="group", delta=0.05, rng=0
        )


REPORTS = {
    "compas": (audit_compas, "A logistic regression on COMPAS"),
    "loans": (audit_loans, "A lender's decisions"),
    "prompt": (audit_prompt, "A hiring prompt"),
}


def write_reports(folder: Path) -> None:
    """Write all reports into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (audit, title) in REPORTS.items():
        audit().to_html(folder / f"{name}.html", title=title)


if __name__ == "__main__":
    write_reports(Path(sys.argv[1]))
