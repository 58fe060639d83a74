"""People of contests in the database: who has joined, and what differs for one person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Row, func, select

from agon.entities.access import Role
from agon.entities.members import MemberTerms
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import (
    Transaction,
    from_micros_or_none,
    json_text,
    to_micros_or_none,
)
from agon.store.schema import MEMBER_TERMS, TOKENS, USERS

_TIMES: Final = ("withdrawn_at", "ends_at", "hidden_at")


@dataclass(frozen=True, kw_only=True)
class TokenHolder:
    """A user with a token that names a contest.

    Attributes:
        roles: the roles of such tokens that are valid.
        joined_at: when the first of them was created, valid or not.
        seen_at: when any token of the user was used last.
    """

    user: str
    name: str
    roles: frozenset[Role]
    joined_at: datetime
    seen_at: datetime | None


class Members:
    """People of contests, and what differs for one of them."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def token_holders(
        self, contest: str, *, now: datetime, user: str | None = None
    ) -> list[TokenHolder]:
        """Return the users with a token that names a contest, by id, or one of them alone."""
        query = (
            select(TOKENS, USERS.c.name.label("user_name"))
            .join(USERS, USERS.c.id == TOKENS.c.user_id)
            .where(*_of_contest(contest, user))
            .order_by(TOKENS.c.user_id, TOKENS.c.created_at)
        )
        users: dict[str, list[Row[Any]]] = {}
        for row in self._transaction.all(query):
            users.setdefault(row.user_id, []).append(row)
        seen = self._seen(contest, user) if users else {}
        micros = to_micros(now)
        return [
            TokenHolder(
                user=user,
                name=rows[0].user_name,
                roles=frozenset(
                    row.role
                    for row in rows
                    if row.revoked_at is None
                    and (row.expires_at is None or row.expires_at > micros)
                ),
                joined_at=from_micros(rows[0].created_at),
                seen_at=from_micros_or_none(seen.get(user)),
            )
            for user, rows in users.items()
        ]

    def _seen(self, contest: str, user: str | None) -> dict[str, int]:
        """Return when each user with a token that names a contest used any token last."""
        members = select(TOKENS.c.user_id).where(*_of_contest(contest, user))
        query = (
            select(TOKENS.c.user_id, func.max(TOKENS.c.used_at).label("seen"))
            .where(TOKENS.c.user_id.in_(members))
            .group_by(TOKENS.c.user_id)
        )
        return {row.user_id: row.seen for row in self._transaction.all(query)}

    def withdrawn(self, contest_no: int) -> frozenset[str]:
        """Return the users whom organizers withdrew from a contest."""
        query = select(MEMBER_TERMS.c.user_id).where(
            MEMBER_TERMS.c.contest_no == contest_no, MEMBER_TERMS.c.withdrawn_at.is_not(None)
        )
        return frozenset(row.user_id for row in self._transaction.all(query))

    def terms(self, contest_no: int, user: str) -> MemberTerms | None:
        """Return what differs for a person in a contest; None: nothing does."""
        query = select(MEMBER_TERMS).where(
            MEMBER_TERMS.c.contest_no == contest_no, MEMBER_TERMS.c.user_id == user
        )
        row = self._transaction.first(query)
        return None if row is None else _terms(row)

    def all_terms(self, contest_no: int) -> dict[str, MemberTerms]:
        """Return what differs for people of a contest, by user."""
        query = select(MEMBER_TERMS).where(MEMBER_TERMS.c.contest_no == contest_no)
        return {row.user_id: _terms(row) for row in self._transaction.all(query)}

    def latest_problem_ends(self, contest_no: int) -> dict[str, datetime]:
        """Return the latest end of extra time for each problem, of people not withdrawn."""
        ends: dict[str, datetime] = {}
        for terms in self.all_terms(contest_no).values():
            if terms.withdrawn_at is None:
                for problem, end in terms.problem_ends.items():
                    ends[problem] = max(end, ends.get(problem, end))
        return ends

    def save(self, terms: MemberTerms) -> None:
        """Store what differs for a person, in place of what did before."""
        values = dict(vars(terms))
        values |= {"user_id": values.pop("user"), "changed_at": to_micros(terms.changed_at)}
        values |= {name: to_micros_or_none(values[name]) for name in _TIMES}
        ends = {problem: to_micros(end) for problem, end in terms.problem_ends.items()}
        values["problem_ends"] = json_text(ends)
        self._transaction.upsert(MEMBER_TERMS, values)


def _of_contest(contest: str, user: str | None) -> list[ColumnElement[bool]]:
    """Return the conditions of tokens that name a contest and are no sessions."""
    names = TOKENS.c.contests.contains(json_text(contest), autoescape=True)
    of_user = [] if user is None else [TOKENS.c.user_id == user]
    return [names, TOKENS.c.session.is_(None), *of_user]


def _terms(row: Row[Any]) -> MemberTerms:
    values = row._asdict()
    values |= {"user": values.pop("user_id"), "changed_at": from_micros(row.changed_at)}
    values |= {name: from_micros_or_none(values[name]) for name in _TIMES}
    ends: dict[str, int] = orjson.loads(row.problem_ends)
    values["problem_ends"] = {problem: from_micros(end) for problem, end in ends.items()}
    return MemberTerms(**values)
