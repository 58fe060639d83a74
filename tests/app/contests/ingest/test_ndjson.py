"""Test reading lines of records, with any input."""

import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.contests.ingest import ndjson as module
from agon.app.contests.ingest.batches import SentRecord
from agon.app.contests.ingest.ndjson import MAX_LINE_BYTES, Lines, read_ndjson
from agon.records import RowIssue


def _read(body: bytes, *, table: str | None = None, cut: int = 7) -> list[SentRecord]:
    chunks = [body[at : at + cut] for at in range(0, len(body), cut)]
    return list(read_ndjson(chunks, table=table))


def test_enveloped_and_bare_lines_are_read_with_their_numbers() -> None:
    """Blank lines are skipped, and counted."""
    body = b'\xef\xbb\xbf{"table":"votes","row":{"a":1}}\r\n\n'
    body += b'{"row":{},"table":"bots","external_id":"x"}'
    assert _read(body) == [SentRecord("votes", {"a": 1}, None, 1), SentRecord("bots", {}, "x", 3)]
    assert _read(b'{"table":1}\n{}', table="votes") == [
        SentRecord("votes", {"table": 1}, None, 1), SentRecord("votes", {}, None, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("length", [10, 2_000])
@pytest.mark.parametrize("records", [999, 1_000, 1_001, 2_000, 2_001])
def test_a_body_may_end_where_a_batch_ends(records: int, length: int) -> None:
    """Lines are read in batches of a number of lines or MiB; neither limit loses or adds one."""
    text = "x" * length
    body = b"".join(b'{"n":%d,"text":"%s"}\n' % (n, text.encode()) for n in range(records))
    read = _read(body, table="notes", cut=1 << 16)
    assert read == [
        SentRecord("notes", {"n": n, "text": text}, None, n + 1) for n in range(records)
    ]


def test_all_chunks_are_read_before_the_first_record_is_yielded() -> None:
    """A slow client must not hold the lock under which records are read."""
    taken = []

    def chunks() -> object:
        for number in range(3):
            taken.append(number)
            yield b'{"table":"t","row":{}}\n'

    records = read_ndjson(chunks())  # type: ignore[arg-type] # a generator of bytes
    assert taken == [0, 1, 2]
    assert len(list(records)) == 3


def test_every_invalid_line_is_an_issue_with_its_number() -> None:
    """All are reported together."""
    lines = [b"{", b"[1]", b'"x"', b'{"table":"t"}', b'{"row":{}}', b'{"table":"t","row":[]}',
             b'{"table":"t","row":{},"extra":1}', b'{"table":"t","row":{},"external_id":7}',
             b'{"table":"t","row":{},"external_id":"a\\u0000"}', b"\xff\xfe", b"NaN",
             b'{"table":"t","row":{"a":NaN}}', b"[" * 5000]  # fmt: skip
    read = _read(b"\n".join(lines), cut=1000)
    issues = [one.row for one in read if isinstance(one.row, RowIssue)]
    assert [issue.line for issue in issues] == list(range(1, len(lines) + 1))
    assert all(issue.remedy for issue in issues)


def test_an_endless_line_is_not_a_record() -> None:
    """Memory is bounded by the longest line that is read."""
    body = b'{"table":"t","row":{"a":"' + b"x" * MAX_LINE_BYTES + b'"}}\n{"table":"t","row":{}}'
    long, good = _read(body, cut=1 << 20)
    assert isinstance(long.row, RowIssue)
    assert "more than" in long.row.reason
    assert good == SentRecord("t", {}, None, 2)


@given(st.lists(st.binary(max_size=40), max_size=5), st.booleans())
def test_any_bytes_are_read(lines: list[bytes], bare: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    """Each line is a record or an issue."""
    for one in _read(b"\n".join(lines), table="t" if bare else None):
        assert isinstance(one.row, dict | RowIssue)


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers(-5, 5) | st.text()), max_size=5))
def test_written_lines_are_read_again(rows: list[dict[str, object]]) -> None:
    """The boundaries of chunks do not matter."""
    body = b"\n".join(json.dumps({"table": "t", "row": row}).encode() for row in rows)
    try:
        body.decode().encode("utf-8")
    except UnicodeEncodeError:
        return
    read = [one.row for one in _read(body, cut=3)]
    storable = [row for row in rows if _is_utf8(row)]
    assert [one for one in read if not isinstance(one, RowIssue)] == storable


def _is_utf8(row: dict[str, object]) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
@pytest.mark.parametrize("block", [1, 60, 1 << 20])
def test_batches_have_all_records_and_at_most_the_requested_number(
    monkeypatch: pytest.MonkeyPatch, size: int, end: bytes, block: int
) -> None:
    """The ends of blocks, batches and the body do not matter."""
    monkeypatch.setattr(module, "_BLOCK", block)
    body = b"\n".join(b'{"table":"t","row":{"a":%d}}' % number for number in range(6)) + end
    batches = list(Lines(BytesIO(body)).batches(size))
    assert max(len(batch.rows) for batch in batches) <= size
    assert [row["a"] for batch in batches for row in batch.rows] == list(range(6))
    assert [line for batch in batches for line in batch.lines] == list(range(1, 7))
