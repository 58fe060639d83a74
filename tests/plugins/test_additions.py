"""A discipline of another package adds an importer, an attack lab and a command."""

import json
from pathlib import Path

import pytest

import agon as library
from agon.attacks.catalog import lab_of
from agon.errors import Conflict, NotFound, Unavailable
from cli.command import Cli
from plugins.installed import EXAMPLE, install, install_renamed

SHEET = "name,question,correct,answered_at\nada,q1,true,2026-01-01T10:00:00Z\n"


def copy_with(site: Path, name: str, old: str, new: str) -> None:
    """Install the example as a discipline of another name, with one change of its object."""
    install_renamed(site, name, {"answers": "answers", "players": "players"})
    file = site / f"agon_{name}" / "__init__.py"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_its_format_is_imported_from_a_file(quiz: Path, agon: Cli, tmp_path: Path) -> None:
    """With the options, checks and messages of agon's own formats; then it is scored."""
    assert quiz.is_dir()
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(SHEET + "ada,q2,perhaps,2026-01-01T10:01:00Z\n")
    command = ("import", "quiz-sheets", sheet, "--columns", "player=name", "--out")
    ended = agon(*command, tmp_path / "wrong")
    assert ended.code == 2
    assert "sheet.csv" in ended.err
    assert "correct" in ended.err
    assert "perhaps" in ended.err
    ended = agon(*command, tmp_path / "one", "--where", "question=q1")
    assert ended.code == 0, ended.err
    assert "number of its row" in ended.err
    assert "next: agon score quiz" in ended.err
    scored = agon("score", "quiz", tmp_path / "one", "--format", "json").json()
    assert [(row["id"], row["score"]) for row in scored["rows"]] == [("ada", 10)]


def test_its_format_is_how_a_single_table_is_read(quiz: Path) -> None:
    """The library takes a list of dicts, as it does for battles of the arena."""
    assert quiz.is_dir()
    rows = [{"player": "ada", "question": "q", "correct": False, "answered_at": "2026-01-01"}]
    assert [row["score"] for row in library.score("quiz", rows).board().rows()] == [-2]
    assert library.import_records("quiz-sheets", rows).tables["players"].num_rows == 1
    with pytest.raises(Conflict, match="quiz-sheets has no unit; comparisons has"):
        library.import_records("quiz-sheets", rows, unit="votes")


def test_a_misspelt_format_gets_a_suggestion(quiz: Path, agon: Cli, tmp_path: Path) -> None:
    """Those of installed disciplines included; the command and the library say the same."""
    assert quiz.is_dir()
    ended = agon("import", "quiz-sheet", tmp_path, "--out", tmp_path / "out")
    assert (ended.code, "did you mean quiz-sheets" in ended.err) == (2, True)
    with pytest.raises(NotFound, match="did you mean quiz-sheets"):
        library.import_records("quiz-sheet", "sheet.csv")


def test_two_formats_of_one_name_are_an_error(quiz: Path, tmp_path: Path) -> None:
    """What is read must not depend on the order of packages; agon's own formats still work."""
    copy_with(quiz, "rival", "importers=(IMPORTER,)", "importers=(IMPORTER,)")
    file = quiz / "agon_rival" / "sheets.py"
    file.write_text(file.read_text().replace("rival-sheets", "quiz-sheets"))
    with pytest.raises(Conflict, match="quiz and rival both have a format 'quiz-sheets'"):
        library.import_records("quiz-sheets", tmp_path / "sheet.csv")
    battles = [{"model_a": "x", "model_b": "y", "winner": "model_a"}]
    assert library.import_records("arena-battles", battles).discipline == "arena"


@pytest.mark.exhaustive
def test_its_attacks_run_and_repeat(quiz: Path, agon: Cli, tmp_path: Path) -> None:
    """A row for each strategy, with the prices of the lab; a stored run replays."""
    assert quiz.is_dir()
    assert "quiz" in agon("attack", "--help").out
    listed = agon("attack", "quiz", "--list-attacks")
    assert "repeated-answers" in listed.out
    command = ("attack", "quiz", "--size", 100, "--format", "json", "--out", tmp_path / "runs")
    ended = agon(*command)
    assert ended.code == 0, ended.err
    (under,) = ended.json()["editions"]
    (attack,) = under["attacks"]
    assert (attack["name"], attack["reached"]) == ("repeated-answers", True)
    assert [found["finding"] for found in attack["detected"]] == ["repeated-answers"]
    assert attack["cost"]["money"] == 2 * attack["cost"]["days"]
    stored = tmp_path / "runs" / attack["replay"]
    assert agon("attack", "quiz", "--replay", stored).code == 0
    result = json.loads(stored.read_text())
    result["result"]["gain"]["ranks"] += 1
    stored.write_text(json.dumps(result))
    assert agon("attack", "quiz", "--replay", stored).code == 1


def test_its_attacks_have_prices_and_a_page(quiz: Path, agon: Cli, tmp_path: Path) -> None:
    """A price of the lab can be replaced; a page shows what there is."""
    assert quiz.is_dir()
    prices = tmp_path / "prices.toml"
    prices.write_text('answer = {amount = 1.5, per = "answer", source = "ours"}')
    command = ("attack", "quiz", "--size", 100, "--prices", prices, "--format")
    (under,) = agon(*command, "json").json()["editions"]
    cost = under["attacks"][0]["cost"]
    assert cost["money"] == 1.5 * cost["actions"] + 2 * cost["days"]
    page = agon(*command, "html").out
    assert "What a rank costs" in page
    assert "What the findings find" not in page


def test_what_it_lacks_is_refused_by_name(site: Path, agon: Cli) -> None:
    """A discipline without a lab or a command is not offered as one with."""
    copy_with(site, "bare", 'attack_lab="agon_bare.lab:LAB",', "attack_lab=None,")
    file = site / "agon_bare" / "__init__.py"
    file.write_text(file.read_text().replace('command="agon_bare.command:command"', "command=None"))
    assert "bare has no attack lab" in agon("attack", "bare").err
    with pytest.raises(NotFound, match="bare has no attack lab"):
        lab_of("bare")
    assert "bare" not in agon("attack", "--help").out
    assert "bare" not in agon("--help").out
    ended = agon("bare", "questions")
    assert (ended.code, "No such command" in ended.err) == (2, True)


@pytest.mark.exhaustive
def test_its_command_is_listed_and_runs(quiz: Path, agon: Cli, tmp_path: Path) -> None:
    """Its errors end as those of agon's own commands do."""
    assert quiz.is_dir()
    assert "Look into a quiz." in agon("--help").out
    assert agon("simulate", "quiz", "--size", 20, "--out", tmp_path / "data").code == 0
    ended = agon("quiz", "questions", tmp_path / "data")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "q1: 40% of 10 right"
    ended = agon("quiz", "questions", tmp_path / "nowhere")
    assert ended.code == 3
    assert "nowhere" in ended.err
    ended = agon("quiz", "question", tmp_path / "data")
    assert (ended.code, "questions" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "arguments", "message"),
    [
        ("agon_bad.command:command", "agon_bad.commands:command", ("bad", "questions"),
         r"agon_bad.commands:command of the discipline 'bad' cannot be loaded \(ModuleNotFound"),
        ("agon_bad.command:command", "agon_bad.lab:LAB", ("bad",), "Lab, expected Command"),
        ("agon_bad.lab:LAB", "agon_bad.lab:LABS", ("attack", "bad"), "AttributeError"),
        ("agon_bad.lab:LAB", "agon_bad.rules:QuizRules", ("attack", "bad"), "expected Lab"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_is_named_where_it_is_used(
    site: Path, agon: Cli, old: str, new: str, arguments: tuple[str, ...], message: str
) -> None:
    """The list of commands leaves it out, and other commands work."""
    copy_with(site, "bad", old, new)
    ended = agon(*arguments)
    assert ended.code == 5
    with pytest.raises(Unavailable, match=message):
        raise Unavailable(ended.err)
    assert agon("--help").code == 0
    assert agon("attack", "--help").code == 0


def test_a_package_that_cannot_be_loaded_hides_no_command(site: Path, agon: Cli) -> None:
    """Nor does one whose name is taken: agon's own commands are listed as ever."""
    install(site, package="broken-quiz", entry="broken = nowhere:IT")
    assert "Commands:" in agon("--help").out
    assert "challenge" in agon("attack", "--help").out
    install(site, package="agon-copy", entry="dojo = agon_copy:DISCIPLINE")
    assert "Commands:" in agon("--help").out
    assert agon("attack", "dojo", "--list-attacks").code == 0
    assert EXAMPLE.is_dir()
