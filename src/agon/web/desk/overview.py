"""The first page of a contest's desk: its state, what the public sees, its details."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.api.models.base import ReasonRequest
from agon.api.models.boards import BoardPage
from agon.api.models.contests import Contest, ContestUpdate
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.lifecycle.details import last_edit
from agon.client.client import Api
from agon.client.local import LocalTransport
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.ledger.contest_state import NameDisplay
from agon.web import addresses
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, contest_page
from agon.web.form_times import UTC, ZONE, zoned_times
from agon.web.labels import labels
from agon.web.page import Redirect, SitePage, Visit
from agon.web.rendering import time_text

_ROWS: Final = 10
_SHOWN: Final = "shown_"
"""What the names of the fields begin with that state what a form showed."""

_TIMES: Final = frozenset({"starts_at", "ends_at"})
_DETAILS: Final = frozenset({"title", "description", "visibility", "names"}) | _TIMES
_MINUTES: Final = len("2026-12-24T18:00")
_UNUSED_ZONE: Final = (
    "The times shown are in UTC and stay as they are unless you change them. Type a time in the "
    "zone that you chose, or choose UTC."
)


@dataclass(frozen=True)
class BoardDifference:
    """A row of the newest board next to the same row as the public sees it."""

    id: str
    rank: int
    score: float
    public_rank: int | None
    public_score: float | None


def overview(
    visit: Visit,
    *,
    error: Exception | FormErrors | None = None,
    typed: Mapping[str, str] | None = None,
) -> SitePage:
    """Return the state of a contest, and what an organizer may do with it."""
    contest = visit.contest()
    stored = _details(contest)
    newest = _board(visit.api, contest)
    public = _board(Api(LocalTransport(visit.service, ANONYMOUS)), contest)
    values = {
        "details": {**stored, **(typed or {})},
        "shown": {f"{_SHOWN}{name}": text for name, text in stored.items()},
        "newest": newest,
        "public": public,
        "named": None if newest is None else labels(contest, newest.board),
        "lines": [] if newest is None else _lines(newest, public),
    }
    return contest_page(
        visit, contest, "overview", values, error=error, names=_DETAILS | {"reason"},
        data=addresses.api("contests", contest.id),
    )  # fmt: skip


def open_contest(visit: Visit) -> SitePage | Redirect:
    """Open a draft."""
    return _change(visit, visit.api.contests.open)


def freeze(visit: Visit) -> SitePage | Redirect:
    """Freeze what the public sees."""
    return _change(visit, visit.api.contests.freeze)


def unfreeze(visit: Visit) -> SitePage | Redirect:
    """Show the public the newest boards again, with a reason."""
    reason = visit.form.get("reason", "").strip()
    return _change(
        visit, lambda contest: visit.api.contests.unfreeze(contest, ReasonRequest(reason=reason))
    )


def edit(visit: Visit) -> SitePage | Redirect:
    """Change title, description, visibility, start, end or names, as far as the form was changed.

    The form states what it showed, so that what another organizer changed meanwhile stays; where
    both changed the same field, nothing is changed and both values are shown. The form has no
    fractions of seconds: a time that was not touched stays exactly as it is.
    """
    contest = visit.contest()
    stored = _details(contest)
    shown = {**stored, **_fields(visit.form, _SHOWN)}
    typed = _fields(visit.form)
    changed = {name: text for name, text in typed.items() if text != shown[name]}
    zone = visit.form.get(ZONE, "")
    times, wrong = zoned_times({name: changed[name] for name in _TIMES & changed.keys()}, zone)
    if not times and zone not in {"", UTC}:
        wrong.setdefault(ZONE, (_UNUSED_ZONE,))
    if wrong:
        return overview(visit, error=FormErrors(fields=wrong), typed=changed)
    minutes = {name: text[:_MINUTES] for name, text in times.items()}
    conflicts = {
        name: f"Meanwhile it was changed from {_quotation(shown[name])} to "
        f"{_quotation(stored[name])}{_last_edit(visit, contest)}. Save again to set what is "
        "written here."
        for name, text in changed.items()
        if stored[name] not in {shown[name], minutes.get(name, text)}
    }
    if conflicts:
        errors = FormErrors(fields={name: (text,) for name, text in conflicts.items()})
        return overview(visit, error=errors, typed=changed)
    fields: dict[str, Any] = {
        name: times.get(name) if name in _TIMES else text for name, text in changed.items()
    }
    return act(
        lambda: visit.api.contests.edit(
            contest.id, ContestUpdate.model_validate(fields), if_match=f'"{contest.version}"'
        ),
        following=addresses.desk(contest.id),
        otherwise=lambda error: overview(visit, error=error, typed=changed),
    )


def _fields(form: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """Return the details in a form; browsers send each end of a line as two characters."""
    return {
        name: form[prefix + name].replace("\r\n", "\n")
        for name in _DETAILS
        if prefix + name in form
    }


def _quotation(text: str) -> str:
    return f"“{text}”" if text else "nothing"


def _last_edit(visit: Visit, contest: Contest) -> str:
    """Return who edited the details last, and when."""
    with visit.service.store.read() as session:
        newest = last_edit(session, session.contests.get(contest.id))
    return "" if newest is None else f" by {newest.by}, {time_text(newest.at)}"


def _change(visit: Visit, action: Callable[[str], Any]) -> SitePage | Redirect:
    contest = visit.contest()
    return act(
        lambda: action(contest.id),
        following=addresses.desk(contest.id),
        otherwise=lambda error: overview(visit, error=error),
    )


def _board(api: Api, contest: Contest) -> BoardPage | None:
    """Return the first rows of the default board; None: the caller sees none."""
    try:
        return api.boards.page(contest.id, limit=_ROWS)
    except NotFound:
        return None


def _lines(newest: BoardPage, public: BoardPage | None) -> list[BoardDifference]:
    before = {} if public is None else {row["id"]: row for row in public.rows}
    nothing: Mapping[str, Any] = {}
    return [
        BoardDifference(
            row["id"],
            row["rank"],
            row["score"],
            before.get(row["id"], nothing).get("rank"),
            before.get(row["id"], nothing).get("score"),
        )
        for row in newest.rows
    ]


def _details(contest: Contest) -> dict[str, str]:
    """Return the fields of the form of details."""
    return {
        "title": contest.title,
        "description": contest.description.replace("\r\n", "\n"),
        "visibility": contest.visibility,
        "names": contest.names or _usual_names(contest.discipline),
        "starts_at": "" if contest.starts_at is None else f"{contest.starts_at:%Y-%m-%dT%H:%M}",
        "ends_at": "" if contest.ends_at is None else f"{contest.ends_at:%Y-%m-%dT%H:%M}",
    }


def _usual_names(discipline_name: str) -> NameDisplay:
    return "shown" if discipline(discipline_name).shows_names else "hidden"
