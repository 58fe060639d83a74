"""What commands print: formats by the ending of a file, explanations at eighty columns."""

import csv
from pathlib import Path

import click
import pytest

from agon.cli.shared.tables import Output, TableColumn
from cli.command import Cli
from cli.test_help import COMMANDS

WRITING = {path: command for path, command in COMMANDS.items()
           if any(parameter.name == "output" for parameter in command.params)}  # fmt: skip


def words(command: click.Command) -> list[str]:
    """Return a value for each required parameter of a command."""
    values: list[str] = []
    for parameter in command.params:
        if parameter.required:
            if isinstance(parameter, click.Option):
                values.append(parameter.opts[0])
            choices = getattr(parameter.type, "choices", ())
            values.append("arena" if parameter.name == "discipline" else [*choices, "1"][0])
    return values


@pytest.mark.sample(8)
@pytest.mark.parametrize("path", WRITING)
def test_every_command_rejects_an_unknown_ending(agon: Cli, path: str, tmp_path: Path) -> None:
    """A table in board.xlsx opens in no spreadsheet, and a table in board.json in no parser."""
    file = tmp_path / "board.xlsx"
    ended = agon(*path.split(), *words(WRITING[path]), "--output", file)
    assert ended.code == 2
    assert f"got {file}; change the ending, or choose with --format: table" in ended.err
    assert not file.exists()


@pytest.mark.exhaustive
def test_the_ending_decides_unless_a_format_is_given(
    agon: Cli, arena: Path, tmp_path: Path
) -> None:
    """Users name the file they want; --format names another content for it."""
    board, why = tmp_path / "why.json", tmp_path / "why.svg"
    explain = ("explain", "arena", arena, "ann", "--output")
    assert agon(*explain, board).code == agon(*explain, why).code == 0
    assert board.read_text().startswith("{")
    assert why.read_text().startswith("<svg")
    assert agon(*explain, tmp_path / "why").code == agon(*explain, tmp_path / "why.txt").code == 0
    assert (tmp_path / "why").read_text() == (tmp_path / "why.txt").read_text()
    assert agon(*explain, tmp_path / "why.data", "--format", "json").code == 0
    assert (tmp_path / "why.data").read_text() == board.read_text()
    refused = agon(*explain, tmp_path / "why.csv")
    assert refused.code == 2
    assert "expected --output with the ending .json, .svg or .txt" in refused.err


def test_a_plot_rejects_an_unknown_ending(agon: Cli, arena: Path, tmp_path: Path) -> None:
    """It was the name of a new folder; a folder with a dot in its name is created first."""
    refused = agon("challenge", "plot", arena, "--out", tmp_path / "burn.pdf")
    assert (refused.code, (tmp_path / "burn.pdf").exists()) == (2, False)
    assert "expected a file that ends in .svg or .png, or a folder" in refused.err


@pytest.fixture
def season(tmp_path: Path) -> Path:
    """Write a dojo with 25 problems, named by hashes, of which ada solved each."""
    folder = tmp_path / "season"
    folder.mkdir()
    hashes = [f"{number:064x}" for number in range(25)]
    titles = ["Squares", "Squares", "", *(f"Powers of {number} in order" for number in range(22))]
    with (folder / "problems.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "title"], *zip(hashes, titles, strict=True)])
    head = "id,problem_id,user_id,created_at,source_hash,l_chars,method_tag,verdict,terms_matched"
    rows = [f"{name[-2:]},{name},ada,2026-01-01,{name},80,recurrence,ok,200" for name in hashes]
    late = [f"late-{name},{name},ada,2026-01-02,{name},90,,wrong_answer,1" for name in hashes]
    (folder / "submissions.csv").write_text("\n".join([head, *rows, *late]))
    return folder


def test_an_explanation_of_a_season_fits_eighty_columns(
    agon: Cli, season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashes as names took the width of the reasons, and say nothing to a reader."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = agon("explain", "dojo", season, "ada").out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert f"{0:064x}" not in text
    assert text.count("best submission") == 25
    assert "Powers of 3 in order" in text
    named = [line for line in lines if line.startswith(("Squares", "problem:"))]
    assert len(named) == 3


@pytest.mark.exhaustive
def test_top_cuts_an_explanation_and_counts_what_is_left_out(agon: Cli, season: Path) -> None:
    """A season of a thousand matches is a thousand parts."""
    explain = ("explain", "dojo", season, "ada", "--top", "5")
    cut, whole = (agon(*words, "--format", "json").json() for words in (explain, explain[:-2]))
    assert [part["name"] for part in cut["parts"]][5:] == ["20 more"]
    assert cut["parts"][:5] == whole["parts"][:5]
    assert sum(part["points"] for part in cut["parts"]) == cut["score"] == whole["score"]
    assert "20 more" in agon(*explain).out
    board = f"problem:{0:064x}"
    notes = agon("explain", "dojo", season, "ada", "--board", board).out
    assert "title: Squares" in notes


def test_a_column_that_folds_keeps_a_width_next_to_long_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside an id of 70 characters, the reasons had no column at all."""
    monkeypatch.setenv("COLUMNS", "80")
    out = Output()
    out.table(
        [TableColumn("id", ["x" * 70]), TableColumn("why", ["because of its points"], folds=True)]
    )
    out.deliver()
    assert "because of its points" in " ".join(capsys.readouterr().out.split())
