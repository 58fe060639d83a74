"""Export and import ledgers over HTTP: directories are sent as ZIP files."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson

from agon.api.models.contests import Contest
from agon.client.connection import Connection
from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from agon.ledger.files import CONTEST, FILES

ZIP: Final = "application/zip"


def export_ledger(connection: Connection, contest: str, folder: Path) -> None:
    """Write a contest's complete ledger as a new directory, all of it or nothing.

    Raises:
        Conflict: the folder exists.
        NotFound: its parent does not exist.
        Unavailable: the server sent something else.
    """
    if folder.exists() or folder.is_symlink():
        raise Conflict(f"{folder} exists; name a new folder")
    if not folder.absolute().parent.is_dir():
        raise NotFound(f"{folder.parent}: no such folder; make it first")
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        archive, made = Path(temporary, "ledger.zip"), Path(temporary, "ledger")
        with (
            connection.stream("contests", contest, "export") as answer,
            archive.open("xb") as file,
        ):
            for chunk in answer.iter_bytes():
                file.write(chunk)
        made.mkdir()
        _unpack(archive, made)
        made.rename(folder)


def import_ledger(connection: Connection, folder: Path, *, contest: str | None) -> Contest:
    """Import a ledger's directory, all of it or nothing.

    Raises:
        Unreadable: with all errors of the ledger.
        Conflict: it is another contest than ``contest``, or one that exists and differs.
    """
    with _packed(folder) as content:
        if contest is not None:
            _require_id(folder, contest)
        answer = connection.send("POST", "contests", "import", content=content, kind=ZIP)
    return Contest.model_validate(answer)


def _unpack(packed: Path, to: Path) -> None:
    """Write the three files of a ledger's directory.

    Raises:
        Unavailable: it is not a ZIP file, or holds other files.
    """
    try:
        with zipfile.ZipFile(packed) as files:
            names = {
                Path(info.filename).name: info for info in files.infolist() if not info.is_dir()
            }
            if set(names) != set(FILES) or len(names) != len(files.namelist()):
                raise Unavailable("the server sent no ledger; is it of this version of agon?")
            for name, info in names.items():
                with files.open(info) as stream, (to / name).open("xb") as file:
                    shutil.copyfileobj(stream, file)
    except zipfile.BadZipFile as bad:
        raise Unavailable(f"the server sent no zip file ({bad}); ask again") from None


def _require_id(folder: Path, name: str) -> None:
    """Require that a ledger is that of a contest; the server checks the rest.

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
    """Yield a directory as a ZIP file; the server rejects files that do not belong there.

    Raises:
        Unreadable: it is not a folder of files.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise Unreadable(f"{folder} is no folder; name one that agon contest export has written")
    with tempfile.SpooledTemporaryFile() as to:
        with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as files:
            for path in sorted(folder.iterdir()):
                if path.is_symlink() or not path.is_file():
                    raise Unreadable(f"{path} is not a plain file; export the ledger again")
                files.write(path, path.name)
        to.seek(0)
        yield to.read()
