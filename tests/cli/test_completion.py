"""A shell completes commands, options and values, and never shows an error in a line."""

from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

from agon.cli import cli
from agon.cli.run import main
from cli.command import Cli

DATABASE = "sqlite:///contests.db"


def completions(line: str) -> list[str]:
    """Return what a shell offers for the last word of a line."""
    *words, incomplete = line.split(" ")
    complete = BashComplete(cli, {"auto_envvar_prefix": "AGON"}, "agon", "_AGON_COMPLETE")
    return [item.value for item in complete.get_completions(words[1:], incomplete)]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("agon sch", ["schema"]),
        ("agon score comm", ["community"]),
        ("agon score dojo data --edition ", ["0.1", "0.2", "hardened-1"]),
        ("agon explain arena data ann --board bra", ["bradley-terry"]),
        ("agon schema arena ma", ["matches"]),
        ("agon rules show dojo/", ["dojo/0.1", "dojo/0.2", "dojo/hardened-1"]),
        ("agon score arena data --format nd", ["ndjson"]),
        (f"agon contest board --database {DATABASE} s", ["spring"]),
        (f"agon contest board --database {DATABASE} spring --board bo", ["bots"]),
        (f"agon contest add --database {DATABASE} spring data --table vo", ["votes"]),
        ("agon contest board --database sqlite:///missing.db s", []),
        ("agon contest board --server http://127.0.0.1:9 s", []),
        ("agon score nothing data --board b", []),
    ],
)
def test_values_are_completed(
    line: str, values: list[str], agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be listed, because there is no such database or server, is an empty list."""
    monkeypatch.chdir(tmp_path)
    if DATABASE in line:
        create = ("contest", "create", "spring", "--discipline", "arena", "--database", DATABASE)
        assert agon(*create).code == 0
    assert completions(line) == values
    assert not (tmp_path / "missing.db").exists()


def test_an_error_while_completing_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A traceback would stand where the user types."""

    def fail(*_: object, **__: object) -> None:
        click.echo("a warning", err=True)
        raise RuntimeError("a bug")

    monkeypatch.setenv("_AGON_COMPLETE", "bash_complete")
    monkeypatch.setattr(cli, "main", fail)
    monkeypatch.setattr("sys.meta_path", [])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr() == ("", "")
