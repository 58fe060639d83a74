"""What one database cannot hold is rejected for both, by every operation, in every text."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from fakes.instance import Instance, instance_at
from fakes.raw_requests import RawResponse, send_raw
from fakes.service import ORGANISER
from postgresql_server import Postgresql
from sizes import ALL, sample

OPENAPI: Final = json.loads(Path("docs/reference/openapi.json").read_text())
"""The document that `test_openapi.py` compares with the application's; making it takes a second."""
ENDLESS: Final = {"streamEvents", "claimJob", "listBotWork", "listJudgeWork"}
"""Operations that wait; what they are asked for is of other operations, too."""

ARENA: Final = ("bot", "prompt", "human-answers", "match", "judge", "round", "vote", "work")
"""Words in paths of operations that a contest of bots has alone."""

BAD: Final = {"a\x00b": b"a%00b", "a\ud800": b"a%ED%A0%80", "\x00": b"%00"}
"""Texts that a database cannot hold, with what they are in an address."""

Pair: TypeAlias = tuple[Instance, Instance]


@dataclass(frozen=True)
class Request:
    """A request with one text that cannot be stored."""

    method: str
    path: bytes
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without references and alternatives that are null."""
    if "$ref" in schema:
        return resolved(OPENAPI["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return resolved(options[0]) if options else schema


def example(schema: Mapping[str, Any]) -> Any:
    """Return a value that a schema allows."""
    schema = resolved(schema)
    for name in ("examples", "enum"):
        if name in schema:
            return schema[name][0]
    if "const" in schema:
        return schema["const"]
    if schema.get("type") == "object":
        required = schema.get("required", ())
        return {name: example(schema["properties"][name]) for name in required}
    if schema.get("type") == "array":
        return []
    kinds = {"integer": max(1, schema.get("minimum", 1)), "number": 1.0, "boolean": False}
    if schema.get("format") == "date-time":
        return "2027-01-01T00:00:00Z"
    return kinds.get(str(schema.get("type")), "x" * max(1, schema.get("minLength", 1)))


def with_texts(schema: Mapping[str, Any], bad: str, *, depth: int = 3) -> Iterator[Any]:
    """Yield values of a schema in each of which one text, or one name of a property, is bad."""
    schema = resolved(schema)
    kind = schema.get("type")
    if kind == "object" and depth:
        base = example(schema)
        for name, of in schema.get("properties", {}).items():
            yield from ({**base, name: value} for value in with_texts(of, bad, depth=depth - 1))
        if schema.get("additionalProperties"):
            yield {**base, "x": bad}
            yield {**base, bad: "x"}
    elif kind == "array" and depth:
        yield from ([value] for value in with_texts(schema.get("items", {}), bad, depth=depth - 1))
    elif kind in ("string", None) or (isinstance(kind, list) and "string" in kind):
        yield bad


def requests_of(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[Request]:
    """Yield requests of an operation with a text that cannot be stored, one in each place."""
    content = operation.get("requestBody", {}).get("content", {})
    headers = tuple((b"content-type", media.encode()) for media in [*content][:1])
    schema = content.get("application/json", {}).get("schema")
    body = b"" if schema is None else written(example(schema))
    usual = Request(method, filled(path, {}), b"", headers, body)
    for bad, sent in BAD.items() if ALL else [*BAD.items()][:1]:
        for each in operation.get("parameters", ()):
            name = each["name"].encode()
            if each["in"] == "path":
                yield replace(usual, path=filled(path, {each["name"]: sent}))
            elif each["in"] == "query":
                yield replace(usual, query=name + b"=" + sent)
            elif bad.isascii():
                yield replace(usual, headers=(*headers, (name.lower(), bad.encode())))
        for value in () if schema is None else with_texts(schema, bad):
            yield replace(usual, body=written(value))


def filled(path: str, values: Mapping[str, bytes]) -> bytes:
    """Return an address of a path with placeholders."""
    contest = "league" if any(f"/{word}" in path for word in ARENA) else "spring"
    usual = {"contest": contest, "board": "users", "id": "u0", "bot": "b", "number": "1", "no": "1"}
    for name in re.findall("{([a-z]+)}", path):
        value = values.get(name, usual.get(name, "x").encode())
        path = path.replace(f"{{{name}}}", value.decode())
    return path.encode()


def written(value: Any) -> bytes:
    """Return a value as JSON; half of a surrogate pair is an escape."""
    return json.dumps(value).encode()


OPERATIONS: Final = {
    operation["operationId"]: list(requests_of(path, method.upper(), operation))
    for path, methods in OPENAPI["paths"].items()
    for method, operation in methods.items()
    if operation["operationId"] not in ENDLESS
}


def _contests(instance: Instance) -> None:
    instance.contest("spring")
    create(instance.service, NewContest(id="league", discipline="arena", title="L"), by=ORGANISER)
    open_contest(instance.service, "league", by=ORGANISER)


@pytest.fixture
def pair(tmp_path: Path, postgresql: Postgresql) -> Iterator[Pair]:
    """Open an instance on SQLite and one on PostgreSQL, with the same contests."""
    (tmp_path / "other").mkdir()
    one = instance_at(tmp_path)
    other = instance_at(tmp_path / "other", url=postgresql.service())
    for instance in (one, other):
        _contests(instance)
    yield one, other
    one.close()
    other.close()


def sent(instance: Instance, request: Request) -> RawResponse:
    """Send a request as the operator."""
    headers = [(b"authorization", f"Bearer {instance.tokens['operator']}".encode())]
    return send_raw(
        instance.app, request.path, request.query, method=request.method,
        headers=[*headers, *request.headers], body=request.body,
    )  # fmt: skip


def test_both_databases_give_one_answer_to_texts_that_one_cannot_hold(pair: Pair) -> None:
    """SQLite stored NUL, and PostgreSQL rejected it: with a dump the contest could not be moved."""
    differing = []
    for name in sample([*OPERATIONS]):
        for request in OPERATIONS[name]:
            answers = [sent(instance, request) for instance in pair]
            statuses = [answer.status for answer in answers]
            codes = [json.loads(answer.body or b"{}").get("code") for answer in answers
                     if answer.status >= 400]  # fmt: skip
            if max(statuses) >= 500 or len(set(statuses)) > 1 or len(set(codes)) > 1:
                differing.append((name, request, statuses, codes))
    assert differing == []
