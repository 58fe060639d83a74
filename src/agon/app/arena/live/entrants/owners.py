"""Make the records of owners: the accounts of bots and of people who judge."""

from typing import Any

import orjson

from agon.app.contests.ledgers.append import table_of
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.kernel.times import written_time
from agon.ledger.keys import record_key
from agon.store.session import Session


def newest_row(session: Session, contest: Contest, table: str, name: str) -> dict[str, Any] | None:
    """Return the newest record with an id; None if there is none."""
    key = record_key(table_of(contest.discipline, table), {"id": name})
    existing = {} if key is None else session.entries.existing(contest.no, records=[key])
    return next(
        (dict(orjson.loads(entry.line)["body"]["row"]) for entry in existing.values()), None
    )


def owner_rows(
    session: Session, contest: Contest, owner_id: str, *, network: str | None, is_own: bool
) -> list[tuple[str, dict[str, Any], None]]:
    """Return the record of an owner that has none; its account's age is that of the user.

    Args:
        session: the session.
        contest: the contest.
        owner_id: the owner.
        network: the keyed hash of the owner's network, for the finding ``shared-network`` and the
            rule ``network_guard``; None: unknown. A record without one gets it.
        is_own: whether the owner itself asks for it, and so exists.

    Raises:
        NotFound: an organizer named an owner that is neither a record nor a user.
    """
    of_network = {"network": network} if network else {}
    existing = newest_row(session, contest, "owners", owner_id)
    if existing is not None:
        known = existing.get("network") or existing.get("ip") or not of_network
        return [] if known else [("owners", {**existing, **of_network}, None)]
    try:
        user = session.access.user(owner_id)
    except NotFound:
        if not is_own:
            raise NotFound(
                f"there is no owner {owner_id!r}: no user of this server, and no record of the "
                "table owners has the id; invite the person, or add the record first"
            ) from None
        row = {"id": owner_id, "handle": owner_id, "account_created_at": None, **of_network}
        return [("owners", row, None)]
    created = written_time(user.created_at)
    row = {"id": owner_id, "handle": user.name, "account_created_at": created, **of_network}
    return [("owners", row, None)]
