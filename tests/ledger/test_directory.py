"""Directories of ledgers: exact round trips, no partial files, and complete checks on import."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.errors import Conflict, Unreadable
from agon.ledger import directory, signatures, verification
from agon.ledger.directory import export_directory, import_directory
from agon.ledger.entry import MAX_LINE_BYTES, Entry, encode_entry
from agon.ledger.files import ATTACHMENTS, FILES, read_lines
from agon.ledger.heads import SignedHead, sign_head
from agon.ledger.issues import InvalidEntry
from agon.ledger.verification import verify_directory
from ledger.histories import HISTORIES, added, ledger, voided
from sizes import sample, size

KEY = bytes(range(32))
PUBLIC = signatures.public_key(KEY)
LAW = settings(
    max_examples=size(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ENTRIES = ledger(added(n=1), added(n=2), voided(2), added(n=3), added(n=4))


def heads_of(entries: list[Entry], *seqs: int) -> list[SignedHead]:
    """Sign the heads at some positions."""
    return [
        sign_head(partial(signatures.sign, KEY), contest="spring", seq=seq,
                  head=entries[seq - 1].sha256, at=f"2026-11-22T03:00:0{at}.000000Z")
        for at, seq in enumerate(seqs)
    ]  # fmt: skip


def export(folder: Path, entries: list[Entry] = ENTRIES, *seqs: int) -> Path:
    """Export a ledger with signed heads."""
    export_directory(folder, contest="spring", lines=(entry.line for entry in entries),
                     heads=heads_of(entries, *seqs), public_key=PUBLIC)  # fmt: skip
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A ledger of six entries, signed at 3 and 6."""
    return export(tmp_path / "spring", ENTRIES, 3, 6)


@given(HISTORIES, st.data())
@LAW
def test_a_round_trip_is_the_same_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Entry], data: st.DataObject
) -> None:
    """An export of one server can be imported by another and exported again."""
    folder = tmp_path_factory.mktemp("trip")
    seqs = sorted(data.draw(st.sets(st.integers(1, len(entries)), max_size=3)))
    one = export(folder / "one", entries, *seqs)
    read = import_directory(one)
    imported = list(read.entries())
    assert imported == entries
    export_directory(folder / "two", contest=read.contest, lines=(entry.line for entry in imported),
                     heads=read.heads, public_key=read.public_key)  # fmt: skip
    assert content(folder / "two") == content(one)


def test_the_files_are_what_the_reference_says(exported: Path) -> None:
    """Other programs read these files."""
    head = ENTRIES[-1].sha256.hex()
    assert content(exported) == {
        "contest.json": f'{{"format":1,"head_sha256":"{head}","id":"spring",'
                        f'"public_key":"{PUBLIC.hex()}","seq":6}}\n'.encode(),
        "ledger.ndjson": b"".join(entry.line + b"\n" for entry in ENTRIES),
        "heads.ndjson": b"".join(one.line + b"\n" for one in heads_of(ENTRIES, 3, 6)),
    }  # fmt: skip


def test_a_ledger_without_key_and_heads_is_complete(tmp_path: Path) -> None:
    """Signing needs an extra package; storing a ledger does not."""
    export_directory(tmp_path / "x", contest="spring", lines=(one.line for one in ENTRIES))
    read = import_directory(tmp_path / "x")
    assert (read.public_key, read.heads, read.state.contest.seq) == (None, (), 6)


def test_attachments_are_read_again(tmp_path: Path) -> None:
    """What entries name by its hash moves with the ledger."""
    contents = sorted((b"one", b"two"), key=lambda content: sha256(content).hexdigest())
    export_directory(
        tmp_path / "x", contest="spring", lines=(one.line for one in ENTRIES),
        attachments=((sha256(content).hexdigest(), content) for content in contents),
    )  # fmt: skip
    assert list(import_directory(tmp_path / "x").attachments()) == contents


def test_verification_returns_the_last_signed_position(tmp_path: Path) -> None:
    """Entries after the last signed head could be by any author."""
    verified = verify_directory(export(tmp_path / "spring", ENTRIES, 3, 5))
    assert verified.issues == ()
    assert (verified.seq, verified.signed_seq, verified.head) == (6, 5, ENTRIES[-1].sha256)


@pytest.mark.parametrize("mask", [0, 0o022, 0o277])
def test_a_ledger_is_written_for_its_owner_alone(tmp_path: Path, mask: int) -> None:
    """It holds hidden answers; its owner may give others access."""
    before = os.umask(mask)
    try:
        export_directory(
            tmp_path / "x", contest="spring", lines=(one.line for one in ENTRIES),
            attachments=[("0" * 64, b"x")],
        )  # fmt: skip
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "x").iterdir()}
    assert modes == dict.fromkeys((*FILES, ATTACHMENTS), 0o600)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o700


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Half a ledger would be taken for a complete one."""

    def broken() -> Iterator[bytes]:
        yield ENTRIES[0].line
        raise RuntimeError("the database went away")

    with pytest.raises(RuntimeError):
        export_directory(tmp_path / "spring", contest="spring", lines=broken())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nothing_is_written_over(tmp_path: Path, kind: str) -> None:
    """An export never destroys another."""
    place = tmp_path / "spring"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.write_text("mine")
    else:
        place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Conflict, match="name a new folder"):
        export(place)
    assert list(tmp_path.iterdir()) == [place]


def test_an_export_to_an_impossible_path_is_rejected(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(Unreadable, match="name a folder that can be created"):
        export(tmp_path / "no" / "such" / "place")


def test_a_file_that_changes_after_the_check_is_not_read(exported: Path) -> None:
    """The file may be replaced between the check and the reading."""
    read = import_directory(exported)
    file = exported / "ledger.ndjson"
    data = file.read_bytes()
    for other in (data.replace(b'"n":3', b'"n":5'), data[: data.index(b"\n") + 1], b"x\n"):
        file.write_bytes(other)
        with pytest.raises(Unreadable, match="changed while it was read; import it again"):
            list(read.entries())
    file.unlink()
    with pytest.raises(Unreadable, match="changed while it was read"):
        list(read.entries())


def issues_of(folder: Path, *, public: bytes | None = None) -> list[str]:
    """Return the issues of a directory, after an import that fails with the same ones."""
    verified = verify_directory(folder, public=public)
    if public is None:  # an import expects no key
        with pytest.raises(InvalidEntry) as caught:
            import_directory(folder)
        assert caught.value.issues == verified.issues
    assert all(issue.remedy for issue in verified.issues)
    return [str(issue) for issue in verified.issues]


def test_any_changed_byte_is_found(exported: Path) -> None:
    """Each byte of each file of a small ledger, changed in two ways."""
    for name, data in content(exported).items():
        for at in sample(range(len(data)), at_least=100):
            for other in (data[at] ^ 1, 0):
                (exported / name).write_bytes(data[:at] + bytes([other]) + data[at + 1 :])
                assert verify_directory(exported).issues, (name, at, other)
        (exported / name).write_bytes(data)
    assert verify_directory(exported).issues == ()


def test_a_ledger_forged_with_its_page_is_betrayed_by_a_signed_head(tmp_path: Path) -> None:
    """Who rewrites lines and contest.json cannot rewrite what was signed."""
    forged = ledger(added(n=1), added(n=7), voided(2), added(n=3), added(n=4))
    folder = export(tmp_path / "spring", ENTRIES, 2, 6)
    other = export(tmp_path / "other", forged)
    for name in ("ledger.ndjson", "contest.json"):
        (folder / name).write_bytes((other / name).read_bytes())
    (issue,) = issues_of(folder)
    assert issue.startswith("heads.ndjson, line 2: the head signed at 6 is ")
    assert "the entries 3 to 6 give " in issue


def test_another_key_is_distinguished_from_the_expected_one(tmp_path: Path) -> None:
    """A ledger signed again from the start has another key."""
    issues = issues_of(
        export(tmp_path / "spring", ENTRIES, 3), public=signatures.public_key(bytes(32))
    )
    assert "get the ledger from its owner" in issues[0]
    assert "the signature is not that of" in issues[1]


def test_a_known_key_has_to_vouch_for_every_entry(tmp_path: Path) -> None:
    """Whoever rewrites a ledger keeps the key's name and leaves the heads out."""
    forged = export(tmp_path / "forged", ledger(added(n=1), added(n=7)))
    (issue,) = issues_of(forged, public=PUBLIC)
    assert issue.startswith(f"heads.ndjson: entry 0 is the last one signed by {PUBLIC.hex()}")
    (issue,) = issues_of(export(tmp_path / "tail", ENTRIES, 3, 5), public=PUBLIC)
    assert "entry 5 is the last" in issue
    assert verify_directory(export(tmp_path / "all", ENTRIES, 3, 6), public=PUBLIC).issues == ()


def edit(name: str, change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    """Change the lines of a file."""

    def spoil(folder: Path) -> None:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(change(lines)))

    return spoil


def link(name: str) -> Callable[[Path], None]:
    """Put a link to an equal file in a file's place."""

    def spoil(folder: Path) -> None:
        (folder / name).rename(folder.parent / "elsewhere")
        (folder / name).symlink_to(folder.parent / "elsewhere")

    return spoil


def pipe(folder: Path) -> None:
    """Replace the ledger by a pipe without a writer."""
    (folder / "ledger.ndjson").unlink()
    os.mkfifo(folder / "ledger.ndjson")


def subfolder(folder: Path) -> None:
    """Put a folder in the ledger's place."""
    (folder / "ledger.ndjson").unlink()
    (folder / "ledger.ndjson").mkdir()


L, C, H = "ledger.ndjson", "contest.json", "heads.ndjson"


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (link(L), "ledger.ndjson: it cannot be opened as a regular file"),
        (link(C), "contest.json: it cannot be opened as a regular file"),
        (link(H), "heads.ndjson: it cannot be opened as a regular file"),
        (pipe, "ledger.ndjson: it is not a regular file"),
        (subfolder, "ledger.ndjson: it is not a regular file"),
        (lambda folder: (folder / L).unlink(), "ledger.ndjson: the file is missing"),
        (lambda folder: (folder / "x").mkdir(), "x: it does not belong here; remove it"),
        (edit(L, lambda _: []), "ledger.ndjson: there is no entry; begin with contest-created"),
        (edit(L, lambda all_: [*all_[:2], all_[1], *all_[2:]]), "line 3: seq is 2, in place 3"),
        (edit(L, lambda all_: [*all_[:2], *all_[3:]]), "line 3: seq is 4, in place 3"),
        (edit(L, lambda all_: [all_[0], all_[2], all_[1], *all_[3:]]), "line 2: seq is 3, in"),
        (edit(L, lambda all_: [*all_[:5], all_[5][:-1]]), "line 6: the line has no end"),
        (edit(L, lambda all_: [*all_[:5], all_[5][:-9]]), "line 6: the line is not JSON"),
        (edit(L, lambda all_: all_[:5]), "line 2: entry 6 was signed, the ledger ends at 5"),
        (edit(L, lambda all_: all_[1:]), "line 1: record-added is entry 1; begin with contest"),
        (edit(L, lambda all_: [*all_, b"\n"]), "ledger.ndjson, line 7: the line is not JSON"),
        (edit(L, lambda all_: [*all_, b"\x00\n"]), "ledger.ndjson, line 7: the line is not JSON"),
        (edit(L, lambda all_: [*all_, b"\xff\n"]), "ledger.ndjson, line 7: the line is not JSON"),
        (edit(L, lambda all_: [*all_, b"[" * 99_999]), "line 7: the line is not JSON"),
        (edit(L, lambda all_: [one.replace(b"records-voided", b"records-voidet") for one in all_]),
         "ledger.ndjson, line 4: kind 'records-voidet' is unknown; did you mean records-voided?"),
        (edit(C, lambda all_: [all_[0].replace(b"spring", b"../../x")]), "page is '../../x'"),
        (edit(C, lambda all_: [all_[0].replace(b"spring", b"autumn")]), "that of 'autumn'"),
        (edit(C, lambda all_: [all_[0].replace(b'"format":1', b'"format":2')]), "the page is 2"),
        (edit(C, lambda all_: [all_[0].replace(b'"seq":6', b'"seq":7')]), "seq is 7, the lines of"),
        (edit(C, lambda all_: [all_[0].replace(b":6}", b":6} ")]), "the page is not in canonical"),
        (edit(C, lambda all_: [all_[0] * 2]), "contest.json: the page is not JSON"),
        (edit(C, lambda _: [b"x" * 99_999]), "the page is longer than 65,536"),
        (edit(C, lambda _: [b'{"id":"spring"}\n']), "contest.json: the page lacks format"),
        (edit(C, lambda all_: [all_[0].replace(PUBLIC.hex().encode(), b"0" * 64)]),
         "heads.ndjson, line 1: the signature is not that of"),
        (edit(C, lambda all_: [all_[0].replace(b'"%s"' % PUBLIC.hex().encode(), b"null")]),
         "heads.ndjson, line 1: there is no public key for its signature"),
        (edit(H, lambda all_: all_[::-1]), "heads.ndjson, line 2: seq is 3 at"),
        (edit(H, lambda all_: [all_[0].replace(b"spring", b"autumn")]), "contest is 'autumn'"),
        (edit(H, lambda all_: [all_[0].replace(b'"seq":3', b'"seq":4')]), "is not that of"),
        (edit(H, lambda all_: [*all_, b"x" * 99_999 + b"\n"]), "line 3: the head is longer"),
        (edit(H, lambda all_: [*all_, b"7\n"]), "line 3: the head is 7; give an"),
        (edit(H, lambda all_: [all_[0][:-1]]), "heads.ndjson, line 1: the line has no end"),
    ],
)  # fmt: skip
def test_a_hostile_directory_is_refused_by_name(
    exported: Path, spoil: Callable[[Path], None], expected: str
) -> None:
    """File, line, what, and what would be right."""
    spoil(exported)
    issues = issues_of(exported)
    assert any(expected in issue for issue in issues), issues


def test_all_faults_of_all_files_are_named_at_once(exported: Path) -> None:
    """The author of a correction needs all issues."""
    edit(L, lambda all_: [all_[0], b"x\n", all_[2], b"y\n", *all_[4:]])(exported)
    edit(H, lambda all_: [b"z\n", all_[1]])(exported)
    places = {issue.rpartition(": ")[0].partition(":")[0] for issue in issues_of(exported)}
    assert {"ledger.ndjson, line 2", "ledger.ndjson, line 4", "heads.ndjson, line 1",
            "heads.ndjson, line 2", "contest.json"} <= places  # fmt: skip


@pytest.mark.parametrize("kind", ["missing", "file", "link"])
def test_what_is_no_folder_is_refused(tmp_path: Path, exported: Path, kind: str) -> None:
    """A link to a folder may lead anywhere tomorrow."""
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("x")
    elif kind == "link":
        place.symlink_to(exported)
    fact = "there is no such folder" if kind == "missing" else "it is not a folder"
    with pytest.raises(InvalidEntry, match=f"place: {fact}; name a folder that agon contest"):
        verify_directory(place)


def test_a_line_of_more_than_sixteen_mebibytes_is_refused(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded by the longest allowed line, also for longer lines."""
    line = seal_of(MAX_LINE_BYTES)
    with (exported / L).open("ab") as file:
        file.write(line + b"\n")
    state = verify_directory(exported)
    assert not any("longer" in issue.what for issue in state.issues)
    with (exported / L).open("ab") as file:
        file.write(b"x" * (MAX_LINE_BYTES + 1) + b"\n")
    issues = issues_of(exported)
    assert "ledger.ndjson, line 8: the line is longer than 16,777,216 bytes" in issues[0]
    monkeypatch.setattr(verification, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(directory, "MAX_LINE_BYTES", 1_000)
    assert any("line 7: the line is not JSON" in issue for issue in issues_of(exported))


def seal_of(length: int) -> bytes:
    """Seal a record whose line is so long."""
    from ledger.test_entry import DRAFT

    def line_of(filler: int) -> bytes:
        body = {"table": "votes", "row": {"x": "y" * filler}}
        draft = type(DRAFT)(kind="record-added", body=body, at=ENTRIES[-1].at, by="a")
        return encode_entry(draft, seq=7, previous=ENTRIES[-1].sha256).line

    line = line_of(length - len(line_of(0)))
    assert len(line) == length
    return line


@given(
    lines=st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line)),
    ended=st.booleans(),
)
@LAW
def test_lines_are_cut_at_line_ends_alone(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], *, ended: bool
) -> None:
    """No other sign ends a line, and a long one is passed over to its end."""
    file = tmp_path_factory.mktemp("lines") / "file"
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    file.write_bytes(data)
    expected = data.split(b"\n")
    with file.open("rb") as stream:
        result = list(read_lines(stream, max_bytes=10))
    last = [expected.pop()]
    ends = [(line[:11], True) for line in expected] + [(line[:11], False) for line in last if line]
    assert result == ends
