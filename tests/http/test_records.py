"""Records over HTTP: all or nothing, all errors reported, and no internal errors."""

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
    """Post a body of records."""
    return instance.post(PATH + query, role, content=body, headers=NDJSON)


@pytest.mark.exhaustive
def test_repeated_records_are_added_once(instance: Instance) -> None:
    """Clients may repeat a request."""
    instance.contest(people=0)
    body = (
        b'{"table":"users","row":{"id":"a"},"external_id":"x"}\n{"table":"users","row":{"id":"b"}}'
    )
    response, again = send(instance, body), send(instance, body)
    assert (response.status_code, response.json()["added"]) == (201, 2)
    assert (again.status_code, again.json()["added"], again.json()["repeated"]) == (200, 0, 2)
    page = instance.get(f"{PATH}?table=users&limit=1", "organiser").json()
    assert page["items"][0]["external_id"] == "x"
    rest = instance.get(f"{PATH}?table=users&cursor={page['next']}", "organiser").json()
    assert [item["row"]["id"] for item in rest["items"]] == ["b"]


@pytest.mark.exhaustive
def test_bare_rows_and_single_records_are_accepted(instance: Instance) -> None:
    """Clients have records in both formats."""
    instance.contest(people=0)
    assert send(instance, b'{"id":"a"}\n{"id":"b"}\n', "?table=users").json()["added"] == 2
    item = instance.post(PATH, "organiser", json={"table": "users", "row": {"id": "c"}})
    assert item.json()["added"] == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("query", ["", "?table=users", "?dry_run=true"])
@pytest.mark.parametrize("body", [b"", b"\n \r\n"])
def test_a_stream_without_records_adds_none(instance: Instance, body: bytes, query: str) -> None:
    """A client need not know beforehand whether it has records to send."""
    instance.contest(people=0)
    summary = send(instance, body, query)
    assert (summary.status_code, summary.json()["added"]) == (200, 0)


@pytest.mark.exhaustive
def test_a_dry_run_adds_nothing(instance: Instance) -> None:
    """Ledger entries are permanent, so clients can check first."""
    instance.contest(people=0)
    assert send(instance, b'{"id":"a"}', "?table=users&dry_run=true").json()["added"] == 1
    assert instance.get(f"{PATH}?table=users", "organiser").json()["items"] == []


@pytest.mark.exhaustive
def test_a_record_is_replaced_only_on_request(instance: Instance) -> None:
    """Other content with the same key is a conflict by default."""
    instance.contest(people=0)
    send(instance, b'{"id":"a"}', "?table=users")
    changed = b'{"id":"a","handle":"ada"}'
    assert send(instance, changed, "?table=users").status_code == 409
    assert send(instance, changed, "?table=users&replace=true").json()["replaced"] == 1


@pytest.mark.exhaustive
def test_every_invalid_line_is_reported_with_its_number(instance: Instance) -> None:
    """No line of the request is added."""
    instance.contest(people=0)
    body = b'{"table":"users","row":{"id":"a"}}\nnonsense\n{"table":"usrs","row":{}}\n[]\n'
    response = send(instance, body)
    assert response.status_code == 422
    rows = {error["pointer"].split("/")[1] for error in response.json()["errors"]}
    assert rows == {"2", "3", "4"}
    assert instance.get(f"{PATH}?table=users", "organiser").json()["items"] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", ""])
def test_other_content_types_are_rejected(instance: Instance, kind: str) -> None:
    """Pages of other sites can send text/plain without a preflight request."""
    instance.contest(people=0)
    response = instance.post(PATH, "organiser", content=b"{}", headers={"content-type": kind})
    assert (response.status_code, response.json()["code"]) == (415, "unsupported-media-type")


@pytest.mark.exhaustive
@pytest.mark.parametrize("packing", ["gzip", "br", "deflate", "zstd"])
def test_compressed_bodies_are_rejected(instance: Instance, packing: str) -> None:
    """A few compressed bytes could fill the disk."""
    instance.contest(people=0)
    headers = {**NDJSON, "content-encoding": packing}
    assert instance.post(PATH, "organiser", content=b"x", headers=headers).status_code == 415


def test_a_final_contest_accepts_no_records(instance: Instance) -> None:
    """Final results must not change silently."""
    instance.contest()
    assert instance.post("/contests/spring/finalize", "organiser").status_code == 200
    assert send(instance, b'{"id":"a"}', "?table=users").status_code == 409


@pytest.mark.exhaustive
def test_the_contest_lifecycle_works_over_http(instance: Instance) -> None:
    """The states are draft, open, frozen, open, final; a step out of order is a conflict."""
    body = {"id": "autumn", "discipline": "community", "title": "Autumn"}
    response = instance.post("/contests", "organiser", json=body)
    assert (response.status_code, response.json()["state"]) == (201, "draft")
    assert response.headers["location"] == "/api/v1/contests/autumn"
    assert instance.post("/contests/autumn/freeze", "organiser").status_code == 409
    reason = {"reason": "because"}
    steps = [("open", None, "open"), ("freeze", None, "frozen"), ("unfreeze", reason, "open"),
             ("finalize", None, "final")]  # fmt: skip
    for step, content, state in steps:
        response = instance.post(f"/contests/autumn/{step}", "organiser", json=content)
        assert (response.status_code, response.json()["state"]) == (200, state), response.text
    season = instance.post("/contests/autumn/next-season", "organiser", json={"id": "winter"})
    assert (season.status_code, season.json()["season"]) == (201, 2)


def test_an_export_can_be_imported_into_another_instance(instance: Instance, tmp_path: Any) -> None:
    """The ledger contains the entire contest."""
    instance.contest(people=4)
    archive = instance.get("/contests/spring/export", "organiser")
    assert archive.headers["content-type"] == "application/zip"
    folder = tmp_path / "other"
    folder.mkdir()
    target = instance_at(folder)
    headers = {"content-type": "application/zip"}
    response = target.post("/contests/import", "operator", content=archive.content, headers=headers)
    assert (response.status_code, response.json()["seq"]) == (201, 6), response.text
    assert target.get("/contests/spring/export", "operator").content == archive.content
    again = target.post("/contests/import", "operator", content=archive.content, headers=headers)
    assert again.status_code == 409
    target.close()


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
    response = instance_at(tmp_path_factory.mktemp("fuzz"))
    response.contest(people=0)
    yield response
    response.close()


@given(lines=st.lists(_LINES, max_size=6), table=st.sampled_from(["", "?table=users"]))
@examples(max_examples=size(120), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_causes_an_internal_error(fuzzed: Instance, lines: list[bytes], table: str) -> None:
    """Every body is either added or rejected with problem details."""
    response = send(fuzzed, b"\n".join(lines), table)
    assert response.status_code in {200, 201, 409, 422}, response.text
    single = fuzzed.post(
        PATH + table,
        "organiser",
        content=b"".join(lines),
        headers={"content-type": "application/json"},
    )
    assert single.status_code in {200, 201, 409, 422}, single.text


@pytest.mark.exhaustive
@pytest.mark.parametrize("depth", [200, 254, 255, 300, 1_000, 100_000])
def test_a_deeply_nested_value_is_rejected_with_a_message(instance: Instance, depth: int) -> None:
    """A value that can be parsed but not serialized is a client error."""
    instance.contest(people=0)
    body = b'{"table":"users","row":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    response = instance.post(
        PATH, "organiser", content=body, headers={"content-type": "application/json"}
    )
    assert response.status_code == 422
    assert response.json()["errors"]
