"""Operations of the API: declared once, executed by HTTP routes and by both clients.

An operation is a function with a decorator: method, path, permission, summary; its docstring is
the description, its parameters and its return type are those of the API::

    @operation("GET", "/contests/{contest}/webhooks", permission="webhook.manage",
               summary="List webhooks")
    def list_webhooks(ctx: ContestContext) -> Items[Webhook]:
        \"\"\"Return the webhooks of a contest in order of creation.\"\"\"

The parameters after the context stand for the path's placeholders, in their order (that of the
contest is left out: it is ``ctx.contest``); one whose type is a :class:`~.models.base.Request` is
the body; the others are query parameters. A :class:`ContestContext` says that the permission is
needed on the contest in the path. A function that takes a :class:`PageRequest` returns a page;
clients iterate over all pages.
"""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from agon.api.command import Command, without_commands
from agon.api.costs import Kind as Cost
from agon.api.models.base import Page, Query, Request
from agon.api.pages import PageRequest
from agon.api.record_ways import RecordWay

if TYPE_CHECKING:
    from agon.app.access.permissions import View
    from agon.app.service import Service
    from agon.entities.access import Caller
    from agon.entities.contests import Contest

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]
Kind: TypeAlias = Literal["path", "query", "queries", "header", "body"]

PREFIX: Final = "/api/v1"
"""Prefix of the paths of all operations but those of monitoring."""

HEADER: Final = "header"
"""In ``Annotated``: the parameter is a header."""

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Context:
    """The dependencies of an operation of the service; its permission is already decided.

    Attributes:
        service: what the use cases work with.
        caller: the client.
        permission: the operation's permission.
        allow_private: the setting ``webhook_allow_private``.
    """

    service: "Service"
    caller: "Caller"
    permission: str | None
    allow_private: bool = False

    def require(self, contest: "Contest") -> None:
        """Require the permission on a contest that is not named in the path.

        Raises:
            Forbidden: the token is limited to other contests.
        """
        from agon.app.access.permissions import allow

        if self.permission is not None:
            allow(self.caller, self.permission, contest=contest)


@dataclass(frozen=True, kw_only=True)
class ContestContext:
    """The dependencies of an operation of a contest; its permission is already decided.

    Attributes:
        service: what the use cases work with.
        caller: the client.
        view: the contest, as far as the caller may see it.
        allow_private: the setting ``webhook_allow_private``.
    """

    service: "Service"
    caller: "Caller"
    view: "View"
    allow_private: bool = False

    @property
    def contest(self) -> "Contest":
        """The contest in the path."""
        return self.view.contest


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation.

    Attributes:
        name: its name in the function.
        alias: its name in the path or the query.
        kind: where it is sent.
        annotation: its type, with constraints.
        default: its value where it is not sent; ``inspect.Parameter.empty``: it is required.
    """

    name: str
    alias: str
    kind: Kind
    annotation: Any
    default: Any


@dataclass(frozen=True, eq=False, kw_only=True)
class Operation(Generic[P, R]):
    """An operation of the API. As a class attribute of a noun, a method of its client.

    Attributes:
        function: does it.
        id: its name in OpenAPI.
        method, path: where it is; the path without :data:`PREFIX`.
        permission: the permission it needs; None: none.
        cost: the kind of work whose slots its requests wait for.
        records: how it leads to records, if it changes something; None: not stated.
        summary: its name in lists.
        status: of success.
        also: descriptions of further statuses that are no errors.
        location: the new resource's path; ``{result}`` is the result.
        versioned: whether the result has a ``version``, which HTTP sends as its ETag.
        errors: statuses of errors beyond those every operation has.
        page_size: items of a page by default.
        secret: whether the response holds a secret, which must not be stored.
        raw: whether HTTP has a handler of its own for it, because it streams or sets headers.
        media_types: types of the response of a raw operation besides JSON; with ``-> None`` instead
            of it.
        body: a raw operation's request body, as OpenAPI describes it.
        prefix: of the path.
        commands: the commands that execute it.
    """

    function: Callable[..., Any]
    id: str
    method: Method
    path: str
    permission: str | None
    cost: Cost
    records: RecordWay | None
    summary: str
    status: int = 200
    also: Mapping[int, str]
    location: str | None = None
    versioned: bool = False
    errors: tuple[int, ...] = ()
    page_size: int = 50
    secret: bool = False
    raw: bool = False
    media_types: tuple[str, ...] = ()
    body: Mapping[str, Any] | None = None
    prefix: str = PREFIX
    commands: tuple[Command, ...] = ()

    @overload
    def __get__(self, noun: None, owner: type) -> Self: ...
    @overload
    def __get__(self, noun: "OperationSet", owner: type) -> Callable[P, R]: ...
    def __get__(self, noun: "OperationSet | None", owner: type) -> Any:
        """Return the method of a client's noun."""
        return self if noun is None else partial(noun.executor.call, self)

    @property
    def tag(self) -> str:
        """The noun."""
        return self.function.__module__.rpartition(".")[2]

    @property
    def description(self) -> str:
        """The docstring, without its sections about arguments, errors and commands."""
        text = without_commands(inspect.getdoc(self.function) or "")
        return re.split(r"\n\n(?:Args|Raises|Returns):", text)[0]

    @property
    def url(self) -> str:
        """The path with its prefix."""
        return self.prefix + self.path

    @property
    def of_contest(self) -> bool:
        """Whether the permission is one on the contest in the path."""
        return self._hints[self._names[0]] is ContestContext

    @property
    def is_paged(self) -> bool:
        """Whether it returns a page of a list."""
        return len(self._names) > 1 and self._hints[self._names[1]] is PageRequest

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"

    @property
    def returns(self) -> Any:
        """The type of the response."""
        return self._hints["return"]

    @property
    def placeholders(self) -> Sequence[str]:
        """The path's placeholders."""
        return _PLACEHOLDER.findall(self.path)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters without the contest in the path, limit and cursor."""
        paths = iter(self.placeholders[1:] if self.of_contest else self.placeholders)
        parameters = []
        for name in self._names[2 if self.is_paged else 1 :]:
            kind: Kind = "query"
            alias = name
            if _is_model(self._hints[name], Request):
                kind = "body"
            elif _is_model(self._hints[name], Query):
                kind = "queries"
            elif (placeholder := next(paths, None)) is not None:
                kind, alias = "path", placeholder
            elif HEADER in get_args(self._hints[name]):
                kind, alias = "header", name.replace("_", "-")
            default = self._signature.parameters[name].default
            parameters.append(Parameter(name, alias, kind, self._hints[name], default))
        return tuple(parameters)

    @cached_property
    def call_signature(self) -> inspect.Signature:
        """The signature of a client's method."""
        own = [self._signature.parameters[each.name] for each in self.parameters]
        if self.of_contest:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            own.insert(0, inspect.Parameter("contest", kind))
        return inspect.Signature(own)

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name, with ``contest`` where it is one of a contest."""
        bound = self.call_signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        return bound.arguments

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._signature.parameters)

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.function, include_extras=True)


class Executor(ABC):
    """The base of everything that executes operations."""

    @abstractmethod
    def call(self, operation: Operation[Any, Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Execute an operation; one that returns pages yields the items of all pages.

        Raises:
            AgonError: the operation's own error.
            Unavailable: the service cannot be reached.
        """


class OperationSet:
    """Operations as methods."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor


class operation:  # noqa: N801 (a decorator)
    """Declare a function as an operation of the API.

    Args:
        method: the HTTP method.
        path: the path below :data:`PREFIX`; placeholders in braces.
        id: its name in OpenAPI.
        permission: the permission it needs; None: none.
        cost: what its requests wait for (:mod:`agon.api.costs`).
        records: how it leads to records (:mod:`agon.api.record_ways`), if it changes something.
        summary: its name in lists.
        command: the command of the command line that executes it, or several.
        options: the other attributes of :class:`Operation`.
    """

    def __init__(  # noqa: PLR0913 (one for each attribute)
        self,
        method: Method,
        path: str,
        *,
        id: str,  # noqa: A002 (as in OpenAPI)
        permission: str | None,
        summary: str,
        cost: Cost,
        records: RecordWay | None = None,
        status: int = 200,
        also: Mapping[int, str] | None = None,
        location: str | None = None,
        versioned: bool = False,
        errors: tuple[int, ...] = (),
        page_size: int = 50,
        secret: bool = False,
        raw: bool = False,
        media_types: tuple[str, ...] = (),
        body: Mapping[str, Any] | None = None,
        prefix: str = PREFIX,
        command: Command | tuple[Command, ...] = (),
    ) -> None:
        self._options: dict[str, Any] = {
            "method": method, "path": path, "id": id, "permission": permission,
            "cost": cost, "records": records, "summary": summary, "status": status,
            "also": also or {}, "location": location,
            "versioned": versioned, "errors": errors, "page_size": page_size, "secret": secret,
            "raw": raw, "media_types": media_types, "body": body, "prefix": prefix,
            "commands": command if isinstance(command, tuple) else (command,),
        }  # fmt: skip

    @overload
    def __call__(
        self, function: Callable[Concatenate[ContestContext, PageRequest, P], Page[T]]
    ) -> Operation[Concatenate[str, P], Iterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, PageRequest, P], Page[T]]
    ) -> Operation[P, Iterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[ContestContext, P], R]
    ) -> Operation[Concatenate[str, P], R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], R]) -> Operation[P, R]: ...
    def __call__(self, function: Callable[..., Any]) -> Any:
        """Declare a function as the operation that the options state."""
        return Operation(function=function, **self._options)


def _is_model(annotation: Any, base: type) -> bool:
    """Return whether a type is a model of a kind, or one that may be absent."""
    if get_origin(annotation) in {Union, UnionType}:
        return any(_is_model(each, base) for each in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, base)
