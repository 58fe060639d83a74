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

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
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

_NEVER: Final = {
    "0.0.0.0/8": "means this machine",
    "169.254.0.0/16": "is link-local, where clouds keep their metadata",
    "168.63.129.16/32": "is a cloud's metadata",
    "100.100.100.200/32": "is a cloud's metadata",
    "192.0.0.192/32": "is a cloud's metadata",
    "224.0.0.0/4": "is multicast",
    "240.0.0.0/4": "is reserved",
    "::/128": "means this machine",
    "::ffff:0:0/96": "hides an IPv4 address",
    "::ffff:0:0:0/96": "hides an IPv4 address",
    "64:ff9b::/96": "hides an IPv4 address (NAT64)",
    "64:ff9b:1::/48": "hides an IPv4 address (NAT64)",
    "2001::/32": "hides an IPv4 address (Teredo)",
    "2002::/16": "hides an IPv4 address (6to4)",
    "fd00:ec2::/32": "is a cloud's metadata",
    "fd20:ce::/32": "is a cloud's metadata",
    "fe80::/10": "is link-local",
    "fec0::/10": "is site-local",
    "ff00::/8": "is multicast",
}
_PRIVATE: Final = {
    "127.0.0.0/8": "is loopback",
    "10.0.0.0/8": "is private",
    "172.16.0.0/12": "is private",
    "192.168.0.0/16": "is private",
    "100.64.0.0/10": "is a provider's own (CGNAT)",
    "192.0.0.0/24": "is reserved",
    "192.0.2.0/24": "is for documentation",
    "192.88.99.0/24": "is reserved (6to4)",
    "198.18.0.0/15": "is for benchmarks",
    "198.51.100.0/24": "is for documentation",
    "203.0.113.0/24": "is for documentation",
    "::1/128": "is loopback",
    "fc00::/7": "is private",
    "100::/64": "is discarded",
    "2001:db8::/32": "is for documentation",
    "3fff::/20": "is for documentation",
    "5f00::/16": "is reserved",
}
_OWN_NAMES: Final = (
    # RFC 6761, 6762, 8375, ICANN 2024, RFC 7686
    "localhost", "local", "home.arpa", "internal", "onion",
    # by custom
    "localdomain", "localdomain4", "localdomain6", "lan", "home", "corp", "intranet", "private",
    "default", "svc",  # of Kubernetes
    # names in the public DNS that stand for loopback, or for any address written in front of them
    "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "nip.io", "sslip.io", "xip.io",
)  # fmt: skip
"""Names, and all that end with them, which lead to this machine or its network."""

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_ISATAP = (0x5EFE, 0x0200_5EFE)  # the upper half of an interface id that carries an IPv4 address
_NETWORKS = {
    kind: [(ipaddress.ip_network(net), why) for net, why in table.items()]
    for kind, table in (("never", _NEVER), ("private", _PRIVATE))
}


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


def forbidden_reason(address: Address, *, allow_private: bool = False) -> str | None:
    """Return why an address is forbidden; None when it is allowed.

    Example:
        >>> forbidden_reason(ipaddress.ip_address("10.1.2.3"))
        'is private'
        >>> forbidden_reason(ipaddress.ip_address("169.254.169.254"), allow_private=True)
        'is link-local, where clouds keep their metadata'
        >>> forbidden_reason(ipaddress.ip_address("9.9.9.9")) is None
        True
    """
    for kind in ("never",) if allow_private else ("never", "private"):
        for network, why in _NETWORKS[kind]:
            if address in network:
                return why
    if isinstance(address, ipaddress.IPv6Address):
        if int(address) >> 32 == 0 and int(address) != 1:
            return "hides an IPv4 address"
        if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
            return "hides an IPv4 address (ISATAP)"
        if address.scope_id is not None:
            return "names an interface of this machine"
    if not allow_private and not address.is_global:
        return "is reserved"
    return None


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
    endings = {".".join(labels[at:]) for at in range(len(labels))}
    if not allow_private and (len(labels) == 1 or not endings.isdisjoint(_OWN_NAMES)):
        raise ForbiddenUrl(f"{host} is a name of this machine or its network; {_PUBLIC_ONLY}")


def _require_allowed(address: Address, host: str, *, allow_private: bool) -> None:
    why = forbidden_reason(address, allow_private=allow_private)
    if why is not None:
        raise ForbiddenUrl(f"{host} is at an address that {why}; {_PUBLIC_ONLY}")
