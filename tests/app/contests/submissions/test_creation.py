"""Test submissions: stored and queued together, by their participant, before the freeze."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from agon.api.models.submissions import SubmissionCreate
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.problems import (
    publish_problem,
    published_problem,
    reveal_problem,
    revealed_at,
    visible_fields,
)
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.files import InvalidPackage
from agon.app.service import Service
from agon.client.local import Local
from agon.disciplines.challenge.records import SERVICE_VALIDATOR
from agon.errors import Conflict, Forbidden, NotFound, Unreadable
from agon.kernel.times import written_time
from agon.ledger.entry import Draft, read_line
from fakes.service import JUDGE, ORGANISER, PARTICIPANT, VIEWER

SETTER = "def seq(n):\n    return n * n\n"
SOLVER = "def solver():\n    n = 1\n    while True:\n        yield n * n\n        n += 1\n"
TERMS = ["1", "4", "9"]
NOON = datetime.fromisoformat("2026-11-22T12:00:00+00:00")


def _lines(service: Service, contest: str) -> list[bytes]:
    with service.store.read() as session:
        return [entry.line for entry in session.entries.after(session.contests.get(contest).no)]


def _publish(service: Service, *, freeze_started_at: datetime | None = None) -> str:
    """Publish a problem like the worker that ran its gate."""
    freeze = None if freeze_started_at is None else written_time(freeze_started_at)
    package = {"title": "Squares", "N_check": 3, "source": SETTER, "freeze_started_at": freeze}
    problem, job = publish_problem(service, "dojo", package, by=ORGANISER)
    with service.store.write() as session:
        contest = session.contests.lock("dojo")
        package = {**job.payload["package"], "terms": TERMS}
        row = {"id": problem, "n_check": 3, "freeze_started_at": freeze}
        bodies: list[tuple[str, dict[str, Any]]] = [
            ("problem-published", {"problem": problem, "package": package}),
            ("record-added", {"table": "problems", "row": row}),
        ]
        at = service.clock()
        drafts = [Draft(kind=kind, body=body, at=at, by="system") for kind, body in bodies]
        append(service, session, contest, drafts)
        session.queue.cancel(job.id, now=at)
    return problem


@pytest.fixture
def dojo(service: Service) -> Service:
    """Open a dojo without problems."""
    create(service, NewContest(id="dojo", discipline="dojo", title="Dojo"), by=ORGANISER)
    open_contest(service, "dojo", by=ORGANISER)
    return service


def _solution(problem: str, **content: Any) -> SubmissionContent:
    return SubmissionContent(user="ada", problem=problem, content={"source": SOLVER, **content})


def test_a_setter_waits_for_its_gate_before_anything_is_published(dojo: Service) -> None:
    """A setter that gives other terms in a second run is not published."""
    package = {"title": "Squares", "N_check": 3, "source": SETTER}
    problem, job = publish_problem(dojo, "dojo", package, by=ORGANISER)
    assert (job.kind, job.payload["problem"]) == ("gate", problem)
    assert len(_lines(dojo, "dojo")) == 2
    again, same = publish_problem(dojo, "dojo", package, by=ORGANISER)
    assert (again, same.id) == (problem, job.id)


@pytest.mark.parametrize("source", [None, "", "x = (", "import os\n", "\ud800", 7])
def test_an_invalid_package_is_rejected_with_its_issues(dojo: Service, source: Any) -> None:
    """It is rejected before a worker runs it."""
    with pytest.raises(InvalidPackage):
        publish_problem(dojo, "dojo", {"source": source, "N_check": 3}, by=ORGANISER)


def test_a_submission_is_stored_and_queued_without_hidden_fields(dojo: Service) -> None:
    """The worker gets the program and the number of terms, and no term."""
    problem = _publish(dojo)
    sent = submit(dojo, "dojo", _solution(problem, method_tag="loop"), by=PARTICIPANT)
    assert sent.job is not None
    assert sent.job.payload["source"] == SOLVER
    assert sent.job.payload["n_check"] == 3
    assert set(sent.job.payload) == {
        "contest", "submission", "seq", "problem_seq", "source", "n_check", "exact_integers",
        "allowed_modules", "recursion_limit", "replace", "extended_until",
    }  # fmt: skip
    entry = read_line(_lines(dojo, "dojo")[sent.seq - 1])
    assert (entry.kind, entry.by, entry.body["submission"]) == (
        "submission-received", "user:ada", sent.id,
    )  # fmt: skip
    assert entry.body["content"]["method_tag"] == "loop"
    published = read_line(_lines(dojo, "dojo")[sent.job.payload["problem_seq"] - 1])
    assert published.kind == "problem-published"


def test_a_source_is_stored_in_its_canonical_form(dojo: Service) -> None:
    """The canonical form is hashed and measured."""
    problem = _publish(dojo)
    windows = "\ufeff" + SOLVER.replace("\n", "\r\n") + "\r\n \r\n"
    sent = submit(dojo, "dojo", _solution(problem, source=windows), by=PARTICIPANT)
    assert sent.job is not None
    assert sent.job.payload["source"] == SOLVER


def test_a_submission_sent_twice_with_the_same_name_is_stored_once(dojo: Service) -> None:
    """A client without a response sends again; other content with the name is rejected."""
    problem = _publish(dojo)
    solution = replace(_solution(problem), external_id="mine-1")
    first = submit(dojo, "dojo", solution, by=PARTICIPANT)
    again = submit(dojo, "dojo", solution, by=PARTICIPANT)
    assert (again.id, again.seq, again.jobs) == (first.id, first.seq, ())
    with pytest.raises(Conflict, match="take another one"):
        submit(dojo, "dojo", replace(solution, content={"source": "x = 1"}), by=PARTICIPANT)
    by_judge = replace(solution, user="bob")
    with pytest.raises(Conflict, match="take another one"):
        submit(dojo, "dojo", by_judge, by=ORGANISER)


def test_participants_submit_only_for_themselves(dojo: Service) -> None:
    """An organizer may submit for a participant; other roles may not submit."""
    problem = _publish(dojo)
    with pytest.raises(Forbidden, match="as ada only"):
        submit(dojo, "dojo", replace(_solution(problem), user="bob"), by=PARTICIPANT)
    request = SubmissionCreate(user="ada", problem=problem, content={"source": SOLVER})
    for caller in (VIEWER, JUDGE):
        with pytest.raises(Forbidden):
            Local(dojo, by=caller).submissions.create("dojo", request)
    assert submit(dojo, "dojo", replace(_solution(problem), user="bob"), by=ORGANISER).jobs


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "content",
    [
        {}, {"source": ""}, {"source": 7}, {"source": "\ud800"}, {"source": "x" * 20_000_000},
        {"source": SOLVER, "sauce": 1}, {"source": SOLVER, "notes": 7},
        {"source": SOLVER, "method_tag": "x" * 101}, ["source"],
    ],
)  # fmt: skip
def test_invalid_content_is_rejected(dojo: Service, content: Any) -> None:
    """A worker would give the same result."""
    problem = _publish(dojo)
    with pytest.raises(Unreadable):
        submit(dojo, "dojo", SubmissionContent(user="ada", problem=problem, content=content),
               by=PARTICIPANT)  # fmt: skip


def test_a_problem_accepts_no_submissions_after_its_freeze(dojo: Service) -> None:
    """The newest row of the problem states the time."""
    problem = _publish(dojo, freeze_started_at=NOON)
    submit(dojo, "dojo", _solution(problem), by=PARTICIPANT)
    earlier = {"id": problem, "n_check": 3,
               "freeze_started_at": written_time(NOON - timedelta(hours=2))}  # fmt: skip
    record(dojo, "dojo", [("problems", earlier, None)], replace=True, by=ORGANISER)
    dojo.clock.at = NOON - timedelta(hours=1)  # type: ignore[attr-defined] # a test's clock
    with pytest.raises(Conflict, match="takes no submissions since"):
        submit(dojo, "dojo", _solution(problem), by=PARTICIPANT)


def test_an_unknown_problem_and_one_without_terms_are_not_found(dojo: Service) -> None:
    """There would be no terms to compare with."""
    with pytest.raises(NotFound, match="has no problem"):
        submit(dojo, "dojo", _solution("nothing"), by=PARTICIPANT)
    with pytest.raises(Unreadable, match="names its problem"):
        submit(dojo, "dojo", replace(_solution(""), problem=None), by=PARTICIPANT)
    record(dojo, "dojo", [("problems", {"id": "bare"}, None)], by=ORGANISER)
    with pytest.raises(NotFound, match="no answer"):
        submit(dojo, "dojo", _solution("bare"), by=PARTICIPANT)


def test_hidden_fields_are_visible_after_the_reveal(
    dojo: Service,
) -> None:
    """Solvers must not see source and terms before."""
    problem = _publish(dojo, freeze_started_at=NOON)
    with pytest.raises(Conflict, match="still takes submissions"):
        reveal_problem(dojo, "dojo", problem, by=ORGANISER)
    with pytest.raises(Forbidden):
        Local(dojo, by=PARTICIPANT).problems.reveal("dojo", problem)
    dojo.clock.at = NOON  # type: ignore[attr-defined] # a test's clock
    reveal_problem(dojo, "dojo", problem, by=ORGANISER)
    with pytest.raises(Conflict, match="revealed already"):
        reveal_problem(dojo, "dojo", problem, by=ORGANISER)
    with dojo.store.read() as session:
        contest = session.contests.get("dojo")
        problem_row = published_problem(session, contest, problem)
        assert revealed_at(session, contest, problem) == contest.seq
    hidden, visible = (visible_fields(problem_row, revealed=revealed) for revealed in (False, True))
    assert not {"source", "terms"} & set(hidden)
    assert (visible["source"], visible["terms"]) == (SETTER, TERMS)
    assert "return n * n" not in repr(problem_row)


@pytest.mark.exhaustive
def test_final_contests_accept_no_submissions_and_frozen_ones_do(dojo: Service) -> None:
    """A freeze hides later records; it does not reject them."""
    problem = _publish(dojo)
    freeze(dojo, "dojo", by=ORGANISER)
    assert submit(dojo, "dojo", _solution(problem), by=PARTICIPANT).jobs
    with pytest.raises(Conflict, match="still to be judged"):
        finalize(dojo, "dojo", by=ORGANISER)
    finalize(dojo, "dojo", force=True, by=ORGANISER)
    with pytest.raises(Conflict, match="final"):
        submit(dojo, "dojo", _solution(problem), by=PARTICIPANT)
    with pytest.raises(Conflict, match="another contest"):
        publish_problem(dojo, "dojo", {"source": SETTER, "N_check": 3}, by=ORGANISER)


def test_disciplines_without_submissions_or_problems_are_rejected(service: Service) -> None:
    """They only accept records."""
    create(service, NewContest(id="arena", discipline="arena", title="A"), by=ORGANISER)
    with pytest.raises(Conflict, match="takes no submissions"):
        submit(service, "arena", _solution("p"), by=ORGANISER)
    with pytest.raises(Conflict, match="has no problems"):
        publish_problem(service, "arena", {"source": SETTER, "N_check": 3}, by=ORGANISER)


@pytest.fixture
def net(service: Service) -> Service:
    """Open a challenge whose instance validator has a stake, on a server with two tasks."""
    opened = replace(service, tasks=lambda: ("fix-script", "sum-csv"))
    create(opened, NewContest(id="net", discipline="challenge", title="Net"), by=ORGANISER)
    record(opened, "net", [("validators", {"id": SERVICE_VALIDATOR, "stake": 1.0}, None)],
           by=ORGANISER)  # fmt: skip
    open_contest(opened, "net", by=ORGANISER)
    return opened


def _agent(**content: Any) -> SubmissionContent:
    agent = {"command": "sh run.sh", "files": {"run.sh": "echo 7\n"}}
    return SubmissionContent(user="7", content={"miner_uid": 7, "agent": agent, **content})


def test_an_agent_is_recorded_and_tried_on_every_task(net: Service) -> None:
    """The submission has an entry and a row; each task is a separate job."""
    miner = replace(PARTICIPANT, name="user:7", user="7")
    sent = submit(net, "net", _agent(), by=miner)
    assert [job.payload["task"] for job in sent.jobs] == ["fix-script", "sum-csv"]
    assert {job.kind for job in sent.jobs} == {"trial"}
    received, recorded = (read_line(line) for line in _lines(net, "net")[-2:])
    assert (received.seq, received.kind) == (sent.seq, "submission-received")
    assert recorded.body["row"]["id"] == sent.id
    assert recorded.body["row"]["miner_uid"] == 7


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"miner_uid": "7"}, Unreadable),
        ({"miner_uid": -1}, Unreadable),
        ({"miner_uid": True}, Unreadable),
        ({"agent": "sh"}, Unreadable),
        ({"agent": {"command": ""}}, Unreadable),
        ({"agent": {"command": "sh", "files": {"a": 1}}}, Unreadable),
        ({"agent": {"command": "sh", "files": {"a": "\ud800"}}}, Unreadable),
        ({"agent": {"command": "sh", "files": {"a": "x" * (1 << 20) + "x"}}}, Unreadable),
        ({"agent": {"command": "sh", "extra": 1}}, Unreadable),
        ({"competition": "other"}, NotFound),
    ],
)
def test_an_invalid_agent_is_rejected(
    net: Service, content: dict[str, Any], error: type[Exception]
) -> None:
    """Nothing is stored."""
    before = _lines(net, "net")
    with pytest.raises(error):
        submit(net, "net", _agent(**content), by=ORGANISER)
    assert _lines(net, "net") == before


def test_a_participant_submits_only_for_their_own_miner(net: Service) -> None:
    """Otherwise a miner could replace another's last submission."""
    with pytest.raises(Forbidden):
        submit(net, "net", replace(_agent(), user="ada"), by=PARTICIPANT)


def test_without_tasks_or_the_instance_validator_a_submission_is_rejected(
    net: Service, service: Service
) -> None:
    """Both errors have the remedy."""
    with pytest.raises(Conflict, match="set tasks_folder"):
        submit(replace(net, tasks=tuple), "net", _agent(), by=ORGANISER)
    create(service, NewContest(id="bare", discipline="challenge", title="B"), by=ORGANISER)
    with pytest.raises(Conflict, match="validators"):
        submit(net, "bare", _agent(), by=ORGANISER)


@pytest.mark.exhaustive
@pytest.mark.parametrize("exact", [False, True])
def test_a_program_is_judged_by_the_contests_rule_on_integers(
    service: Service, *, exact: bool
) -> None:
    """The job has the rule, so that a worker does not need the contest's rules."""
    overrides = {"exact_integers": True} if exact else {}
    new = NewContest(id="dojo", discipline="dojo", title="Dojo", overrides=overrides)
    create(service, new, by=ORGANISER)
    open_contest(service, "dojo", by=ORGANISER)
    submitted = submit(service, "dojo", _solution(_publish(service)), by=PARTICIPANT)
    assert [job.payload["exact_integers"] for job in submitted.jobs] == [exact]
