"""Record the result of a job in its contest's ledger: once, however often the job was started."""

from collections.abc import Mapping, Sequence
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Any

from agon.app.contests.ledgers.append import append
from agon.disciplines import discipline
from agon.entities.contests import Contest
from agon.entities.jobs import Job
from agon.errors import NotFound
from agon.ledger.drafts import record_draft
from agon.ledger.entry import EntryLine, read_line
from agon.ledger.keys import record_key
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

_MAX_NAME_LENGTH = 100


def record_once(
    service: "Service",
    session: Session,
    contest: Contest,
    rows: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    by: str,
    replace: bool = False,
    external_id: str | None = None,
) -> dict[str, Any]:
    """Record rows in a locked contest unless the key of the first one is recorded already.

    Args:
        service: the service.
        session: the session that completes the job.
        contest: locked.
        rows: the rows, each with its table; the first has all parts of its key.
        by: the author of the entries.
        replace: whether to supersede a recorded first row.
        external_id: the external id of the first entry.

    Returns:
        ``seq`` of the first record, and ``recorded``: False if an earlier one stays.

    Raises:
        Conflict: the contest's result is final, or it is void.
    """
    require_not_over(contest)
    (table, row), *others = rows
    recorded = position_of(session, contest, table, row)
    if recorded is not None and not replace:
        return {"seq": recorded, "recorded": False}
    now = service.clock()
    draft = record_draft(table, row, at=now, by=by, replaces=recorded)
    drafts = [replace_fields(draft, external_id=external_id)]
    drafts += [record_draft(name, further, at=now, by=by) for name, further in others]
    seq = append(service, session, contest, drafts).seq - len(drafts) + 1
    return {"seq": seq, "recorded": True}


def position_of(
    session: Session, contest: Contest, table: str, row: Mapping[str, Any]
) -> int | None:
    """Return the position of the record with a row's key; None when there is none."""
    key = record_key(discipline(contest.discipline).schema.table(table), row)
    entry = session.entries.existing(contest.no, records=[key]).get(key) if key else None
    return None if entry is None else entry.seq


def worker_name(job: Job) -> str:
    """Return the author of entries made for a job's worker.

    Workers choose their names, so the name is cut to the maximum length of an author.
    """
    name = "".join(
        character if character.isprintable() else "?" for character in job.worker or "unknown"
    )
    return f"worker:{name[:_MAX_NAME_LENGTH]}"


def entry_at(session: Session, contest_no: int, seq: int, *, kind: str) -> EntryLine:
    """Return the entry of a kind at a position.

    Raises:
        NotFound: there is none.
    """
    for stored in session.entries.after(contest_no, seq - 1, until=seq):
        entry = read_line(stored.line)
        if entry.kind == kind:
            return entry
    raise NotFound(f"the ledger has no {kind} at position {seq}; queue the job again")
