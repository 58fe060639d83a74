"""The people of a contest: who takes part, invitations, and requests to join."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from agon.api.models.contests import Contest
from agon.api.models.invitations import (
    InvitationCreate,
    InvitationsCreate,
    InvitationWithCode,
)
from agon.api.models.members import MemberExtension, MemberReason
from agon.app.access.people_list import read_people
from agon.disciplines import discipline
from agon.errors import AgonError, NotFound
from agon.web import addresses
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import SHOWN, act, contest_page, listing
from agon.web.form_times import ZONE, zoned_times
from agon.web.page import Redirect, SitePage, Visit

_FIELDS: Final = frozenset({"role", "user", "max_uses", "approval", "expires_at", "note"})
_TERMS: Final = frozenset({"member", "ends_at", "problem", "attempts", "reason", "people"})
_PROBLEMS: Final = 500


def people(
    visit: Visit,
    *,
    error: Exception | FormErrors | None = None,
    code: str = "",
    created: Sequence[InvitationWithCode] = (),
) -> SitePage:
    """Return the invitations, and the form that creates one."""
    contest = visit.contest()
    values = {
        "invitations": listing(visit, visit.api.invitations.list(contest.id), oldest_first=True),
        "waiting": list(islice(visit.api.invitations.requests(contest.id), SHOWN)),
        "code": code,
        "created": created,
        "members": listing(visit, visit.api.members.list(contest.id).items, oldest_first=True),
        "problems": _problems(visit, contest),
        "given": {} if code or created else visit.form,
    }
    return contest_page(
        visit, contest, "people", values, error=error, names=_FIELDS | _TERMS,
        data=addresses.api("contests", contest.id, "members"),
    )  # fmt: skip


def invite(visit: Visit) -> SitePage | Redirect:
    """Create an invitation; its code is shown once."""
    contest = visit.contest()
    fields = {name: text for name, text in visit.form.items() if name in _FIELDS and text.strip()}
    times, wrong = zoned_times(
        {"expires_at": fields.get("expires_at", "")}, visit.form.get(ZONE, "")
    )
    if wrong:
        return people(visit, error=FormErrors(fields=wrong))
    fields |= times
    try:
        request = InvitationCreate.model_validate(fields)
        created = visit.api.invitations.create(contest.id, request)
    except (AgonError, ValidationError) as error:
        return people(visit, error=error)
    return people(visit, code=created.code)


def invite_all(visit: Visit) -> SitePage | Redirect:
    """Create an invitation for each line of a list, or none; the links are shown once."""
    contest = visit.contest()
    times, wrong = zoned_times(
        {"expires_at": visit.form.get("expires_at", "")}, visit.form.get(ZONE, "")
    )
    if wrong:
        return people(visit, error=FormErrors(fields=wrong))
    fields = {
        name: visit.form[name] for name in ("role", "approval") if visit.form.get(name, "").strip()
    }
    try:
        invited = read_people(visit.form.get("people", ""))
        request = InvitationsCreate.model_validate({**fields, **times, "people": invited})
        created = visit.api.invitations.create_all(contest.id, request)
    except (AgonError, ValidationError) as error:
        return people(visit, error=error)
    return people(visit, created=created.items)


def change(visit: Visit) -> SitePage | Redirect:
    """Withdraw or reinstate a person, allow one more time or attempts, or hide the name.

    Raises:
        NotFound: there is no such action.
    """
    contest, members, form = visit.contest(), visit.api.members, visit.form
    user, reason = form.get("member", "").strip(), form.get("reason", "").strip()
    times, wrong = zoned_times({"ends_at": form.get("ends_at", "")}, form.get(ZONE, ""))
    actions: dict[str, Callable[[], Any]] = {
        "withdraw": lambda: members.withdraw(contest.id, user, MemberReason(reason=reason)),
        "reinstate": lambda: members.reinstate(contest.id, user, MemberReason(reason=reason)),
        "hide": lambda: members.hide(contest.id, user, MemberReason(reason=reason)),
        "unhide": lambda: members.unhide(contest.id, user, MemberReason(reason=reason)),
        "extend": lambda: members.extend(
            contest.id,
            user,
            MemberExtension.model_validate(
                {
                    "attempts": form.get("attempts", "").strip() or None,
                    "problem": form.get("problem", "") or None,
                    "reason": reason,
                    **times,
                }
            ),
        ),
    }
    action = actions.get(visit.path["action"])
    if action is None:
        raise NotFound("there is no such action; withdraw, reinstate, extend, hide or unhide")
    if not user:
        wrong["member"] = ("No person is named; write the id of a person of the contest.",)
    if wrong:
        return people(visit, error=FormErrors(fields=wrong))
    return act(
        action,
        following=f"{addresses.desk(contest.id, 'people')}#members",
        otherwise=lambda error: people(visit, error=error),
    )


def revoke(visit: Visit) -> SitePage | Redirect:
    """Revoke an invitation; those who accepted it stay."""
    contest = visit.contest()
    return act(
        lambda: visit.api.invitations.revoke(contest.id, visit.path["id"]),
        following=addresses.desk(contest.id, "people"),
        otherwise=lambda error: people(visit, error=error),
    )


def decide(visit: Visit) -> SitePage | Redirect:
    """Approve or reject a person who accepted an invitation that asks for approval.

    Raises:
        NotFound: there is no such action.
    """
    contest, invitations = visit.contest(), visit.api.invitations
    actions = {"approve": invitations.approve, "reject": invitations.reject}
    action = actions.get(visit.path["action"])
    if action is None:
        raise NotFound("there is no such action; approve or reject")
    return act(
        lambda: action(contest.id, visit.path["id"]),
        following=addresses.desk(contest.id, "people"),
        otherwise=lambda error: people(visit, error=error),
    )


def _problems(visit: Visit, contest: Contest) -> list[tuple[str, str]]:
    """Return the choices of what extra time is for; none where the contest has no problems."""
    if discipline(contest.discipline).problems is None:
        return []
    listed = islice(visit.api.problems.list(contest.id), _PROBLEMS)
    frozen = [each for each in listed if each.freeze_started_at and not each.revealed]
    return [("", "the contest"), *((each.id, f"the problem {each.title}") for each in frozen)]
