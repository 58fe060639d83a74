"""Pack a ledger's directory into one ZIP file, and unpack an untrusted one."""

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final

from agon.errors import Unreadable

FILES: Final = ("contest.json", "heads.ndjson", "ledger.ndjson")
"""All that a ledger's directory holds."""

LARGEST: Final = 8 << 30
"""So many bytes an archive may unpack to."""

_PIECE: Final = 1 << 20
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_RATIO: Final = 200
_SLACK: Final = 64 << 20
_ENCRYPTED: Final = 1
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_MEMBER: Final = b"PK\x01\x02"
_MOST_MEMBERS: Final = 100


def packed(folder: Path, *, name: str) -> IO[bytes]:
    """Pack a directory; the same directory gives the same bytes. Closing the file is yours."""
    kept: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (given on)
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.iterdir()):
            about = zipfile.ZipInfo(f"{name}/{path.name}", _EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            with path.open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _PIECE)
    kept.seek(0)
    return kept


def streamed(kept: IO[bytes]) -> Iterator[bytes]:
    """Yield a packed file in pieces and close it at the end."""
    with kept:
        while piece := kept.read(_PIECE):
            yield piece


def unpack(body: IO[bytes], folder: Path, *, most: int = LARGEST) -> None:
    """Unpack a ledger's directory: its known files and no others, wherever their names point.

    Args:
        body: the ZIP file.
        folder: where to; only plain files of known names are written, in it.
        most: so many bytes in all.

    Raises:
        Unreadable: it is no such archive, names anything else, or unpacks to too much.
    """
    _expect_few(body)
    size = body.seek(0, 2)
    body.seek(0)
    bound = min(most, size * _RATIO + _SLACK)
    try:
        with zipfile.ZipFile(body) as archive:
            for about in _members(archive):
                bound -= _written(archive, about, folder, most=bound)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError, ValueError):
        raise Unreadable("this is no ZIP file of a ledger; send one that an export gave") from None
    except zlib.error:
        raise Unreadable("the ZIP file is damaged; send it again") from None


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    listed = [one for one in archive.infolist() if not one.is_dir()]
    names = [PurePosixPath(one.filename).name for one in listed]
    folders = {str(PurePosixPath(one.filename).parent) for one in listed}
    if sorted(names) != sorted(set(names)) or not set(names) <= set(FILES) or len(folders) > 1:
        raise Unreadable(
            f"the archive holds other files than {', '.join(FILES)} of one ledger; "
            "send one that an export gave"
        )
    inside = next(iter(folders), ".")
    strange = inside.startswith(("/", "\\")) or ".." in inside or "/" in inside or "\\" in inside
    odd = any(one.flag_bits & _ENCRYPTED or one.compress_type not in _METHODS for one in listed)
    if strange or odd:
        raise Unreadable(
            "the archive's names lead elsewhere, or it is encrypted or packed in a rare way; "
            "pack it plainly"
        )
    return listed


def _expect_few(body: IO[bytes]) -> None:
    """Refuse an archive of very many files before all their names are in memory.

    JSON never holds the bytes that begin a name, and packed text as good as never.
    """
    found, before = 0, b""
    body.seek(0)
    while piece := body.read(_PIECE):
        seen = before + piece
        found += seen.count(_MEMBER)
        before = seen[1 - len(_MEMBER) :]
        if found > _MOST_MEMBERS:
            raise Unreadable("the archive names too many files; send one that an export gave")


def _written(archive: zipfile.ZipFile, about: zipfile.ZipInfo, folder: Path, *, most: int) -> int:
    """Write one file, counting what really comes, whatever the archive says of its size."""
    path = folder / PurePosixPath(about.filename).name
    count = 0
    with archive.open(about) as source, path.open("xb") as target:
        while piece := source.read(_PIECE):
            count += len(piece)
            if count > most:
                raise Unreadable("the archive unpacks to more than a ledger could; nothing is kept")
            target.write(piece)
    return count
