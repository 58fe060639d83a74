"""The cookie of a session, which scripts cannot read and other sites cannot send."""

from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers

COOKIE: Final = "agon_session"
_LIFETIME_S: Final = 12 * 60 * 60


def session_token(headers: Headers) -> str | None:
    """Return the session's token in the headers of a request, None if there is none."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[COOKIE].value or None if COOKIE in cookies else None


def is_page(path: str) -> bool:
    """Return whether a path belongs to the site, where the cookie counts; the API ignores it."""
    return not path.startswith(("/api", "/healthz", "/readyz", "/metrics"))


def set_cookie(token: str, *, secure: bool) -> str:
    """Return the header that begins a session; an empty token ends it.

    Example:
        >>> set_cookie("", secure=True)
        'agon_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure'
    """
    age = _LIFETIME_S if token else 0
    text = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}"
    return f"{text}; Secure" if secure else text
