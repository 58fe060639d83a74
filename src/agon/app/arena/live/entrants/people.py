"""Let people judge: who asks for work, what keeps them from it, and the records of those drawn.

Who asks is noted as present, outside of the ledger. The record of a judge is written by the round
that can draw it.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from agon.app.access.permissions import SYSTEM, View
from agon.app.arena.live.entrants.eligibility import judge_obstacles
from agon.app.arena.live.entrants.owners import newest_row, owner_rows
from agon.app.arena.live.scored import scored_arena
from agon.app.contests.ingest.records import RecordImporter
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.disciplines.arena.judges.pool import Candidate, new_person
from agon.entities.access import Caller
from agon.entities.arena import Presence
from agon.entities.contests import Contest
from agon.errors import NotFound, Unreadable
from agon.kernel.times import parse_time
from agon.networks import network_groups
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service
    from agon.disciplines.arena.scoring import ScoredArena

NO_JUDGE: Final = "is not a judge; ask the organizers for an invitation as a judge"


def user_of(by: Caller) -> str:
    """Return the user who judges.

    Raises:
        Unreadable: the caller is not a user.
    """
    if by.user is None:
        raise Unreadable("only a user can judge; use a token of a user")
    return by.user


def new_people(
    session: Session,
    contest: Contest,
    scored: "ScoredArena",
    present: Iterable[Presence],
) -> list[Candidate]:
    """Return those present with the role judge who are not recorded as judges.

    The age of an account is that in the organizer's records, otherwise that of the server's user;
    a judge cannot state it.

    Args:
        session: the session.
        contest: the contest.
        scored: the scores of its records.
        present: who asked for work.
    """
    people, recorded = [], set(map(str, scored.facts.judges.ids.to_pylist()))
    for judge in present:
        if not judge.as_judge or judge.id in recorded:
            continue
        row = newest_row(session, contest, "owners", judge.id)
        if row is not None:
            created = parse_time(row.get("account_created_at"))
        else:
            try:
                created = session.access.user(judge.id).created_at
            except NotFound:
                created = None
        people.append(
            new_person(
                judge.id,
                created,
                facts=scored.facts,
                games=scored.standings.games,
                rules=scored.rules,
            )
        )
    return people


def eligibility(service: "Service", view: View, *, by: Caller) -> tuple[str, ...]:
    """Return what keeps the caller from judging, in the words of the rules; empty: it may judge.

    Of a frozen contest the caller sees what the scores were at the freeze.

    Raises:
        Unreadable: the caller is not a user.
        Conflict: the contest is not an arena.
    """
    judge, contest = user_of(by), view.contest
    with (
        scored_arena(service, contest, at=last_readable_seq(view)) as (scored, _),
        service.store.read() as session,
    ):
        asking = [Presence(id=judge, as_judge=True)] if by.role == "judge" else []
        new = next(iter(new_people(session, contest, scored, asking)), None)
        answer = judge_obstacles(
            session, contest, judge, scored=scored, at=service.clock(), new=new
        )
    return (NO_JUDGE,) if answer is None else answer


def shared_networks(
    accounts: Mapping[str, str],
    asked_from: Mapping[str, str | None],
    *,
    owners: Iterable[str],
    judges: Iterable[Candidate],
) -> dict[str, int]:
    """Return the number of the network of each owner that shares one with another owner.

    Args:
        accounts: the network of each owner in the records that has one.
        asked_from: the network from which each judge that is present asked for work.
        owners: the owners of bots.
        judges: the judges that can judge.
    """
    known = [(owner, accounts.get(owner)) for owner in owners]
    for judge in judges:
        owner = judge.owner_id or judge.id
        known += [(owner, accounts.get(owner)), (owner, asked_from.get(judge.id))]
    return network_groups((owner, network) for owner, network in known if network is not None)


def record_people(
    service: "Service",
    session: Session,
    contest: Contest,
    people: Mapping[str, str | None],
) -> Contest:
    """Record people who can be drawn as judges, and their accounts; return the newest contest.

    Args:
        service: the service.
        session: a writing session, with the contest locked.
        contest: the contest.
        people: the network of each of them, None where unknown.
    """
    rows: list[tuple[str, dict[str, Any], None]] = []
    for name, network in sorted(people.items()):
        row = newest_row(session, contest, "judges", name)
        if row is None or row.get("owner_id") is None:
            rows += owner_rows(session, contest, name, network=network, is_own=True)
        if row is None:
            rows.append(("judges", {"id": name, "kind": "person"}, None))
    if not rows:
        return contest
    rows.sort(key=lambda row: row[0], reverse=True)  # owners before judges
    RecordImporter(service, session, contest, SYSTEM, replace=True).run(rows)
    return session.contests.lock(contest.id)
