"""The cookies of the site: a session, a choice of colors, and what was seen of a contest.

Scripts cannot read them, and other sites cannot send them.
"""

from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers

from agon.web.last_visit import LAST_VISIT, LastVisit

COOKIE: Final = "agon_session"
THEME: Final = "agon_theme"
THEMES: Final = ("system", "light", "dark")
"""The choices of colors: those of the visitor's system, or one of two themes."""

_LIFETIME_S: Final = 12 * 60 * 60
_YEAR_S: Final = 365 * 24 * 60 * 60


def session_token(headers: Headers) -> str | None:
    """Return the session's token in the headers of a request, None if there is none."""
    return _values(headers).get(COOKIE) or None


def chosen_theme(headers: Headers) -> str:
    """Return the theme in the headers of a request; the system's if there is none."""
    name = _values(headers).get(THEME, "")
    return name if name in THEMES else THEMES[0]


def theme_cookie(theme: str, *, secure: bool) -> str:
    """Return the header that stores a theme for a year.

    Example:
        >>> theme_cookie("dark", secure=False)
        'agon_theme=dark; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000'
    """
    text = f"{THEME}={theme}; HttpOnly; SameSite=Lax; Path=/; Max-Age={_YEAR_S}"
    return f"{text}; Secure" if secure else text


def sent_last_visit(headers: Headers) -> str:
    """Return the cookie of the last visit in the headers of a request; empty: there is none."""
    return _values(headers).get(LAST_VISIT, "")


def last_visit_cookie(visit: LastVisit, path: str, *, secure: bool) -> str:
    """Return the header that stores for a year what a visitor has seen below a path."""
    text = f"{LAST_VISIT}={visit.text()}; HttpOnly; SameSite=Lax; Path={path}; Max-Age={_YEAR_S}"
    return f"{text}; Secure" if secure else text


def _values(headers: Headers) -> dict[str, str]:
    """Return the cookies in the headers of a request; none if they are not well-formed."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in cookies.items()}


def set_cookie(token: str, *, secure: bool) -> str:
    """Return the header that begins a session; an empty token ends it.

    Example:
        >>> set_cookie("", secure=True)
        'agon_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0; Secure'
    """
    age = _LIFETIME_S if token else 0
    text = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}"
    return f"{text}; Secure" if secure else text
