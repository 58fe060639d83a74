"""Read forms of this site only, in UTF-8."""

import hmac
from email.message import Message
from urllib.parse import urlsplit

from starlette.requests import Request

from agon.app.access.sessions import form_token
from agon.errors import Forbidden, Unauthenticated, Unreadable
from agon.web import addresses
from agon.web.page import Visit


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
        Forbidden: the form is of another site, or of a session that has ended.
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
    if request.url.path == addresses.theme():
        return  # also on the page of an error, which knows no session
    if visit.session is None:
        if visit.caller.role is None and request.url.path != addresses.sign_in():
            raise Unauthenticated("the session has ended; sign in again, then send the form again")
        return
    expected = form_token(visit.session)
    if not hmac.compare_digest(visit.form.get("form_token", "").encode(), expected.encode()):
        raise Forbidden("this form is of another session; load the page again, then send it again")
