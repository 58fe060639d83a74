"""Find and read solvers' packages: ``<user>/<submission>/solver.py`` and its JSON files."""

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from agon.app.files import (
    MAX_SOURCE_FILE,
    FileIssue,
    InvalidPackage,
    collect_issues,
    entries_of,
    read_bytes,
    read_object,
    text_of,
    time_of,
)
from agon.app.package_keys import read_keys
from agon.disciplines.dojo.canonical import NotUtf8, canonicalize, length, source_hash
from agon.errors import NotFound
from agon.ledger.kinds import is_name

SOLVER: Final = "solver.py"
SOLUTION: Final = "solution.json"
SUBMISSION: Final = "submission.json"
_ANY_PROBLEM: Final = "0" * 12


@dataclass(frozen=True)
class PackageFolder:
    """The folder of a submission: its user, its name, its path."""

    user: str
    name: str
    folder: Path = field(repr=False)

    def id_on(self, problem_id: str) -> str:
        """Return the submission's id in a season: problem, user and name."""
        return f"{problem_id[:12]}/{self.user}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class SolverPackage:
    """A solver's package.

    Attributes:
        source: canonical bytes; None when the file is not UTF-8.
        source_hash: SHA-256 of the canonical bytes, or of the file's bytes where there are none.
        l_chars: their number.
        unreadable: why there are no canonical bytes; empty when there are.
        method_tag, notes: as declared; None where nothing readable is declared.
        remarks: issues that do not keep it from being judged.
    """

    source: bytes | None = field(repr=False)
    source_hash: str
    l_chars: int
    created_at: datetime
    unreadable: str = ""
    method_tag: str | None = None
    notes: str | None = None
    remarks: tuple[FileIssue, ...] = ()


def find_packages(folder: Path) -> tuple[list[PackageFolder], list[FileIssue]]:
    """Return the submissions of a folder in the order of their names, and what is misplaced.

    Hidden entries, and files next to the users' folders, are ignored.

    Raises:
        NotFound: there is no such folder.
        InvalidPackage: it cannot be read.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder}: no such folder; name one with USER/SUBMISSION/{SOLVER}")
    packages: list[PackageFolder] = []
    issues: list[FileIssue] = []
    for user in _visible(folder):
        if not user.is_dir(follow_symlinks=False):
            if user.is_symlink():
                issues.append(_link(user.path))
            continue
        entries: list[os.DirEntry[str]] = []
        with collect_issues(issues):
            entries = _visible(Path(user.path))
        for entry in entries:
            issue = _entry_issue(user.name, entry)
            if issue is not None:
                issues.append(issue)
            elif entry.is_dir(follow_symlinks=False):
                packages.append(PackageFolder(user.name, entry.name, Path(entry.path)))
    return packages, issues


def read_package(package: PackageFolder) -> SolverPackage:
    """Read one submission.

    A ``solution.json`` that cannot be read declares nothing; a ``submission.json`` that cannot be
    read leaves the submission without a time. Without ``submission.json`` the time is when
    ``solver.py`` was last changed. Keys in another spelling are read, with a remark; so are listed
    keys that are not used.

    Raises:
        InvalidPackage: with everything that keeps it from being judged.
    """
    folder = package.folder
    issues: list[FileIssue] = []
    remarks: list[FileIssue] = []
    raw, created = b"", datetime.min.replace(tzinfo=UTC)
    with collect_issues(issues):
        raw = read_bytes(folder / SOLVER, most=MAX_SOURCE_FILE, where=str(folder / SOLVER))
    with collect_issues(issues):
        created = _creation_time(folder, remarks)
    tag, notes = None, None
    with collect_issues(remarks):
        tag, notes = _declaration(folder, remarks)
    if issues:
        raise InvalidPackage(*issues)
    try:
        source = canonicalize(raw)
    except NotUtf8 as error:
        return SolverPackage(
            source=None, source_hash=source_hash(raw), l_chars=len(raw), created_at=created,
            unreadable=str(error), method_tag=tag, notes=notes, remarks=tuple(remarks),
        )  # fmt: skip
    return SolverPackage(
        source=source, source_hash=source_hash(source), l_chars=length(source),
        created_at=created, method_tag=tag, notes=notes, remarks=tuple(remarks),
    )  # fmt: skip


def _visible(folder: Path) -> list["os.DirEntry[str]"]:
    return [entry for entry in entries_of(folder) if not entry.name.startswith(".")]


def _entry_issue(user: str, entry: "os.DirEntry[str]") -> FileIssue | None:
    """Return what keeps an entry of a user's folder from being a submission, if anything."""
    if entry.is_symlink():
        return _link(entry.path)
    if text_of(user) is None or text_of(entry.name) is None:
        path = os.fsencode(entry.path).decode("utf-8", "backslashreplace")
        return FileIssue(path, "has a name that is not UTF-8", "rename it")
    if not entry.is_dir():
        if entry.name not in (SOLVER, SOLUTION, SUBMISSION):
            return None
        remedy = f"put it into {user}/SUBMISSION/{entry.name}"
        return FileIssue(entry.path, "is not in a submission's folder", remedy)
    if not is_name(f"{_ANY_PROBLEM}/{user}/{entry.name}"):
        remedy = "rename it, without control characters and in less than 500 characters"
        return FileIssue(repr(entry.path), "has a name that no submission can have", remedy)
    return None


def _link(path: str) -> FileIssue:
    return FileIssue(path, "is a symbolic link, which is not followed", "put the folder itself")


def _creation_time(folder: Path, remarks: list[FileIssue]) -> datetime:
    file = folder / SUBMISSION
    declared = _keys(file, ("created_at",), remarks)
    if "created_at" in declared:
        return time_of(declared["created_at"], where=str(file), key="created_at")
    try:
        changed = (folder / SOLVER).lstat().st_mtime_ns // 1000
    except OSError:
        raise InvalidPackage from None  # the missing source is already an issue
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=changed)
    except OverflowError:
        what, remedy = "was changed at a time no clock has", f"state created_at in {SUBMISSION}"
        raise InvalidPackage(FileIssue(str(folder / SOLVER), what, remedy)) from None


def _declaration(folder: Path, remarks: list[FileIssue]) -> tuple[str | None, str | None]:
    declared = _keys(folder / SOLUTION, ("method_tag", "notes"), remarks)
    return text_of(declared.get("method_tag")), text_of(declared.get("notes"))


def _keys(file: Path, known: tuple[str, ...], remarks: list[FileIssue]) -> dict[str, Any]:
    """Return the values of known keys of a file, none where it is missing.

    Raises:
        InvalidPackage: it cannot be read.
    """
    if not os.path.lexists(file):
        return {}
    where = str(file)
    values, to_check = read_keys(read_object(file, where=where), known=known, where=where)
    remarks += to_check
    return values
