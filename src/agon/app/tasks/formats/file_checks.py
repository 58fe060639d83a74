"""Check the files of a task: those that must exist, and those of its steps."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agon.app.files import FileIssue, InvalidPackage, collect_issues
from agon.app.tasks.files import files_under, read_text
from agon.app.tasks.task import StepSettings, TaskSettings

_COPIES: Final = re.compile(r"^\s*(?:COPY|ADD)\b|/tests\b", re.MULTILINE | re.IGNORECASE)

_FILLS_TESTS: Final = re.compile(
    r"^\s*(?:COPY|ADD)\b.*\s[\"']?/tests(?:/\S*)?\s*\]?$", re.MULTILINE | re.IGNORECASE
)


def location(folder: Path, path: str) -> str:
    """Return the place of a file of a task, as messages name it."""
    return f"{folder.name}/{path}"


def require(folder: Path, path: str, issues: list[FileIssue]) -> None:
    """Collect an error if a required file is missing or empty."""
    with collect_issues(issues):
        if not read_text(folder / path, where=location(folder, path)).strip():
            raise InvalidPackage(FileIssue(location(folder, path), "is empty", "write it"))


def refuse_compose(folder: Path, path: str, issues: list[FileIssue]) -> None:
    """Collect an error if tests would run in several containers."""
    if (folder / path).exists():
        what = "describes several containers, and tests run in one"
        remedy = f"install in {Path(path).parent}/Dockerfile what the tests need"
        issues.append(FileIssue(location(folder, path), what, remedy))


def require_copied_tests(folder: Path, path: str, issues: list[FileIssue]) -> None:
    """Collect an error if a separate verifier's own image lacks the tests.

    The format puts nothing into such an image, so elsewhere no trial of the task has a reward.
    """
    where = location(folder, path)
    with collect_issues(issues):
        if (file := folder / path).is_file() and not _COPIES.search(read_text(file, where=where)):
            raise InvalidPackage(FileIssue(where, "copies no tests", "write COPY . /tests"))


def notes_of_images(folder: Path, settings: TaskSettings, *, has_own_image: bool) -> Iterator[str]:
    """Yield what the images of a task say in vain."""
    if (folder / "tests" / "Dockerfile").is_file() and not has_own_image:
        yield (
            f"{location(folder, 'tests/Dockerfile')} is not built, as the tests are not separate; "
            'environment_mode = "separate" of [verifier] builds it'
        )
    dockerfile = folder / "environment" / "Dockerfile"
    if has_own_image or settings.verifier_image or not dockerfile.is_file():
        return
    if _FILLS_TESTS.search(dockerfile.read_text(encoding="utf-8", errors="replace")):
        yield (
            f"{location(folder, 'environment/Dockerfile')} puts files into /tests, which tests/ "
            "hides from the tests here; put them into tests/, or elsewhere"
        )


def is_inside(folder: Path, path: str, issues: list[FileIssue]) -> bool:
    """Return whether a folder of a task lies in it; an error is collected otherwise."""
    if (folder / path).resolve().is_relative_to(folder):
        return True
    what = "is a link that leads out of the task"
    issues.append(FileIssue(location(folder, path), what, "put a folder there"))
    return False


def check_workdir(folder: Path, path: str, issues: list[FileIssue]) -> None:
    """Collect an error for each link that leads out of the files that a step brings."""
    place = folder / path
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        issues.append(FileIssue(location(folder, path), "is no folder", "put a folder there"))
        return
    for name, entry in files_under(place) if place.is_dir() else ():
        if not entry.is_symlink():
            continue
        target, led = Path(entry.path).readlink(), Path(entry.path).resolve()
        if target.is_absolute() or not (led.exists() and led.is_relative_to(place)):
            what = f"is a link to {target}, which is not in the folder"
            issues.append(FileIssue(location(folder, f"{path}/{name}"), what, "copy its target"))


def check_tests(
    folder: Path, step: StepSettings, settings: TaskSettings, issues: list[FileIssue]
) -> None:
    """Collect an error if a step's tests do not run: no script, or their files or image do not fit.

    Tests in an image of their own are those in the folder that it is built from.
    """
    path = f"steps/{step.name}/tests"
    own, shared = folder / path, folder / "tests"
    refuse_compose(folder, f"{path}/docker-compose.yaml", issues)
    separate = settings.separate if step.separate is None else step.separate
    named = step.verifier_image or settings.verifier_image
    if separate and (own / "Dockerfile").exists() and not step.verifier_image:
        require(folder, f"{path}/test.sh", issues)
        require_copied_tests(folder, f"{path}/Dockerfile", issues)
        return
    if separate and not own.exists() and not named:
        require_copied_tests(folder, "tests/Dockerfile", issues)
    if separate and (shared / "Dockerfile").exists() and own.exists() and not named:
        what = "has no Dockerfile, and tests/Dockerfile has the tests of the task alone"
        issues.append(FileIssue(location(folder, path), what, "write one, or leave both out"))
    in_own = (own / "test.sh").exists() or not (shared / "test.sh").exists()
    require(folder, f"{path}/test.sh" if in_own else "tests/test.sh", issues)
    _check_replaced(folder, path, issues)


def _check_replaced(folder: Path, path: str, issues: list[FileIssue]) -> None:
    """Collect an error for each test of a step that cannot stand in place of one of the task."""
    for name, entry in files_under(folder / path) if (folder / path).is_dir() else ():
        other = folder / "tests" / name
        kinds = {(one.is_symlink(), one.is_dir()) for one in (Path(entry.path), other)}
        if (other.is_symlink() or other.exists()) and (len(kinds) > 1 or entry.is_symlink()):
            what = f"cannot replace tests/{name}: they are not both files or both folders"
            issues.append(FileIssue(location(folder, f"{path}/{name}"), what, "rename one"))
