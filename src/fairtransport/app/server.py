"""The server: on this machine alone, until it is stopped."""

from __future__ import annotations

import socket
import webbrowser
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from fairtransport.app.folder import temporary_folder
from fairtransport.errors import FairtransportError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from fairtransport.app.pages import Desktop

LOOPBACK = "127.0.0.1"
NEEDED = (
    "the app needs the packages starlette, uvicorn and python-multipart: "
    "pip install 'fairtransport[app]'"
)


def serve(port: int, say: Callable[[str], None], *, opens: bool = True) -> None:
    """Serve until a signal comes; then end all audits and remove the folder.

    Parameters
    ----------
    port
        The port; 0: a free one.
    say
        Is called with the address, once the server listens.
    opens
        Whether a browser is opened.
    """
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
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or error
        msg = f"`port` must be a free port of this machine, got {port}: {reason}"
        raise InputError(msg) from error
    made.listen()
    return made


def application(desktop: Desktop, token: str, host: str) -> ASGIApp:
    """Return all pages, behind the guard."""
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    from fairtransport.app import audit_pages, pages
    from fairtransport.app.guard import Guard
    from fairtransport.app.rendering import page, static_file
    from fairtransport.checks import said, sentence_of

    async def static(request: Request) -> Response:
        found = static_file(request.path_params["name"])
        return pages.absent("file") if found is None else Response(found[0], media_type=found[1])

    async def refused(_: Request, error: Exception) -> Response:
        return page("absent", pages.REFUSED, what=None, sentence=str(error))

    async def broken(_: Request, error: Exception) -> Response:
        sentence = sentence_of(error) or f"This is a defect of fairtransport ({said(error)})"
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
        Route("/tables/{table}/files/{which}", pages.kept),
        Route("/tables/{table}/audits", pages.begin, methods=["POST"]),
        Route(one, audit_pages.show),
        Route(f"{one}/state", audit_pages.state),
        Route(f"{one}/cancel", audit_pages.cancel, methods=["POST"]),
        Route(f"{one}/remove", audit_pages.remove, methods=["POST"]),
        Route(f"{one}/report", audit_pages.report),
        Route(f"{one}/explore", audit_pages.explore),
        Route(f"{one}/case", audit_pages.case),
        Route(f"{one}/repeat", audit_pages.repeat),
        Route(f"{one}/files/{{name}}", audit_pages.file),
    ]
    handlers = {FairtransportError: refused, 404: nowhere, Exception: broken}
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.state.desktop = desktop
    return Guard(made, token=token, host=host)
