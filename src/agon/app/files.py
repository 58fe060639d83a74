"""Read untrusted files: of bounded size, regular, never through a link; write private files."""

import codecs
import errno
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from agon.kernel.text.plain_json import InvalidJson, read_json
from agon.kernel.times import parse_time

MAX_SOURCE_FILE: int = 16 << 20
"""Maximum size in bytes of a source file; no rule allows a longer program."""
MAX_JSON_FILE = 1 << 16
"""Maximum size in bytes of a JSON file of a package."""


@dataclass(frozen=True)
class FileIssue:
    """One thing that is wrong with a file of a package.

    Attributes:
        where: the file or folder, as the user named it.
        what: the fact.
        remedy: what would be right.
    """

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.where}: {self.what}; {self.remedy}"


class InvalidPackage(Unreadable):
    """A package has issues; all of them are listed at once."""

    def __init__(self, *issues: FileIssue) -> None:
        super().__init__("\n".join(map(str, issues)))
        self.issues = issues


@contextmanager
def collect_issues(issues: list[FileIssue]) -> Iterator[None]:
    """Add the issues that end the block to a list, so that all are reported at once."""
    try:
        yield
    except InvalidPackage as error:
        issues += error.issues


def read_bytes(path: Path, *, most: int, where: str) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes.

    Links are not followed and pipes are not read: a package must contain its files.

    Raises:
        InvalidPackage: it is missing, not a regular file, too large, or not readable.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidPackage(_unreadable(where, error)) from None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InvalidPackage(_not_a_file(where, about.st_mode))
        with open(handle, "rb", closefd=False) as file:
            content = b"" if about.st_size > most else file.read(most + 1)
    except OSError as error:
        raise InvalidPackage(_unreadable(where, error)) from None
    finally:
        os.close(handle)
    if max(about.st_size, len(content)) > most:
        raise InvalidPackage(FileIssue(where, f"has more than {most:,} bytes", "shorten it"))
    return content


def _unreadable(where: str, error: OSError) -> FileIssue:
    if error.errno == errno.ENOENT:
        return FileIssue(where, "is missing", "add it")
    if error.errno == errno.ELOOP:
        what = "is a symbolic link, which is not followed"
        return FileIssue(where, what, "replace it by the file")
    if error.errno == errno.ENXIO:
        return _not_a_file(where, stat.S_IFSOCK)
    return FileIssue(where, f"cannot be read ({error.strerror})", "make it readable")


def _not_a_file(where: str, mode: int) -> FileIssue:
    what = "is a folder, not a file" if stat.S_ISDIR(mode) else "is not a regular file"
    return FileIssue(where, what, "replace it by a file")


def entries_of(folder: Path) -> list["os.DirEntry[str]"]:
    """Return the entries of a folder, sorted by name.

    Raises:
        InvalidPackage: it cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise InvalidPackage(_unreadable(str(folder), error)) from None


def read_object(
    path: Path,
    *,
    where: str,
    most: int = MAX_JSON_FILE,
    decode: Callable[[bytes], Any] = read_json,
) -> dict[str, Any]:
    """Return the JSON object in a file.

    Args:
        path: the file.
        where: its name in messages.
        most: its maximum size in bytes.
        decode: returns the value of JSON text; by default within the limits that hold for all JSON
            of agon.

    Raises:
        InvalidPackage: see :func:`read_bytes`; or it contains something else.
    """
    content = read_bytes(path, most=most, where=where).removeprefix(codecs.BOM_UTF8)
    try:
        content.decode()
        value = decode(content)
    except UnicodeDecodeError as error:
        fact = f"is not UTF-8 at byte {error.start}"
        raise InvalidPackage(FileIssue(where, fact, "save it as UTF-8")) from None
    except InvalidJson as error:
        raise InvalidPackage(FileIssue(where, error.fact, error.remedy)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidPackage(FileIssue(where, f"is not JSON ({error})", "correct it")) from None
    if not isinstance(value, dict):
        fact = f"holds {_KINDS.get(type(value), 'something else')}, not an object"
        raise InvalidPackage(FileIssue(where, fact, 'write {"key": value, …}'))
    return value


_KINDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "a truth value"}


def text_of(value: object) -> str | None:
    r"""Return a value if it is text that can be stored, else None.

    JSON can have half a surrogate pair (``"\ud800"``), which UTF-8 cannot encode.
    """
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def time_of(value: object, *, where: str, key: str) -> datetime:
    """Return a time of a package in UTC.

    Raises:
        InvalidPackage: it is not ISO 8601 text.
    """
    remedy = 'give ISO 8601 such as "2026-11-21T10:00:00Z"'
    if not isinstance(value, str):
        raise InvalidPackage(FileIssue(where, f"{key} is not text", remedy))
    try:
        time = parse_time(value)
    except Unreadable:
        raise InvalidPackage(
            FileIssue(where, f"{key} is {value[:40]!r}, which is not a time", remedy)
        ) from None
    assert time is not None, "text gives a time"  # noqa: S101 - for mypy
    return time


def json_line(value: object) -> bytes:
    r"""Return a value as one line of JSON.

    Example:
        >>> json_line({"a": "π"})
        b'{"a": "\\u03c0"}\n'
    """
    return json.dumps(value, allow_nan=False).encode() + b"\n"


def json_page(value: Mapping[str, Any]) -> bytes:
    """Return an object as JSON with one line for each key and for each element of a list.

    Example:
        >>> print(json_page({"title": "π", "terms": ["3", "1"]}).decode(), end="")
        {
         "title": "π",
         "terms": [
          "3",
          "1"
         ]
        }
    """
    entries = []
    for key, item in value.items():
        text = _to_json(item)
        if isinstance(item, list) and item:
            text = "[\n  " + ",\n  ".join(map(_to_json, item)) + "\n ]"
        entries.append(f" {_to_json(key)}: {text}")
    return ("{\n" + ",\n".join(entries) + "\n}\n").encode()


def _to_json(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def write_secret(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, completely or not at all.

    Raises:
        NotFound: its folder is missing.
        Conflict: ``path`` is a folder.
        Unavailable: it cannot be written.
    """
    if path.is_dir():
        raise Conflict(f"{path} is a folder; name a file")
    if not path.absolute().parent.is_dir():
        raise NotFound(f"{path.parent}: no such folder; create it first")
    hidden = path.with_name(f".{path.name[:100]}-{secrets.token_hex(4)}")
    try:
        handle = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        hidden.replace(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written ({error.strerror or error})") from None
    finally:
        hidden.unlink(missing_ok=True)
