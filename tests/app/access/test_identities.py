"""Test who may become a user with an id, by every way to get one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agon.app.access import identities
from agon.app.access.identities import OFFICIAL, RESERVED
from agon.app.access.invitations import Membership, NewInvitation, accept, invite
from agon.app.access.permissions import ANONYMOUS
from agon.app.access.tokens import Grant, authenticate, create_token, revoke_token
from agon.app.access.users import create_user, users
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.entities.access import Caller, Everywhere, folded_id
from agon.errors import Conflict, NotFound
from fakes.service import OPERATOR, ORGANISER, service_at

TIME = "2026-11-22T00:00:00Z"
OWNER = ("owners", {"id": "olga", "handle": "olga", "account_created_at": TIME}, None)
BOT = ("bots", {"id": "crow", "name": "Crow", "owner_id": "olga"}, None)
VOTES = [
    *(("bots", {"id": name, "name": name}, None) for name in ("x", "y")),
    ("matches", {"id": "m1", "played_at": TIME, "bot_a": "x", "bot_b": "y", "kind": "rated"}, None),
    ("votes", {"match_id": "m1", "judge_id": "judy", "shown_first": "a", "vote": "A",
               "voted_at": TIME}, None),
]  # fmt: skip


@pytest.fixture
def arenas(service: Service) -> Service:
    """Open an arena with an owner in its records only, a private one, and an empty one."""
    _arena(service, "spring")
    record(service, "spring", [OWNER, BOT], by=ORGANISER)
    _arena(service, "hidden", visibility="private")
    record(service, "hidden", VOTES, by=ORGANISER)
    _arena(service, "autumn")
    return service


def _arena(service: Service, name: str, **options: object) -> None:
    new = NewContest(id=name, discipline="arena", title=name, **options)  # type: ignore[arg-type]  # by name
    create(service, new, by=ORGANISER)
    open_contest(service, name, by=ORGANISER)


def _join(
    service: Service, contest: str, user: str | None, /, *, by: Caller = ANONYMOUS,
    inviter: Caller = ORGANISER, **options: object,
) -> Membership:  # fmt: skip
    new = NewInvitation(**options)  # type: ignore[arg-type]  # by name
    _, code = invite(service, contest, new, by=inviter)
    return accept(service, code, user=user, by=by)


@pytest.mark.sample(2)
@pytest.mark.parametrize("contest", ["spring", "autumn"])
@pytest.mark.parametrize("user", ["olga", "crow", "judy", "x", "o1ga", "olga-", "0lga"])
def test_no_newcomer_chooses_an_id_that_records_of_any_contest_name(
    arenas: Service, contest: str, user: str
) -> None:
    """An owner, a bot, a judge who only voted, and what is read as one; also before publication."""
    with pytest.raises(Conflict, match=f"the user '{user}' is taken; choose another id"):
        _join(arenas, contest, user)
    assert users(arenas) == []


@pytest.mark.parametrize("user", ["elga", "e1ga", "elga-", "elga._"])
def test_no_newcomer_chooses_an_id_that_is_read_as_a_user_s(arenas: Service, user: str) -> None:
    """Boards and mails show ids, not who has them."""
    _join(arenas, "autumn", "elga")
    with pytest.raises(Conflict, match="is taken"):
        _join(arenas, "autumn", user)
    assert [stored.id for stored in users(arenas)] == ["elga"]


def test_joining_through_another_contest_takes_nobody_s_place(arenas: Service) -> None:
    """A user who is older than the records is another person until an organizer vouches."""
    ada = authenticate(arenas, _join(arenas, "autumn", "ada").text)
    record(arenas, "spring", [("owners", {**OWNER[1], "id": "ada"}, None)], by=ORGANISER)
    with pytest.raises(Conflict, match="the records of spring name 'ada', which may be another"):
        _join(arenas, "spring", None, by=ada)
    joined = accept(
        arenas, invite(arenas, "spring", NewInvitation(user="ada"), by=ORGANISER)[1],
        user=None, by=ada,
    )  # fmt: skip
    assert joined.token.contests == ("spring",)
    revoke_token(arenas, joined.token.id, by=OPERATOR)
    assert _join(arenas, "spring", None, by=ada).user.id == "ada"  # the same person comes back


def test_who_plays_in_a_contest_joins_it_again(arenas: Service) -> None:
    """Own records name the user as well; a lost token is replaced by an invitation."""
    ada = authenticate(arenas, _join(arenas, "autumn", "ada").text)
    record(arenas, "autumn", [("owners", {**OWNER[1], "id": "ada"}, None)], by=ORGANISER)
    assert _join(arenas, "autumn", None, by=ada, role="judge").token.role == "judge"


def test_an_operator_gives_any_id_but_a_reserved_one(arenas: Service) -> None:
    """The audit log and the response say whom the id could be mistaken for."""
    create_user(arenas, user="olga", by=OPERATOR)
    create_user(arenas, user="o1ga", by=OPERATOR)
    create_user(arenas, user="judge", by=OPERATOR)
    with arenas.store.read() as session:
        like = identities.resemblance(session, "o1ga")
        [_, entry, _] = session.access.audit_entries(limit=3)
    assert (like.users, like.contests) == (("olga",), ("spring",))
    assert entry.detail == {"similar_users": ["olga"], "named_in": ["spring"]}
    for reserved in (*RESERVED, "l0cal", "system-"):
        with pytest.raises(Conflict, match="is taken"):
            create_user(arenas, user=reserved, by=OPERATOR)


@pytest.mark.sample(3)
@pytest.mark.parametrize("user", sorted({*RESERVED, *OFFICIAL, "0perator", "adrnin", "-root"}))
def test_no_newcomer_passes_for_agon_or_a_role(arenas: Service, user: str) -> None:
    """A user called operator would be believed; by name only an operator gives it."""
    attempts: tuple[dict[str, Any], ...] = ({}, {"user": user})
    for options in attempts:
        with pytest.raises(Exception, match=r"is taken|is not a user's id"):
            _join(arenas, "autumn", user, **options)


def test_an_operator_s_token_for_a_contest_binds_the_person(arenas: Service) -> None:
    """The operator said who it is; expired or revoked, it was the same person."""
    create_user(arenas, user="olga", by=OPERATOR)
    grant = Grant(user="olga", role="participant", contests=("spring",))
    token, text = create_token(arenas, grant, by=OPERATOR)
    olga = authenticate(arenas, text)
    revoke_token(arenas, token.id, by=OPERATOR)
    assert _join(arenas, "spring", None, by=olga).user.id == "olga"


@pytest.mark.parametrize(("role", "contests"), [("viewer", ("spring",)), ("judge", ("autumn",)),
                                                ("worker", Everywhere.ALL)])  # fmt: skip
def test_other_tokens_bind_nobody(arenas: Service, role: str, contests: object) -> None:
    """To read a contest, or to judge another, is not to be a person in its records."""
    create_user(arenas, user="olga", by=OPERATOR)
    grant = Grant(user="olga", role=role, contests=contests)  # type: ignore[arg-type]  # by name
    olga = authenticate(arenas, create_token(arenas, grant, by=OPERATOR)[1])
    with pytest.raises(Conflict, match="records of spring name 'olga'"):
        _join(arenas, "spring", None, by=olga)


def test_an_invitation_by_name_vouches_where_its_creator_may_invite(arenas: Service) -> None:
    """An organizer of one contest does not give away the people of another."""
    create_user(arenas, user="boss", by=OPERATOR)

    def organizer(*contests: str) -> Caller:
        grant = Grant(user="boss", role="organiser", contests=contests)
        return authenticate(arenas, create_token(arenas, grant, by=OPERATOR)[1])

    with pytest.raises(Conflict, match="'olga' is taken"):
        _join(arenas, "autumn", "olga", user="olga", inviter=organizer("autumn"))
    inviter = organizer("autumn", "spring")
    assert _join(arenas, "autumn", None, user="olga", inviter=inviter).user.id == "olga"


def test_the_error_does_not_show_a_private_contest(arenas: Service) -> None:
    """It is that of an id which a user has."""
    _join(arenas, "autumn", "ada")
    messages = set()
    for user in ("ada", "judy"):  # of a user, and of the private contest
        with pytest.raises(Conflict) as error:
            _join(arenas, "autumn", user)
        messages.add(str(error.value).replace(user, "U"))
    assert len(messages) == 1


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Service]:
    """Open a second service."""
    (tmp_path / "other").mkdir()
    opened = service_at(tmp_path / "other")
    yield opened
    opened.store.close()


def test_an_import_takes_and_gives_no_user_s_place(
    arenas: Service, other: Service, tmp_path: Path
) -> None:
    """The people of an imported ledger are as taken as those of records, and users stay."""
    export(arenas, "spring", tmp_path / "spring")
    _arena(other, "autumn")
    create_user(other, user="crow", by=OPERATOR)
    crow = authenticate(
        other, create_token(other, Grant(user="crow", role="viewer"), by=OPERATOR)[1]
    )
    import_contest(other, tmp_path / "spring", by=OPERATOR)
    with pytest.raises(Conflict, match="'olga' is taken"):
        _join(other, "autumn", "olga")
    with pytest.raises(Conflict, match="records of spring name 'crow'"):
        _join(other, "spring", None, by=crow)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("discipline", "rows", "person"),
    [
        ("community", [("users", {"id": "Zed", "affiliation": "o", "handle": "Z"}, None)], "zed"),
        ("community", [("users", {"id": "аda", "affiliation": "o", "handle": "A"}, None)], "ada"),
        (
            "challenge",
            [("submissions", {"id": "s", "miner_uid": 7, "submitted_at": TIME}, None)],
            "7",
        ),
    ],
)
def test_people_of_every_discipline_are_known(
    either: Service, discipline: str, rows: list[tuple[str, dict[str, object], None]],
    person: str,
) -> None:  # fmt: skip
    """Capitals and letters of other scripts are read as those of an id."""
    create(either, NewContest(id="c1", discipline=discipline, title="C"), by=ORGANISER)
    open_contest(either, "c1", by=ORGANISER)
    record(either, "c1", rows, by=ORGANISER)
    with pytest.raises(Conflict, match="is taken"):
        _join(either, "c1", person)


@pytest.mark.sample(1)
def test_a_dry_run_names_nobody(either: Service) -> None:
    """Nothing of it is stored."""
    _arena(either, "spring")
    record(either, "spring", [OWNER], by=ORGANISER, dry_run=True)
    assert _join(either, "spring", "olga").user.id == "olga"


SAME = [
    ("u10", "u1o"), ("corn", "com"), ("vvill", "will"), ("a.b", "a_b"), ("a--b", "a-b"),
    ("ОLGA", "olga"), ("ｏlga", "olga"),
]  # fmt: skip
DIFFERENT = [("ab", "a-b"), ("ada", "adb"), ("user-1-1", "user-11"), ("user1", "user2")]


def test_ids_are_read_as_people_read_them() -> None:
    """Numbered users stay apart."""
    assert [pair for pair in SAME if folded_id(pair[0]) != folded_id(pair[1])] == []
    assert [pair for pair in DIFFERENT if folded_id(pair[0]) == folded_id(pair[1])] == []


def test_codes_stay_unknown_whatever_the_id(arenas: Service) -> None:
    """An id that is taken is not found by trial without a code."""
    for user in ("olga", "local", "free"):
        with pytest.raises(NotFound, match="this invitation is not valid"):
            accept(arenas, "invite_x_y", user=user, by=ANONYMOUS)
