"""The routes of the site, and how requests become visits."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import IO, Final, TypeAlias
from urllib.parse import unquote

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agon.api.costs import Kind
from agon.app.access.permissions import ANONYMOUS, allow
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.service import Service
from agon.client.client import Api
from agon.client.local import LocalTransport
from agon.errors import Unreadable
from agon.web import addresses
from agon.web.contest_pages import CONTEST_PAGES, links
from agon.web.cookies import sent_last_visit, session_token
from agon.web.data import PageData, set_format
from agon.web.desk import routes as desk
from agon.web.form_checks import require_own_form, require_utf8, stale_form
from agon.web.once import once
from agon.web.page import Document, NotAtOnce, Redirect, View, Visit, error_texts
from agon.web.page_cache import PageCache, in_slot
from agon.web.pages import (
    account,
    cases,
    epochs,
    feed,
    home,
    join,
    judge,
    person,
    problems,
    run,
    styleguide,
    submit,
    theme,
)
from agon.web.pages.boards import board, pictures, robustness
from agon.web.pages.live import bots, matches, vote
from agon.web.rendering import static_files
from agon.web.responses import (
    HEADERS,
    document_response,
    page_response,
    redirect_response,
    unless_known,
)

_IMMUTABLE: Final = "public, max-age=31536000, immutable"

PAGES: Final[tuple[tuple[str, View], ...]] = (
    ("/", home.home),
    (addresses.join(), join.join),
    ("/c/{contest}", board.default_board),
    ("/c/{contest}/boards/{board}", board.board),
    ("/c/{contest}/people/{id}", person.person),
    ("/c/{contest}/judges/{id}", judge.judge),
    *((f"/c/{{contest}}/{page.name}", page.view) for page in CONTEST_PAGES),
    ("/c/{contest}/epochs/{n}", epochs.epoch),
    ("/c/{contest}/problems/{id}", problems.problem),
    ("/c/{contest}/matches/{id}", matches.match),
    ("/c/{contest}/bots/{id}", bots.bot),
    ("/c/{contest}/robustness", robustness.robustness),
    ("/c/{contest}/submissions/{id}", run.run),
    ("/c/{contest}/submissions/{id}/trials/{task}", run.trial),
    ("/sign-in", account.sign_in_form),
    ("/account", account.account),
    *desk.PAGES,
)
"""Every page: its address and what reads its content."""

_QUICK: Final = frozenset({board.default_board, board.board})
"""The pages that most visitors load; none of them takes more than some milliseconds, unless the
query has other parameters than :data:`_QUICK_PARAMETERS`."""

_QUICK_PARAMETERS: Final = frozenset({"cursor"})

DEVELOPMENT_PAGES: Final[tuple[tuple[str, View], ...]] = (
    (addresses.styleguide(), styleguide.styleguide),
)
"""Pages for work on the site itself."""

DOCUMENTS: Final[tuple[tuple[str, View], ...]] = (
    ("/c/{contest}/badge/{id}.svg", pictures.badge),
    ("/c/{contest}/card/{id}.png", pictures.card),
    ("/c/{contest}/feed.xml", feed.feed),
)
"""Pictures and feeds, which other sites and programs load."""

FORMS: Final[tuple[tuple[str, View, str | None], ...]] = (
    ("/sign-in", account.sign_in, None),
    ("/sign-out", account.sign_out, None),
    (addresses.theme(), theme.choose, None),
    (addresses.join(), join.accept, None),
    ("/c/{contest}/problems/{id}", problems.submit, "submission.add"),
    ("/c/{contest}/submit", submit.submit, "submission.add"),
    ("/c/{contest}/bots", bots.register, "bot.manage"),
    ("/c/{contest}/bots/{id}", bots.change, "bot.manage"),
    ("/c/{contest}/vote", vote.cast, "work.hand-in"),
    ("/c/{contest}/cases/{id}", cases.appeal, "case.appeal"),
    *desk.FORMS,
)
"""Every form: its address, what it does, and the permission without which it is not even read."""

_KINDS: Final[Mapping[View, Kind]] = {
    **dict.fromkeys((person.person, judge.judge, robustness.robustness), "reads"),
    pictures.card: "pictures",
    **dict.fromkeys((account.sign_in, join.accept, *desk.PASSWORD_FORMS), "passwords"),
    **dict.fromkeys((bots.register, bots.change), "endpoints"),
}
"""The kind of work of a page or a form; it is ``pages`` for others, and ``forms``."""

_Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
_MAX_FIELDS: Final = 100
_MAX_PART: Final = 1 << 20
"""Largest field of a form in bytes; files are limited by the size of the request."""


@dataclass(frozen=True, kw_only=True)
class _Site:
    """What all pages need: the service, and the public URL if it is set."""

    service: Service
    public_url: str


def site_routes(
    service: Service, *, public_url: str = "", development: bool = False, in_threads: bool = True
) -> list[BaseRoute]:
    """Return the routes of all pages, forms and static files.

    ``scope["agon.caller"]`` of a request is the visitor, ``scope["agon.session"]`` the token of
    the visitor's session.

    Args:
        service: the service.
        public_url: the service's address for visitors; empty: that of each request.
        development: whether the pages of :data:`DEVELOPMENT_PAGES` are served as well.
        in_threads: whether reads wait for the database (:class:`PageCache`).
    """
    site = _Site(service=service, public_url=public_url)
    endpoints: dict[str, dict[str, _Endpoint]] = {f"{addresses.STATIC}/{{file}}": {"GET": _static}}
    endpoints["/c/{contest}/events"] = {"GET": _events}
    read_state = lambda: service.store.state()  # noqa: E731, PLW0108 (openapi.py has no service)
    clock = lambda: service.clock()  # noqa: E731, PLW0108 (as above)
    cache = PageCache(read_state, clock=clock, in_threads=in_threads)
    endpoints |= {path: {"GET": _endpoint(site, view, cache)} for path, view in DOCUMENTS}
    for path, view in (*PAGES, *(DEVELOPMENT_PAGES if development else ())):
        for form in addresses.FORMATS:  # before the page, whose last segment could be an id
            endpoint = _data_endpoint(site, view, path, form)
            endpoints[addresses.data(path, form=form)] = {"GET": endpoint}
        endpoints.setdefault(path, {})["GET"] = _endpoint(site, view, cache)
    for path, view, permission in FORMS:
        endpoints.setdefault(path, {})["POST"] = _form_endpoint(site, view, permission)
    return [_route(path, methods) for path, methods in endpoints.items()]


def _route(path: str, endpoints: Mapping[str, _Endpoint]) -> Route:
    """Return the one route of a path; its methods are those that the Allow header lists."""

    async def endpoint(request: Request) -> Response:
        return await endpoints[request.method](request)

    return Route(path, endpoint, methods=list(endpoints), include_in_schema=False)


def _data_endpoint(site: _Site, view: View, path: str, form: str) -> _Endpoint:
    async def endpoint(request: Request) -> Response:
        set_format(request.scope, path, form)
        make = partial(_respond, site, view, request, {}, {})
        return await in_slot(request, _KINDS.get(view, "pages"), make)

    return endpoint


def _endpoint(site: _Site, view: View, cache: PageCache) -> _Endpoint:
    async def endpoint(request: Request) -> Response:
        make = partial(_respond, site, view, request, {}, {})
        is_quick = view in _QUICK and request.query_params.keys() <= _QUICK_PARAMETERS
        make_quick = partial(_respond_at_once, site, view, request) if is_quick else None
        kind = _KINDS.get(view, "pages")
        response = await cache.respond(request, make, kind=kind, make_quick=make_quick)
        return unless_known(request, response)

    return endpoint


def _form_endpoint(site: _Site, view: View, permission: str | None) -> _Endpoint:
    async def endpoint(request: Request) -> Response:
        caller = request.scope.get("agon.caller", ANONYMOUS)
        # Of an anonymous visitor a short form without files is read, to be kept for signing in.
        if permission is not None and (caller.role is not None or not _is_short(request)):
            allow(caller, permission)
        require_utf8(request)
        fields: dict[str, str] = {}
        files: dict[str, tuple[str, IO[bytes]]] = {}
        async with request.form(
            max_files=1, max_fields=_MAX_FIELDS, max_part_size=_MAX_PART
        ) as form:
            for name, value in form.items():
                if isinstance(value, str):
                    fields[name] = value
                else:
                    files[name] = (value.filename or "", value.file)
            make = partial(_respond, site, view, request, fields, files)
            return await in_slot(request, _KINDS.get(view, "forms"), make)

    return endpoint


def _is_short(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")


def _respond_at_once(site: _Site, view: View, request: Request) -> Response | None:
    """Return the response to a request for a page; None: it takes longer than milliseconds."""
    try:
        return _respond(site, view, request, {}, {}, rebuilds=False)
    except (NotStored, NotAtOnce):
        return None


def _respond(
    site: _Site,
    view: View,
    request: Request,
    form: Mapping[str, str],
    files: Mapping[str, tuple[str, IO[bytes]]],
    *,
    rebuilds: bool = True,
) -> Response:
    caller = request.scope.get("agon.caller", ANONYMOUS)
    visit = Visit(
        service=site.service,
        api=Api(LocalTransport(site.service, caller, rebuilds=rebuilds)),
        caller=caller,
        session=request.scope.get("agon.session"),
        sent_session=session_token(request.headers),
        path={name: unquote(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
        query_pairs=request.query_params.multi_items(),
        form=form,
        origin=site.public_url or str(request.base_url).rstrip("/"),
        files=files,
        last_visit=sent_last_visit(request.headers),
        at_once=not rebuilds,
        links=links,
    )
    if request.method == "POST":
        require_own_form(request, visit)
        if (stale := stale_form(request, visit)) is not None:
            return page_response(request, visit, stale)
    reads_only = request.method != "POST"
    store = site.service.store
    try:
        with store.read_one_state() if reads_only else nullcontext():
            result = once(visit, request.url.path, lambda: view(visit))
    except ValidationError as error:
        raise Unreadable("\n".join(error_texts(error))) from None
    if isinstance(result, Redirect):
        return redirect_response(request, result)
    if isinstance(result, Document):
        return document_response(result)
    return page_response(request, visit, result)


async def _events(request: Request) -> Response:
    """Return the stream of events of the API, as the visitor may see them."""
    contest = unquote(request.path_params["contest"])
    query = dict(request.query_params)
    return PageData(addresses.api("contests", contest, "events", **query), "json", headers=HEADERS)


async def _static(request: Request) -> Response:
    """Return a static file by its name with the hash of its content."""
    for name, content, media_type in static_files().values():
        if name == request.path_params["file"]:
            headers = {**HEADERS, "cache-control": _IMMUTABLE}
            return Response(content, headers=headers, media_type=media_type)
    return Response("no such file", status_code=404, headers=HEADERS, media_type="text/plain")
