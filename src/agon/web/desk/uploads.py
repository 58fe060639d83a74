"""Upload records, with what was read and what is wrong shown in place; look them up."""

from itertools import islice
from typing import Final

from agon.api.models.contests import Contest
from agon.api.models.records import Record
from agon.disciplines import discipline
from agon.records.sources.formats import ENDINGS
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import contest_page
from agon.web.desk.previews import Preview, preview
from agon.web.page import SitePage, Visit
from agon.web.rendering import counted_text

_ROWS: Final = 50
ACCEPTED: Final = ",".join(dict.fromkeys(f".{name.rpartition('.')[2]}" for name in ENDINGS))
"""Endings of the files of tables that forms accept."""


def records(visit: Visit, *, read: Preview | None = None) -> SitePage:
    """Return the form that uploads records, and the record that was asked for."""
    contest = visit.contest()
    tables = [table.name for table in discipline(contest.discipline).schema]
    table = visit.form.get("table") or visit.query.get("table", "")
    values = {
        "tables": tables,
        "table": table,
        "columns": _columns(contest),
        "stored": _records(visit, contest, table) if visit.query.get("table") else (),
        "record": visit.query.get("record", ""),
        "read": read,
        "sent": visit.form,
        "accept": ACCEPTED,
        "done": "" if read is None or read.faults else _done(read),
    }
    errors = None
    if read is not None and read.faults:
        errors = FormErrors(fields={"file": read.faults})
    return contest_page(visit, contest, "records", values, error=errors)


def add_records(visit: Visit) -> SitePage:
    """Check or add the rows of an uploaded file, all of them or none, and show how it was read."""
    contest = visit.contest()
    return records(visit, read=preview(visit, contest.discipline, contest.id))


def _done(read: Preview) -> str:
    """Return what was done, or would be, as a sentence."""
    summary = read.summary
    if summary is None:
        return ""
    verb = ("was" if summary.added == 1 else "were") if read.is_added else "would be"
    parts = [f"{counted_text(summary.added, 'row')} of {read.table} {verb} added"]
    if summary.replaced:
        verb = ("was" if summary.replaced == 1 else "were") if read.is_added else "would be"
        parts.append(f"{summary.replaced:,} {verb} replaced")
    parts.append(f"{summary.repeated:,} {'is' if summary.repeated == 1 else 'are'} stored already")
    return "; ".join(parts) + "."


def _records(visit: Visit, contest: Contest, table: str) -> list[Record]:
    """Return the record that was asked for, or the first ones of a table."""
    record = visit.query.get("record") or None
    return list(islice(visit.api.records.list(contest.id, table=table, record=record), _ROWS))


def _columns(contest: Contest) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return of each table its name, its required and its other columns."""
    return [
        (
            table.name,
            tuple(column.name for column in table.columns if column.required),
            tuple(column.name for column in table.columns if not column.required),
        )
        for table in discipline(contest.discipline).schema
    ]
