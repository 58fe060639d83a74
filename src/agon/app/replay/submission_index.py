"""Keep the submissions of contests by user and problem, read once from their ledgers."""

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

import orjson

from agon.store.session import Session

_RECEIVED: Final = ("submission-received",)


@dataclass
class _SubmissionIds:
    """The submissions of a contest, read to a position."""

    seq: int = 0
    ids: dict[tuple[str, str | None], list[str]] = field(default_factory=dict)
    made: Counter[str] = field(default_factory=Counter)


class SubmissionIndex:
    """The ids of submissions by contest, user and problem, in this process's memory.

    Entries never change, so each is read once; what other processes add is read the next time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._contests: dict[tuple[int, str], _SubmissionIds] = {}

    def of(self, session: Session, contest_no: int, contest_id: str, *, user: str,
           problem: str | None) -> tuple[str, ...]:  # fmt: skip
        """Return the ids of a user's submissions to a problem, oldest first.

        Entries of the session's own transaction are not to be read: they may be rolled back. Ask
        before anything is appended.
        """
        with self._lock:
            known = self._known(session, contest_no, contest_id)
            return tuple(known.ids.get((user, problem), ()))

    def counts(self, session: Session, contest_no: int, contest_id: str) -> dict[str, int]:
        """Return how many submissions each user of a contest has made, by id; as :meth:`of`."""
        with self._lock:
            return dict(self._known(session, contest_no, contest_id).made)

    def count(self, session: Session, contest_no: int, contest_id: str, *, user: str) -> int:
        """Return how many submissions a user of a contest has made; as :meth:`of`."""
        with self._lock:
            return self._known(session, contest_no, contest_id).made[user]

    def _known(self, session: Session, contest_no: int, contest_id: str) -> _SubmissionIds:
        """Return the submissions of a contest, with those that were added since the last time."""
        known = self._contests.setdefault((contest_no, contest_id), _SubmissionIds())
        for entry in session.entries.of_kind(contest_no, _RECEIVED, after=known.seq):
            body = orjson.loads(entry.line)["body"]
            known.ids.setdefault((body["user"], body["problem"]), []).append(body["submission"])
            known.made[body["user"]] += 1
            known.seq = entry.seq
        return known
