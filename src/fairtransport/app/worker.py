"""A process that carries out one audit, tells how far it is, and then answers questions about it.

It holds the result, so that the server never does; it ends when it is killed or its server is
gone, in the middle of its work too.
"""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from fairtransport.app.asked import Asked
    from fairtransport.app.desk import Finding

STDIN, STDOUT, STDERR = 0, 1, 2
PROGRAM = "import sys; from fairtransport.app.worker import begin; begin(int(sys.argv[1]))"


@dataclass(frozen=True)
class Told:
    """How far the work is: in words, and of how much how much is done, where that is known."""

    words: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Failed:
    """Why there is no result."""

    sentence: str


@dataclass(frozen=True)
class Done:
    """That there is a result, what it says in short, and as what it can be repeated."""

    finding: Finding
    asked: Asked


@dataclass(frozen=True)
class Answer:
    """What was asked of the result, or why it is not to be had."""

    value: Any = None
    refused: str | None = None


Message: TypeAlias = Told | Failed | Done | Answer
Question: TypeAlias = tuple[str, dict[str, Any]]
"""A name of `desk.QUESTIONS`, and its arguments."""


def begin(handle: int) -> None:
    """Carry out what comes over the line first, then answer until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    threading.Thread(target=_end_with_server, daemon=True).start()
    os.dup2(STDERR, STDOUT)  # models may print
    line = Connection(handle)
    asked = line.recv()
    line.send(Told("Reading"))
    desk = _carried_out(asked, line)
    while desk is not None:
        try:
            question, arguments = line.recv()
        except EOFError:
            return
        line.send(_answer(desk, question, arguments))


def _end_with_server() -> None:
    """End when standard input does, which the server holds open as long as it lives."""
    os.read(STDIN, 1)
    os._exit(1)


def _carried_out(asked: Asked, line: Connection) -> Any:
    from fairtransport.app.asked import carry_out, read_models, resolve
    from fairtransport.app.desk import Desk
    from fairtransport.progress import heard_by

    try:
        with heard_by(lambda words, done, total: line.send(Told(words, done, total))):
            models = read_models(asked)
            complete = resolve(asked, models)
            line.send(Told("Counting people, asking about them and solving"))
            result = carry_out(complete, models)
            line.send(Told("Working out bounds and who is affected"))
            desk = Desk(result, complete)
            finding = desk.finding()
            line.send(Told("Writing the report"))
            desk.report()
    except BaseException as error:  # noqa: BLE001 - the boundary of the process: one sentence
        line.send(Failed(_sentence(error)))
        return None
    line.send(Done(finding, complete))
    return desk


def _answer(desk: Any, name: str, arguments: dict[str, Any]) -> Answer:
    from fairtransport.app.desk import QUESTIONS

    try:
        return Answer(getattr(desk, QUESTIONS[name])(**arguments))
    except BaseException as error:  # noqa: BLE001 - the same
        return Answer(refused=_sentence(error))


def _sentence(error: BaseException) -> str:
    from fairtransport.checks import said, sentence_of

    return sentence_of(error) or f"This is a defect of fairtransport ({said(error)})"
