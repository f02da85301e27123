"""Access to the server: only for a browser on this machine with the token.

A request must use the address that the server listens at (against DNS rebinding), come from one of
its pages, and have the token, in the first address or in a cookie.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""Content security policy of pages: only what this server sends, no inline scripts or styles."""
REPORT_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"
"""Addition to the report's own policy, which allows its scripts by their hashes."""
READING = ("GET", "HEAD")


class Guard:
    """Rejects requests that are not from the owner's browser, and adds headers to answers."""

    def __init__(self, app: ASGIApp, *, token: str, host: str) -> None:
        self.app, self.token, self.host = app, token, host
        self.cookie = f"fairtransport-{host.rpartition(':')[2]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        request, headers = Request(scope), Headers(scope=scope)
        refusal = self._refusal(request, headers)
        if refusal is not None:
            response = PlainTextResponse(refusal, 403)
            await response(scope, receive, _with_headers(send))
        elif "token" in request.query_params and request.method in READING:
            # never to the path of the request: //example.org is another host
            redirect = RedirectResponse("/", 303)
            redirect.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
            await redirect(scope, receive, _with_headers(send))
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refusal(self, request: Request, headers: Headers) -> str | None:
        """Return why a request is rejected; None if it is not."""
        if headers.get("host") != self.host:
            return f"This server answers only to {self.host}."
        origin = headers.get("origin")
        own = f"http://{self.host}"
        if origin not in {None, own} or (origin is None and request.method not in READING):
            return "This request comes from another page."
        token = request.query_params.get("token") or self._token_in(headers)
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return "Open the URL that `fairtransport app` printed: it has the code that you need."
        return None

    def _token_in(self, headers: Headers) -> str:
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[self.cookie].value if self.cookie in cookies else ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            headers["x-content-type-options"] = "nosniff"
            # not "no-referrer": browsers would then hide the origin of a form
            headers["referrer-policy"] = "same-origin"
            headers["cross-origin-opener-policy"] = "same-origin"
            headers["cross-origin-resource-policy"] = "same-origin"
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
