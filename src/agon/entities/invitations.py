"""Invitations to a contest, as plain values."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

InvitedRole: TypeAlias = Literal["participant", "judge"]


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """The stored part of an invitation; its secret is returned once and not stored.

    Attributes:
        id: the public half of its code.
        secret_sha256: hash of the secret half (256 random bits need no slow hash).
        user: the only user's id that it can be accepted with; None: any that is free.
        max_uses: how often it can be accepted.
        uses: how often it was accepted.
        expires_at: from when on it is not valid; None: never.
        note: for organizers.
        by: who created it.
        approval: whether an organizer approves each person who accepts it.
    """

    id: str
    contest_no: int
    role: InvitedRole
    secret_sha256: bytes = field(repr=False)
    user: str | None
    max_uses: int
    uses: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None = None
    note: str
    by: str
    approval: bool = False


@dataclass(frozen=True, kw_only=True)
class JoinRequest:
    """A person who accepted an invitation, and waits for an organizer's approval.

    Attributes:
        id: the public half of the token that the person has.
        invitation: the id of the invitation.
        role: the role that the approval gives.
        created_at: when it was accepted.
    """

    id: str
    contest_no: int
    user: str
    role: InvitedRole
    invitation: str
    created_at: datetime
