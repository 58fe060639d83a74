"""Test entry points: an invalid registration is one error that names the package."""

import shutil
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline, is_discipline, names
from agon.editions import default_edition, registry
from agon.editions.release import main
from agon.errors import Conflict, NotFound, Unavailable
from cli.command import Cli, arena_folder
from plugins.installed import EXAMPLE, install


def test_agons_own_disciplines_come_first(quiz: Path) -> None:
    """Lists keep their order, whatever is installed."""
    assert quiz.is_dir()
    assert names() == (*BUILT_IN, "quiz")
    assert is_discipline("quiz")
    assert discipline("quiz") is discipline("quiz")
    assert discipline("quiz").participant_columns == (("players", "id"), ("answers", "player_id"))
    assert default_edition("quiz") == "quiz/classic-1"


def test_the_schema_of_a_plugin_is_printed(quiz: Path, agon: Cli) -> None:
    """Its columns need no meaning; kinds, references and empty values are those of the schema."""
    assert quiz.is_dir()
    printed = " ".join(agon("schema", "quiz").out.split())
    assert "answers · required key: id" in printed
    assert "player_id id required one of players.id" in printed
    assert "name text optional empty: unknown" in printed


def test_a_misspelt_name_gets_a_suggestion(quiz: Path) -> None:
    """Those of plugins included."""
    assert quiz.is_dir()
    with pytest.raises(NotFound, match="did you mean quiz"):
        discipline("quizz")


@pytest.mark.parametrize("name", ["dojo", "Quiz", "a b", "quiz/1", "q" * 41])
def test_a_name_that_is_used_or_invalid_is_an_error(site: Path, name: str) -> None:
    """The message names the package; agon's disciplines still work."""
    install(site, package="agon-copy", entry=f"{name} = agon_copy:DISCIPLINE")
    with pytest.raises(Conflict, match=r"^agon-copy 1\.0 registers the discipline"):
        names()
    assert discipline("dojo").name == "dojo"
    assert default_edition("dojo") == "dojo/0.1"


def test_two_packages_with_one_name_are_an_error(quiz: Path) -> None:
    """Which one scores must not depend on the order of folders."""
    install(quiz, package="other-quiz", entry="quiz = other:DISCIPLINE", version="2.1")
    with pytest.raises(Conflict, match=r"agon-quiz 1\.0 and other-quiz 2\.1 both register"):
        discipline("quiz")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_module", r"cannot be loaded from broken:IT \(ModuleNotFoundError: No mod"),
        ("1 / 0", r"\(ZeroDivisionError: division by zero\)"),
        ("OTHER = 1", r"\(AttributeError: "),
        ("IT = 1", "is not a Discipline: broken:IT is of type int"),
        ("from agon.disciplines.dojo import DISCIPLINE as IT", "but its name is 'dojo'"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(site: Path, code: str, message: str) -> None:
    """With its cause and what to do; it is listed, since it is installed."""
    install(site, package="broken-quiz", entry="broken = broken:IT", version="0.3")
    (site / "broken.py").write_text(code, encoding="utf-8")
    assert names()[-1] == "broken"
    with pytest.raises(Unavailable, match=message) as error:
        discipline("broken")
    assert "broken-quiz 0.3" in str(error.value)
    assert str(error.value).endswith("update or uninstall that package")


@pytest.mark.exhaustive
def test_a_broken_package_does_not_affect_other_disciplines(
    site: Path, agon: Cli, tmp_path: Path
) -> None:
    """Only commands that need it, or all disciplines, end with exit code 5."""
    install(site, package="broken-quiz", entry="broken = nowhere:IT")
    ended = agon("score", "arena", arena_folder(tmp_path / "arena"), "--format", "json")
    assert ended.code == 0
    ended = agon("score", "broken", tmp_path / "arena")
    assert (ended.code, ended.out) == (5, "")
    assert "broken-quiz 1.0" in ended.err
    assert agon("rules", "list").code == 5


def test_a_new_edition_is_released_into_the_lock_of_its_package(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then it never changes; before, there is no edition to score under."""
    install(site, package="agon-quiz", entry="quiz = agon_quiz:DISCIPLINE")
    shutil.copytree(EXAMPLE / "agon_quiz", site / "agon_quiz")
    lock = site / "agon_quiz" / "editions" / "lock.toml"
    locked = lock.read_text()
    lock.unlink()
    with pytest.raises(NotFound, match=r"run python -m agon\.editions\.release quiz"):
        default_edition("quiz")
    assert main(["quiz"]) == 0
    assert lock.read_text() == locked
    changed = (site / "agon_quiz" / "editions" / "classic-1.toml").read_text()
    (site / "agon_quiz" / "editions" / "classic-1.toml").write_text(
        changed.replace("right = 10\n", "right = 11\n", 1)
    )
    registry.lock_of.cache_clear()
    assert main(["quiz"]) == 1
    assert "release the change under a new name" in capsys.readouterr().err
    assert main(["quiz", "--unreleased", "quiz/classic-1"]) == 0
    assert lock.read_text() != locked
    assert main(["chess"]) == 1
    assert "there is no discipline 'chess'" in capsys.readouterr().err
