"""Boards over HTTP: exact hashed bytes, pages, downloads, and secrecy after a freeze."""

import csv
import io
from typing import Any

import orjson
import pytest
from pyarrow import parquet

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.app.spreadsheets import escape_formula
from agon.http.boards import download
from agon.ledger.merkle import verify
from fakes.instance import Instance
from fakes.service import ORGANISER

BOARD = "/contests/spring/boards/user-score"
PUBLIC = [
    "/contests",
    "/contests/spring",
    "/contests/spring/boards",
    BOARD,
    f"{BOARD}?format=csv",
    f"{BOARD}?format=ndjson",
    f"{BOARD}?format=parquet",
    f"{BOARD}?as_of=999999",
    f"{BOARD}?as_of=2030-01-01T00:00:00Z",
    f"{BOARD}?around=u1",
    f"{BOARD}?q=u",
    f"{BOARD}?q=u&limit=1",
    f"{BOARD}?q=u7",
    f"{BOARD}/unscored",
    f"{BOARD}/rows/u1?neighbors=5",
    f"{BOARD}/rows/u7",
    f"{BOARD}/proofs/u1",
    f"{BOARD}/explanations/u1",
    f"{BOARD}/explanations/u7",
    f"{BOARD}/history/u1",
    f"{BOARD}/history/u7",
    "/contests/spring/snapshots",
    "/contests/spring/participants",
    "/contests/spring/participants/u7",
    "/contests/spring/ledger/head",
]
STAFF_ONLY = [
    "/contests/spring/ledger",
    "/contests/spring/records?table=users",
    "/contests/spring/export",
    "/contests/spring/findings",
    "/contests/spring/cases",
    "/contests/spring/change-sets",
    "/contests/spring/webhooks",
    "/jobs?contest=spring",
]


def test_a_page_contains_the_exact_hashed_lines(instance: Instance) -> None:
    """Clients can check the board's hash against the manifest from the pages alone."""
    instance.contest(people=5)
    page = instance.get(f"{BOARD}?limit=500").json()
    assert [row["id"] for row in page["rows"]] == ["u0", "u1", "u2", "u3", "u4"]
    assert page["rows_total"] == 5
    assert page["seq"] == 7
    with instance.service.store.read() as session:
        lines = session.snapshots.lines(page["snapshot"], start=0, count=500)
    assert b"[" + b",".join(lines) + b"]" in instance.get(f"{BOARD}?limit=500").content


@pytest.mark.exhaustive
def test_a_cursor_stays_on_its_snapshot_while_others_are_published(instance: Instance) -> None:
    """Paging through a board must neither repeat nor skip participants."""
    instance.contest(people=7)
    page = instance.get(f"{BOARD}?limit=3").json()
    ids = [row["id"] for row in page["rows"]]
    instance.people("spring", 5, begin=100)
    while page["next"]:
        page = instance.get(f"{BOARD}?limit=3&cursor={page['next']}").json()
        ids += [row["id"] for row in page["rows"]]
    assert ids == [f"u{n}" for n in range(7)]
    back = instance.get(f"{BOARD}?cursor={page['previous']}").json()
    assert [row["id"] for row in back["rows"]] == ["u3", "u4", "u5"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [1, 2, 500])
def test_a_page_has_as_many_rows_as_its_limit(instance: Instance, limit: int) -> None:
    """A limit that is silently changed breaks clients that rely on it."""
    instance.contest(people=4)
    assert len(instance.get(f"{BOARD}?limit={limit}").json()["rows"]) == min(limit, 4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "limt=5", "format=xml",
                                   "cursor=abc", "as_of=yesterday", "cursor=&as_of=1", "q=",
                                   "q=%00", "q=u&around=u1", "q=u&format=csv",
                                   "q=u&cursor=x", "sort=", "sort=nothing", "minimum=1",
                                   "sort=score&q=u", "sort=score&minimum=nan",
                                   "sort=score&cursor=x"])  # fmt: skip
def test_invalid_query_parameters_are_rejected(instance: Instance, query: str) -> None:
    """Nothing is silently ignored, not even a misspelled name."""
    instance.contest()
    response = instance.get(f"{BOARD}?{query}")
    assert response.status_code == 422, response.text


@pytest.mark.exhaustive
def test_a_row_is_returned_with_its_neighbors_and_index(instance: Instance) -> None:
    """Participants look up their own rank first."""
    instance.contest(people=9)
    page = instance.get(f"{BOARD}/rows/u4?neighbors=2").json()
    assert [row["id"] for row in page["rows"]] == ["u2", "u3", "u4", "u5", "u6"]
    assert (page["index"], page["start"]) == (4, 2)
    assert instance.get(f"{BOARD}/rows/nobody").status_code == 404
    around = instance.get(f"{BOARD}?around=u8&limit=4").json()
    assert around["index"] == 8
    assert "u8" in [row["id"] for row in around["rows"]]


def test_rows_are_searched_by_id_prefix(instance: Instance) -> None:
    """A search avoids paging through a million rows."""
    instance.contest(people=12)
    page = instance.get(f"{BOARD}?q=u1&limit=2").json()
    assert [row["id"] for row in page["rows"]] == ["u1", "u10"]
    rest = instance.get(f"{BOARD}?q=u1&limit=2&cursor={page['next']}").json()
    assert ([row["id"] for row in rest["rows"]], rest["next"]) == (["u11"], None)
    assert instance.get(f"{BOARD}?q=zoe").json()["rows"] == []  # names of people are hidden
    assert instance.get(f"{BOARD}?q=%F0%9F%98%80").json()["rows"] == []


@pytest.mark.exhaustive
def test_a_conditional_request_for_an_unchanged_board_returns_304(instance: Instance) -> None:
    """Boards are polled; an unchanged one must cost only a few bytes."""
    instance.contest()
    response = instance.get(BOARD)
    tag = response.headers["etag"]
    again = instance.get(BOARD, headers={"if-none-match": f'"other", {tag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    assert not tag.startswith("W/")
    assert instance.get(f"{BOARD}?limit=1").headers["etag"] != tag
    instance.people("spring", 1, begin=50)
    changed = instance.get(BOARD, headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_responses_for_staff_are_marked_private(instance: Instance) -> None:
    """A shared cache must not serve an organiser's view to other callers."""
    instance.contest()
    assert instance.get(BOARD).headers["cache-control"] == "no-cache"
    own = instance.get(BOARD, "organiser").headers
    assert "private" in own["cache-control"]
    assert "authorization" in own["vary"]


@pytest.mark.exhaustive
def test_a_proof_verifies_without_the_server(instance: Instance) -> None:
    """Anyone can verify a row against the board's Merkle root."""
    instance.contest(people=6)
    proof = instance.get(f"{BOARD}/proofs/u3").json()
    manifest = proof["manifest"]
    size = manifest["rows"] + manifest["unscored"]
    assert verify(
        proof["line"].encode(),
        proof["index"],
        size,
        [bytes.fromhex(node) for node in proof["path"]],
        bytes.fromhex(manifest["merkle_root"]),
    )


@pytest.mark.exhaustive
def test_explanations_histories_and_participants_are_served(instance: Instance) -> None:
    """They explain a rank, its changes and a participant's other boards."""
    instance.contest()
    instance.people("spring", 1, begin=30)
    assert instance.get(f"{BOARD}/explanations/u1").json()["parts"]
    assert instance.get(f"{BOARD}/history/u1").json()["items"][0]["rank"] == 1
    assert instance.get("/contests/spring/participants/u1").json()["boards"]
    participants = instance.get("/contests/spring/participants?limit=2").json()
    assert [node["id"] for node in participants["items"]] == ["u0", "u1"]
    assert participants["next"]


def test_csv_cells_are_never_spreadsheet_formulas(instance: Instance) -> None:
    """Participants choose their ids; opened by an organiser, an id must not run as a formula."""
    instance.contest(people=0)
    names = ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "a,b", 'q"q', "plain"]
    record(
        instance.service, "spring", [("users", {"id": name}, None) for name in names], by=ORGANISER
    )
    publish(instance.service, "spring")
    response = instance.get(f"{BOARD}?format=csv")
    assert response.headers["content-type"].startswith("text/csv")
    assert "attachment" in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.text, newline="")))
    assert {row["id"] for row in rows} == {escape_formula(name) for name in names}
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in rows
                   for cell in row.values())  # fmt: skip
    assert next(iter(rows[0])) == "rank"


@pytest.mark.exhaustive
def test_a_download_contains_all_rows(instance: Instance) -> None:
    """Programs that compute with a board need all of it."""
    instance.contest(people=1203)
    response = instance.get(BOARD, headers={"accept": "application/x-ndjson"})
    rows = [orjson.loads(line) for line in response.content.splitlines()]
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert {row["id"] for row in rows} == {f"u{n}" for n in range(1203)}
    again = instance.get(
        BOARD, headers={"accept": "application/x-ndjson", "if-none-match": response.headers["etag"]}
    )
    assert again.status_code == 304


def seen_by(instance: Instance, role: str | None) -> dict[str, tuple[int, bytes]]:
    """Return the responses of all public paths."""
    return {path: (page.status_code, stable(page)) for path in PUBLIC
            if (page := instance.get(path, role))}  # fmt: skip


def stable(response: Any) -> bytes:
    """Return the body of a response without the request id."""
    name = response.headers.get("x-request-id", "").encode()
    return bytes(response.content).replace(name, b"ID") if name else bytes(response.content)


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", [None, "viewer", "participant", "judge", "worker"])
def test_the_public_sees_no_changes_after_a_freeze(instance: Instance, role: str | None) -> None:
    """Rank changes during a freeze would reveal the result before it is announced."""
    instance.contest(people=3)
    transitions.freeze(instance.service, "spring", by=ORGANISER)
    before = seen_by(instance, role)
    instance.people("spring", 50, begin=5)
    assert seen_by(instance, role) == before
    for path in STAFF_ONLY if role != "worker" else STAFF_ONLY[:-1]:  # workers see the queue
        assert instance.get(path, role).status_code in {401, 403}


@pytest.mark.exhaustive
def test_staff_see_current_results_during_a_freeze(instance: Instance) -> None:
    """Organisers must review the result before it is announced."""
    instance.contest(people=3)
    transitions.freeze(instance.service, "spring", by=ORGANISER)
    instance.people("spring", 50, begin=5)
    assert instance.get(BOARD, "organiser").json()["rows_total"] == 53
    assert instance.get(BOARD).json()["rows_total"] == 3
    cursor = instance.get(f"{BOARD}?limit=2", "organiser").json()["next"]
    assert instance.get(f"{BOARD}?limit=2&cursor={cursor}").status_code == 404
    newest = instance.get("/contests/spring/snapshots", "organiser").json()["items"][0]["snapshot"]
    assert instance.get(f"/contests/spring/snapshots/{newest}").status_code == 404
    transitions.finalize(instance.service, "spring", by=ORGANISER)
    assert instance.get(BOARD).json()["rows_total"] == 53


def test_parquet_has_the_rows_with_their_types(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Analysts load it without guessing types; several row groups are one table."""
    monkeypatch.setattr(download, "_GROUP_ROWS", 2)
    instance.contest("spring", people=5)
    response = instance.get(f"{BOARD}?format=parquet")
    assert response.headers["content-type"] == "application/vnd.apache.parquet"
    assert response.headers["content-disposition"].endswith('.parquet"')
    table = parquet.read_table(io.BytesIO(response.content))
    rows = instance.get(BOARD).json()["rows"]
    assert table.column_names[:3] == ["rank", "id", "score"]
    assert str(table.schema.field("rank").type) == "int64"
    assert table.column("id").to_pylist() == [row["id"] for row in rows]
    assert table.column("score").to_pylist() == [row["score"] for row in rows]
    part, points = next(iter(rows[0]["components"].items()))
    assert table.column(f"components.{part}")[0].as_py() == points
    tag = {"if-none-match": response.headers["etag"]}
    assert instance.get(f"{BOARD}?format=parquet", headers=tag).status_code == 304
    accept = {"accept": "application/vnd.apache.parquet"}
    assert instance.get(BOARD, headers=accept).content == response.content


@pytest.mark.parametrize(
    ("values", "type_name", "stored"),
    [
        ([1, 2.5, None], "double", [1.0, 2.5, None]),
        ([1, None], "int64", [1, None]),
        ([None], "string", [None]),
        ([True, 1], "string", ["true", "1"]),
        (["a", None, [1]], "string", ['"a"', None, "[1]"]),
        (["a"], "string", ["a"]),
    ],
)
def test_a_column_of_parquet_has_one_type(
    values: list[Any], type_name: str, stored: list[Any]
) -> None:
    """Rows of a board need not agree about a field."""
    lines = b"".join(b'{"x":%s}\n' % orjson.dumps(value) for value in values)
    types: dict[str, str] = {}
    for value in values:
        kind = download._type_of(value)
        types["x"] = download._common_type(types.get("x", ""), kind)
    out = io.BytesIO()
    download._write_parquet(io.BytesIO(lines), out, types)
    column = parquet.read_table(io.BytesIO(out.getvalue())).column("x")
    assert (str(column.type), column.to_pylist()) == (type_name, stored)
