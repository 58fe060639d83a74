"""Test permissions: one table, and views that end at the freeze."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agon.app.access.permissions import (
    ACTIONS,
    ANONYMOUS,
    INSTANCE_WIDE,
    allow,
    allow_new,
    covers,
    find_view,
    permits,
    view_of,
)
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest, Event
from agon.errors import Forbidden, NotFound, Unauthenticated
from fakes.service import JUDGE, OPERATOR, ORGANISER, PARTICIPANT, VIEWER, WORKER

CONTEST = Contest(
    no=1, id="spring", discipline="arena", title="Spring", description="", visibility="public",
    series=None, season=None, state="frozen", edition="arena/sentience-1", overrides={},
    boards=("bots",), created_at=datetime(2026, 1, 1, tzinfo=UTC), seq=9, head=b"", frozen_at=5,
)  # fmt: skip
PRIVATE = replace(CONTEST, visibility="private")

MAY = {
    None: {"contest.read", "invitation.accept"},
    "viewer": {"contest.read", "invitation.accept", "me.read"},
    "participant": {
        "contest.read", "invitation.accept", "submission.add", "submission.read-own",
        "case.appeal", "me.read", "bot.manage", "work.judge", "work.hand-in",
    },
    "judge": {
        "contest.read", "invitation.accept", "vote.add", "match.read", "case.appeal", "me.read",
        "work.judge", "work.hand-in",
    },
    "worker": {
        "contest.read", "invitation.accept", "job.read", "job.work", "queue.read", "me.read",
    },
}  # fmt: skip


@pytest.mark.parametrize("caller", [ANONYMOUS, VIEWER, PARTICIPANT, JUDGE, WORKER])
def test_roles_other_than_staff_may_do_only_the_listed_actions(caller: Caller) -> None:
    """A new action must not be permitted to all by mistake."""
    assert {action for action in ACTIONS if permits(caller, action)} == MAY[caller.role]


def test_organizers_may_do_all_actions_of_a_contest() -> None:
    """Organizers of a contest neither create tokens nor pause the queue of all."""
    forbidden = {action for action in ACTIONS if not permits(ORGANISER, action)}
    assert forbidden == INSTANCE_WIDE | {"job.work"}
    assert all(permits(OPERATOR, action) for action in ACTIONS)


def test_a_missing_token_is_unauthenticated_and_a_wrong_one_forbidden() -> None:
    """HTTP responds with 401 and 403."""
    with pytest.raises(Unauthenticated, match=r"needs a token; .* --token-file F"):
        allow(ANONYMOUS, "records.add")
    with pytest.raises(Forbidden, match="organiser"):
        allow(VIEWER, "records.add")


def test_an_unknown_action_is_a_programming_error() -> None:
    """A misspelt action must not be permitted."""
    with pytest.raises(NotFound, match=r"did you mean records\.add"):
        allow(OPERATOR, "record.add")


def test_scopes_narrow_a_role_by_action_or_by_its_first_part() -> None:
    """A token for a script has no more permissions than the script needs."""
    narrow = replace(ORGANISER, scopes=("records", "change.read"))
    assert {action for action in ACTIONS if permits(narrow, action)} == {
        "contest.read", "invitation.accept", "records.add", "records.read", "change.read",
    }  # fmt: skip
    assert not covers(("record",), "records.add")


def test_a_token_for_some_contests_is_rejected_for_others() -> None:
    """It is also rejected for the instance, with any role."""
    limited = replace(OPERATOR, contests=("spring",))
    assert permits(limited, "contest.manage", contest=CONTEST)
    assert not permits(limited, "contest.manage", contest=replace(CONTEST, id="autumn"))
    allow_new(limited, "contest.create", "spring")
    with pytest.raises(Forbidden, match="not valid for the contest autumn"):
        allow_new(limited, "contest.create", "autumn")
    assert not any(permits(limited, action) for action in INSTANCE_WIDE)


@pytest.mark.parametrize("caller", [ANONYMOUS, VIEWER, PARTICIPANT, JUDGE, WORKER])
def test_callers_other_than_staff_see_a_frozen_contest_up_to_its_freeze(caller: Caller) -> None:
    """No request discloses later entries."""
    view = view_of(CONTEST, caller)
    assert (view.until, view.staff) == (5, False)


@pytest.mark.parametrize(
    "caller",
    [replace(ORGANISER, contests=("autumn",)), replace(ORGANISER, scopes=("records",))],
)
def test_staff_of_another_contest_or_for_another_purpose_see_what_the_public_sees(
    caller: Caller,
) -> None:
    """An organizer is staff of the contests that the token names."""
    assert view_of(CONTEST, caller).until == 5
    assert view_of(CONTEST, ORGANISER).until is None


def test_who_sees_an_event() -> None:
    """All see public ones, staff all, and a user those about the user's own."""
    at = datetime(2026, 1, 2, tzinfo=UTC)
    public = Event(no=1, contest_no=1, seq=1, at=at, kind="contest-frozen", body={})
    own = replace(public, kind="submission-judged", staff=True, user=PARTICIPANT.user)
    before = {"visibility": "private"}
    secret = replace(public, kind="contest-edited", body=before)
    open_edit = replace(public, kind="contest-edited", body={"visibility": "public"})
    events = (public, own, secret, open_edit)

    def seen(contest: Contest, caller: Caller) -> list[bool]:
        view = view_of(contest, caller)
        return [view.sees(event) for event in events]

    assert seen(CONTEST, ANONYMOUS) == [True, False, False, True]
    assert seen(CONTEST, JUDGE) == [True, False, False, True]
    assert seen(CONTEST, PARTICIPANT) == [True, True, False, True]
    assert seen(CONTEST, ORGANISER) == [True, True, True, True]
    assert seen(PRIVATE, JUDGE) == [True, False, True, True]


def test_after_the_end_the_public_sees_the_final_result_and_what_amends_it() -> None:
    """The end removes the freeze; what is entered later are corrections, which are public."""
    final = replace(CONTEST, state="final", frozen_at=None, finalized_at=8)
    assert view_of(final, ANONYMOUS).until is None


@pytest.mark.parametrize(
    "caller", [ANONYMOUS, WORKER, replace(VIEWER, contests=("autumn",)),
               replace(VIEWER, scopes=("metrics",))],
)  # fmt: skip
def test_a_private_contest_is_not_found_without_permission(caller: Caller) -> None:
    """Its existence is not disclosed, so the error is not Forbidden."""
    with pytest.raises(NotFound):
        view_of(PRIVATE, caller)


@pytest.mark.parametrize("caller", [VIEWER, PARTICIPANT, JUDGE, ORGANISER, OPERATOR])
def test_a_token_for_a_private_contest_gives_access(caller: Caller) -> None:
    """Such tokens exist for this."""
    assert view_of(PRIVATE, caller).contest is PRIVATE


def test_a_private_and_an_unknown_contest_have_the_same_error(service: Service) -> None:
    """A suggestion of a similar name would disclose a hidden one."""
    new = NewContest(id="secret", discipline="arena", title="S", visibility="private")
    create(service, new, by=ORGANISER)
    now = service.clock()
    with service.store.read() as session:
        with pytest.raises(NotFound) as hidden:
            find_view(session, "secret", ANONYMOUS, now=now)
        with pytest.raises(NotFound) as missing:
            find_view(session, "secreu", ANONYMOUS, now=now)
        assert find_view(session, "secret", ORGANISER, now=now).staff
    assert str(hidden.value) == str(missing.value).replace("secreu", "secret")
