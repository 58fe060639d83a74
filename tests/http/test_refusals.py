"""Use cases are called only by their operations and never for forbidden callers."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import Response

import agon
from agon.api.catalog import all_operations
from agon.api.operation import Operation
from agon.app.access.permissions import ACTIONS, ANONYMOUS, INSTANCE_WIDE
from agon.client.local import LocalTransport
from agon.entities.access import Caller
from agon.errors import AgonError, Forbidden, NotFound, Unauthenticated
from agon.http.handlers import HANDLERS
from fakes.instance import ROLES, USERS, Instance, instance_at
from fakes.service import OPERATOR

AnyOperation = Operation[Any, Any]

OPERATIONS = [item for item in all_operations() if item.permission is not None]
APP = Path(agon.__file__).parent / "app"


def name(operation: AnyOperation) -> str:
    """Return the name of a case."""
    return operation.id


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Share one instance, in which nothing is changed."""
    new_instance = instance_at(tmp_path_factory.mktemp("instance"))
    new_instance.contest("spring")
    for name_ in ("hidden", "autumn"):
        new_instance.contest(name_, visibility="private", people=1)
    yield new_instance
    new_instance.close()


@pytest.fixture(scope="module")
def spied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Instance, list[str]]]:
    """Share an instance whose HTTP routes only log the call of their use case."""
    calls: list[str] = []
    patch = pytest.MonkeyPatch()
    operations = tuple(spy(operation, calls) for operation in all_operations())
    handlers = {id_: note(calls, id_, Response()) for id_ in HANDLERS}
    patch.setattr("agon.http.app.all_operations", lambda: operations)
    patch.setattr("agon.http.operations.HANDLERS", handlers)
    instance = instance_at(tmp_path_factory.mktemp("spied"))
    patch.undo()
    instance.contest("spring")
    for name_ in ("hidden", "autumn"):
        instance.contest(name_, visibility="private", people=1)
    yield instance, calls
    instance.close()


def note(calls: list[str], id_: str, result: object) -> Callable[..., Any]:
    """Return a function that logs its call."""

    def noted(*_: object, **__: object) -> object:
        calls.append(id_)
        return result

    return noted


def spy(operation: AnyOperation, calls: list[str]) -> AnyOperation:
    """Return an operation that only logs its call."""
    result = SimpleNamespace(items=(), next=None) if operation.is_paged else None
    noted = note(calls, operation.id, result)
    return replace(operation, function=wraps(operation.function)(noted))


def rejected_calls(operation: AnyOperation) -> Iterator[tuple[Caller, str, type[AgonError]]]:
    """Yield callers who may not execute an operation, on which contest, and their error."""
    action = str(operation.permission)
    roles = ACTIONS[action]
    if "anonymous" not in roles:
        yield ANONYMOUS, "spring", Unauthenticated
        contest = "export" if action != "export" else "import"
        yield replace(OPERATOR, scopes=(contest,)), "spring", Forbidden
        for role in ROLES:
            if role not in roles:
                user = USERS[role]
                yield Caller(name=f"user:{user}", user=user, role=role), "spring", Forbidden
    limited = replace(OPERATOR, contests=("autumn",))
    if operation.of_contest:
        public = "anonymous" in roles
        yield ANONYMOUS, "hidden", NotFound if public else Unauthenticated
        yield limited, "hidden", NotFound
        yield OPERATOR, "no-such", NotFound
        if not public:
            yield limited, "spring", Forbidden
    elif action in INSTANCE_WIDE:
        yield limited, "spring", Forbidden


def required(operation: AnyOperation, contest: str) -> dict[str, Any]:
    """Return placeholder arguments that are never read."""
    return {
        parameter: contest if parameter == "contest" else "x"
        for parameter, declared in operation.call_signature.parameters.items()
        if declared.default is declared.empty
    }


@pytest.mark.sample(31)
@pytest.mark.parametrize("operation", OPERATIONS, ids=name)
def test_the_local_client_calls_no_use_case_for_a_forbidden_caller(
    instance: Instance, operation: AnyOperation
) -> None:
    """Use cases check no permissions, so they rely on this."""
    calls: list[str] = []
    operation = spy(operation, calls)
    for caller, contest, error in rejected_calls(operation):
        transport = LocalTransport(instance.service, caller)
        with pytest.raises(error):
            transport.call(operation, **required(operation, contest))
        assert calls == []
    response = LocalTransport(instance.service, OPERATOR).call(
        operation, **required(operation, "spring")
    )
    assert list(response or ()) == []
    assert calls == [operation.id]


@pytest.mark.sample(31)
@pytest.mark.parametrize("operation", OPERATIONS, ids=name)
def test_no_route_calls_a_use_case_for_a_forbidden_caller(
    spied: tuple[Instance, list[str]], operation: AnyOperation
) -> None:
    """The test covers all generated routes, including those of new operations."""
    instance, calls = spied
    for caller, contest, error in rejected_calls(operation):
        token = caller.role and instance.limited_token(
            caller.role, scopes=caller.scopes, contests=caller.contests
        )
        headers = instance.as_(None, token)
        path = operation.url
        for placeholder in operation.placeholders:
            path = path.replace(f"{{{placeholder}}}", contest if placeholder == "contest" else "1")
        response = instance.client.request(operation.method, path, headers=headers)
        expected = {Unauthenticated: 401, Forbidden: 403, NotFound: 404}[error]
        assert response.status_code == expected, (caller, contest, response.text)
        assert calls == []


def test_use_cases_check_no_permissions() -> None:
    """A second check could differ from that of the operation.

    Only an import has one: its contest is known once the ledger is read.
    """
    deciding = {
        str(path.relative_to(APP))
        for path in APP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "agon.app.access.permissions"
        and {alias.name for alias in node.names} & {"allow", "viewed", "view_of"}
    }
    assert deciding == {"contests/lifecycle/transfer.py"}
