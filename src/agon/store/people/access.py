"""Users, tokens, stored responses and the audit log in the database."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, delete, func, select, tuple_, update

from agon.entities.access import AuditEntry, Everywhere, StoredResponse, Token, User, folded_id
from agon.errors import Conflict, NotFound, did_you_mean
from agon.kernel.times import to_micros
from agon.store.connection.entity_rows import columns_of, entity_of
from agon.store.connection.transaction import Transaction
from agon.store.schema import AUDIT, RESPONSES, TOKENS, USERS

_SUGGESTED_AMONG = 1000


class Access:
    """Users, tokens, stored responses and the audit log in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add_user(self, user: User) -> None:
        """Add a user.

        Raises:
            Conflict: the id is taken.
        """
        adding = (
            self._transaction.insert(USERS).values(**_user_values(user)).on_conflict_do_nothing()
        )
        if not self._transaction.change(adding):
            raise Conflict(f"user {user.id!r} exists; choose another id")

    def save_user(self, user: User) -> None:
        """Update a locked user."""
        saving = update(USERS).where(USERS.c.id == user.id).values(**_user_values(user))
        if not self._transaction.change(saving):
            raise self._no_user(user.id)

    def user(self, user_id: str) -> User:
        """Return a user.

        Raises:
            NotFound: there is no such user.
        """
        return self._user(select(USERS).where(USERS.c.id == user_id), user_id)

    def lock_user(self, user_id: str) -> User:
        """Return a user and lock it against other writers until the session ends.

        Raises:
            NotFound: there is no such user.
        """
        locking = select(USERS).where(USERS.c.id == user_id).with_for_update()
        return self._user(locking, user_id)

    def users_read_as(self, folded: str) -> list[str]:
        """Return the ids of users whose folded form it is."""
        query = select(USERS.c.id).where(USERS.c.folded == folded).order_by(USERS.c.id)
        return [row.id for row in self._transaction.all(query)]

    def users(self, *, after: str | None = None, limit: int = 100) -> list[User]:
        """Return users in the order of their ids."""
        listing = select(USERS).order_by(USERS.c.id).limit(limit)
        if after is not None:
            listing = listing.where(USERS.c.id > after)
        return [entity_of(User, row) for row in self._transaction.all(listing)]

    def add_token(self, token: Token) -> None:
        """Add a token.

        Raises:
            Conflict: its id is taken.
            NotFound: there is no such user.
        """
        self.user(token.user)
        adding = (
            self._transaction.insert(TOKENS).values(**_token_values(token)).on_conflict_do_nothing()
        )
        if not self._transaction.change(adding):
            raise Conflict("a token with that id exists; create another")

    def save_token(self, token: Token) -> None:
        """Update a token; one that was revoked stays revoked."""
        values = _token_values(token)
        values["revoked_at"] = func.coalesce(TOKENS.c.revoked_at, values["revoked_at"])
        saving = update(TOKENS).where(TOKENS.c.id == token.id).values(**values)
        if not self._transaction.change(saving):
            raise NotFound("there is no such token; list the tokens")

    def token(self, token_id: str) -> Token | None:
        """Return a token, None if there is no such token."""
        row = self._transaction.first(select(TOKENS).where(TOKENS.c.id == token_id))
        return None if row is None else _token(row)

    def lock_token(self, token_id: str) -> Token | None:
        """Return a token and lock it against other writers until the session ends."""
        row = self._transaction.first(
            select(TOKENS).where(TOKENS.c.id == token_id).with_for_update()
        )
        return None if row is None else _token(row)

    def record_use(self, token_id: str, *, at: datetime) -> None:
        """Store when a token was used last."""
        used = (TOKENS.c.id == token_id) & (func.coalesce(TOKENS.c.used_at, 0) < to_micros(at))
        self._transaction.change(update(TOKENS).where(used).values(used_at=to_micros(at)))

    def tokens(
        self, *, user: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[Token]:
        """Return tokens in the order of their ids."""
        listing = select(TOKENS).order_by(TOKENS.c.id).limit(limit)
        if user is not None:
            listing = listing.where(TOKENS.c.user_id == user)
        if after is not None:
            listing = listing.where(TOKENS.c.id > after)
        return [_token(row) for row in self._transaction.all(listing)]

    def valid_tokens(
        self, user: str, *, now: datetime, ids: Collection[str] | None = None
    ) -> list[Token]:
        """Return a user's tokens that are valid at a time and no sessions, by id.

        Args:
            user: the user.
            now: the time.
            ids: only these; None: all of the user.
        """
        listing = select(TOKENS).where(
            TOKENS.c.user_id == user,
            TOKENS.c.session.is_(None),
            TOKENS.c.revoked_at.is_(None),
            TOKENS.c.expires_at.is_(None) | (TOKENS.c.expires_at > to_micros(now)),
        )
        if ids is not None:
            listing = listing.where(TOKENS.c.id.in_(ids))
        return [_token(row) for row in self._transaction.all(listing.order_by(TOKENS.c.id))]

    def sessions(self, user: str) -> list[Token]:
        """Return the sessions of a user that were not revoked, by id."""
        listing = select(TOKENS).where(
            TOKENS.c.user_id == user,
            TOKENS.c.session.is_not(None),
            TOKENS.c.revoked_at.is_(None),
        )
        return [_token(row) for row in self._transaction.all(listing.order_by(TOKENS.c.id))]

    def delete_expired_sessions(self, *, before: datetime, limit: int) -> int:
        """Delete sessions that expired before a time; return how many."""
        expired = select(TOKENS.c.id).where(
            TOKENS.c.session.is_not(None), TOKENS.c.expires_at < to_micros(before)
        )
        return self._transaction.change(delete(TOKENS).where(TOKENS.c.id.in_(expired.limit(limit))))

    def response(self, caller: str, key: str) -> StoredResponse | None:
        """Return the response stored under a key, None if there is none."""
        row = self._transaction.first(
            select(RESPONSES).where(RESPONSES.c.caller == caller, RESPONSES.c.key == key)
        )
        return None if row is None else entity_of(StoredResponse, row)

    def add_response(self, response: StoredResponse) -> bool:
        """Store a response; return False, and store nothing, if the key is taken."""
        adding = self._transaction.insert(RESPONSES).values(**columns_of(response))
        return bool(self._transaction.change(adding.on_conflict_do_nothing()))

    def take_over_response(self, response: StoredResponse, *, lost_before: datetime) -> bool:
        """Replace a pending request that was not touched since a time; return whether it was.

        Of several that try, one succeeds.
        """
        is_lost = (RESPONSES.c.status == 0) & (RESPONSES.c.at <= to_micros(lost_before))
        same = (RESPONSES.c.caller == response.caller) & (RESPONSES.c.key == response.key)
        return bool(
            self._transaction.change(
                update(RESPONSES).where(same, is_lost).values(columns_of(response))
            )
        )

    def touch_response(self, caller: str, key: str, *, at: datetime) -> None:
        """Store that a pending request is still being processed."""
        self._transaction.change(
            update(RESPONSES).where(_pending(caller, key)).values(at=to_micros(at))
        )

    def save_response(self, response: StoredResponse) -> None:
        """Store the response to a pending request."""
        self._transaction.upsert(RESPONSES, columns_of(response))

    def delete_responses(self, *, before: datetime, limit: int) -> int:
        """Delete responses older than a time, at most ``limit``; return how many."""
        keys = tuple_(RESPONSES.c.caller, RESPONSES.c.key)
        old = select(RESPONSES.c.caller, RESPONSES.c.key).where(RESPONSES.c.at < to_micros(before))
        expired = old.order_by(RESPONSES.c.at).limit(limit)
        return self._transaction.change(delete(RESPONSES).where(keys.in_(expired)))

    def delete_pending_response(self, caller: str, key: str) -> None:
        """Delete a pending request that failed."""
        self._transaction.change(delete(RESPONSES).where(_pending(caller, key)))

    def add_audit_entry(self, entry: AuditEntry) -> None:
        """Add an entry to the audit log."""
        values = columns_of(entry)
        del values["no"]  # the database assigns it
        self._transaction.change(self._transaction.insert(AUDIT).values(**values))

    def audit_entries(self, *, before: int | None = None, limit: int = 100) -> list[AuditEntry]:
        """Return entries of the audit log, newest first."""
        listing = select(AUDIT).order_by(AUDIT.c.no.desc()).limit(limit)
        if before is not None:
            listing = listing.where(AUDIT.c.no < before)
        return [entity_of(AuditEntry, row) for row in self._transaction.all(listing)]

    def _user(self, asking: Select[Any], user_id: str) -> User:
        row = self._transaction.first(asking)
        if row is None:
            raise self._no_user(user_id)
        return entity_of(User, row)

    def _no_user(self, user_id: str) -> NotFound:
        ids = [row.id for row in self._transaction.all(select(USERS.c.id).limit(_SUGGESTED_AMONG))]
        hint = did_you_mean(user_id, ids) if ids else "add one first"
        return NotFound(f"there is no user {user_id!r}; {hint}")


def _user_values(user: User) -> dict[str, Any]:
    return {**columns_of(user), "folded": folded_id(user.id)}


def _token_values(token: Token) -> dict[str, Any]:
    values = columns_of(token)
    values["user_id"] = values.pop("user")
    return values


def _token(row: Row[Any]) -> Token:
    token = entity_of(Token, row, user=row.user_id)
    if isinstance(token.contests, str):  # as it is stored
        return replace(token, contests=Everywhere(token.contests))
    return token


def _pending(caller: str, key: str) -> ColumnElement[bool]:
    return (RESPONSES.c.caller == caller) & (RESPONSES.c.key == key) & (RESPONSES.c.status == 0)
