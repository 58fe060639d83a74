"""A small database with one row of almost everything, for tests of backups and verification."""

from dataclasses import replace

from agon.entities.access import User
from agon.entities.contests import Event, HistoryStep
from agon.entities.invitations import Invitation
from agon.ledger.entry import genesis
from agon.store import open_store
from store.factories import NOON, chained, contest, created, job, later, opened, snapshot, vote


def fill(url: str) -> None:
    """Store one contest with a ledger, a board, a job, a user and an event."""
    store = open_store(url)
    with store.write() as session:
        spring = session.contests.add(contest())
        drafts = [
            created("spring"),
            opened(at=later(1)),
            vote(1, at=later(2)),
            vote(2, at=later(3)),
        ]
        entries, head, seq = chained(drafts, previous=genesis("spring"))
        session.entries.append(spring.no, entries)
        session.contests.save(replace(spring, seq=seq, head=head, state="open"))
        session.snapshots.add(
            snapshot(spring.no, rows=2, unscored=1, seq=seq),
            lines=[b'{"id":"a"}', b'{"id":"b"}'], ids=["a", "b"], unscored=[b'{"id":"c"}'],
        )  # fmt: skip
        session.histories.add(
            spring.no, "models", [HistoryStep(id="a", seq=4, at=NOON, rank=1, score=1.5)]
        )
        session.queue.add(job("j1", contest_no=spring.no, dedupe="d"), now=NOON)
        session.access.add_user(User(id="ada", name="Ada Ł", created_at=NOON))
        session.invitations.add(
            Invitation(
                id="i1", contest_no=spring.no, role="judge", secret_sha256=bytes(32), user=None,
                max_uses=2, uses=1, created_at=NOON, expires_at=later(9), note="", by="user:olga",
            )
        )  # fmt: skip
        session.events.add(
            Event(no=0, contest_no=spring.no, seq=4, at=NOON, kind="contest-opened", body={})
        )
    store.close()
