"""Entries: one form, one chain, the same bytes one by one and in bulk."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.ledger import entry as module
from agon.ledger.entry import (
    Draft,
    Entry,
    chain,
    encode_entry,
    encode_records,
    genesis,
    read_line,
    timestamp,
    write_row,
)
from agon.ledger.issues import InvalidEntry
from ledger.histories import START, VOTE, added, ledger
from sizes import size

LAW = settings(max_examples=size(200), deadline=None)
NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)
CELLS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
ROWS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), CELLS)
DRAFT = Draft(kind="record-added", body={"table": "votes", "row": VOTE}, at=START, by="user:ada")


def entry_of(draft: Draft, *, seq: int = 2) -> Entry:
    """Chain a draft after some head."""
    return encode_entry(draft, seq=seq, previous=genesis("spring"))


def test_a_line_is_sorted_json_without_blanks() -> None:
    """Ledgers written today must be read in years: the bytes are the contract."""
    draft = replace(DRAFT, external_id="x1")
    assert entry_of(draft, seq=5).line == (
        b'{"at":"2026-11-22T02:30:00.000000Z","body":{"row":{"judge_id":"j1","match_id":"m1",'
        b'"vote":"A"},"table":"votes"},"by":"user:ada","external_id":"x1","kind":"record-added",'
        b'"seq":5}'
    )


def test_the_chain_begins_with_the_contest_and_takes_each_line() -> None:
    """The formula of the design, spelled out once more."""
    import hashlib

    entries = ledger(added(), added())
    head = hashlib.sha256(b"agon ledger 1\nspring").digest()
    for entry in entries:
        head = hashlib.sha256(head + entry.line).digest()
        assert entry.sha256 == head
    assert chain(genesis("spring"), entries[0].line) == entries[0].sha256


@given(
    row=ROWS, table=NAMES, by=NAMES, external_id=st.none() | NAMES, seq=st.integers(1, 2**63 - 1)
)
@LAW
def test_what_is_sealed_is_read_back(
    row: dict[str, Any], table: str, by: str, external_id: str | None, seq: int
) -> None:
    """Nothing is lost or changed on the way through bytes."""
    body = {"table": table, "row": row}
    draft = Draft(kind="record-added", body=body, at=START, by=by, external_id=external_id)
    entry = entry_of(draft, seq=seq)
    line = read_line(entry.line)
    assert (line.kind, line.body, line.at, line.by) == ("record-added", body, START, by)
    assert (line.external_id, line.seq, line.line) == (external_id, seq, entry.line)
    assert json.loads(entry.line)["body"] == body
    assert b"\n" not in entry.line


@given(
    rows=st.lists(
        st.tuples(ROWS, st.sampled_from(["a%b", "ö", "votes"]), st.none() | NAMES,
                  st.none() | st.integers(1, 9)),
        max_size=5,
    ),
    replacing=st.booleans(),
    named=st.booleans(),
)  # fmt: skip
@LAW
def test_bulk_gives_the_bytes_of_one_by_one(
    *,
    rows: list[tuple[dict[str, Any], str, str | None, int | None]],
    replacing: bool,
    named: bool,
) -> None:
    """The fast way has no form of its own."""
    expected, head = [], genesis("spring")
    for seq, (row, table, external_id, replaced) in enumerate(rows, 7):
        replaces = replaced if replacing else None
        kind = "record-added" if replaces is None else "record-replaced"
        body = {"table": table, "row": row} | ({} if replaces is None else {"replaces": replaces})
        draft = Draft(kind=kind, body=body, at=START, by="a%b", external_id=external_id)
        one = encode_entry(
            draft if named else replace(draft, external_id=None), seq=seq, previous=head
        )
        head = one.sha256
        expected.append((one.line, one.sha256))
    lines, heads = encode_records(
        [write_row(row) for row, *_ in rows], tables=[table for _, table, *_ in rows], start_seq=7,
        previous_head=genesis("spring"), at=START, by="a%b",
        external_ids=[name for _, _, name, _ in rows] if named else None,
        replaces=[seq for *_, seq in rows] if replacing else None,
    )  # fmt: skip
    assert [*zip(lines, heads, strict=True)] == expected


def test_bulk_wants_a_name_for_every_row() -> None:
    """A list that is too short would give names to the wrong records."""
    with pytest.raises(ValueError, match="one for each"):
        encode_records([b"{}", b"{}"], tables=["votes"] * 2, start_seq=2, at=START, by="a",
                     previous_head=genesis("spring"), external_ids=["x"])  # fmt: skip
    with pytest.raises(ValueError, match="shorter"):
        encode_records([b"{}", b"{}"], tables=["votes"], start_seq=2, at=START, by="a",
                     previous_head=genesis("spring"))  # fmt: skip


@pytest.mark.parametrize("how", [{"tables": [""]}, {"by": "a\nb"}, {"start_seq": 0},
                                 {"replaces": [0]}, {"external_ids": [""]}])  # fmt: skip
def test_bulk_rejects_what_is_no_record(how: dict[str, Any]) -> None:
    """It is no way around the checks."""
    call: dict[str, Any] = {"tables": ["votes"], "start_seq": 2, "at": START, "by": "a",
                            "previous_head": genesis("spring"), **how}  # fmt: skip
    with pytest.raises(InvalidEntry):
        encode_records([write_row(VOTE)], **call)


@pytest.mark.parametrize(
    "row",
    [{"x": float("nan")}, {"x": float("inf")}, {"x": 2**64}, {1: "x"}, {"x": date(2026, 1, 1)},
     {"x": {1, 2}}, {"x": "\ud800"}, {"x": [{"y": float("nan")}]}, [1], "text", None],
)  # fmt: skip
def test_what_json_has_no_word_for_is_refused(row: Any) -> None:
    """A NaN written as null would be another record."""
    with pytest.raises(InvalidEntry):
        entry_of(replace(DRAFT, body={"table": "votes", "row": row}))
    with pytest.raises(InvalidEntry):
        write_row(row)


def test_the_text_null_is_no_nan() -> None:
    """The search for NaN reads values, not keys."""
    body = {"table": "votes", "row": {"null": None, "x": "null"}}
    assert entry_of(replace(DRAFT, body=body)).body == body


def test_times_are_written_in_utc_with_microseconds() -> None:
    """Texts of equal length sort like the times."""
    at = datetime(1, 11, 22, 3, 30, 0, 5, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp(at) == "0001-11-22T02:30:00.000005Z"
    with pytest.raises(InvalidEntry, match="without a zone; give a time in UTC"):
        timestamp(datetime(2026, 11, 22))  # noqa: DTZ001 - a time without a zone is the point


def test_all_faults_of_a_draft_are_named_at_once() -> None:
    """The author of an entry reads all its errors."""
    bad = Draft(kind="record-added", body={"tabel": "votes"}, at=START, by="", external_id="")
    with pytest.raises(InvalidEntry) as caught:
        entry_of(bad, seq=0)
    assert [issue.what for issue in caught.value.issues] == [
        "seq is 0", "by is ''", "external_id is ''", "record-added lacks table",
        "record-added lacks row", "record-added has no field 'tabel'",
    ]  # fmt: skip
    assert "did you mean table?" in str(caught.value)


def test_lines_are_not_longer_than_sixteen_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be imported must not be written."""
    assert module.MAX_LINE_BYTES == 16 * 1024 * 1024
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 300)
    long = {"table": "votes", "row": {"x": "y" * 300}}
    with pytest.raises(InvalidEntry, match="record-added 2 is longer than 300 bytes"):
        entry_of(replace(DRAFT, body=long))
    with pytest.raises(InvalidEntry, match="longer than 300 bytes"):
        encode_records([write_row(long["row"])], tables=["votes"], start_seq=2, at=START, by="a",
                     previous_head=genesis("spring"))  # fmt: skip


def _swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda line: line.replace(old, new, 1)


@pytest.mark.parametrize(
    "spoil",
    [
        _swap(b'"seq":2', b'"seq":3,"seq":2'),
        _swap(b'"seq":2', b'"seq": 2'),
        _swap(b'"seq":2', b'"seq":2.0'),
        _swap(b'"seq":2', b'"seq":true'),
        _swap(b'"seq":2', b'"seq":-2'),
        _swap(b'"seq":2', b'"seq":20000000000000000000'),
        _swap(b'"seq":2', b'"more":1,"seq":2'),
        _swap(b',"seq":2', b""),
        _swap(b"02:30", b"25:30"),
        _swap(b".000000Z", b"Z"),
        _swap(b".000000Z", b".000000+00:00"),
        _swap(b'"user:ada"', b"7"),
        _swap(b'"user:ada"', b'"user\\u0000"'),
        _swap(b'"user:ada"', b'"\\u0075ser:ada"'),
        _swap(b'"user:ada"', b'"user:\xff"'),
        _swap(b"record-added", b"record-deleted"),
        _swap(b'"table":"votes"', b'"table":7'),
        _swap(b'"vote":"A"', b'"vote":1' + b"0" * 30),
        _swap(b'"vote":"A"', b'"vote":' + b"[" * 300 + b"]" * 300),
        _swap(b'"vote":"A"', b'"vote":"A\x00"'),
        _swap(b'"vote":"A"', b'"vote":NaN'),
        lambda line: line + b"\r",
        lambda line: line[:-1],
        lambda line: b"\xef\xbb\xbf" + line,
        lambda line: b"[" * len(line),
    ],
)
def test_a_line_in_any_other_form_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    """One entry has one form, so two readers cannot read two things in it."""
    line = entry_of(DRAFT).line
    spoiled = spoil(line)
    assert spoiled != line
    with pytest.raises(InvalidEntry):
        read_line(spoiled)


def test_a_line_knows_its_time() -> None:
    """Readers get values, not text."""
    assert read_line(entry_of(DRAFT).line).at == datetime(2026, 11, 22, 2, 30, tzinfo=UTC)
