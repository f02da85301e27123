"""Asks an endpoint over HTTP: time-outs, retries, limits, and what went wrong in one sentence."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairtransport.checks import cut, number, said, whole
from fairtransport.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from urllib3 import BaseHTTPResponse, PoolManager
    from urllib3.util import Retry

    from fairtransport.access.endpoints.address import Address, Token

AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""The statuses after which the same request is sent again."""
LONGEST_WAIT = 120
"""Seconds that a server can make us wait before it is asked again."""
FIRST_WAIT = 0.25
"""Seconds before the first further try but one; each wait is twice as long as the one before."""
PIECE = 1 << 16
FILTERED = b"content_filter"
"""What servers say where a filter found something in the question."""
OK, REDIRECT, REFUSED = 200, 300, 400


class RefusedError(ModelError):
    """An endpoint answered that it will not; ``is_by_filter`` if because of what was asked.

    Parameters
    ----------
    message
        The whole sentence.
    is_by_filter
        Whether a filter of the server's found something in the question. A prompt counts that
        as the model's refusal; anything else ends the audit.
    """

    def __init__(self, message: str, *, is_by_filter: bool = False) -> None:
        super().__init__(message)
        self.is_by_filter = is_by_filter


@dataclass(frozen=True)
class Limits:
    """How an endpoint is asked; see `connect`.

    Attributes
    ----------
    batch_size, at_a_time
        Points in a request, and requests under way.
    timeout
        Seconds to wait for an answer.
    retries
        How often a request is sent again.
    max_answer
        Bytes that an answer may have.
    """

    batch_size: int = 100
    at_a_time: int = 4
    timeout: float = 60.0
    retries: int = 5
    max_answer: int = 16 << 20

    def __post_init__(self) -> None:
        for name in ("batch_size", "at_a_time", "max_answer"):
            whole(name, getattr(self, name))
        whole("retries", self.retries, at_least=0)
        number("timeout", self.timeout, above=0)


@dataclass(frozen=True, eq=False)
class Client:
    """Sends documents to the paths of one host and reads documents back.

    No redirect is followed: what is asked goes to the address that was given, or nowhere.

    Attributes
    ----------
    address
        The host and a path.
    limits
        How it is asked.
    token
        Sent with every request, if there is one; no message ever shows it.
    """

    address: Address
    limits: Limits
    token: Token

    def post(self, path: str, document: object) -> object:
        """Return the document that answers another one; what is no good answer is an error.

        Parameters
        ----------
        path
            Where to.
        document
            Sent as JSON.

        Raises
        ------
        RefusedError
            If the status says so, with the server's reason.
        ModelError
            If there is no answer, or one that cannot be read.
        """
        status, content = self._send("POST", path, json.dumps(document, allow_nan=False))
        if status >= REDIRECT:
            told = " ".join(content.decode(errors="replace").split())
            msg = f"{self} answered with status {status}: {cut(told, 200) or 'no reason given'}"
            raise RefusedError(msg, is_by_filter=status == REFUSED and FILTERED in content)
        return self._read(content)

    def get(self, path: str) -> object:
        """Return the document at a path; None if there is none.

        Parameters
        ----------
        path
            Where it would be. Used to find out what a server is: whatever it answers is no error.
        """
        status, content = self._send("GET", path)
        try:
            return self._read(content) if status == OK else None
        except ModelError:
            return None

    def is_there(self, path: str) -> bool:
        """Say whether there is something at a path.

        Parameters
        ----------
        path
            Where it would be.
        """
        return self._send("GET", path)[0] == OK

    def __str__(self) -> str:
        return f"the endpoint {self.address}"

    def _read(self, content: bytes) -> object:
        """Return an answer as a document; NaN and infinity, which JSON has not, are refused.

        Parameters
        ----------
        content
            The bytes that came.

        Raises
        ------
        ModelError
            If they are no JSON.
        """

        def refuse(constant: str) -> None:
            """Refuse a constant that is no finite number."""
            msg = f"{self} must give finite numbers, got {constant}"
            raise ModelError(msg)

        try:
            return json.loads(content, parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            msg = f"{self} must answer in JSON, got {cut(repr(content))}"
            raise ModelError(msg) from error

    def _send(self, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
        """Return the status of a request and what came back, after as many tries as are allowed.

        Parameters
        ----------
        method
            GET or POST.
        path
            Where to.
        body
            JSON text, None for GET.

        Raises
        ------
        ModelError
            If no try was answered.

        Notes
        -----
        urllib3 repeats requests that fail before an answer begins; one that breaks off in the
        middle is repeated here, from the same number of tries.
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
                    # tries already spent on statuses count: a server that breaks off while
                    # answering gets no more
                    left = response.retries or retries
                    retries = left.increment(method, target, error=error)
                    retries.sleep()
        except HTTPError as error:
            reason = error.reason if isinstance(error, MaxRetryError) and error.reason else error
            tries = self.limits.retries + 1
            told = self.token.hidden(said(reason))
            msg = f"{self} did not answer in {tries} {'try' if tries == 1 else 'tries'}: {told}"
            raise ModelError(msg) from None  # the chain would show what was sent

    def _content(self, response: BaseHTTPResponse) -> bytes:
        """Return what a response holds, and give its connection back if all is well.

        Parameters
        ----------
        response
            Whose status came, but not its content yet.
        """
        try:
            self._refuse_redirect(response)
            content = b"".join(self._pieces(response))
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return content

    def _pieces(self, response: BaseHTTPResponse) -> Iterator[bytes]:
        """Yield what a response holds, if it is not too large, not packed and comes in time.

        Parameters
        ----------
        response
            Read piece by piece, so that an endless one ends at the limit.

        Raises
        ------
        ModelError
            If it is compressed, which could hide any size, or too large.
        ReadTimeoutError
            If it trickles in for longer than the time-out.
        """
        from urllib3.exceptions import ReadTimeoutError

        # a few packed bytes can unpack to any size, past `max_answer`
        if response.headers.get("Content-Encoding", "identity") != "identity":
            msg = f"{self} must not compress its answers, which it was not asked to"
            raise ModelError(msg)
        # a read times out only if nothing comes at all: one byte a minute would last forever
        left, end = self.limits.max_answer, time.monotonic() + self.limits.timeout
        while piece := response.read1(PIECE):
            left -= len(piece)
            if left < 0:
                most = self.limits.max_answer
                msg = f"{self} must answer in at most {most:,} bytes (`max_answer`), got more"
                raise ModelError(msg)
            if time.monotonic() > end:
                msg = "the answer took longer than `timeout`"
                raise ReadTimeoutError(None, None, msg)  # type: ignore[arg-type]
            yield piece

    def _refuse_redirect(self, response: BaseHTTPResponse) -> None:
        """Refuse an answer that sends us elsewhere: a token would go along.

        Parameters
        ----------
        response
            Its status and headers.
        """
        if REDIRECT <= response.status < REFUSED:
            from urllib.parse import urlsplit

            place = urlsplit(str(response.headers.get("Location", "")))
            where = f"{place.scheme}://{place.hostname}" if place.hostname else "another path"
            msg = (
                f"{self} redirects to {cut(self.token.hidden(where))}, which is not followed; give "
                "the address that answers"
            )
            raise ModelError(msg)

    @property
    def _headers(self) -> dict[str, str]:
        """What goes with every request; answers are asked for uncompressed."""
        return {
            "Accept": "application/json", "Accept-Encoding": "identity",
            "Content-Type": "application/json", "User-Agent": "fairtransport", **self.token.headers,
        }  # fmt: skip

    @cached_property
    def _retries(self) -> Retry:
        """When a request is sent again, and after how long."""
        from urllib3.util import Retry

        return Retry(
            total=self.limits.retries, redirect=False, allowed_methods=None,
            status_forcelist=AGAIN, backoff_factor=FIRST_WAIT, backoff_max=LONGEST_WAIT,
            retry_after_max=LONGEST_WAIT, raise_on_status=True, raise_on_redirect=False,
        )  # fmt: skip

    @cached_property
    def _pool(self) -> PoolManager:
        """The connections, certificates checked against the system's own.

        Raises
        ------
        ModelError
            If urllib3 is not installed.
        """
        import ssl

        try:
            from urllib3 import PoolManager, Timeout
        except ImportError as error:
            msg = "endpoints need the package urllib3: pip install 'fairtransport[http]'"
            raise ModelError(msg) from error
        # a model may think for long; a host that is there takes a connection at once
        waits = Timeout(connect=min(self.limits.timeout, 10.0), read=self.limits.timeout)
        # certificates are many, and reading them takes longer than an answer from this machine
        context = ssl.create_default_context() if self.address.scheme == "https" else None
        return PoolManager(maxsize=self.limits.at_a_time, timeout=waits, ssl_context=context)
