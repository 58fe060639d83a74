"""Entry points: what a package registers wrongly is one error that names the package."""

from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline, is_discipline, names
from agon.editions import default_edition
from agon.errors import Conflict, NotFound, Unavailable
from cli.command import Here, arena_folder
from plugins.installed import install


def test_agons_own_disciplines_come_first(quiz: Path) -> None:
    """Lists keep their order, whatever is installed."""
    assert quiz.is_dir()
    assert names() == (*BUILT_IN, "quiz")
    assert is_discipline("quiz")
    assert discipline("quiz") is discipline("quiz")
    assert discipline("quiz").participant_columns == (("players", "id"), ("answers", "player_id"))
    assert default_edition("quiz") == "quiz/classic-1"


def test_a_misspelt_name_is_answered_with_the_closest(quiz: Path) -> None:
    """Those of plugins included."""
    assert quiz.is_dir()
    with pytest.raises(NotFound, match="did you mean quiz"):
        discipline("quizz")


@pytest.mark.parametrize("name", ["dojo", "Quiz", "a b", "quiz/1", "q" * 41])
def test_a_name_that_is_taken_or_unfit_is_an_error(site: Path, name: str) -> None:
    """The message names the package; agon's own disciplines work all the same."""
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


def test_a_broken_package_leaves_other_disciplines_alone(
    site: Path, agon: Here, tmp_path: Path
) -> None:
    """Only commands that need it, or all disciplines, end with exit code 5."""
    install(site, package="broken-quiz", entry="broken = nowhere:IT")
    ended = agon("score", "arena", arena_folder(tmp_path / "arena"), "--format", "json")
    assert ended.code == 0
    ended = agon("score", "broken", tmp_path / "arena")
    assert (ended.code, ended.out) == (5, "")
    assert "broken-quiz 1.0" in ended.err
    assert agon("rules", "list").code == 5
