"""Create contests, and the next season of one."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import allow, viewed
from agon.app.analysis.score import rules_of
from agon.app.contests.ledgers.append import append
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, Unreadable
from agon.ledger.contest_state import Visibility
from agon.ledger.entry import Draft, genesis
from agon.store.session import Session

_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,62}")
_LONGEST_TITLE: Final = 200
_LONGEST_DESCRIPTION: Final = 20_000


@dataclass(frozen=True, kw_only=True)
class NewContest:
    """Say what contest is wanted.

    Attributes:
        id: its name in addresses: small letters, digits and hyphens, 2 to 63.
        discipline: what is scored.
        title: for people.
        edition: the rules, by full or short name; None: the discipline's reference edition.
        overrides: rules to set otherwise.
        visibility: whether everybody sees it, or only who has a token for it.
        description: for people.
        series: what its seasons have in common; its season is the next of that series.
        boards: the boards to publish, the default first; None: all the discipline has.
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


def create(service: Service, new: NewContest, *, by: Caller) -> Contest:
    """Create a contest; it is a draft until it is opened.

    Raises:
        Forbidden, Unauthenticated: ``by`` may not.
        Conflict: the id is taken.
        NotFound: there is no such discipline, edition or board.
        InvalidRule: an override is unknown or out of bounds.
        Unreadable: the id, the title or the description is not fit.
    """
    allow(by, "contest.create", contest=new.id)
    _expect_fit(new)
    of = discipline(new.discipline)
    edition, rules = rules_of(new.discipline, new.edition, new.overrides)
    values = rules.model_dump(mode="json")
    boards = of.boards if new.boards is None else [of.board_name(name) for name in new.boards]
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
    with service.store.write() as session:
        if new.series is not None:
            session.contests.lock_series(new.series)
            body["season"] = _last_season(session, new.series) + 1
        return begin(service, session, body, by=by)


def begin(service: Service, session: Session, body: Mapping[str, Any], *, by: Caller) -> Contest:
    """Enter ``contest-created`` as the first entry of a new ledger.

    Raises:
        Conflict: the id is taken.
    """
    now = service.clock()
    contest = session.contests.add(draft_contest(body["contest"], body["discipline"], at=now))
    draft = Draft(kind="contest-created", body=body, at=now, by=by.name)
    contest = append(service, session, contest, [draft])
    add_audit_entry(service, session, by=by, action="contest.create", target=contest.id)
    return contest


def draft_contest(contest_id: str, of: str, *, at: datetime) -> Contest:
    """Return a contest before its first entry."""
    return Contest(
        no=0, id=contest_id, discipline=of, created_at=at, seq=0, head=genesis(contest_id)
    )


def next_season(service: Service, contest_id: str, *, id: str, by: Caller) -> Contest:  # noqa: A002 (a contest's id is called id everywhere)
    """Create the next season: the same discipline, rules, boards and words, without records.

    A contest that is of no series yet gives its id to the series; its next season is the second.

    Raises:
        Forbidden, Unauthenticated: ``by`` may not.
        NotFound: there is no such contest.
        Conflict: the id is taken.
    """
    allow(by, "contest.create", contest=id)
    with service.store.read() as session:
        contest = viewed(session, contest_id, by).contest
    allow(by, "contest.manage", contest=contest)
    series = contest.series or contest.id
    wanted = NewContest(
        id=id,
        discipline=contest.discipline,
        title=contest.title,
        edition=contest.edition,
        overrides=contest.overrides,
        visibility=contest.visibility,
        description=contest.description,
        series=series,
        boards=contest.boards,
    )
    return create(service, wanted, by=by)


def expect_id(contest_id: str) -> None:
    """Refuse what cannot be a contest's id.

    Raises:
        Unreadable: with what can.
    """
    if _ID.fullmatch(contest_id) is None:
        raise Unreadable(
            f"{contest_id[:80]!r} cannot be a contest's id; take 2 to 63 small letters, digits "
            "and hyphens, a letter or digit first"
        )


def _expect_fit(new: NewContest) -> None:
    expect_id(new.id)
    if new.series is not None:
        expect_id(new.series)
    title = new.title.strip()
    if not 0 < len(title) <= _LONGEST_TITLE or not title.isprintable():
        raise Unreadable(f"a title has 1 to {_LONGEST_TITLE} printable characters; give one")
    if "\x00" in new.description:
        raise Unreadable("the description has a NUL character; leave it out")
    if len(new.description) > _LONGEST_DESCRIPTION:
        raise Unreadable(
            f"a description has at most {_LONGEST_DESCRIPTION:,} characters; shorten it"
        )
    if new.visibility not in {"public", "private"}:
        raise Unreadable(f"visibility is {new.visibility!r}; give public or private")
    if new.boards is not None and len(set(new.boards)) != len(new.boards):
        raise Conflict("a board is named twice; name each once")


def _last_season(session: Session, series: str) -> int:
    """Return the highest season of a series; a contest that only gave it its name is the first."""
    found = [one.season or 0 for one in session.contests.page(series=series, limit=1000)]
    with suppress(NotFound):
        session.contests.get(series)
        found.append(1)
    return max(found, default=0)
