"""The server, for this machine only, and its folder, which is removed however it ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import webbrowser
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from fairtransport.errors import FairtransportError, InputError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from fairtransport.app.pages import Desktop


LOOPBACK = "127.0.0.1"
NEEDED = (
    "the app needs the packages starlette, uvicorn and python-multipart: "
    "pip install 'fairtransport[app]'"
)


def serve(port: int, say: Callable[[str], None], *, opens: bool = True) -> None:
    """Serve until a signal comes; then end all audits and remove the folder."""
    try:
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ModuleNotFoundError:
        raise FairtransportError(NEEDED) from None
    from fairtransport.app.pages import Desktop

    token = token_urlsafe(24)
    with _listening(port) as listening, temporary_folder() as folder:
        host = f"{LOOPBACK}:{listening.getsockname()[1]}"
        desktop = Desktop(folder)
        address = f"http://{host}/?token={token}"
        say(address)
        if opens:
            webbrowser.open(address)
        config = uvicorn.Config(
            application(desktop, token, host), log_level="warning", access_log=False,
            timeout_graceful_shutdown=1, server_header=False,
        )  # fmt: skip
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            desktop.jobs.end()


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        msg = f"{param('port')} must be a free port of this machine, got {port}: {reason}"
        raise InputError(msg) from error
    listener.listen()
    return listener


def application(desktop: Desktop, token: str, host: str) -> ASGIApp:
    """Return all pages, behind the guard."""
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    from fairtransport._core.validation import describe_error, error_sentence
    from fairtransport.app import pages
    from fairtransport.app.guard import Guard
    from fairtransport.app.pages import page, static_file

    async def static(request: Request) -> Response:
        asset = static_file(request.path_params["name"])
        return pages.absent("file") if asset is None else Response(asset[0], media_type=asset[1])

    async def refused(_: Request, error: Exception) -> Response:
        return page("absent", pages.REFUSED, what=None, sentence=str(error))

    async def broken(_: Request, error: Exception) -> Response:
        sentence = (
            error_sentence(error) or f"This is a defect of fairtransport ({describe_error(error)})"
        )
        return page("absent", 500, what=None, sentence=sentence)

    async def nowhere(_: Request, __: Exception) -> Response:
        return pages.absent("page")

    one = "/audits/{audit}"
    routes = [
        Route("/", pages.start),
        Route("/static/{name}", static),
        Route("/tables", pages.choose, methods=["POST"]),
        Route("/tables/{table}", pages.describe),
        Route("/tables/{table}/means", pages.means),
        Route("/tables/{table}/files/{which}", pages.download_copy),
        Route("/tables/{table}/audits", pages.begin, methods=["POST"]),
        Route(one, pages.show),
        Route(f"{one}/state", pages.state),
        Route(f"{one}/cancel", pages.cancel, methods=["POST"]),
        Route(f"{one}/remove", pages.remove, methods=["POST"]),
        Route(f"{one}/full", pages.full),
        Route(f"{one}/follow", pages.follow, methods=["POST"]),
        Route(f"{one}/report", pages.report),
        Route(f"{one}/explore", pages.explore),
        Route(f"{one}/case", pages.case),
        Route(f"{one}/repeat", pages.repeat),
        Route(f"{one}/files/{{name}}", pages.file),
    ]
    handlers = {FairtransportError: refused, 404: nowhere, Exception: broken}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.desktop = desktop
    return Guard(app, token=token, host=host)


PREFIX = "fairtransport-app-"
PATIENCE = 10
"""Maximum seconds for a removal."""


_WATCH = """
import pathlib, shutil, signal, sys, time
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(one, signal.SIG_IGN)
folder = pathlib.Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
for _ in range(50):
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        break
    time.sleep(0.1)
"""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a private folder, and remove it with its content.

    A separate process waits for the end of the server: nothing else could remove the folder after a
    kill.
    """
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    watcher = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", _WATCH, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert watcher.stdin is not None  # noqa: S101 - it is a pipe
    assert watcher.stdout is not None  # noqa: S101
    watcher.stdout.readline()
    before = tempfile.tempdir, os.environ.get("TMPDIR")
    # temporary files of this process and its audits, such as rows of a database, are removed with
    # it
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before[0]
        os.environ.pop("TMPDIR") if before[1] is None else os.environ.update(TMPDIR=before[1])
        watcher.stdin.close()  # as the system does when this process ends
        watcher.stdout.close()
        watcher.wait(PATIENCE)
