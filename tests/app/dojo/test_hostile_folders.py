"""Test that files of one submission are never an issue of others."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agon.app.dojo.judge import JudgeSummary, judge
from agon.app.dojo.packages import SOLUTION, SOLVER, SUBMISSION
from agon.app.dojo.problems import read_problem
from agon.app.files import FileIssue, InvalidPackage, read_bytes
from app.dojo.packing import pack_problem, pack_solver, rows
from fakes.sandbox import FakeSandbox
from runners.identities import command_as, identities


def _link_out(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(here)


PLANTED: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a folder with something in it": lambda path: (path / "solver.py").mkdir(parents=True),
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link out of the folder": _link_out,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
}


def judged(folder: Path) -> JudgeSummary:
    """Judge the submissions in a folder next to the problem."""
    package = pack_problem(folder / "p")
    return judge(read_problem(package), folder / "s", folder / "season", FakeSandbox())


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", [SOLVER, SUBMISSION, SOLUTION])
@pytest.mark.parametrize("planted", PLANTED)
def test_a_path_that_is_not_a_file_affects_only_its_submission(
    planted: str, file: str, tmp_path: Path
) -> None:
    """A folder named solver.py must not end the judging of all."""
    pack_solver(tmp_path / "s", "ada")
    place = pack_solver(tmp_path / "s", "eve")
    pack_solver(tmp_path / "s", "zoe")
    (place / file).unlink(missing_ok=True)
    PLANTED[planted](place / file)
    summary = judged(tmp_path)
    verdicts = {row["user_id"]: row["verdict"] for row in rows(tmp_path / "season")}
    # What is declared does not decide whether a program is judged.
    assert verdicts == dict.fromkeys(["ada", "zoe", *(["eve"] * (file == SOLUTION))], "ok")
    (issue,) = summary.remarks if file == SOLUTION else summary.issues
    assert issue.where == str(place / file)
    assert issue.remedy


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("file", "content"),
    [
        (SUBMISSION, b"\xff\xfe{\0}\0"),
        (SUBMISSION, b"[" * 60_000),
        (SUBMISSION, b'{"created_at": 1e999}'),
        (SUBMISSION, b'{"created_at": "9999-99-99"}'),
        (SUBMISSION, b"x" * 70_000),
    ],
)
def test_an_unreadable_file_affects_only_its_submission(
    file: str, content: bytes, tmp_path: Path
) -> None:
    """Each is an issue that names the file."""
    pack_solver(tmp_path / "s", "ada")
    place = pack_solver(tmp_path / "s", "eve")
    (place / file).write_bytes(content)
    summary = judged(tmp_path)
    assert [issue.where for issue in summary.issues] == [str(place / file)]
    assert [row["user_id"] for row in rows(tmp_path / "season")] == ["ada"]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_path_in_a_setters_package_that_is_not_a_file_is_named(
    planted: str, tmp_path: Path
) -> None:
    """Problems are read by the same function."""
    package = pack_problem(tmp_path / "p")
    for file in ("setter.py", "problem.json"):
        (package / file).unlink()
        PLANTED[planted](package / file)
    with pytest.raises(InvalidPackage) as raised:
        read_problem(package)
    assert {issue.where for issue in raised.value.issues} == {
        str(package / "setter.py"), str(package / "problem.json"),
    }  # fmt: skip


UNREADABLE = """
import json, sys
from pathlib import Path
from agon.app.dojo.packages import find_packages, read_package
from agon.app.files import InvalidPackage
packages, issues = find_packages(Path(sys.argv[1]))
names = []
for package in packages:
    try:
        read_package(package)
        names.append(package.user)
    except InvalidPackage as error:
        issues += error.issues
print(json.dumps([names, sorted({issue.where for issue in issues})]))
"""


def test_a_forbidden_file_affects_only_its_submission() -> None:
    """Folders and files of another owner, read by an ordinary user."""
    with tempfile.TemporaryDirectory(prefix="agon-unreadable-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        places = [pack_solver(folder / "s", user) for user in ("ada", "bob", "cid", "dan")]
        closed = [places[1], places[2].parent, places[3] / SOLVER]
        for path in closed:
            path.chmod(0)
        command = [sys.executable, "-c", UNREADABLE, str(folder / "s")]
        done = subprocess.run(
            command_as(identities()[-1], command), capture_output=True, text=True, check=False
        )
        for path in closed:
            path.chmod(0o755)
        assert done.returncode == 0, done.stderr
        names, issues = json.loads(done.stdout)
    assert names == ["ada"]
    assert {Path(where).relative_to(folder / "s").parts[0] for where in issues} == {
        "bob", "cid", "dan",
    }  # fmt: skip


def test_an_unsupported_file_time_affects_only_its_submission(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Some file systems have times of any year."""
    place = pack_solver(tmp_path / "s", "eve", created_at=None)
    pack_solver(tmp_path / "s", "zoe")
    lstat = Path.lstat

    def far(path: Path) -> os.stat_result:
        about = lstat(path)
        if path != place / SOLVER:
            return about
        return os.stat_result((*about[:10], 0.0, 0.0, 0.0, 0, 1 << 70, 0))

    monkeypatch.setattr(Path, "lstat", far)
    summary = judged(tmp_path)
    assert [issue.where for issue in summary.issues] == [str(place / SOLVER)]
    assert [row["user_id"] for row in rows(tmp_path / "season")] == ["zoe"]


def test_a_file_that_fails_while_it_is_read_is_an_issue(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A disk may fail, a file system may be unmounted."""
    (tmp_path / "file").write_text("x")
    number, fstat = (tmp_path / "file").stat().st_ino, os.fstat

    def fail(handle: int) -> os.stat_result:
        about = fstat(handle)
        if about.st_ino == number:
            raise OSError(5, "Input/output error")
        return about

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", fail)
        with pytest.raises(InvalidPackage) as raised:
            read_bytes(tmp_path / "file", most=9, where="file")
    assert raised.value.issues == (
        FileIssue("file", "cannot be read (Input/output error)", "make it readable"),
    )
