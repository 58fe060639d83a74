"""The routes of the site, and how pages become responses."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from http import HTTPStatus
from typing import IO, Any, Final, TypeAlias
from urllib.parse import unquote

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from agon.app.access.permissions import ANONYMOUS, allow
from agon.app.access.sessions import form_token
from agon.app.service import Service
from agon.client.client import Api
from agon.client.local import LocalTransport
from agon.errors import NotFound, Unreadable
from agon.web import addresses
from agon.web.cookies import (
    THEMES,
    chosen_theme,
    last_visit_cookie,
    sent_last_visit,
    set_cookie,
    theme_cookie,
)
from agon.web.data import PageData, sent_path, set_format
from agon.web.desk import routes as desk
from agon.web.form_checks import require_own_form, require_utf8, stale_form
from agon.web.once import once
from agon.web.page import Document, Page, Redirect, View, Visit, error_texts
from agon.web.page_cache import PageCache
from agon.web.pages import (
    account,
    board,
    bots,
    cases,
    distribution,
    epochs,
    feed,
    home,
    join,
    ledger,
    matches,
    person,
    pictures,
    problems,
    robustness,
    rules,
    styleguide,
    submit,
    theme,
    vote,
)
from agon.web.rendering import render, static_files

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy of all pages: nothing inline, nothing from another host."""

HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}

_API: Final = "/api/"
_VARY: Final = "accept, authorization, cookie"
_IMMUTABLE: Final = "public, max-age=31536000, immutable"

PAGES: Final[tuple[tuple[str, View], ...]] = (
    ("/", home.home),
    ("/join", join.join),
    ("/c/{contest}", board.default_board),
    ("/c/{contest}/boards/{board}", board.board),
    ("/c/{contest}/people/{id}", person.person),
    ("/c/{contest}/judges/{id}", person.judge),
    ("/c/{contest}/distribution", distribution.distribution),
    ("/c/{contest}/epochs", epochs.epochs),
    ("/c/{contest}/epochs/{n}", epochs.epoch),
    ("/c/{contest}/problems", problems.problems),
    ("/c/{contest}/problems/{id}", problems.problem),
    ("/c/{contest}/matches", matches.matches),
    ("/c/{contest}/matches/{id}", matches.match),
    ("/c/{contest}/bots", bots.bots),
    ("/c/{contest}/bots/{id}", bots.bot),
    ("/c/{contest}/robustness", robustness.robustness),
    ("/c/{contest}/vote", vote.vote),
    ("/c/{contest}/submit", submit.form),
    ("/c/{contest}/cases", cases.own_cases),
    ("/c/{contest}/rules", rules.rules),
    ("/c/{contest}/ledger", ledger.ledger),
    ("/sign-in", account.sign_in_form),
    ("/account", account.account),
    *desk.PAGES,
)
"""Every page: its address and what reads its content."""

_QUICK: Final = frozenset({board.default_board, board.board})
"""The pages that most visitors load; none of them takes more than some milliseconds."""

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
    ("/c/{contest}/problems/{id}", problems.submit, "submission.add"),
    ("/c/{contest}/submit", submit.submit, "submission.add"),
    ("/c/{contest}/bots", bots.register, "bot.manage"),
    ("/c/{contest}/bots/{id}", bots.change, "bot.manage"),
    ("/c/{contest}/vote", vote.cast, "work.hand-in"),
    ("/c/{contest}/cases/{id}", cases.appeal, "case.appeal"),
    *desk.FORMS,
)
"""Every form: its address, what it does, and the permission without which it is not even read."""

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
    service: Service, *, public_url: str = "", development: bool = False
) -> list[BaseRoute]:
    """Return the routes of all pages, forms and static files.

    ``scope["agon.caller"]`` of a request is the visitor, ``scope["agon.session"]`` the token of
    the visitor's session.

    Args:
        service: the service.
        public_url: the service's address for visitors; empty: that of each request.
        development: whether the pages of :data:`DEVELOPMENT_PAGES` are served as well.
    """
    site = _Site(service=service, public_url=public_url)
    endpoints: dict[str, dict[str, _Endpoint]] = {f"{addresses.STATIC}/{{file}}": {"GET": _static}}
    endpoints["/c/{contest}/events"] = {"GET": _events}
    cache = PageCache()
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

    return _PageRoute(path, endpoint, methods=list(endpoints), include_in_schema=False)


class _PageRoute(Route):
    """A route of a page, which no request to the API is compared with: a match takes its time."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for the page."""
        if scope["path"].startswith(_API):
            return Match.NONE, {}
        return super().matches(scope)


def _data_endpoint(site: _Site, view: View, path: str, form: str) -> _Endpoint:
    async def endpoint(request: Request) -> Response:
        set_format(request.scope, path, form)
        return await run_in_threadpool(_respond, site, view, request, {}, {})

    return endpoint


def _endpoint(site: _Site, view: View, cache: PageCache) -> _Endpoint:
    async def endpoint(request: Request) -> Response:
        make = partial(_respond, site, view, request, {}, {})
        response = await cache.respond(request, make, is_quick=view in _QUICK)
        return _unless_known(request, response)

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
            return await run_in_threadpool(_respond, site, view, request, fields, files)

    return endpoint


def _is_short(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")


def _respond(
    site: _Site,
    view: View,
    request: Request,
    form: Mapping[str, str],
    files: Mapping[str, tuple[str, IO[bytes]]],
) -> Response:
    caller = request.scope.get("agon.caller", ANONYMOUS)
    visit = Visit(
        service=site.service,
        api=Api(LocalTransport(site.service, caller)),
        caller=caller,
        session=request.scope.get("agon.session"),
        path={name: unquote(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
        form=form,
        origin=site.public_url or str(request.base_url).rstrip("/"),
        files=files,
        last_visit=sent_last_visit(request.headers),
    )
    if request.method == "POST":
        require_own_form(request, visit)
        if (stale := stale_form(request, visit)) is not None:
            return _response(request, visit, stale)
    reads_only = request.method != "POST"
    try:
        with site.service.store.read_one_state() if reads_only else nullcontext():
            result = once(visit, request.url.path, lambda: view(visit))
    except ValidationError as error:
        raise Unreadable("\n".join(error_texts(error))) from None
    if isinstance(result, Redirect):
        return _redirect(request, result)
    if isinstance(result, Document):
        return _document(result)
    return _response(request, visit, result)


def _document(document: Document) -> Response:
    """Return a picture or a feed; pages of other sites may show it as the public sees it."""
    headers = {**HEADERS, "cross-origin-resource-policy": "cross-origin"}
    return _with_tag(document.content, document.media_type, headers)


def _with_tag(
    body: bytes, media_type: str, headers: Mapping[str, str], status: int = 200
) -> Response:
    """Return a response with a strong ETag."""
    tag = f'"{blake2b(body, digest_size=16).hexdigest()}"'
    headers = {**headers, "etag": tag, "cache-control": "private, no-cache", "vary": _VARY}
    return Response(body, status, headers, media_type=media_type)


def _unless_known(request: Request, response: Response) -> Response:
    """Return a response, or 304 if the client has it."""
    tag = response.headers.get("etag")
    known = tag is not None and tag in request.headers.get("if-none-match", "")
    if not known or response.status_code != HTTPStatus.OK:
        return response
    names = ("etag", "cache-control", "vary", "set-cookie", *HEADERS)
    headers = {name: response.headers[name] for name in names if name in response.headers}
    return Response(status_code=304, headers=headers)


def _redirect(request: Request, redirect: Redirect) -> Response:
    headers = {**HEADERS, "location": redirect.address, "cache-control": "no-store"}
    if redirect.session is not None or redirect.theme is not None:
        secure = _is_secure(request)
        if redirect.session is not None:
            headers["set-cookie"] = set_cookie(redirect.session, secure=secure)
        else:
            headers["set-cookie"] = theme_cookie(redirect.theme or THEMES[0], secure=secure)
    return Response(status_code=303, headers=headers)


def _is_secure(request: Request) -> bool:
    # Behind a proxy that ends TLS only the browser's Origin states the scheme.
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.startswith("https://")


def error_page(document: Mapping[str, Any], headers: Headers) -> str:
    """Return a problem document of the API as a page: what is wrong, and what would be right.

    Args:
        document: what the API responds.
        headers: of the request.
    """
    page = Page(
        template="error.html",
        title=str(document.get("title", "Error")),
        values={"message": document.get("detail", ""), "status": document.get("status")},
    )
    visitor = {
        "caller": None,
        "form_token": "",
        "here": "",
        "data": None,
        "stream": None,
        "origin": "",
    }
    return render(page, {**visitor, "theme": chosen_theme(headers)})


def _response(request: Request, visit: Visit, page: Page) -> Response:
    form = request.scope.get("agon.format") or ("json" if _wants_json(request) else None)
    if form is not None and page.status == HTTPStatus.OK:
        if page.data is not None and form in page.formats:
            return PageData(page.data, form, headers={**HEADERS, "vary": _VARY})
        if "agon.format" in request.scope:
            raise NotFound(f"this page has no data as {form}; load it without the ending .{form}")
    path, query = sent_path(request.scope) if request.method == "GET" else "", request.url.query
    visitor = {
        "caller": visit.caller,
        "form_token": "" if visit.session is None else form_token(visit.session),
        "here": f"{path}?{query}" if query else path,
        "data": addresses.data(path, query) if page.data and path else None,
        "stream": _stream(visit, request),
        "theme": chosen_theme(request.headers),
        "once": visit.service.new_id(),
        "origin": visit.origin,
    }
    body = render(page, visitor).encode()
    headers = dict(HEADERS)
    if page.last_visit is not None:
        path = addresses.contest(visit.path["contest"])
        headers["set-cookie"] = last_visit_cookie(page.last_visit, path, secure=_is_secure(request))
    return _with_tag(body, "text/html; charset=utf-8", headers, page.status)


def _stream(visit: Visit, request: Request) -> str | None:
    """Return the address of the events that change a page; None: the page is of the past."""
    is_past = visit.as_of is not None or "cursor" in visit.query or request.method != "GET"
    return (
        None if is_past or "contest" not in visit.path else addresses.events(visit.path["contest"])
    )


async def _events(request: Request) -> Response:
    """Return the stream of events of the API, as the visitor may see them."""
    contest = unquote(request.path_params["contest"])
    query = dict(request.query_params)
    return PageData(addresses.api("contests", contest, "events", **query), "json", headers=HEADERS)


def _wants_json(request: Request) -> bool:
    """Return whether a client asks for JSON and not for a page."""
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept


async def _static(request: Request) -> Response:
    """Return a static file by its name with the hash of its content."""
    for name, content, media_type in static_files().values():
        if name == request.path_params["file"]:
            headers = {**HEADERS, "cache-control": _IMMUTABLE}
            return Response(content, headers=headers, media_type=media_type)
    return Response("no such file", status_code=404, headers=HEADERS, media_type="text/plain")
