"""Refuse to send to where a stranger's URL must not lead: our own machine and network.

A name is resolved once; every address it has is checked, and the connection goes to the address
that was checked. A name that means something else a moment later (DNS rebinding) changes nothing.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from agon.errors import Unavailable, Unreadable

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""Give all addresses of a name (and port); raise ``Unavailable`` when there are none."""

LONGEST_URL: Final = 2_048
_LONGEST_NAME: Final = 253
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_OPEN_FROM: Final = 1_024
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
_ISATAP = (0x5EFE, 0x0200_5EFE)  # the upper half of an interface id that carries an IPv4 address
_NETWORKS = {
    kind: [(ipaddress.ip_network(net), why) for net, why in table.items()]
    for kind, table in (("never", _NEVER), ("private", _PRIVATE))
}


class ForbiddenUrl(Unreadable):
    """Say that a webhook may not go to a URL, and why."""


@dataclass(frozen=True)
class Target:
    """Hold a checked destination.

    Attributes:
        url: as it was given.
        host: its name (or address), for TLS and the ``Host`` header.
        port: the port.
        tls: whether it is https.
        path: path and query, as they are requested.
        address: the address to connect to.
    """

    url: str
    host: str
    port: int
    tls: bool
    path: str
    address: str


def checked_url(url: str, *, allow_private: bool = False) -> Target:
    """Check all of a URL that can be checked without resolving its name.

    Args:
        url: what was given.
        allow_private: whether plain http, every port and private addresses are allowed.

    Returns:
        The target, whose address is empty unless the host is one.

    Raises:
        ForbiddenUrl: it is too long or no URL, not https, has credentials or a fragment, a port
            below 1024 other than 443, or a forbidden address.
    """
    if (
        len(url) > LONGEST_URL
        or not url.isascii()
        or not url.isprintable()
        or set(url) & set(" \\")
    ):
        raise ForbiddenUrl(
            f"a webhook's URL has up to {LONGEST_URL:,} characters, without blanks and in ASCII; "
            "write other characters as %XX, and a name as xn--…"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as wrong:
        raise ForbiddenUrl(f"this is no URL ({wrong}); write https://host/path") from None
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        raise ForbiddenUrl("a webhook goes by https; write https://host/path")
    if "@" in parts.netloc:
        raise ForbiddenUrl("leave the user and the password out; deliveries are signed instead")
    if "#" in url:
        raise ForbiddenUrl("leave out # and what follows; no server sees it")
    host = parts.hostname or ""
    literal = _literal(host)
    if literal is None and not _is_name(host):
        raise ForbiddenUrl("the URL names no host; write https://host/path")
    tls = parts.scheme == "https"
    port = (_SECURE if tls else _PLAIN) if port is None else port
    if (not allow_private and port != _SECURE and port < _OPEN_FROM) or not port:
        raise ForbiddenUrl(f"port {port} is not for webhooks; use 443, or one from 1024 on")
    if literal is not None:
        _refuse(literal, host, allow_private=allow_private)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(url, host, port, tls, path, "" if literal is None else str(literal))


def checked(url: str, *, resolve: Resolve, allow_private: bool = False) -> Target:
    """Check a URL and every address its name has; tell the one to connect to.

    Raises:
        ForbiddenUrl: see :func:`checked_url`; or one of the addresses is forbidden, or is none.
        Unavailable: the name has no address.
    """
    found = checked_url(url, allow_private=allow_private)
    if found.address:
        return found
    addresses = list(resolve(found.host, found.port))
    if not addresses:
        raise Unavailable(f"{found.host} has no address; correct the name")
    for text in addresses:
        literal = _literal(text)
        if literal is None:
            raise ForbiddenUrl(
                f"{found.host} resolves to what is no address; correct its DNS entry"
            )
        _refuse(literal, found.host, allow_private=allow_private)
    return Target(found.url, found.host, found.port, found.tls, found.path, addresses[0])


def why_forbidden(address: Address, *, allow_private: bool = False) -> str | None:
    """Tell why nothing may be sent to an address; None when it may.

    Example:
        >>> why_forbidden(ipaddress.ip_address("10.1.2.3"))
        'is private'
        >>> why_forbidden(ipaddress.ip_address("169.254.169.254"), allow_private=True)
        'is link-local, where clouds keep their metadata'
        >>> why_forbidden(ipaddress.ip_address("9.9.9.9")) is None
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


def _is_name(host: str) -> bool:
    """Tell whether a host is a name: label by label, so that no hostile one takes long."""
    labels = host.removesuffix(".").split(".")
    return len(host) <= _LONGEST_NAME and all(map(_LABEL.fullmatch, labels))


def _refuse(address: Address, host: str, *, allow_private: bool) -> None:
    why = why_forbidden(address, allow_private=allow_private)
    if why is not None:
        raise ForbiddenUrl(
            f"{host} is at an address that {why}; a webhook goes to public addresses only (the "
            "server's setting webhook_allow_private allows its own network)"
        )
