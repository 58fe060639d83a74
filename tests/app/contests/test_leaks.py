"""Test that no request of the public returns what happened after a freeze."""

from collections.abc import Callable
from functools import partial
from itertools import product

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.explain import explain
from agon.app.contests.boards.history import history
from agon.app.contests.boards.pages import boards, page, row
from agon.app.contests.boards.participants import participant, participants
from agon.app.contests.boards.proofs import proof
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.findings import scan
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.events import events
from agon.app.contests.lifecycle.transitions import finalize, freeze
from agon.app.service import Service
from agon.client.local import Local
from agon.entities.access import Caller
from agon.errors import AgonError
from fakes.service import JUDGE, OPERATOR, ORGANISER, PARTICIPANT, VIEWER
from fakes.spring import play, spring, view

_LATER = 90
"""A position that only hidden entries reach."""

_TIMES = (None, str(_LATER), "2026-11-22T23:00:00Z", "20", "9" * 17, "2999-12-31T00:00:00Z")
_PARTICIPANTS = {"bots": (*"abc", "idle", "late"), "judges": ("j1", "new")}
_PUBLIC = (ANONYMOUS, VIEWER, PARTICIPANT, JUDGE)
_STAFF = (ORGANISER, OPERATOR)


def _result(request: Callable[[], object]) -> object:
    """Return the response, or the exact error."""
    try:
        return request()
    except AgonError as error:
        return type(error).__name__, str(error)


def _responses(service: Service, caller: Caller) -> list[str]:
    """Send all reading requests, also for unknown values; return the responses as text."""
    access = view(service, caller)
    requests: list[Callable[[], object]] = [
        partial(request, service, access) for request in (boards, events, participants)
    ]
    client = Local(service, by=caller)
    requests += [
        partial(client.integrity.findings, "spring"),
        lambda: list(client.changes.list("spring")),
        lambda: list(client.cases.list("spring")),
    ]
    for number in range(1, 24):
        cursor = str(Cursor(number, 0))
        requests.append(partial(participants, service, access, cursor=cursor))
        requests += [partial(page, service, access, name, cursor=cursor) for name in _PARTICIPANTS]
    for board, ids in _PARTICIPANTS.items():
        for as_of in _TIMES:
            requests.append(partial(page, service, access, board, as_of=as_of))
            requests.append(partial(page, service, access, board, as_of=as_of, unscored=True))
        for id_ in ids:
            requests.append(partial(history, service, access, board, id_, limit=1000))
            requests.append(partial(participant, service, access, id_))
            for as_of, request in product(_TIMES[:3], (row, proof, explain)):
                requests.append(partial(request, service, access, board, id_, as_of=as_of))
    return [repr(_result(request)) for request in requests]


def _hidden(service: Service) -> int:
    """Record what the public must not see, and return the newest position."""
    play(service, 9, 20)
    newcomers = [("bots", {"id": "late", "name": "late"}, None)]
    newcomers += [("judges", {"id": "new", "kind": "person"}, None)]
    record(service, "spring", newcomers, by=ORGANISER)
    publish(service, "spring")
    for kind, params in (
        ("rules", {"overrides": {"k_new": 64}}),
        ("void", {"records": ["matches/m3"]}),
        ("adjustment", {"board": "bots", "id": "b", "points": 5}),
    ):
        change = propose(service, "spring", kind=kind, params=params, reason="why", by=ORGANISER)
        dry_run(service, "spring", change.id)
        apply(service, "spring", change.id, by=ORGANISER)
        publish(service, "spring")
    scan(service, "spring")
    with service.store.read() as session:
        return session.contests.get("spring").seq


@pytest.mark.exhaustive
def test_after_a_freeze_every_public_response_stays_equal_to_the_byte(service: Service) -> None:
    """Any difference would disclose something of the hidden result."""
    spring(service)
    publish(service, "spring")
    play(service, 100, 101)
    freeze(service, "spring", by=ORGANISER)
    publish(service, "spring")
    with service.store.read() as session:
        frozen = session.contests.get("spring").frozen_at
    before = {caller.name: _responses(service, caller) for caller in _PUBLIC}
    newest = _hidden(service)
    assert frozen is not None
    assert newest > _LATER > frozen
    for caller in _PUBLIC:
        assert _responses(service, caller) == before[caller.name]
    assert _responses(service, ORGANISER) != before[ANONYMOUS.name]


@pytest.mark.sample(1)
@pytest.mark.parametrize("caller", _STAFF, ids=lambda caller: str(caller.role))
def test_staff_sees_the_live_boards(service: Service, caller: Caller) -> None:
    """Staff have to see the current boards."""
    spring(service)
    freeze(service, "spring", by=ORGANISER)
    result = page(service, view(service, caller), "bots")
    newest = _hidden(service)
    assert page(service, view(service, caller), "bots").lines != result.lines
    assert page(service, view(service, caller), "bots").snapshot.seq == newest
    assert history(service, view(service, caller), "bots", "b")[-1].seq > result.snapshot.seq


def test_the_end_publishes_what_was_hidden(service: Service) -> None:
    """The final result is public with its history."""
    spring(service)
    freeze(service, "spring", by=ORGANISER)
    _hidden(service)
    live = page(service, view(service, ORGANISER), "bots").lines
    finalize(service, "spring", by=ORGANISER)
    assert page(service, view(service, ANONYMOUS), "bots").lines == live
    assert history(service, view(service, ANONYMOUS), "bots", "b")[-1].seq > 70
