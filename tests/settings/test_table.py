"""The table of settings: bounds, descriptions and derived values."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

import agon
from agon.settings import SETTINGS, Setting, Settings, display_value
from agon.settings.model_judges import ModelJudgeSettings


@pytest.mark.sample(20)
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))
def test_every_setting_has_bounds_and_a_description(setting: Setting) -> None:
    """The reference and the commented example are generated from them."""
    assert setting.bounds
    assert setting.meaning.endswith(".")
    assert len(setting.meaning) > 20


def test_settings_constructed_directly_ignore_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests must not depend on the environment."""
    monkeypatch.setenv("AGON_PORT", "9999")
    assert Settings().port == 8080


def test_settings_are_frozen() -> None:
    """All requests must see the same settings."""
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1


def test_every_setting_is_read() -> None:
    """One that is documented and never read promises what does not happen."""
    folder = Path(agon.__file__).parent
    code = "\n".join(path.read_text() for path in folder.rglob("*.py"))
    read = {*re.findall(r"\.(\w+)", code), *re.findall(r'"(\w+)"', code)}
    of_judges = set(ModelJudgeSettings.model_fields)  # read by their sections
    assert set(Settings.model_fields) - of_judges - read == set()


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
def test_keys_are_stored_in_the_folder_of_the_database(url: str, folder: str) -> None:
    """A folder backup includes them; for a remote database they are in the working folder."""
    settings = Settings(database=url)
    assert settings.server_key_path == Path(folder) / "agon-server.key"
    assert settings.signing_key_path == Path(folder) / "agon-signing.key"
    assert Settings(database=url, server_key_file="/k").server_key_path == Path("/k")


def test_the_public_url_defaults_to_host_and_port() -> None:
    """Links in webhooks need a URL."""
    assert Settings(host="::1", port=1).url == "http://[::1]:1"
    assert Settings(public_url="https://agon.example/").url == "https://agon.example"


def test_a_password_with_an_at_sign_is_masked_completely() -> None:
    """Users often do not escape it."""
    assert display_value("database", "postgresql://ada:p@ss@db/x") == "postgresql://ada:***@db/x"


def test_every_default_is_valid() -> None:
    """Defaults that are not validated at each start, to load no library, are validated here."""
    values = {name: getattr(Settings(), name) for name in SETTINGS}
    assert Settings(**values) == Settings()
