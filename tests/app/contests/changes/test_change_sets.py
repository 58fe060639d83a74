"""Test that a change is previewed, counts as previewed, causes events, and can be rolled back."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.api.models.base import ReasonRequest
from agon.api.models.changes import ChangeSetCreate
from agon.app.access.permissions import ANONYMOUS, LOCAL
from agon.app.contests.boards.history import history
from agon.app.contests.boards.pages import page
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes import dry_runs
from agon.app.contests.changes.change_sets import (
    apply,
    cancel,
    change,
    changes,
    dry_run,
    propose,
    roll_back,
)
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import finalize
from agon.app.service import Service
from agon.client.local import Local
from agon.entities.contests import Change, Event, StepCause
from agon.errors import AgonError, Conflict, Forbidden, InvalidRule, NotFound, Unreadable
from fakes.service import ORGANISER, PARTICIPANT
from fakes.spring import play, spring, view
from sizes import size

CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("rules", {"overrides": {"k_new": "40"}}),
    ("rules", {"edition": "sentience-1", "overrides": {"elo_start": 1200}}),
    ("void", {"records": ["matches/m1", "votes/m2/j1"]}),
    ("void", {"people": ["j2"]}),
    ("void", {"people": ["a"], "records": ["20"]}),
    ("adjustment", {"board": "bots", "id": "c", "points": -33.3}),
    ("adjustment", {"board": "judges", "id": "j1", "points": 1}),
]


def proposed(service: Service, kind: str, params: dict[str, Any]) -> Change:
    """Propose a change and dry-run it."""
    proposal = propose(
        service, "spring", kind=kind, params=params, reason="as decided", by=ORGANISER
    )
    return dry_run(service, "spring", proposal.id)


def rows(service: Service, board: str = "bots") -> dict[str, dict[str, Any]]:
    """Return the newest published rows by id."""
    lines = page(service, view(service, LOCAL), board).lines
    return {row["id"]: row for row in map(orjson.loads, lines)}


def rank_events(service: Service) -> list[Event]:
    """Return the events about changed ranks."""
    with service.store.read() as session:
        return [one for one in session.events.after(0) if one.kind == "rank-changed"]


def test_a_correction_is_compared_and_stored_in_normal_form(service: Service) -> None:
    """Other spellings of columns, words and times are the same values; an unknown key is none."""
    spring(service)
    with service.store.read() as session:
        contest = session.contests.get("spring")
        (entry,) = session.entries.existing(contest.no, records=["votes/m1/j1"]).values()
    stored = orjson.loads(entry.line)["body"]["row"]
    other = "B" if stored["vote"] == "A" else "A"
    key = {"matchId": "m1", "Judge ID": "j1"}
    at = stored["voted_at"].replace("Z", "+00:00")
    same = {**key, "Vote": stored["vote"].lower(), "votedAt": at}
    with pytest.raises(Conflict, match="nothing to change"):
        proposed(service, "correction", {"table": "votes", "rows": [same]})
    change = proposed(
        service, "correction", {"table": "votes", "rows": [{**key, "Vote": other.lower()}]}
    )
    assert change.params["rows"] == [{**stored, "vote": other}]
    with pytest.raises(AgonError, match="wote"):
        proposed(service, "correction", {"table": "votes", "rows": [{**key, "wote": other}]})


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "params"), CHANGES)
def test_applying_a_change_gives_what_its_dry_run_reported(
    service: Service, kind: str, params: dict[str, Any]
) -> None:
    """Organizers decide by the report."""
    spring(service)
    before = {one.board: one.board_sha256 for one in publish(service, "spring").snapshots}
    was = rows(service)
    proposal = proposed(service, kind, params)
    assert proposal.report is not None
    assert {one.board: one.board_sha256 for one in publish(service, "spring").snapshots} == before
    applied = apply(service, "spring", proposal.id, by=ORGANISER)
    after = {one.board: one.board_sha256 for one in publish(service, "spring").snapshots}
    report = proposal.report["boards"]
    assert {name: one["board_sha256"]["before"] for name, one in report.items()} == before
    assert {name: one["board_sha256"]["after"] for name, one in report.items()} == after
    now = rows(service)
    assert {
        one["id"]: (one["rank_after"], one["score_after"]) for one in report["bots"]["moves"]
    } == {
        name: (row["rank"], row["score"])
        for name, row in now.items()
        if name in was and (row["rank"], row["score"]) != (was[name]["rank"], was[name]["score"])
    }
    assert {one["id"] for one in report["bots"]["dropped"]} == was.keys() - now.keys()
    assert (applied.state, applied.reason) == ("applied", "as decided")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "params"), CHANGES)
def test_rolling_back_restores_the_boards(
    service: Service, kind: str, params: dict[str, Any]
) -> None:
    """A change is undone as a unit; the entries of both stay in the ledger."""
    spring(service)
    before = [one.board_sha256 for one in publish(service, "spring").snapshots]
    proposal = proposed(service, kind, params)
    applied = apply(service, "spring", proposal.id, by=ORGANISER)
    publish(service, "spring")
    undone = roll_back(service, "spring", proposal.id, reason="it was wrong", by=ORGANISER)
    assert [one.board_sha256 for one in publish(service, "spring").snapshots] == before
    assert (undone.state, undone.applied_at) == ("rolled-back", applied.applied_at)
    assert undone.rolled_back_at == (applied.applied_at or 0) + 1


def ranks(service: Service, board: str = "bots") -> dict[str, int]:
    """Return the newest published ranks by id."""
    return {name: row["rank"] for name, row in rows(service, board).items()}


@pytest.mark.exhaustive
def test_moved_participants_are_notified_of_author_and_reason(service: Service) -> None:
    """Events name each participant whose rank changed, and no other, and the change."""
    spring(service)
    publish(service, "spring")
    was, ranked, before = rows(service), ranks(service), len(rank_events(service))
    proposal = proposed(service, "adjustment", {"board": "bots", "id": "c", "points": -500})
    applied = apply(service, "spring", proposal.id, reason="plagiarism", by=ORGANISER)
    publish(service, "spring")
    now = rows(service)
    (event,) = rank_events(service)[before:]
    assert (event.seq, event.staff) == (applied.applied_at, False)
    assert event.body["causes"] == [
        {
            "kind": "change-applied",
            "change": proposal.id,
            "change_kind": "adjustment",
            "reason": "plagiarism",
        }
    ]
    moved = {one["id"]: one for one in event.body["moved"]}
    changed = {name for name, rank in ranked.items() if rank != now[name]["rank"]}
    assert moved.keys() == changed
    assert event.body["total"] == len(changed)
    assert moved["c"]["from"] == {"rank": was["c"]["rank"], "score": was["c"]["score"]}
    assert moved["c"]["to"] == {"rank": now["c"]["rank"], "score": now["c"]["score"]}
    steps = history(service, view(service, ANONYMOUS), "bots", "c")
    assert (steps[-1].seq, steps[-1].score) == (applied.applied_at, now["c"]["score"])


@pytest.mark.exhaustive
def test_a_history_names_the_change_set_that_made_a_step(service: Service) -> None:
    """A participant who lost points without a new record must see why, and that it was undone."""
    spring(service)
    publish(service, "spring")
    proposal = proposed(service, "adjustment", {"board": "bots", "id": "c", "points": -500})
    apply(service, "spring", proposal.id, reason="plagiarism", by=ORGANISER)
    publish(service, "spring")
    roll_back(service, "spring", proposal.id, reason="it was wrong", by=ORGANISER)
    publish(service, "spring")
    *_, earlier, applied, undone = history(service, view(service, ANONYMOUS), "bots", "c")
    assert earlier.by is None
    cause = StepCause(change=proposal.id, kind="adjustment", reason="plagiarism", rolled_back=False)
    assert applied.by == cause
    assert undone.by == replace(cause, rolled_back=True)


@pytest.mark.exhaustive
def test_moves_by_records_and_by_a_change_between_them_are_separate_events(
    service: Service,
) -> None:
    """Records before and after a change also move participants; the change did not cause that."""
    spring(service)
    publish(service, "spring")
    before = len(rank_events(service))
    play(service, 9, 16)
    proposal = proposed(service, "adjustment", {"board": "judges", "id": "j1", "points": 1})
    apply(service, "spring", proposal.id, by=ORGANISER)
    play(service, 17, 24)
    publish(service, "spring")
    events = rank_events(service)[before:]
    by_change = [one for one in events if one.body["causes"][0]["kind"] == "change-applied"]
    # j1 gains a point by it, and j2 loses the rank they shared; the bots moved by matches.
    assert [one.body["board"] for one in by_change] == ["judges"]
    assert {one["id"] for one in by_change[0].body["moved"]} == {"j2"}
    for one in events:
        if one not in by_change:
            assert one.body["causes"] == [{"kind": "records", "count": 8 * 4}]


@pytest.mark.exhaustive
def test_a_roll_back_causes_an_event(service: Service) -> None:
    """Participants notified of lost points are also notified when they are restored."""
    spring(service)
    proposal = proposed(service, "adjustment", {"board": "judges", "id": "j1", "points": 1})
    apply(service, "spring", proposal.id, by=ORGANISER)
    publish(service, "spring")
    roll_back(service, "spring", proposal.id, reason="it was wrong", by=ORGANISER)
    publish(service, "spring")
    causes = [cause for one in rank_events(service) for cause in one.body["causes"]]
    assert [cause["kind"] for cause in causes if "change" in cause] == [
        "change-applied",
        "change-rolled-back",
    ]


def test_a_change_is_rejected_if_the_ledger_moved_since_its_dry_run(service: Service) -> None:
    """The report is about another state; the error names both positions; a flag overrides it."""
    spring(service)
    proposal = proposed(service, "void", {"people": ["j2"]})
    recorded = play(service, 9, 9)
    with pytest.raises(Conflict, match=rf"at {recorded.last_seq} .* at {proposal.dry_run_at}"):
        apply(service, "spring", proposal.id, by=ORGANISER)
    apply(service, "spring", proposal.id, by=ORGANISER, even_if_moved=True)
    publish(service, "spring")
    assert "j2" not in rows(service, "judges")


def test_a_change_without_a_dry_run_is_not_applied(service: Service) -> None:
    """A change set exists to be previewed."""
    spring(service)
    proposal = propose(
        service, "spring", kind="void", params={"people": ["j2"]}, reason="r", by=ORGANISER
    )
    with pytest.raises(Conflict, match="no dry run yet"):
        apply(service, "spring", proposal.id, by=ORGANISER)


def test_a_change_is_applied_cancelled_and_rolled_back_once(service: Service) -> None:
    """A change applied twice would count twice."""
    spring(service)
    points = {"board": "judges", "id": "j1", "points": 1}
    proposal = proposed(service, "adjustment", points)
    with pytest.raises(Conflict, match="only applied ones"):
        roll_back(service, "spring", proposal.id, reason="r", by=ORGANISER)
    apply(service, "spring", proposal.id, by=ORGANISER)
    for again in (apply, cancel):
        with pytest.raises(Conflict, match="is applied"):
            again(service, "spring", proposal.id, by=ORGANISER)
    roll_back(service, "spring", proposal.id, reason="r", by=ORGANISER)
    with pytest.raises(Conflict, match="is rolled-back"):
        roll_back(service, "spring", proposal.id, reason="r", by=ORGANISER)
    other = proposed(service, "adjustment", points)
    cancel(service, "spring", other.id, by=ORGANISER)
    with pytest.raises(Conflict, match="is cancelled"):
        apply(service, "spring", other.id, by=ORGANISER)
    with pytest.raises(Conflict, match="is cancelled"):
        dry_run(service, "spring", other.id)


def test_only_staff_change_a_contest(service: Service) -> None:
    """A participant neither proposes nor sees proposals."""
    spring(service)
    proposal = proposed(service, "void", {"people": ["j2"]})
    participant = Local(service, by=PARTICIPANT).changes
    with pytest.raises(Forbidden):
        participant.propose(
            "spring", ChangeSetCreate(kind="void", params={"people": ["j1"]}, reason="r")
        )
    for use in (participant.apply, participant.cancel, participant.get):
        with pytest.raises(Forbidden):
            use("spring", proposal.id)
    with pytest.raises(Forbidden):
        participant.roll_back("spring", proposal.id, ReasonRequest(reason="r"))
    with pytest.raises(Forbidden):
        list(participant.list("spring"))
    assert changes(service, view(service, ORGANISER)) == [proposal]
    assert change(service, view(service, ORGANISER), proposal.id) == proposal


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "params", "error", "message"),
    [
        ("rule", {}, Unreadable, "did you mean rules"),
        ("rules", {"editon": "x"}, Unreadable, "did you mean edition"),
        ("rules", {"edition": "nope"}, NotFound, "nope"),
        ("rules", {"overrides": {"control": "cost"}}, InvalidRule, "control=cost: matches of a"),
        ("void", {}, Unreadable, "at least one record or id"),
        ("void", {"records": ["votes/m1/nobody"]}, NotFound, "votes/m1/nobody"),
        ("void", {"people": "ada"}, Unreadable, "give lists"),
        ("adjustment", {"board": "bots", "id": "a"}, Unreadable, "points"),
        ("adjustment", {"board": "bot", "id": "a", "points": 1}, NotFound, "did you mean bots"),
        ("adjustment", {"board": "bots", "id": "a", "points": float("nan")}, Unreadable, "points"),
        ("rejudge", {}, Unreadable, "no programs"),
    ],
)
def test_invalid_changes_are_rejected_with_the_reason(
    service: Service, kind: str, params: dict[str, Any], error: type[AgonError], message: str
) -> None:
    """A misspelt change would have no effect."""
    spring(service)
    with pytest.raises(error, match=message):
        propose(service, "spring", kind=kind, params=params, reason="r", by=ORGANISER)


def test_voiding_voided_records_is_rejected(service: Service) -> None:
    """A change without effect would still cause an event."""
    spring(service)
    apply(service, "spring", proposed(service, "void", {"people": ["j2"]}).id, by=ORGANISER)
    with pytest.raises(Conflict, match="nothing to void"):
        proposed(service, "void", {"records": ["votes/m1/j2"]})


@pytest.mark.exhaustive
def test_the_report_lists_the_largest_moves_and_counts_all(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of rules can move a million participants; the report stays readable."""
    spring(service)
    monkeypatch.setattr(dry_runs, "MAX_MOVES", 2)
    proposal = proposed(service, "rules", {"overrides": {"elo_start": 1200}})
    assert proposal.report is not None
    bots = proposal.report["boards"]["bots"]
    assert (len(bots["moves"]), bots["summary"]["moved"]) == (2, 8)


def test_a_void_shows_the_weights_it_changes(service: Service) -> None:
    """On a network, the weight of each uid is what matters."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=LOCAL)
    records = [("validators", {"id": f"v{n}", "stake": 10.0}, None) for n in range(3)]
    for uid, score in ((1, 0.9), (2, 0.5)):
        row = {"id": f"s{uid}", "miner_uid": uid, "submitted_at": "2026-01-01T00:00:00Z"}
        records.append(("submissions", row, None))
        records += [
            ("evaluations", {"submission_id": f"s{uid}", "validator_id": f"v{n}", "score": score,
                             "epoch": 1}, None)
            for n in range(3)
        ]  # fmt: skip
    record(service, "net", records, by=LOCAL)
    publish(service, "net")
    proposal = propose(
        service, "net", kind="void", params={"people": ["1"]}, reason="copied", by=LOCAL
    )
    report = dry_run(service, "net", proposal.id).report
    assert report is not None
    weights = report["boards"]["weights"]["weights"]
    assert {one["id"] for one in weights} == {"0", "1"}  # what uid 1 loses burns
    (first,) = [one for one in weights if one["id"] == "1"]
    assert first["after"] == {"weight": 0.0, "u16": 0}
    assert first["before"]["u16"] > 0
    apply(service, "net", proposal.id, by=LOCAL)
    published = publish(service, "net").snapshots
    assert published[0].board_sha256 == report["boards"]["weights"]["board_sha256"]["after"]


@pytest.mark.exhaustive
def test_a_final_result_changes_only_by_change_sets(service: Service) -> None:
    """Records are rejected after the end; a change set is applied and announced."""
    spring(service)
    finalize(service, "spring", by=ORGANISER)
    with pytest.raises(Conflict):
        play(service, 9, 9)
    proposal = proposed(service, "void", {"people": ["j2"]})
    applied = apply(service, "spring", proposal.id, by=ORGANISER)
    assert publish(service, "spring").snapshots[0].seq == applied.applied_at
    assert rank_events(service)


@settings(
    deadline=None,
    max_examples=size(60, at_least=3, dear=True),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    kind=st.sampled_from(["rules", "void", "adjustment", "rejudge", "x"]),
    params=st.dictionaries(
        st.sampled_from(["edition", "overrides", "records", "people", "board", "id", "points",
                         "problem", "submissions", "y"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
        | st.lists(st.integers() | st.text(max_size=5), max_size=3)
        | st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
        max_size=4,
    ),
)  # fmt: skip
def test_any_proposal_gets_a_change_or_an_error_message(
    service: Service, kind: str, params: dict[str, Any]
) -> None:
    """Parameters come from any client's JSON: each is rejected with a reason or dry-run."""
    with suppress(Conflict):
        spring(service)
    with suppress(AgonError):
        proposed(service, kind, params)
