"""The audits of one server: each in a process of its own, to be watched, asked and ended."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from multiprocessing import Pipe
from queue import Empty, Queue
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from fairtransport.app.worker import PROGRAM, Answer, Done, Failed, Told
from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

    from fairtransport.app.asked import Asked

MOST = 8
"""So many audits a server holds; each is a process."""
PATIENCE = 120.0
"""Seconds that an answer may take."""
RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"
GONE = "the audit's process has ended before its work was done, perhaps for want of memory"


@dataclass(eq=False)
class Job:
    """One audit.

    Attributes
    ----------
    asked
        What was asked; when it is done, with the columns that the model left open.
    typed, table
        What was typed into which table's form, to begin anew from.
    """

    key: str
    asked: Asked
    typed: Mapping[str, str]
    table: str
    state: str = RUNNING
    told: Told = field(default_factory=lambda: Told("Starting"))
    done: Done | None = None
    sentence: str = ""
    _line: Connection = field(init=False)
    _process: subprocess.Popen[bytes] = field(init=False)
    _listener: threading.Thread = field(init=False)
    _asking: threading.Lock = field(default_factory=threading.Lock)
    _answers: Queue[Answer] = field(default_factory=Queue)

    def start(self) -> None:
        """Start the process; without the working directory among what it may import."""
        self._line, theirs = Pipe()
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-c", PROGRAM, str(theirs.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._line.send(self.asked)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        while True:
            try:
                message = self._line.recv()
            except (EOFError, OSError):
                self._line.close()
                self._hung_up()
                return
            if isinstance(message, Told):
                self.told = message
            elif isinstance(message, Done):
                self.done, self.asked, self.state = message, message.asked, DONE
            elif isinstance(message, Failed):
                self.sentence, self.state = message.sentence, FAILED
            else:
                self._answers.put(message)

    def _hung_up(self) -> None:
        if self.state == RUNNING:
            self.sentence, self.state = GONE, FAILED
        elif self.state == DONE:
            self.sentence, self.state = GONE, FAILED
            self._answers.put(Answer(refused=GONE))

    def ask(self, question: str, **arguments: Any) -> Any:
        """Ask the process about its result; one question at a time."""
        with self._asking:
            if self.state != DONE:
                raise FairtransportError(self.sentence or "the audit is not done")
            try:
                self._line.send((question, arguments))
                answer = self._answers.get(timeout=PATIENCE)
            except (OSError, Empty):
                raise FairtransportError(GONE) from None
        if answer.refused is not None:
            raise InputError(answer.refused)
        return answer.value

    def cancel(self) -> None:
        """End the process, whatever it does."""
        if self.state == RUNNING:
            self.state = CANCELLED
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._listener.join()  # until it has heard that the process is gone

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid


class Jobs:
    """The audits that a server holds, the newest last."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def __iter__(self) -> Any:
        return iter(list(self._jobs.values()))

    def get(self, key: str) -> Job | None:
        """Return an audit; None if there is none of that key."""
        return self._jobs.get(key)

    def start(self, asked: Asked, typed: Mapping[str, str], table: str) -> Job:
        """Start an audit, if there is room for its process."""
        held = [job for job in self._jobs.values() if job.state in {RUNNING, DONE}]
        if len(held) >= MOST:
            msg = f"there is room for {MOST} audits, got one more: remove one on the first page"
            raise InputError(msg)
        job = Job(token_hex(8), asked, typed, table)
        job.start()
        self._jobs[job.key] = job
        return job

    def remove(self, key: str) -> None:
        """End an audit and forget it."""
        job = self._jobs.pop(key, None)
        if job is not None:
            job.cancel()

    def end(self) -> None:
        """End all of them."""
        for key in list(self._jobs):
            self.remove(key)
