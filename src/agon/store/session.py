"""Access all tables within one transaction."""

from functools import cached_property

from agon.store.access import Access
from agon.store.cases import Cases
from agon.store.changes import Changes
from agon.store.contests import Contests
from agon.store.entries import Entries
from agon.store.events import Events
from agon.store.histories import Histories
from agon.store.queue import Queue
from agon.store.snapshots import Snapshots
from agon.store.transaction import Transaction
from agon.store.webhooks import Webhooks


class Session:
    """Everything in the database, within one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @cached_property
    def contests(self) -> Contests:
        """Contests."""
        return Contests(self._transaction)

    @cached_property
    def entries(self) -> Entries:
        """Entries of the ledgers."""
        return Entries(self._transaction)

    @cached_property
    def snapshots(self) -> Snapshots:
        """Published boards."""
        return Snapshots(self._transaction)

    @cached_property
    def histories(self) -> Histories:
        """Histories of participants."""
        return Histories(self._transaction)

    @cached_property
    def changes(self) -> Changes:
        """Change sets."""
        return Changes(self._transaction)

    @cached_property
    def cases(self) -> Cases:
        """Findings and cases."""
        return Cases(self._transaction)

    @cached_property
    def events(self) -> Events:
        """Events."""
        return Events(self._transaction)

    @cached_property
    def queue(self) -> Queue:
        """Jobs and workers."""
        return Queue(self._transaction)

    @cached_property
    def access(self) -> Access:
        """Users, tokens, stored responses, the audit log."""
        return Access(self._transaction)

    @cached_property
    def webhooks(self) -> Webhooks:
        """Webhooks and their deliveries."""
        return Webhooks(self._transaction)
