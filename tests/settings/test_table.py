"""The table of settings: bounds and meaning of each, and what is made of several."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from agon.settings import SETTINGS, Setting, Settings, shown


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))
def test_every_setting_states_bounds_and_meaning(setting: Setting) -> None:
    """They become the reference and the commented example."""
    assert setting.bounds
    assert setting.meaning.endswith(".")
    assert len(setting.meaning) > 20


def test_settings_made_directly_do_not_look_at_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a test is given is what it gets."""
    monkeypatch.setenv("AGON_PORT", "9999")
    assert Settings().port == 8080


def test_settings_cannot_be_changed() -> None:
    """Two requests see the same."""
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1


def test_a_heartbeat_that_could_not_keep_its_lease_is_refused() -> None:
    """One lost heartbeat must not lose a job."""
    with pytest.raises(ValidationError, match="more than half of lease_seconds 30"):
        Settings(heartbeat_seconds=16)


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("sqlite:///agon.db", "."),
        ("sqlite:////var/lib/agon/agon.db", "/var/lib/agon"),
        ("sqlite+pysqlite:///data/agon.db?timeout=5", "data"),
        ("sqlite://", "."),
        ("postgresql://db/agon", "."),
    ],
)
def test_keys_stand_beside_the_database(url: str, folder: str) -> None:
    """A backup of the folder has them; a database elsewhere leaves them in the working folder."""
    settings = Settings(database=url)
    assert settings.server_key_path == Path(folder) / "agon-server.key"
    assert settings.signing_key_path == Path(folder) / "agon-signing.key"
    assert Settings(database=url, server_key_file="/k").server_key_path == Path("/k")


def test_the_address_is_made_of_host_and_port_unless_it_is_told() -> None:
    """Links in webhooks need one."""
    assert Settings(host="::1", port=1).url == "http://[::1]:1"
    assert Settings(public_url="https://agon.example/").url == "https://agon.example"


def test_a_password_with_an_at_sign_is_masked_whole() -> None:
    """People forget to escape it."""
    assert shown("database", "postgresql://ada:p@ss@db/x") == "postgresql://ada:***@db/x"
