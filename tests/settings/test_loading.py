"""Loading settings: the precedence of sources, and messages about invalid values."""

from pathlib import Path

import pytest

from agon.cli.root import _MODULES
from agon.errors import NotFound, Unreadable
from agon.settings import COMMANDS, SETTINGS, Settings, load, origins


def test_options_override_variables_then_the_file_then_the_defaults(
    tmp_path: Path,
) -> None:
    """The source closest to the command line has precedence."""
    (tmp_path / "agon.toml").write_text('port = 1\nhost = "::1"\nworkers = 5\n')
    environ = {"AGON_PORT": "2", "AGON_HOST": "127.0.0.2"}
    settings = load({"port": 3, "host": None}, environ=environ, cwd=tmp_path)
    assert (settings.port, settings.host, settings.workers, settings.processes) == (
        3, "127.0.0.2", 5, 1
    )  # fmt: skip


def test_every_origin_names_its_source(tmp_path: Path) -> None:
    """Users can find the line that sets a value."""
    file = tmp_path / "agon.toml"
    file.write_text("# ours\n\nworkers = 5\n")
    origins_ = {
        origin.name: origin.source
        for origin in origins({"port": 3}, environ={"AGON_HOST": "::1"}, cwd=tmp_path)
    }
    assert list(origins_) == list(SETTINGS)
    assert origins_["port"] == "--port"
    assert origins_["host"] == "AGON_HOST"
    assert origins_["workers"] == f"{file}:3"
    assert origins_["processes"] == "default"


def test_a_named_file_is_loaded_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    """A service must not start with defaults because of a mistyped path."""
    (tmp_path / "other.toml").write_text("port = 7\n")
    assert load(environ={"AGON_CONFIG": "other.toml"}, cwd=tmp_path).port == 7
    with pytest.raises(NotFound, match=r"AGON_CONFIG names .*gone\.toml"):
        load(environ={"AGON_CONFIG": "gone.toml"}, cwd=tmp_path)


def test_unknown_names_are_rejected_together_with_suggestions(tmp_path: Path) -> None:
    """An ignored misspelled setting would silently have its default."""
    (tmp_path / "agon.toml").write_text('hosst = "::"\n')
    with pytest.raises(Unreadable) as error:
        load({"prot": 1}, environ={"AGON_WORKRES": "2"}, cwd=tmp_path)
    assert str(error.value).splitlines() == [
        "--prot is not a setting; did you mean port?",
        "AGON_WORKRES is not a setting; did you mean AGON_WORKERS?",
        f"{tmp_path / 'agon.toml'}:1: hosst is not a setting; did you mean host?",
    ]


def test_all_invalid_values_are_reported_with_their_sources(tmp_path: Path) -> None:
    """One start shows every error."""
    (tmp_path / "agon.toml").write_text("port = 99999\n")
    environ = {
        "AGON_WORKERS": "many",
        "AGON_SANDBOX_MODES": "bwrap,foo",
        "AGON_RATE_LIMIT_TOKEN": "a lot",
        "AGON_TRUSTED_PROXIES": "10.0.0.1/8",
        "AGON_PUBLIC_URL": "https://ada:secret@agon.example",
    }
    with pytest.raises(Unreadable) as error:
        load(environ=environ, cwd=tmp_path)
    lines = str(error.value).splitlines()
    assert f"{tmp_path / 'agon.toml'}:1: port cannot be 99999; write a whole number from 0" in (
        line[
            : len(f"{tmp_path / 'agon.toml'}:1: port cannot be 99999; write a whole number from 0")
        ]
        for line in lines
    )
    assert {line.partition(":")[0] for line in lines[1:]} | {lines[0].partition(":")[0]} >= set(
        environ
    )
    assert len(lines) == 6


def test_the_error_about_a_database_url_contains_no_password(tmp_path: Path) -> None:
    """Messages are written to logs."""
    with pytest.raises(Unreadable) as error:
        load(environ={"AGON_DATABASE": "mysql://ada:hunter2@db/x"}, cwd=tmp_path)
    assert "hunter2" not in str(error.value)
    assert "mysql://ada:***@db/x" in str(error.value)


def test_a_password_is_not_shown_with_the_origins(tmp_path: Path) -> None:
    """This includes passwords before the host and among the parameters."""
    for url in ("postgresql://ada:hunter2@db/x", "postgresql://db/x?user=ada&password=hunter2"):
        origins_ = origins(environ={"AGON_DATABASE": url}, cwd=tmp_path)
        assert "hunter2" not in repr(origins_)
        assert "***" in origins_[0].value


def test_the_variable_of_a_command_option_is_not_a_setting(tmp_path: Path) -> None:
    """Click reads AGON_SCORE_EDITION."""
    environ = {"AGON_SCORE_EDITION": "0.1", "AGON_DEBUG": "1", "AGON_CONTAINER_ENGINE": "podman"}
    assert load(environ=environ, cwd=tmp_path) == Settings()


def test_every_command_is_listed_and_none_is_the_prefix_of_a_setting() -> None:
    """Add a new command to agon.settings.COMMANDS, or the variables of its options are rejected."""
    assert set(_MODULES) <= set(COMMANDS)
    clashing = [name for name in SETTINGS for word in COMMANDS if name.startswith(f"{word}_")]
    assert clashing == []


def test_an_invalid_toml_file_is_rejected_with_its_line(tmp_path: Path) -> None:
    """The user needs the line to fix the file."""
    (tmp_path / "agon.toml").write_text("port = \n")
    with pytest.raises(Unreadable, match=r"agon.toml is not TOML: .*line 1"):
        load(environ={}, cwd=tmp_path)


def test_origins_are_written_as_browsers_send_them(tmp_path: Path) -> None:
    """A path in one would never be equal to an Origin header."""
    environ = {"AGON_CORS_ORIGINS": "https://Site.example/, http://localhost:5173"}
    origins = load(environ=environ, cwd=tmp_path).cors_origins
    assert origins == ("https://site.example", "http://localhost:5173")
    for wrong in ("site.example", "https://site.example/page", "https://u@site.example"):
        with pytest.raises(Unreadable, match="AGON_CORS_ORIGINS: cors_origins cannot be"):
            load(environ={"AGON_CORS_ORIGINS": wrong}, cwd=tmp_path)


def test_lists_are_toml_lists_or_separated_by_commas(tmp_path: Path) -> None:
    """Environment variables can only contain text."""
    (tmp_path / "agon.toml").write_text('sandbox_modes = ["bwrap", "cold"]\n')
    environ = {"AGON_TRUSTED_PROXIES": "127.0.0.1, 10.0.0.0/8"}
    settings = load(environ=environ, cwd=tmp_path)
    assert settings.sandbox_modes == ("bwrap", "cold")
    assert settings.trusted_proxies == ("127.0.0.1/32", "10.0.0.0/8")
