"""What an agent's container begins with: a state, and in its place the files of a step."""

import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from agon.app.containers import Outputs
from agon.runners.containers.archives import END, ArchiveEntry, header
from agon.runners.containers.state_archives import select_outputs, write_owners, write_start


def state_of(place: Path, *members: tuple[str, bytes, str]) -> Path:
    """Write the archive of a state: names, kinds, and contents or targets."""
    path = place / "state.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, kind, text in members:
            member = tarfile.TarInfo(name)
            member.type, member.mode = kind, 0o755
            if kind == tarfile.REGTYPE:
                member.size = len(text)
            else:
                member.linkname = text
            archive.addfile(member, BytesIO(text.encode()))
    return path


def folder_of(place: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        path = place / "workdir" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place / "workdir"


def unpacked(place: Path, state: Path | None, folder: Path, inside: str) -> Path:
    """Return the folder in which a strict tar unpacked the archive."""
    write_start(place / "start.tar", state, [(folder, inside)])
    with tarfile.open(place / "start.tar") as archive:
        names = archive.getnames()
        assert len(names) == len(set(names))  # no entry depends on how a tar overwrites
        archive.extractall(place / "root")  # noqa: S202 - we wrote it
    return place / "root"


def test_files_of_a_step_stand_beside_the_state(tmp_path: Path) -> None:
    """A folder of both has the content of both, with its permissions of the state."""
    state = state_of(
        tmp_path, ("app", tarfile.DIRTYPE, ""), ("app/data", tarfile.DIRTYPE, ""),
        ("app/data/old", tarfile.REGTYPE, "old"),
    )  # fmt: skip
    folder = folder_of(tmp_path, {"data/new": "new", "setup.sh": "exit 0"})
    root = unpacked(tmp_path, state, folder, "/app")
    assert [(root / "app" / name).read_text() for name in ("data/old", "data/new", "setup.sh")] == [
        "old", "new", "exit 0",
    ]  # fmt: skip


def test_without_a_state_the_files_of_a_step_are_all(tmp_path: Path) -> None:
    """The first step begins with the image."""
    root = unpacked(tmp_path, None, folder_of(tmp_path, {"a": "1"}), "/srv/work/")
    assert (root / "srv/work/a").read_text() == "1"


@pytest.mark.parametrize(
    "left",
    [
        [("app/data", tarfile.SYMTYPE, "elsewhere"), ("app/elsewhere", tarfile.DIRTYPE, "")],
        [("app/data", tarfile.REGTYPE, "a file")],
        [("app/data", tarfile.DIRTYPE, ""), ("app/data/new", tarfile.DIRTYPE, ""),
         ("app/data/new/deep", tarfile.REGTYPE, "x")],
        [("app/data", tarfile.DIRTYPE, ""), ("app/data/new", tarfile.SYMTYPE, "../kept")],
        [("app/data", tarfile.DIRTYPE, ""), ("app/data/new", tarfile.REGTYPE, "forged")],
    ],
    ids=["link for a folder", "file for a folder", "folder for a file", "link for a file", "file"],
)  # fmt: skip
def test_what_an_agent_left_in_place_of_a_file_of_the_step_gives_way(
    tmp_path: Path, left: list[tuple[str, bytes, str]]
) -> None:
    """Else it decides what the next step begins with, or keeps it from beginning."""
    kept = ("app/kept", tarfile.REGTYPE, "kept")
    state = state_of(tmp_path, ("app", tarfile.DIRTYPE, ""), kept, *left)
    root = unpacked(tmp_path, state, folder_of(tmp_path, {"data/new": "new"}), "/app")
    place = root / "app/data/new"
    assert (place.read_text(), place.is_symlink()) == ("new", False)
    assert place.resolve() == root.resolve() / "app/data/new"
    assert (root / "app/kept").read_text() == "kept"


def test_a_link_above_the_working_folder_gives_way(tmp_path: Path) -> None:
    """The files arrive where the step begins."""
    state = state_of(tmp_path, ("app", tarfile.DIRTYPE, ""), ("app/work", tarfile.SYMTYPE, "x"))
    root = unpacked(tmp_path, state, folder_of(tmp_path, {"a": "1"}), "/app/work")
    assert (root / "app/work/a").read_text() == "1"


def test_further_names_of_a_file_that_gives_way_keep_its_content(tmp_path: Path) -> None:
    """A hard link to a missing file would end the container before its agent."""
    state = state_of(
        tmp_path, ("app", tarfile.DIRTYPE, ""), ("app/a", tarfile.REGTYPE, "mine"),
        ("app/b", tarfile.LNKTYPE, "app/a"), ("app/c", tarfile.LNKTYPE, "app/a"),
    )  # fmt: skip
    root = unpacked(tmp_path, state, folder_of(tmp_path, {"a": "theirs"}), "/app")
    texts = [(root / "app" / name).read_text() for name in "abc"]
    assert texts == ["theirs", "mine", "mine"]


def test_a_part_of_what_an_agent_left_is_what_is_named_and_not_excluded(tmp_path: Path) -> None:
    """Tests that receive artifacts alone see nothing else; the next step begins with all of it."""
    state = state_of(
        tmp_path, ("app/a", tarfile.REGTYPE, "mine"), ("app/out", tarfile.DIRTYPE, ""),
        ("app/out/b", tarfile.LNKTYPE, "app/a"), ("app/out/c.pyc", tarfile.REGTYPE, "x"),
        ("app/outer", tarfile.REGTYPE, "x"),
    )  # fmt: skip
    outputs = Outputs(
        path=state, declared=("/app",), files=5, size=6, sha256="", left_out=(), left_out_total=0
    )
    part = select_outputs(
        outputs, ("/app/out", "/srv/x"), excluded=(("/app/out", ("*.pyc",)),),
        target=tmp_path / "part.tar",
    )  # fmt: skip
    with tarfile.open(part.path) as archive:
        assert archive.getnames() == ["app/out", "app/out/b"]
        content = archive.extractfile("app/out/b")
        assert content is not None
        assert content.read() == b"mine"  # its other name is not handed over
    assert (part.declared, part.files, part.size) == (("/app/out", "/srv/x"), 2, 4)
    assert [(one.name, one.reason) for one in part.left_out] == [("/srv/x", "it is not there")]
    assert outputs.path.read_bytes() == state.read_bytes()


def test_owners_are_listed_by_lines_that_hold_one_name(tmp_path: Path) -> None:
    """A name with a line in it, or a blank at its end, would name another file there."""
    names = [b"app", b"app/own", b"app/two words", b"app/x\n1000 /app/hidden", b"app/hidden ",
             b"app/hidden\t", b"app/a  b", b"logs/agent/x"]  # fmt: skip
    rows = [ArchiveEntry(name=name, kind="folder", group=1000) for name in names]
    root = ArchiveEntry(name=b"app/hidden", kind="folder")
    state = tmp_path / "state.tar"
    state.write_bytes(b"".join(map(header, (*rows, root))) + END)
    write_owners(tmp_path / "owners", state)
    assert (tmp_path / "owners").read_bytes() == b"1000 /app/two words\n1000 /app/own\n1000 /app\n"
