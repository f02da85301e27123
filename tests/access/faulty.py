"""A server on loopback that stands before another one, counts questions and misbehaves as told.

It speaks what it is spoken to in: MLflow's /invocations, the Open Inference Protocol v2 and
/v1/chat/completions. Without a server behind it, a function of the rows answers in MLflow's way.
"""

import json
import os
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from urllib.request import Request, urlopen

NO_ANSWER = ("500", "503", "429", "hang-up", "redirect", "killed before")
"""Faults at which the server behind is not even asked."""
PATIENCE = 60
"""Seconds to wait for whom to kill."""


class Faulty:
    """A server that misbehaves.

    Parameters
    ----------
    behind
        The address of the server that requests are handed on to, as "http://127.0.0.1:5001", or
        a function from a list of rows (dictionaries) to a list of predictions.
    faults
        What goes wrong with the first, second, … question; None where nothing does, and nothing
        does when they are used up. `always` goes wrong ever after.
    pause
        Seconds that every reply takes longer.
    elsewhere
        Where a redirect leads.
    context
        How connections are encrypted; None leaves them open to read.

    Attributes
    ----------
    asked, answered
        How often each question arrived, and how often a right and whole reply to it was sent.
    posts
        The questions of every post, in the order in which these arrived.
    victims
        The ids of the processes that the next faults "killed …" kill.
    requests, most_at_once
        How many posts arrived, and how many of them were in hand at the same time.
    headers
        The headers of every request.
    """

    def __init__(self, behind, faults=(), always=None, pause=0.0, elsewhere=None, context=None):
        self.behind, self.faults, self.always, self.pause = behind, list(faults), always, pause
        self.elsewhere = elsewhere or "http://192.0.2.1/invocations"
        self.asked, self.answered = Counter(), Counter()
        self.requests = self.most_at_once = self._in_hand = 0
        self.headers, self.times, self.posts = [], [], []
        self.victims = Queue()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.faulty = self
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.url = self.url.replace("http:", "https:")

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def most_often(self):
        """How often the question was answered that was answered most often."""
        return max(self.answered.values(), default=0)

    def handle(self, handler):
        """Answer one request."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        with self._lock:
            self.headers.append(dict(handler.headers))
        if handler.command == "GET":
            return handler.reply(*self._handed_on(handler, body))
        questions = questions_in(body)
        with self._in_turn(questions) as fault:
            time.sleep(self.pause)
            status, reply = (0, b"") if fault in NO_ANSWER else self._handed_on(handler, body)
            if fault is not None:
                return FAULTS[fault](handler, status, reply)
            handler.reply(status, reply)
            if status == 200:
                with self._lock:
                    self.answered.update(questions)
        return None

    @contextmanager
    def _in_turn(self, questions):
        """Say what goes wrong with this request, and count it."""
        with self._lock:
            self.asked.update(questions)
            self.posts.append(questions)
            self.requests += 1
            self.times.append(time.monotonic())
            self._in_hand += 1
            self.most_at_once = max(self.most_at_once, self._in_hand)
            fault = self.faults.pop(0) if self.faults else self.always
        try:
            yield fault
        finally:
            with self._lock:
                self._in_hand -= 1

    def kill(self):
        """End the process that asks, as nothing can be caught."""
        os.kill(self.victims.get(timeout=PATIENCE), signal.SIGKILL)

    def _handed_on(self, handler, body):
        """Return the status and the reply of what stands behind."""
        if callable(self.behind):
            if handler.command == "GET":
                return (200, b"\n") if handler.path == "/ping" else (404, b"{}")
            return 200, json.dumps({"predictions": self.behind(rows_in(body))}).encode()
        kept = {name: value for name, value in handler.headers.items()
                if name.lower() not in {"host", "connection", "content-length"}}  # fmt: skip
        data = body if handler.command == "POST" else None
        request = Request(self.behind + handler.path, data, kept, method=handler.command)  # noqa: S310
        try:
            with urlopen(request, timeout=60) as reply:  # noqa: S310
                return reply.status, reply.read()
        except OSError as error:
            return getattr(error, "code", 502), getattr(error, "read", lambda: b"")()


def _slowly(handler, status, reply):
    time.sleep(3)
    handler.reply(status, reply)


def _cut(handler, status, reply):
    handler.begin(status, len(reply), {})
    handler.wfile.write(reply[: len(reply) // 2])
    handler.hang_up()


def _drop_by_drop(handler, status, reply):
    handler.begin(status, len(reply), {})
    for at in range(len(reply)):
        handler.wfile.write(reply[at : at + 1])
        time.sleep(0.05)


def _redirect(handler, *_):
    handler.reply(307, b"", {"Location": handler.server.faulty.elsewhere})


def _killed(handler, *_):
    handler.server.faulty.kill()
    handler.hang_up()


def _killed_half_way(handler, status, reply):
    handler.begin(status, len(reply), {})
    handler.wfile.write(reply[: len(reply) // 2])
    handler.wfile.flush()
    _killed(handler)


def _killed_after(handler, status, reply):
    handler.reply(status, reply)
    handler.wfile.flush()
    handler.server.faulty.kill()


KILLS = {
    "killed before": _killed,
    "killed while asked": _killed,
    "killed half way": _killed_half_way,
    "killed after": _killed_after,
}
"""When whoever asks is killed: before the server behind is asked, when that has answered, when
half of the answer is sent, when all of it is."""
FAULTS = KILLS | {
    "500": lambda handler, *_: handler.reply(500, b"something broke"),
    "503": lambda handler, *_: handler.reply(503, b"something broke"),
    "429": lambda handler, *_: handler.reply(429, b"slower, please", {"Retry-After": "1"}),
    "slow": _slowly,
    "hang-up": lambda handler, *_: handler.hang_up(),
    "cut": _cut,
    "drip": _drop_by_drop,
    "shape": lambda handler, status, reply: handler.reply(status, spoilt(reply, "shape")),
    "nan": lambda handler, status, reply: handler.reply(status, spoilt(reply, "nan")),
    "text": lambda handler, status, _: handler.reply(status, b"<html>hello</html>"),
    "huge": lambda handler, status, reply: handler.reply(status, b" " * (20 << 20) + reply),
    "redirect": _redirect,
}
"""What can go wrong with a reply."""


def spoilt(reply, fault):
    """Return a reply with one prediction less, or with a NaN in it."""
    document = json.loads(reply)
    outputs = document.get("outputs")
    values = document["predictions"] if outputs is None else outputs[0]["data"]
    if fault == "shape":
        values.pop()
    else:
        values[0] = [float("nan")] * len(values[0]) if isinstance(values[0], list) else float("nan")
    return json.dumps(document).encode()


def rows_in(body):
    """Return the rows of a request in MLflow's or the Open Inference way, as dictionaries."""
    document = json.loads(body)
    if "dataframe_split" in document:
        table = document["dataframe_split"]
        return [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    if "inputs" in document:
        columns = {one["name"]: one["data"] for one in document["inputs"]}
        size = document["inputs"][0]["shape"][0]
        if len(columns) == 1:
            (data,) = columns.values()
            width = len(data) // size
            return [dict(enumerate(data[at * width : (at + 1) * width])) for at in range(size)]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{"prompt": json.dumps(document.get("messages"))}]


def questions_in(body):
    """Return each row of a request as a text that is the same whenever the row is."""
    return [json.dumps(row, sort_keys=True, default=str) for row in rows_in(body)]


class Handler(BaseHTTPRequestHandler):
    """Hands every request to the faulty server that it belongs to."""

    protocol_version = "HTTP/1.1"

    def begin(self, status, size, more):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **more}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()

    def reply(self, status, content, more=()):
        self.begin(status, len(content), dict(more))
        self.wfile.write(content)

    def hang_up(self):
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()

    def do_POST(self):
        try:
            self.server.faulty.handle(self)
        except OSError:  # whoever asked has gone
            self.close_connection = True

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_):
        """Be silent."""

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            self.close_connection = True
