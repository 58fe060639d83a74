"""Organizers see who takes part, and change what is accepted from one person."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agon.app.access.audit import MAX_REASON_CHARACTERS
from agon.app.access.invitations import NewInvitation, accept, invite, invite_all
from agon.app.access.permissions import ANONYMOUS, View
from agon.app.access.tokens import authenticate
from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.members import Extension, extend, member, members, reinstate, withdraw
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import AgonError, Conflict, NotFound, Unreadable
from agon.store.people.members import Members
from fakes.autumn import RIGHT, autumn, judged
from fakes.service import ORGANISER

WHY = "power cut"


def join(service: Service, user: str) -> Caller:
    """Accept an invitation as a new user."""
    _, code = invite(service, "autumn", NewInvitation(), by=ORGANISER)
    accepted = accept(service, code, user=user, name=user.title(), by=ANONYMOUS)
    return authenticate(service, accepted.text)


def send(service: Service, problem: str, by: Caller, source: str = RIGHT) -> str:
    """Submit a program as a participant."""
    content = SubmissionContent(user=str(by.user), problem=problem, content={"source": source})
    return submit(service, "autumn", content, by=by).id


def view(service: Service) -> View:
    """Return what the staff sees of the contest."""
    with service.store.read() as session:
        contest = session.contests.get("autumn")
    return View(contest=contest, until=None, staff=True)


@pytest.mark.exhaustive
def test_organizers_see_who_takes_part(either: Service) -> None:
    """With role, since when, last visit, submissions and rank; also those who sent nothing."""
    problem = autumn(either)
    ada, _ = join(either, "ada"), join(either, "bob")
    name = send(either, problem, ada)
    judged(either, name, problem)
    publish(either, "autumn")
    listed = {each.user: each for each in members(either, view(either))}
    assert list(listed) == ["ada", "bob"]
    assert (listed["ada"].submissions, listed["ada"].rank, listed["ada"].name) == (1, 1, "Ada")
    assert (listed["bob"].submissions, listed["bob"].rank, listed["bob"].role) == (
        0, None, "participant"
    )  # fmt: skip
    assert listed["ada"].joined_at is not None
    assert listed["ada"].seen_at is not None
    assert listed["bob"].terms is None
    assert {user: member(either, view(either), user) for user in listed} == listed


@pytest.mark.exhaustive
def test_one_person_is_read_alone(either: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contest may have a hundred thousand people, and a page shows one of them."""
    problem = autumn(either)
    ada = join(either, "ada")
    send(either, problem, ada)
    withdraw(either, "autumn", "ada", reason=WHY, by=ORGANISER)
    [listed] = members(either, view(either))
    monkeypatch.delattr(Members, "all_terms")
    assert member(either, view(either), "ada") == listed


def test_nothing_is_accepted_from_a_withdrawn_person_until_reinstated(service: Service) -> None:
    """What was sent before keeps counting."""
    problem = autumn(service)
    ada, bob = join(service, "ada"), join(service, "bob")
    send(service, problem, ada)
    assert withdraw(service, "autumn", "ada", reason=WHY, by=ORGANISER).submissions == 1
    with pytest.raises(Conflict, match=f"ada is withdrawn from autumn since .*{WHY}"):
        send(service, problem, ada, RIGHT + "\n# again\n")
    send(service, problem, bob)
    with pytest.raises(Conflict, match="undo that first"):
        withdraw(service, "autumn", "ada", reason=WHY, by=ORGANISER)
    reinstate(service, "autumn", "ada", reason="came back", by=ORGANISER)
    send(service, problem, ada, RIGHT + "\n# again\n")
    with pytest.raises(Conflict, match="not withdrawn"):
        reinstate(service, "autumn", "ada", reason=WHY, by=ORGANISER)


def test_one_person_has_more_time_than_the_others(either: Service) -> None:
    """Until that person's own end and no longer; a shorter time is refused with both times."""
    problem = autumn(either)
    ada, bob = join(either, "ada"), join(either, "bob")
    now = either.clock()
    edit(either, "autumn", {"ends_at": now + timedelta(hours=1)}, by=ORGANISER)
    until = now + timedelta(hours=2)
    extend(either, "autumn", "ada", Extension(ends_at=until), reason=WHY, by=ORGANISER)
    sooner = Extension(ends_at=now + timedelta(minutes=30))
    with pytest.raises(Unreadable, match="is not after that of autumn"):
        extend(either, "autumn", "ada", sooner, reason=WHY, by=ORGANISER)
    either.clock.at = now + timedelta(minutes=90)  # type: ignore[attr-defined]
    send(either, problem, ada)
    with pytest.raises(Conflict, match="autumn ended at"):
        send(either, problem, bob)
    either.clock.at = until  # type: ignore[attr-defined]
    with pytest.raises(Conflict, match="autumn ended for you at"):
        send(either, problem, ada, RIGHT + "\n# again\n")


def test_one_person_has_more_attempts_than_the_others(service: Service) -> None:
    """The rule ``max_submissions`` stays what it is for all others."""
    problem = autumn(service)
    ada, bob = join(service, "ada"), join(service, "bob")
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        session.contests.save(replace(contest, overrides={"max_submissions": 1}))
    for person in (ada, bob):
        send(service, problem, person)
    extend(service, "autumn", "ada", Extension(attempts=1), reason=WHY, by=ORGANISER)
    send(service, problem, ada, RIGHT + "\n# two\n")
    for person in (ada, bob):
        with pytest.raises(Conflict, match="max_submissions"):
            send(service, problem, person, RIGHT + "\n# three\n")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("user", "changed", "error", "message"),
    [
        ("", {}, Unreadable, "no person is named"),
        ("adda", {}, NotFound, "takes no part in autumn: did you mean ada"),
        ("ada", {"attempts": None}, Unreadable, "neither time nor attempts"),
        ("ada", {"attempts": -1}, Unreadable, "give 0 to 10,000"),
        ("ada", {"reason": " "}, Unreadable, "the reason has 1 to"),
        ("ada", {"reason": "x" * (MAX_REASON_CHARACTERS + 1)}, Unreadable, "the reason has 1 to"),
    ],
)
def test_what_says_too_little_is_refused(
    service: Service, user: str, changed: dict[str, Any], error: type[AgonError], message: str
) -> None:
    """Extra time for nobody, none at all, or without a reason."""
    autumn(service)
    join(service, "ada")
    given: dict[str, Any] = {"attempts": 1, "reason": WHY} | changed
    with pytest.raises(error, match=message):
        extend(service, "autumn", user, Extension(attempts=given["attempts"]),
               reason=given["reason"], by=ORGANISER)  # fmt: skip
    assert member(service, view(service), "ada").terms is None


def test_a_contest_without_an_end_needs_no_later_one(service: Service) -> None:
    """Nothing is stored that could surprise once it has an end."""
    autumn(service)
    join(service, "ada")
    later = Extension(ends_at=service.clock() + timedelta(days=1))
    with pytest.raises(Conflict, match="autumn has no end"):
        extend(service, "autumn", "ada", later, reason=WHY, by=ORGANISER)


def test_many_are_invited_at_once_or_none(service: Service) -> None:
    """Each has an own code, which works for that user alone."""
    autumn(service)
    new = [NewInvitation(user="ada", note="Ada"), NewInvitation(user="bob")]
    codes = [code for _, code in invite_all(service, "autumn", new, by=ORGANISER)]
    with pytest.raises(Conflict, match="for the user ada"):
        accept(service, codes[0], user="bob", by=ANONYMOUS)
    assert accept(service, codes[1], user="bob", by=ANONYMOUS).user.id == "bob"
    with pytest.raises(Unreadable, match="ada: named twice"):
        invite_all(service, "autumn", [*new, NewInvitation(user="ada")], by=ORGANISER)
    with service.store.read() as session:
        contest = session.contests.get("autumn")
        assert len(session.invitations.page(contest.no)) == 2
