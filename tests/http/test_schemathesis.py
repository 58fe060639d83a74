"""Requests generated from the OpenAPI schema cause no internal errors and match the schema."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import settings as examples
from schemathesis import Case, CheckContext, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agon.api.catalog import all_operations
from agon.http.openapi import document
from fakes.instance import Instance, instance_at
from sizes import ALL, sample, size

ENDLESS = "streamEvents"  # a stream has no end to wait for
OPERATIONS = sample(
    [operation.id for operation in all_operations() if operation.id != ENDLESS], at_least=40
)
EXCLUSIVE = (
    {"cursor"}, {"around", "q"}, {"rules"}, {"sort"}, {"values"}, {"minimum"}, {"maximum"},
)  # fmt: skip
"""Query parameters of which a schema cannot say which values, or which of them together, are valid.

Cursors are opaque, names of rules are the discipline's and those of columns the board's, and
OpenAPI describes no parameters that exclude or need each other.
"""

UNDESCRIBED = {
    "addRecords": "tables and columns are the discipline's",
    "addVotes": "columns are the discipline's",
    "createContest": "the end is after the start",
    "createInvitation": "the expiry is in the future",
    "createWebhook": "the URL has https",
    "editContest": "the end is after the start",
    "handIn": "one of three fields is given",
    "importContest": "the body is an export",
    "publishProblem": "the source is a program that defines a sequence",
}
"""Operations whose schema cannot say which bodies are valid, and what it cannot say.

Without this table they passed or failed by the order of tests: all requests have one idempotency
key, so that only the first request of a worker reaches its operation, and the others conflict.
"""


def is_of_coverage(case: "Case[Any]") -> bool:
    """Return whether a request was derived from the bounds of its schema."""
    return case.meta is not None and case.meta.phase.name is TestPhase.COVERAGE


def accepts_what_the_schema_allows(_: CheckContext, response: Response, case: "Case[Any]") -> None:
    """Fail for a request at the bounds of its schema that is rejected as invalid."""
    if case.meta is None or not is_of_coverage(case) or not case.meta.generation.mode.is_positive:
        return
    if case.operation.definition.raw["operationId"] in UNDESCRIBED:
        return
    if not any(names <= set(case.query or {}) for names in EXCLUSIVE):
        assert response.status_code not in {400, 422}, response.text


CHECKS = [
    accepts_what_the_schema_allows,
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
GENERATED = set(sample(OPERATIONS, at_least=14))
"""Operations that get random requests, too; the others get those at the bounds of their schema."""

FEW = examples(
    max_examples=size(4, at_least=2),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
NONE = examples(FEW, phases=[Phase.explicit])


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Share one instance for all requests."""
    made = instance_at(tmp_path_factory.mktemp("attacked"))
    made.contest("spring-2026", people=3)
    # Frozen, and shared with the application; every bot answers.
    object.__setattr__(made.service, "check_endpoint", lambda _url, _secret: None)
    yield made
    made.close()


@schemathesis.serializer("application/x-ndjson", "application/zip")
def encode_raw(_: Any, value: Any) -> bytes:
    """Encode a text or bytes unchanged; the schema does not describe them further."""
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def schema(instance: Instance) -> BaseSchema:
    """Return the schema; requests go to the instance."""
    loaded: BaseSchema = schemathesis.openapi.from_dict(json.loads(document()))
    loaded.app = instance.app
    if not ALL:
        loaded.config.phases.coverage.generation.update(modes=[GenerationMode.POSITIVE])
    return loaded


def send(case: Any, instance: Instance) -> None:
    """Send a request as an operator, who reaches all code, and as an anonymous caller."""
    if re.fullmatch(r"[0-9.]+", str((case.query or {}).get("wait"))):
        case.query["wait"] = 0  # valid waits for work are long
    case.call_and_validate(headers=instance.as_("operator"), checks=CHECKS)
    if ALL or not is_of_coverage(case):
        case.call_and_validate(checks=CHECKS)


@pytest.mark.sample(1)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_generated_requests_cause_no_internal_error(
    operation: str, schema: BaseSchema, instance: Instance
) -> None:
    """The tests of an operation are generated within a test, since generating is slow."""
    described = schema.include(operation_id=operation)
    chosen = FEW if operation in GENERATED else NONE
    (built,) = get_all_tests(schema=described, test_func=send, settings=chosen, given_kwargs=None)
    assert isinstance(built, Ok)
    _, test = built.ok()
    test(instance=instance)
