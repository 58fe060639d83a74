"""Test two concurrent changes of the same row on PostgreSQL: both take effect.

SQLite has one writer at a time. PostgreSQL has many: a session that reads and then writes without a
lock undoes what another session wrote in between.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.access.tokens import Grant, authenticate, create_token, revoke_token, tokens
from agon.app.access.users import create_user, disable_user, set_password, users
from agon.app.contests.cases.cases import appeal, case, decide, note, open_case
from agon.app.contests.changes.change_sets import dry_run, propose
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.queue import leases
from agon.app.replay.replica_cache import ReplicaCache
from agon.app.service import Service
from agon.app.webhooks.subscriptions import subscribe, unsubscribe
from agon.app.worker.handlers import RESULT_HANDLERS
from agon.entities.access import StoredResponse
from agon.errors import AgonError, Unauthenticated
from fakes.at_once import at_once
from fakes.service import OPERATOR, ORGANISER, service_at
from fakes.spring import play, spring, view
from postgresql_server import Postgresql

PASSWORD = "correct horse battery"  # noqa: S105 - a test's


@pytest.fixture
def instance(postgresql: Postgresql, tmp_path: Path) -> Iterator[Service]:
    """Open a service on an empty PostgreSQL database."""
    opened = service_at(tmp_path, url=postgresql.service())
    yield opened
    opened.store.close()


def test_a_user_disabled_while_their_password_is_set_stays_disabled(
    instance: Service, postgresql: Postgresql
) -> None:
    """A disabled user must not be enabled by a change that read the user before."""
    create_user(instance, user="ada", by=OPERATOR)
    at_once(
        instance, postgresql,
        lambda first: disable_user(first, user="ada", by=OPERATOR),
        lambda second: set_password(second, user="ada", password=PASSWORD, by=OPERATOR),
    )  # fmt: skip
    (ada,) = users(instance)
    assert ada.disabled
    assert ada.password is not None


def test_a_token_is_revoked_once(instance: Service, postgresql: Postgresql) -> None:
    """The audit log has one revocation, and both callers get its time."""
    create_user(instance, user="ada", by=OPERATOR)
    token, _ = create_token(instance, Grant(user="ada", role="judge"), by=OPERATOR)
    second = at_once(
        instance, postgresql,
        lambda first: revoke_token(first, token.id, by=OPERATOR),
        lambda second: revoke_token(second, token.id, by=OPERATOR),
    )  # fmt: skip
    assert [second] == tokens(instance)
    with instance.store.read() as session:
        actions = [line.action for line in session.access.audit_entries()]
    assert actions.count("token.revoke") == 1


def test_a_token_used_while_it_is_revoked_stays_revoked(
    instance: Service, postgresql: Postgresql
) -> None:
    """Storing the time of the last use must not undo the revocation."""
    create_user(instance, user="ada", by=OPERATOR)
    token, text = create_token(instance, Grant(user="ada", role="judge"), by=OPERATOR)
    at_once(
        instance, postgresql,
        lambda first: revoke_token(first, token.id, by=OPERATOR),
        lambda second: authenticate(second, text),
    )  # fmt: skip
    (stored,) = tokens(instance)
    assert stored.revoked_at is not None
    assert stored.used_at is not None
    with pytest.raises(Unauthenticated):
        authenticate(instance, text)


def test_a_case_has_the_note_and_the_appeal_of_the_same_time(
    instance: Service, postgresql: Postgresql
) -> None:
    """Every step is stored; an appeal is decided by them."""
    spring(instance, matches=1)
    opened = open_case(instance, "spring", title="Odd", subjects=["j1"], text="?", by=ORGANISER)
    decide(instance, "spring", opened.id, decision="void", reason="logs", by=ORGANISER)
    at_once(
        instance, postgresql,
        lambda first: note(first, "spring", opened.id, text="asked", by=ORGANISER),
        lambda second: appeal(second, "spring", opened.id, text="but", by=ORGANISER),
    )  # fmt: skip
    stored = case(instance, view(instance, ORGANISER), opened.id)
    assert [step["kind"] for step in stored.steps] == ["opened", "decision", "note", "appeal"]
    assert stored.state == "appealed"


def test_no_two_contests_of_a_series_are_the_same_season(
    instance: Service, postgresql: Postgresql
) -> None:
    """A season is named by its number."""

    def add(service: Service, name: str) -> Any:
        new = NewContest(id=name, discipline="arena", title=name, series="cup")
        return create(service, new, by=ORGANISER)

    add(instance, "cup-1")
    second = at_once(
        instance, postgresql, lambda first: add(first, "cup-2"), lambda second: add(second, "cup-3")
    )
    assert not isinstance(second, AgonError)
    with instance.store.read() as session:
        seasons = {contest.id: contest.season for contest in session.contests.page(series="cup")}
    assert seasons == {"cup-1": 1, "cup-2": 2, "cup-3": 3}


@pytest.mark.exhaustive
def test_a_dry_run_that_began_earlier_does_not_replace_a_later_one(
    instance: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An organizer who applies a change set reads the newest report, not the slowest one."""
    spring(instance, matches=4)
    wanted = {"overrides": {"k_new": 24}}
    proposed = propose(
        instance, "spring", kind="rules", params=wanted, reason="slower", by=ORGANISER
    )
    module: Any = __import__("agon.app.contests.changes.dry_runs", fromlist=["_report"])
    report = module._report
    later: list[Any] = []

    def slow(*arguments: Any) -> Any:
        if not later:
            later.append(None)
            play(instance, 5, 6)
            later.append(dry_run(replace(instance, replicas=ReplicaCache()), "spring", proposed.id))
        return report(*arguments)

    monkeypatch.setattr(module, "_report", slow)
    assert dry_run(instance, "spring", proposed.id) == later[1]
    with instance.store.read() as session:
        contest = session.contests.get("spring")
        assert session.changes.get(contest.no, proposed.id).dry_run_at == contest.seq


def test_a_webhook_removed_while_its_delivery_is_logged_ends_the_job(
    instance: Service, postgresql: Postgresql
) -> None:
    """The webhook was removed, which is not an error for operators."""
    create(instance, NewContest(id="spring", discipline="arena", title="S"), by=ORGANISER)
    webhook, _ = subscribe(instance, "spring", url="https://hooks.example/in", by=ORGANISER)
    open_contest(instance, "spring", by=ORGANISER)
    job = leases.claim(instance, ["deliver"], worker="w")
    assert job is not None
    outcome = {
        "attempt": {"at": "2026-11-22T09:00:00Z", "status": 200, "ms": 1},
        "state": "delivered",
    }
    ended = at_once(
        instance, postgresql,
        lambda first: unsubscribe(first, "spring", webhook.id, by=LOCAL),
        lambda second: leases.complete(
            second, job.id, lease=job.lease or "", outcome=outcome, handlers=RESULT_HANDLERS
        ),
    )  # fmt: skip
    assert not isinstance(ended, AgonError)
    assert (ended.state, ended.result) == ("done", {"state": "removed"})


def test_one_of_two_repetitions_of_a_request_is_carried_out(
    instance: Service, postgresql: Postgresql
) -> None:
    """Two repetitions of a request without a response must have one effect."""
    now = instance.clock()
    lost = StoredResponse(
        caller="t", key="k", request_sha256=b"r" * 32, status=0, headers={}, body=b"",
        at=now - timedelta(hours=1),
    )  # fmt: skip
    with instance.store.write() as session:
        session.access.add_response(lost)
    again = StoredResponse(
        caller="t", key="k", request_sha256=b"r" * 32, status=0, headers={}, body=b"", at=now
    )

    def take(service: Service) -> Any:
        with service.store.write() as session:
            return session.access.take_over_response(again, lost_before=now - timedelta(minutes=10))

    first: list[bool] = []
    second = at_once(instance, postgresql, lambda service: first.append(take(service)), take)
    assert (first, second) == ([True], False)
