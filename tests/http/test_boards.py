"""Boards over HTTP: the bytes that were hashed, pages, downloads, nothing after a freeze."""

import csv
import io
from typing import Any

import orjson
import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.app.spreadsheets import escape_formula
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


def test_a_page_holds_the_lines_that_were_hashed(instance: Instance) -> None:
    """Whoever has the page can check the board's hash against the manifest."""
    instance.contest(people=5)
    page = instance.get(f"{BOARD}?limit=500").json()
    assert [row["id"] for row in page["rows"]] == ["u0", "u1", "u2", "u3", "u4"]
    assert page["rows_total"] == 5
    assert page["seq"] == 7
    with instance.service.store.read() as session:
        lines = session.snapshots.lines(page["snapshot"], start=0, count=500)
    assert b"[" + b",".join(lines) + b"]" in instance.get(f"{BOARD}?limit=500").content


def test_pages_follow_one_snapshot_whatever_is_published_meanwhile(instance: Instance) -> None:
    """Who pages through a board must not see somebody twice, or miss somebody."""
    instance.contest(people=7)
    page = instance.get(f"{BOARD}?limit=3").json()
    seen = [row["id"] for row in page["rows"]]
    instance.people("spring", 5, begin=100)
    while page["next"]:
        page = instance.get(f"{BOARD}?limit=3&cursor={page['next']}").json()
        seen += [row["id"] for row in page["rows"]]
    assert seen == [f"u{n}" for n in range(7)]
    back = instance.get(f"{BOARD}?cursor={page['previous']}").json()
    assert [row["id"] for row in back["rows"]] == ["u3", "u4", "u5"]


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_the_limit_is_honoured(instance: Instance, limit: int) -> None:
    """A limit that is quietly changed breaks whoever counts on it."""
    instance.contest(people=4)
    assert len(instance.get(f"{BOARD}?limit={limit}").json()["rows"]) == min(limit, 4)


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "limt=5", "format=xml",
                                   "cursor=abc", "as_of=yesterday", "cursor=&as_of=1", "q=",
                                   "q=%00", "q=u&around=u1", "q=u&format=csv",
                                   "q=u&cursor=x"])  # fmt: skip
def test_what_cannot_be_meant_is_refused(instance: Instance, query: str) -> None:
    """Nothing is quietly ignored, a misspelt name neither."""
    instance.contest()
    answer = instance.get(f"{BOARD}?{query}")
    assert answer.status_code == 422, answer.text


def test_ones_own_row_comes_with_neighbours_and_its_place(instance: Instance) -> None:
    """People look for themselves first."""
    instance.contest(people=9)
    page = instance.get(f"{BOARD}/rows/u4?neighbors=2").json()
    assert [row["id"] for row in page["rows"]] == ["u2", "u3", "u4", "u5", "u6"]
    assert (page["index"], page["start"]) == (4, 2)
    assert instance.get(f"{BOARD}/rows/nobody").status_code == 404
    around = instance.get(f"{BOARD}?around=u8&limit=4").json()
    assert around["index"] == 8
    assert "u8" in [row["id"] for row in around["rows"]]


def test_people_are_found_by_how_their_ids_begin(instance: Instance) -> None:
    """Nobody pages through a million rows to find a friend."""
    instance.contest(people=12)
    found = instance.get(f"{BOARD}?q=u1&limit=2").json()
    assert [row["id"] for row in found["rows"]] == ["u1", "u10"]
    rest = instance.get(f"{BOARD}?q=u1&limit=2&cursor={found['next']}").json()
    assert ([row["id"] for row in rest["rows"]], rest["next"]) == (["u11"], None)
    assert instance.get(f"{BOARD}?q=zoe").json()["rows"] == []
    assert instance.get(f"{BOARD}?q=%F0%9F%98%80").json()["rows"] == []


def test_a_client_that_has_the_page_is_not_sent_it_again(instance: Instance) -> None:
    """Boards are polled; an unchanged one costs a few bytes."""
    instance.contest()
    first = instance.get(BOARD)
    tag = first.headers["etag"]
    again = instance.get(BOARD, headers={"if-none-match": f'"other", {tag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    assert not tag.startswith("W/")
    assert instance.get(f"{BOARD}?limit=1").headers["etag"] != tag
    instance.people("spring", 1, begin=50)
    changed = instance.get(BOARD, headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_only_what_the_public_sees_may_be_kept_by_everybody(instance: Instance) -> None:
    """A shared cache must not hand an organiser's view to others."""
    instance.contest()
    assert instance.get(BOARD).headers["cache-control"] == "no-cache"
    own = instance.get(BOARD, "organiser").headers
    assert "private" in own["cache-control"]
    assert "authorization" in own["vary"]


def test_a_proof_can_be_checked_without_this_instance(instance: Instance) -> None:
    """A row on a board is worth what its proof is worth."""
    instance.contest(people=6)
    proof = instance.get(f"{BOARD}/proofs/u3").json()
    manifest = proof["manifest"]
    size = manifest["rows"] + manifest["unscored"]
    assert verify(
        proof["line"].encode(),
        proof["index"],
        size,
        [bytes.fromhex(one) for one in proof["path"]],
        bytes.fromhex(manifest["merkle_root"]),
    )


def test_explanation_history_and_participants_answer(instance: Instance) -> None:
    """Why, since when, and where else: what people ask after their rank."""
    instance.contest()
    instance.people("spring", 1, begin=30)
    assert instance.get(f"{BOARD}/explanations/u1").json()["parts"]
    assert instance.get(f"{BOARD}/history/u1").json()["items"][0]["rank"] == 1
    assert instance.get("/contests/spring/participants/u1").json()["boards"]
    listed = instance.get("/contests/spring/participants?limit=2").json()
    assert [one["id"] for one in listed["items"]] == ["u0", "u1"]
    assert listed["next"]


def test_csv_cannot_run_in_a_spreadsheet(instance: Instance) -> None:
    """A name is chosen by a stranger; opened by an organiser, it must not be a formula."""
    instance.contest(people=0)
    names = ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "a,b", 'q"q', "plain"]
    record(
        instance.service, "spring", [("users", {"id": name}, None) for name in names], by=ORGANISER
    )
    publish(instance.service, "spring")
    answer = instance.get(f"{BOARD}?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert {row["id"] for row in rows} == {escape_formula(name) for name in names}
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in rows
                   for cell in row.values())  # fmt: skip
    assert next(iter(rows[0])) == "rank"


def test_a_download_is_the_whole_board(instance: Instance) -> None:
    """Pages are for screens; who computes wants everything."""
    instance.contest(people=1203)
    answer = instance.get(BOARD, headers={"accept": "application/x-ndjson"})
    rows = [orjson.loads(line) for line in answer.content.splitlines()]
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert {row["id"] for row in rows} == {f"u{n}" for n in range(1203)}
    again = instance.get(
        BOARD, headers={"accept": "application/x-ndjson", "if-none-match": answer.headers["etag"]}
    )
    assert again.status_code == 304


def seen_by(instance: Instance, role: str | None) -> dict[str, tuple[int, bytes]]:
    """Ask for everything the public can ask for."""
    return {path: (found.status_code, stable(found)) for path in PUBLIC
            if (found := instance.get(path, role))}  # fmt: skip


def stable(answer: Any) -> bytes:
    """Return an answer without the request's own id."""
    name = answer.headers.get("x-request-id", "").encode()
    return bytes(answer.content).replace(name, b"ID") if name else bytes(answer.content)


@pytest.mark.parametrize("role", [None, "viewer", "participant", "judge", "worker"])
def test_nothing_after_the_freeze_is_seen_by_the_public(
    instance: Instance, role: str | None
) -> None:
    """Who could see ranks move in the dark would know the result before it is told."""
    instance.contest(people=3)
    transitions.freeze(instance.service, "spring", by=ORGANISER)
    before = seen_by(instance, role)
    instance.people("spring", 50, begin=5)
    assert seen_by(instance, role) == before
    for path in STAFF_ONLY if role != "worker" else STAFF_ONLY[:-1]:  # workers see the queue
        assert instance.get(path, role).status_code in {401, 403}


def test_staff_see_what_happens_during_a_freeze(instance: Instance) -> None:
    """The result has to be looked at before it is told."""
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
