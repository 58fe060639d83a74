"""Open authentication is allowed only on the local machine."""

import pytest

from agon.errors import Conflict
from agon.settings import Settings, is_loopback, require_auth_if_public


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.168.1.4", "agon.example", "::ffff:10.0.0.1", "*"],  # noqa: S104 (rejected hosts)
)
def test_open_authentication_on_a_reachable_address_is_rejected(host: str) -> None:
    """Every caller would have the operator's permissions."""
    with pytest.raises(Conflict, match=r"AGON_AUTH=required.*127.0.0.1") as error:
        require_auth_if_public(Settings(host=host, auth="open"))
    assert error.value.exit_code == 4
    require_auth_if_public(Settings(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost", "::ffff:127.0.0.1"])
def test_open_authentication_on_loopback_is_allowed(host: str) -> None:
    """This is for local experiments."""
    assert is_loopback(host)
    require_auth_if_public(Settings(host=host, auth="open"))


def test_open_authentication_with_a_public_url_is_rejected() -> None:
    """A reverse proxy makes the loopback address public."""
    with pytest.raises(Conflict, match=r"public_url https://agon\.example"):
        require_auth_if_public(Settings(auth="open", public_url="https://agon.example"))
    require_auth_if_public(Settings(auth="open", public_url="http://localhost:8080"))
