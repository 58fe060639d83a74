"""What the pages of a contest's desk have in common."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from agon.api.models.contests import Contest
from agon.app.access.permissions import allow
from agon.disciplines import discipline
from agon.errors import AgonError, Forbidden, Unauthenticated
from agon.web.desk.forms import FormErrors, form_errors
from agon.web.page import Page, Redirect, Visit

SHOWN: Final = 200
"""Maximum number of rows of a list."""

_SERVER: Final = (
    ("", "Contests", "contest.manage"),
    ("queue", "Queue", "queue.read"),
    ("tokens", "Tokens", "token.manage"),
    ("users", "Users", "user.manage"),
    ("audit", "Audit", "audit.read"),
)
"""The pages of the server's desk: the end of the address, the name, the permission to see it."""


def contest_page(
    visit: Visit,
    contest: Contest,
    section: str,
    values: Mapping[str, Any],
    *,
    tab: str = "",
    error: Exception | FormErrors | None = None,
    names: frozenset[str] = frozenset(),
    data: str | None = None,
) -> Page:
    """Return a page of a contest's desk.

    Args:
        visit: the request.
        contest: the contest.
        section: name of the page, of its template and of its tab.
        values: what the template shows.
        tab: name of the tab, where it is another.
        error: what was wrong with a form.
        names: the fields of that form.
        data: the address of the same data as JSON.
    """
    allow(visit.caller, "contest.manage", contest=contest.id)
    errors = error if isinstance(error, FormErrors) else form_errors(error, names=names)
    return Page(
        template=f"desk/{section}.html",
        title=f"{section.capitalize()} · Desk · {contest.title}",
        values={
            "contest": contest,
            "sections": sections(contest),
            "section": tab or section.capitalize(),
            "form": visit.form,
            "errors": errors,
            **values,
        },
        status=422 if errors else 200,
        data=data,
    )


def server_page(
    visit: Visit,
    section: str,
    values: Mapping[str, Any],
    *,
    tab: str = "",
    error: Exception | None = None,
    names: frozenset[str] = frozenset(),
    data: str | None = None,
) -> Page:
    """Return a page of the desk of the server; arguments as of :func:`contest_page`."""
    errors = form_errors(error, names=names)
    return Page(
        template=f"desk/{section}.html",
        title=f"{section.capitalize()} · Desk",
        values={
            "server_sections": _SERVER,
            "section": tab or section.capitalize(),
            "form": visit.form,
            "errors": errors,
            **values,
        },
        status=422 if errors else 200,
        data=data,
    )


def sections(contest: Contest) -> tuple[tuple[str, str], ...]:
    """Return the pages of a contest's desk: the end of the address, and the name."""
    tables = {table.name for table in discipline(contest.discipline).schema}
    arena = (("rounds", "Rounds"), ("bots", "Bots")) if "matches" in tables else ()
    return (
        ("", "Overview"),
        ("records", "Records"),
        ("findings", "Findings"),
        ("cases", "Cases"),
        ("changes", "Changes"),
        ("rules", "Rules"),
        *arena,
        ("people", "People"),
        ("jobs", "Jobs"),
    )


def act(
    action: Callable[[], Any],
    *,
    following: str | Callable[[Any], str],
    otherwise: Callable[[Exception], Page],
) -> Page | Redirect:
    """Do what a form asks for; return where it leads, or the form with what was wrong.

    Raises:
        Forbidden, Unauthenticated: as the action.
    """
    try:
        result = action()
    except (Forbidden, Unauthenticated):
        raise
    except (AgonError, ValidationError) as error:
        return otherwise(error)
    return Redirect(address=following if isinstance(following, str) else following(result))


def first(items: Any) -> list[Any]:
    """Return the first items of a list, as many as a page shows."""
    return list(islice(items, SHOWN))
