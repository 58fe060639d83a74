"""Loading settings: the precedence of sources, and messages about invalid values."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agon.cli.root import _MODULES
from agon.cli.root import cli as root
from agon.errors import NotFound, Unreadable
from agon.settings import COMMANDS, SETTINGS, Settings, load, origins, to_toml


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


def variables_of(command: click.Command, prefix: str) -> Iterator[str]:
    """Yield the variables of a command's options and of those of its commands."""
    for option in command.params:
        name = option.opts[0].lstrip("-").replace("-", "_").upper()
        yield f"{prefix}_{name}"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from variables_of(child, f"{prefix}_{name.replace('-', '_').upper()}")


def test_every_command_is_listed_and_no_option_has_the_variable_of_a_setting() -> None:
    """Add a new command to agon.settings.COMMANDS, or the variables of its options are rejected."""
    assert set(_MODULES) <= set(COMMANDS)
    options = set(variables_of(root, "AGON"))
    assert "AGON_ARENA_RATE_METHOD" in options
    assert {setting.variable for setting in SETTINGS.values()} & options == set()


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


JUDGES = """\
port = 7

[arena.judge]
provider = "anthropic"
# the model of the audits must be another one
model = "m-1"
calls_per_day = 10

[arena.audit]  # of one match in ten
retries = 0
"""


def test_the_sections_of_model_judges_are_tables_with_variables_of_their_own(
    tmp_path: Path,
) -> None:
    """A table's keys are settings: with bounds, origins and variables as all others."""
    file = tmp_path / "agon.toml"
    file.write_text(JUDGES)
    environ = {"AGON_ARENA_JUDGE_CALLS_PER_DAY": "20", "AGON_ARENA_JUDGE_KEY": "k-1"}
    settings = load(environ=environ, cwd=tmp_path)
    judge = settings.model_judge("judge")
    assert judge is not None
    assert (judge.provider, judge.model, judge.calls_per_day) == ("anthropic", "m-1", 20)
    assert settings.arena_audit_retries == 0
    assert settings.model_judge("audit") is None
    sources = {o.name: o.source for o in origins(environ=environ, cwd=tmp_path)}
    assert sources["arena_judge_model"] == f"{file}:6"
    assert sources["arena_audit_retries"] == f"{file}:10"
    assert sources["arena_judge_calls_per_day"] == "AGON_ARENA_JUDGE_CALLS_PER_DAY"
    assert "k-1" not in str(sources) + repr(settings)
    text = to_toml(origins(environ=environ, cwd=tmp_path))
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "agon.toml").write_text(text)
    assert "\n[arena.judge]\n" in text
    assert load(environ={}, cwd=tmp_path / "again") == settings


def test_errors_in_the_sections_name_their_line_and_a_key_is_never_shown(tmp_path: Path) -> None:
    """A key in a file ends up in backups and repositories; the remedy names the variable."""
    file = tmp_path / "agon.toml"
    file.write_text('[arena.judge]\nkey = "sk-secret"\nmodle = "x"\n[arena.audit]\nretries = 99\n')
    with pytest.raises(Unreadable) as error:
        load(environ={"AGON_ARENA_JUDGE_URLL": "x"}, cwd=tmp_path)
    assert str(error.value).splitlines() == [
        "AGON_ARENA_JUDGE_URLL is not a setting; did you mean AGON_ARENA_JUDGE_URL?",
        (
            f"{file}:2: arena_judge_key is not a setting; set the environment variable "
            "AGON_ARENA_JUDGE_KEY, and remove the key from the file"
        ),
        f"{file}:3: arena_judge_modle is not a setting; did you mean arena_judge_model?",
    ]
    file.write_text('[arena.audit]\nretries = 99\nurl = "https://u:sk-secret@x"\n')
    with pytest.raises(Unreadable) as error:
        load(environ={}, cwd=tmp_path)
    assert f"{file}:2: arena_audit_retries cannot be 99" in str(error.value)
    assert "sk-secret" not in str(error.value)
    file.write_text('[arena.judge]\nprovider = "openai"\n')
    with pytest.raises(Unreadable, match="arena_judge_model is empty"):
        load(environ={}, cwd=tmp_path)
