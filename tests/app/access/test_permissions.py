"""Who may do what: one table, and views that end at the freeze."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agon.app.access.permissions import (
    ACTIONS,
    ANONYMOUS,
    INSTANCE_WIDE,
    allow,
    covers,
    find_view,
    permits,
    view_of,
)
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Forbidden, NotFound, Unauthenticated
from fakes.service import JUDGE, OPERATOR, ORGANISER, PARTICIPANT, VIEWER, WORKER

CONTEST = Contest(
    no=1, id="spring", discipline="arena", title="Spring", description="", visibility="public",
    series=None, season=None, state="frozen", edition="arena/sentience-1", overrides={},
    boards=("bots",), created_at=datetime(2026, 1, 1, tzinfo=UTC), seq=9, head=b"", frozen_at=5,
)  # fmt: skip
PRIVATE = replace(CONTEST, visibility="private")

MAY = {
    None: {"contest.read"},
    "viewer": {"contest.read", "me.read"},
    "participant": {
        "contest.read", "submission.add", "submission.read-own", "case.appeal", "me.read",
    },
    "judge": {"contest.read", "vote.add", "match.read", "case.appeal", "me.read"},
    "worker": {"contest.read", "job.read", "job.work", "queue.read", "me.read"},
}  # fmt: skip


@pytest.mark.parametrize("caller", [ANONYMOUS, VIEWER, PARTICIPANT, JUDGE, WORKER])
def test_roles_beside_the_staff_may_do_what_is_listed_and_nothing_else(caller: Caller) -> None:
    """A new action must not open itself to everybody by an oversight."""
    assert {action for action in ACTIONS if permits(caller, action)} == MAY[caller.role]


def test_organisers_may_do_all_but_what_is_about_the_instance() -> None:
    """Who runs a contest does not hand out tokens or stop everybody's queue."""
    refused = {action for action in ACTIONS if not permits(ORGANISER, action)}
    assert refused == INSTANCE_WIDE | {"job.work"}
    assert all(permits(OPERATOR, action) for action in ACTIONS)


def test_without_a_token_it_is_unauthenticated_and_with_a_wrong_one_forbidden() -> None:
    """HTTP answers 401 to the one and 403 to the other."""
    with pytest.raises(Unauthenticated, match=r"needs a token; .* --token-file F"):
        allow(ANONYMOUS, "records.add")
    with pytest.raises(Forbidden, match="organiser"):
        allow(VIEWER, "records.add")


def test_an_unknown_action_is_an_error_of_ours() -> None:
    """A misspelt action must not pass."""
    with pytest.raises(NotFound, match=r"did you mean records\.add"):
        allow(OPERATOR, "record.add")


def test_scopes_narrow_a_role_by_action_or_by_its_first_part() -> None:
    """A token for a script does no more than the script."""
    narrow = replace(ORGANISER, scopes=("records", "change.read"))
    assert {action for action in ACTIONS if permits(narrow, action)} == {
        "contest.read", "records.add", "records.read", "change.read",
    }  # fmt: skip
    assert not covers(("record",), "records.add")


def test_a_token_for_some_contests_is_good_for_no_others() -> None:
    """Nor for the whole instance, whatever its role."""
    limited = replace(OPERATOR, contests=("spring",))
    assert permits(limited, "contest.manage", contest=CONTEST)
    assert not permits(limited, "contest.manage", contest="autumn")
    assert not permits(limited, "contest.create", contest="autumn")
    assert not any(permits(limited, action) for action in INSTANCE_WIDE)


@pytest.mark.parametrize("caller", [ANONYMOUS, VIEWER, PARTICIPANT, JUDGE, WORKER])
def test_others_than_staff_see_a_frozen_contest_up_to_its_freeze(caller: Caller) -> None:
    """Nothing later leaks, whatever is asked."""
    view = view_of(CONTEST, caller)
    assert (view.until, view.staff) == (5, False)


@pytest.mark.parametrize(
    "caller",
    [replace(ORGANISER, contests=("autumn",)), replace(ORGANISER, scopes=("records",))],
)
def test_staff_of_another_contest_or_for_another_purpose_see_what_the_public_sees(
    caller: Caller,
) -> None:
    """An organiser is staff where the token says so."""
    assert view_of(CONTEST, caller).until == 5
    assert view_of(CONTEST, ORGANISER).until is None


def test_after_the_end_the_public_sees_the_final_result() -> None:
    """The end undoes the freeze, and fixes what is seen."""
    final = replace(CONTEST, state="final", frozen_at=None, finalized_at=8)
    assert view_of(final, ANONYMOUS).until == 8


@pytest.mark.parametrize(
    "caller", [ANONYMOUS, WORKER, replace(VIEWER, contests=("autumn",)),
               replace(VIEWER, scopes=("metrics",))],
)  # fmt: skip
def test_a_private_contest_is_not_there_for_who_may_not_see_it(caller: Caller) -> None:
    """That it exists is not told, so it is no Forbidden."""
    with pytest.raises(NotFound):
        view_of(PRIVATE, caller)


@pytest.mark.parametrize("caller", [VIEWER, PARTICIPANT, JUDGE, ORGANISER, OPERATOR])
def test_who_has_a_token_for_a_private_contest_sees_it(caller: Caller) -> None:
    """That is what such tokens are for."""
    assert view_of(PRIVATE, caller).contest is PRIVATE


def test_a_private_contest_and_none_are_refused_in_the_same_words(service: Service) -> None:
    """A suggestion of a name near by would tell what is hidden."""
    new = NewContest(id="secret", discipline="arena", title="S", visibility="private")
    create(service, new, by=ORGANISER)
    with service.store.read() as session:
        with pytest.raises(NotFound) as hidden:
            find_view(session, "secret", ANONYMOUS)
        with pytest.raises(NotFound) as missing:
            find_view(session, "secreu", ANONYMOUS)
        assert find_view(session, "secret", ORGANISER).staff
    assert str(hidden.value) == str(missing.value).replace("secreu", "secret")
