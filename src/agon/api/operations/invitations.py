"""Invitations: organizers create them, people accept them and become users."""

from dataclasses import asdict

from agon.api.command import Command, Option
from agon.api.models.base import Items, Page
from agon.api.models.invitations import (
    Applicant,
    Invitation,
    InvitationAccept,
    InvitationCreate,
    InvitationsCreate,
    InvitationWithCode,
    Membership,
)
from agon.api.operation import ContestContext, Context, operation
from agon.api.pages import PageRequest
from agon.api.parameters import Id
from agon.api.transport import Noun
from agon.app.access import invitations, join_requests
from agon.app.service import Service
from agon.entities import invitations as entities

_INVITATIONS = "/contests/{contest}/invitations"
_REQUESTS = "/contests/{contest}/join-requests"


@operation("GET", _INVITATIONS, id="listInvitations", permission="invitation.manage", cost="quick",
           summary="List invitations", page_size=100,
           command=Command(
               "contest invitations",
               columns=("id", "role", "user", "uses", "max_uses", "approval", "revoked_at",
                        "expires_at", "note", "by"),
               before={"revokeInvitation": Option("--revoke", metavar="INVITATION",
                                                  help="First revoke this one permanently.")})
)  # fmt: skip
def list_invitations(ctx: ContestContext, page: PageRequest) -> Page[Invitation]:
    """Return the invitations to a contest in order of creation, without their codes.

    $ agon contest invitations
        List the invitations to ID, or revoke one; their codes are not stored.

        The users and the tokens that an invitation gave stay.

          agon contest invitations spring
          agon contest invitations spring --revoke 9XfEr2bmT0aBq8f0m1vYzw
    """
    with ctx.service.store.read() as session:
        stored = session.invitations.page(ctx.contest.no, after=page.after(str), limit=page.sought)
    return page.page(stored, key=lambda invitation: invitation.id, item=Invitation.model_validate)


@operation("POST", _INVITATIONS, id="createInvitation", permission="invitation.manage",
           cost="quick", records="none",
           summary="Create an invitation", status=201, secret=True)  # fmt: skip
def create_invitation(ctx: ContestContext, request: InvitationCreate) -> InvitationWithCode:
    """Create an invitation. The response holds its code, which is shown only once."""
    new = invitations.NewInvitation(**request.model_dump())
    return _with_code(
        ctx.service, *invitations.invite(ctx.service, ctx.contest.id, new, by=ctx.caller)
    )


@operation("POST", _INVITATIONS + "/all", id="createInvitations", permission="invitation.manage",
           cost="quick", records="none",
           summary="Create an invitation for each of many people", status=201,
           secret=True)  # fmt: skip
def create_invitations(
    ctx: ContestContext, request: InvitationsCreate
) -> Items[InvitationWithCode]:
    """Create an invitation for each person, or none. The response holds their codes, once."""
    terms = request.model_dump(exclude={"people"})
    new = [invitations.NewInvitation(**person.model_dump(), **terms) for person in request.people]
    created = invitations.invite_all(ctx.service, ctx.contest.id, new, by=ctx.caller)
    return Items(items=tuple(_with_code(ctx.service, *each) for each in created))


def _with_code(service: Service, invitation: entities.Invitation, code: str) -> InvitationWithCode:
    public = service.public_url
    url = f"{public}/join#{code}" if public else None
    return InvitationWithCode.model_validate({**asdict(invitation), "code": code, "url": url})


@operation("DELETE", _INVITATIONS + "/{id}", id="revokeInvitation",
           permission="invitation.manage",
           cost="quick", records="none", summary="Revoke an invitation")  # fmt: skip
def revoke_invitation(ctx: ContestContext, invitation: Id) -> Invitation:
    """Revoke an invitation, immediately and permanently. Tokens it gave stay valid."""
    revoked = invitations.revoke_invitation(ctx.service, ctx.contest.id, invitation, by=ctx.caller)
    return Invitation.model_validate(revoked)


@operation("POST", "/invitations/accept", id="acceptInvitation", permission="invitation.accept",
           cost="passwords", records="none",
           summary="Accept an invitation", status=201, secret=True)  # fmt: skip
def accept_invitation(ctx: Context, request: InvitationAccept) -> Membership:
    """Create a user, and a token with the invitation's role in its contest; needs no token.

    With a token the caller's user accepts it. A code that is unknown, used up, revoked or expired
    is not found. Where ``waits`` is true, the token is a viewer's until an organizer approves it.
    """
    accepted = invitations.accept(
        ctx.service, request.code, user=request.user, name=request.name,
        password=request.password, by=ctx.caller,
    )  # fmt: skip
    return Membership(
        contest=accepted.contest,
        user=accepted.user.id,
        name=accepted.user.name,
        created_at=accepted.user.created_at,
        role=accepted.role,
        waits=accepted.waits,
        expires_at=accepted.token.expires_at,
        token=accepted.text,
    )


@operation("GET", _REQUESTS, id="listJoinRequests", permission="invitation.manage", cost="quick",
           summary="List requests to join", page_size=100,
           command=Command(
               "contest join-requests", columns=("id", "user", "role", "created_at", "invitation"),
               before={"approveJoinRequest": Option("--approve", metavar="REQUEST",
                                                    help="First let this person take part."),
                       "rejectJoinRequest": Option("--reject", metavar="REQUEST",
                                                   help="First reject this person permanently.")})
)  # fmt: skip
def list_join_requests(ctx: ContestContext, page: PageRequest) -> Page[Applicant]:
    """Return the people who wait for approval, longest first.

    $ agon contest join-requests
        List the people who wait for approval to join ID, or approve or reject one.

        Until they are approved, their tokens open what is public.

          agon contest join-requests spring
          agon contest join-requests spring --approve 9XfEr2bmT0aBq8f0m1vYzw
    """
    with ctx.service.store.read() as session:
        stored = session.join_requests.page(
            ctx.contest.no, after=page.after(str), limit=page.sought
        )
    return page.page(stored, key=lambda request: request.id, item=Applicant.model_validate)


@operation("POST", _REQUESTS + "/{id}/approve", id="approveJoinRequest",
           permission="invitation.manage",
           cost="quick", records="none", summary="Approve a request to join")  # fmt: skip
def approve_join_request(ctx: ContestContext, request: Id) -> Applicant:
    """Let a person take part: the token that the person has gets the role of the invitation."""
    approved = join_requests.approve(ctx.service, ctx.contest.id, request, by=ctx.caller)
    return Applicant.model_validate(approved)


@operation("DELETE", _REQUESTS + "/{id}", id="rejectJoinRequest",
           permission="invitation.manage",
           cost="quick", records="none", summary="Reject a request to join")  # fmt: skip
def reject_join_request(ctx: ContestContext, request: Id) -> Applicant:
    """Reject a person: the token that the person has is revoked."""
    rejected = join_requests.reject(ctx.service, ctx.contest.id, request, by=ctx.caller)
    return Applicant.model_validate(rejected)


class Invitations(Noun):
    """Invitations to contests."""

    list = list_invitations
    create = create_invitation
    create_all = create_invitations
    revoke = revoke_invitation
    accept = accept_invitation
    requests = list_join_requests
    approve = approve_join_request
    reject = reject_join_request
