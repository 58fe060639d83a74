"""Routes of the operations of :mod:`agon.api`, with their parameters and documented responses.

A request is read within the limits of JSON, and waits for slots of the kind that its operation
states.
"""

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache
from os import SEEK_END
from typing import IO, Annotated, Any, Final

from fastapi import Depends, Header, Query
from fastapi import Path as PathParameter
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import request_response

from agon.api.addresses import fill
from agon.api.authorization import authorize
from agon.api.costs import QUICK, SMALL_BODY, Kind
from agon.api.models.base import Page, ProblemDetails
from agon.api.models.jobs import Job
from agon.api.operation import PREFIX, ContestContext, Context, Operation, Parameter
from agon.api.pages import PageRequest
from agon.api.parameters import ContestPath, Cursor, Limit
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.contests.clock import current_clock
from agon.http.addresses import path_parameters
from agon.http.bodies import has_body, require_json, spooled
from agon.http.handlers import HANDLERS
from agon.http.handlers.boards import DIRECT_HANDLERS
from agon.http.middleware.auth import caller_of
from agon.http.middleware.idempotency import SECRETS
from agon.http.pages import link
from agon.http.problems import MEDIA_TYPE
from agon.http.queries import require_known_query
from agon.http.rebuilding import rebuild_response
from agon.http.server_context import serving
from agon.kernel.text.plain_json import InvalidJson, read_json
from agon.web.responses import PHASE_HEADER

Endpoint = Callable[..., Any]
AnyOperation = Operation[Any, Any]

_ALWAYS: Final = (401, 403, 404, 409, 422, 429, 500, 503)
_WITH_BODY: Final = (400, 408, 409, 413, 415)

_MEANINGS: Final = {
    400: "The body is not of the declared type.",
    401: "A token is needed, or the token is not valid.",
    403: "The caller does not have the permission.",
    404: "There is no such resource, or the caller may not see it.",
    405: "The path has other methods.",
    408: "The body was sent too slowly.",
    409: "The request contradicts the current state.",
    410: "The deadline has passed.",
    412: "The resource has another version than If-Match states.",
    413: "The body is too large.",
    415: "The body has an unsupported type.",
    422: "The request is invalid; every error is listed.",
    429: "Too many requests.",
    500: "An internal error.",
    503: "A required component is not available at present.",
}


_TAKEN_BY_HANDLERS: Final = frozenset({"bodies", "streams"})
"""Kinds whose slots are taken later than here: for a body that has arrived, for a part."""


class OperationRequest(Request):
    """A request of an operation: its path is decoded, its body has the limits of JSON."""

    def __init__(self, request: Request, body: IO[bytes] | None = None) -> None:
        parameters = path_parameters(request.scope)
        super().__init__({**request.scope, "path_params": parameters}, request.receive)
        self._spooled = body

    async def body(self) -> bytes:
        """Return the body."""
        if self._spooled is None:
            return await super().body()
        self._spooled.seek(0)
        return self._spooled.read()

    async def json(self) -> Any:
        """Return the body's value.

        Raises:
            JSONDecodeError: it is not JSON, or beyond the limits; FastAPI answers with 400.
        """
        try:
            return read_json(await self.body())
        except InvalidJson as error:
            raise json.JSONDecodeError(f"the body {error}", "", 0) from None


class OperationRoute(APIRoute):
    """The route of an operation.

    Args:
        cost: the kind of work whose slots its requests wait for.
        arguments, options: those of :class:`~fastapi.routing.APIRoute`.
    """

    def __init__(self, *arguments: Any, cost: Kind, **options: Any) -> None:
        self._cost: Kind = cost
        super().__init__(*arguments, **options)

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]  # a coroutine is one
        """Return what answers requests."""
        handle = super().get_route_handler()
        kind = self._cost
        own = () if kind == QUICK or kind in _TAKEN_BY_HANDLERS else (kind,)

        async def answer(request: Request) -> Response:
            if self.body_field is None or not has_body(request.headers):
                async with _in_slots(request, own):
                    return await handle(OperationRequest(request))
            require_json(request.headers)
            with await spooled(request) as body:  # a slow client occupies no slot
                is_small = body.seek(0, SEEK_END) <= SMALL_BODY
                async with _in_slots(request, own if is_small else ("bodies", *own)):
                    return await handle(OperationRequest(request, body))

        return answer


@asynccontextmanager
async def _in_slots(request: Request, kinds: Sequence[Kind]) -> AsyncIterator[None]:
    """Occupy slots of some kinds, one after the other."""
    async with AsyncExitStack() as taken:
        for kind in kinds:
            await taken.enter_async_context(serving(request).slots.slot(kind, request.scope))
        yield


@cache
def operation_routes(operations: tuple[AnyOperation, ...]) -> Sequence[OperationRoute]:
    """Return the routes of operations, which all applications of a process share.

    :data:`~agon.http.handlers.HANDLERS` has the functions ``(request, context, **parameters)`` that
    respond to raw operations.
    """
    return [_route(operation) for operation in operations]


def _route(operation: AnyOperation) -> OperationRoute:
    options: dict[str, Any] = {}
    if operation.returns is type(None) and operation.raw:
        options["response_class"] = Response
    else:
        options["response_model"] = _model(operation)
    if operation.body is not None:
        body = {"required": True, "content": dict(operation.body)}
        options["openapi_extra"] = {"requestBody": body}
    route = OperationRoute(
        operation.url,
        endpoint(operation, HANDLERS.get(operation.id)),
        methods=[operation.method],
        cost=operation.cost,
        operation_id=operation.id,
        name=operation.id,
        summary=operation.summary,
        description=operation.description,
        status_code=operation.status,
        tags=[operation.tag],
        responses=_responses(operation),
        **options,
    )
    if operation.id in DIRECT_HANDLERS:
        route.app = request_response(DIRECT_HANDLERS[operation.id])
    return route


def endpoint(operation: AnyOperation, handler: Endpoint | None = None) -> Endpoint:
    """Return the function that handles requests for an operation."""
    if handler is None:
        answer: Endpoint = _answer(operation)
    elif inspect.iscoroutinefunction(handler):

        async def answer(
            http_request: Request, http_response: Response, context: Any, **values: Any
        ) -> Any:
            return await handler(http_request, http_response, context, **values)
    else:

        def answer(
            http_request: Request, http_response: Response, context: Any, **values: Any
        ) -> Any:
            return handler(http_request, http_response, context, **values)

    if operation.of_contest and operation.method == "GET":
        answer = _with_phase(answer)
    answer.__signature__ = _signature(operation)  # type: ignore[attr-defined]  # read by FastAPI
    answer.__doc__ = operation.description
    answer.__name__ = operation.id
    return answer


def _with_phase(answer: Endpoint) -> Endpoint:
    """Return an endpoint whose responses say where the contest is in time, files as well."""

    def phase_of(context: ContestContext) -> str:
        return current_clock(context.service, context.contest).phase

    async def respond_without_thread(
        http_request: Request, http_response: Response, context: Any, **values: Any
    ) -> Any:
        result = await answer(http_request, http_response, context, **values)
        response = result if isinstance(result, Response) else http_response
        response.headers[PHASE_HEADER] = await run_in_threadpool(phase_of, context)
        return result

    def respond(http_request: Request, http_response: Response, context: Any, **values: Any) -> Any:
        result = answer(http_request, http_response, context, **values)
        response = result if isinstance(result, Response) else http_response
        response.headers[PHASE_HEADER] = phase_of(context)
        return result

    return respond_without_thread if inspect.iscoroutinefunction(answer) else respond


def _answer(operation: AnyOperation) -> Endpoint:
    """Return the endpoint of an operation whose response is its result."""
    is_paged = operation.is_paged

    def answer(
        http_request: Request, http_response: Response, context: Any, **values: Any
    ) -> Response | BaseModel:
        if operation.secret:
            http_request.scope.get(SECRETS, []).append(operation.id)
        arguments = [_page_request(values)] if is_paged else []
        try:
            result = operation.function(context, *arguments, **values)
        except NotStored as missing:
            return rebuild_response(http_request, context.view, missing)
        if isinstance(result, Page):
            header = link(http_request, next=result.next)
            if header is not None:
                http_response.headers["link"] = header
        if operation.location is not None:
            path = fill(operation.location, {**http_request.path_params, "result": result})
            http_response.headers["location"] = PREFIX + path
        if operation.versioned:
            http_response.headers["etag"] = f'"{result.version}"'
        if result is None:
            return Response(status_code=204)
        return result

    return answer


def _page_request(values: dict[str, Any]) -> PageRequest:
    return PageRequest(limit=values.pop("limit"), cursor=values.pop("cursor"))


def _signature(operation: AnyOperation) -> inspect.Signature:
    """Return a signature from which FastAPI derives validation and OpenAPI."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("http_request", keyword, annotation=Request),
        inspect.Parameter("http_response", keyword, annotation=Response),
        inspect.Parameter(
            "context", keyword, annotation=Annotated[Any, Depends(Authorization(operation))]
        ),
        *map(_parameter, operation.parameters),
    ]
    if operation.is_paged:
        size = operation.page_size
        parameters += [
            _parameter(Parameter("limit", "limit", "query", Limit, size)),
            _parameter(Parameter("cursor", "cursor", "query", Cursor, None)),
        ]
    return inspect.Signature(parameters)


def _parameter(parameter: Parameter) -> inspect.Parameter:
    annotation = parameter.annotation
    if parameter.kind == "path":
        annotation = Annotated[annotation, PathParameter(alias=parameter.alias)]
    elif parameter.kind in {"query", "queries"}:
        annotation = Annotated[annotation, Query()]
    elif parameter.kind == "header":
        annotation = Annotated[annotation, Header(alias=parameter.alias)]
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=annotation,
        default=parameter.default,
    )


class Authorization:
    """The dependency that decides an operation's permission and returns its context."""

    def __init__(self, operation: AnyOperation) -> None:
        self.operation = operation
        parameters = [
            inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
        ]
        if operation.of_contest:
            keyword = inspect.Parameter.KEYWORD_ONLY
            path = Annotated[ContestPath, PathParameter()]
            parameters.append(inspect.Parameter("contest", keyword, annotation=path))
        self.__signature__ = inspect.Signature(parameters)

    def __call__(self, *, request: Request, contest: str | None = None) -> Context | ContestContext:
        """Return the context of a request.

        Raises:
            Unauthenticated, Forbidden, NotFound: the caller may not execute the operation.
            Unreadable: a query parameter is unknown.
        """
        parts = serving(request)
        operation = self.operation
        if operation.permission == "metrics.read" and parts.settings.metrics_public:
            operation = replace(operation, permission=None)
        context = authorize(
            operation,
            parts.service,
            caller_of(request),
            contest=contest,
            allow_private=parts.settings.webhook_allow_private,
        )
        if request.scope["query_string"]:
            require_known_query(request)
        return context


def _model(operation: AnyOperation) -> Any:
    return None if operation.status == 204 else operation.returns  # noqa: PLR2004 (HTTP)


def _responses(operation: AnyOperation) -> dict[int | str, dict[str, Any]]:
    """Return the documented responses of an operation other than success."""
    responses: dict[int | str, dict[str, Any]] = {}
    if operation.media_types:
        string = {"schema": {"type": "string"}}
        responses[operation.status] = {"content": dict.fromkeys(operation.media_types, string)}
    for status, description in operation.also.items():
        responses[status] = {"description": description}
        if status == 202:  # noqa: PLR2004 (HTTP)
            responses[status]["model"] = Job
        elif status == 200:  # noqa: PLR2004 (HTTP)
            responses[status]["model"] = operation.returns
    statuses = {*_ALWAYS, *(_WITH_BODY if operation.changes else ()), *operation.errors}
    schema = {"schema": {"$ref": f"#/components/schemas/{ProblemDetails.__name__}"}}
    for status in sorted(statuses):
        responses[status] = {
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: schema},
        }
    # A model takes time in each response; one response brings the schema into the document.
    responses[500]["model"] = ProblemDetails
    return responses
