"""Ledgers: their lines, their signed heads, export and import."""

from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from agon.api.models.base import Page, PlainText
from agon.api.models.contests import Contest
from agon.api.models.records import LedgerHead, LogEntry
from agon.api.operation import ContestContext, Context, operation
from agon.api.pages import PageRequest
from agon.api.parameters import AsOf
from agon.api.transport import Noun
from agon.app.access.permissions import permits
from agon.app.contests.ledgers.log import continues_before, entry_at, log
from agon.kernel.times import written_time

ZIP: Final = "application/zip"
_BINARY: Final[dict[str, Any]] = {ZIP: {"schema": {"type": "string", "format": "binary"}}}


@operation("GET", "/contests/{contest}/ledger", id="getLedger", permission="ledger.read",
           cost="streams", summary="Get the entries of a ledger", raw=True,
           media_types=("application/x-ndjson",))  # fmt: skip
def get_ledger(
    ctx: ContestContext,
    *,
    after: Annotated[int, Field(ge=0, lt=1 << 62, description="The last position known.")] = 0,
    limit: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="Maximum number; null: all.")
    ] = None,
) -> None:
    """Return entries as they were written, one a line, after a position."""
    raise NotImplementedError


@operation("GET", "/contests/{contest}/ledger/head", id="getLedgerHead",
           permission="contest.read", cost="quick", summary="Get the signed head of a ledger",
           raw=True)  # fmt: skip
def get_head(ctx: ContestContext) -> LedgerHead:
    """Sign the newest position the caller may see: it proves later what was there before."""
    contest, until = ctx.contest, ctx.view.until
    seq = contest.seq if until is None else min(contest.seq, until)
    with ctx.service.store.read() as session:
        [entry] = session.entries.after(contest.no, seq - 1, until=seq)
        time = session.entries.time_of(contest.no, seq)
    head = {
        "contest": contest.id,
        "seq": seq,
        "head_sha256": entry.sha256.hex(),
        "at": written_time(time),
    }
    signer = ctx.service.signer
    return LedgerHead.model_validate(
        {**head, "signature": signer.sign(head), "public_key": signer.public_key}
    )


@operation("GET", "/contests/{contest}/log", id="listLog", permission="contest.read", cost="quick",
           summary="List what happened to a contest")  # fmt: skip
def list_log(
    ctx: ContestContext,
    page: PageRequest,
    *,
    as_of: AsOf = None,
    kind: Annotated[
        tuple[PlainText, ...],
        Field(max_length=20, description="Only entries of these kinds; none: of all."),
    ] = (),
    seq: Annotated[
        int | None,
        Field(ge=1, lt=1 << 62, description="Only the entry at this position, also a record."),
    ] = None,
) -> Page[LogEntry]:
    """Return the decisions about a contest in words, the newest first; records are left out.

    With `seq` it is the entry at that position, whatever it holds; no item: what it holds is for
    organizers.
    """
    if seq is not None:
        may_read = permits(ctx.caller, "records.read", contest=ctx.contest)
        entry = entry_at(ctx.service, ctx.view, seq, records=may_read)
        found = [] if entry is None else [entry]
        return page.page(found, key=lambda each: each.seq, item=LogEntry.model_validate)
    entries = log(
        ctx.service, ctx.view, as_of=as_of, before=page.after(int), limit=page.sought, only=kind
    )
    return page.page(
        entries, key=lambda entry: continues_before(ctx.view, entry), item=LogEntry.model_validate
    )


@operation("GET", "/contests/{contest}/export", id="exportContest", permission="export",
           cost="boards", summary="Export a contest", raw=True, media_types=(ZIP,))  # fmt: skip
def export_contest(ctx: ContestContext) -> None:
    """Return a contest's complete ledger with signed heads as a ZIP file."""
    raise NotImplementedError


@operation("POST", "/contests/import", id="importContest", permission="import",
           cost="bodies", records="import",
           summary="Import a contest", status=201, raw=True, body=_BINARY)  # fmt: skip
def import_contest(ctx: Context) -> Contest:
    """Import a ZIP file of an export: all of it is verified before any of it is stored."""
    raise NotImplementedError


class Ledgers(Noun):
    """Ledgers."""

    head = get_head
    log = list_log

    def export(self, contest: str, folder: Path) -> None:
        """Write a contest's complete ledger as a new directory.

        Raises:
            Conflict: the directory exists.
        """
        self.transport.export_ledger(contest, folder)

    def import_(self, folder: Path, *, id: str | None = None) -> Contest:  # noqa: A002 (a contest's id is called id everywhere)
        """Import a ledger's directory, all of it or nothing.

        Raises:
            InvalidEntry: with all errors (over HTTP as Unreadable).
            Conflict: it is another contest than ``id``, or the contest exists and differs.
        """
        return self.transport.import_ledger(folder, contest=id)
