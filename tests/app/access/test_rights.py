"""Test the rights of a caller: each in its contests, several of them together."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from agon.app.access.permissions import (
    ACTIONS,
    INSTANCE_WIDE,
    ROLES,
    acting,
    allow,
    caller_with,
    joint_span,
    permits,
    view_of,
    widest_span,
)
from agon.entities.access import Caller, Everywhere, Right, Role, Span
from agon.entities.contests import Contest
from agon.errors import Forbidden, NotFound

SPRING = Contest(
    no=1, id="spring", discipline="arena", title="Spring", description="", visibility="public",
    series=None, season=None, state="frozen", edition="arena/sentience-1", overrides={},
    boards=("bots",), created_at=datetime(2026, 1, 1, tzinfo=UTC), seq=9, head=b"", frozen_at=5,
)  # fmt: skip
AUTUMN = replace(SPRING, no=2, id="autumn")
SECRET = replace(SPRING, no=3, id="secret", visibility="private")
HIDDEN = replace(SECRET, no=4, id="hidden")
CONTESTS = (SPRING, AUTUMN, SECRET, HIDDEN)
SPANS: tuple[Span, ...] = (
    (), ("spring",), ("secret",), ("autumn", "hidden"), Everywhere.PUBLIC, Everywhere.ALL,
)  # fmt: skip
SCOPES = ((), ("records",), ("contest.read", "vote"))
RIGHTS = [
    Right(role=role, contests=span, scopes=scopes)
    for role, span, scopes in product(ROLES, SPANS, SCOPES)
]
NOBODY = Caller(name="user:ada", user="ada", role=None)


def of(*rights: Right, created: Iterable[str] = ()) -> Caller:
    """Return a caller with rights."""
    return replace(caller_with(NOBODY, rights), created=frozenset(created))


def held(role: Role, *contests: str) -> Right:
    """Return a role in named contests."""
    return Right(role=role, contests=contests)


def naive(right: Right, action: str, contest: Contest | None) -> bool:
    """Return whether a right permits an action, in the words of the documentation."""
    if "anonymous" in ACTIONS[action]:
        return True
    scoped = (
        not right.scopes
        or action in right.scopes
        or action.split(".", maxsplit=1)[0] in right.scopes
    )
    if right.role not in ACTIONS[action] or not scoped:
        return False
    if contest is None:
        return action not in INSTANCE_WIDE or right.contests is Everywhere.ALL
    if right.contests is Everywhere.ALL:
        return True
    if right.contests is Everywhere.PUBLIC:
        return contest.visibility == "public"
    return contest.id in right.contests


@pytest.mark.parametrize("contest", [None, *CONTESTS], ids=lambda each: each and each.id)
def test_several_rights_permit_what_one_of_them_does(contest: Contest | None) -> None:
    """Every role, span and scope, alone and each with each: nothing is lost or gained."""
    alone = {action: [naive(right, action, contest) for right in RIGHTS] for action in ACTIONS}
    for action, expected in alone.items():
        assert [permits(of(right), action, contest=contest) for right in RIGHTS] == expected
    for first, second in product(range(0, len(RIGHTS), 7), range(0, len(RIGHTS), 5)):
        both = of(RIGHTS[first], RIGHTS[second])
        for action in ("records.add", "vote.add", "submission.add", "contest.manage", "me.read"):
            expected_of_both = alone[action][first] or alone[action][second]
            assert permits(both, action, contest=contest) == expected_of_both


@pytest.mark.parametrize("right", RIGHTS, ids=str)
def test_a_private_contest_is_seen_only_by_those_for_whom_it_is(right: Right) -> None:
    """An absent limit is none: without the contest in a span there is nothing to read."""
    for contest in (SECRET, HIDDEN):
        covered = right.contests is Everywhere.ALL or (
            isinstance(right.contests, tuple) and contest.id in right.contests
        )
        reads = not right.scopes or "contest.read" in right.scopes
        try:
            view_of(contest, of(right))
            is_seen = True
        except NotFound:
            is_seen = False
        assert is_seen == (covered and reads and right.role != "worker")


def test_a_person_acts_in_each_contest_as_who_they_are_there() -> None:
    """Use cases limit a judge to own votes and a participant to own submissions by this role."""
    ada = of(held("participant", "spring"), held("judge", "autumn"))
    assert acting(ada, "work.judge", contest=SPRING).role == "participant"
    assert acting(ada, "work.judge", contest=AUTUMN).role == "judge"
    assert acting(ada, "work.judge", contest=AUTUMN).rights != ada.rights or ada.role == "judge"
    with pytest.raises(Forbidden, match="not valid for the contest autumn"):
        allow(ada, "submission.add", contest=AUTUMN)
    with pytest.raises(Forbidden, match="not valid for the contest spring"):
        allow(ada, "vote.add", contest=SPRING)


def test_an_organizer_of_one_contest_is_a_participant_in_another() -> None:
    """The strongest role of a person is not that of every contest."""
    olga = of(held("organiser", "spring"), held("participant", "autumn"))
    assert olga.role == "organiser"
    in_autumn = acting(olga, "submission.add", contest=AUTUMN)
    assert in_autumn.role == "participant"
    assert view_of(AUTUMN, in_autumn).staff is False
    assert view_of(SPRING, in_autumn).staff is True  # the other right stays
    assert acting(olga, "submission.add", contest=SPRING).role == "organiser"


def test_a_right_with_scopes_keeps_them_next_to_others() -> None:
    """A token for a script does not widen to what the person's other tokens may do there."""
    olga = of(
        Right(role="organiser", contests=("spring",), scopes=("records",)),
        held("participant", "spring"),
    )
    assert permits(olga, "records.add", contest=SPRING)
    assert not permits(olga, "contest.manage", contest=SPRING)
    assert permits(olga, "submission.add", contest=SPRING)


def test_a_contest_that_was_created_is_covered_only_by_a_right_in_public_ones() -> None:
    """A token for named contests stays as narrow as it is."""
    span = Right(role="organiser", contests=Everywhere.PUBLIC)
    assert permits(of(span, created=["secret"]), "contest.manage", contest=SECRET)
    assert not permits(of(span), "contest.manage", contest=SECRET)
    assert not permits(of(span, created=["secret"]), "contest.manage", contest=HIDDEN)
    named = of(held("organiser", "spring"), created=["secret"])
    assert not permits(named, "contest.manage", contest=SECRET)


def test_the_error_is_of_the_right_that_lacks_least() -> None:
    """Who lacks a scope needs no other role."""
    olga = of(
        held("viewer", "spring"),
        Right(role="organiser", contests=("spring",), scopes=("export",)),
    )
    with pytest.raises(Forbidden, match=r"limited to export and does not allow records\.add"):
        allow(olga, "records.add", contest=SPRING)


@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        ([held("viewer")], ()),
        ([held("judge", "b", "a"), held("viewer", "c", "a")], ("a", "b", "c")),
        ([held("judge", "b"), Right(role="viewer", contests=Everywhere.PUBLIC)], Everywhere.PUBLIC),
        ([Right(role="operator", contests=Everywhere.ALL), held("judge", "b")], Everywhere.ALL),
    ],
)
def test_the_contests_of_several_rights_are_stated_together(
    rights: list[Right], expected: Span
) -> None:
    """``GET /me`` names all contests of a session."""
    assert joint_span(rights) == expected


def test_only_operators_and_workers_hold_a_role_everywhere() -> None:
    """Whoever creates a token for another role names contests, or gets the public ones."""
    assert [role for role in ROLES if widest_span(role) is Everywhere.ALL] == ["worker", "operator"]
