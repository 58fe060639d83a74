"""Requests generated from the OpenAPI schema cause no internal errors and match the schema."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck
from hypothesis import settings as examples
from schemathesis import Case, CheckContext, Response
from schemathesis.checks import not_a_server_error
from schemathesis.generation.meta import TestPhase
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agon.http.openapi import document
from fakes.instance import Instance, instance_at


def accepts_what_the_schema_allows(_: CheckContext, response: Response, case: "Case[Any]") -> None:
    """Fail for a request at the bounds of its schema that is rejected as invalid.

    Cursors are opaque: the schema does not describe valid ones.
    """
    if case.meta is None or case.meta.phase.name is not TestPhase.COVERAGE:
        return
    if case.meta.generation.mode.is_positive and "cursor" not in (case.query or {}):
        assert response.status_code not in {400, 422}, response.text


CHECKS = [
    accepts_what_the_schema_allows,
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
ENDLESS = "streamEvents"  # a stream has no end to wait for
FEW = examples(
    max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Share one instance for all requests."""
    made = instance_at(tmp_path_factory.mktemp("attacked"))
    made.contest("spring-2026", people=3)
    yield made
    made.service.store.close()


@schemathesis.serializer("application/x-ndjson", "application/zip")
def encode_raw(_: Any, value: Any) -> bytes:
    """Encode a text or bytes unchanged; the schema does not describe them further."""
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "replace")


class InstanceTransport:
    """Forward requests to the current instance; the schema is loaded before there is one."""

    app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Forward a request to the instance."""
        await self.app(scope, receive, send)


proxy = InstanceTransport()
schema = schemathesis.openapi.from_dict(json.loads(document()))
schema.app = proxy
described = schema.exclude(operation_id=ENDLESS)


@described.parametrize()
@FEW
def test_an_operator_gets_no_internal_error(case: Any, instance: Instance) -> None:
    """An operator reaches all code."""
    proxy.app = instance.app
    case.call_and_validate(headers=instance.as_("operator"), checks=CHECKS)


@described.parametrize()
@FEW
def test_an_anonymous_caller_gets_no_internal_error(case: Any, instance: Instance) -> None:
    """Anonymous requests are arbitrary."""
    proxy.app = instance.app
    case.call_and_validate(checks=CHECKS)
