"""Add rows to the private tables of an arena: prompts, people's answers, answers for honeypots."""

from collections.abc import Iterable, Sequence
from typing import Any

from agon.app.arena.live.honeypots.bank import save_honeypot_answers
from agon.app.arena.live.prompts import save_human_answers, save_prompts
from agon.app.service import Service
from agon.entities.arena import PrivateTable


def save_rows(
    service: Service,
    contest_id: str,
    table: PrivateTable,
    rows: Iterable[Sequence[Any]],
    *,
    by: str,
) -> int:
    """Add rows to a table, all of them or none; return how many.

    Raises:
        InvalidRecords: with everything that is wrong; then none is stored.
        Conflict: the contest is not an arena.
    """
    if table == "honeypot_answers":
        return save_honeypot_answers(service, contest_id, rows, by=by)
    save = save_prompts if table == "prompts" else save_human_answers
    return save(service, contest_id, rows)
