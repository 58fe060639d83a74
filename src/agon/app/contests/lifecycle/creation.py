"""Create contests, and the next season of one."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from agon.app.access.audit import add_audit_entry
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.details import require_names, require_valid_details
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, Unreadable
from agon.kernel.times import written_time
from agon.ledger.contest_state import NameDisplay, Visibility
from agon.ledger.entry import Draft, genesis
from agon.store.session import Session

_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,62}")


@dataclass(frozen=True, kw_only=True)
class NewContest:
    """A contest to create.

    Attributes:
        id: its name in URLs: lower-case letters, digits and hyphens, 2 to 63.
        discipline: what is scored.
        title: for display.
        edition: the rules, by full or short name; None: the discipline's reference edition.
        overrides: rules to change.
        visibility: ``public``, or ``private``: visible with a token for it only.
        description: for display.
        series: the id its seasons share; the contest is the next season of that series.
        boards: the boards to publish, the default first; None: all of the discipline.
        starts_at, ends_at: from when on, and before when participants may add to it; None: no
            limit.
        names: whether pages show names of participants; None: as is usual for the discipline.
    """

    id: str
    discipline: str
    title: str
    edition: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    visibility: Visibility = "public"
    description: str = ""
    series: str | None = None
    boards: Sequence[str] | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    names: NameDisplay | None = None


def create(service: Service, new: NewContest, *, by: Caller) -> Contest:
    """Create a contest; it is a draft until it is opened.

    Raises:
        Conflict: the id is taken.
        NotFound: there is no such discipline, edition or board.
        InvalidRule: an override is unknown or out of bounds, or reads what no contest keeps.
        Unreadable: the id or a detail is invalid.
    """
    from agon.app.contests.contest_rules import contest_rules_of

    _require_valid(new)
    chosen = discipline(new.discipline)
    edition, rules = contest_rules_of(new.discipline, new.edition, new.overrides)
    values = rules.model_dump(mode="json")
    boards = (
        chosen.boards if new.boards is None else [chosen.board_name(name) for name in new.boards]
    )
    body: dict[str, Any] = {
        "contest": new.id,
        "discipline": new.discipline,
        "title": new.title.strip(),
        "edition": edition.full_name,
        "overrides": {name: values[name] for name in sorted(new.overrides)},
        "series": new.series,
        "season": None,
        "visibility": new.visibility,
        "description": new.description,
        "boards": list(boards),
    }
    times = {"starts_at": new.starts_at, "ends_at": new.ends_at}
    body |= {name: written_time(time) for name, time in times.items() if time is not None}
    if new.names is not None:
        body["names"] = new.names
    with service.store.write() as session:
        if new.series is not None:
            session.contests.lock_series(new.series)
            body["season"] = _last_season(session, new.series) + 1
        return begin(service, session, body, by=by)


def begin(service: Service, session: Session, body: Mapping[str, Any], *, by: Caller) -> Contest:
    """Append ``contest-created`` as the first entry of a new ledger.

    Raises:
        Conflict: the id is taken.
    """
    now = service.clock()
    contest = session.contests.add(
        draft_contest(body["contest"], body["discipline"], at=now, by=by)
    )
    draft = Draft(kind="contest-created", body=body, at=now, by=by.name)
    contest = append(service, session, contest, [draft])
    add_audit_entry(service, session, by=by, action="contest.create", target=contest.id)
    return contest


def draft_contest(contest_id: str, discipline_name: str, *, at: datetime, by: Caller) -> Contest:
    """Return a contest before its first entry."""
    return Contest(
        no=0, id=contest_id, discipline=discipline_name, created_at=at, created_by=by.user, seq=0,
        head=genesis(contest_id),
    )  # fmt: skip


def next_season(service: Service, contest: Contest, *, id: str, by: Caller) -> Contest:  # noqa: A002 (a contest's id is called id everywhere)
    """Create the next season: the same discipline, rules, boards and texts, without records.

    The id of a contest without a series becomes that of the series; its next season is the second.

    Raises:
        Conflict: the id is taken.
    """
    series = contest.series or contest.id
    new_contest = NewContest(
        id=id,
        discipline=contest.discipline,
        title=contest.title,
        edition=contest.edition,
        overrides=contest.overrides,
        visibility=contest.visibility,
        description=contest.description,
        series=series,
        boards=contest.boards,
        names=contest.names,
    )
    return create(service, new_contest, by=by)


def require_contest_id(contest_id: str) -> None:
    """Raise unless a text can be a contest's id.

    Raises:
        Unreadable: it cannot.
    """
    if _ID.fullmatch(contest_id) is None:
        raise Unreadable(
            f"{contest_id[:80]!r} cannot be a contest's id; use 2 to 63 lower-case letters, "
            "digits and hyphens, a letter or digit first"
        )


def _require_valid(new: NewContest) -> None:
    require_contest_id(new.id)
    if new.series is not None:
        require_contest_id(new.series)
    require_valid_details(
        title=new.title,
        description=new.description,
        visibility=new.visibility,
        starts_at=new.starts_at,
        ends_at=new.ends_at,
    )
    require_names(new.discipline, new.names or "hidden")
    if new.boards is not None and len(set(new.boards)) != len(new.boards):
        raise Conflict("a board is named twice; name each once")


def _last_season(session: Session, series: str) -> int:
    """Return the highest season of a series; the contest it is named after is the first."""
    numbers = [contest.season or 0 for contest in session.contests.page(series=series, limit=1000)]
    with suppress(NotFound):
        session.contests.get(series)
        numbers.append(1)
    return max(numbers, default=0)
