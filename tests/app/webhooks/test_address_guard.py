"""Test targets of webhooks: public addresses by https, connected by the checked address."""

import ipaddress
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.webhooks.address_guard import (
    NO_ADDRESS,
    ForbiddenUrl,
    check_address,
    checked_url,
)
from agon.errors import Unavailable
from agon.networks import forbidden_reason

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
    with pytest.raises(Unavailable, match=NO_ADDRESS):
        check_address("https://hooks.example/", resolve=resolver_of(address))
    bracketed = f"[{address}]" if ":" in address else address
    if "%" not in address:
        with pytest.raises(ForbiddenUrl):
            checked_url(f"https://{bracketed}/")


def test_a_name_with_a_forbidden_address_among_public_ones_is_rejected() -> None:
    """The connection might use either address."""
    with pytest.raises(Unavailable, match=NO_ADDRESS):
        check_address("https://hooks.example/", resolve=resolver_of(PUBLIC, "127.0.0.1"))


def spellings(address: str) -> list[str]:
    """Return an IPv4 address as the readers of URLs and of C libraries take it."""
    number = int(ipaddress.IPv4Address(address))
    a, b, c, d = (int(part) for part in address.split("."))
    parts = [(number,), (a, number & 0xFFFFFF), (a, b, number & 0xFFFF), (a, b, c, d)]
    forms = ["{}", "0{:o}", "0x{:x}", "0X{:X}", "00{:o}", "0x{:08x}"]
    hosts = [".".join(map(form.format, part)) for part in parts for form in forms]
    hosts += [f"0x{a:x}.{b}.{c}.{d}", f"0{a:o}.{b}.{c}.{d}", f"{a}.0x{b:x}.0{c:o}.{d}"]
    packed = (0xFFFF << 32, 0xFFFF << 48, 0x64FF9B << 96, 0x64FF9B0001 << 80, 0)
    hosts += [f"[{ipaddress.IPv6Address(prefix | number)}]" for prefix in packed]
    hosts += [
        f"[::ffff:{address}]", f"[0:0:0:0:0:FFFF:{address}]", f"[::{address}]",
        f"[64:ff9b::{address}]", f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::]",
        f"[2a00::5efe:{address}]", f"[::ffff:{address}%25lo]", f"[::ffff:{address}%lo]",
    ]  # fmt: skip
    full_width = address.translate({ord(str(n)): 0xFF10 + n for n in range(10)})
    circled = address.translate({ord(str(n)): 0x2460 + n - 1 for n in range(1, 10)})
    escaped = "".join(f"%{ord(sign):02x}" for sign in address)
    hosts += [
        full_width, circled, address.replace(".", "\u3002"), address.replace(".", "\uff0e"),
        address.replace(".", "\uff61"), address.replace(".", "%2e"), escaped, f"{address}%00",
        f"{address}%20", f" {address}", f"{address}\t", f"{address}\x00.example.org",
        f"example.org@{address}", f"example.org:x@{address}", f"{address}#.example.org",
        f"{address}\\.example.org", f"{address}:0", f"{address}:80", f"{address}:22",
    ]  # fmt: skip
    hosts += [f"{address}.nip.io", f"{address}.sslip.io", f"{address.replace('.', '-')}.nip.io"]
    return [*hosts, *(f"{host}." for host in hosts), *(f"{host}:8443" for host in hosts[:24])]


OWN_NAMES = [
    "localhost", "LOCALHOST", "LocalHost", "localhost.", "localhost.localdomain", "a.localhost",
    "a.b.localhost.", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback", "ip6-allnodes",
    "localhost4.localdomain4", "localdomain", "broadcasthost", "kubernetes", "kubernetes.default",
    "kubernetes.default.svc.cluster.local", "host.docker.internal", "gateway.docker.internal",
    "metadata", "metadata.google.internal", "metadata.google.internal.", "METADATA.GOOGLE.INTERNAL",
    "instance-data", "instance-data.ec2.internal", "printer.local", "router.lan", "nas.home",
    "db.corp", "wiki.intranet", "db.private", "nas.home.arpa", "x.onion", "localtest.me",
    "a.localtest.me", "lvh.me", "a.lvh.me", "vcap.me", "a.vcap.me", "7f000001.nip.io", "db", "x",
    "127.0.0.1.localhost", "localhost%2e", "loc%61lhost", "%6cocalhost", "localhost%00",
    "\u24db\u24de\u24d2alhost", "\uff4c\uff4f\uff43alhost", "localhost\u3002", "[::1]",
    "[0:0:0:0:0:0:0:1]", "[::0001]", "[::1%25lo]", "[::]",
    "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[::1", "::1",
    "[v1.1]", "0", "0x", "0x0", "00", "0.", "127", "1.2.3.4.5", "256.256.256.256", "1.1.1.0x", "08",
    "9.9.9.9.", "0x09090909", "9.9.2313", "example.0", "example.0x7f", "999999999999999999999",
]  # fmt: skip
"""Names of this machine and its network, and hosts that are no public name."""

SPELLINGS = sorted({
    *OWN_NAMES,
    *(spelling for address in ("127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0")  # noqa: S104 (what is refused)
      for spelling in spellings(address)),
})  # fmt: skip


def test_no_spelling_of_an_address_of_this_network_can_be_registered() -> None:
    """Twenty of 230 were accepted, and refused at each delivery only."""
    assert len(SPELLINGS) > 230
    accepted = []
    for spelling in SPELLINGS:
        for url in (f"https://{spelling}/", f"HTTPS://{spelling}", f"https://{spelling}/x?y=z"):
            with suppress(ForbiddenUrl):
                accepted.append(checked_url(url))
    assert accepted == []


def test_no_such_spelling_is_looked_up_either() -> None:
    """Registration and delivery share the check; a look-up would show the network's names."""
    for spelling in SPELLINGS:
        with pytest.raises(ForbiddenUrl):
            check_address(
                f"https://{spelling}/", resolve=lambda name, _: pytest.fail(f"looked up {name}")
            )


@pytest.mark.parametrize(
    "host",
    ["hooks.example", "hooks.example.", "a.b.co.uk", "xn--hks-sna.example", "1.example.org",
     "3com.de", "0x7f.example", "127.0.0.1.example.org", "localhost.example.org", "local.example",
     "nip.io.example", "lan.example.com", "internal-hooks.example.com", "9.9.9.9",
     "[2620:fe::fe]"],
)  # fmt: skip
def test_a_public_name_is_accepted(host: str) -> None:
    """Words of private names in other places are no reason."""
    assert checked_url(f"https://{host}/").path == "/"


def test_own_names_are_allowed_where_private_addresses_are() -> None:
    """A company's hooks are on its own network; an address has one notation there, too."""
    for name in ("localhost", "db", "hooks.internal"):
        target = check_address(
            f"http://{name}/", resolve=resolver_of("10.0.0.1"), allow_private=True
        )
        assert target.address == "10.0.0.1"
    for host in ("127.1", "0x7f000001", "2130706433", "017700000001", "127.0.0.1."):
        with pytest.raises(ForbiddenUrl, match="another notation"):
            checked_url(f"http://{host}/", allow_private=True)


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
        with pytest.raises(Unavailable, match=NO_ADDRESS):
            check_address("http://inside/", resolve=resolver_of(address), allow_private=True)


def test_a_name_without_an_address_or_with_an_invalid_one_is_rejected() -> None:
    """A resolver may return anything."""
    for addresses in ((), ("nonsense",), ("9.9.9.9", "nonsense")):
        with pytest.raises(Unavailable, match=NO_ADDRESS):
            check_address("https://hooks.example/", resolve=resolver_of(*addresses))


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
