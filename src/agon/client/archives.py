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
from agon.ledger.files import (
    ATTACHMENTS,
    CONTEST,
    FILES,
    create_private,
    make_private_folder,
    require_folder,
)

ZIP: Final = "application/zip"


def export_ledger(connection: Connection, contest: str, folder: Path) -> None:
    """Write a contest's complete ledger as a new directory; after an error there is none.

    Raises:
        Conflict: the folder exists.
        NotFound: its parent folder does not exist.
        Unavailable: the server sent something that is not a ledger.
    """
    if folder.exists() or folder.is_symlink():
        raise Conflict(f"{folder} exists; name a new folder")
    if not folder.absolute().parent.is_dir():
        raise NotFound(f"{folder.parent}: no such folder; create it first")
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        archive, directory = Path(temporary, "ledger.zip"), Path(temporary, "ledger")
        with (
            connection.stream("contests", contest, "export") as response,
            create_private(archive) as file,
        ):
            for chunk in response.iter_bytes():
                file.write(chunk)
        make_private_folder(directory)
        _unpack(archive, directory)
        directory.rename(folder)


def import_ledger(connection: Connection, folder: Path, *, contest: str | None) -> Contest:
    """Import a ledger's directory, all of it or none.

    Raises:
        Unreadable: with all errors of the ledger.
        Conflict: it is another contest than ``contest``, or it exists with other entries.
    """
    with _pack(folder) as content:
        if contest is not None:
            _require_id(folder, contest)
        response = connection.send("POST", "contests", "import", content=content, kind=ZIP)
    return Contest.model_validate(response)


def _unpack(packed: Path, to: Path) -> None:
    """Write the files of a ledger's directory.

    Raises:
        Unavailable: it is not a ZIP file, or contains other files.
    """
    try:
        with zipfile.ZipFile(packed) as files:
            names = {
                Path(info.filename).name: info for info in files.infolist() if not info.is_dir()
            }
            complete = set(FILES) <= set(names) <= {*FILES, ATTACHMENTS}
            if not complete or len(names) != len(files.namelist()):
                raise Unavailable("the server sent no ledger; does it run this version of agon?")
            for name, info in names.items():
                with files.open(info) as stream, create_private(to / name) as file:
                    shutil.copyfileobj(stream, file)
    except zipfile.BadZipFile as error:
        raise Unavailable(f"the server sent no ZIP file ({error}); try again") from None


def _require_id(folder: Path, name: str) -> None:
    """Require that a ledger is of the contest; the server checks the rest.

    Raises:
        Conflict: it is the ledger of another contest.
    """
    try:
        page = orjson.loads((folder / CONTEST).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return
    contest = page.get("id") if isinstance(page, dict) else None
    if contest != name:
        raise Conflict(
            f"{folder} is the ledger of {contest}, not of {name}; import it under its own id"
        )


@contextmanager
def _pack(folder: Path) -> Iterator[bytes]:
    """Yield a directory as a ZIP file; the server rejects files that do not belong to a ledger.

    Raises:
        InvalidEntry, Unreadable: it is not a folder, or not one of files.
    """
    require_folder(folder)
    with tempfile.SpooledTemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
            for path in sorted(folder.iterdir()):
                if path.is_symlink() or not path.is_file():
                    raise Unreadable(f"{path} is not a plain file; export the ledger again")
                files.write(path, path.name)
        packed.seek(0)
        yield packed.read()
