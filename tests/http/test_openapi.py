"""The OpenAPI document in the repository is current and complete."""

import json
from pathlib import Path
from typing import Any

import pytest

from agon.http.openapi import main

WRITTEN = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
SCHEMA: dict[str, Any] = json.loads(WRITTEN.read_bytes())
OPERATIONS = [
    (method, path, operation)
    for path, operations in SCHEMA["paths"].items()
    for method, operation in operations.items()
]
NAMES = [f"{method.upper()} {path}" for method, path, _ in OPERATIONS]


def test_the_openapi_document_in_the_repository_is_current(tmp_path: Path) -> None:
    """API changes show up in the diff, and clients are generated from this file."""
    main([str(tmp_path / "api.json")])
    assert WRITTEN.read_bytes() == (tmp_path / "api.json").read_bytes(), (
        "run: python -m agon.http.openapi docs/reference/openapi.json"
    )


def test_the_document_is_openapi_3_1_with_bearer_authentication() -> None:
    """Tools select their parser by the version."""
    assert SCHEMA["openapi"].startswith("3.1")
    assert SCHEMA["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


@pytest.mark.sample(20)
@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)
def test_every_operation_has_an_id_a_summary_and_error_responses(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    """Generated clients use the ids; readers use the summaries."""
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


def test_operation_ids_are_unique() -> None:
    """Two operations with one id would be one function in a generated client."""
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(names)) == len(names)


def test_every_error_response_is_documented_as_problem_details() -> None:
    """Clients parse one format for all errors."""
    for response in SCHEMA["components"]["responses"].values():
        assert list(response["content"]) == ["application/problem+json"]


def test_request_schemas_forbid_additional_properties() -> None:
    """An ignored misspelled field is an unnoticed error."""
    for name, schema in SCHEMA["components"]["schemas"].items():
        if name.endswith(("Request", "Create", "Update")):
            assert schema["additionalProperties"] is False, name
