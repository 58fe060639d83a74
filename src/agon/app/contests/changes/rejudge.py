"""Judge a contest's submissions again: jobs find verdicts, which count once they are applied.

The setters run again as well, and must give the same terms, as in a season's folder.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import orjson

from agon.app.contests.submissions.problems import published_problem
from agon.app.dojo.inspection import judging_rules, rules_in_force
from agon.app.dojo.lifecycle import RECEIVED, PublishedProblem, verdict_changes
from agon.app.queue.jobs import MAX_ATTEMPTS, JudgingTask, service_job
from agon.app.service import Service
from agon.disciplines.dojo.records import SUBMISSIONS
from agon.entities.contests import Change, Contest
from agon.entities.jobs import Job, NewJob
from agon.errors import CheckFailed, NotFound
from agon.ledger.entry import EntryLine, read_line
from agon.store.session import Session

VERDICTS: Final = SUBMISSIONS.name
"""The table with the verdicts of programs."""

_UNFINISHED: Final = frozenset({"queued", "leased"})


def queue(service: Service, session: Session, contest: Contest, change: Change) -> Change:
    """Queue a job for every submission to judge again; return the change with the jobs' ids.

    Only submissions sent to this service for problems published here can be judged again.

    Raises:
        NotFound: there is no such submission.
    """
    received = list(_received_submissions(session, contest, change))
    if not received:
        raise NotFound(
            "the change names no submission that was sent to this contest; name one that was"
        )
    problems = {problem.id: problem for _, problem, _ in received}.values()
    wanted = {
        "setters": [_setter_job(service, contest, change, problem) for problem in problems],
        "jobs": [
            _job(service, contest, change, entry, problem, recorded=recorded)
            for entry, problem, recorded in received
        ],
    }
    queued = {
        name: [session.queue.add(job, now=service.clock()).id for job in jobs]
        for name, jobs in wanted.items()
    }
    return replace(change, report={**queued, "done": 0, "rows": []})


def rows_of(session: Session, change: Change) -> tuple[Change, int]:
    """Return a change with the verdicts that differ, and the number of jobs still to end.

    The verdict of a program whose job ended in ``sandbox_error`` stays as it was.

    Raises:
        CheckFailed: a setter does not give the terms it was judged by.
    """
    report = dict(change.report or {})
    jobs, setters = (
        [session.queue.get(job) for job in report[name]] for name in ("jobs", "setters")
    )
    report["done"] = sum(job.state not in _UNFINISHED for job in jobs)
    waiting = sum(job.state in _UNFINISHED for job in (*setters, *jobs))
    if not waiting:
        for setter in setters:
            _require_confirmed(setter)
        fresh = [job.result["row"] for job in jobs if job.result and "row" in job.result]
        no = change.contest_no
        recorded = _recorded_rows(session, no, [row["id"] for row in fresh])
        changes = verdict_changes((recorded[row["id"]], row) for row in fresh)
        report["rows"] = [item.after for item in changes]
        report["failed"] = sum(job.state != "done" for job in jobs)
    return replace(change, report=report), waiting


def queue_dry_run(service: Service, session: Session, contest: Contest, change: str) -> None:
    """Queue a new dry run of a rejudge, one of whose jobs ends.

    Args:
        service: the service.
        session: the session that completes the job.
        contest: the contest.
        change: the change set's id.
    """
    dry_run = service_job(
        "dry-run", contest, id=service.new_id(), payload={"change": change}, dedupe=change
    )
    session.queue.add(dry_run, now=service.clock())


def _job(
    service: Service, contest: Contest, change: Change, entry: EntryLine,
    problem: PublishedProblem, *, recorded: Mapping[str, Any],
) -> NewJob:  # fmt: skip
    judging = JudgingTask(
        submission=entry.body["submission"],
        seq=entry.seq,
        problem_seq=problem.seq,
        source=entry.body["content"]["source"],
        n_check=problem.n_check,
        extended_until=recorded.get("extended_until"),
        **judging_rules(rules_in_force(contest.edition, contest.overrides)),
    )
    return NewJob(
        id=service.new_id(),
        kind="judge",
        payload={"contest": contest.id, **asdict(judging), "change": change.id},
        contest_no=contest.no,
        dedupe=f"rejudge:{change.id}:{judging.submission}",
        max_attempts=MAX_ATTEMPTS,
        by=change.proposed_by,
    )


def _setter_job(
    service: Service, contest: Contest, change: Change, problem: PublishedProblem
) -> NewJob:
    package = {name: value for name, value in problem.package.items() if name != "terms"}
    payload = {"problem": problem.id, "package": package, "change": change.id}
    return NewJob(
        id=service.new_id(),
        kind="gate",
        payload={"contest": contest.id, **payload, "problem_seq": problem.seq},
        contest_no=contest.no,
        dedupe=f"rejudge:{change.id}:setter:{problem.id}",
        max_attempts=MAX_ATTEMPTS,
        by=change.proposed_by,
    )


def _require_confirmed(setter: Job) -> None:
    """Raise unless a setter's job found the terms of before."""
    result = setter.result or {}
    error = result.get("error")
    if setter.state != "done":
        error = setter.causes[-1]["cause"] if setter.causes else f"its job is {setter.state}"
    if error is not None:
        raise CheckFailed(str(error))


def _received_submissions(
    session: Session, contest: Contest, change: Change
) -> Iterator[tuple[EntryLine, PublishedProblem, Mapping[str, Any]]]:
    """Yield the judged submissions that a change names: entry, problem, the row as recorded."""
    submissions, problem = set(change.params["submissions"]), change.params["problem"]
    named: list[EntryLine] = []
    for stored in session.entries.of_kind(contest.no, [RECEIVED]):
        entry = read_line(stored.line)
        if (not submissions or entry.body["submission"] in submissions) and (
            problem is None or entry.body["problem"] == problem
        ):
            named.append(entry)
    judged = _recorded_rows(session, contest.no, [entry.body["submission"] for entry in named])
    problems: dict[str, PublishedProblem] = {}
    for entry in named:
        recorded = judged.get(entry.body["submission"])
        if recorded is None:
            continue  # it has no first verdict yet
        problem_id = entry.body["problem"]
        if problem_id not in problems:
            problems[problem_id] = published_problem(session, contest, problem_id)
        yield entry, problems[problem_id], recorded


def _recorded_rows(
    session: Session, contest_no: int, submissions: Sequence[str]
) -> dict[str, Mapping[str, Any]]:
    """Return the rows of submissions as they are now recorded, by id; those that have a verdict."""
    keys = {f"{VERDICTS}/{name}": name for name in submissions}
    existing = session.entries.existing(contest_no, records=[*keys])
    return {name: orjson.loads(existing[key].line)["body"]["row"]
            for key, name in keys.items() if key in existing}  # fmt: skip
