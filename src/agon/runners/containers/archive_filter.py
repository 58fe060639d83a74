"""Copy the entries of an agent's archive that may be handed over, and list the others.

Plain files and folders pass, except settings of home folders. A link passes when its text alone
stays within the same output: ``..`` only in front, and not further up than the output itself. Then
it stays inside whatever other links are on the way, since each of them stays inside too. An
absolute link passes when it leads to an output or to the image's read-only programs, without
``..``, and any link that the image itself has. Other links, devices, pipes, names that lead out,
and second entries of one name are rejected.
"""

import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from agon.app.containers import RejectedEntry
from agon.app.containers.collection import is_excluded
from agon.app.containers.home_settings import is_handed_over, within_or_at
from agon.kernel.text.visible import visible_text
from agon.runners.containers.archives import (
    END,
    ArchiveEntry,
    InvalidArchive,
    Kind,
    content,
    entries,
    header,
)
from agon.runners.containers.archives import padding as filling

_MAX_LISTED = 20
_LATEST = (1 << 33) - 1
_MAX_GROUP = 0o7777777
"""The largest number that the field of a header holds."""
_PROGRAMS = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/sbin", "/usr")
"""Read-only folders of an image, unless a part of them is an output."""
_OF_VERIFIER = ("/.agon", "/dev", "/logs", "/proc", "/sys", "/tests", "/tmp", "/var/tmp")  # noqa: S108  # the container's
_SETTINGS = "programs read it by themselves; declare it as an output to hand it over"


class TooManyEntries(Exception):
    """There are more entries than allowed."""


@dataclass(frozen=True)
class FilteredArchive:
    """Number of entries that passed, and a list of those that did not.

    Settings of home folders that are older than the container are not counted.

    Attributes:
        files: the entries of the new archive.
        size: the bytes of their files.
        sha256: of the new archive.
        left_out: the first rejected entries.
        left_out_total: the number of rejected entries.
        watched: the entries of watched names, as the container wrote them.
    """

    files: int
    size: int
    sha256: str
    left_out: tuple[RejectedEntry, ...]
    left_out_total: int
    watched: Mapping[bytes, ArchiveEntry]


@dataclass(frozen=True, kw_only=True)
class OutputRules:
    """The rules of an agent's outputs.

    Attributes:
        outputs: the outputs as declared; settings of home folders need to be declared.
        home: the home folder of the image's user.
        since: when the container began, in seconds since 1970.
        links: the path of the file that lists the image's links; it is the first entry.
        reserved: paths that are taken from elsewhere, and so not from here.
        excluded: folders, each with the patterns of what below it is left out.
        keeps_owners: whether the groups of entries stay, which say whose they were.
    """

    outputs: tuple[str, ...]
    home: str
    since: float
    links: str
    reserved: tuple[str, ...] = ()
    excluded: tuple[tuple[str, tuple[str, ...]], ...] = ()
    keeps_owners: bool = False

    def removal_reason(self, path: str, kind: Kind) -> str:
        """Return why a path is left out whatever it is; empty if it is not."""
        if any(within_or_at(path, other) for other in self.reserved):
            return "a service hands over what has this name"
        if kind != "folder" and any(within_or_at(other, path) for other in self.reserved):
            return "it stands in place of a folder in which a service hands something over"
        for folder, patterns in self.excluded:
            if path.startswith(f"{folder}/") and is_excluded(path[len(folder) + 1 :], patterns):
                return "the task excludes it"
        return ""

    def hands_over(self, path: str) -> bool:
        """Return whether a path in the outputs is handed over."""
        return is_handed_over(path, self.outputs, self.home)


_NO_RULES = OutputRules(outputs=("/",), home="", since=0.0, links="")


def filter_archive(
    archive: BinaryIO,
    target: Path,
    *,
    roots: tuple[str, ...],
    mounted: tuple[str, ...] = (),
    files: int,
    watched: frozenset[bytes] = frozenset(),
    rules: OutputRules | None = None,
) -> FilteredArchive:
    """Copy an archive to a new file without the entries that must not pass.

    Args:
        archive: the archive from the container, from its current position on.
        target: the new archive; the user of all entries is root, none is setuid.
        roots: absolute paths; entries neither at nor under one of them are rejected.
        mounted: folders that exist, with their own permissions, wherever the new archive is
            unpacked; they are not entries of it.
        files: maximum number of entries.
        watched: names whose entries are returned whether they pass or not.
        rules: what else holds for an agent's outputs.

    Raises:
        InvalidArchive: it is not an archive, or is truncated.
        TooManyEntries: there are more than ``files`` entries.
    """
    judge = _Judge(tuple(_parts(root.encode()) for root in roots), rules or _NO_RULES, archive)
    there = {b"/".join(_parts(folder.encode())) for folder in mounted}
    seen = 0
    rejected = _Rejections()
    original: dict[bytes, ArchiveEntry] = {}
    with target.open("wb") as file:
        copy = _Copy(archive, file)
        for entry in entries(archive):
            seen += 1
            if seen > files:
                raise TooManyEntries
            if (name := b"/".join(_parts(entry.name))) in watched:
                original[name] = entry
            verdict = judge(entry)
            if isinstance(verdict, str):
                rejected.add(RejectedEntry(name=printable(entry.name), reason=verdict))
                continue
            # Nothing to write: an ancestor of a root, or a folder that is there with other
            # permissions.
            if verdict is None or (verdict.name in there and verdict.kind == "folder"):
                continue
            copy.add(verdict)
        copy.write(END)
    missing = [RejectedEntry(name=root, reason="it is not there") for root in judge.missing()]
    return FilteredArchive(
        files=copy.files,
        size=copy.size,
        sha256=copy.digest.hexdigest(),
        left_out=tuple(missing + rejected.listed),
        left_out_total=rejected.total + len(missing),
        watched=original,
    )


@dataclass
class _Rejections:
    """The first rejected entries, and the number of all."""

    listed: list[RejectedEntry] = field(default_factory=list)
    total: int = 0

    def add(self, entry: RejectedEntry) -> None:
        """Count an entry, and list it if it is one of the first."""
        self.total += 1
        if len(self.listed) < _MAX_LISTED:
            self.listed.append(entry)


class _Copy:
    """The new archive, with its hash and the number and bytes of its files."""

    def __init__(self, archive: BinaryIO, file: BinaryIO) -> None:
        self._archive = archive
        self._file = file
        self.digest = hashlib.sha256()
        self.files = self.size = 0

    def add(self, entry: ArchiveEntry) -> None:
        """Copy an entry with its content."""
        # Content is read by its offset; the archive is put back to the next entry afterwards.
        next_entry = self._archive.tell()
        self.write(header(entry))
        for piece in content(self._archive, entry):
            self.write(piece)
        self.write(filling(entry.size))
        self._archive.seek(next_entry)
        self.files += 1
        self.size += entry.size

    def write(self, piece: bytes) -> None:
        """Write bytes of the archive."""
        self.digest.update(piece)
        self._file.write(piece)


def printable(text: bytes | str, *, longest: int = 200) -> str:
    r"""Return untrusted text on one line, escaped.

    Example:
        >>> printable(b"two" + bytes([10]) + b"lines")
        'two\\nlines'
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    shown = visible_text(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _links_in(archive: BinaryIO, entry: ArchiveEntry) -> dict[bytes, bytes]:
    """Return the targets of the image's links from the file that lists them."""
    end = archive.tell()
    lines = b"".join(content(archive, entry)).split(b"\n")
    archive.seek(end)
    return dict(zip(lines[::2], lines[1::2], strict=False))


class _Judge:
    """Decide entry by entry; the names that passed are remembered."""

    def __init__(
        self, roots: tuple[tuple[bytes, ...], ...], rules: OutputRules, archive: BinaryIO
    ) -> None:
        self._roots = roots
        self._rules = rules
        self._archive = archive
        self._links: dict[bytes, bytes] | None = None
        self._seen_roots: set[tuple[bytes, ...]] = set()
        self._passed: dict[tuple[bytes, ...], Kind] = {}

    def missing(self) -> list[str]:
        """Return the outputs without any entry."""
        return ["/" + b"/".join(root).decode() for root in self._roots
                if root not in self._seen_roots]  # fmt: skip

    def __call__(self, entry: ArchiveEntry) -> ArchiveEntry | str | None:
        """Return the entry to write, or the reason why it is rejected.

        None: it is rejected and not counted, because it is the image's own.
        """
        parts = _parts(entry.name)
        if self._links is None:
            self._links = {}
            if b"/" + b"/".join(parts) == self._rules.links.encode():
                self._links = _links_in(self._archive, entry)
                return None
        root = next((root for root in self._roots if parts[: len(root)] == root), None)
        if root is None or b".." in parts:
            return "its name leads out of the outputs"
        self._seen_roots.add(root)
        path = "/" + b"/".join(parts).decode("utf-8", "surrogateescape")
        if reason := (
            self._rules.removal_reason(path, entry.kind)
            or self._placement_issue(parts, root)
            or self._entry_issue(entry, parts, root)
        ):
            is_old = reason == _SETTINGS and entry.mtime < int(self._rules.since)
            return None if is_old else reason
        self._passed[parts] = entry.kind
        return replace(
            entry,
            name=b"/".join(parts),
            group=entry.group if self._rules.keeps_owners and entry.group <= _MAX_GROUP else 0,
            mode=entry.mode & 0o777 | (0o700 if entry.kind == "folder" else 0o400),
            mtime=min(entry.mtime, _LATEST),
            target=b"/".join(_parts(entry.target)) if entry.kind == "same" else entry.target,
        )

    def _placement_issue(self, parts: tuple[bytes, ...], root: tuple[bytes, ...]) -> str:
        path = "/" + b"/".join(parts).decode("utf-8", "surrogateescape")
        if not self._rules.hands_over(path):
            return _SETTINGS
        if parts in self._passed:
            return "it is there twice"
        if len(parts) > len(root) and self._passed.get(parts[:-1]) != "folder":
            return "its folder was not handed over"
        return ""

    def _entry_issue(
        self, entry: ArchiveEntry, parts: tuple[bytes, ...], root: tuple[bytes, ...]
    ) -> str:
        if entry.kind == "link":
            if (self._links or {}).get(b"/".join(parts)) == entry.target:
                return _reaches_tests(parts, entry.target)
            if entry.target.startswith(b"/"):
                return self._leads_elsewhere(entry.target)
            return _leads_out(entry.target, depth=len(parts) - len(root) - 1)
        if entry.kind == "same" and self._passed.get(_parts(entry.target)) != "file":
            return "it is another name of something that was not handed over"
        if entry.kind in {"device", "pipe"}:
            return f"it is a {entry.kind}"
        return ""

    def _leads_elsewhere(self, target: bytes) -> str:
        """Return why an absolute link of the agent is rejected; empty if it is not."""
        steps = _parts(target)
        path = "/" + b"/".join(steps).decode("utf-8", "surrogateescape")
        safe = any(within_or_at(path, folder) for folder in (*_PROGRAMS, *self._rules.outputs))
        if steps and safe and b".." not in steps and self._rules.hands_over(path):
            return ""
        return "it is an absolute link to neither outputs nor programs of the image"


def _reaches_tests(parts: tuple[bytes, ...], target: bytes) -> str:
    """Return why a link of the image is rejected: it leads to the tests, or to all of ``/``."""
    path = posixpath.normpath(
        b"/".join((b"", *parts[:-1], target)) if target[:1] != b"/" else target
    )
    place = path.decode("utf-8", "surrogateescape")
    if place.strip("/") and not any(
        within_or_at(place, folder) or within_or_at(folder, place) for folder in _OF_VERIFIER
    ):
        return ""
    return "it is a link to what belongs to the tests or the system"


def _leads_out(target: bytes, *, depth: int) -> str:
    """Return why a link ``depth`` folders below its output is rejected; empty if it is not."""
    steps = [step for step in target.split(b"/") if step not in {b"", b"."}]
    ups = next((index for index, step in enumerate(steps) if step != b".."), len(steps))
    if ups > depth or b".." in steps[ups:]:
        return "it is a link that leads out, or may"
    return ""


def _parts(name: bytes) -> tuple[bytes, ...]:
    return tuple(part for part in name.split(b"/") if part not in {b"", b"."})


__all__ = ["FilteredArchive", "InvalidArchive", "TooManyEntries", "filter_archive", "printable"]
