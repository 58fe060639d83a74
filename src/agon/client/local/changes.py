"""Change sets and findings beside the database."""

from collections.abc import Iterator, Mapping
from typing import Any

from agon.app.access.permissions import allow, viewed
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.findings import findings, scan
from agon.app.contests.changes import change_sets
from agon.app.service import Service
from agon.client.values import ChangeTold, FindingsTold
from agon.entities.access import Caller
from agon.entities.contests import Change
from agon.errors import Unavailable

_PAGE = 100


class LocalChanges:
    """Change what a contest says; see :class:`agon.client.ports.Changes`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def propose(
        self, contest: str, *, kind: str, params: Mapping[str, Any], reason: str
    ) -> ChangeTold:
        """Propose a change set."""
        return _told(
            change_sets.propose(
                self._service, contest, kind=kind, params=params, reason=reason, by=self._by
            )
        )

    def tried(self, contest: str, change: str) -> ChangeTold:
        """Return a change set after its dry run, which is done here.

        Raises:
            Unavailable: it is a rejudge whose programs still have to run.
        """
        found = self.get(contest, change)
        if found.dry_run_at is None and found.state == "proposed":
            found = _told(change_sets.dry_run(self._service, contest, change))
            self._done_already(contest, change)
        if found.dry_run_at is None and found.state == "proposed":
            raise Unavailable(
                f"change set {change} waits for its programs' runs; start agon worker, look again"
            )
        return found

    def get(self, contest: str, change: str) -> ChangeTold:
        """Return a change set."""
        with self._service.store.read() as session:
            view = viewed(session, contest, self._by)
        found = change_sets.change(self._service, view, change)
        told = _told(found)
        return told.model_copy(update={"failed": change_sets.why_untried(self._service, found)})

    def list(self, contest: str) -> Iterator[ChangeTold]:
        """Yield a contest's change sets, oldest first."""
        with self._service.store.read() as session:
            view = viewed(session, contest, self._by)
        after = None
        while True:
            found = change_sets.changes(self._service, view, after=after, limit=_PAGE)
            yield from map(_told, found)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def apply(self, contest: str, change: str) -> ChangeTold:
        """Apply a change set that was tried, and publish."""
        return self._published(
            contest, change_sets.apply(self._service, contest, change, by=self._by)
        )

    def cancel(self, contest: str, change: str) -> ChangeTold:
        """Drop a change set that was not applied."""
        return _told(change_sets.cancel(self._service, contest, change, by=self._by))

    def roll_back(self, contest: str, change: str, *, reason: str) -> ChangeTold:
        """Take the effect from an applied change set, and publish."""
        undone = change_sets.roll_back(self._service, contest, change, reason=reason, by=self._by)
        return self._published(contest, undone)

    def _done_already(self, contest: str, change: str) -> None:
        """Take the dry run that was done here from the queue; one that is under way goes on."""
        with self._service.store.write() as session:
            waiting = session.queue.page(
                contest_no=session.contests.get(contest).no,
                states=("queued",),
                kinds=("dry-run",),
                limit=_PAGE,
            )
            for job in waiting:
                if job.payload.get("change") == change:
                    session.queue.cancel(job.id, now=self._service.clock())

    def _published(self, contest: str, change: Change) -> ChangeTold:
        publish(self._service, contest)
        return _told(change)


class LocalIntegrity:
    """Show what integrity checks found; see :class:`agon.client.ports.Integrity`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def findings(self, contest: str) -> FindingsTold:
        """Return the findings of the last look."""
        with self._service.store.read() as session:
            view = viewed(session, contest, self._by)
        return FindingsTold.model_validate(findings(self._service, view))

    def look(self, contest: str) -> FindingsTold:
        """Look through the newest records and return what is found."""
        with self._service.store.read() as session:
            found = viewed(session, contest, self._by).contest
        allow(self._by, "case.manage", contest=found)
        return FindingsTold.model_validate(scan(self._service, contest))


def _told(change: Change) -> ChangeTold:
    return ChangeTold.model_validate(change)
