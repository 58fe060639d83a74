"""Read and write tar files strictly: what GNU tar and busybox write, names as bytes, no more.

A tar file from a container was written by untrusted code. The reader accepts few kinds of entries,
checks every number, and never touches a path.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal, TypeAlias

BLOCK = 512
END = bytes(2 * BLOCK)
"""The end of an archive; one without it is truncated."""
_MAX_NAME_BYTES = 8192
_SHORT_NAME = 100

Kind: TypeAlias = Literal["file", "folder", "link", "same", "device", "pipe"]
"""``link`` is symbolic; ``same`` is another name (hard link) of an earlier file."""

_KINDS: dict[bytes, Kind] = {
    b"0": "file", b"\0": "file", b"1": "same", b"2": "link", b"3": "device", b"4": "device",
    b"5": "folder", b"6": "pipe",
}  # fmt: skip
_FLAGS: dict[Kind, bytes] = {"file": b"0", "folder": b"5", "link": b"2", "same": b"1"}
_LONG_NAME, _LONG_TARGET = b"L", b"K"


class InvalidArchive(Exception):
    """The bytes are not an archive as tar writes it, or it is truncated."""


@dataclass(frozen=True, kw_only=True)
class ArchiveEntry:
    """An entry; a file's bytes are in the archive from ``offset`` on."""

    name: bytes
    kind: Kind
    mode: int = 0o644
    size: int = 0
    mtime: int = 0
    target: bytes = b""
    offset: int = 0


def entries(archive: BinaryIO) -> Iterator[ArchiveEntry]:
    """Yield the entries of an archive from its current position to its end.

    Raises:
        InvalidArchive: at the first byte that tar would not have written, or at a missing end.
    """
    # Long names hold for one entry.
    name = target = b""
    while True:
        block = _exactly(archive, BLOCK)
        # A block of zeros ends an archive; what follows is padding.
        if not any(block):
            return
        # Offsets are those of the ustar header: name, mode, size, time, sum, kind, target.
        flag, size = block[156:157], _number(block[124:136])
        _check_sum(block)
        offset = archive.tell()
        # GNU tar writes a long name as an entry of its own before the one that it names.
        if flag in {_LONG_NAME, _LONG_TARGET}:
            if size > _MAX_NAME_BYTES:
                raise InvalidArchive(f"a name of {size:,} bytes")
            text = _exactly(archive, size).split(b"\0", 1)[0]
            name, target = (text, target) if flag == _LONG_NAME else (name, text)
        elif (kind := _KINDS.get(flag)) is None:
            raise InvalidArchive(f"an entry of the unknown kind {flag!r}")
        else:
            name = name or _name(block)
            # Old archives mark folders by the slash alone.
            if kind == "file" and name.endswith(b"/"):
                kind = "folder"
            yield ArchiveEntry(
                name=name,
                kind=kind,
                mode=_number(block[100:108]) & 0o7777,
                size=size if kind == "file" else 0,
                mtime=_number(block[136:148]),
                target=target or _text(block[157:257]),
                offset=offset,
            )
            name = target = b""
            if kind != "file":
                size = 0
        # Contents are padded to whole blocks; −(−a // b) rounds up.
        _skip_to(archive, offset + -(-size // BLOCK) * BLOCK)


def content(archive: BinaryIO, entry: ArchiveEntry, *, piece: int = 1 << 20) -> Iterator[bytes]:
    """Yield a file's bytes in chunks.

    Raises:
        InvalidArchive: the archive ends before they do.
    """
    archive.seek(entry.offset)
    left = entry.size
    while left:
        read = _exactly(archive, min(piece, left))
        left -= len(read)
        yield read


def header(entry: ArchiveEntry) -> bytes:
    """Return the header of an entry, owned by root, in GNU tar's format.

    Example:
        >>> len(header(ArchiveEntry(name=b"app/answer", kind="file", size=3)))
        512
    """
    return b"".join(
        (
            _long(_LONG_NAME, entry.name),
            _long(_LONG_TARGET, entry.target),
            _block(entry, _FLAGS[entry.kind]),
        )
    )


def padding(size: int) -> bytes:
    """Return the padding of a file's last block.

    Example:
        >>> len(padding(500)), len(padding(512))
        (12, 0)
    """
    return bytes(-size % BLOCK)


def _long(flag: bytes, text: bytes) -> bytes:
    """Return the entry in which GNU tar writes a name that does not fit into a header."""
    if len(text) <= _SHORT_NAME:
        return b""
    text += b"\0"
    long = ArchiveEntry(name=b"././@LongLink", kind="file", size=len(text))
    return _block(long, flag) + text + padding(len(text))


def _block(entry: ArchiveEntry, flag: bytes) -> bytes:
    fields = (
        entry.name[:_SHORT_NAME].ljust(100, b"\0"),
        *(b"%07o\0" % value for value in (entry.mode, 0, 0)),
        _digits(entry.size),
        _digits(entry.mtime),
        b" " * 8,
        flag,
        entry.target[:_SHORT_NAME].ljust(100, b"\0"),
        b"ustar  \0",
    )
    block = b"".join(fields).ljust(BLOCK, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _digits(value: int) -> bytes:
    """Return a number as twelve bytes: in octal, or beyond 8 GiB in base 256."""
    return b"%011o\0" % value if value < 1 << 33 else b"\x80" + value.to_bytes(11, "big")


def _number(field: bytes) -> int:
    if field[0] == 0x80 and not any(field[1:-8]):  # noqa: PLR2004  # base 256, positive
        return int.from_bytes(field[-7:], "big")
    digits = field.strip(b" \0")
    if digits.strip(b"01234567"):
        raise InvalidArchive(f"the number {field!r}")
    return int(digits or b"0", 8)


def _check_sum(block: bytes) -> None:
    if _number(block[148:156]) != sum(block[:148]) + 8 * 32 + sum(block[156:]):
        raise InvalidArchive("a header whose sum is wrong")


def _name(block: bytes) -> bytes:
    name = _text(block[:100])
    if block[257:263] == b"ustar\0" and (prefix := _text(block[345:500])):
        return prefix + b"/" + name
    return name


def _text(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]


def _exactly(archive: BinaryIO, size: int) -> bytes:
    read = archive.read(size)
    if len(read) < size:
        raise InvalidArchive("it is truncated")
    return read


def _skip_to(archive: BinaryIO, position: int) -> None:
    """Seek to the end of a file, whose last byte must exist."""
    if position > archive.tell():
        archive.seek(position - 1)
        _exactly(archive, 1)
    else:
        archive.seek(position)
