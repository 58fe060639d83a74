"""The API's description is what stands in the repository, and says all there is to say."""

import json
from pathlib import Path
from typing import Any

import pytest

from agon.http.openapi import document, main

WRITTEN = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
SCHEMA: dict[str, Any] = json.loads(document())
OPERATIONS = [
    (method, path, operation)
    for path, operations in SCHEMA["paths"].items()
    for method, operation in operations.items()
]
NAMES = [f"{method.upper()} {path}" for method, path, _ in OPERATIONS]


def test_the_description_in_the_repository_is_that_of_the_code() -> None:
    """Whoever changes the API sees so in the diff; clients are made from this file."""
    assert WRITTEN.read_bytes() == document(), (
        "run: python -m agon.http.openapi docs/reference/openapi.json"
    )


def test_the_description_can_be_written_to_a_file(tmp_path: Path) -> None:
    """That is how the file in the repository comes about."""
    main([str(tmp_path / "api.json")])
    assert (tmp_path / "api.json").read_bytes() == document()


def test_it_is_openapi_3_1_with_tokens() -> None:
    """Tools read the version first."""
    assert SCHEMA["openapi"].startswith("3.1")
    assert SCHEMA["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)
def test_every_operation_has_a_name_a_summary_and_its_refusals(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    """Generated clients are named after these; people read the summaries."""
    assert operation["operationId"].isidentifier()
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    if path.startswith("/api/v1"):
        assert {"401", "403", "404", "422", "429", "500", "503"} <= set(operation["responses"])
    if method in {"post", "patch", "delete"}:
        assert {"400", "409", "413"} <= set(operation["responses"])
        names = {parameter.get("name") for parameter in operation["parameters"]}
        assert "Idempotency-Key" in names


def test_names_of_operations_are_unique() -> None:
    """Two operations of one name would be one function in a generated client."""
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(names)) == len(names)


def test_every_refusal_is_documented_as_a_problem() -> None:
    """Clients read one form for all refusals."""
    for answer in SCHEMA["components"]["responses"].values():
        assert list(answer["content"]) == ["application/problem+json"]


def test_request_bodies_refuse_what_they_do_not_know() -> None:
    """A misspelt field that is ignored is an error nobody sees."""
    for name, schema in SCHEMA["components"]["schemas"].items():
        if name.endswith(("Request", "Create", "Update")):
            assert schema["additionalProperties"] is False, name
