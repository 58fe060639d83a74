"""Reject URLs of webhooks and bots that lead to the server's own machine or network.

What a URL shows by itself is checked when it is registered and again for each request: addresses in
any notation, and names that only this machine or its network knows. None of them is looked up.

For a request a name is resolved once; all its addresses are checked, and the connection goes to an
address that was checked, so that a change of the name's address in between (DNS rebinding) has no
effect. A name without an address and one with a forbidden address get the same message: who may
register a URL must not learn which names the server's network has.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from agon.errors import Unavailable, Unreadable
from agon.networks import Address, forbidden_reason, is_own_name

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""Returns all addresses of a name (and port); raises ``Unavailable`` when there are none."""

MAX_URL_LENGTH: Final = 2_048
NO_ADDRESS: Final = "the name leads to no address, or to one that no request may go to"
"""The one message about a name that was looked up without a usable address."""

_PUBLIC_ONLY: Final = (
    "requests go to public addresses only (the server's settings webhook_allow_private and "
    "allow_private_bots allow its own network)"
)
_MAX_NAME_LENGTH: Final = 253
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_MIN_OTHER_PORT: Final = 1_024
_SECURE, _PLAIN = 443, 80

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)


class ForbiddenUrl(Unreadable):
    """The server sends no request to a URL; the message gives the reason."""


@dataclass(frozen=True)
class CheckedAddress:
    """A checked destination.

    Attributes:
        url: the URL.
        host: its name (or address), for TLS and the ``Host`` header.
        port: the port.
        tls: whether it is https.
        path: path and query of the request.
        address: the address to connect to.
    """

    url: str
    host: str
    port: int
    tls: bool
    path: str
    address: str

    @property
    def host_header(self) -> str:
        """Return the ``Host`` header: the name, and the port if it is not the scheme's default."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (_SECURE if self.tls else _PLAIN) else f"{name}:{self.port}"


def checked_url(url: str, *, allow_private: bool = False) -> CheckedAddress:
    """Return a URL's target after all checks that need no address of its name.

    Args:
        url: the URL.
        allow_private: whether plain http, every port and private addresses are allowed.

    Returns:
        The target, whose address is empty unless the host is one.

    Raises:
        ForbiddenUrl: it is too long, not a URL or not https, or has credentials, a fragment, a
            port below 1024 other than 443, a forbidden address, an address in another notation,
            or a name of this machine or its network.
    """
    if (
        len(url) > MAX_URL_LENGTH
        or not url.isascii()
        or not url.isprintable()
        # urlsplit drops or moves these, so that the URL checked would not be the URL asked.
        or set(url) & set(" \\")
    ):
        raise ForbiddenUrl(
            f"a URL has up to {MAX_URL_LENGTH:,} characters of ASCII here, without blanks; "
            "write other characters as %XX, and a name as xn--…"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenUrl(f"this is not a URL ({error}); write https://host/path") from None
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        needed = "http or https" if allow_private else "https"
        raise ForbiddenUrl(f"the URL needs {needed}; write https://host/path")
    if "@" in parts.netloc:
        raise ForbiddenUrl("leave the user and the password out; requests are signed instead")
    if "#" in url:
        raise ForbiddenUrl("leave out # and the rest; it is never sent to a server")
    host = parts.hostname or ""
    literal = _literal(host)
    if literal is None:
        _require_public_name(host, allow_private=allow_private)
    tls = parts.scheme == "https"
    # Port 0 is falsy as a number but is a port, so only an absent one gets the default.
    port = (_SECURE if tls else _PLAIN) if port is None else port
    if (not allow_private and port != _SECURE and port < _MIN_OTHER_PORT) or not port:
        raise ForbiddenUrl(f"port {port} is not allowed here; use 443, or one from 1024 on")
    if literal is not None:
        _require_allowed(literal, host, allow_private=allow_private)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return CheckedAddress(url, host, port, tls, path, "" if literal is None else str(literal))


def check_address(url: str, *, resolve: Resolve, allow_private: bool = False) -> CheckedAddress:
    """Return a URL's target with the address to connect to, after all checks.

    Raises:
        ForbiddenUrl: see :func:`checked_url`.
        Unavailable: the name has no address, or one that is forbidden or invalid.
    """
    parsed = checked_url(url, allow_private=allow_private)
    if parsed.address:
        return parsed
    try:
        addresses = list(resolve(parsed.host, parsed.port))
    except Unavailable:
        addresses = []
    literals = [_literal(text) for text in addresses]
    if not literals or not all(
        literal is not None and forbidden_reason(literal, allow_private=allow_private) is None
        for literal in literals
    ):
        raise Unavailable(f"{NO_ADDRESS}; correct the name, or its entry in the DNS")
    return replace(parsed, address=addresses[0])


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _require_public_name(host: str, *, allow_private: bool) -> None:
    """Raise unless a host is a name, and one that the whole Internet knows.

    A name whose last label is a number is an address to some readers (WHATWG URL, inet_aton):
    127.1, 0x7f.1, 017700000001, 2130706433, 127.0.0.1 with a dot at its end.
    """
    labels = host.removesuffix(".").lower().split(".")
    # Checked label by label, so that none takes long.
    if len(host) > _MAX_NAME_LENGTH or not all(map(_LABEL.fullmatch, labels)):
        raise ForbiddenUrl("the URL has no host; write https://host/path")
    if _NUMBER.fullmatch(labels[-1]):
        raise ForbiddenUrl(
            f"{host} is an address in another notation, or none; write four numbers from 0 to 255 "
            "with dots, or a name"
        )
    if not allow_private and (len(labels) == 1 or is_own_name(host)):
        raise ForbiddenUrl(f"{host} is a name of this machine or its network; {_PUBLIC_ONLY}")


def _require_allowed(address: Address, host: str, *, allow_private: bool) -> None:
    why = forbidden_reason(address, allow_private=allow_private)
    if why is not None:
        raise ForbiddenUrl(f"{host} is at an address that {why}; {_PUBLIC_ONLY}")
