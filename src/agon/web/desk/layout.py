"""What the pages of a contest's desk have in common."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from pydantic import ValidationError

from agon.api.models.contests import Contest
from agon.app.access.permissions import allow
from agon.disciplines import discipline
from agon.errors import AgonError, Forbidden, Unauthenticated
from agon.web.desk.forms import FormErrors, form_errors
from agon.web.page import Redirect, SitePage, Visit

SHOWN: Final = 200
"""Maximum number of rows of a page of a list."""

MAX_PAGES: Final = 10_000

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
) -> SitePage:
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
    allow(visit.caller, "contest.manage", contest=contest)
    shown = {"contest": contest, "sections": sections(contest), **values}
    errors = error if isinstance(error, FormErrors) else form_errors(error, names=names)
    page = _page(visit, section, shown, tab=tab, errors=errors, data=data)
    return replace(page, title=f"{page.title} · {contest.title}")


def server_page(
    visit: Visit,
    section: str,
    values: Mapping[str, Any],
    *,
    tab: str = "",
    error: Exception | FormErrors | None = None,
    names: frozenset[str] = frozenset(),
    data: str | None = None,
) -> SitePage:
    """Return a page of the desk of the server; arguments as of :func:`contest_page`."""
    shown = {"server_sections": _SERVER, **values}
    errors = error if isinstance(error, FormErrors) else form_errors(error, names=names)
    return _page(visit, section, shown, tab=tab, errors=errors, data=data)


def _page(
    visit: Visit,
    section: str,
    values: Mapping[str, Any],
    *,
    tab: str,
    errors: FormErrors,
    data: str | None,
) -> SitePage:
    """Return a page of a desk, with the form that was sent and what was wrong with it."""
    return SitePage(
        template=f"desk/{section}.html",
        title=f"{section.capitalize()} · Desk",
        values={
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
    can = discipline(contest.discipline)
    rounds = (("rounds", "Rounds"), ("bots", "Bots")) if can.rounds else ()
    problems = (("problems", "Problems"),) if can.problems else ()
    epochs = (("epochs", "Epochs"),) if can.epochs else ()
    return (
        ("", "Overview"),
        *problems,
        ("records", "Records"),
        ("findings", "Findings"),
        ("cases", "Cases"),
        ("changes", "Changes"),
        ("rules", "Rules"),
        *rounds,
        *epochs,
        ("people", "People"),
        ("jobs", "Jobs"),
    )


def act(
    action: Callable[[], Any],
    *,
    following: str | Callable[[Any], str],
    otherwise: Callable[[Exception], SitePage],
) -> SitePage | Redirect:
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


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A page of a list.

    Attributes:
        rows: its rows.
        previous, next: the addresses of the pages before and after it; None: there is none.
    """

    rows: list[Any]
    previous: str | None
    next: str | None


def listing(visit: Visit, items: Iterable[Any], *, oldest_first: bool = False) -> Listing:
    """Return the page of a list that the address names, the newest rows first.

    Args:
        visit: the request.
        items: all rows; those of later pages are not read.
        oldest_first: whether they come in the other order; then all are read.

    Raises:
        Unreadable: the address names no page.
    """
    number = visit.number("page", default=1, highest=MAX_PAGES)
    start = (number - 1) * SHOWN
    ordered = reversed(list(items)) if oldest_first else items
    rows = list(islice(ordered, start, start + SHOWN + 1))
    return Listing(
        rows=rows[:SHOWN],
        previous=_page_address(visit, number - 1) if number > 1 else None,
        next=_page_address(visit, number + 1) if len(rows) > SHOWN else None,
    )


def _page_address(visit: Visit, number: int) -> str:
    return f"?{urlencode({**visit.query, 'page': number})}"
