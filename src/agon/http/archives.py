"""Pack a ledger's directory into one ZIP file, and unpack an untrusted one."""

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path, PurePosixPath
from typing import IO, Final

from agon.errors import Unreadable
from agon.ledger.files import ATTACHMENTS
from agon.ledger.files import FILES as LEDGER_FILES

FILES: Final = tuple(sorted((*LEDGER_FILES, ATTACHMENTS)))
"""The files that a ledger's directory may have."""

MAX_UNPACKED: Final = 8 << 30
"""Maximum number of bytes of the unpacked files."""

_PIECE: Final = 1 << 20
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_RATIO: Final = 200
_SLACK: Final = 64 << 20
_ENCRYPTED: Final = 1
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_MEMBER: Final = b"PK\x01\x02"
_MAX_MEMBERS: Final = 100


def pack(folder: Path, *, name: str) -> IO[bytes]:
    """Return a directory as a ZIP file, equal for equal directories; the caller closes it."""
    archive_file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    with zipfile.ZipFile(archive_file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.iterdir()):
            about = zipfile.ZipInfo(f"{name}/{path.name}", _EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            with path.open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _PIECE)
    archive_file.seek(0)
    return archive_file


def stream(archive_file: IO[bytes]) -> Generator[bytes, None, None]:
    """Yield a file in chunks and close it at the end."""
    with archive_file:
        while piece := archive_file.read(_PIECE):
            yield piece


def unpack(body: IO[bytes], folder: Path, *, most: int = MAX_UNPACKED) -> None:
    """Unpack a ledger's directory: only its known files, and only into the folder.

    Args:
        body: the ZIP file.
        folder: the target folder.
        most: maximum number of unpacked bytes.

    Raises:
        Unreadable: it is not a ZIP file of a ledger, contains other files, or is too large.
    """
    _require_few_members(body)
    size = body.seek(0, 2)
    body.seek(0)
    bound = min(most, size * _RATIO + _SLACK)
    try:
        with zipfile.ZipFile(body) as archive:
            for about in _members(archive):
                bound -= _extract(archive, about, folder, most=bound)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError, ValueError):
        raise Unreadable("this is not a ZIP file of a ledger; send the file of an export") from None
    except zlib.error:
        raise Unreadable("the ZIP file is damaged; send it again") from None


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    listed = [member for member in archive.infolist() if not member.is_dir()]
    names = [PurePosixPath(member.filename).name for member in listed]
    folders = {str(PurePosixPath(member.filename).parent) for member in listed}
    if sorted(names) != sorted(set(names)) or not set(names) <= set(FILES) or len(folders) > 1:
        raise Unreadable(
            f"the archive contains other files than {', '.join(FILES)} of one ledger; "
            "send the file of an export"
        )
    inside = next(iter(folders), ".")
    is_outside = inside.startswith(("/", "\\")) or ".." in inside or "/" in inside or "\\" in inside
    unsupported = any(
        member.flag_bits & _ENCRYPTED or member.compress_type not in _METHODS for member in listed
    )
    if is_outside or unsupported:
        raise Unreadable(
            "the archive's names leave its folder, or it is encrypted, or its compression is not "
            "deflate; pack it without these"
        )
    return listed


def _require_few_members(body: IO[bytes]) -> None:
    """Reject an archive of very many files before all their names are in memory.

    The bytes that begin an entry do not occur in JSON, and hardly ever in compressed text.
    """
    count, before = 0, b""
    body.seek(0)
    while piece := body.read(_PIECE):
        window = before + piece
        count += window.count(_MEMBER)
        before = window[1 - len(_MEMBER) :]
        if count > _MAX_MEMBERS:
            raise Unreadable("the archive has too many files; send the file of an export")


def _extract(archive: zipfile.ZipFile, about: zipfile.ZipInfo, folder: Path, *, most: int) -> int:
    """Write one file and return its size, counted while unpacking, not read from the archive."""
    path = folder / PurePosixPath(about.filename).name
    count = 0
    with archive.open(about) as source, path.open("xb") as target:
        while piece := source.read(_PIECE):
            count += len(piece)
            if count > most:
                raise Unreadable(
                    "the archive is larger than a ledger can be; send the file of an export"
                )
            target.write(piece)
    return count
