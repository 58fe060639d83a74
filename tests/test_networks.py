"""Networks under a key: equal for one network, and nothing to guess without the key."""

import pytest

from agon.networks import keyed_network, network_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("203.0.113.7", "203.0.113.255", True),
        ("203.0.113.7", "203.0.114.7", False),
        ("2001:db8:aa:1::1", "2001:db8:aa:ffff::2", True),
        ("2001:db8:aa::1", "2001:db8:ab::1", False),
        ("::ffff:203.0.113.9", "203.0.113.1", True),
    ],
)
def test_keyed_networks_are_equal_for_one_network_under_one_key(
    one: str,
    other: str,
    same: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """/24 for IPv4, /48 for IPv6; another key gives another hash."""
    assert (keyed_network(one, key=b"k") == keyed_network(other, key=b"k")) is same
    assert keyed_network(one, key=b"k") != keyed_network(one, key=b"other")


def test_what_is_no_address_is_refused_without_being_repeated() -> None:
    """A message must not carry what was meant to be secret."""
    with pytest.raises(ValueError, match="expected an IPv4 or IPv6 address") as refused:
        keyed_network("ada@example.org", key=b"k")
    assert "ada" not in str(refused.value)
    with pytest.raises(ValueError, match="key is empty"):
        keyed_network("203.0.113.7", key=b"")
    assert network_of("0a1b") is None


def test_a_shorter_hash_is_the_beginning_of_the_long_one() -> None:
    """The arena's records and the service's log have equal hashes."""
    long = keyed_network("203.0.113.7", key=b"k")
    assert len(long) == 64
    assert keyed_network("203.0.113.7", key=b"k", digits=32) == long[:32]
