"""The audits of a server, each in its own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, Queue
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from fairtransport.app.form import FIELD_NAMES
from fairtransport.errors import FairtransportError, InputError, render_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairtransport.app.form import Measure
    from fairtransport.app.result_views import Finding
    from fairtransport.audits.from_text import AuditRequest


MAX_AUDITS = 8
"""Maximum number of audits of a server; each is a process."""
PATIENCE = 120.0
"""Maximum seconds for an answer."""
RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"
LATE = f"this takes longer than {PATIENCE:g} seconds: try again later"
GONE = "the audit stopped before it was finished, perhaps because the memory was too small"


@dataclass(eq=False)
class Job:
    """One audit."""

    key: str
    request: AuditRequest
    measure: Measure
    entries: Mapping[str, str]
    table: str
    state: str = RUNNING
    progress: Progress = field(default_factory=lambda: Progress("Starting"))
    done: Done | None = None
    message: str = ""
    _line: Connection = field(init=False)
    _process: subprocess.Popen[bytes] = field(init=False)
    _listener: threading.Thread = field(init=False)
    _asking: threading.Lock = field(default_factory=threading.Lock)
    _answers: Queue[Answer] = field(default_factory=Queue)
    _numbers: Iterator[int] = field(default_factory=count)

    def start(self) -> None:
        """Start the process, without the working directory in its import path."""
        self._line, theirs = Pipe()
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-c", PROGRAM, str(theirs.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._line.send((self.request, self.measure))
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        while True:
            try:
                message = self._line.recv()
            except (EOFError, OSError):
                self._hang_up()
                return
            if isinstance(message, Progress):
                self.progress = message
            elif isinstance(message, Done):
                self.done, self.request, self.state = message, message.request, DONE
            elif isinstance(message, Failed):
                self.message, self.state = message.sentence, FAILED
            else:
                self._answers.put(message)

    def _hang_up(self) -> None:
        """Close the connections of an ended process and collect its exit status."""
        self._line.close()
        if self.state in {RUNNING, DONE}:
            self.message, self.state = GONE, FAILED
        self._answers.put(Answer(None, refused=GONE))
        self._process.wait()
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        self._process.stdin.close()

    def ask(self, question: str, **arguments: Any) -> Any:
        """Send the process a question about its result, one at a time."""
        with self._asking:
            if self.state != DONE:
                raise FairtransportError(self.message or "the audit is not finished")
            try:
                number = next(self._numbers)
                self._line.send((number, question, arguments))
                answer = self._wait(number)
            except OSError:
                raise FairtransportError(GONE) from None
            except Empty:
                raise FairtransportError(LATE) from None
        if answer.refused is not None:
            raise InputError(answer.refused)
        return answer.value

    def _wait(self, number: int) -> Answer:
        """Return the answer to a question; drop late ones to earlier questions."""
        ends = time.monotonic() + PATIENCE
        while True:
            answer = self._answers.get(timeout=max(0.0, ends - time.monotonic()))
            if answer.number in {number, None}:
                return answer

    def cancel(self) -> None:
        """Kill the process."""
        if self.state == RUNNING:
            self.state = CANCELLED
        self._process.kill()
        self._listener.join()  # until it has noticed the end of the process

    @property
    def sentence(self) -> str:
        """Why the audit failed, in the form's words for fields and files."""
        sentence = render_message(self.message, FIELD_NAMES)
        files = {self.request.data: self.request.name}
        files |= {
            Path(one.model): Path(one.shown).name for one in self.request.sources if one.model
        }
        for path, name in files.items():
            sentence = sentence.replace(str(path), name).replace(path.name, name)
        return sentence

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._process.pid


class Jobs:
    """The audits of a server, the newest last."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def __iter__(self) -> Any:
        return iter(list(self._jobs.values()))

    def get(self, key: str) -> Job | None:
        """Return an audit; None if there is none with that key."""
        return self._jobs.get(key)

    def start(
        self, request: AuditRequest, measure: Measure, entries: Mapping[str, str], table: str
    ) -> Job:
        """Start an audit, if there is room for its process."""
        active = [job for job in self._jobs.values() if job.state in {RUNNING, DONE}]
        if len(active) >= MAX_AUDITS:
            msg = f"the app holds at most {MAX_AUDITS} audits: remove one on the first page"
            raise InputError(msg)
        job = Job(token_hex(8), request, measure, entries, table)
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


STDIN, STDOUT, STDERR = 0, 1, 2
PROGRAM = "import sys; from fairtransport.app.jobs import begin; begin(int(sys.argv[1]))"


@dataclass(frozen=True)
class Progress:
    """Progress of an audit: a description, the amount done and the total, if known."""

    words: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Failed:
    """The reason why there is no result."""

    sentence: str


@dataclass(frozen=True)
class Done:
    """A summary of a result, and the request that repeats it."""

    finding: Finding
    request: AuditRequest


@dataclass(frozen=True)
class Answer:
    """The answer to a question about the result, or an error; to all, if it has no number."""

    number: int | None
    value: Any = None
    refused: str | None = None


def begin(handle: int) -> None:
    """Run the first request from the connection, then answer numbered questions until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    threading.Thread(target=_end_with_server, daemon=True).start()
    os.dup2(STDERR, STDOUT)  # models may print
    line = Connection(handle)
    request, measure = line.recv()
    line.send(Progress("Reading the file"))
    views = _run(request, measure, line)
    while views is not None:
        try:
            question = line.recv()
        except EOFError:
            return
        line.send(_answer(views, *question))


def _end_with_server() -> None:
    """Exit when standard input closes, which the server holds open while it lives."""
    os.read(STDIN, 1)
    os._exit(1)


def _run(request: AuditRequest, measure: Measure, line: Connection) -> Any:
    from fairtransport._core.progress import with_listener
    from fairtransport.app.result_views import ResultViews

    try:
        with with_listener(lambda words, done, total: line.send(Progress(words, done, total))):
            models = request.read_models()
            complete = request.resolve(models)
            line.send(Progress("Comparing people"))
            result = complete.run(models)
            line.send(Progress("Computing the result"))
            views = ResultViews(result, complete, measure)
            finding = views.finding()
            line.send(Progress("Writing the report"))
            views.report()
    except BaseException as error:  # noqa: BLE001 - the boundary of the process: one sentence
        line.send(Failed(_sentence(error)))
        return None
    line.send(Done(finding, complete))
    return views


def _answer(views: Any, number: int, name: str, arguments: dict[str, Any]) -> Answer:
    from fairtransport.app.result_views import QUESTIONS

    try:
        return Answer(number, getattr(views, QUESTIONS[name])(**arguments))
    except BaseException as error:  # noqa: BLE001 - the same
        return Answer(number, refused=_sentence(error))


def _sentence(error: BaseException) -> str:
    from fairtransport._core.validation import describe_error, error_sentence

    if isinstance(error, FairtransportError):
        return error.message
    return error_sentence(error) or f"This is a defect of fairtransport ({describe_error(error)})"
