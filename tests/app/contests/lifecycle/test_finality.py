"""A final result is taken back for ten minutes, while nobody was told of it."""

from datetime import timedelta

import pytest

from agon.app.contests.cases.cases import decide, open_case
from agon.app.contests.changes.change_sets import propose
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.lifecycle.finality import (
    FINALIZED,
    UNDO,
    finalization,
    restore,
    unfinalize,
    void,
)
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.queue import leases
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest, Event
from agon.entities.jobs import NewJob
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.errors import Conflict, Unreadable
from agon.ledger.fold import empty_ledger, fold
from fakes.contests import simulated_rows
from fakes.service import ORGANISER


@pytest.fixture
def spring(service: Service) -> Service:
    """Open a contest."""
    create(service, NewContest(id="spring", discipline="community", title="S"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    return service


def undo(service: Service, by: Caller = ORGANISER, reason: str = "too early") -> Contest:
    """Take the final result back."""
    return unfinalize(service, "spring", reason=reason, by=by)


def wait(service: Service, time: timedelta) -> None:
    """Let time pass."""
    service.clock.at += time  # type: ignore[attr-defined]


@pytest.mark.sample(1)
@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_final_result_is_taken_back_to_what_was_before(
    spring: Service, *, is_frozen: bool
) -> None:
    """One click made a result final without a way back."""
    before = freeze(spring, "spring", by=ORGANISER).frozen_at if is_frozen else None
    for _ in range(2):  # and again
        assert finalize(spring, "spring", by=ORGANISER).state == "final"
        wait(spring, UNDO / 2)
        contest = undo(spring)
        assert (contest.state, contest.frozen_at, contest.finalized_at) == (
            "frozen" if is_frozen else "open", before, None
        )  # fmt: skip
    with spring.store.read() as session:
        lines = [each.line for each in session.entries.after(contest.no)]
    folded = fold(lines, start=empty_ledger("spring")).contest
    assert (folded.state, folded.frozen_at) == (contest.state, contest.frozen_at)
    with pytest.raises(Conflict, match="it has to be final"):
        undo(spring)  # sent twice


def test_it_stays_when_somebody_relies_on_it(spring: Service) -> None:
    """Told is told: a webhook, a correction, or ten minutes."""
    final = finalize(spring, "spring", by=ORGANISER)
    with pytest.raises(Unreadable):
        undo(spring, reason=" ")
    edit(spring, "spring", {"title": "Spring"}, by=ORGANISER)  # a typo does not count
    now = spring.clock()
    with spring.store.write() as session:
        webhook = Webhook(
            id="w", contest_no=final.no, url="https://a.example", events=(), secret=b"",
            active=True, staff=False, by="olga", created_at=now,
        )  # fmt: skip
        session.webhooks.save(webhook)
        event = session.events.add(
            Event(no=0, contest_no=final.no, seq=final.finalized_at or 0, at=now, kind=FINALIZED,
                  body={})
        )  # fmt: skip
        delivery = DeliveryLog(id="d", webhook_id="w", event_no=event.no, state="waiting",
                               attempts=(), created_at=now)  # fmt: skip
        session.webhooks.log(delivery)
    assert finalization(spring, final).obstacle is None
    wait(spring, UNDO)
    with pytest.raises(Conflict, match="for 10 minutes"):
        undo(spring)
    wait(spring, -UNDO)
    with spring.store.write() as session:
        session.webhooks.log(
            DeliveryLog(id="d", webhook_id="w", event_no=event.no, state="waiting",
                        attempts=({"error": "timeout"},), created_at=now)
        )  # fmt: skip
    with pytest.raises(Conflict, match="a webhook has sent"):
        undo(spring)
    assert finalization(spring, final).obstacle == "a webhook has sent the final result"


def test_what_is_open_is_counted_before(spring: Service) -> None:
    """Submissions without a verdict and proposals are named on the page before the button."""
    with spring.store.write() as session:
        contest = session.contests.get("spring")
        job = NewJob(id="j1", kind="judge", payload={}, contest_no=contest.no)
        session.queue.add(job, now=spring.clock())
    points = {"board": "user-score", "id": "u", "points": 1}
    propose(spring, "spring", kind="adjustment", params=points, reason="r", by=ORGANISER)
    found = finalization(spring, contest)
    assert (found.submissions, found.changes, found.cases, found.rounds) == (1, 1, 0, ())
    assert (found.undo_until, found.obstacle) == (None, None)


def test_a_result_that_was_void_in_between_is_taken_back_in_its_ten_minutes(
    spring: Service,
) -> None:
    """To declare it void and to restore it leaves the contest as it was: final since then."""
    finalize(spring, "spring", by=ORGANISER)
    wait(spring, UNDO / 2)
    void(spring, "spring", reason="a leak", by=ORGANISER)
    final = restore(spring, "spring", reason="no leak", by=ORGANISER)
    assert finalization(spring, final).undo_until is not None
    wait(spring, UNDO / 2)
    with pytest.raises(Conflict, match="a final result can be undone for 10 minutes"):
        undo(spring)  # counted from the final result
    wait(spring, -UNDO / 2)
    assert undo(spring).state == "open"


def test_programs_are_judged_whose_verdicts_a_void_contest_refused(spring: Service) -> None:
    """Their jobs failed for good, although the contest counted again within minutes."""
    with spring.store.write() as session:
        no = session.contests.get("spring").no
        for name in ("before", "meanwhile"):
            job = NewJob(id=name, kind="judge", payload={}, contest_no=no, max_attempts=1)
            session.queue.add(job, now=spring.clock())

    def fail() -> str:
        job = leases.claim(spring, ["judge"], worker="w")
        assert job is not None
        leases.fail(spring, job.id, lease=job.lease or "", cause="why", retry=False)
        return job.id

    assert fail() == "before"
    void(spring, "spring", reason="a leak", by=ORGANISER)
    assert fail() == "meanwhile"
    restore(spring, "spring", reason="no leak", by=ORGANISER)
    with spring.store.read() as session:
        states = {name: session.queue.get(name).state for name in ("before", "meanwhile")}
    assert states == {"before": "failed", "meanwhile": "queued"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("state", ["open", "frozen", "final"])
def test_a_void_contest_takes_nothing_and_is_restored_to_what_it_was(
    spring: Service, state: str
) -> None:
    """A contest that could not count stayed final, or open, for ever."""
    if state != "open":
        {"frozen": freeze, "final": finalize}[state](spring, "spring", by=ORGANISER)
    with pytest.raises(Unreadable):
        void(spring, "spring", reason=" ", by=ORGANISER)
    with pytest.raises(Conflict, match="has to be void"):
        restore(spring, "spring", reason="why", by=ORGANISER)
    before = spring.store.read()
    with before as session:
        was = session.contests.get("spring")
    contest = void(spring, "spring", reason="a leak", by=ORGANISER)
    assert contest.was_finalized == (state == "final")
    assert (contest.state, contest.void_reason, contest.voided_at) == (
        "void", "a leak", contest.seq
    )  # fmt: skip
    assert contest.public_until == was.public_until  # what is frozen stays hidden
    for step in (freeze, finalize):
        with pytest.raises(Conflict, match=r"spring is void \(a leak\) and takes nothing more"):
            step(spring, "spring", by=ORGANISER)
    with pytest.raises(Conflict, match=r"spring is void \(a leak\) and takes nothing more"):
        void(spring, "spring", reason="twice", by=ORGANISER)
    with pytest.raises(Conflict, match="a leak"):
        record(spring, "spring", simulated_rows("community", 12), by=ORGANISER)
    with pytest.raises(Conflict, match=r"spring is void \(a leak\)"):
        edit(spring, "spring", {"ends_at": None, "starts_at": spring.clock()}, by=ORGANISER)
    edit(spring, "spring", {"title": "Spring"}, by=ORGANISER)  # a typo does not count
    assert finalization(spring, contest).obstacle is None
    restored = restore(spring, "spring", reason="another one", by=ORGANISER)
    assert (restored.state, restored.void_reason) == (state, None)
    assert (restored.frozen_at, restored.finalized_at) == (was.frozen_at, was.finalized_at)
    void(spring, "spring", reason="it is", by=ORGANISER)
    wait(spring, UNDO)
    with pytest.raises(Conflict, match="for 10 minutes"):
        restore(spring, "spring", reason="late", by=ORGANISER)
    with spring.store.read() as session:
        lines = [each.line for each in session.entries.after(contest.no)]
    assert fold(lines, start=empty_ledger("spring")).contest.state == "void"


def test_a_refused_restore_names_what_followed_and_what_to_do(spring: Service) -> None:
    """A decision about people may have been told to them, so the contest stays void."""
    void(spring, "spring", reason="a leak", by=ORGANISER)
    case = open_case(spring, "spring", title="two accounts", subjects=["u1"], text="why",
                     by=ORGANISER)  # fmt: skip
    decide(spring, "spring", case.id, decision="void", reason="one person", by=ORGANISER)
    with pytest.raises(Conflict) as refused:
        restore(spring, "spring", reason="no leak", by=ORGANISER)
    assert "spring stays void: an entry of kind decision made followed at 20" in str(refused.value)
    assert "agon contest export spring writes them" in str(refused.value)
