"""Invite people to a contest by codes: ``invite_<22 characters of id>_<43 of secret>``.

Who accepts an invitation becomes a user with a token that is limited to its role and its contest.
As of tokens, only the hash of a code's secret is stored.
"""

import hmac
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.identities import conflict, require_free, require_same_person
from agon.app.access.passwords import hash_password
from agon.app.access.permissions import LOCAL, permits
from agon.app.access.tokens import Grant, new_secret, new_token, person, secret_hash
from agon.app.access.users import new_user
from agon.app.service import Service
from agon.entities.access import Caller, Token, User
from agon.entities.contests import Contest
from agon.entities.invitations import Invitation, InvitedRole, JoinRequest
from agon.errors import Conflict, Forbidden, NotFound, Unreadable
from agon.kernel.times import written_time
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

_CODE: Final = re.compile(r"invite_([A-Za-z0-9_-]{22})_([A-Za-z0-9_-]{43})")
_MAX_NAMED: Final = 20
_TOKEN_DAYS: Final = 365.0
_NOT_VALID: Final = "this invitation is not valid; ask the contest's organizer for another"


@dataclass(frozen=True, kw_only=True)
class NewInvitation:
    """An invitation to create.

    Attributes:
        role: of the tokens it gives.
        user: the only user's id it can be accepted with; None: any that is free.
        max_uses: how often it can be accepted.
        expires_at: from when on it is not valid; None: never.
        note: for organizers.
        approval: whether an organizer approves each person who accepts it.
    """

    role: InvitedRole = "participant"
    user: str | None = None
    max_uses: int = 1
    expires_at: datetime | None = None
    note: str = ""
    approval: bool = False


@dataclass(frozen=True, kw_only=True)
class Membership:
    """A user of a contest by invitation, and a token with its text.

    ``role`` is what the invitation gives; ``waits`` is whether an organizer has to approve it.
    """

    contest: str
    user: User
    token: Token
    text: str
    role: InvitedRole
    waits: bool


def invite(
    service: Service, contest_id: str, new: NewInvitation, *, by: Caller
) -> tuple[Invitation, str]:
    """Create an invitation and return it with its code, which is not stored.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is over.
        Unreadable: it expires in the past, or one user should accept it more than once.
    """
    [created] = invite_all(service, contest_id, [new], by=by)
    return created


def invite_all(
    service: Service, contest_id: str, invitations: Sequence[NewInvitation], *, by: Caller
) -> list[tuple[Invitation, str]]:
    """Create all of some invitations, or none, and return each with its code.

    Raises:
        NotFound, Conflict, Unreadable: as :func:`invite`, or a user is named twice.
    """
    named = [new.user for new in invitations if new.user is not None]
    if twice := [user for user, times in Counter(named).items() if times > 1]:
        raise Unreadable(f"{', '.join(twice[:_MAX_NAMED])}: named twice; name each user once")
    for new in invitations:
        _require_valid(new, now=service.clock())
    with service.store.write() as session:
        contest = session.contests.get(contest_id)
        require_not_over(contest, remedy="invite to another contest")
        return [_add(service, session, contest, new, by=by) for new in invitations]


def _require_valid(new: NewInvitation, *, now: datetime) -> None:
    if new.expires_at is not None and new.expires_at <= now:
        raise Unreadable(f"{written_time(new.expires_at)} is in the past; give a later expires_at")
    if new.user is not None and new.max_uses != 1:
        raise Unreadable("an invitation of one user is accepted once; leave max_uses or user out")


def _add(
    service: Service, session: Session, contest: Contest, new: NewInvitation, *, by: Caller
) -> tuple[Invitation, str]:
    name, secret, secret_sha256 = new_secret(service)
    invitation = Invitation(
        id=name,
        contest_no=contest.no,
        role=new.role,
        secret_sha256=secret_sha256,
        user=new.user,
        max_uses=new.max_uses,
        uses=0,
        created_at=service.clock(),
        expires_at=new.expires_at,
        note=new.note,
        by=by.name,
        approval=new.approval,
    )
    session.invitations.add(invitation)
    _audit(service, session, contest, "create", invitation, by, {"role": new.role})
    return invitation, f"invite_{name}_{secret}"


def accept(
    service: Service,
    code: str,
    *,
    user: str | None,
    name: str = "",
    password: str | None = None,
    by: Caller,
) -> Membership:
    """Accept an invitation: create a user and a token, all in one transaction.

    A caller with a token stays the user of that token. If the invitation asks for approval, the new
    token has the role viewer and no contest until an organizer approves it.

    Args:
        service: the service.
        code: the invitation's code.
        user: the new user's id; None: the caller's.
        name: the new user's name for people; empty: the id.
        password: the new user's; None: signs in by tokens only.
        by: the caller.

    Raises:
        NotFound: the code is malformed or unknown, was revoked, has expired or is used up, or its
            contest is final; with the same message for all.
        Conflict: the user's id is taken (:mod:`agon.app.access.identities`).
        Forbidden: the caller's token has scopes, or is of another user than ``user``, or a password
            is given with it.
        Unreadable: the id, the name or the password is invalid, or no id is given.
    """
    hashed = None if password is None else _hash_of_new(service, code, password, by=by)
    with service.store.write() as session:
        invitation, contest = _lock_valid(service, session, code)
        if by.user is None:
            member = _sign_up(service, session, invitation, user=user, name=name, password=hashed)
        else:
            member = _own_user(session, contest, invitation, user=user, by=by)
        token, text = _grant(service, session, contest, invitation, member)
        session.invitations.save(replace(invitation, uses=invitation.uses + 1))
        detail = {"user": member.id, "role": invitation.role, "token": token.id}
        _audit(service, session, contest, "accept", invitation, by, detail)
    return Membership(
        contest=contest.id,
        user=member,
        token=token,
        text=text,
        role=invitation.role,
        waits=invitation.approval,
    )


def _grant(
    service: Service, session: Session, contest: Contest, invitation: Invitation, member: User
) -> tuple[Token, str]:
    """Store a token of the invited user, and a request to join where an organizer approves it."""
    grant = Grant(
        user=member.id,
        role="viewer" if invitation.approval else invitation.role,
        label=f"invitation to {contest.id}",
        contests=() if invitation.approval else (contest.id,),
        days=_TOKEN_DAYS,
    )
    token, text = new_token(service, grant)
    session.access.add_token(token)
    if invitation.approval:
        session.join_requests.add(
            JoinRequest(
                id=token.id,
                contest_no=contest.no,
                invitation=invitation.id,
                user=member.id,
                role=invitation.role,
                created_at=token.created_at,
            )
        )
    return token, text


def revoke_invitation(
    service: Service, contest_id: str, invitation_id: str, *, by: Caller
) -> Invitation:
    """Revoke an invitation; tokens it gave stay valid. Revoking it again changes nothing.

    Raises:
        NotFound: the contest has no such invitation.
    """
    with service.store.write() as session:
        contest = session.contests.get(contest_id)
        invitation = session.invitations.lock(invitation_id)
        if invitation is None or invitation.contest_no != contest.no:
            raise NotFound(
                f"{contest.id} has no invitation {invitation_id[:40]!r}; list its invitations"
            )
        if invitation.revoked_at is None:
            invitation = replace(invitation, revoked_at=service.clock())
            session.invitations.save(invitation)
            _audit(service, session, contest, "revoke", invitation, by, {})
    return invitation


def _lock_valid(service: Service, session: Session, code: str) -> tuple[Invitation, Contest]:
    """Return a valid code's invitation, locked, and its contest.

    Raises:
        NotFound: the code is not valid.
    """
    parts = _CODE.fullmatch(code)
    name, secret = parts.groups() if parts else ("", "")
    invitation = session.invitations.lock(name)
    stored = b"" if invitation is None else invitation.secret_sha256
    if not hmac.compare_digest(secret_hash(secret), stored) or invitation is None:
        raise NotFound(_NOT_VALID)
    contest = session.contests.by_no(invitation.contest_no)
    expires_at = invitation.expires_at
    if (
        invitation.revoked_at is not None
        or invitation.uses >= invitation.max_uses
        or (expires_at is not None and expires_at <= service.clock())
        or contest.is_over
    ):
        raise NotFound(_NOT_VALID)
    return invitation, contest


def _hash_of_new(service: Service, code: str, password: str, *, by: Caller) -> str:
    """Return the hash of a new user's password, computed for valid codes and outside transactions.

    Raises:
        NotFound: the code is not valid.
        Forbidden: the caller has a user already.
    """
    if by.user is not None:
        raise Forbidden(f"the user {by.user} exists; leave the password out, or send no token")
    with service.store.write() as session:
        _lock_valid(service, session, code)
    return hash_password(service, password)


def _sign_up(
    service: Service,
    session: Session,
    invitation: Invitation,
    *,
    user: str | None,
    name: str,
    password: str | None,
) -> User:
    """Create the user who accepts an invitation without a token; the password is a hash.

    Who invites a person by an id vouches that the records of their own contests mean this person.
    """
    user = user or invitation.user
    if user is None:
        raise Unreadable("a new user has no id yet; give one: user (or --user)")
    created = replace(new_user(service, user=user, name=name), password=password)
    vouches = None
    if invitation.user is not None:
        if invitation.user != user:
            raise Conflict(f"this invitation is for the user {invitation.user}; leave the user out")
        vouches = _vouching(service, session, invitation)
    require_free(session, user, vouches=vouches)
    try:
        session.access.add_user(created)
    except Conflict:
        raise conflict(user) from None
    return created


def _vouching(
    service: Service, session: Session, invitation: Invitation
) -> Callable[[Contest], bool]:
    """Return whether an invitation for a user vouches for the person in a contest's records.

    It does in its own contest, and in others that its creator may invite to at this moment.
    """
    if invitation.by == LOCAL.name:
        inviter = LOCAL
    else:
        inviter = person(session, invitation.by.removeprefix("user:"), now=service.clock())
    return lambda contest: (
        contest.no == invitation.contest_no
        or permits(inviter, "invitation.manage", contest=contest)
    )


def _own_user(
    session: Session, contest: Contest, invitation: Invitation, *, user: str | None, by: Caller
) -> User:
    """Return the caller's user, who accepts an invitation."""
    own = str(by.user)
    if user not in {None, own}:
        raise Forbidden(f"this token is of the user {own}; leave the user out, or send no token")
    if all(right.scopes for right in by.rights):
        raise Forbidden("a token with scopes accepts no invitation; use one without scopes")
    if invitation.user not in {None, own}:
        raise Conflict(f"this invitation is for the user {invitation.user}, not for {own}")
    if invitation.user is None:
        require_same_person(session, contest, own)
    return session.access.user(own)


def _audit(
    service: Service,
    session: Session,
    contest: Contest,
    action: str,
    invitation: Invitation,
    by: Caller,
    detail: Mapping[str, Any],
) -> None:
    add_audit_entry(
        service, session, by=by, action=f"invitation.{action}", target=invitation.id,
        detail={"contest": contest.id, **detail},
    )  # fmt: skip
