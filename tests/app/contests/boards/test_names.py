"""Test the names that boards show next to ids, and the search by them."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, View
from agon.app.contests.boards import name_changes
from agon.app.contests.boards.pages import BoardRows, page
from agon.app.contests.boards.participants import participant, participants
from agon.app.contests.boards.publish import publish
from agon.app.contests.boards.search import search
from agon.app.contests.changes.change_sets import apply, dry_run, propose, roll_back
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.app.contests.lifecycle.creation import NewContest, create, next_season
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.contests.members import hide, unhide
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import Conflict, NotFound, Unreadable
from agon.store.people.names import Names
from fakes.service import OPERATOR, ORGANISER, service_at
from fakes.spring import view

PEOPLE = {
    "u1": "Ada Lovelace",
    "u2": "ada",
    "u3": "Álvaro Adams",
    "u4": "Grace",
    "ada5": "Zoë",
    "ada6": "Adam",
    "ada7": None,
    "u8": "\x00\t ",
    "u9": "Ada Lovelace",
}


def _people(service: Service, people: dict[str, str | None], *, replace: bool = False) -> None:
    rows = [("users", {"id": id_, "handle": name}, None) for id_, name in people.items()]
    record(service, "spring", rows, by=ORGANISER, replace=replace)
    publish(service, "spring")


def _spring(service: Service, **options: Any) -> View:
    """Return what the public sees of a contest of people with names, which it shows."""
    new = NewContest(id="spring", discipline="community", title="S", **{"names": "shown"} | options)
    create(service, new, by=ORGANISER)
    transitions.open_contest(service, "spring", by=ORGANISER)
    _people(service, {key: name for key, name in PEOPLE.items() if key != "u8"})
    return view(service, ANONYMOUS)


def _ids(result: BoardRows) -> list[str]:
    return [orjson.loads(line)["id"] for line in result.lines]


def _find(service: Service, prefix: str, *, by: Caller = ANONYMOUS, **options: Any) -> list[str]:
    return _ids(search(service, view(service, by), "user-score", prefix, **options))


def _names(service: Service, by: Caller = ANONYMOUS) -> Any:
    return page(service, view(service, by)).names


@pytest.mark.exhaustive
def test_people_are_found_by_name_and_by_id(either: Service) -> None:
    """Names come first, in their order, each once; then ids."""
    access = _spring(either)
    found = search(either, access, None, "ada")
    assert _ids(found) == ["u2", "u1", "u9", "ada6", "u3", "ada5", "ada7"]
    assert found.names == {key: PEOPLE[key] for key in ("u1", "u2", "u3", "u9", "ada5", "ada6")}
    assert set(found.lines) <= set(page(either, access).lines)
    for prefix, ids in {
        "ADÁ": ["u2", "u1", "u9", "ada6", "u3"],
        "ada lo": ["u1", "u9"],
        "ada_lo": ["u1", "u9"],
        "lovelace": ["u1", "u9"],
        "ovelace": [],
        "alv": ["u3"],
        "zoe": ["ada5"],
        "u4": ["u4"],
        "U4": [],
        "ada7": ["ada7"],
        "\U0010ffff": [],
        "-": [],
        " ": [],
    }.items():
        assert _find(either, prefix) == ids, prefix


@pytest.mark.sample(1)
@pytest.mark.parametrize("limit", [1, 2, 6, 7])
def test_pages_of_names_and_ids_cover_a_search(either: Service, limit: int) -> None:
    """Rows that match in two ways are neither repeated nor lost at the end of a page."""
    access = _spring(either)
    result = search(either, access, None, "ada", limit=limit)
    found = _ids(result)
    while result.next is not None:
        _people(either, {f"ada{len(found)}x": "Ada", f"new{len(found)}": "Adana"})
        result = search(either, access, None, "ada", limit=limit, cursor=result.next)
        found += _ids(result)
    assert found == ["u2", "u1", "u9", "ada6", "u3", "ada5", "ada7"]


def test_boards_of_the_past_keep_their_names(service: Service) -> None:
    """A page of the past stays as it was; a name that was corrected or removed is on no new one."""
    access = _spring(service)
    before = page(service, access)
    assert before.names == {key: name for key, name in PEOPLE.items() if name and key != "u8"}
    first = search(service, access, None, "ada", limit=1)
    _people(service, {"u1": "Augusta", "u2": None, "u4": "Grace"}, replace=True)
    then = page(service, view(service, ANONYMOUS), as_of=str(before.snapshot.seq))
    assert (then.lines, then.snapshot) == (before.lines, before.snapshot)
    assert then.names == before.names
    of_then = str(before.snapshot.seq)
    assert _find(service, "ada", as_of=of_then) == ["u2", "u1", "u9", "ada6", "u3", "ada5", "ada7"]
    assert _find(service, "aug", as_of=of_then) == []
    present = {**before.names, "u1": "Augusta"}
    del present["u2"]
    assert _names(service) == present
    assert _find(service, "ada") == ["u9", "ada6", "u3", "ada5", "ada7"]
    assert _find(service, "aug") == ["u1"]
    rest = search(service, view(service, ANONYMOUS), None, "ada", cursor=first.next)
    assert _ids(rest) == ["u1", "u9", "ada6", "u3", "ada5", "ada7"]
    edit(service, "spring", {"names": "hidden"}, by=ORGANISER)
    with pytest.raises(NotFound, match="begin again"):  # its row was u2
        search(service, view(service, ANONYMOUS), None, "ada", cursor=first.next)
    edit(service, "spring", {"names": "shown"}, by=ORGANISER)
    change = propose(
        service, "spring", kind="void", params={"people": ["u4"]}, reason="r", by=ORGANISER
    )
    dry_run(service, "spring", change.id)
    apply(service, "spring", change.id, by=ORGANISER)
    publish(service, "spring")
    assert "u4" not in _stored(service)
    roll_back(service, "spring", change.id, reason="r", by=ORGANISER)
    publish(service, "spring")
    assert _stored(service)["u4"] == "Grace"


def _stored(service: Service, contest: str = "spring") -> dict[str, str]:
    with service.store.read() as session:
        found = session.contests.get(contest)
        return session.names.of(found.no, list(PEOPLE), at=found.seq)


@pytest.mark.exhaustive
def test_a_freeze_shows_the_names_of_its_position(service: Service) -> None:
    """A new name, like a new participant, would disclose what happened after the freeze."""
    _spring(service)
    transitions.freeze(service, "spring", by=ORGANISER)
    before, found = _names(service), _find(service, "ada", limit=5)
    _people(service, {"u4": "Adele", "late": "Ada"}, replace=True)
    assert (_names(service), _find(service, "ada", limit=5)) == (before, found)
    assert _find(service, "adele") == _find(service, "late") == []
    assert _find(service, "late", by=ORGANISER) == ["late"]
    transitions.unfreeze(service, "spring", reason="r", by=ORGANISER)
    publish(service, "spring")
    assert (_find(service, "adele"), _names(service)["late"]) == (["u4"], "Ada")
    transitions.finalize(service, "spring", by=ORGANISER)
    assert _find(service, "adele") == ["u4"]


@pytest.mark.sample(1)
def test_hidden_names_are_nowhere(either: Service) -> None:
    """An organizer hides them; nothing of them may wait for a job."""
    _spring(either)
    edit(either, "spring", {"names": "hidden"}, by=ORGANISER)
    for publishes in (False, True):
        if publishes:
            publish(either, "spring")
            assert _stored(either) == {}
        for by in (ANONYMOUS, ORGANISER):
            assert _names(either, by) is None
            assert _find(either, "ada", by=by) == ["ada5", "ada6", "ada7"]
            assert participant(either, view(either, by), "u1")["name"] is None
            assert participants(either, view(either, by)).names == {}
    edit(either, "spring", {"names": "shown"}, by=ORGANISER)
    with either.store.read() as session:
        assert "publish" in [job.kind for job in session.queue.page(limit=100)]
    publish(either, "spring")
    assert _find(either, "lov") == ["u1", "u9"]
    assert participant(either, view(either, ANONYMOUS), "u1")["name"] == "Ada Lovelace"
    assert participants(either, view(either, ANONYMOUS)).names["u4"] == "Grace"


@pytest.mark.sample(1)
def test_the_name_of_one_person_is_hidden_at_every_position_and_shown_again(
    either: Service,
) -> None:
    """Somebody asks not to be named; results stay, and so do the names of the others."""
    _spring(either)
    hide(either, "spring", "u1", reason="asked for it", by=ORGANISER)
    with pytest.raises(Conflict, match="the name of u1 is hidden since"):
        hide(either, "spring", "u1", reason="again", by=ORGANISER)
    with pytest.raises(NotFound, match="takes no part"):
        hide(either, "spring", "nobody", reason="why", by=ORGANISER)
    for publishes in (False, True):
        if publishes:  # what is stored of a name is not touched
            _people(either, {"u1": "Ada King", "u4": "Grace H."}, replace=True)
        for by in (ANONYMOUS, ORGANISER):
            assert "u1" not in _names(either, by)
            assert _names(either, by)["u9"] == "Ada Lovelace"
            assert _find(either, "lov", by=by) == ["u9"]
            assert _find(either, "king", by=by) == []
            assert _find(either, "u1", by=by) == ["u1"]
            assert participant(either, view(either, by), "u1")["name"] is None
    unhide(either, "spring", "u1", reason="agreed", by=ORGANISER)
    assert _find(either, "king") == ["u1"]
    with pytest.raises(Conflict, match="is not hidden"):
        unhide(either, "spring", "u1", reason="again", by=ORGANISER)


def test_names_of_people_are_hidden_and_those_of_bots_shown_by_default(service: Service) -> None:
    """Names of people are personal data; bots are named by their owners."""
    for of, shown in {"community": False, "arena": True, "challenge": False, "dojo": False}.items():
        new = NewContest(id=f"x-{of}", discipline=of, title="X")
        created = create(service, new, by=ORGANISER)
        assert (created.names, created.shows_names) == (None, shown)
        assert next_season(service, created, id=f"y-{of}", by=ORGANISER).names is None
    hidden = edit(service, "x-arena", {"names": "hidden"}, by=ORGANISER)
    assert next_season(service, hidden, id="zz", by=ORGANISER).names == "hidden"
    with pytest.raises(Unreadable, match="participants of dojo have no names but their ids"):
        edit(service, "x-dojo", {"names": "shown"}, by=ORGANISER)
    new = NewContest(id="q1", discipline="challenge", title="Q", names="shown")
    with pytest.raises(Unreadable, match="participants of challenge have no names"):
        create(service, new, by=ORGANISER)
    same = edit(service, "x-arena", {"names": "hidden"}, by=ORGANISER)
    assert same.seq == hidden.seq


@pytest.mark.exhaustive
def test_a_bot_whose_owner_comes_later_has_its_name_then(service: Service) -> None:
    """Rows that refer to no row are not seen, and are seen without an entry of their own."""
    create(service, NewContest(id="spring", discipline="arena", title="S"), by=OPERATOR)
    transitions.open_contest(service, "spring", by=ORGANISER)
    bots = [("bots", {"id": key, "name": f"The {key}", "owner_id": owner}, None)
            for key, owner in (("b1", "o1"), ("b2", None))]  # fmt: skip
    match = {"id": "m1", "played_at": "2026-01-01T00:00:00Z", "kind": "rated", "bot_a": "b1",
             "bot_b": "b2", "winner": "a"}  # fmt: skip
    owner = ("owners", {"id": "o1", "handle": "O", "account_created_at": None}, None)
    record(service, "spring", [owner, *bots, ("matches", match, None)], by=ORGANISER)
    publish(service, "spring")
    assert _names(service) == {"b1": "The b1", "b2": "The b2"}
    change = propose(
        service, "spring", kind="void", params={"records": ["owners/o1"]}, reason="r", by=ORGANISER
    )
    dry_run(service, "spring", change.id)
    apply(service, "spring", change.id, by=ORGANISER)
    publish(service, "spring")
    assert _names(service) in ({"b2": "The b2"}, {})
    roll_back(service, "spring", change.id, reason="r", by=ORGANISER)
    publish(service, "spring")
    assert _names(service) == {"b1": "The b1", "b2": "The b2"}


@pytest.mark.exhaustive
def test_an_imported_contest_shows_names_as_it_did(service: Service, tmp_path: Path) -> None:
    """The setting is in the ledger; names follow with the first publication."""
    _spring(service)
    export(service, "spring", tmp_path / "ledger")
    (tmp_path / "other").mkdir()
    other = service_at(tmp_path / "other")
    assert import_contest(other, tmp_path / "ledger", by=OPERATOR).shows_names
    publish(other, "spring")
    assert _stored(other) == _stored(service)
    other.store.close()


@pytest.mark.exhaustive
def test_names_are_stored_in_parts_and_only_those_that_changed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other writers wait for one part; what an interruption left is made up for."""
    monkeypatch.setattr(name_changes, "MAX_NAMES_PER_TRANSACTION", 2)
    _spring(service)
    assert _stored(service) == {key: name for key, name in PEOPLE.items() if name and key != "u8"}
    with service.store.write() as session:
        no = session.contests.get("spring").no
        session.names.clear(no)
        session.names.replace(no, ["u1", "gone"], {"u1": "Left", "gone": "Left"}, at=1)
        session.names.set_position(no, 0)
    _people(service, {"u20": "Twenty"})  # the rest was not stored the first time
    assert (_stored(service)["u1"], _find(service, "left")) == ("Ada Lovelace", [])
    assert _find(service, "lov") == ["u1", "u9"]
    with service.store.write() as session:  # nor the second time
        seq = session.contests.get("spring").seq
        session.names.replace(no, ["u1"], {"u1": "Left"}, at=seq + 1)
        session.names.set_position(no, -seq)
    _people(service, {"u1": "Ada Lovelace", "u20": "Twenty"}, replace=True)
    assert (_stored(service)["u1"], _find(service, "left")) == ("Ada Lovelace", [])
    stored = Mock()
    monkeypatch.setattr(Names, "replace", stored)
    _people(service, {"u21": "One", "u22": None})
    stored.assert_called_once_with(no, ["u21"], {"u21": "One"}, at=seq + 2)
