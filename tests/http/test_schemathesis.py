"""Hostile requests made from the API's own description: no fault of ours, and no lie in it."""

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
    """Fail for a request at the edges of its schema that is refused as invalid.

    Cursors are opaque: no schema says which of them a page gave.
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
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Share one instance among all requests."""
    made = instance_at(tmp_path_factory.mktemp("attacked"))
    made.contest("spring-2026", people=3)
    yield made
    made.service.store.close()


@schemathesis.serializer("application/x-ndjson", "application/zip")
def as_it_is(_: Any, value: Any) -> bytes:
    """Send a text or bytes as they are; the description says no more of them."""
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "replace")


class Attacked:
    """Pass requests on to the instance of the day; the description is read before there is one."""

    app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer as the instance does."""
        await self.app(scope, receive, send)


proxy = Attacked()
whole = schemathesis.openapi.from_dict(json.loads(document()))
whole.app = proxy
described = whole.exclude(operation_id=ENDLESS)


@described.parametrize()
@FEW
def test_an_operator_meets_no_fault_of_ours(case: Any, attacked: Instance) -> None:
    """Whoever may do everything reaches the deepest."""
    proxy.app = attacked.app
    case.call_and_validate(headers=attacked.as_("operator"), checks=CHECKS)


@described.parametrize()
@FEW
def test_a_stranger_meets_no_fault_of_ours(case: Any, attacked: Instance) -> None:
    """Strangers send what they like."""
    proxy.app = attacked.app
    case.call_and_validate(checks=CHECKS)
