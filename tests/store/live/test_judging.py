"""Use, measurements and attachments of model judges in a database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from agon.app.arena.judging.limits import CallEnd, Reservation, UsageLimits
from agon.app.arena.judging.usage import StoredUsage
from agon.entities.contests import Contest
from agon.entities.judging import JudgeCount, ModelUsage
from agon.errors import CheckFailed, NotFound
from agon.store import open_store
from agon.store.maintenance.verify import verify
from agon.store.session import Store
from store.factories import later


@pytest.mark.sample(1)
def test_processes_share_one_budget_exactly(url: str) -> None:
    """Four processes that call at the same time use what the budget allows, and no call more."""
    limits = UsageLimits(calls=30, tokens=260, max_failures=3, pause=timedelta(minutes=1))

    def use(_: int) -> int:
        store = open_store(url)
        try:
            meter = StoredUsage(store=store, judge="judge", limits=limits, clock=lambda: later(0))
            reservations = [meter.reserve(10) for _ in range(12)]
            admitted = [r for r in reservations if isinstance(r, Reservation)]
            for reservation in admitted:
                meter.settle(reservation, CallEnd(tokens=7, outcome="worked"))
            return len(admitted)
        finally:
            store.close()

    open_store(url).close()
    with ThreadPoolExecutor(4) as threads:
        admitted = list(threads.map(use, range(4)))
    store = open_store(url)
    with store.read() as session:
        usage = session.judging.usage("judge")
    store.close()
    assert usage.calls == sum(admitted) <= 30
    assert usage.tokens == 7 * usage.calls <= 260


def test_usage_is_kept_by_judge(store: Store) -> None:
    """The budget of audits is not that of judges; a restart forgets nothing."""
    used = ModelUsage(judge="audit", day="2026-01-31", calls=3, tokens=9, failures=1,
                      resumes_at=later(5), cause="late")  # fmt: skip
    with store.write() as session:
        assert session.judging.lock_usage("audit") == ModelUsage(judge="audit")
        session.judging.save_usage(used)
    with store.read() as session:
        assert session.judging.usage("audit") == used
        assert session.judging.usage("judge") == ModelUsage(judge="judge")
        assert session.judging.usages() == [used]


@pytest.mark.exhaustive
def test_counts_add_up(store: Store) -> None:
    """Measurements are standing: each vote adds to them."""
    for successes in (1, 0):
        with store.write() as session:
            session.judging.add_count("m", "flip", successes=successes, trials=1)
            session.judging.add_count("m", "audit", successes=0, trials=successes)
    with store.read() as session:
        assert session.judging.counts() == [
            JudgeCount(judge="m", measure="audit", successes=0, trials=1),
            JudgeCount(judge="m", measure="flip", successes=1, trials=2),
        ]


def test_failed_calls_are_counted_by_reason_with_the_last_one(store: Store) -> None:
    """The operator reads which reason is frequent, and what the server said last."""
    calls = [("invalid", "x"), ("status-400", "y"), ("invalid", "z")]
    for second, (code, detail) in enumerate(calls):
        at = datetime(2026, 1, 31, 12, 0, second, tzinfo=UTC)
        with store.write() as session:
            session.judging.add_failure("m", code, detail=detail, at=at)
    with store.read() as session:
        first, second_failure = session.judging.failures()
    assert (first.code, first.calls, first.detail, first.last_at.second) == ("invalid", 2, "z", 2)
    assert (second_failure.code, second_failure.calls) == ("status-400", 1)


def test_attachments_are_found_by_hash_and_verified(
    store: Store, spring: Contest, url: str
) -> None:
    """An entry names the hash; everyone who has the content can check both."""
    contents = [bytes([number]) for number in range(150)]
    with store.write() as session:
        digests = {session.attachments.add(spring.no, content) for content in contents}
        assert session.attachments.add(spring.no, contents[0]) in digests
    with store.read() as session:
        assert [pair[0] for pair in session.attachments.all(spring.no)] == sorted(digests)
        assert session.attachments.get(spring.no, sha256(b"\x07").hexdigest()) == b"\x07"
        with pytest.raises(NotFound):
            session.attachments.get(spring.no + 1, sha256(b"\x07").hexdigest())
    verify(url).require_no_issues()
    with store.write() as session:
        session.transaction.execute(
            "UPDATE attachments SET content = 'x' WHERE sha256 = "
            f"'{sha256(contents[3]).hexdigest()}'"
        )
    with pytest.raises(CheckFailed, match=r"the attachment [0-9a-f]{64} has another hash"):
        verify(url).require_no_issues()
