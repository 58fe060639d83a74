"""Require authentication of a server that other machines can reach."""

import ipaddress

from agon.errors import Conflict
from agon.settings.table import Settings


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens on the host.

    A name other than ``localhost`` counts as public, because it may resolve to another address.

    Example:
        >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::")]
        [True, True, True, False, False]
    """
    if host.casefold() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def require_auth_if_public(settings: Settings) -> None:
    """Raise if ``auth`` is open on an address that other machines can reach.

    A public address counts even when ``host`` is a loopback one: ``public_url`` names that of a
    reverse proxy, and every client of the proxy would be an operator.

    Raises:
        Conflict: two settings contradict each other; the message names both remedies.
    """
    if settings.auth != "open":
        return
    if not is_loopback(settings.host):
        raise Conflict(
            f"host {settings.host} can be reached from other machines while auth is open, so that "
            'every client would be an operator; set auth = "required" (AGON_AUTH=required), or '
            "listen on 127.0.0.1"
        )
    from urllib.parse import urlsplit

    name = urlsplit(settings.public_url).hostname
    if name is not None and not is_loopback(name):
        raise Conflict(
            f"public_url {settings.public_url} is for other machines while auth is open, so that "
            'every client would be an operator; set auth = "required" (AGON_AUTH=required), or '
            "leave public_url out"
        )
