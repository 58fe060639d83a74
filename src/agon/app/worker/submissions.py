"""Judge a dojo submission: the worker runs the program, the service compares and records.

The setter's terms are in the ledger and are never sent to a worker. A worker's outcome is a run;
the service determines the verdict once and stores it when it completes the job.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agon.app.contests.changes.rejudge import queue_dry_run
from agon.app.dojo.grading import precheck, solver_request, verdict_row
from agon.app.dojo.inspection import JUDGING_RULES, rules_in_force
from agon.app.dojo.lifecycle import PUBLISHED, RECEIVED, SANDBOX_ERROR, submission_row
from agon.app.dojo.problems import first_index_of
from agon.app.queue.leases import Commit, InvalidOutcome, Retry
from agon.app.queue.source import Assignment, JobProgress
from agon.app.sandbox import RunLimits, Sandbox
from agon.app.worker.outcome_records import entry_at, record_once, worker_name
from agon.app.worker.outcomes import read_run, written_run
from agon.disciplines.dojo.canonical import length, source_hash
from agon.disciplines.dojo.records import SUBMISSIONS
from agon.disciplines.dojo.rules import DojoRules
from agon.entities.jobs import Job
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

MAX_SANDBOX_ERRORS: Final = 3
"""Runs of a submission that may end in ``sandbox_error`` until that is recorded as its verdict."""

_COLUMNS: Final = frozenset(column.name for column in SUBMISSIONS.columns)


def judge(sandbox: Sandbox) -> Callable[[Assignment, JobProgress], dict[str, Any]]:
    """Return the function that runs submissions.

    Args:
        sandbox: the sandbox of the worker.

    Returns:
        A function from a job to its outcome: ``{"run": …}`` as :func:`written_run` writes it, or
        ``{"run": None}`` for a program that is rejected without a run.
    """

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
        payload = assignment.payload
        source = payload["source"].encode()
        rules = _rules(payload)
        if precheck(source, rules=rules).verdict is not None:
            return {"run": None}
        result = sandbox.run(
            solver_request(
                source,
                rules=rules,
                n_check=payload["n_check"],
                limits=RunLimits(),
                name=str(payload["submission"]),
            )
        )
        progress.check()
        return {"run": written_run(result)}

    return run


def store_judge(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit | Retry:
    """Return the function that records the verdict of a run, exactly once.

    Raises:
        InvalidOutcome: the outcome is not valid for this job.
        NotFound: the submission or its problem is not in the ledger.
    """
    payload = job.payload
    filed = _ledger_entries(service, payload)
    source = payload["source"].encode()
    checked = precheck(source, rules=_rules(payload))
    if checked.verdict is not None:
        verdict: Mapping[str, Any] = {"verdict": checked.verdict, "reason": checked.reason}
    elif outcome.get("run") is None:
        raise InvalidOutcome("the program was not run; run it and send the run")
    else:
        run = read_run(outcome["run"], n_check=payload["n_check"], limits=RunLimits())
        verdict = verdict_row(
            run, expected=filed.terms, first_index=filed.first_index, violation=checked.reason
        )
    if verdict["verdict"] == SANDBOX_ERROR and _sandbox_errors(job) + 1 < MAX_SANDBOX_ERRORS:
        return Retry(f"{SANDBOX_ERROR}: {verdict['reason']}")
    extended_until = payload.get("extended_until")
    row = _row(filed, source=source, verdict=verdict, extended_until=extended_until)

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(payload["contest"])
        if "change" in payload:
            # It is judged again; the new verdict counts when the change set is applied.
            queue_dry_run(service, session, contest, payload["change"])
            return {"verdict": row["verdict"], "row": row}
        recorded = record_once(
            service, session, contest, [("submissions", row)],
            by=worker_name(job), replace=payload.get("replace", False),
            # The chain's hash is public. An id that cannot be guessed keeps readers from finding
            # the verdict by hashing each possible entry.
            external_id=service.new_id(),
        )  # fmt: skip
        return {"verdict": row["verdict"], "reason": row["reason"], **recorded}

    return finish


def _rules(payload: Mapping[str, Any]) -> DojoRules:
    """Return the reference edition's rules with the contest's that count when it is judged."""
    stated = {name: payload.get(name) for name in JUDGING_RULES}
    return rules_in_force(
        overrides={name: value for name, value in stated.items() if value is not None}
    )


@dataclass(frozen=True, kw_only=True)
class _LedgerEntries:
    """The ledger's entries of a submission and of its problem."""

    submission: str
    problem: str
    user: str
    received: datetime
    content: Mapping[str, Any]
    terms: tuple[str, ...]
    first_index: int


def _ledger_entries(service: "Service", payload: Mapping[str, Any]) -> _LedgerEntries:
    with service.store.read() as session:
        no = session.contests.get(payload["contest"]).no
        received = entry_at(session, no, payload["seq"], kind=RECEIVED)
        published = entry_at(session, no, payload["problem_seq"], kind=PUBLISHED)
    body = received.body
    return _LedgerEntries(
        submission=body["submission"],
        problem=body["problem"],
        user=body["user"],
        received=received.at,
        content=body["content"],
        terms=tuple(published.body["package"]["terms"]),
        first_index=first_index_of(published.body["package"]),
    )


def _row(
    filed: _LedgerEntries, *, source: bytes, verdict: Mapping[str, Any], extended_until: str | None
) -> dict[str, Any]:
    """Return the row of the table ``submissions``."""
    row = submission_row(
        filed.submission,
        problem=filed.problem,
        user=filed.user,
        created_at=filed.received,
        content={
            **filed.content,
            "source": source.decode(),
            "source_hash": source_hash(source),
            "l_chars": length(source),
        },
        extended_until=extended_until,
    )
    return {name: value for name, value in {**row, **verdict}.items() if name in _COLUMNS}


def _sandbox_errors(job: Job) -> int:
    return sum(str(cause.get("cause", "")).startswith(SANDBOX_ERROR) for cause in job.causes)
