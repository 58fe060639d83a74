"""Check that a request's notes and warnings are those of the same rows at the other doors."""

from io import BytesIO
from pathlib import Path

import duckdb
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.analysis.records import inspect_records
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.read_values import ComparedTexts
from agon.app.contests.ingest.records import record
from agon.app.contests.ingest.uploads import read_upload
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.ledgers import ImportSummary
from agon.records.look_alikes import _FOLDED, fold_look, source_findings
from agon.records.raw import literal
from fakes.service import ORGANISER, service_at

Tables = dict[str, list[dict[str, object]]]

TABLES: Tables = {
    "owners": [
        {"id": "o1", "handle": "hö", "account_created_at": "2026-01-01 10:00"},
        {"id": "o2", "handle": "ho\u0308", "account_created_at": "2026-01-01T10:00:00Z"},
    ],
    "bots": [
        {"id": "x", "owner_id": "o1", "name": "GPT-4"},
        {"id": "y", "owner_id": "o2", "name": "gpt\u20114 "},
        {"id": "z", "owner_id": "o2", "name": "N/A"},
    ],
    "matches": [
        {"id": 1, "bot_a": "x", "bot_b": "y", "Kind": "Rated", "winner": "X",
         "playedAt": 1_760_000_000},
        {"id": 2, "bot_a": "x", "bot_b": "y", "Kind": "rated", "winner": "draw",
         "playedAt": 1_760_000_100},
        {"id": 3, "bot_a": "x", "bot_b": "y", "Kind": "rated", "winner": "Draw",
         "playedAt": "1760000200"},
    ],
}  # fmt: skip


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """Open a service with an empty arena."""
    opened = service_at(tmp_path)
    create(opened, NewContest(id="hall", discipline="arena", title="Hall"), by=ORGANISER)
    open_contest(opened, "hall", by=ORGANISER)
    return opened


def add(service: Service, *lines: bytes) -> ImportSummary:
    """Add lines of NDJSON."""
    return record(service, "hall", read_ndjson(lines), by=ORGANISER)


def lines_of(tables: Tables) -> list[bytes]:
    """Return rows as the lines of a request."""
    return [
        orjson.dumps({"table": table, "row": row}) + b"\n"
        for table, rows in tables.items()
        for row in rows
    ]


def test_a_request_has_the_notes_and_warnings_that_its_folder_has(
    service: Service, tmp_path: Path
) -> None:
    """A sender of NDJSON reads what one of files reads: names, values, times, and what is alike."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for table, rows in TABLES.items():
        (folder / f"{table}.ndjson").write_bytes(
            b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        )
    records, issues = inspect_records("arena", folder)
    assert not issues
    summary = add(service, *lines_of(TABLES))
    assert set(summary.notes) == set(records.notes)
    assert set(summary.warnings) == {finding.message for finding in source_findings(records)}
    assert len(summary.notes) == 5
    assert len(summary.warnings) == 3
    assert "matches.winner: read names as the side of that name (1 row), 'Draw' as tie" in str(
        sorted(summary.notes)
    )
    records.close()


def test_exact_rows_have_no_note_and_no_warning(service: Service) -> None:
    """Numbers of another type, and ids in quotes, are no other spelling."""
    rows: list[dict[str, object]] = [
        {"id": "7", "handle": "ada", "account_created_at": "2026-01-01"}
    ]
    summary = add(service, *lines_of({"owners": rows}))
    assert (summary.added, summary.notes, summary.warnings) == (1, (), ())


def test_rows_of_an_uploaded_file_have_its_notes_and_their_warnings(service: Service) -> None:
    """The desk shows both; the rows that it sends are in normal form."""
    content = b"id;Handle;account_created_at\no1;null;2026-01-01 10:00\n"
    with read_upload("arena", "owners", "owners.csv", BytesIO(content), option="") as upload:
        summary = add(service, *upload.lines())
        assert upload.notes == (
            "read Handle as handle",
            "times without a zone are read as UTC: account_created_at",
        )
    assert summary.notes == ()
    [warning] = summary.warnings
    assert warning.startswith("owners.handle has 'null', which count as values")


def test_a_word_like_no_value_is_counted_in_each_batch_of_a_request() -> None:
    """A text is examined once, where it is new; its rows are counted wherever they are."""
    table, texts = discipline("arena").schema.table("bots"), ComparedTexts()
    for names in (["NA"], ["null", "NA"], ["null", "a", "null"]):
        texts.add(table, {"name": names})
    [missing] = texts.warnings  # the most frequent first: three rows and two
    assert missing.startswith("bots.name has 'null', 'NA', which count as values")


@given(st.text(st.sampled_from("aÄb\u0308 \t\u00a0\u200b\u2011-ẞİΣ"), max_size=8))
def test_texts_look_alike_to_a_request_as_to_the_engine(text: str) -> None:
    """Two implementations of one fold; letters whose small form depends on the place differ."""
    sql = f"SELECT {_FOLDED} FROM (SELECT {literal(text)} AS text)"
    folded = duckdb.execute(sql).fetchall()[0][0]
    if not set(text) & set("İΣ"):
        assert fold_look(text) == folded


def test_a_word_of_a_closed_list_is_stored_as_the_word_of_the_schema(service: Service) -> None:
    """Also where it is the only thing that a row has in another spelling."""
    add(service, *lines_of({"owners": TABLES["owners"], "bots": TABLES["bots"]}))
    row: dict[str, object] = {"id": 1, "bot_a": "x", "bot_b": "y",
                              "played_at": "2026-01-01T10:00:00Z", "winner": "a"}  # fmt: skip
    assert add(service, *lines_of({"matches": [{**row, "kind": "Rated "}]})).added == 1
    with service.store.read() as session:
        no = session.contests.get("hall").no
        [entry] = session.entries.rows(no, "matches", after=0, limit=2)
    assert orjson.loads(entry.line)["body"]["row"] == {**row, "kind": "rated"}
