"""Ledgers over HTTP: whole directories travel as zip files."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson

from agon.client.values import ContestTold, HeadTold
from agon.client.wire import Wire
from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from agon.ledger.files import CONTEST, FILES

ZIP: Final = "application/zip"


class RemoteLedgers:
    """Carry ledgers out and in; see :class:`agon.client.ports.Ledgers`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def head(self, contest: str) -> HeadTold:
        """Return the signed head of the newest position that may be seen."""
        return HeadTold.model_validate(self._wire.get("contests", contest, "ledger", "head"))

    def export(self, contest: str, folder: Path) -> None:
        """Write a contest's whole ledger as a new directory; it is there whole or not at all.

        Raises:
            Conflict: the folder is there already.
            NotFound: its parent is missing.
            Unavailable: the server sent something else.
        """
        if folder.exists() or folder.is_symlink():
            raise Conflict(f"{folder} is there already; name a new folder")
        if not folder.absolute().parent.is_dir():
            raise NotFound(f"{folder.parent}: no such folder; make it first")
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
            packed, made = Path(beside, "ledger.zip"), Path(beside, "ledger")
            with (
                self._wire.stream("contests", contest, "export") as answer,
                packed.open("xb") as to,
            ):
                for piece in answer.iter_bytes():
                    to.write(piece)
            made.mkdir()
            _unpack(packed, made)
            made.rename(folder)

    def take_in(self, folder: Path, *, id: str | None = None) -> ContestTold:  # noqa: A002 (a contest's id is called id everywhere)
        """Take in a ledger's directory, all of it or nothing.

        Raises:
            Unreadable: with everything that is wrong with it.
            Conflict: it is another contest than ``id``, or one that is there and differs.
        """
        with _packed(folder) as content:
            if id is not None:
                _expect_named(folder, id)
            told = self._wire.send("POST", "contests", "import", content=content, kind=ZIP)
        return ContestTold.model_validate(told)


def _unpack(packed: Path, to: Path) -> None:
    """Write the three files of a ledger's directory, and nothing else a zip file may hold.

    Raises:
        Unavailable: it is no zip file, or holds something else.
    """
    try:
        with zipfile.ZipFile(packed) as files:
            names = {Path(one.filename).name: one for one in files.infolist() if not one.is_dir()}
            if set(names) != set(FILES) or len(names) != len(files.namelist()):
                raise Unavailable("the server sent no ledger; is it of this version of agon?")
            for name, one in names.items():
                with files.open(one) as stream, (to / name).open("xb") as file:
                    shutil.copyfileobj(stream, file)
    except zipfile.BadZipFile as bad:
        raise Unavailable(f"the server sent no zip file ({bad}); ask again") from None


def _expect_named(folder: Path, name: str) -> None:
    """Refuse another contest's ledger; what else is wrong with it the server says.

    Raises:
        Conflict: it is the ledger of another contest.
    """
    try:
        page = orjson.loads((folder / CONTEST).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return
    found = page.get("id") if isinstance(page, dict) else None
    if found != name:
        raise Conflict(f"{folder} is the ledger of {found}, not of {name}; a ledger keeps its name")


@contextmanager
def _packed(folder: Path) -> Iterator[bytes]:
    """Give a directory as a zip file; what does not belong there is left to the server to refuse.

    Raises:
        Unreadable: it is no folder of files.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise Unreadable(f"{folder} is no folder; name one that agon contest export has written")
    with tempfile.SpooledTemporaryFile() as to:
        with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as files:
            for one in sorted(folder.iterdir()):
                if one.is_symlink() or not one.is_file():
                    raise Unreadable(f"{one} is no plain file; export the ledger anew")
                files.write(one, one.name)
        to.seek(0)
        yield to.read()
