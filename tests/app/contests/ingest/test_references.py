"""Test that checks of several rows cover the complete ledger, not only one request."""

from typing import Any

import pytest

from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.ledger.entry import Draft
from agon.records import InvalidRecords
from fakes.service import ORGANISER

TIME = "2026-11-22T00:00:00Z"


@pytest.fixture
def net(service: Service) -> Service:
    """Create a challenge with a validator and a competition."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=ORGANISER)
    _add(service, "validators", {"id": "v1", "stake": 5.0, "epoch": 1})
    _add(service, "competitions", {"id": "main", "emission_share": 0.7})
    return service


def _add(service: Service, table: str, row: dict[str, Any], *, replace: bool = False) -> None:
    record(service, "net", [(table, row, None)], by=ORGANISER, replace=replace)


@pytest.mark.parametrize(
    ("table", "row", "reason"),
    [
        ("validators", {"id": "v1", "stake": 6.0, "epoch": 1}, "more than one stake"),
        ("competitions", {"id": "side", "emission_share": 0.4}, "sum to more than 1"),
        ("submissions", {"id": "s", "miner_uid": 1, "submitted_at": TIME, "competition": "no"},
         "not among the competitions"),
    ],
)  # fmt: skip
def test_a_row_that_contradicts_earlier_requests_is_rejected(
    net: Service, table: str, row: dict[str, Any], reason: str
) -> None:
    """A ledger with it could not be scored, and entries are permanent."""
    with pytest.raises(InvalidRecords, match=reason) as error:
        _add(net, table, row)
    assert error.value.total == 1
    with net.store.read() as session:
        assert session.contests.get("net").seq == 3


@pytest.mark.exhaustive
def test_rows_without_a_contradiction_are_accepted(net: Service) -> None:
    """The tables are the same, without contradiction."""
    _add(net, "validators", {"id": "v1", "stake": 6.0, "epoch": 2})
    _add(net, "competitions", {"id": "side", "emission_share": 0.3})
    submission = {"id": "s", "miner_uid": 1, "submitted_at": TIME, "competition": "side"}
    _add(net, "submissions", submission)


@pytest.mark.exhaustive
def test_a_replaced_row_does_not_count(net: Service) -> None:
    """Only the rows in force are summed."""
    _add(net, "competitions", {"id": "main", "emission_share": 0.2}, replace=True)
    _add(net, "competitions", {"id": "side", "emission_share": 0.8})


def test_a_voided_row_does_not_count(net: Service) -> None:
    """A stake that was recorded by mistake can be recorded again."""
    body = {"seqs": [2], "subjects": [], "change": None, "reason": "mistyped"}
    with net.store.write() as session:
        draft = Draft(kind="records-voided", body=body, at=net.clock(), by="user:olga")
        append(net, session, session.contests.lock("net"), [draft])
    _add(net, "validators", {"id": "v1", "stake": 6.0, "epoch": 1})


BOT = {"id": "x", "name": "x"}


def tied(a: str, b: str, **more: Any) -> dict[str, Any]:
    """Write a match that ended in a tie."""
    row = {"id": 1, "bot_a": a, "bot_b": b, "kind": "rated", "played_at": TIME, "winner": "tie"}
    return row | more


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        ([("bots", BOT), ("matches", tied("x", "z"))], ["z"]),
        ([("matches", tied("w", "z")), ("bots", {**BOT, "id": "z"})],
         ["w"]),  # z comes later
        ([("bots", {"id": "z", "name": None}), ("matches", tied("z", "y"))],
         ["y"]),  # z is given, in a row with an issue of its own
        ([("cats", {"id": "z"}), ("matches", tied("z", "y"))],
         []),  # the values of the first line are unknown
    ],
)  # fmt: skip
def test_unknown_references_are_listed_with_all_other_issues(
    service: Service, rows: list[tuple[str, dict[str, Any]]], missing: list[str]
) -> None:
    """They came alone, in a second answer, once everything else had been corrected."""
    create(service, NewContest(id="cup", discipline="arena", title="Cup"), by=ORGANISER)
    wrong = ("matches", tied("x", "x", id=2, weight=0))
    with pytest.raises(InvalidRecords) as error:
        record(service, "cup", [(*row, None) for row in [("bots", BOT), wrong, *rows]],
               by=ORGANISER)  # fmt: skip
    issues = error.value.issues
    assert [each.value for each in issues if each.code == "unknown-reference"] == missing
    assert {"weight", "bot_b"} <= {each.column for each in issues}
