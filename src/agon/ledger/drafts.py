"""Draft the entries that a contest's database and a ledger in a folder have in common."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agon.ledger.entry import Draft


def record_draft(
    table: str,
    row: Mapping[str, Any],
    *,
    at: datetime,
    by: str,
    replaces: int | None = None,
    change: str | None = None,
) -> Draft:
    """Return the draft of a record: added, or in place of an earlier one.

    Args:
        table: its table.
        row: its columns.
        at: when it is entered.
        by: who enters it.
        replaces: position of the record it supersedes; None: it is added.
        change: the change set it belongs to, if any.

    Example:
        >>> from datetime import UTC
        >>> at = datetime(2026, 1, 1, tzinfo=UTC)
        >>> record_draft("problems", {"id": "p"}, at=at, by="ada", replaces=7).kind
        'record-replaced'
    """
    body: dict[str, Any] = {"table": table, "row": dict(row)}
    if replaces is not None:
        body["replaces"] = replaces
    if change is not None:
        body["change"] = change
    kind = "record-added" if replaces is None else "record-replaced"
    return Draft(kind=kind, body=body, at=at, by=by)


def submission_draft(
    submission: str,
    *,
    user: str,
    problem: str | None,
    content: Mapping[str, Any],
    at: datetime,
    by: str,
    external_id: str | None = None,
) -> Draft:
    """Return the draft of a submission as it was received.

    Args:
        submission: its id, under which its verdict is recorded.
        user: whose it is.
        problem: the problem it is a solution to, if the discipline has problems.
        content: what was sent.
        at: when it was received.
        by: who sent it.
        external_id: the sender's own name for it.
    """
    body = {"submission": submission, "user": user, "problem": problem, "content": dict(content)}
    return Draft(kind="submission-received", body=body, at=at, by=by, external_id=external_id)
