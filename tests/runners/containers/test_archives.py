"""Archives from containers are read strictly, filtered, and written so that any tar reads them."""

import io
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.runners.containers.archive_filter import (
    FilteredArchive,
    OutputRules,
    TooManyEntries,
    filter_archive,
    printable,
)
from agon.runners.containers.archives import (
    END,
    ArchiveEntry,
    InvalidArchive,
    content,
    entries,
    header,
    padding,
)
from sizes import size

NAMES = st.binary(min_size=1, max_size=300).filter(lambda name: not set(name) & {0, 47})
_LOOSE = settings(
    max_examples=size(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def written(*members: tuple[ArchiveEntry, bytes]) -> bytes:
    """Write an archive with our own writer."""
    parts = [header(entry) + text + padding(len(text)) for entry, text in members]
    return b"".join(parts) + END


def archive_of(*members: tarfile.TarInfo, texts: Sequence[bytes] = ()) -> bytes:
    """Write an archive with Python's own writer, as GNU tar would."""
    buffer = io.BytesIO()
    given_texts = dict(enumerate(texts))
    with tarfile.open(
        fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8",
        errors="surrogateescape",
    ) as archive:  # fmt: skip
        for at, member in enumerate(members):
            text = given_texts.get(at, b"")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    """Describe an entry."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, target, 0o6777
    return made


def sieved(
    archive: bytes, tmp_path: Path, *, files: int = 100
) -> tuple[FilteredArchive, list[str]]:
    """Filter an archive of the working folder; return the names that passed."""
    target = tmp_path / "sieved.tar"
    result = filter_archive(io.BytesIO(archive), target, roots=("/app",), files=files)
    with tarfile.open(target, encoding="utf-8", errors="surrogateescape") as passed:
        return result, [one.name for one in passed]


@_LOOSE
@given(
    st.lists(
        st.tuples(NAMES, st.binary(max_size=1200), st.integers(0, 0o777), st.integers(0, 1 << 34)),
        max_size=6,
    )
)
def test_two_writers_and_two_readers_agree(
    members: list[tuple[bytes, bytes, int, int]],
) -> None:
    """Python's tarfile reads and writes the same names, of any bytes and length, and contents."""
    ours = written(
        *(
            (ArchiveEntry(name=name, kind="file", size=len(text), mode=mode, mtime=mtime), text)
            for name, text, mode, mtime in members
        )
    )
    with tarfile.open(
        fileobj=io.BytesIO(ours), encoding="utf-8", errors="surrogateescape"
    ) as archive:
        theirs = [
            (one.name.encode("utf-8", "surrogateescape"), one.mode, one.mtime) for one in archive
        ]
    assert theirs == [(name, mode, mtime) for name, _, mode, mtime in members]
    file = io.BytesIO(ours)
    read = []
    for entry in entries(file):
        position = file.tell()
        read.append((entry.name, b"".join(content(file, entry, piece=7)), entry.mode, entry.mtime))
        file.seek(position)
    assert read == members


@_LOOSE
@given(st.binary(max_size=3000), st.integers(0, 2999), st.binary(min_size=1, max_size=3))
def test_any_bytes_are_read_or_rejected(noise: bytes, at: int, change: bytes) -> None:
    """Reading noise or a damaged archive ends and raises nothing but InvalidArchive."""
    complete = archive_of(member("app/a"), member("app/b", tarfile.SYMTYPE, "a"), texts=(b"text",))
    for text in (noise, complete[:at] + change + complete[at + len(change) :], complete[:at]):
        try:
            read = [entry.size for entry in entries(io.BytesIO(text))]
        except InvalidArchive:
            continue
        assert sum(read) <= len(text)


@pytest.mark.parametrize(
    "field",
    [
        (124, b"77777777777\0", "truncated"),
        (124, b"\xff" * 12, "number"),
        (124, b"-0000000001\0", "number"),
        (124, b"\x80" + b"\xff" * 11, "number"),
        (124, b"\x80" + b"\0" * 4 + b"\x7f" * 7, "truncated"),
        (156, b"x", "unknown kind"),
        (156, b"g", "unknown kind"),
        (156, b"S", "unknown kind"),
        (148, b"000000\0 ", "sum"),
    ],
)
def test_what_tar_would_not_write_is_rejected(field: tuple[int, bytes, str]) -> None:
    """Sizes beyond the end or below 0, sparse maps and extended headers are not from this tar."""
    at, value, reason = field
    block = bytearray(header(ArchiveEntry(name=b"app/a", kind="file")))
    block[at : at + len(value)] = value
    if at != 148:
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
    with pytest.raises(InvalidArchive, match=reason):
        list(entries(io.BytesIO(bytes(block) + END)))


def test_an_archive_without_its_end_was_cut_short() -> None:
    """The result file is bounded: an archive that reaches the bound must not pass as complete."""
    complete = archive_of(member("app/a"), texts=(b"x" * 600,))
    with pytest.raises(InvalidArchive, match="truncated"):
        list(entries(io.BytesIO(complete[:1536])))
    with pytest.raises(InvalidArchive, match="truncated"):
        list(entries(io.BytesIO(complete[:1100])))


@pytest.mark.parametrize(
    ("name", "kind", "target", "reason"),
    [
        ("etc/passwd", tarfile.REGTYPE, "", "its name leads out"),
        ("app/../etc/passwd", tarfile.REGTYPE, "", "its name leads out"),
        ("../app/x", tarfile.REGTYPE, "", "its name leads out"),
        ("application", tarfile.REGTYPE, "", "its name leads out"),
        ("app/a", tarfile.REGTYPE, "", "twice"),
        ("app/none/x", tarfile.REGTYPE, "", "its folder"),
        ("app/a/x", tarfile.REGTYPE, "", "its folder"),
        ("app/up/x", tarfile.REGTYPE, "", "its folder"),
        ("app/x", tarfile.SYMTYPE, "/tests/expected", "absolute"),
        ("app/x", tarfile.SYMTYPE, "../tests/expected", "leads out"),
        ("app/d/x", tarfile.SYMTYPE, "../../tests", "leads out"),
        ("app/d/x", tarfile.SYMTYPE, "../d/../../tests", "leads out"),
        ("app/x", tarfile.SYMTYPE, "d/../a", "leads out"),
        ("app/x", tarfile.LNKTYPE, "tests/expected", "another name"),
        ("app/x", tarfile.LNKTYPE, "app/up", "another name"),
        ("app/x", tarfile.LNKTYPE, "app/d", "another name"),
        ("app/x", tarfile.FIFOTYPE, "", "pipe"),
        ("app/x", tarfile.CHRTYPE, "", "device"),
        ("app/x", tarfile.BLKTYPE, "", "device"),
    ],
)
def test_what_must_not_pass_is_left_out_and_listed(
    tmp_path: Path, name: str, kind: bytes, target: str, reason: str
) -> None:
    """The valid entries next to an invalid one pass."""
    good = (
        member("app", tarfile.DIRTYPE), member("app/a"), member("app/d", tarfile.DIRTYPE),
        member("app/up", tarfile.SYMTYPE, "d"),
    )  # fmt: skip
    result, names = sieved(archive_of(*good, member(name, kind, target)), tmp_path)
    assert names == ["app", "app/a", "app/d", "app/up"]
    assert (result.left_out_total, result.left_out[0].name) == (1, name)
    assert reason in result.left_out[0].reason


@pytest.mark.parametrize("target", ["a", "./a", "d/b", "nothing", "."])
def test_links_within_the_outputs_pass(tmp_path: Path, target: str) -> None:
    """Honest agents create links as well."""
    members = (
        member("app", tarfile.DIRTYPE), member("app/a"), member("app/d", tarfile.DIRTYPE),
        member("app/d/up", tarfile.SYMTYPE, "../a"), member("app/link", tarfile.SYMTYPE, target),
        member("app/same", tarfile.LNKTYPE, "app/a"),
    )  # fmt: skip
    result, names = sieved(archive_of(*members), tmp_path)
    assert (result.left_out, len(names)) == ((), 6)


def test_nothing_stays_setuid_or_unreadable(tmp_path: Path) -> None:
    """The user that unpacks could not read files that only their owner may read."""
    closed = member("app/closed", tarfile.DIRTYPE)
    closed.mode = 0
    sieved(archive_of(member("app", tarfile.DIRTYPE), member("app/su"), closed), tmp_path)
    with tarfile.open(tmp_path / "sieved.tar") as archive:
        assert [one.mode for one in archive] == [0o777, 0o777, 0o700]


def test_too_many_entries_are_rejected_before_they_are_written(tmp_path: Path) -> None:
    """Entries that are dropped count as well."""
    many = archive_of(*(member(f"elsewhere/{at}") for at in range(101)))
    with pytest.raises(TooManyEntries):
        sieved(many, tmp_path)


@pytest.mark.parametrize("target", ["/", "//", "/.", "//tests", "/./tests"])
def test_no_link_leads_to_the_root_or_past_it(tmp_path: Path, target: str) -> None:
    """Several slashes are one."""
    link = member("app/all", tarfile.SYMTYPE, target)
    _, names = sieved(archive_of(member("app", tarfile.DIRTYPE), link), tmp_path)
    assert names == ["app"]


@pytest.mark.parametrize(
    ("target", "passes"),
    [("/opt/data", True), ("../opt/data", True), ("/tests", False), ("/tests/x", False),
     ("../tests/x", False), ("/", False), ("..", False)],
)  # fmt: skip
def test_links_of_the_image_pass_but_those_to_the_tests(
    tmp_path: Path, target: str, *, passes: bool
) -> None:
    """What the image linked stays linked; an agent may write through a link to the tests."""
    listing = f"app/own\n{target}\n".encode()
    members = (
        member("private/links"), member("app", tarfile.DIRTYPE),
        member("app/own", tarfile.SYMTYPE, target),
    )  # fmt: skip
    rules = OutputRules(outputs=("/app",), home="", since=0.0, links="/private/links")
    result = filter_archive(
        io.BytesIO(archive_of(*members, texts=(listing,))), tmp_path / "sieved.tar",
        roots=("/app",), files=100, rules=rules,
    )  # fmt: skip
    with tarfile.open(tmp_path / "sieved.tar") as passed:
        assert [one.name for one in passed] == (["app", "app/own"] if passes else ["app"])
    assert [one.reason for one in result.left_out] == (
        [] if passes else ["it is a link to what belongs to the tests or the system"]
    )


STEPS = st.sampled_from([b"a", b"b", b"..", b".", b"", b"app", b"tests"])
PATHS = st.lists(STEPS, max_size=5).map(b"/".join)


@_LOOSE
@given(
    st.lists(
        st.tuples(st.sampled_from(["folder", "file", "link", "same"]), PATHS, PATHS), max_size=14
    )
)
def test_no_combination_of_links_leads_out(
    tmp_path: Path, members: list[tuple[str, bytes, bytes]]
) -> None:
    """What passed the filter is unpacked on a real disk and resolved there."""
    made = [
        (ArchiveEntry(name=b"app/" + name, kind=kind, target=target), b"")  # type: ignore[arg-type]  # sampled
        for kind, name, target in members
    ]
    target = tmp_path / "sieved.tar"
    archive = written((ArchiveEntry(name=b"app", kind="folder", mode=0o755), b""), *made)
    filter_archive(io.BytesIO(archive), target, roots=("/app",), files=100)
    folder = tmp_path / f"unpacked-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    with tarfile.open(target) as passed:
        passed.extraction_filter = lambda member, _: member  # Python 3.11.2 has no option for it
        passed.extractall(folder)  # noqa: S202  # what passed is tried here
    for path in folder.rglob("*"):
        if not _loops(path):
            assert path.resolve().is_relative_to(folder / "app"), path


def _loops(path: Path) -> bool:
    try:
        path.resolve(strict=True)
    except RuntimeError:
        return True
    except OSError:
        return False
    return False


def test_text_from_containers_stays_on_one_line() -> None:
    """Reasons are printed in terminals, where control characters would act."""
    assert printable(b"\x1b[2J\xff\n") == "\\x1b[2J\\xff\\n"
    assert len(printable("x" * 1000)) == 200


def test_folders_that_are_mounted_are_not_in_the_new_archive(tmp_path: Path) -> None:
    """The user that unpacks may not change their permissions."""
    target = tmp_path / "sieved.tar"
    archive = archive_of(member("app", tarfile.DIRTYPE), member("app/a"))
    filter_archive(io.BytesIO(archive), target, roots=("/app",), mounted=("/app",), files=9)
    with tarfile.open(target) as passed:
        assert passed.getnames() == ["app/a"]


def test_a_copy_says_how_large_it_is(tmp_path: Path) -> None:
    """Sizes and the hash are recorded with the trial."""
    archive = archive_of(member("app", tarfile.DIRTYPE), member("app/a"), texts=(b"", b"12345"))
    result, _ = sieved(archive, tmp_path)
    assert (result.files, result.size, len(result.sha256)) == (2, 5, 64)
    assert replace(result, files=0) != result
