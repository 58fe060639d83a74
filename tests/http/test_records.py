"""Records over HTTP: all or nothing, every fault told, no body causes an internal error."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from fakes.instance import Instance, instance_at
from sizes import size

PATH = "/contests/spring/records"
NDJSON = {"content-type": "application/x-ndjson"}


def send(instance: Instance, body: bytes, query: str = "", role: str = "organiser") -> Any:
    """Send a body of records."""
    return instance.post(PATH + query, role, content=body, headers=NDJSON)


def test_records_are_entered_and_known_again(instance: Instance) -> None:
    """A request can be sent twice."""
    instance.contest(people=0)
    body = (
        b'{"table":"users","row":{"id":"a"},"external_id":"x"}\n{"table":"users","row":{"id":"b"}}'
    )
    first, again = send(instance, body), send(instance, body)
    assert (first.status_code, first.json()["added"]) == (201, 2)
    assert (again.status_code, again.json()["added"], again.json()["repeated"]) == (200, 0, 2)
    listed = instance.get(f"{PATH}?table=users&limit=1", "organiser").json()
    assert listed["items"][0]["external_id"] == "x"
    rest = instance.get(f"{PATH}?table=users&cursor={listed['next']}", "organiser").json()
    assert [one["row"]["id"] for one in rest["items"]] == ["b"]


def test_bare_rows_and_single_records_are_taken(instance: Instance) -> None:
    """The forms in which people have their records."""
    instance.contest(people=0)
    assert send(instance, b'{"id":"a"}\n{"id":"b"}\n', "?table=users").json()["added"] == 2
    one = instance.post(PATH, "organiser", json={"table": "users", "row": {"id": "c"}})
    assert one.json()["added"] == 1


@pytest.mark.parametrize("query", ["", "?table=users", "?dry_run=true"])
@pytest.mark.parametrize("body", [b"", b"\n \r\n"])
def test_a_stream_without_records_adds_none(instance: Instance, body: bytes, query: str) -> None:
    """A client that has nothing to send does not have to know it beforehand."""
    instance.contest(people=0)
    summary = send(instance, body, query)
    assert (summary.status_code, summary.json()["added"]) == (200, 0)


def test_a_dry_run_enters_nothing(instance: Instance) -> None:
    """Look before the ledger keeps it for ever."""
    instance.contest(people=0)
    assert send(instance, b'{"id":"a"}', "?table=users&dry_run=true").json()["added"] == 1
    assert instance.get(f"{PATH}?table=users", "organiser").json()["items"] == []


def test_a_record_is_replaced_only_when_asked(instance: Instance) -> None:
    """Other content under the same key is a conflict by itself."""
    instance.contest(people=0)
    send(instance, b'{"id":"a"}', "?table=users")
    changed = b'{"id":"a","handle":"ada"}'
    assert send(instance, changed, "?table=users").status_code == 409
    assert send(instance, changed, "?table=users&replace=true").json()["replaced"] == 1


def test_every_fault_is_told_with_its_line(instance: Instance) -> None:
    """And nothing of the request is entered."""
    instance.contest(people=0)
    body = b'{"table":"users","row":{"id":"a"}}\nnonsense\n{"table":"usrs","row":{}}\n[]\n'
    answer = send(instance, body)
    assert answer.status_code == 422
    told = {fault["pointer"].split("/")[1] for fault in answer.json()["errors"]}
    assert told == {"2", "3", "4"}
    assert instance.get(f"{PATH}?table=users", "organiser").json()["items"] == []


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", ""])
def test_other_kinds_of_bodies_are_refused(instance: Instance, kind: str) -> None:
    """A page of another site can send text/plain without asking; so it is not taken."""
    instance.contest(people=0)
    answer = instance.post(PATH, "organiser", content=b"{}", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported-media-type")


@pytest.mark.parametrize("packing", ["gzip", "br", "deflate", "zstd"])
def test_packed_bodies_are_refused(instance: Instance, packing: str) -> None:
    """A few bytes could unpack to a disk's worth."""
    instance.contest(people=0)
    headers = {**NDJSON, "content-encoding": packing}
    assert instance.post(PATH, "organiser", content=b"x", headers=headers).status_code == 415


def test_a_final_contest_takes_none(instance: Instance) -> None:
    """What is final never changes silently."""
    instance.contest()
    assert instance.post("/contests/spring/finalize", "organiser").status_code == 200
    assert send(instance, b'{"id":"a"}', "?table=users").status_code == 409


def test_contests_live_their_lives_over_http(instance: Instance) -> None:
    """Draft, open, frozen, open, final; what does not come next is a conflict."""
    body = {"id": "autumn", "discipline": "community", "title": "Autumn"}
    made = instance.post("/contests", "organiser", json=body)
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    assert made.headers["location"] == "/api/v1/contests/autumn"
    assert instance.post("/contests/autumn/freeze", "organiser").status_code == 409
    reason = {"reason": "because"}
    steps = [("open", None, "open"), ("freeze", None, "frozen"), ("unfreeze", reason, "open"),
             ("finalize", None, "final")]  # fmt: skip
    for step, sent, state in steps:
        answer = instance.post(f"/contests/autumn/{step}", "organiser", json=sent)
        assert (answer.status_code, answer.json()["state"]) == (200, state), answer.text
    season = instance.post("/contests/autumn/next-season", "organiser", json={"id": "winter"})
    assert (season.status_code, season.json()["season"]) == (201, 2)


def test_an_export_can_be_imported_elsewhere(instance: Instance, tmp_path: Any) -> None:
    """A contest is its ledger; whoever has it has the contest."""
    instance.contest(people=4)
    archive = instance.get("/contests/spring/export", "organiser")
    assert archive.headers["content-type"] == "application/zip"
    folder = tmp_path / "other"
    folder.mkdir()
    other = instance_at(folder)
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
    """Share one instance among all examples."""
    made = instance_at(tmp_path_factory.mktemp("fuzz"))
    made.contest(people=0)
    yield made
    made.service.store.close()


@given(lines=st.lists(_LINES, max_size=6), table=st.sampled_from(["", "?table=users"]))
@examples(max_examples=size(120), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_is_a_fault_of_ours(fuzzed: Instance, lines: list[bytes], table: str) -> None:
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
def test_a_deep_value_is_refused_in_words(instance: Instance, depth: int) -> None:
    """What can be read and not written again is the sender's fault, not ours."""
    instance.contest(people=0)
    body = b'{"table":"users","row":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    answer = instance.post(
        PATH, "organiser", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"]
