"""Test targets of webhooks: public addresses by https, connected by the checked address."""

import ipaddress
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.webhooks.address_guard import (
    ForbiddenUrl,
    check_address,
    checked_url,
    forbidden_reason,
)
from agon.errors import Unavailable

PUBLIC = "9.9.9.9"


def resolver_of(*addresses: str) -> "Resolver":
    """Resolve every name to these addresses."""
    return Resolver(addresses)


class Resolver:
    """A resolver that records its requests."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.addresses = addresses
        self.requests: list[tuple[str, int]] = []

    def __call__(self, name: str, port: int) -> Sequence[str]:
        """Return the addresses."""
        self.requests.append((name, port))
        return self.addresses


def test_a_public_https_url_is_resolved_once_and_pinned() -> None:
    """A name may resolve to another address when it is connected to."""
    resolve = resolver_of(PUBLIC, "2620:fe::fe")
    target = check_address("https://hooks.example/in?a=1", resolve=resolve)
    assert (target.host, target.port, target.tls, target.path, target.address) == (
        "hooks.example", 443, True, "/in?a=1", PUBLIC
    )  # fmt: skip
    assert resolve.requests == [("hooks.example", 443)]


FORBIDDEN = [
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "0.0.0.0", "224.0.0.1",  # noqa: S104 (what is refused)
    "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "192.0.0.192",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
    "::ffff:9.9.9.9", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:4136:e378::1", "2a00::5efe:7f00:1",
    "2a00::200:5efe:7f00:1", "100::1",
]  # fmt: skip


@pytest.mark.parametrize("address", FORBIDDEN)
def test_no_private_address_is_allowed_in_any_notation(address: str) -> None:
    """They are databases, cloud credentials and the service itself."""
    with pytest.raises(ForbiddenUrl, match="public addresses only"):
        check_address("https://hooks.example/", resolve=resolver_of(address))
    bracketed = f"[{address}]" if ":" in address else address
    if "%" not in address:
        with pytest.raises(ForbiddenUrl):
            checked_url(f"https://{bracketed}/")


def test_a_name_with_a_forbidden_address_among_public_ones_is_rejected() -> None:
    """The connection might use either address."""
    with pytest.raises(ForbiddenUrl, match="is loopback"):
        check_address("https://hooks.example/", resolve=resolver_of(PUBLIC, "127.0.0.1"))


@pytest.mark.parametrize("name", ["127.1", "0x7f000001", "2130706433", "017700000001", "localhost"])
def test_an_address_in_another_notation_is_checked_by_what_it_resolves_to(name: str) -> None:
    """The system's resolver knows more notations than any list."""
    with pytest.raises(ForbiddenUrl, match="is loopback"):
        check_address(f"https://{name}/", resolve=resolver_of("127.0.0.1"))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://hooks.example/", "needs https"),
        ("ftp://hooks.example/", "needs https"),
        ("hooks.example/in", "needs https"),
        ("https:///in", "has no host"),
        ("https://", "has no host"),
        ("https://ada:pw@hooks.example/", "user and the password"),
        ("https://hooks.example@127.0.0.1/", "user and the password"),
        ("https://@hooks.example/", "user and the password"),
        ("https://hooks.example/#x", "leave out #"),
        ("https://hooks.example:22/", "port 22"),
        ("https://hooks.example:80/", "port 80"),
        ("https://hooks.example:0/", "port 0"),
        ("https://hooks.example:99999/", "not a URL"),
        ("https://hooks.example:x/", "not a URL"),
        ("https://[::1/", "not a URL"),
        ("https://hooks.example\\@evil/", "without blanks"),
        ("https://hooks.example/a b", "without blanks"),
        ("https://hooks.example/\r\nHost: x", "without blanks"),
        ("https://höoks.example/", "xn--"),
        ("https://hooks..example/", "has no host"),
        ("https://-hooks.example/", "has no host"),
        ("https://hooks.example/" + "a" * 2048, "2,048 characters"),
    ],
)
def test_an_invalid_url_is_rejected_with_the_remedy(url: str, why: str) -> None:
    """It is rejected before a name is resolved."""
    resolve = resolver_of(PUBLIC)
    with pytest.raises(ForbiddenUrl, match=why):
        check_address(url, resolve=resolve)
    assert resolve.requests == []


def test_a_long_invalid_name_is_rejected_quickly() -> None:
    """A pattern with backtracking would need 2^n steps."""
    with pytest.raises(ForbiddenUrl, match="has no host"):
        checked_url(f"https://{'a' * 250}!/")
    assert checked_url(f"https://{'a.' * 20}example./").host.endswith("example.")
    for name in ("a..b", ".a", "-a.b", f"{'a' * 64}.b", "a." * 127):
        with pytest.raises(ForbiddenUrl):
            checked_url(f"https://{name}/")


def test_a_private_network_can_be_allowed_but_never_metadata() -> None:
    """Private networks are for tests and companies; a cloud's credentials are never a target."""
    for address in ("127.0.0.1", "10.0.0.1", "::1", "fc00::1"):
        target = check_address(
            "http://inside:81/", resolve=resolver_of(address), allow_private=True
        )
        assert (target.address, target.tls) == (address, False)
    for address in ("169.254.169.254", "fd00:ec2::254", "0.0.0.0", "224.0.0.1", "::ffff:10.0.0.1"):  # noqa: S104 (what is refused)
        with pytest.raises(ForbiddenUrl):
            check_address("http://inside/", resolve=resolver_of(address), allow_private=True)


def test_a_name_without_an_address_or_with_an_invalid_one_is_rejected() -> None:
    """A resolver may return anything."""
    with pytest.raises(Unavailable, match="has no address"):
        check_address("https://hooks.example/", resolve=resolver_of())
    with pytest.raises(ForbiddenUrl, match="invalid address"):
        check_address("https://hooks.example/", resolve=resolver_of("nonsense"))


@given(st.ip_addresses(v=4))
def test_allowed_addresses_are_global_unicast(address: ipaddress.IPv4Address) -> None:
    """The standard library's list is a second implementation."""
    if forbidden_reason(address) is None:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


@given(st.ip_addresses(v=4))
def test_no_private_ipv4_address_is_allowed_inside_an_ipv6_address(
    address: ipaddress.IPv4Address,
) -> None:
    """Translators on the network would unpack it."""
    number = int(address)
    for packed in (
        number,
        0xFFFF << 32 | number,
        0x64FF9B << 96 | number,
        0x2002 << 112 | number << 80,
    ):
        if packed != 1:  # ::1 is loopback
            assert forbidden_reason(ipaddress.IPv6Address(packed)) is not None
