"""Contests and records beside the database."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from agon.app.access.permissions import allow, view_of, viewed
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record, require_open
from agon.app.contests.ledgers.append import edition_at
from agon.app.contests.lifecycle import creation, transitions
from agon.app.contests.lifecycle.creation import NewContest
from agon.app.service import Service
from agon.client.values import ContestTold, RecordedTold
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import NotFound

_PAGE = 200


class LocalContests:
    """Lead contests through their lives; see :class:`agon.client.ports.Contests`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def create(self, new: NewContest) -> ContestTold:
        """Create a contest, a draft until it is opened."""
        return self._told(creation.create(self._service, new, by=self._by))

    def next_season(self, contest: str, *, id: str) -> ContestTold:  # noqa: A002 (a contest's id is called id everywhere)
        """Create the next season: the same rules and boards, without records."""
        return self._told(creation.next_season(self._service, contest, id=id, by=self._by))

    def list(
        self, *, discipline: str | None = None, series: str | None = None
    ) -> Iterator[ContestTold]:
        """Yield the contests the caller may see, in id order."""
        allow(self._by, "contest.read")
        after = None
        while True:
            with self._service.store.read() as session:
                found = session.contests.page(
                    after=after, limit=_PAGE, discipline=discipline, series=series
                )
            for one in found:
                with suppress(NotFound):
                    yield self._told(one)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def get(self, contest: str) -> ContestTold:
        """Return a contest."""
        with self._service.store.read() as session:
            return self._told(viewed(session, contest, self._by).contest)

    def open(self, contest: str) -> ContestTold:
        """Open a draft."""
        return self._told(transitions.open_contest(self._service, contest, by=self._by))

    def freeze(self, contest: str) -> ContestTold:
        """Show the public nothing later."""
        return self._told(transitions.freeze(self._service, contest, by=self._by))

    def unfreeze(self, contest: str, *, reason: str) -> ContestTold:
        """Let the public see again."""
        return self._told(transitions.unfreeze(self._service, contest, reason=reason, by=self._by))

    def finalise(self, contest: str, *, force: bool = False) -> ContestTold:
        """Make the result final."""
        return self._told(transitions.finalize(self._service, contest, force=force, by=self._by))

    def _told(self, contest: Contest) -> ContestTold:
        """Tell of a contest no further than the caller may see.

        Raises:
            NotFound: they may not see it at all.
        """
        until = view_of(contest, self._by).until
        told = ContestTold.model_validate(contest)
        if until is None or contest.seq <= until:
            return told
        with self._service.store.read() as session:
            edition, overrides = edition_at(session, contest, until)
        seen = {"seq": until, "edition": edition, "overrides": overrides}
        return told.model_copy(update=seen)


class LocalRecords:
    """Enter records; see :class:`agon.client.ports.Records`. One stream is one request."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def add(
        self,
        contest: str,
        chunks: Iterable[bytes],
        *,
        table: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> RecordedTold:
        """Enter records given as NDJSON, all of them or none, and publish.

        Raises:
            InvalidRecords: with everything that is wrong with them.
            Conflict: keys or external ids are there with other content; or the contest is final.
        """
        with self._service.store.read() as session:
            found = viewed(session, contest, self._by).contest
        require_open(found, self._by)  # before all of a stream is read in vain
        rows = read_ndjson(chunks, table=table)
        try:
            done = record(
                self._service, contest, rows, by=self._by, replace=replace, dry_run=dry_run
            )
        finally:
            rows.close()
        if not dry_run and (done.added or done.replaced):
            publish(self._service, contest)
        return RecordedTold.model_validate(done)
