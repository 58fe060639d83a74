"""Addresses of the site's pages; they are a contract."""

from typing import Any, Final
from urllib.parse import quote, urlencode

STATIC: Final = "/static"


def home() -> str:
    """Return the address of the list of contests."""
    return "/"


def contest(contest_id: str) -> str:
    """Return the address of a contest, which shows its default board."""
    return f"/c/{quote(contest_id, safe='')}"


def board(contest_id: str, name: str, **query: Any) -> str:
    """Return the address of a board; parameters that are None or empty are left out.

    Example:
        >>> board("spring", "problem:ab/1", q="ada", cursor=None)
        '/c/spring/boards/problem%3Aab%2F1?q=ada'
    """
    return _with_query(f"{contest(contest_id)}/boards/{quote(name, safe='')}", query)


def person(contest_id: str, participant: str, **query: Any) -> str:
    """Return the address of a participant's page."""
    return _with_query(f"{contest(contest_id)}/people/{quote(participant, safe='')}", query)


def problems(contest_id: str) -> str:
    """Return the address of the problems of a dojo contest."""
    return f"{contest(contest_id)}/problems"


def problem(contest_id: str, problem_id: str) -> str:
    """Return the address of a problem."""
    return f"{problems(contest_id)}/{quote(problem_id, safe='')}"


def desks() -> str:
    """Return the address of the desk of all contests."""
    return "/desk"


def desk(contest_id: str, action: str = "") -> str:
    """Return the address of a contest's desk, or of one of its forms."""
    return f"{contest(contest_id)}/desk/{action}" if action else f"{contest(contest_id)}/desk"


def sign_in(following: str = "") -> str:
    """Return the address of the form to sign in, which leads to another page."""
    return _with_query("/sign-in", {"next": following})


def sign_out() -> str:
    """Return the address that ends a session."""
    return "/sign-out"


def account() -> str:
    """Return the address of the visitor's account."""
    return "/account"


def rules(contest_id: str) -> str:
    """Return the address of the rules of a contest."""
    return f"{contest(contest_id)}/rules"


def ledger(contest_id: str, **query: Any) -> str:
    """Return the address of the log of a contest."""
    return _with_query(f"{contest(contest_id)}/ledger", query)


def api(*segments: str, **query: Any) -> str:
    """Return the address of the same data in the API.

    Example:
        >>> api("contests", "spring", "boards", "problem:ab/1", format="csv")
        '/api/v1/contests/spring/boards/problem%3Aab%2F1?format=csv'
    """
    path = "".join(f"/{quote(segment, safe='')}" for segment in segments)
    return _with_query(f"/api/v1{path}", query)


def _with_query(path: str, query: dict[str, Any]) -> str:
    values = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(values)}" if values else path
