"""Records over HTTP: all or nothing, every fault told, no body causes an internal error."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from fakes.http_house import House, house_at
from sizes import size

PATH = "/contests/spring/records"
NDJSON = {"content-type": "application/x-ndjson"}


def send(house: House, body: bytes, query: str = "", role: str = "organiser") -> Any:
    """Send a body of records."""
    return house.post(PATH + query, role, content=body, headers=NDJSON)


def test_records_are_entered_and_known_again(house: House) -> None:
    """A request can be sent twice."""
    house.contest(people=0)
    body = (
        b'{"table":"users","row":{"id":"a"},"external_id":"x"}\n{"table":"users","row":{"id":"b"}}'
    )
    first, again = send(house, body), send(house, body)
    assert (first.status_code, first.json()["added"]) == (201, 2)
    assert (again.status_code, again.json()["added"], again.json()["repeated"]) == (200, 0, 2)
    listed = house.get(f"{PATH}?table=users&limit=1", "organiser").json()
    assert listed["items"][0]["external_id"] == "x"
    rest = house.get(f"{PATH}?table=users&cursor={listed['next']}", "organiser").json()
    assert [one["row"]["id"] for one in rest["items"]] == ["b"]


def test_bare_rows_and_single_records_are_taken(house: House) -> None:
    """The forms in which people have their records."""
    house.contest(people=0)
    assert send(house, b'{"id":"a"}\n{"id":"b"}\n', "?table=users").json()["added"] == 2
    one = house.post(PATH, "organiser", json={"table": "users", "row": {"id": "c"}})
    assert one.json()["added"] == 1


def test_a_dry_run_enters_nothing(house: House) -> None:
    """Look before the ledger keeps it for ever."""
    house.contest(people=0)
    assert send(house, b'{"id":"a"}', "?table=users&dry_run=true").json()["added"] == 1
    assert house.get(f"{PATH}?table=users", "organiser").json()["items"] == []


def test_a_record_is_replaced_only_when_asked(house: House) -> None:
    """Other content under the same key is a conflict by itself."""
    house.contest(people=0)
    send(house, b'{"id":"a"}', "?table=users")
    changed = b'{"id":"a","handle":"ada"}'
    assert send(house, changed, "?table=users").status_code == 409
    assert send(house, changed, "?table=users&replace=true").json()["replaced"] == 1


def test_every_fault_is_told_with_its_line(house: House) -> None:
    """And nothing of the request is entered."""
    house.contest(people=0)
    body = b'{"table":"users","row":{"id":"a"}}\nnonsense\n{"table":"usrs","row":{}}\n[]\n'
    answer = send(house, body)
    assert answer.status_code == 422
    told = {fault["pointer"].split("/")[1] for fault in answer.json()["errors"]}
    assert told == {"2", "3", "4"}
    assert house.get(f"{PATH}?table=users", "organiser").json()["items"] == []


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", ""])
def test_other_kinds_of_bodies_are_refused(house: House, kind: str) -> None:
    """A page of another site can send text/plain without asking; so it is not taken."""
    house.contest(people=0)
    answer = house.post(PATH, "organiser", content=b"{}", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported-media-type")


@pytest.mark.parametrize("packing", ["gzip", "br", "deflate", "zstd"])
def test_packed_bodies_are_refused(house: House, packing: str) -> None:
    """A few bytes could unpack to a disk's worth."""
    house.contest(people=0)
    headers = {**NDJSON, "content-encoding": packing}
    assert house.post(PATH, "organiser", content=b"x", headers=headers).status_code == 415


def test_a_final_contest_takes_none(house: House) -> None:
    """What is final never changes silently."""
    house.contest()
    assert house.post("/contests/spring/finalize", "organiser").status_code == 200
    assert send(house, b'{"id":"a"}', "?table=users").status_code == 409


def test_contests_live_their_lives_over_http(house: House) -> None:
    """Draft, open, frozen, open, final; what does not come next is a conflict."""
    body = {"id": "autumn", "discipline": "community", "title": "Autumn"}
    made = house.post("/contests", "organiser", json=body)
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    assert made.headers["location"] == "/api/v1/contests/autumn"
    assert house.post("/contests/autumn/freeze", "organiser").status_code == 409
    reason = {"reason": "because"}
    steps = [("open", None, "open"), ("freeze", None, "frozen"), ("unfreeze", reason, "open"),
             ("finalize", None, "final")]  # fmt: skip
    for step, sent, state in steps:
        answer = house.post(f"/contests/autumn/{step}", "organiser", json=sent)
        assert (answer.status_code, answer.json()["state"]) == (200, state), answer.text
    season = house.post("/contests/autumn/next-season", "organiser", json={"id": "winter"})
    assert (season.status_code, season.json()["season"]) == (201, 2)


def test_an_export_can_be_imported_elsewhere(house: House, tmp_path: Any) -> None:
    """A contest is its ledger; whoever has it has the contest."""
    house.contest(people=4)
    archive = house.get("/contests/spring/export", "organiser")
    assert archive.headers["content-type"] == "application/zip"
    folder = tmp_path / "other"
    folder.mkdir()
    other = house_at(folder)
    headers = {"content-type": "application/zip"}
    taken = other.post("/contests/import", "operator", content=archive.content, headers=headers)
    assert (taken.status_code, taken.json()["seq"]) == (201, 6), taken.text
    assert other.get("/contests/spring/export", "operator").content == archive.content
    again = other.post("/contests/import", "operator", content=archive.content, headers=headers)
    assert again.status_code == 409
    other.service.store.close()


_LINES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([
        b"{", b"null", b'{"table":"users","row":{"id":"\\ud800"}}', b'{"table":"users","row":[]}',
        b'{"table":"users","row":{"id":1e999}}', b'{"table":"users","row":{"id":NaN}}',
        b'{"table":"users","row":{"id":"a\\u0000b"}}', b'{"table":"users","row":{"id":{"a":[]}}}',
        b'{"table":"users","row":{"id":"' + b"x" * 5000 + b'"}}', b"[" * 2000 + b"]" * 2000,
        b'{"table":"users","row":{"id":"a","created_at":"9999-99-99"}}', b"\xff\xfe", b"\x00",
        b'{"table":"users","row":{"id":99999999999999999999999999}}', b'{"table":"' + b"a" * 300,
        b'{"table":"users","row":{"id":"a"},"external_id":""}', b'{"table":"users","row":{"":1}}',
        b'{"table":"prompt_sets","row":{"id":"p","owner_id":"nobody"}}', b"\r", b" ",
    ]),
)  # fmt: skip


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Share one house among all examples."""
    made = house_at(tmp_path_factory.mktemp("fuzz"))
    made.contest(people=0)
    yield made
    made.service.store.close()


@given(lines=st.lists(_LINES, max_size=6), table=st.sampled_from(["", "?table=users"]))
@examples(max_examples=size(120), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_is_a_fault_of_ours(fuzzed: House, lines: list[bytes], table: str) -> None:
    """Whatever strangers send is refused in our form, or entered."""
    answer = send(fuzzed, b"\n".join(lines), table)
    assert answer.status_code in {200, 201, 409, 422}, answer.text
    single = fuzzed.post(
        PATH + table,
        "organiser",
        content=b"".join(lines),
        headers={"content-type": "application/json"},
    )
    assert single.status_code in {200, 201, 409, 422}, single.text


@pytest.mark.parametrize("depth", [200, 254, 255, 300, 1_000, 100_000])
def test_a_deep_value_is_refused_in_words(house: House, depth: int) -> None:
    """What can be read and not written again is the sender's fault, not ours."""
    house.contest(people=0)
    body = b'{"table":"users","row":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    answer = house.post(
        PATH, "organiser", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"]
