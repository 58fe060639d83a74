"""Distinguish networks without storing addresses: the /24 or /48, hashed with a secret key."""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable, Sequence
from typing import TypeAlias

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_BITS = {4: 24, 6: 48}
_ALL = 64  # hexadecimal digits of a SHA-256


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
