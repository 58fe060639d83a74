"""Say what access needs of a database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from agon.app.access.values import Token, User


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Hold a request that was answered, so that its repetition gets the same answer.

    Attributes:
        who: token id (or ``anonymous``).
        key: its ``Idempotency-Key``.
        request_sha256: hash of method, path, query and body: another request under the same key
            is a conflict.
        status, headers, body: the answer; status 0 while the first request is still under way.
    """

    who: str
    key: str
    request_sha256: bytes
    status: int
    headers: Mapping[str, str]
    body: bytes
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Audited:
    """Hold one line of the audit log: who did what to what, and from which network."""

    no: int
    at: datetime
    by: str
    action: str
    target: str
    detail: Mapping[str, Any]
    network: str | None = None


class Access(Protocol):
    """Keep users, tokens, answered requests and the audit log."""

    def add_user(self, user: User) -> None:
        """Add a user.

        Raises:
            Conflict: the id is taken.
        """

    def save_user(self, user: User) -> None:
        """Store what changed of a locked user."""

    def user(self, user_id: str) -> User:
        """Return a user.

        Raises:
            NotFound: there is none of that id.
        """

    def lock_user(self, user_id: str) -> User:
        """Return a user and keep other writers from them until the session ends.

        Raises:
            NotFound: there is none of that id.
        """

    def users(self, *, after: str | None = None, limit: int = 100) -> list[User]:
        """List users in id order."""

    def add_token(self, token: Token) -> None:
        """Add a token."""

    def save_token(self, token: Token) -> None:
        """Store what changed of a token; what was revoked stays so, whatever is stored."""

    def note_use(self, token_id: str, *, at: datetime) -> None:
        """Note when a token was used last, and nothing else of it."""

    def token(self, token_id: str) -> Token | None:
        """Return a token, None when there is none of that id."""

    def lock_token(self, token_id: str) -> Token | None:
        """Return a token as :meth:`token` does; other writers are kept from it."""

    def tokens(
        self, *, user: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[Token]:
        """List tokens in id order."""

    def answered(self, who: str, key: str) -> Answered | None:
        """Return the answer given under a key, None when there is none."""

    def keep_answer(self, answer: Answered) -> bool:
        """Store an answer; False when the key is taken (nothing is stored)."""

    def take_over(self, answer: Answered, *, lost_before: datetime) -> bool:
        """Put a request in the place of one that was lost: no sign of life since a time.

        Of several that try, one succeeds.
        """

    def still_under_way(self, who: str, key: str, *, at: datetime) -> None:
        """Store a sign of life of a request under way; nothing for one that has ended."""

    def finish_answer(self, answer: Answered) -> None:
        """Store the answer of a request that was under way."""

    def forget_answers(self, *, before: datetime, limit: int) -> int:
        """Forget answers older than a time, at most so many; return how many."""

    def drop_answer(self, who: str, key: str) -> None:
        """Forget a request under way that came to nothing."""

    def note(self, line: Audited) -> None:
        """Add a line to the audit log; ``no`` is ignored."""

    def audited(self, *, before: int | None = None, limit: int = 100) -> list[Audited]:
        """List the audit log, newest first."""
