"""The address of an endpoint, which shows no secret, and the token, which nobody keeps."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

from fairtransport.checks import shown
from fairtransport.errors import InputError

TOKEN = "FAIRTRANSPORT_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable that holds the token, where no other is named."""
PUBLIC = frozenset({"api-version"})
"""Parameters of addresses that are no secrets."""
SHORTEST = 8
"""Signs that a token has at least."""
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    """Where an endpoint is: no credentials, nothing after a question mark that could be one.

    Attributes
    ----------
    scheme
        ``http`` or ``https``.
    host, port
        Without the brackets of an IPv6 address; the port is always told.
    path
        Quoted, without a slash at its end.
    query
        Parameters that are known to be no secrets, as an API's version.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    def __str__(self) -> str:
        return f"{self.origin}{self.target}"

    @property
    def origin(self) -> str:
        """Scheme, host and port; the usual port goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (
            "" if self.port == PORTS[self.scheme] else f":{self.port}"
        )

    @property
    def target(self) -> str:
        """What a request asks this host for."""
        return self.path + (f"?{self.query}" if self.query else "")

    @property
    def is_safe(self) -> bool:
        """Whether nobody on the way can read what is sent: encrypted, or on this machine."""
        try:
            is_here = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            is_here = self.host == "localhost"
        return self.scheme == "https" or is_here

    def at(self, path: str) -> Address:
        """Return another path of the same host.

        Parameters
        ----------
        path
            Quoted already.

        Examples
        --------
        >>> str(as_address("http://host/v2/").at("/ping"))
        'http://host/ping'
        """
        return replace(self, path=path)


def as_address(url: object) -> Address:
    """Return the address behind a URL; one that holds secrets is refused, without showing them.

    Parameters
    ----------
    url
        What the user typed.

    Raises
    ------
    InputError
        If it is no address of http or https, or holds a user name, a password or unknown
        parameters: addresses go into reports and logs.

    Examples
    --------
    >>> as_address("https://host/model").port
    443
    """
    try:
        parts = urlsplit(url) if isinstance(url, str) else SplitResult("", "", "", "", "")
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:  # a port that is none, half an IPv6 address
        parts, port = SplitResult("", "", "", "", ""), 0
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        msg = (
            "`url` must not hold a user name or a password; put the token into the environment "
            f"variable {TOKEN}"
        )
        raise InputError(msg)
    if parts.scheme not in PORTS or not parts.hostname or not _is_plain(str(url)):
        got = shown(url if "@" not in str(url) else "an address with credentials")
        msg = f"`url` must be an address like 'https://host/path', got {got}"
        raise InputError(msg)
    secret = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if not set(secret) <= PUBLIC or (parts.query and not secret) or parts.fragment:
        msg = (
            f"`url` must have no parameters but {', '.join(PUBLIC)}, as they could be secrets; got "
            f"an address of {parts.hostname!r} with others"
        )
        raise InputError(msg)
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~-._").rstrip("/")
    return Address(parts.scheme, parts.hostname, port, path, parts.query)


def _is_plain(url: str) -> bool:
    """Say whether a URL has none of the signs that no address has.

    Examples
    --------
    >>> _is_plain("https://models.example/v2"), _is_plain("https://models.example/a b")
    (True, False)
    """
    return url.isprintable() and not any(sign in url for sign in ' \\"<>')


@dataclass(frozen=True)
class Token:
    """The name of the environment variable that holds a token; the token itself is not kept.

    Attributes
    ----------
    variable
        Its name. Documents, logs and pickles of a box can hold no more than that.
    """

    variable: str

    @property
    def value(self) -> str:
        """The token, read anew."""
        return os.environ.get(self.variable, "").strip()

    @property
    def headers(self) -> dict[str, str]:
        """The headers that carry the token."""
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def hidden(self, text: str) -> str:
        """Return what somebody else says without the token.

        Parameters
        ----------
        text
            A message that may quote a request.
        """
        return text.replace(self.value, "…") if self.value else text

    def removed(self, content: bytes) -> bytes:
        """Return what a server sends without the token, which it may send back.

        Parameters
        ----------
        content
            An answer; it goes into logs.
        """
        return content.replace(self.value.encode(), b"-") if self.value else content


def as_token(variable: str | None, address: Address) -> Token:
    """Return the token of an endpoint, if it has one and may be sent there.

    Parameters
    ----------
    variable
        The environment variable that holds it; None: the usual one, which need not be set.
    address
        Where it would be sent.

    Raises
    ------
    InputError
        If the variable is not set, the token is too short to be told from other text, or it
        would travel unencrypted to another machine.
    """
    token = Token(TOKEN if variable is None else variable)
    if variable is not None and not (isinstance(variable, str) and token.value):
        # the value may be the token itself, typed by mistake
        msg = "`token_variable` must be the name of an environment variable that is set"
        raise InputError(msg)
    is_plain = token.value.isascii() and token.value.isprintable()
    if token.value and not (is_plain and len(token.value) >= SHORTEST):
        # a short one would be found in answers, too, and removed from them
        msg = f"the token in {token.variable} must be {SHORTEST} or more printable ASCII signs"
        raise InputError(msg)
    if token.value and not address.is_safe:
        msg = f"`url` must begin with https: where a token is sent, got {str(address)!r}"
        raise InputError(msg)
    return token
