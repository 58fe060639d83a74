"""Read the rows of one request before they are validated as all rows are."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from agon.app.contests.ingest.batches import Batch
from agon.app.contests.ingest.identities import RepeatedRows, RowIdentities
from agon.app.contests.ingest.normalization import BatchNormalizer
from agon.app.contests.ingest.senders import RecordSender
from agon.app.contests.ingest.validation import ValidatedBatch
from agon.app.contests.ingest.whole_columns import WholeIds
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.records.normal import normal_form
from agon.store.session import Session


class SentRows:
    """The rows that somebody sends: in normal form, as their sender may add them, and named.

    Rows that a protocol of the service writes need none of this: they have the names and types of
    the schema, and the protocol decides about them itself.

    Args:
        session: with the contest locked.
        contest: the contest.
        by: the sender.
        ignore: names of keys that are not read, such as ``notes`` or ``prompts.notes``.
        ids: reads ids such as ``10.0``, with what an earlier try has learned; None: the first try.
    """

    def __init__(
        self,
        session: Session,
        contest: Contest,
        by: Caller,
        *,
        ignore: Iterable[str] = (),
        ids: WholeIds | None = None,
    ) -> None:
        schema = discipline(contest.discipline).schema
        self._sender = RecordSender(session, contest, by)
        self._normalizer = BatchNormalizer(schema, ignore=ignore, ids=ids)
        self._identities = RowIdentities()
        self._repeated = RepeatedRows()
        self._forms = {table.name: normal_form(table) for table in schema}

    @property
    def are_votes(self) -> bool:
        """Whether the sender is a judge, who adds votes and replaces none."""
        return self._sender.is_judge

    @property
    def reach(self) -> int | None:
        """The last position of the ledger that the rows may refer to; None: all."""
        return self._sender.reach

    @property
    def notes(self) -> tuple[str, ...]:
        """How keys and values were read, and which rows without a key were there already."""
        return (*self._normalizer.notes, *self._repeated.notes)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which values look like others, or like none."""
        return self._normalizer.warnings

    def admit(self, batch: Batch, *, at: datetime) -> Batch:
        """Return a batch in normal form, as its sender may add it at a time.

        Raises:
            Conflict, Forbidden: as for :meth:`RecordSender.admit`.
        """
        return self._sender.admit(self._normalizer.normalize(batch), at=at)

    def name(self, batch: ValidatedBatch) -> ValidatedBatch:
        """Return a batch whose rows without a key have an external id."""
        return self._identities.name(batch)

    def add_repeated(self, table: str, name: str | None) -> None:
        """Count a row that was there already, by its external id."""
        self._repeated.add(table, name)

    def normal_row(self, table: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a stored row in normal form, in which sent rows are compared with it."""
        form = self._forms.get(table)
        return row if form is None else form.row(row)
