"""Two ids of one person are merged by a change set, which can be rolled back."""

from typing import Any

import orjson
import pytest

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.pages import page
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import apply, dry_run, propose, roll_back
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.disciplines import BUILT_IN, discipline
from agon.errors import AgonError, Conflict, Unreadable
from agon.ledger.entry import read_line
from fakes.contests import simulated_rows
from fakes.service import ORGANISER
from fakes.spring import spring, view


def rows(service: Service, board: str, contest: str = "spring") -> list[dict[str, Any]]:
    """Publish a contest, and return the rows of a board."""
    publish(service, contest)
    found = list(map(orjson.loads, page(service, view(service, LOCAL, contest), board).lines))
    return sorted(found, key=lambda row: str(row["id"]))


def merge(service: Service, duplicate: str, into: str) -> str:
    """Merge two ids, and return the change set."""
    params = {"duplicate": duplicate, "into": into}
    name = merge_of(service, params)
    apply(service, "spring", name, by=ORGANISER)
    return name


def merge_of(service: Service, params: dict[str, Any]) -> str:
    """Propose a merge, run it dry, and return the change set."""
    why = "signed up twice"
    change = propose(service, "spring", kind="merge", params=params, reason=why, by=ORGANISER)
    return dry_run(service, "spring", change.id).id


def copy_with(service: Service, duplicate: str, into: str) -> None:
    """Record what ``spring`` has in another contest, the one id written as the other."""
    copied = []
    own: set[str] = set()
    with service.store.read() as session:
        stored = session.contests.get("spring")
        entries = [read_line(each.line) for each in session.entries.after(stored.no)]
    between = {
        str(each.body["row"]["id"]) for each in entries
        if each.kind == "record-added" and each.body["table"] == "matches"
        and {each.body["row"]["bot_a"], each.body["row"]["bot_b"]} == {duplicate, into}
    }  # fmt: skip
    for entry in entries:
        if entry.kind != "record-added":
            continue
        table, row = entry.body["table"], entry.body["row"]
        if table in {"bots", "judges"} and row["id"] == duplicate:
            continue
        if {row.get("id"), row.get("match_id")} & between:
            continue
        row = {name: into if value == duplicate and name in {"bot_a", "bot_b", "judge_id"}
               else value for name, value in row.items()}  # fmt: skip
        key = f"{row.get('match_id')}/{row.get('judge_id')}"
        if table == "votes" and key in own:
            continue
        own.add(key)
        copied.append((table, row, None))
    new = NewContest(id="other", discipline="arena", title="Other", boards=("bots", "judges"))
    create(service, new, by=ORGANISER)
    open_contest(service, "other", by=ORGANISER)
    record(service, "other", copied, by=ORGANISER)


@pytest.mark.exhaustive
def test_merged_records_score_as_if_they_had_been_one_persons(service: Service) -> None:
    """Matches between the two are void; rolled back, the board is what it was."""
    spring(service, matches=24)
    before = rows(service, "bots")
    change = merge(service, "b", "a")
    merged = rows(service, "bots")
    assert "b" not in {row["id"] for row in merged}
    copy_with(service, "b", "a")
    assert merged == rows(service, "bots", "other")
    roll_back(service, "spring", change, reason="they are two", by=ORGANISER)
    assert rows(service, "bots") == before
    merge(service, "b", "a")
    assert rows(service, "bots") == merged


@pytest.mark.exhaustive
def test_judges_who_judged_the_same_match_keep_one_vote(service: Service) -> None:
    """The vote of the person who stays counts."""
    spring(service, matches=24)
    before = {row["id"]: row for row in rows(service, "judges")}
    merge(service, "j3", "j1")
    after = {row["id"]: row for row in rows(service, "judges")}
    assert after.keys() == before.keys() - {"j3"}
    merge(service, "j2", "j1")
    assert {row["id"] for row in rows(service, "judges")} <= {"j1"}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"duplicate": "a", "into": "a"}, Unreadable, "'a' cannot be merged with itself"),
        ({"duplicate": "a"}, Unreadable, "two ids; give both"),
        ({"duplicate": "", "into": "a"}, Unreadable, "two ids; give both"),
        ({"duplicate": 3, "into": "a"}, Unreadable, "two ids; give both"),
        ({"duplicate": "a", "into": "b", "x": 1}, Unreadable, "has no 'x'"),
        ({"duplicate": "zoe", "into": "a"}, Conflict, "no record about 'zoe' counts"),
        ({"duplicate": "a", "into": "zoe"}, Conflict, "no record about 'zoe' counts"),
    ],
)
def test_a_merge_of_no_two_people_is_refused(
    service: Service, params: dict[str, Any], error: type[AgonError], message: str
) -> None:
    """A person with themselves, one alone, or ids that no record has."""
    spring(service)
    with pytest.raises(error, match=message):
        merge_of(service, params)


@pytest.mark.sample(1)
@pytest.mark.parametrize("of", BUILT_IN)
def test_two_ids_are_merged_in_every_discipline(service: Service, of: str) -> None:
    """The duplicate is on no board any more, and a rollback restores all of them."""
    create(service, NewContest(id="merged", discipline=of, title="Merged"), by=ORGANISER)
    open_contest(service, "merged", by=ORGANISER)
    record(service, "merged", simulated_rows(of, 12), by=ORGANISER)
    names = [board for board in discipline(of).boards if "<" not in board]  # one board each
    before = {board: rows(service, board, "merged") for board in names}
    into, duplicate = sorted(before[names[0]], key=lambda row: row["rank"])[:2]
    change = propose(
        service, "merged", kind="merge", params={"duplicate": duplicate["id"], "into": into["id"]},
        reason="signed up twice", by=ORGANISER,
    )  # fmt: skip
    dry_run(service, "merged", change.id)
    apply(service, "merged", change.id, by=ORGANISER)
    after = rows(service, names[0], "merged")
    assert after != before[names[0]]
    ids = {row["id"] for row in after}
    assert duplicate["id"] not in ids
    assert into["id"] in ids
    roll_back(service, "merged", change.id, reason="they are two", by=ORGANISER)
    assert {board: rows(service, board, "merged") for board in names} == before
