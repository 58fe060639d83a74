"""Test that a published row is explained with its published numbers."""

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.explain import explain
from agon.app.contests.boards.pages import page
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.service import Service
from agon.errors import NotFound
from fakes.service import ORGANISER
from fakes.spring import play, spring, view


@pytest.mark.exhaustive
def test_every_row_of_every_snapshot_is_explained_with_its_score_and_rank(service: Service) -> None:
    """Score and rank of an explanation are those of the row, at any position."""
    spring(service)
    positions = [publish(service, "spring").snapshots[0].seq]
    play(service, 9, 16)
    positions.append(publish(service, "spring").snapshots[0].seq)
    params = {"board": "bots", "id": "c", "points": -40}
    change = propose(
        service, "spring", kind="adjustment", params=params, reason="late answers", by=ORGANISER
    )
    dry_run(service, "spring", change.id)
    apply(service, "spring", change.id, by=ORGANISER)
    positions.append(publish(service, "spring").snapshots[0].seq)
    access = view(service, ANONYMOUS)
    for seq in map(str, positions):
        for line in page(service, access, "bots", as_of=seq).lines:
            row = orjson.loads(line)
            explanation = explain(service, access, "bots", row["id"], as_of=seq)
            assert (explanation.score, explanation.rank) == (row["score"], row["rank"])
    explanation = explain(service, access, "bots", "c")
    assert (explanation.parts[-1].points, "late answers" in explanation.parts[-1].text) == (
        -40,
        True,
    )


@pytest.mark.exhaustive
def test_a_row_is_explained_at_its_snapshot_not_at_the_newest_record(service: Service) -> None:
    """Between two publications the ledger has later records, which the board does not have."""
    spring(service)
    publish(service, "spring")
    before = explain(service, view(service, ANONYMOUS), "bots", "b")
    play(service, 9, 20)
    assert explain(service, view(service, ANONYMOUS), "bots", "b") == before


@pytest.mark.exhaustive
def test_an_unscored_id_is_explained_by_its_reason(service: Service) -> None:
    """A participant without a score sees why."""
    spring(service)
    publish(service, "spring")
    explanation = explain(service, view(service, ANONYMOUS), "bots", "idle")
    assert (explanation.score, explanation.reason) == (
        None,
        "has not qualified and has no rated match",
    )


def test_a_request_for_an_unknown_id_keeps_the_contest_in_memory(service: Service) -> None:
    """Any client may request any id; it must not discard a replica of a million records."""
    contest = spring(service)
    publish(service, "spring")
    with service.replicas.current(service.store, contest) as live:
        first = live
    for name in ("nobody", "\x00"):
        with pytest.raises(NotFound):
            explain(service, view(service, ANONYMOUS), "bots", name)
    with service.replicas.current(service.store, contest) as live:
        assert live is first
