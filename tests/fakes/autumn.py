"""A dojo contest ``autumn`` with a published problem, without running its setter."""

from typing import Any

from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.app.worker.outcome_records import record_once
from agon.disciplines.dojo.canonical import source_hash
from agon.ledger.entry import Draft
from fakes.service import ORGANISER

SQUARES = "def seq(n):\n    return n * n\n"
CUBES = "def seq(n):\n    return n * n * n\n"
RIGHT = "def solver():\n    return [n * n for n in range(1, 201)]\n"


def autumn(service: Service) -> str:
    """Create and open the contest with the problem of squares; return the problem's id."""
    create(service, NewContest(id="autumn", discipline="dojo", title="Autumn"), by=ORGANISER)
    open_contest(service, "autumn", by=ORGANISER)
    return publish(service, SQUARES)


def publish(service: Service, source: str, **changed: Any) -> str:
    """Publish a problem of 200 terms, as a gate job does after the setter passed."""
    name = source_hash(source.encode())
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102 (a setter of these tests)
    package = {
        "title": "Sequence", "interface": "seq", "N_check": 200, "setter_user_id": "gus",
        "freeze_started_at": None, "source": source,
        "terms": [str(space["seq"](n)) for n in range(1, 201)], **changed,
    }  # fmt: skip
    freeze = package["freeze_started_at"]
    row = {"id": name, "n_check": package["N_check"], "setter_user_id": "gus", "p_hash": name}
    entered(
        service,
        Draft(kind="problem-published", body={"problem": name, "package": package},
              at=service.clock(), by="user:olga"),
        Draft(kind="record-added", at=service.clock(), by="user:olga",
              body={"table": "problems", "row": row | ({"freeze_started_at": freeze}
                                                       if freeze else {})}),
    )  # fmt: skip
    return name


def judged(
    service: Service, submission: str, problem: str, *, replace: bool = False, **changed: Any
) -> None:
    """Record a submission's verdict, as a judge job does."""
    row: dict[str, Any] = {
        "id": submission, "problem_id": problem, "user_id": "ada",
        "created_at": "2026-11-22T10:00:00.000000Z", "source": RIGHT,
        "source_hash": source_hash(RIGHT.encode()), "l_chars": len(RIGHT), "verdict": "ok",
        "terms_matched": 200, **changed,
    }  # fmt: skip
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        record_once(service, session, contest, [("submissions", row)], by="worker:w1",
                    replace=replace, external_id=service.new_id())  # fmt: skip


def entered(service: Service, *drafts: Draft) -> None:
    """Append drafts to the ledger."""
    with service.store.write() as session:
        append(service, session, session.contests.lock("autumn"), drafts)
