"""People of a contest: who takes part, and what differs for one of them."""

from collections.abc import Callable

from agon.api.command import Command, Option
from agon.api.models.base import Items
from agon.api.models.members import Member, MemberExtension, MemberReason
from agon.api.operation import ContestContext, operation
from agon.api.parameters import FreeId
from agon.api.transport import Noun
from agon.app.contests import members
from agon.entities import members as entities

_MEMBERS = "/contests/{contest}/members"
_REASON = Option(required=True)


@operation("GET", _MEMBERS, id="listMembers", permission="invitation.manage", cost="reads",
           summary="List people",
           command=Command("contest people", rows="members", columns=(
               "user", "name", "role", "joined_at", "seen_at", "submissions", "rank")),
           )  # fmt: skip
def list_members(ctx: ContestContext) -> Items[Member]:
    """Return everyone who joined or submitted, with role, last visit, submissions and rank, by id.

    $ agon contest people
        List the people of ID: since when, in which role, when they were seen last, what they sent.

        Ranks are those of the newest default board.

          agon contest people spring
    """
    listed = members.members(ctx.service, ctx.view)
    return Items(items=tuple(map(Member.model_validate, listed)))


@operation("GET", _MEMBERS + "/{id}", id="getMember", permission="invitation.manage", cost="reads",
           summary="Get a person")  # fmt: skip
def get_member(ctx: ContestContext, user: FreeId) -> Member:
    """Return a person of a contest, with what differs for the person."""
    return Member.model_validate(members.member(ctx.service, ctx.view, user))


@operation("POST", _MEMBERS + "/{id}/withdraw", id="withdrawMember",
           permission="invitation.manage",
           cost="reads", records="none", summary="Withdraw a person",
           command=Command("contest withdraw", options={"reason": _REASON},
               says="{user} is withdrawn from {contest}"))  # fmt: skip
def withdraw_member(ctx: ContestContext, user: FreeId, request: MemberReason) -> Member:
    """Accept nothing more from a person. What was sent keeps counting; a change set voids it.

    $ agon contest withdraw
        Accept nothing more from USER in ID. What USER has sent keeps counting.

        agon contest void takes it out of the boards.

          agon contest withdraw spring ada --reason 'asked to leave'
    """
    return _change(members.withdraw, ctx, user, request)


@operation("POST", _MEMBERS + "/{id}/reinstate", id="reinstateMember",
           permission="invitation.manage",
           cost="reads", records="none", summary="Reinstate a person",
           command=Command("contest reinstate", options={"reason": _REASON},
               says="{user} takes part in {contest} again"))  # fmt: skip
def reinstate_member(ctx: ContestContext, user: FreeId, request: MemberReason) -> Member:
    """Accept again what a withdrawn person sends.

    $ agon contest reinstate
        Accept again in ID what USER sends, who was withdrawn.

        The end of ID and its rules hold as for everyone.

          agon contest reinstate spring ada --reason 'came back'
    """
    return _change(members.reinstate, ctx, user, request)


@operation("POST", _MEMBERS + "/{id}/hide", id="hideMember",
           permission="invitation.manage",
           cost="reads", records="none", summary="Hide a person's name",
           command=Command("contest hide", options={"reason": _REASON},
               says="the name of {user} is hidden in {contest}"))  # fmt: skip
def hide_member(ctx: ContestContext, user: FreeId, request: MemberReason) -> Member:
    """Show a person's name on no board, also of the past. Id, rank and score stay.

    $ agon contest hide
        Show the name of USER on no board of ID, also of the past. Id, rank and score stay.

        The records keep the name; organizers read them.

          agon contest hide spring ada --reason 'asked for it'
    """
    return _change(members.hide, ctx, user, request)


@operation("POST", _MEMBERS + "/{id}/unhide", id="unhideMember",
           permission="invitation.manage",
           cost="reads", records="none", summary="Show a person's name again",
           command=Command("contest unhide", options={"reason": _REASON},
               says="the name of {user} is shown in {contest}"))  # fmt: skip
def unhide_member(ctx: ContestContext, user: FreeId, request: MemberReason) -> Member:
    """Show a person's name again where the contest shows names.

    $ agon contest unhide
        Show the name of USER again on the boards of ID, if ID shows names.

          agon contest unhide spring ada --reason 'agreed'
    """
    return _change(members.unhide, ctx, user, request)


@operation("POST", _MEMBERS + "/{id}/extend", id="extendMember",
           permission="invitation.manage",
           cost="reads", records="none", summary="Extend time or attempts for a person",
           command=Command("contest extend", options={"ends_at": Option("--until", metavar="T"),
               "attempts": Option("--attempts", metavar="N"), "reason": _REASON},
               any_of=("nothing to change", "ends_at", "attempts"),
               says="{user} has more in {contest}"))  # fmt: skip
def extend_member(ctx: ContestContext, user: FreeId, request: MemberExtension) -> Member:
    """Set a later end of the contest or of a problem, or further submissions, for one person.

    A problem that is frozen takes submissions of this person only where the request names it. A
    submission in extra time counts as one before the freeze; until the end of all extra time,
    verdicts show no more than before the freeze, and the problem cannot be revealed.

    $ agon contest extend
        Let USER add to ID after its end, to a problem after its freeze, or submit more often.

        A problem that is frozen takes submissions of USER only with --problem. A submission in
        extra time counts as one before the freeze, and the problem is revealed after it only.

          agon contest extend spring ada --until 2026-12-24T19:00Z --reason 'power cut'
          agon contest extend autumn ada --problem totient --until 2026-12-24T19:00Z --reason sick
          agon contest extend autumn bob --attempts 2 --reason 'the judge was down'
    """
    extension = members.Extension(**request.model_dump(exclude={"reason"}))
    changed = members.extend(
        ctx.service, ctx.contest.id, user, extension, reason=request.reason, by=ctx.caller
    )
    return Member.model_validate(changed)


def _change(
    change: Callable[..., entities.Member], ctx: ContestContext, user: str, request: MemberReason
) -> Member:
    """Return a person as a change leaves it that needs nothing but a reason."""
    made = change(ctx.service, ctx.contest.id, user, reason=request.reason, by=ctx.caller)
    return Member.model_validate(made)


class Members(Noun):
    """People of a contest."""

    list = list_members
    get = get_member
    withdraw = withdraw_member
    reinstate = reinstate_member
    hide = hide_member
    unhide = unhide_member
    extend = extend_member
