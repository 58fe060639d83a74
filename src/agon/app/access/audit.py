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
    """Add a line to the audit log, in the session of the action.

    Args:
        service: gives the time.
        session: where it is stored; without its commit nothing was done and nothing is logged.
        by: who did it.
        action: what was done (``token.create``).
        target: to what (an id).
        detail: what else is worth knowing, as JSON; never a secret.
    """
    line = AuditEntry(
        no=0,
        at=service.clock(),
        by=by.name,
        action=action,
        target=target,
        detail=detail or {},
        network=by.network,
    )
    session.access.add_audit_entry(line)


def require_reason(reason: str) -> None:
    """Require the reason of a change that participants will ask about.

    Raises:
        Unreadable: it is empty or too long.
    """
    if not 0 < len(reason.strip()) <= MAX_REASON_CHARACTERS:
        raise Unreadable(f"the reason has 1 to {MAX_REASON_CHARACTERS:,} characters; say why")
