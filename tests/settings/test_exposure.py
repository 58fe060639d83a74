"""Being open to everybody is for one's own machine."""

import pytest

from agon.errors import Conflict
from agon.settings import Settings, is_loopback, require_auth_if_public


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.168.1.4", "agon.example", "::ffff:10.0.0.1", "*"],  # noqa: S104 (what is refused)
)
def test_open_on_an_address_others_reach_is_refused_with_the_remedy(host: str) -> None:
    """Everybody would be an operator."""
    with pytest.raises(Conflict, match=r"AGON_AUTH=required.*127.0.0.1") as error:
        require_auth_if_public(Settings(host=host, auth="open"))
    assert error.value.exit_code == 4
    require_auth_if_public(Settings(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost", "::ffff:127.0.0.1"])
def test_open_on_loopback_is_allowed(host: str) -> None:
    """For trying things."""
    assert is_loopback(host)
    require_auth_if_public(Settings(host=host, auth="open"))


def test_open_behind_a_public_address_is_refused() -> None:
    """A reverse proxy makes loopback public."""
    with pytest.raises(Conflict, match=r"public_url https://agon\.example"):
        require_auth_if_public(Settings(auth="open", public_url="https://agon.example"))
    require_auth_if_public(Settings(auth="open", public_url="http://localhost:8080"))
