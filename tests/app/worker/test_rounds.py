"""Test rounds: one draw from one seed, recorded so that any reader can repeat it."""

from datetime import UTC, datetime
from typing import Any

from agon.app.access.permissions import LOCAL
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.queue.jobs import service_job
from agon.app.service import Service
from agon.app.worker.handlers import service_runners
from agon.disciplines.arena.draws import is_audited, is_honeypot
from agon.disciplines.arena.rounds import METHOD, plan_round
from agon.ledger.entry import Draft, read_line
from app.worker.contests import work

OWNED = {"b1": "o1", "b2": "o1", "b3": "o2", "b4": "o3", "b5": "o4"}


def arena(service: Service, **more: Any) -> None:
    """Return an arena of five bots with four owners."""
    create(service, NewContest(id="autumn", discipline="arena", title="A", **more), by=LOCAL)
    rows: list[tuple[str, dict[str, Any], None]] = [
        ("owners", {"id": one, "handle": one, "account_created_at": None}, None)
        for one in sorted(set(OWNED.values()))
    ]
    rows += [
        ("bots", {"id": bot, "name": bot, "owner_id": owner,
                  "qualified_at": "2026-01-01T00:00:00Z"}, None)
        for bot, owner in OWNED.items()
    ]  # fmt: skip
    record(service, "autumn", rows, by=LOCAL)


def draws(service: Service) -> list[dict[str, Any]]:
    """Return the bodies of the ledger's draws."""
    with service.store.read() as session:
        no = session.contests.get("autumn").no
        lines = [read_line(one.line) for one in session.entries.after(no)]
    return [dict(one.body) for one in lines if one.kind == "draw-made"]


def drawn(service: Service) -> dict[str, Any]:
    """Run the job of a round."""
    with service.store.write() as session:
        job = service_job("round", session.contests.get("autumn"), id="r1", by="user:olga")
        session.queue.add(job, now=service.clock())
    runners = service_runners(service)
    work(service, {"round": runners["round"]})
    (one,) = draws(service)
    return one


def test_a_round_pairs_as_many_bots_as_possible_and_never_two_of_one_owner(
    service: Service,
) -> None:
    """Matchmaking of the seed; a bot without a pair waits."""
    arena(service)
    draw = drawn(service)
    pairs = [(one["bot_a"], one["bot_b"]) for one in draw["result"]["matches"]]
    assert (draw["purpose"], draw["method"]) == ("round r1", METHOD)
    assert len(pairs) == 2
    assert all(OWNED[a] != OWNED[b] for a, b in pairs)
    assert sorted([bot for pair in pairs for bot in pair] + draw["result"]["waiting"]) == sorted(
        OWNED
    )


def test_every_draw_of_a_round_follows_from_its_seed(service: Service) -> None:
    """A reader of the ledger can check that no honeypot and no audit was chosen by hand."""
    arena(service, overrides={"honeypot_probability": 0.5, "audit_probability": 0.5})
    draw = drawn(service)
    for one in draw["result"]["matches"]:
        honeypot = is_honeypot(draw["seed"], one["match"], probability=0.5)
        assert (one["honeypot_real"] is not None) == honeypot
        audited = is_audited(draw["seed"], one["match"], probability=0.5)
        assert one["audited"] == (audited and not honeypot)


def test_the_same_seed_draws_the_same_round(service: Service) -> None:
    """A draw that cannot be repeated cannot be checked; another draw has another seed."""
    arena(service)
    with service.store.read() as session:
        contest = session.contests.get("autumn")
    at = datetime(2026, 11, 22, tzinfo=UTC)
    with service.replicas.current(service.store, contest) as live:
        scored: Any = live.result().scored
        one, same = (plan_round(scored, seed="s", name="r", at=at) for _ in range(2))
    assert one == same


def test_a_final_contest_gets_no_draw(service: Service) -> None:
    """Its ledger accepts no more matches."""
    arena(service)
    open_contest(service, "autumn", by=LOCAL)
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        draft = Draft(kind="contest-finalised", body={"boards": {}}, at=service.clock(), by="x")
        append(service, session, contest, [draft])
        job = service_job("round", contest, id="r1")
        session.queue.add(job, now=service.clock())
    runners = service_runners(service)
    work(service, {"round": runners["round"]})
    assert draws(service) == []
    with service.store.read() as session:
        failed = session.queue.get("r1")
    assert failed.state == "failed"
    assert "is final" in failed.causes[-1]["cause"]
