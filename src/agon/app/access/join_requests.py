"""Approve or reject people who accepted an invitation that asks for approval.

Until then their token has the role viewer and no contest: they see what is public.
"""

from dataclasses import replace

from agon.app.access.audit import add_audit_entry
from agon.app.access.tokens import revoke_sessions
from agon.app.service import Service
from agon.entities.access import Caller, Token
from agon.entities.contests import Contest
from agon.entities.invitations import JoinRequest
from agon.errors import Conflict, NotFound
from agon.ledger.transitions import require_not_over
from agon.store.session import Session


def approve(service: Service, contest_id: str, request_id: str, *, by: Caller) -> JoinRequest:
    """Let a person take part: the token that the person has gets the role of the invitation.

    Sessions on the site have the rights of their tokens, so they get it as well.

    Raises:
        NotFound: the contest has no such request; it was approved or rejected before.
        Conflict: the contest is over, or the token was revoked in the meantime.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_not_over(contest, remedy="reject the request")
        request, token = _lock(session, contest, request_id)
        if token.revoked_at is not None:
            raise Conflict(f"the token of {request.user} was revoked; reject, and invite again")
        session.access.save_token(replace(token, role=request.role, contests=(contest.id,)))
        _end(service, session, contest, request, "approve", by)
    return request


def reject(service: Service, contest_id: str, request_id: str, *, by: Caller) -> JoinRequest:
    """Reject a person: the token that the person has is revoked, with its sessions on the site.

    Raises:
        NotFound: the contest has no such request; it was approved or rejected before.
    """
    with service.store.write() as session:
        contest = session.contests.get(contest_id)
        request, token = _lock(session, contest, request_id)
        session.access.save_token(replace(token, revoked_at=service.clock()))
        revoke_sessions(service, session, token.user, token_id=token.id)
        _end(service, session, contest, request, "reject", by)
    return request


def _lock(session: Session, contest: Contest, request_id: str) -> tuple[JoinRequest, Token]:
    request = session.join_requests.find(contest.no, request_id)
    token = None if request is None else session.access.lock_token(request.id)
    # Who held the lock on the token may have ended the request.
    request = session.join_requests.find(contest.no, request_id)
    if request is None or token is None:
        raise NotFound(
            f"{contest.id} has no request to join {request_id[:40]!r}; list the requests that wait"
        )
    return request, token


def _end(
    service: Service,
    session: Session,
    contest: Contest,
    request: JoinRequest,
    action: str,
    by: Caller,
) -> None:
    session.join_requests.remove(request.id)
    add_audit_entry(
        service, session, by=by, action=f"invitation.{action}", target=request.invitation,
        detail={"contest": contest.id, "user": request.user, "role": request.role,
                "token": request.id},
    )  # fmt: skip
