"""People of a contest, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agon.entities.access import Role


@dataclass(frozen=True, kw_only=True)
class MemberTerms:
    """What differs for one person in a contest.

    Attributes:
        withdrawn_at: since when nothing is accepted from the person; None: it is.
        ends_at: until when it is, where that is later than the contest's end; None: until then.
        problem_ends: until when single problems take the person's programs, where that is later
            than their freeze, by problem.
        hidden_at: since when no board shows the person's name; None: they do where they show names.
        attempts: further submissions to each problem beyond the rule ``max_submissions``.
        reason: why, as the last change says.
        by: who made the last change.
        changed_at: when.
    """

    contest_no: int
    user: str
    withdrawn_at: datetime | None = None
    ends_at: datetime | None = None
    problem_ends: Mapping[str, datetime] = field(default_factory=dict)
    hidden_at: datetime | None = None
    attempts: int = 0
    reason: str
    by: str
    changed_at: datetime


@dataclass(frozen=True, kw_only=True)
class Member:
    """A person of a contest, as its organizers see one.

    Attributes:
        user: the user's id.
        name: the user's name for people; empty: the person has not signed up here.
        role: the strongest role that a token gives the person in the contest; None: no valid one
            does.
        joined_at: when the first token that names the contest was created; None: none does.
        seen_at: when the person used this server last; None: never.
        submissions: how many the person has made.
        rank: on the default board; None: no rank.
        terms: what differs for the person; None: nothing does.
    """

    user: str
    name: str
    role: Role | None
    joined_at: datetime | None
    seen_at: datetime | None
    submissions: int
    rank: int | None
    terms: MemberTerms | None
