"""The HTTP client of endpoints: addresses, tokens, time-outs, retries and limits."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

from fairtransport._core.validation import (
    check_integer,
    check_number,
    describe_error,
    short_repr,
    shorten,
)
from fairtransport.errors import InputError, ModelError, param

if TYPE_CHECKING:
    from collections.abc import Iterator

    from urllib3 import BaseHTTPResponse, PoolManager
    from urllib3.util import Retry


AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""HTTP statuses after which a request is retried."""
MAX_WAIT_SECONDS = 120
"""Maximum seconds that a server can request before a retry."""
FIRST_WAIT_SECONDS = 0.25
"""Seconds before the second retry; each wait is twice the one before."""
PIECE = 1 << 16
FILTERED = b"content_filter"
"""Error code of servers whose content filter rejected the question."""
OK, REDIRECT, REFUSED = 200, 300, 400


class RefusedError(ModelError):
    """A request that an endpoint rejected; ``is_by_filter``: a content filter did."""

    def __init__(self, message: str, *, is_by_filter: bool = False) -> None:
        super().__init__(message)
        self.is_by_filter = is_by_filter


@dataclass(frozen=True)
class Limits:
    """Limits of requests to an endpoint; see `connect`."""

    batch_size: int = 100
    at_a_time: int = 4
    timeout: float = 60.0
    retries: int = 5
    max_answer: int = 16 << 20

    def __post_init__(self) -> None:
        for name in ("batch_size", "at_a_time", "max_answer"):
            check_integer(name, getattr(self, name))
        check_integer("retries", self.retries, at_least=0)
        check_number("timeout", self.timeout, above=0)


@dataclass(frozen=True, eq=False)
class Client:
    """Exchanges JSON documents with the paths of one host; follows no redirects."""

    address: Address
    limits: Limits
    token: Token

    def post(self, path: str, document: object) -> object:
        """Send a document and return the answer."""
        status, content = self._send("POST", path, json.dumps(document, allow_nan=False))
        if status >= REDIRECT:
            reply = " ".join(content.decode(errors="replace").split())
            msg = (
                f"{self} answered with status {status}: {shorten(reply, 200) or 'no reason given'}"
            )
            raise RefusedError(msg, is_by_filter=status == REFUSED and FILTERED in content)
        return self._read(content)

    def get(self, path: str) -> object:
        """Return the document at a path; None if it does not exist."""
        status, content = self._send("GET", path)
        try:
            return self._read(content) if status == OK else None
        except ModelError:
            return None

    def is_there(self, path: str) -> bool:
        """Return whether a path exists."""
        return self._send("GET", path)[0] == OK

    def __str__(self) -> str:
        return f"the endpoint {self.address}"

    def _read(self, content: bytes) -> object:
        """Return an answer as a document; NaN and infinity are errors."""

        def refuse(constant: str) -> None:
            """Raise for a constant that is no finite number."""
            msg = f"{self} must give finite numbers, got {constant}"
            raise ModelError(msg)

        try:
            return json.loads(content, parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            msg = f"{self} must answer in JSON, got {shorten(repr(content))}"
            raise ModelError(msg) from error

    def _send(self, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
        """Return the status and the content of a response, after retries.

        urllib3 retries requests that fail before an answer begins; answers that break off are
        retried here, from the same budget.
        """
        from urllib3.exceptions import HTTPError, MaxRetryError

        target = self.address.at(path).target
        retries: Retry = self._retries
        try:
            while True:
                response = self._pool.urlopen(
                    method, self.address.origin + target, body=body, headers=self._headers,
                    redirect=False, retries=retries, preload_content=False,
                )  # fmt: skip
                try:
                    return response.status, self.token.removed(self._content(response))
                except HTTPError as error:
                    # retries already spent on statuses count, too
                    budget = response.retries or retries
                    retries = budget.increment(method, target, error=error)
                    retries.sleep()
        except HTTPError as error:
            reason = error.reason if isinstance(error, MaxRetryError) and error.reason else error
            tries = self.limits.retries + 1
            reply = f": {self.token.hidden(describe_error(reason))}"
            # the system's own words, such as "Connection refused"
            words = getattr(reason.__cause__, "strerror", None)
            if words:
                reply = f" ({words}); check the URL, and that the server is running"
            msg = f"{self} did not answer in {tries} {'try' if tries == 1 else 'tries'}{reply}"
            raise ModelError(msg) from None  # the chain would show what was sent

    def _content(self, response: BaseHTTPResponse) -> bytes:
        """Return the content of a response, and release its connection."""
        from urllib3.exceptions import ReadTimeoutError

        deadline = cast("Any", response.connection).deadline
        try:
            self._check_redirect(response)
            content = b"".join(self._pieces(response))
        except BaseException:
            response.close()
            deadline.cancel()
            if not deadline.is_missed:
                raise
        # a truncated answer may look complete
        if deadline.is_missed:
            response.close()
            msg = f"the answer took longer than {param('timeout')}"
            raise ReadTimeoutError(None, None, msg)  # type: ignore[arg-type]
        response.release_conn()
        return content

    def _pieces(self, response: BaseHTTPResponse) -> Iterator[bytes]:
        """Yield the content of a response within the limit of its size."""
        # a few packed bytes can unpack to any size, past `max_answer`
        if response.headers.get("Content-Encoding", "identity") != "identity":
            msg = f"{self} must not compress its answers: the request does not allow it"
            raise ModelError(msg)
        remaining = self.limits.max_answer
        while piece := response.read1(PIECE):
            remaining -= len(piece)
            if remaining < 0:
                limit = self.limits.max_answer
                msg = (
                    f"{self} must answer in at most {limit:,} bytes ({param('max_answer')}), got "
                    "more"
                )
                raise ModelError(msg)
            yield piece

    def _check_redirect(self, response: BaseHTTPResponse) -> None:
        """Check that a response is no redirect, which would pass on the token."""
        if REDIRECT <= response.status < REFUSED:
            from urllib.parse import urlsplit

            place = urlsplit(str(response.headers.get("Location", "")))
            where = f"{place.scheme}://{place.hostname}" if place.hostname else "another path"
            msg = (
                f"{self} redirects to {shorten(self.token.hidden(where))}, which is not followed; "
                "give the URL that answers"
            )
            raise ModelError(msg)

    @property
    def _headers(self) -> dict[str, str]:
        """Headers of every request, which ask for uncompressed answers."""
        return {
            "Accept": "application/json", "Accept-Encoding": "identity",
            "Content-Type": "application/json", "User-Agent": "fairtransport", **self.token.headers,
        }  # fmt: skip

    @cached_property
    def _retries(self) -> Retry:
        """Retry policy of requests."""
        from urllib3.util import Retry

        return Retry(
            total=self.limits.retries, redirect=False, allowed_methods=None,
            status_forcelist=AGAIN, backoff_factor=FIRST_WAIT_SECONDS, backoff_max=MAX_WAIT_SECONDS,
            retry_after_max=MAX_WAIT_SECONDS, raise_on_status=True, raise_on_redirect=False,
        )  # fmt: skip

    @cached_property
    def _pool(self) -> PoolManager:
        """Connection pool that checks certificates against the system's."""
        import ssl

        try:
            from urllib3 import PoolManager, Timeout
        except ImportError as error:
            msg = "endpoints need the package urllib3: pip install 'fairtransport[http]'"
            raise ModelError(msg) from error
        # models may be slow, but a live host accepts connections at once
        waits = Timeout(connect=min(self.limits.timeout, 10.0), read=self.limits.timeout)
        # reading the system's certificates takes longer than a local answer
        context = ssl.create_default_context() if self.address.scheme == "https" else None
        pool = PoolManager(maxsize=self.limits.at_a_time, timeout=waits, ssl_context=context)
        pool.pool_classes_by_scheme = bounded_pools(self.limits.timeout)
        return pool


class Deadline:
    """Shuts a socket after a time limit, unless cancelled.

    A read times out only if nothing arrives: a byte per second would last for ever.
    """

    def __init__(self, sock: Any, seconds: float) -> None:
        self.is_missed = False
        self._socket = sock
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._timer.start()

    def _shut(self) -> None:
        self.is_missed = True
        with suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def cancel(self) -> None:
        """Leave the socket open."""
        self._timer.cancel()


def bounded_pools(seconds: float) -> dict[str, Any]:
    """Return connection pools that limit the seconds for headers and for content."""
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    class Bounded:
        """A connection that is shut when an answer takes too long."""

        deadline: Deadline

        def getresponse(self) -> Any:
            """Return the response once its headers are there."""
            connection: Any = self
            sock = connection.sock  # the connection drops it if it is not reused
            deadline, response = Deadline(sock, seconds), None
            try:
                response = super().getresponse()  # type: ignore[misc]
            finally:
                deadline.cancel()
                # truncated headers are read as complete
                if deadline.is_missed:
                    if response is not None:
                        response.close()
                    msg = f"the headers took longer than {param('timeout')}"
                    raise TimeoutError(msg)
            self.deadline = Deadline(sock, seconds)
            return response

    class BoundedPool:
        """A pool that cancels the deadline of a connection that is returned."""

        def _put_conn(self, connection: Any) -> None:
            if hasattr(connection, "deadline"):
                connection.deadline.cancel()
            super()._put_conn(connection)  # type: ignore[misc]

    def bound(pool: Any) -> Any:
        connection = type("BoundedConnection", (Bounded, pool.ConnectionCls), {})
        return type("BoundedPool", (BoundedPool, pool), {"ConnectionCls": connection})

    return {"http": bound(HTTPConnectionPool), "https": bound(HTTPSConnectionPool)}


TOKEN = "FAIRTRANSPORT_TOKEN"  # noqa: S105 - the name of a variable
"""Default environment variable of the token."""
PUBLIC = frozenset({"api-version"})
"""Query parameters that are no secrets."""
MIN_TOKEN_LENGTH = 8
"""Minimum number of characters of a token."""
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    """The address of an endpoint, without credentials."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    def __str__(self) -> str:
        return f"{self.origin}{self.target}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, unless it is the default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (
            "" if self.port == PORTS[self.scheme] else f":{self.port}"
        )

    @property
    def target(self) -> str:
        """Path and query of a request."""
        return self.path + (f"?{self.query}" if self.query else "")

    @property
    def is_safe(self) -> bool:
        """Whether nobody can eavesdrop: encrypted, or on this machine."""
        try:
            is_here = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            is_here = self.host == "localhost"
        return self.scheme == "https" or is_here

    def at(self, path: str) -> Address:
        """Return the address of another path of the same host."""
        return replace(self, path=path)


def as_address(url: object) -> Address:
    """Return the address of a URL; errors hide any secrets in it."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else SplitResult("", "", "", "", "")
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:  # an invalid port or IPv6 address
        parts, port = SplitResult("", "", "", "", ""), 0
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        msg = (
            f"{param('url')} must not hold a user name or a password; put the token into the "
            f"environment variable {TOKEN}"
        )
        raise InputError(msg)
    if parts.scheme not in PORTS or not parts.hostname or not _is_plain(str(url)):
        got = short_repr(url if "@" not in str(url) else "a URL with credentials")
        msg = f"{param('url')} must be a URL like 'https://host/path', got {got}"
        raise InputError(msg)
    secret = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if not set(secret) <= PUBLIC or (parts.query and not secret) or parts.fragment:
        msg = (
            f"{param('url')} must have no parameters but {', '.join(PUBLIC)}, as they could be "
            f"secrets; got a URL of {parts.hostname!r} with others"
        )
        raise InputError(msg)
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~-._").rstrip("/")
    return Address(parts.scheme, parts.hostname, port, path, parts.query)


def _is_plain(url: str) -> bool:
    """Return whether a URL has only characters that an address can have."""
    return url.isprintable() and not any(sign in url for sign in ' \\"<>')


@dataclass(frozen=True)
class Token:
    """The name of the environment variable that holds a token; the token is not stored."""

    variable: str

    @property
    def value(self) -> str:
        """The token, read from the environment."""
        return os.environ.get(self.variable, "").strip()

    @property
    def headers(self) -> dict[str, str]:
        """The headers that carry the token."""
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def hidden(self, text: str) -> str:
        """Return a text without the token."""
        return text.replace(self.value, "…") if self.value else text

    def removed(self, content: bytes) -> bytes:
        """Return the content of a response without the token."""
        return content.replace(self.value.encode(), b"-") if self.value else content


def as_token(variable: str | None, address: Address) -> Token:
    """Return the token of an endpoint, checked."""
    token = Token(TOKEN if variable is None else variable)
    if variable is not None and not (isinstance(variable, str) and token.value):
        # the value may be the token itself, typed by mistake
        msg = f"{param('token_variable')} must be the name of an environment variable that is set"
        raise InputError(msg)
    is_plain = token.value.isascii() and token.value.isprintable()
    if token.value and not (is_plain and len(token.value) >= MIN_TOKEN_LENGTH):
        # a short one would also occur in answers, and be removed from them
        msg = (
            f"the token in {token.variable} must be {MIN_TOKEN_LENGTH} or more printable ASCII "
            "characters"
        )
        raise InputError(msg)
    if token.value and not address.is_safe:
        msg = f"{param('url')} must begin with https: where a token is sent, got {str(address)!r}"
        raise InputError(msg)
    return token
