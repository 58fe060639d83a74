"""Write the audit log: who did what to what, and why."""

from collections.abc import Mapping
from typing import Any, Final

from agon.app.service import Service
from agon.entities.access import AuditEntry, Caller
from agon.errors import Unreadable
from agon.store.session import Session

MAX_REASON_CHARACTERS: Final = 2_000


def add_audit_entry(
    service: Service,
    session: Session,
    *,
    by: Caller,
    action: str,
    target: str,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry to the audit log, in the session of the action.

    Args:
        service: its clock gives the time.
        session: the entry is committed together with the action, or neither is.
        by: the caller.
        action: what was done (``token.create``).
        target: id of what it was done to.
        detail: further values, as JSON; never a secret.
    """
    entry = AuditEntry(
        no=0,
        at=service.clock(),
        by=by.name,
        action=action,
        target=target,
        detail=detail or {},
        network=by.network,
    )
    session.access.add_audit_entry(entry)


def require_reason(reason: str) -> None:
    """Require the reason of a change, which participants can read.

    Raises:
        Unreadable: it is empty or too long.
    """
    if not 0 < len(reason.strip()) <= MAX_REASON_CHARACTERS:
        raise Unreadable(f"the reason has 1 to {MAX_REASON_CHARACTERS:,} characters; say why")
