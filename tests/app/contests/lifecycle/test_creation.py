"""Test creation: a contest begins with an entry that has all its properties."""

from dataclasses import replace

import pytest

from agon.api.models.contests import ContestCreate, SeasonCreate
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.lifecycle.creation import NewContest, create, next_season
from agon.app.service import Service
from agon.client.local import Local
from agon.errors import (
    Conflict,
    Forbidden,
    InvalidRule,
    NotFound,
    Unauthenticated,
    Unreadable,
)
from agon.ledger.entry import read_line
from fakes.service import JUDGE, ORGANISER, PARTICIPANT, VIEWER

SPRING = NewContest(id="spring", discipline="arena", title="Spring")


def test_a_new_contest_is_a_draft_with_the_reference_edition_and_all_boards(
    service: Service,
) -> None:
    """The defaults are those of the seed."""
    contest = create(service, SPRING, by=ORGANISER)
    assert (contest.state, contest.seq, contest.edition) == ("draft", 1, "arena/sentience-1")
    assert contest.boards == ("bots", "judges", "bradley-terry")
    with service.store.read() as session:
        assert session.contests.get("spring") == contest
        [entry] = [read_line(one.line) for one in session.entries.after(contest.no)]
    assert (entry.kind, entry.by, entry.at) == ("contest-created", "user:olga", contest.created_at)
    assert entry.body["contest"] == "spring"


def test_overrides_are_stored_as_values_of_their_type(service: Service) -> None:
    """Text from a command line and a number from JSON are the same rule."""
    texts = create(service, replace(SPRING, overrides={"k_new": "64"}), by=ORGANISER)
    assert texts.overrides["k_new"] == 64


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"id": "S"}, Unreadable),
        ({"id": "a"}, Unreadable),
        ({"id": "a" * 64}, Unreadable),
        ({"id": "a/../b"}, Unreadable),
        ({"id": "spring\n"}, Unreadable),
        ({"series": "No"}, Unreadable),
        ({"title": "  "}, Unreadable),
        ({"title": "a\nb"}, Unreadable),
        ({"title": "a" * 201}, Unreadable),
        ({"description": "a" * 20_001}, Unreadable),
        ({"visibility": "secret"}, Unreadable),
        ({"discipline": "chess"}, NotFound),
        ({"edition": "sentience-9"}, NotFound),
        ({"boards": ["bot"]}, NotFound),
        ({"boards": ["bots", "bots"]}, Conflict),
        ({"overrides": {"k_nwe": 1}}, InvalidRule),
    ],
)
def test_an_invalid_contest_is_rejected_and_stores_nothing(
    service: Service, changed: dict[str, object], error: type[Exception]
) -> None:
    """A contest's first entry can never be corrected."""
    with pytest.raises(error):
        create(service, replace(SPRING, **changed), by=ORGANISER)  # type: ignore[arg-type] # by name
    with service.store.read() as session:
        assert session.contests.page() == []


def test_a_rule_that_no_contest_can_follow_is_refused(service: Service) -> None:
    """Matches of a contest have no other columns; length and others are counted in the answers."""
    sees_cost = replace(SPRING, overrides={"control": "length, cost"})
    with pytest.raises(InvalidRule, match=r"^control=cost: .*; name styles .*\(length, headers, "):
        create(service, sees_cost, by=ORGANISER)
    counted = create(service, replace(SPRING, overrides={"control": "length,code"}), by=ORGANISER)
    assert counted.overrides == {"control": "length,code"}


def test_an_id_is_used_once(service: Service) -> None:
    """URLs and hash chains contain it."""
    create(service, SPRING, by=ORGANISER)
    with pytest.raises(Conflict):
        create(service, SPRING, by=ORGANISER)


def test_only_organizers_create_contests(service: Service) -> None:
    """Each contest costs space permanently."""
    request = ContestCreate(id="spring", discipline="arena", title="Spring")
    for caller in (VIEWER, PARTICIPANT, JUDGE, replace(ORGANISER, contests=("autumn",))):
        with pytest.raises(Forbidden):
            Local(service, by=caller).contests.create(request)
    with pytest.raises(Unauthenticated):
        Local(service, by=ANONYMOUS).contests.create(request)


def test_seasons_continue_the_rules_and_are_counted(service: Service) -> None:
    """Seasons are comparable only with equal rules."""
    first = create(
        service,
        replace(SPRING, overrides={"k_new": 64}, boards=["judges"], visibility="private"),
        by=ORGANISER,
    )
    second = next_season(service, first, id="spring-2", by=ORGANISER)
    third = next_season(service, second, id="spring-3", by=ORGANISER)
    assert [one.season for one in (first, second, third)] == [None, 2, 3]
    assert (third.series, third.edition) == ("spring", first.edition)
    assert (third.overrides, third.boards) == (first.overrides, ("judges",))
    assert third.visibility == "private"


def test_the_first_contest_of_a_named_series_is_its_first_season(service: Service) -> None:
    """Seasons are counted from one."""
    named = [replace(SPRING, id=f"c{number}", series="cup") for number in (1, 2)]
    assert [create(service, one, by=ORGANISER).season for one in named] == [1, 2]


def test_a_private_contest_has_no_next_season_for_callers_without_permission(
    service: Service,
) -> None:
    """Its existence is not disclosed."""
    create(service, replace(SPRING, visibility="private"), by=ORGANISER)
    contests = Local(service, by=replace(ORGANISER, contests=("autumn",))).contests
    with pytest.raises(NotFound):
        contests.next_season("spring", SeasonCreate(id="autumn"))
