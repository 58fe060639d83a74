"""Test that a ledger is exported as a directory and imported byte for byte."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest, unfreeze
from agon.app.service import Service, SigningKey
from agon.client.local import Local
from agon.errors import Conflict, Forbidden, NotFound, Unauthenticated, Unreadable
from agon.http.archives import pack, unpack
from agon.ledger.directory import export_directory
from agon.ledger.entry import Draft, chain, encode_entry, genesis
from agon.ledger.heads import Head, SignedHead
from agon.ledger.issues import InvalidEntry
from agon.records import InvalidRecords
from fakes.service import JUDGE, OPERATOR, ORGANISER, service_at

TIME = "2026-11-22T00:00:00Z"
ROWS = [
    ("owners", {"id": "o", "handle": "h", "account_created_at": TIME, "ip": "203.0.113.9"}, None),
    *(("bots", {"id": name, "name": name, "owner_id": "o"}, None) for name in ("x", "y")),
    ("matches", {"id": "m1", "played_at": TIME, "bot_a": "x", "bot_b": "y", "kind": "rated"}, None),
    ("votes", {"match_id": "m1", "judge_id": "j", "shown_first": "a", "vote": "A",
               "voted_at": TIME}, "v1"),
]  # fmt: skip


@pytest.fixture
def spring(service: Service) -> Service:
    """Open an arena that was frozen once."""
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    record(service, "spring", ROWS, by=ORGANISER)
    freeze(service, "spring", by=ORGANISER)
    unfreeze(service, "spring", reason="more to come", by=ORGANISER)
    return service


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Service]:
    """Open another instance, with another key."""
    (tmp_path / "other").mkdir()
    opened = replace(service_at(tmp_path / "other"), signer=SigningKey(bytes(32)))
    yield opened
    opened.store.close()


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.exhaustive
def test_an_imported_ledger_is_exported_unchanged(
    spring: Service, other: Service, tmp_path: Path
) -> None:
    """Also by an instance with another key: the signed heads do not change."""
    export(spring, "spring", tmp_path / "one")
    import_contest(other, tmp_path / "one", by=ORGANISER)
    export(other, "spring", tmp_path / "two")
    export(spring, "spring", tmp_path / "three")
    assert _files(tmp_path / "one") == _files(tmp_path / "two") == _files(tmp_path / "three")


@pytest.mark.exhaustive
def test_attachments_are_exported_and_imported_with_their_hashes(
    spring: Service, other: Service, tmp_path: Path
) -> None:
    """The evidence for a model's votes leaves with the ledger; one changed byte is an error."""
    with spring.store.write() as session:
        no = session.contests.get("spring").no
        digests = {session.attachments.add(no, content) for content in (b"request", b"\xff\x00")}
    export(spring, "spring", tmp_path / "one")
    import_contest(other, tmp_path / "one", by=ORGANISER)
    export(other, "spring", tmp_path / "two")
    assert _files(tmp_path / "one") == _files(tmp_path / "two")
    with other.store.read() as session:
        no = session.contests.get("spring").no
        assert {digest for digest, _ in session.attachments.all(no)} == digests
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    with pack(tmp_path / "one", name="spring") as archive:
        unpack(archive, unpacked)
    assert _files(unpacked) == _files(tmp_path / "one")


@pytest.mark.exhaustive
def test_an_imported_contest_is_the_one_that_was_exported(
    spring: Service, other: Service, tmp_path: Path
) -> None:
    """The same state and time of creation, the same boards, and repetitions are recognized."""
    exported = export(spring, "spring", tmp_path / "one")
    later = replace(other, clock=lambda: other.clock() + timedelta(days=1))
    imported = import_contest(later, tmp_path / "one", by=ORGANISER)
    assert replace(imported, no=exported.no) == exported
    with other.store.read() as session:
        assert session.contests.get("spring") == imported
    [one, *_], [two, *_] = (
        publish(spring, "spring").snapshots,
        publish(other, "spring").snapshots,
    )
    assert one.board_sha256 == two.board_sha256
    assert record(other, "spring", ROWS[1:], by=ORGANISER).repeated == 4


@pytest.mark.exhaustive
def test_heads_are_signed_where_boards_were_fixed_and_at_the_end(
    spring: Service, tmp_path: Path
) -> None:
    """A reader with a signed head detects a changed ledger."""
    final = finalize(spring, "spring", by=ORGANISER)
    export(spring, "spring", tmp_path / "one")
    heads = [json.loads(line) for line in (tmp_path / "one/heads.ndjson").read_text().splitlines()]
    assert [head["seq"] for head in heads] == [8, 10]
    assert heads[-1]["head_sha256"] == final.head.hex()
    public = bytes.fromhex(spring.signer.public_key)
    assert all(
        SignedHead(Head(**head), signature).is_of(public)
        for head in heads
        if (signature := head.pop("signature"))
    )


def test_a_continuation_is_added_and_anything_else_is_a_conflict(
    spring: Service, other: Service, tmp_path: Path
) -> None:
    """Two instances can have one contest; they cannot both write it."""
    export(spring, "spring", tmp_path / "one")
    record(spring, "spring", [("bots", {"id": "z", "name": "z"}, None)], by=ORGANISER)
    export(spring, "spring", tmp_path / "two")
    import_contest(other, tmp_path / "one", by=ORGANISER)
    with pytest.raises(Conflict, match="nothing new"):
        import_contest(other, tmp_path / "one", by=ORGANISER)
    assert import_contest(other, tmp_path / "two", by=ORGANISER).seq == 10
    export(other, "spring", tmp_path / "three")
    assert _files(tmp_path / "two") == _files(tmp_path / "three")
    record(other, "spring", [("bots", {"id": "w", "name": "w"}, None)], by=ORGANISER)
    for name in ("v", "u"):
        record(spring, "spring", [("bots", {"id": name, "name": name}, None)], by=ORGANISER)
    export(spring, "spring", tmp_path / "four")
    with pytest.raises(Conflict, match="with other entries"):
        import_contest(other, tmp_path / "four", by=ORGANISER)


@pytest.mark.exhaustive
def test_a_ledger_that_grew_here_is_signed_by_this_instance(
    spring: Service, other: Service, tmp_path: Path
) -> None:
    """The first instance cannot sign entries that it does not have."""
    export(spring, "spring", tmp_path / "one")
    import_contest(other, tmp_path / "one", by=ORGANISER)
    record(other, "spring", [("bots", {"id": "w", "name": "w"}, None)], by=ORGANISER)
    export(other, "spring", tmp_path / "two")
    page = json.loads((tmp_path / "two/contest.json").read_text())
    assert page["public_key"] == other.signer.public_key != spring.signer.public_key
    import_contest(spring, tmp_path / "two", by=ORGANISER)


def test_a_changed_ledger_is_rejected_and_nothing_is_stored(
    spring: Service, other: Service, tmp_path: Path
) -> None:
    """The error names every issue."""
    export(spring, "spring", tmp_path / "one")
    file = tmp_path / "one/ledger.ndjson"
    file.write_bytes(file.read_bytes().replace(b'"vote":"A"', b'"vote":"B"'))
    with pytest.raises(InvalidEntry, match="ledger"):
        import_contest(other, tmp_path / "one", by=ORGANISER)
    with other.store.read() as session:
        assert session.contests.page() == []


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "row",
    [
        ("bots", {"id": "x"}),
        ("bot", {"id": "x", "name": "x"}),
        ("owners", {"id": "o", "handle": "h", "account_created_at": TIME, "ip": "203.0.113.9"}),
        ("owners", {"id": "o", "handle": "h", "account_created_at": TIME, "ip": "home"}),
    ],
)
def test_a_valid_chain_of_invalid_records_is_rejected(
    spring: Service, other: Service, tmp_path: Path, row: tuple[str, dict[str, str]]
) -> None:
    """It may contain neither rows that cannot be scored nor addresses."""
    with spring.store.read() as session:
        created = next(iter(session.entries.after(1))).line
    body = {"table": row[0], "row": row[1]}
    draft = Draft(kind="record-added", body=body, at=spring.clock(), by="user:eve")
    entry = encode_entry(draft, seq=2, previous=chain(genesis("spring"), created))
    export_directory(tmp_path / "bad", contest="spring", lines=[created, entry.line])
    with pytest.raises(InvalidRecords) as error:
        import_contest(other, tmp_path / "bad", by=ORGANISER)
    assert "203.0.113" not in str(error.value)
    with other.store.read() as session:
        assert session.contests.page() == []


@pytest.mark.sample(1)
@pytest.mark.parametrize("value", [[[]] * 2, json.loads("[" * 200 + "]" * 200), "x" * 3_000])
def test_a_record_beyond_the_limits_is_not_imported(
    spring: Service, other: Service, tmp_path: Path, value: object
) -> None:
    """Every database must store, and every reader read, an imported record."""
    with spring.store.read() as session:
        created = next(session.entries.after(1)).line
    row = {"id": value if isinstance(value, str) else "z", "name": "z", "owner_id": "o", "x": value}
    draft = Draft(kind="record-added", body={"table": "bots", "row": row},
                  at=spring.clock(), by="user:olga")  # fmt: skip
    entry = encode_entry(draft, seq=2, previous=chain(genesis("spring"), created))
    export_directory(tmp_path / "deep", contest="spring", lines=[created, entry.line])
    if value == [[]] * 2:
        assert import_contest(other, tmp_path / "deep", by=ORGANISER).seq == 2
        return
    with pytest.raises(InvalidRecords, match=r"nests more than 100|has 3,000 bytes"):
        import_contest(other, tmp_path / "deep", by=ORGANISER)


@pytest.mark.exhaustive
def test_a_ledger_keeps_its_name(spring: Service, other: Service, tmp_path: Path) -> None:
    """The name is part of the hash chain."""
    export(spring, "spring", tmp_path / "one")
    with pytest.raises(Conflict, match="keeps its id"):
        import_contest(other, tmp_path / "one", by=ORGANISER, id="autumn")
    assert import_contest(other, tmp_path / "one", by=ORGANISER, id="spring").id == "spring"


def test_only_staff_exports_and_imports(spring: Service, other: Service, tmp_path: Path) -> None:
    """A ledger has all records, also hidden terms."""
    with pytest.raises(Forbidden):
        Local(spring, by=JUDGE).ledgers.export("spring", tmp_path / "one")
    with pytest.raises(Unauthenticated):
        Local(spring, by=ANONYMOUS).ledgers.export("spring", tmp_path / "one")
    with pytest.raises(NotFound):
        Local(spring, by=OPERATOR).ledgers.export("autumn", tmp_path / "one")
    assert not (tmp_path / "one").exists()
    export(spring, "spring", tmp_path / "one")
    with pytest.raises(Forbidden):
        Local(other, by=JUDGE).ledgers.import_(tmp_path / "one")
    with pytest.raises(Forbidden):
        import_contest(other, tmp_path / "one", by=replace(ORGANISER, contests=("autumn",)))


def test_other_files_are_rejected(other: Service, tmp_path: Path) -> None:
    """There is an error message and no traceback."""
    with pytest.raises(Unreadable):
        import_contest(other, tmp_path / "nowhere", by=ORGANISER)
    with pytest.raises(Unreadable):
        import_contest(other, tmp_path, by=ORGANISER)
