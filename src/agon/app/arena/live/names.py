"""Names of rounds and of attempts to qualify, each unique in the ledger."""

import orjson

from agon.entities.arena import RoundKind
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.store.session import Session


def next_name(session: Session, contest: Contest, kind: RoundKind) -> tuple[int, str]:
    """Return number and id of the next round, ``r7``, or of the next attempt to qualify, ``q7``.

    A number is left out if records that were sent before the first round have ids of its matches.
    """
    prefix = "r" if kind == "round" else "q"
    number = session.arena.last_number(contest.no, prefix=prefix) + 1
    bots = len(session.arena.bots(contest.no))
    while session.entries.existing(
        contest.no, records=[f"matches/{prefix}{number}-{index + 1}" for index in range(bots + 1)]
    ):
        number += 1
    return number, f"{prefix}{number}"


def played_elsewhere(session: Session, contest: Contest) -> str | None:
    """Return why no round can begin in a contest whose ledger has rounds of another server.

    What judges saw there is not in this database, so that honeypots could repeat.
    """
    newest = None
    for entry in session.entries.of_kind(contest.no, ("draw-committed",)):
        newest = entry
    if newest is None:
        return None
    name = orjson.loads(newest.line)["body"]["round"]
    try:
        session.arena.phase(contest.no, name)
    except NotFound:
        return (
            f"round {name} of {contest.id} was played on another server; play on there, or in a "
            "new contest"
        )
    return None
