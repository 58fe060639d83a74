"""Read forms of this site only, in UTF-8."""

import hmac
from email.message import Message
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from agon.app.access.sessions import form_token
from agon.errors import Forbidden, Unreadable
from agon.web import addresses
from agon.web.page import SitePage, Visit

_SECRETS: Final = frozenset({"password", "token", "code"})
"""Fields that are never written into a page."""


def require_utf8(request: Request) -> None:
    """Require a form in UTF-8: clients could name codecs of quadratic time, or without texts.

    Raises:
        Unreadable: the form names another charset.
    """
    message = Message()
    message["content-type"] = request.headers.get("content-type", "")
    charset = message.get_content_charset("utf-8")
    if charset not in {"utf-8", "utf8", "us-ascii"}:
        raise Unreadable(f"charset: expected utf-8, got {charset[:40]!r}; send the form as UTF-8")


def require_own_form(request: Request, visit: Visit) -> None:
    """Reject forms that a page of another site sent.

    Raises:
        Forbidden: the form is of another site.
    """
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    own = urlsplit(visit.origin)
    foreign = (
        origin is not None
        and origin.partition("://")[2] != host
        and origin != f"{own.scheme}://{own.netloc}"
    )
    foreign |= request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}
    if foreign:
        raise Forbidden("this form was sent by a page of another site; use the form of this site")


def stale_form(request: Request, visit: Visit) -> SitePage | None:
    """Return a page that keeps what was typed in a form of a session that has ended.

    None: the form is of the visitor's session, or needs none.
    """
    path = request.url.path
    if path in {addresses.theme(), addresses.sign_in()}:
        return None  # the theme is chosen on the page of an error as well, which knows no session
    if visit.session is None:
        if visit.caller.role is not None or path == addresses.join():
            return None
        return _page(request, visit, 401, "The session has ended", "Sign in again.")
    expected = form_token(visit.session)
    if hmac.compare_digest(visit.form.get("form_token", "").encode(), expected.encode()):
        return None
    return _page(
        request, visit, 403, "A form of another session",
        "This form was loaded before you signed in as you are now. Read it again, then send it.",
    )  # fmt: skip


def _page(request: Request, visit: Visit, status: int, title: str, message: str) -> SitePage:
    fields = {name: value for name, value in visit.form.items() if name != "form_token"}
    if visit.files or "origin" not in request.headers or not _SECRETS.isdisjoint(fields):
        fields = {}
    values = {"message": message, "status": status, "fields": fields, "action": request.url.path}
    return SitePage(template="resend.html", title=title, values=values, status=status)
