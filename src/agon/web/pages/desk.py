"""The organizers' desk: create contests, change their state and details, upload records."""

import csv
import io
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from agon import disciplines
from agon.api.models.base import ReasonRequest
from agon.api.models.contests import Contest, ContestCreate, ContestUpdate
from agon.app.access.permissions import allow, permits
from agon.editions import editions
from agon.errors import AgonError, NotFound, Unreadable
from agon.web import addresses
from agon.web.page import Page, Redirect, Visit, error_texts

_CONTESTS: Final = 200
_NAMES: Final = 1000
"""Maximum number of names in the header of a CSV file: each row is completed to as many values."""
_LINES: Final = (".ndjson", ".jsonl")


def desk(visit: Visit) -> Page:
    """Return the contests, and the form that creates one."""
    return _desk_page(visit)


def create(visit: Visit) -> Page | Redirect:
    """Create a contest; its own desk opens it."""
    fields = {name: text for name, text in visit.form.items() if name in _CREATED and text.strip()}
    try:
        created = visit.api.contests.create(ContestCreate.model_validate(fields))
    except (AgonError, ValidationError) as error:
        return _desk_page(visit, error=error)
    return Redirect(address=addresses.desk(created.id))


def contest_desk(visit: Visit) -> Page:
    """Return the state of a contest, and what an organizer may do with it."""
    return _contest_page(visit)


def open_contest(visit: Visit) -> Page | Redirect:
    """Open a draft."""
    return _act(visit, visit.api.contests.open)


def freeze(visit: Visit) -> Page | Redirect:
    """Freeze what the public sees."""
    return _act(visit, visit.api.contests.freeze)


def unfreeze(visit: Visit) -> Page | Redirect:
    """Show the public the newest boards again, with a reason."""
    reason = visit.form.get("reason", "").strip()
    return _act(
        visit, lambda contest: visit.api.contests.unfreeze(contest, ReasonRequest(reason=reason))
    )


def finalize(visit: Visit) -> Page | Redirect:
    """Publish the final boards."""
    return _act(visit, visit.api.contests.finalize)


def edit(visit: Visit) -> Page | Redirect:
    """Change title, description, visibility, start or end, as far as the form differs.

    The form has no fractions of seconds: a time that was not touched stays exactly as it is.
    """
    stored = _details(visit.contest(), {})
    fields: dict[str, Any] = {
        name: text for name, text in visit.form.items() if text != stored.get(name, text)
    }
    for name in fields.keys() & {"starts_at", "ends_at"}:
        fields[name] = f"{fields[name]}Z" if fields[name] else None
    return _act(
        visit,
        lambda contest: visit.api.contests.edit(contest, ContestUpdate.model_validate(fields)),
    )


def add_records(visit: Visit) -> Page | Redirect:
    """Check or add the rows of an uploaded CSV or NDJSON file; all of them or none."""
    contest, table = visit.contest(), visit.form.get("table", "")
    dry_run = visit.form.get("do") != "add"
    try:
        name, content = visit.files.get("file", ("", b""))
        rows = content if name.lower().endswith(_LINES) else csv_rows(content)
        summary = visit.api.records.add(
            contest.id, [rows] if isinstance(rows, bytes) else rows, table=table, dry_run=dry_run
        )
    except AgonError as error:
        return _contest_page(visit, error=error)
    verb = "would be added" if dry_run else "were added"
    done = f"{summary.added:,} rows of {table} {verb}; {summary.repeated:,} are stored already."
    return _contest_page(visit, done=done)


def csv_rows(content: bytes) -> Iterator[dict[str, str]]:
    r"""Yield the rows of a CSV file with a header; empty values are left out.

    Raises:
        Unreadable: it is empty, is not UTF-8, has too many names, or a row has more values than
            the header.

    Example:
        >>> list(csv_rows(b"id,name\nada,Ada\nbob,\n"))
        [{'id': 'ada', 'name': 'Ada'}, {'id': 'bob'}]
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"the file is not UTF-8 text (byte {error.start + 1:,}); save it as CSV in UTF-8"
        ) from None
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if not reader.fieldnames:
            raise Unreadable("the file is empty; choose a CSV file with a header and rows")
        if len(reader.fieldnames) > _NAMES:
            raise Unreadable(
                f"the header has {len(reader.fieldnames):,} names, and a table has at most "
                f"{_NAMES:,}; choose the file of a table"
            )
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise Unreadable(
                    f"row {number:,} has more values than the header has names "
                    f"({len(reader.fieldnames)}); quote values that contain commas"
                )
            yield {name: value for name, value in row.items() if value}
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num:,}: {error}; correct the quotes there") from None


_CREATED: Final = frozenset({"id", "discipline", "title", "edition", "visibility", "description"})


def _act(visit: Visit, action: Any) -> Page | Redirect:
    """Do something with a contest and return to its desk; an error is shown there."""
    contest = visit.path["contest"]
    try:
        action(contest)
    except NotFound:
        raise
    except (AgonError, ValidationError) as error:
        return _contest_page(visit, error=error)
    return Redirect(address=addresses.desk(contest))


def _desk_page(visit: Visit, *, error: Exception | None = None) -> Page:
    allow(visit.caller, "contest.manage")
    names = {name: list(editions(name)) for name in disciplines.names()}
    contests = visit.api.contests.list()
    own = (each for each in contests if permits(visit.caller, "contest.manage", contest=each.id))
    return Page(
        template="desk.html",
        title="Desk",
        values={
            "contests": list(islice(own, _CONTESTS)),
            "disciplines": names,
            "form": visit.form,
            "errors": error_texts(error),
        },
        status=200 if error is None else 422,
    )


def _contest_page(visit: Visit, *, error: Exception | None = None, done: str = "") -> Page:
    contest = visit.contest()
    allow(visit.caller, "contest.manage", contest=contest.id)
    return Page(
        template="contest_desk.html",
        title=f"Desk · {contest.title}",
        values={
            "contest": contest,
            "tables": [table.name for table in disciplines.discipline(contest.discipline).schema],
            "details": _details(contest, visit.form),
            "table": visit.form.get("table", ""),
            "errors": error_texts(error),
            "done": done,
        },
        status=200 if error is None else 422,
    )


def _details(contest: Contest, form: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the form of details: what was typed, else what is stored."""
    stored = {
        "title": contest.title,
        "description": contest.description,
        "visibility": contest.visibility,
        "starts_at": "" if contest.starts_at is None else f"{contest.starts_at:%Y-%m-%dT%H:%M}",
        "ends_at": "" if contest.ends_at is None else f"{contest.ends_at:%Y-%m-%dT%H:%M}",
    }
    return {**stored, **{name: form[name] for name in stored if name in form}}
