"""What an agent can reach from its containers: nothing, listed hosts, or everything."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agon.errors import Unavailable, Unreadable
from agon.networks import forbidden_reason, is_own_name

EgressMode: TypeAlias = Literal["none", "allowlist", "public"]
"""``none``: no network; ``allowlist``: listed hosts, by a proxy; ``public``: everything."""
Lookup: TypeAlias = Callable[[str], Sequence[str]]
"""Returns the addresses of a host's name, or raises OSError."""

HTTPS: Final = 443
_MAX_PORT: Final = 65_535
_MAX_NAME: Final = 253
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")


@dataclass(frozen=True, kw_only=True, order=True)
class AllowedHost:
    """A host that agents may connect to.

    Attributes:
        name: its name, in lower case.
        port: the port.
        addresses: its addresses when the run began, the only ones that the proxy connects to.
    """

    name: str
    port: int = HTTPS
    addresses: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Egress:
    """What the containers of an agent can reach.

    Attributes:
        mode: see :data:`EgressMode`.
        hosts: with ``allowlist``, the hosts.
    """

    mode: EgressMode = "none"
    hosts: tuple[AllowedHost, ...] = ()


NOTHING: Final = Egress()
"""No network, as for every agent unless the operator says otherwise."""


def read_host(text: str) -> AllowedHost:
    """Return the host that ``HOST[:PORT]`` names.

    Addresses, wildcards and names of local networks are refused: a name says whose host it is.

    Raises:
        Unreadable: it is none of these, or its port is no port.

    Example:
        >>> str(read_host("API.example.com")), str(read_host("pypi.org:8443"))
        ('api.example.com:443', 'pypi.org:8443')
    """
    name, colon, port = text.strip().lower().rpartition(":")
    if not colon:
        name, port = port, str(HTTPS)
    name = name.removesuffix(".")
    if _is_address(text) or _is_address(name):
        raise Unreadable(f"the host {text!r} is an address; give the name of a public host")
    if "*" in name or name.startswith("."):
        raise Unreadable(f"the host {text!r} is a pattern; list each host by its full name")
    if "/" in text or "@" in text:
        raise Unreadable(f"the host {text!r} is a URL; give its name alone, such as pypi.org")
    labels = name.split(".")
    if is_own_name(name):
        raise Unreadable(f"the host {text!r} is private; give the name of a public host")
    is_name = len(labels) > 1 and len(name) <= _MAX_NAME and not labels[-1].isdigit()
    if not is_name or not all(_LABEL.fullmatch(label) for label in labels):
        raise Unreadable(f"expected HOST[:PORT] such as pypi.org, got {text!r}")
    if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= _MAX_PORT):
        raise Unreadable(f"the host {text!r} has no valid port; give 1 to {_MAX_PORT:,}")
    return AllowedHost(name=name, port=int(port))


def read_hosts(named: Iterable[tuple[str, str]]) -> list[AllowedHost]:
    """Return the hosts that texts name.

    Args:
        named: where each text stands, as an error begins, and the text.

    Raises:
        Unreadable: some are wrong; with a line for each of these.
    """
    hosts, wrong = [], []
    for where, text in named:
        try:
            hosts.append(read_host(text))
        except Unreadable as issue:
            wrong.append(f"{where}{issue}")
    if wrong:
        raise Unreadable("\n".join(wrong))
    return hosts


def resolve_hosts(hosts: Iterable[AllowedHost], lookup: Lookup) -> tuple[AllowedHost, ...]:
    """Return the hosts with their addresses, each once, sorted.

    The proxy connects to these addresses only: a name that changes later leads nowhere else.

    Raises:
        Unavailable: a name has no address.
        Unreadable: one of its addresses is not public.
    """
    resolved = []
    for host in sorted(set(hosts)):
        try:
            addresses = tuple(sorted(set(lookup(host.name))))
        except (OSError, UnicodeError) as failed:
            cause = getattr(failed, "strerror", None) or failed
            raise Unavailable(
                f"the host {host.name} has no address: {cause}; check its name, and whether this "
                "machine has a name server"
            ) from None
        if not addresses:
            raise Unavailable(f"the host {host.name} has no address; check its name")
        for address in addresses:
            if not is_public(address):
                raise Unreadable(
                    f"the host {host.name} has the address {address}, which is private; "
                    "agents may reach public hosts only"
                )
        resolved.append(AllowedHost(name=host.name, port=host.port, addresses=addresses))
    return tuple(resolved)


def is_public(address: str) -> bool:
    """Return whether an address belongs to one host of the public internet.

    Example:
        >>> [is_public(each) for each in ("93.184.216.34", "10.0.0.1", "::ffff:127.0.0.1")]
        [True, False, False]
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return forbidden_reason(parsed) is None


def _is_address(text: str) -> bool:
    """Return whether a text is an address in any form that a resolver takes for one."""
    bare = text.strip("[]")
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        parts = bare.split(".")
        return 1 <= len(parts) <= 4 and all(  # noqa: PLR2004 (the parts of an address)
            re.fullmatch(r"0x[0-9a-f]+|[0-9]+", part) for part in parts
        )
    return True
