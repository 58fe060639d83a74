"""Dojo contests with problems and submissions, in the state that jobs need."""

from collections.abc import Mapping
from typing import Any

from agon.app.access.permissions import LOCAL
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.queue.jobs import JudgingTask, gate_job, judge_job
from agon.app.service import Service
from agon.app.worker.local_source import LocalSource
from agon.app.worker.loop import JobWorker, Run
from agon.disciplines.dojo.canonical import source_hash
from agon.entities.contests import Contest, StoredEntry
from agon.entities.jobs import Job, JobKind
from agon.ledger.entry import Draft, EntryLine, read_line

SQUARES = "def seq(n):\n    return n * n\n"
RIGHT = "def solver():\n    return [n * n for n in range(1, 21)]\n"
PROBLEM = source_hash(SQUARES.encode())
PACKAGE: Mapping[str, Any] = {
    "title": "squares", "interface": "seq", "N_check": 20, "setter_user_id": "gus",
    "freeze_started_at": None, "source": SQUARES,
}  # fmt: skip


def dojo(service: Service) -> Contest:
    """Create a dojo contest."""
    return create(service, NewContest(id="autumn", discipline="dojo", title="Autumn"), by=LOCAL)


def gated(service: Service, package: Mapping[str, Any] = PACKAGE) -> Job:
    """Add the job of a problem's gate."""
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        job = gate_job(
            contest, id=service.new_id(), problem=PROBLEM, package=package, by="user:gus"
        )
        return session.queue.add(job, now=service.clock())


def published(service: Service) -> int:
    """Publish the problem without a gate; return the position of its entry."""
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        terms = [str(n * n) for n in range(1, 21)]
        body = {"problem": PROBLEM, "package": {**PACKAGE, "terms": terms}}
        draft = Draft(kind="problem-published", body=body, at=service.clock(), by="user:gus")
        row = {"id": PROBLEM, "n_check": 20, "setter_user_id": "gus", "p_hash": PROBLEM}
        record = Draft(
            kind="record-added", body={"table": "problems", "row": row}, at=service.clock(),
            by="user:gus",
        )  # fmt: skip
        return append(service, session, contest, [draft, record]).seq - 1


def submitted(
    service: Service, problem_seq: int, *, name: str = "s1", source: str = RIGHT, **more: Any
) -> Job:
    """Receive a submission and add the job of its verdict."""
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        body = {
            "submission": name,
            "user": "ada",
            "problem": PROBLEM,
            "content": {"source": source, "method_tag": "closed form", "notes": None},
        }
        draft = Draft(kind="submission-received", body=body, at=service.clock(), by="user:ada")
        contest = append(service, session, contest, [draft])
        judging = JudgingTask(
            submission=name, seq=contest.seq, problem_seq=problem_seq, source=source, n_check=20,
            **more,
        )  # fmt: skip
        job = judge_job(contest, judging, id=service.new_id(), by="user:ada")
        return session.queue.add(job, now=service.clock())


def work(service: Service, runners: Mapping[JobKind, Run], *, worker: str = "w1") -> None:
    """Run jobs until none is due."""
    JobWorker(LocalSource(service, worker=worker), runners).work(idle=False)


def job_of(service: Service, job: Job) -> Job:
    """Return a job."""
    with service.store.read() as session:
        return session.queue.get(job.id)


def entries(service: Service, *kinds: str) -> list[EntryLine]:
    """Return the ledger's entries of some kinds (none: all)."""
    with service.store.read() as session:
        no = session.contests.get("autumn").no
        stored: list[StoredEntry] = list(session.entries.after(no))
    lines = [read_line(entry.line) for entry in stored]
    return [entry for entry in lines if not kinds or entry.kind in kinds]
