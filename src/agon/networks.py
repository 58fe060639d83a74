"""Distinguish networks: those of accounts, and those no request may go to.

Networks of accounts (the /24 or /48) are hashed with a secret key, so that no address is stored.
Requests that others cause, and agents in containers, reach the public Internet only.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_BITS = {4: 24, 6: 48}
_ALL = 64  # hexadecimal digits of a SHA-256

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

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

_ISATAP = (0x5EFE, 0x0200_5EFE)  # the upper half of an interface id that carries an IPv4 address
_NETWORKS = {
    kind: [(ipaddress.ip_network(net), why) for net, why in table.items()]
    for kind, table in (("never", _NEVER), ("private", _PRIVATE))
}


def network_of(ip: str) -> str | None:
    """Return the network of an address, its /24 or (IPv6) /48; None when it is not an address.

    An IPv4 address written as IPv6 counts as IPv4.

    Example:
        >>> network_of("203.0.113.77"), network_of("2001:db8:1:2::3"), network_of("5f3a…")
        ('203.0.113.0/24', '2001:db8:1::/48', None)
    """
    try:
        address = ipaddress.ip_address(ip.strip())
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    return str(ipaddress.ip_network(f"{address}/{_BITS[address.version]}", strict=False))


def network_groups(networks: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the number of the group of each account that shares a network with another one.

    Accounts of one network are one group, and so are those of all networks of one account.

    Args:
        networks: accounts with one of their networks each.

    Example:
        >>> network_groups([("ada", "n1"), ("bob", "n2"), ("eve", "n1"), ("eve", "n3")])
        {'ada': 1, 'eve': 1}
    """
    # A graph with two kinds of vertices; groups are its connected components.
    neighbors: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for account, network in networks:
        ends = ("account", account), ("network", network)
        for end, other in (ends, reversed(ends)):
            neighbors.setdefault(end, []).append(other)
    groups, seen = [], set[tuple[str, str]]()
    for begin in neighbors:
        reached, waiting = list[tuple[str, str]](), [begin]
        while waiting:
            end = waiting.pop()
            if end not in seen:
                seen.add(end)
                reached.append(end)
                waiting += neighbors[end]
        # Networks are vertices only to join accounts by; groups name accounts.
        groups.append(sorted(name for kind, name in reached if kind == "account"))
    shared = sorted(group for group in groups if len(group) > 1)
    return {account: number for number, group in enumerate(shared, start=1) for account in group}


def keyed_network(ip: str, *, key: bytes, digits: int = _ALL) -> str:
    """Return the keyed hash of an address's network: HMAC-SHA-256 of its /24 or /48, in hex.

    Equal networks have equal hashes; without the key the addresses cannot be found by trial.
    Records should contain this hash instead of the address. The service stores 32 digits.

    Raises:
        ValueError: it is not an address, or the key is empty.

    Source: spec arena, Records (owners).

    Example:
        >>> one, other = (keyed_network(ip, key=b"k") for ip in ("203.0.113.7", "203.0.113.200"))
        >>> one == other, one == keyed_network("203.0.113.7", key=b"another key")
        (True, False)
        >>> keyed_network("203.0.113.7", key=b"k", digits=32) == one[:32]
        True
    """
    if not key:
        raise ValueError(
            "the key is empty, so that addresses could be found by trial; use a secret key"
        )
    network = network_of(ip)
    if network is None:
        raise ValueError("expected an IPv4 or IPv6 address")
    return hmac.new(key, network.encode(), hashlib.sha256).hexdigest()[:digits]


def networks_of(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks that are given as text.

    Raises:
        ValueError: a text is no network.
    """
    return tuple(ipaddress.ip_network(text) for text in texts)


def is_in(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an address is in one of the networks; False if it is no address.

    Example:
        >>> is_in("10.1.2.3", networks_of(["10.0.0.0/8"])), is_in("proxy", networks_of(["::/0"]))
        (True, False)
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)


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


def is_own_name(host: str) -> bool:
    """Return whether a name is one, or ends with one, of this machine or its network.

    Example:
        >>> [is_own_name(each) for each in ("db.internal", "localhost.", "example.com")]
        [True, True, False]
    """
    labels = host.removesuffix(".").lower().split(".")
    endings = {".".join(labels[index:]) for index in range(len(labels))}
    return not endings.isdisjoint(_OWN_NAMES)
