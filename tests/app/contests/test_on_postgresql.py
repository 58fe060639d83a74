"""Test writing on PostgreSQL: its locks, unique keys and bulk inserts."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from agon.app.access.passwords import check_password
from agon.app.access.tokens import Grant, create_token, revoke_token
from agon.app.access.users import disable_user
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transfer import export, import_contest
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.service import Service
from agon.client.local import Local
from agon.errors import AgonError, Conflict, NotFound, Unauthenticated, Unreadable
from agon.ledger.fold import empty_ledger, fold
from agon.records import InvalidRecords
from fakes.service import OPERATOR, ORGANISER, service_at
from postgresql_server import Postgresql

TIME = "2026-11-22T00:00:00Z"


@pytest.fixture
def instance(postgresql: Postgresql, tmp_path: Path) -> Iterator[Service]:
    """Open a service on an empty PostgreSQL database."""
    opened = service_at(tmp_path, url=postgresql.service())
    yield opened
    opened.store.close()


def _bots(start: int, count: int) -> list[tuple[str, dict[str, str], None]]:
    return [("bots", {"id": f"b{n}", "name": "B"}, None) for n in range(start, start + count)]


def test_a_contest_on_postgresql_equals_one_on_sqlite(
    instance: Service, service: Service, tmp_path: Path
) -> None:
    """Its ledger can be moved from one to the other."""
    create(instance, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    open_contest(instance, "spring", by=ORGANISER)
    rows = [*_bots(0, 2000), ("matches", {"id": "m1", "played_at": TIME, "bot_a": "b1",
                                          "bot_b": "b2", "kind": "rated"}, None)]  # fmt: skip
    assert record(instance, "spring", rows, by=ORGANISER).added == 2001
    assert record(instance, "spring", rows, by=ORGANISER).repeated == 2001
    line = b'{"table":"bots","row":{"id":"b1","name":"other"},"external_id":"e"}'
    with pytest.raises(Conflict, match="entry 4 with other content"):
        record(instance, "spring", read_ndjson([line]), by=ORGANISER)
    assert record(instance, "spring", read_ndjson([line]), by=ORGANISER, replace=True).replaced == 1
    freeze(instance, "spring", by=ORGANISER)
    final = finalize(instance, "spring", by=ORGANISER)
    export(instance, "spring", tmp_path / "out")
    assert import_contest(service, tmp_path / "out", by=ORGANISER).head == final.head


def test_requests_that_postgresql_cannot_store_are_rejected(instance: Service) -> None:
    """Text of PostgreSQL cannot have NUL characters."""
    create(instance, NewContest(id="dojo", discipline="dojo", title="Dojo"), by=ORGANISER)
    attempts: list[tuple[type[AgonError], Callable[[], object]]] = [
        (NotFound, lambda: Local(instance, by=ORGANISER).records.add("a\0b", [])),
        (
            InvalidRecords,
            lambda: record(instance, "dojo", [("problems", {"id": "a\0"}, None)], by=ORGANISER),
        ),
        (
            Unreadable,
            lambda: create(
                instance,
                NewContest(id="d2", discipline="dojo", title="D", description="\0"),
                by=ORGANISER,
            ),
        ),
        (
            NotFound,
            lambda: submit(
                instance,
                "dojo",
                SubmissionContent(user="a", problem="\0", content={"source": "x = 1"}),
                by=ORGANISER,
            ),
        ),
        (
            Unreadable,
            lambda: submit(
                instance,
                "dojo",
                SubmissionContent(user="a", problem="p", external_id="\0", content={}),
                by=ORGANISER,
            ),
        ),
        (NotFound, lambda: create_token(instance, Grant(user="\0", role="judge"), by=OPERATOR)),
        (NotFound, lambda: revoke_token(instance, "\0", by=OPERATOR)),
        (NotFound, lambda: disable_user(instance, user="\0", by=OPERATOR)),
        (Unauthenticated, lambda: check_password(instance, user="\0", password="x")),  # noqa: S106 - a test's
    ]
    for error, attempt in attempts:
        with pytest.raises(error):
            attempt()


def test_writers_at_the_same_time_keep_one_chain(instance: Service) -> None:
    """The lock makes them write one after the other, and nothing is lost."""
    create(instance, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)

    def write(start: int) -> None:
        for at in range(start, start + 50, 10):
            record(instance, "spring", _bots(at, 10), by=ORGANISER)

    threads = [Thread(target=write, args=(100 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with instance.store.read() as session:
        contest = session.contests.get("spring")
        lines = [one.line for one in session.entries.after(contest.no)]
    state = fold(lines, start=empty_ledger("spring")).contest
    assert (state.seq, state.head) == (contest.seq, contest.head)
    assert contest.seq == 201
