"""The miners that people submit agents for, and what is missing before agents can be tried."""

from collections.abc import Iterator
from typing import Any

import orjson

from agon.app.service import Service
from agon.disciplines.challenge.records import MAX_UID, SERVICE_VALIDATOR
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Forbidden
from agon.store.session import Session

_ROWS = 10_000


def own_uids(session: Session, contest: Contest, user: str) -> dict[int, str | None]:
    """Return the uids that a participant submits for, each with the hotkey that it is held by.

    They are those whose newest row of ``registrations`` names the participant as the hotkey, and
    that of the same name, which needs no hotkey (None).
    """
    newest: dict[int, dict[str, Any]] = {}
    for row in rows_of(session, contest, "registrations"):
        before = newest.get(row["uid"], {})
        if (row.get("from_epoch") or 0) >= (before.get("from_epoch") or 0):
            newest[row["uid"]] = row
    uids: dict[int, str | None] = {
        uid: user for uid, row in newest.items() if row.get("hotkey") == user
    }
    if user.isascii() and user.isdigit() and str(int(user[:9])) == user and int(user) <= MAX_UID:
        uids.setdefault(int(user), None)
    return uids


def hotkey_for(session: Session, contest: Contest, uid: int, by: Caller) -> str | None:
    """Return the hotkey of a submission for a uid; None: the submission is of the uid itself.

    Raises:
        Forbidden: a participant submits for the miner of somebody else.
    """
    if by.role != "participant" or by.user is None:
        return None
    own = own_uids(session, contest, by.user)
    if uid not in own:
        raise Forbidden(
            f"uid {uid} is not the miner of {by.user}; {no_miner_text(by.user)}"
            if not own
            else f"uid {uid} is not the miner of {by.user}; submit for "
            f"{' or '.join(map(str, sorted(own)))}"
        )
    return own[uid]


def no_miner_text(user: str) -> str:
    """Return what a participant without a uid asks an organizer for."""
    return (
        f"ask an organizer to add a row to registrations with hotkey {user} and the uid, or to "
        "submit for you"
    )


def missing_for_trials(service: Service, session: Session, contest: Contest) -> Iterator[str]:
    """Yield everything that is missing before the service can try an agent, with the remedies."""
    if not service.tasks():
        yield "this server has no tasks; set tasks_folder to a folder of tasks"
    known = {str(row["id"]) for row in rows_of(session, contest, "validators")}
    if SERVICE_VALIDATOR not in known:
        yield (
            f"{contest.id} has no validator {SERVICE_VALIDATOR!r}, whose trials these are; add its "
            "row with its stake to validators"
        )


def rows_of(session: Session, contest: Contest, table: str) -> list[dict[str, Any]]:
    """Return the newest rows of a small table, at most ten thousand."""
    rows = session.entries.rows(contest.no, table, limit=_ROWS)
    return [orjson.loads(row.line)["body"]["row"] for row in rows]
