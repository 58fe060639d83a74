"""Decide once whether a caller may execute an operation: for HTTP routes and the local client."""

from datetime import datetime
from typing import Any

from agon.api.operation import ContestContext, Context, Operation
from agon.app.access.permissions import ACTIONS, View, acting, allow, find_view
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import NotFound
from agon.store.session import Session

_STAFF = frozenset({"organiser", "operator"})


def authorize(
    operation: Operation[Any, Any],
    service: Service,
    caller: Caller,
    *,
    contest: str | None = None,
    allow_private: bool = False,
) -> Context | ContestContext:
    """Return the context in which an operation is executed.

    Use cases do not decide permissions: without this context none of them is called.

    Args:
        operation: the operation.
        service: what the use cases work with.
        caller: the client.
        contest: the contest in the path.
        allow_private: the setting ``webhook_allow_private``.

    Raises:
        Unauthenticated, Forbidden: the caller has not the permission.
        NotFound: there is no such contest, or the caller may not see it.
    """
    if contest is None:
        if operation.permission is not None:
            caller = acting(caller, operation.permission)
        return Context(
            service=service,
            caller=caller,
            permission=operation.permission,
            allow_private=allow_private,
        )
    with service.store.read() as session:
        view = permitted_view(
            session, str(operation.permission), caller, contest, now=service.clock()
        )
    caller = acting(caller, str(operation.permission), contest=view.contest)
    return ContestContext(service=service, caller=caller, view=view, allow_private=allow_private)


def permitted_view(
    session: Session, permission: str, caller: Caller, contest: str, *, now: datetime
) -> View:
    """Return what a caller sees now of a contest in an operation that needs a permission on it.

    Raises:
        Unauthenticated, Forbidden: the caller has not the permission.
        NotFound: there is no such contest, or the caller may not see it.
    """
    try:
        view = find_view(session, contest, caller, now=now)
    except NotFound:
        if caller.role is None:
            allow(caller, permission)  # without a token the first error is that one is needed
        raise
    allow(caller, permission, contest=view.contest)
    if ACTIONS[permission] <= _STAFF:
        # An operation for organizers is done by one, even if the token has this scope only.
        return View(contest=view.contest, until=None, staff=True)
    return view
