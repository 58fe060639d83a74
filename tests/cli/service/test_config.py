"""agon config: the settings with which the service would start."""

import tomllib
from pathlib import Path

import pytest

from agon.settings import SETTINGS
from cli.command import Cli


@pytest.fixture(autouse=True)
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Write a configuration file with a few settings."""
    path = tmp_path / "service.toml"
    path.write_text('port = 9000\ndatabase = "postgresql://ada:hunter2@db/agon"\n')
    monkeypatch.setenv("AGON_CONFIG", str(path))
    return path


def test_show_names_the_origin_of_every_setting(agon: Cli, file: Path) -> None:
    """Origins help to debug a misconfigured service."""
    value = agon("config", "show", "--origin", "--format", "json").json()
    settings = {row["name"]: (row["value"], row["origin"]) for row in value["settings"]}
    assert list(settings) == list(SETTINGS)
    assert settings["port"] == (9000, f"{file}:1")
    assert settings["host"] == ("127.0.0.1", "default")
    table = agon("config", "show", "--origin").out
    assert f"{file}:1" in table
    assert "sandbox_modes" in table


@pytest.mark.parametrize("form", ["table", "json", "toml"])
@pytest.mark.parametrize("flags", [(), ("--origin",)])
def test_show_never_shows_a_password(agon: Cli, form: str, flags: tuple[str, ...]) -> None:
    """Users paste its output into bug reports."""
    ended = agon("config", "show", "--format", form, *flags)
    assert ended.code == 0
    assert "hunter2" not in ended.out
    assert "postgresql://ada:***@db/agon" in ended.out


def test_toml_can_be_loaded_again(agon: Cli) -> None:
    """Defaults are commented out; a masked password cannot be loaded."""
    text = agon("config", "show", "--format", "toml", "--origin").out
    assert tomllib.loads(text) == {"port": 9000}
    keys = [setting.key for setting in SETTINGS.values()]
    assert all(f"# {key} = " in text or f"\n{key} = " in text for key in keys)


def test_check_prints_the_address_of_a_valid_configuration(agon: Cli) -> None:
    """Deployment scripts use it."""
    ended = agon("config", "check")
    assert ended.code == 0
    assert "2 of them set; serves http://127.0.0.1:9000" in ended.out


def test_check_rejects_unreadable_and_contradictory_settings(
    agon: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit codes equal those of the server."""
    monkeypatch.setenv("AGON_AUTH", "open")
    assert agon("config", "check").code == 0
    monkeypatch.setenv("AGON_HOST", "0.0.0.0")  # noqa: S104 (rejected host)
    ended = agon("config", "check")
    assert ended.code == 4
    assert "AGON_AUTH=required" in ended.err
    monkeypatch.setenv("AGON_PORT", "many")
    ended = agon("config", "check")
    assert ended.code == 2
    assert "AGON_PORT: port cannot be 'many'; write a whole number from 0 to 65,535" in ended.err
