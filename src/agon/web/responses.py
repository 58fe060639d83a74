"""The responses of the site: pages, pictures, redirects, errors, and the headers of all of them."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from agon.api.models.contests import Contest
from agon.app.access.sessions import form_token
from agon.errors import NotFound
from agon.web import addresses
from agon.web.cookies import (
    THEMES,
    chosen_theme,
    last_visit_cookie,
    set_cookie,
    theme_cookie,
)
from agon.web.data import PageData, sent_path
from agon.web.etags import etag_of, is_known
from agon.web.page import Document, Redirect, SitePage, Visit
from agon.web.rendering import phase_of, render

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

PHASE_HEADER: Final = "agon-phase"
"""Says where the contest of a response is in time, also of files, which have no other place."""

_VARY: Final = "accept, authorization, cookie"


def document_response(document: Document) -> Response:
    """Return a picture or a feed; pages of other sites may show it as the public sees it."""
    headers = {**HEADERS, "cross-origin-resource-policy": "cross-origin"}
    headers[PHASE_HEADER] = phase_of(document.contest)
    return _with_tag(document.content, document.media_type, headers)


def _with_tag(
    body: bytes, media_type: str, headers: Mapping[str, str], status: int = 200
) -> Response:
    """Return a response with a strong ETag."""
    headers = {
        **headers,
        "etag": etag_of(body),
        "cache-control": "private, no-cache",
        "vary": _VARY,
    }
    return Response(body, status, headers, media_type=media_type)


def unless_known(request: Request, response: Response) -> Response:
    """Return a response, or 304 if the client has it."""
    tag = response.headers.get("etag")
    known = tag is not None and is_known(request, tag)
    if not known or response.status_code != HTTPStatus.OK:
        return response
    names = ("etag", "cache-control", "vary", "set-cookie", PHASE_HEADER, *HEADERS)
    headers = {name: response.headers[name] for name in names if name in response.headers}
    return Response(status_code=304, headers=headers)


def redirect_response(request: Request, redirect: Redirect) -> Response:
    """Return a redirect with the cookies it sets."""
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
    page = SitePage(
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


def page_response(request: Request, visit: Visit, page: SitePage) -> Response:
    """Return a page as HTML, or its data if the client asks for them."""
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
    headers = dict(HEADERS)
    contest = page.values.get("contest")
    if isinstance(contest, Contest):
        visitor["links"] = visit.links(contest, visit.caller)
        headers[PHASE_HEADER] = phase_of(contest)
    if page.last_visit is not None:
        path = addresses.contest(visit.path["contest"])
        headers["set-cookie"] = last_visit_cookie(page.last_visit, path, secure=_is_secure(request))
    body = render(page, visitor).encode()
    return _with_tag(body, "text/html; charset=utf-8", headers, page.status)


def _stream(visit: Visit, request: Request) -> str | None:
    """Return the address of the events that change a page; None: the page is of the past."""
    is_past = visit.as_of is not None or "cursor" in visit.query or request.method != "GET"
    return (
        None if is_past or "contest" not in visit.path else addresses.events(visit.path["contest"])
    )


def _wants_json(request: Request) -> bool:
    """Return whether a client asks for JSON and not for a page."""
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/html" not in accept
