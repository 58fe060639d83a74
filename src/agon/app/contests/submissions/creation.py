"""Take in what participants send: programs to the dojo, agents to the challenge."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from agon.app.access.permissions import allow, viewed
from agon.app.contests.ingest.ndjson import expect_external_id
from agon.app.contests.ingest.records import expect_open
from agon.app.contests.ledgers.append import append
from agon.app.contests.submissions.problems import expect_open_for, expect_short, posed
from agon.app.dojo.inspection import rules_in_force
from agon.app.queue.jobs import Judging, judge_job, trial_job
from agon.app.service import Service
from agon.disciplines.challenge.records import MAIN
from agon.disciplines.dojo.canonical import canonicalize
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.jobs import Job, NewJob
from agon.errors import Conflict, Forbidden, NotFound, Unreadable, did_you_mean
from agon.kernel.times import written_time
from agon.ledger.entry import Draft, Line, read_line
from agon.store.session import Session

HOUSE_VALIDATOR: Final = "house"
"""The validator whose results are those of the house's own trials; its stake is a record."""

_LONGEST_NOTES: Final = 10_000
_LONGEST_TAG: Final = 100
_LONGEST_COMMAND: Final = 2_000
_MOST_FILES: Final = 100
_MOST_BYTES: Final = 1 << 20
_LARGEST_UID: Final = 2**31 - 1
_DOJO: Final = ("source", "method_tag", "notes")
_CHALLENGE: Final = ("miner_uid", "agent", "competition")


@dataclass(frozen=True, kw_only=True)
class Submission:
    """Hold what is sent.

    Attributes:
        user: whose it is.
        problem: of the dojo: the problem's id.
        content: of the dojo ``source`` and, if wanted, ``method_tag`` and ``notes``; of the
            challenge ``miner_uid``, ``agent`` (``command``, ``files``) and, if wanted,
            ``competition``.
        external_id: the sender's own name for it: sent twice, it is one submission.
    """

    user: str
    content: Mapping[str, Any] = field(repr=False)
    problem: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """Hold what became of a submission.

    Attributes:
        id: its id, under which its verdict or its results are recorded.
        seq: position of its entry.
        jobs: what is to be done; none when it was sent before.
    """

    id: str
    seq: int
    jobs: tuple[Job, ...] = ()

    @property
    def job(self) -> Job | None:
        """Return the first job, None when there is none."""
        return self.jobs[0] if self.jobs else None


def submit(service: Service, contest_id: str, submission: Submission, *, by: Caller) -> Submitted:
    """Enter a submission and queue what it needs, in one transaction.

    Raises:
        Forbidden, Unauthenticated: ``by`` may not, or not in this user's name.
        NotFound: there is no such contest, problem or competition.
        Unreadable: the content is not what the discipline takes.
        Conflict: the contest or the problem takes no submissions, the discipline has none, or the
            external id was used for another one.
    """
    with service.store.write() as session:
        contest = viewed(session, contest_id, by).contest
        allow(by, "submission.add", contest=contest)
        if by.role == "participant" and submission.user != by.user:
            raise Forbidden(f"a participant submits as {by.user} only; leave the user out")
        contest = session.contests.lock(contest_id)
        expect_open(contest, by)
        if submission.external_id is not None:
            expect_external_id(submission.external_id)
            earlier = _earlier(session, contest, submission)
            if earlier is not None:
                return earlier
        if contest.discipline == "dojo":
            return _to_dojo(service, session, contest, submission, by)
        if contest.discipline == "challenge":
            return _to_challenge(service, session, contest, submission, by)
        raise Conflict(f"the {contest.discipline} takes no submissions; send its records instead")


def _to_dojo(
    service: Service, session: Session, contest: Contest, submission: Submission, by: Caller
) -> Submitted:
    content = _content(submission, _DOJO)
    source = _source(content.get("source"))
    kept = {
        "source": source,
        "method_tag": expect_short("method_tag", content.get("method_tag"), _LONGEST_TAG),
        "notes": expect_short("notes", content.get("notes"), _LONGEST_NOTES),
    }
    if submission.problem is None:
        raise Unreadable("a submission to the dojo names its problem; give its id")
    problem = posed(session, contest, submission.problem)
    expect_open_for(problem, service.clock())
    name = service.new_id()
    draft = _draft(service, name, submission, kept, by)
    contest = append(service, session, contest, [draft])
    judging = Judging(
        submission=name,
        seq=contest.seq,
        problem_seq=problem.seq,
        source=source,
        n_check=problem.n_check,
    )
    job = judge_job(contest, judging, id=service.new_id(), by=by.name)
    return _queued(service, session, name, contest.seq, [job])


def _to_challenge(
    service: Service, session: Session, contest: Contest, submission: Submission, by: Caller
) -> Submitted:
    content = _content(submission, _CHALLENGE)
    uid = _uid(content.get("miner_uid"), by)
    agent = _agent(content.get("agent"))
    competition = _competition(session, contest, content.get("competition"))
    tasks = service.tasks()
    if not tasks:
        raise Conflict("this server has no tasks; set tasks_folder to a folder of tasks")
    if HOUSE_VALIDATOR not in _validators(session, contest):
        raise Conflict(
            f"{contest.id} has no validator {HOUSE_VALIDATOR!r}, whose trials these would be; add "
            "its row with its stake to validators"
        )
    name = service.new_id()
    kept = {"miner_uid": uid, "agent": agent, "competition": competition}
    received = _draft(service, name, submission, kept, by)
    row = {
        "id": name,
        "miner_uid": uid,
        "submitted_at": written_time(received.at),
        "content_hash": hashlib.sha256(
            orjson.dumps(agent, option=orjson.OPT_SORT_KEYS)
        ).hexdigest(),
    }
    if competition is not None:
        row["competition"] = competition
    recorded = Draft(
        kind="record-added", body={"table": "submissions", "row": row}, at=received.at, by=by.name
    )
    contest = append(service, session, contest, [received, recorded])
    jobs = [
        trial_job(
            contest, id=service.new_id(), submission=name, task=task, validator=HOUSE_VALIDATOR,
            agent=agent, by=by.name,
        )
        for task in tasks
    ]  # fmt: skip
    return _queued(service, session, name, contest.seq - 1, jobs)


def _queued(
    service: Service, session: Session, name: str, seq: int, jobs: list[NewJob]
) -> Submitted:
    now = service.clock()
    return Submitted(id=name, seq=seq, jobs=tuple(session.queue.add(job, now=now) for job in jobs))


def _draft(
    service: Service, name: str, submission: Submission, content: Mapping[str, Any], by: Caller
) -> Draft:
    body = {
        "submission": name,
        "user": submission.user,
        "problem": submission.problem,
        "content": content,
    }
    return Draft(
        kind="submission-received",
        body=body,
        at=service.clock(),
        by=by.name,
        external_id=submission.external_id,
    )


def _earlier(session: Session, contest: Contest, submission: Submission) -> Submitted | None:
    """Return the submission that was sent under the same external id."""
    name = submission.external_id or ""
    known = session.entries.existing(contest.no, external_ids=[name]).get(name)
    if known is None:
        return None
    entry = next(
        read_line(one.line)
        for one in session.entries.after(contest.no, known.seq - 1, until=known.seq)
    )
    if not _is_same(entry, submission):
        # Which entry it is of would tell how much was recorded.
        raise Conflict(f"the external id {name!r} is that of something else; take another one")
    return Submitted(id=entry.body["submission"], seq=known.seq)


def _is_same(entry: Line, submission: Submission) -> bool:
    body = entry.body
    if entry.kind != "submission-received" or body["user"] != submission.user:
        return False
    sent = {name: value for name, value in submission.content.items() if value is not None}
    if isinstance(sent.get("source"), str):
        sent["source"] = _source(sent["source"])
    kept = {name: value for name, value in body["content"].items() if value is not None}
    return bool(body["problem"] == submission.problem and sent == kept)


def _content(submission: Submission, known: tuple[str, ...]) -> Mapping[str, Any]:
    content = submission.content
    if not isinstance(content, Mapping):
        raise Unreadable(f"the content is no object; give {', '.join(known)}")
    for name in content:
        if name not in known:
            raise Unreadable(
                f"the content has {str(name)[:80]!r}: {did_you_mean(str(name), known)}"
            )
    return content


def _source(source: Any) -> str:
    most = rules_in_force().max_source_bytes
    if not isinstance(source, str) or not source.strip():
        raise Unreadable("source is no program; give the text of solver.py")
    try:
        canonical = canonicalize(source.encode())
    except UnicodeEncodeError:
        raise Unreadable("source is no UTF-8 text; save the file as UTF-8") from None
    if len(canonical) > most:
        raise Unreadable(f"source has {len(canonical):,} bytes, the most is {most:,}; shorten it")
    return canonical.decode()


def _uid(uid: Any, by: Caller) -> int:
    if type(uid) is not int or not 0 <= uid <= _LARGEST_UID:
        raise Unreadable(f"miner_uid is {str(uid)[:40]!r}; give the miner's whole number")
    if by.role == "participant" and by.user != str(uid):
        raise Forbidden(
            f"a participant submits for the miner of the own name, {by.user}; an organiser may "
            "for others"
        )
    return uid


def _agent(agent: Any) -> dict[str, Any]:
    if not isinstance(agent, Mapping) or not set(agent) <= {"command", "files"}:
        raise Unreadable("agent is no object of command and files; give both")
    command, files = agent.get("command"), agent.get("files") or {}
    if not isinstance(command, str) or not 0 < len(command.strip()) <= _LONGEST_COMMAND:
        raise Unreadable(f"agent.command has 1 to {_LONGEST_COMMAND:,} characters; give one")
    texts = isinstance(files, Mapping) and all(
        isinstance(part, str) for pair in files.items() for part in pair
    )
    if not texts or len(files) > _MOST_FILES:
        raise Unreadable(f"agent.files is no object of up to {_MOST_FILES} names and texts")
    try:
        size = sum(len(text.encode()) for text in files.values())
    except UnicodeEncodeError:
        raise Unreadable("agent.files holds what is no UTF-8 text; save it as UTF-8") from None
    if size > _MOST_BYTES:
        raise Unreadable(f"agent.files have {size:,} bytes, the most is {_MOST_BYTES:,}; shorten")
    return {"command": command, "files": dict(files)}


def _competition(session: Session, contest: Contest, name: Any) -> str | None:
    if name is None:
        name = MAIN
        given = False
    else:
        given = True
    rows = session.entries.rows(contest.no, "competitions", limit=10_000)
    known = [str(orjson.loads(one.line)["body"]["row"]["id"]) for one in rows] or [MAIN]
    if str(name) not in known:
        raise NotFound(
            f"there is no competition {str(name)[:80]!r}: {did_you_mean(str(name), known)}"
        )
    return str(name) if given else None


def _validators(session: Session, contest: Contest) -> set[str]:
    rows = session.entries.rows(contest.no, "validators", limit=10_000)
    return {str(orjson.loads(one.line)["body"]["row"]["id"]) for one in rows}
