"""The ledger in words: every decision for those who may read it, and nothing else."""

import pytest

from agon.app.access.permissions import ANONYMOUS, view_of
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.events import events
from agon.app.contests.ledgers.log import entry_at, log
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import NotFound, Unreadable
from app.contests.ledgers.test_append import STEPS, _enter
from fakes.service import ORGANISER

VOID = ("records-voided", {"seqs": [3], "subjects": list("abcdefg"), "change": None,
                           "reason": "copies"})  # fmt: skip
POINTS = ("adjustment-made", {"board": "bots", "id": "ada", "points": 5, "change": "c1",
                              "reason": "thanks"})  # fmt: skip


@pytest.fixture
def cup(service: Service) -> Service:
    """A contest that was private at first, with an entry of each kind of decision."""
    hidden = NewContest(id="cup", discipline="arena", title="For us", visibility="private")
    create(service, hidden, by=ORGANISER)
    edit = STEPS["edit"][1]
    for kind, body in (
        ("contest-edited", {**edit, "title": "Still for us"}),
        ("contest-edited", {**edit, "visibility": "public"}),
        STEPS["open"], STEPS["change-1"], VOID, POINTS, STEPS["back-1"], STEPS["decide"],
        ("submission-received",
         {"submission": "s", "user": "ada", "problem": None, "content": {"source": "secret"}}),
        STEPS["freeze"], STEPS["unfreeze"], STEPS["freeze"], STEPS["adopt"],
    ):  # fmt: skip
        _enter(service, "cup", kind, body)
    return service


def texts(service: Service, caller: Caller, as_of: str | None = None) -> list[str]:
    """Return the words that a caller reads."""
    with service.store.read() as session:
        view = view_of(session.contests.get("cup"), caller)
    return [entry.text for entry in log(service, view, as_of=as_of)]


def test_readers_see_the_decisions_that_they_may_see(cup: Service) -> None:
    """The log is for people: words, and no hidden ones."""
    public = texts(cup, ANONYMOUS)
    assert public == [
        "boards frozen for the public",
        "boards shown again: why",
        "boards frozen for the public",
        "rules set to arena/" + public[3].partition("/")[2],
        "opened for records",
        "details set: Cup, public, from the opening until 2026-12-24 18:00 UTC",
        public[-1],
    ]
    assert public[3].endswith(" with k_new = 24: why")
    assert public[-1].startswith("created under arena/")
    staff = texts(cup, ORGANISER)
    assert [text for text in staff if text not in public] == [
        staff[0],  # the rules that were adopted after the freeze
        "decision about no participant: d: r",
        "change set c1 rolled back: why",
        "+5 points for ada on bots: thanks",
        "1 records of a, b, c, d, e and 2 more voided: copies",
        "details set: Still for us, private, from the opening until 2026-12-24 18:00 UTC",
    ]
    assert "secret" not in str(staff)
    assert texts(cup, ANONYMOUS, "999") == public
    assert texts(cup, ORGANISER, "1") == [public[-1]]
    with pytest.raises(Unreadable):
        texts(cup, ANONYMOUS, "soon")


def test_a_reader_chooses_kinds_of_those_that_the_reader_may_see(cup: Service) -> None:
    """Freezes and rules are far apart in the ledger of a long contest."""
    with cup.store.read() as session:
        contest = session.contests.get("cup")
    public, staff = view_of(contest, ANONYMOUS), view_of(contest, ORGANISER)
    chosen = log(cup, public, only=("contest-frozen", "contest-opened"))
    assert [entry.kind for entry in chosen] == ["contest-frozen"] * 2 + ["contest-opened"]
    assert [entry.kind for entry in log(cup, staff, only=("decision-made",))] == ["decision-made"]
    with pytest.raises(Unreadable, match="the log has no kind 'decision-made'"):
        log(cup, public, only=("decision-made",))
    with pytest.raises(Unreadable, match="did you mean contest-frozen"):
        log(cup, public, only=("contest-frozn",))


def test_pages_continue_where_the_one_before_ended(cup: Service) -> None:
    """A cursor that someone wrote by hand leads no further than the freeze."""
    with cup.store.read() as session:
        view = view_of(session.contests.get("cup"), ANONYMOUS)
    every = log(cup, view)
    pages = [log(cup, view, limit=3)]
    while pages[-1]:
        pages.append(log(cup, view, before=pages[-1][-1].seq, limit=3))
    assert [entry for page in pages for entry in page] == every
    assert log(cup, view, before=10**9) == every


def test_a_freeze_does_not_hide_that_the_contest_is_void(cup: Service) -> None:
    """Pages said it at once, and ledger and stream were silent until the freeze ended."""
    with cup.store.read() as session:
        before = session.contests.get("cup")
    _enter(cup, "cup", "contest-voided", {"reason": "a leak"})
    _enter(cup, "cup", "contest-restored", {"reason": "no leak", "state": "frozen"})
    with cup.store.read() as session:
        view = view_of(session.contests.get("cup"), ANONYMOUS)
    told = log(cup, view)
    assert [(entry.text, entry.seq) for entry in told[:3]] == [
        ("the contest counts again: no leak", before.frozen_at),
        ("the contest is void: a leak", before.frozen_at),
        ("boards frozen for the public", before.frozen_at),
    ]
    first = log(cup, view, limit=4)
    assert len(first) == 4
    assert [*first, *log(cup, view, before=first[-1].seq)] == told
    streamed = [(event.kind, event.seq) for event in events(cup, view).events]
    assert streamed[-3:] == [
        ("contest-frozen", before.frozen_at),
        ("contest-voided", before.frozen_at),
        ("contest-restored", before.frozen_at),
    ]


def test_events_have_no_title_from_before_a_contest_was_public(cup: Service) -> None:
    """The stream begins at the first event for everyone."""
    readers = {}
    for caller in (ANONYMOUS, ORGANISER):
        with cup.store.read() as session:
            view = view_of(session.contests.get("cup"), caller)
        edits = [each for each in events(cup, view).events if each.kind == "contest-edited"]
        readers[caller.name] = [each.body["title"] for each in edits]
    assert readers == {ANONYMOUS.name: ["Cup"], ORGANISER.name: ["Still for us", "Cup"]}


def test_a_single_entry_is_shown_to_those_who_may_read_it(cup: Service) -> None:
    """Pages link to entries; a vote's entry names its judge, so only organizers read it."""
    row = {"id": "ada", "name": "Ada"}
    with cup.store.read() as session:
        first = session.contests.get("cup").seq
    _enter(cup, "cup", "contest-unfrozen", {"reason": "why"})
    record(cup, "cup", [("bots", row, None)], by=ORGANISER)
    with cup.store.read() as session:
        contest = session.contests.get("cup")
    public, staff = (view_of(contest, caller) for caller in (ANONYMOUS, ORGANISER))
    shown = entry_at(cup, staff, contest.seq, records=True)
    assert shown is not None
    assert (shown.text, shown.content) == (
        "record bots/ada added", {"table": "bots", "row": row},
    )  # fmt: skip
    assert entry_at(cup, public, contest.seq) is None
    assert entry_at(cup, staff, contest.seq) is None  # a token that reads no records
    assert entry_at(cup, public, first + 1) == entry_at(cup, staff, first + 1, records=True)
    assert entry_at(cup, public, 2) is None  # it was private then
    for seq in (0, contest.seq + 1):
        with pytest.raises(NotFound, match=f"no entry {seq}; give one from 1 to {contest.seq}"):
            entry_at(cup, staff, seq, records=True)
