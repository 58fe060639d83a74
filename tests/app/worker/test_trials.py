"""Test trials as jobs: an agent on a task of the worker, its result recorded once."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import LOCAL
from agon.app.containers import Outcome
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.queue import leases
from agon.app.queue.jobs import TrialTask, trial_job
from agon.app.queue.leases import InvalidOutcome
from agon.app.service import Service
from agon.app.tasks.results.details import details_json, details_of_json, shorten_details
from agon.app.worker.handlers import RESULT_HANDLERS, trial_runners
from agon.app.worker.trial_details import MAX_BYTES
from agon.app.worker.trials import MAX_UNSCORED_TRIALS, write_files
from agon.entities.jobs import Job
from agon.entities.trials import PrintedText
from agon.errors import Unreadable
from agon.ledger.entry import read_line
from agon.wiring import submitted_agent
from app.tasks.folders import harbor, prepared
from app.worker.contests import job_of, work
from fakes.containers import FakeContainers

AGENT = {"command": "python /agent/main.py", "files": {"main.py": "print(1)\n"}}


OUTCOME = {
    "result": "passed", "task_sha256": "0" * 64, "rewards": {}, "reward_source": "both",
    "agent_timeout": "fail", "agent_network": "none",
}  # fmt: skip
PART = {"name": "", "result": "passed", "reason": "", "facts": [], "notes": [], "steps": [],
        "printed": []}  # fmt: skip


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Return a folder with the task sums."""
    harbor(tmp_path / "tasks" / "sums")
    return tmp_path / "tasks"


@pytest.fixture(autouse=True)
def contest(service: Service) -> None:
    """Create a challenge with one submission."""
    create(service, NewContest(id="autumn", discipline="challenge", title="C"), by=LOCAL)
    rows = [
        ("validators", {"id": "house", "stake": 1.0}, None),
        ("submissions", {"id": "s1", "miner_uid": 7, "submitted_at": "2026-01-01T00:00:00Z"}, None),
    ]
    record(service, "autumn", rows, by=LOCAL)


def requested(
    service: Service,
    *,
    task: str = "sums",
    agent: Any = AGENT,
    rules: Mapping[str, str] = MappingProxyType({"agent_timeout": "fail"}),
) -> Job:
    """Add a job of a trial."""
    with service.store.write() as session:
        contest = session.contests.get("autumn")
        trial = TrialTask(submission="s1", task=task, validator="house", agent=agent, rules=rules)
        job = trial_job(contest, trial, id=service.new_id(), by="user:7")
        return session.queue.add(job, now=service.clock())


def results(service: Service, table: str = "task_results") -> list[dict[str, Any]]:
    """Return the recorded rows of a table."""
    with service.store.read() as session:
        no = session.contests.get("autumn").no
        bodies = [read_line(entry.line).body for entry in session.entries.after(no)]
    return [dict(body["row"]) for body in bodies if body.get("table") == table]


def run_trials(
    service: Service, tasks: Path, verdict: Callable[[str, tuple[str, ...]], Outcome]
) -> None:
    """Run trials with a given outcome until no job is due."""
    containers = FakeContainers(verdict=verdict)
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("verdict", "passed"), [("passed", True), ("failed", False)])
def test_a_trials_result_is_recorded_for_its_validator(
    service: Service, tasks: Path, verdict: Outcome, *, passed: bool
) -> None:
    """It is the trial of ``agon challenge run``, and its result is a record."""
    job = requested(service)
    run_trials(service, tasks, lambda _, __: verdict)
    assert results(service) == [
        {
            "submission_id": "s1",
            "validator_id": "house",
            "task_id": "sums",
            "passed": passed,
            "reward_source": "exit_code",
            "agent_timeout": "fail",
            "agent_network": "none",
        }
    ]
    ended = job_of(service, job)
    assert (ended.state, (ended.result or {})["result"]) == ("done", verdict)


@pytest.mark.exhaustive
def test_a_trial_is_recorded_as_a_run_of_the_command_is(service: Service, tasks: Path) -> None:
    """With its rewards, fractions too, and with what it was run under; a retry adds nothing."""
    rewards = {"speed": 0.25, "reward": 0.5, " no name": 1.0}
    rules = {"agent_timeout": "verify", "reward_source": "both"}
    for _ in range(2):
        requested(service, rules=rules)
        containers = FakeContainers(agent=lambda _, __: "timeout", rewards=rewards)
        work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    place = {"submission_id": "s1", "validator_id": "house", "task_id": "sums"}
    assert results(service) == [
        {**place, "passed": True, "reward_source": "both", "agent_timeout": "verify",
         "agent_network": "none"}
    ]  # fmt: skip
    assert results(service, "task_rewards") == [
        {**place, "reward_key": "reward", "reward": 0.5},
        {**place, "reward_key": "speed", "reward": 0.25},
    ]
    assert [rule.source for rule in containers.pass_rules] == ["both"]


def test_an_agent_whose_time_was_up_fails_by_default(service: Service, tasks: Path) -> None:
    """The seed's rule, as for the command."""
    requested(service)
    containers = FakeContainers(agent=lambda _, __: "timeout")
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    (row,) = results(service)
    assert (row["passed"], row["agent_timeout"]) == (False, "fail")


def test_a_submission_cannot_name_the_oracle(service: Service, tasks: Path) -> None:
    """``oracle`` is an option of agon's commands; a miner's ``oracle`` is an ordinary command."""
    commands: list[tuple[str, ...]] = []

    def verdict(_: str, command: tuple[str, ...]) -> Outcome:
        commands.append(command)
        return "failed"

    requested(service, agent={"command": "oracle", "files": {}})
    run_trials(service, tasks, verdict)
    assert commands == [("sh", "-c", "oracle")]


def test_a_trial_without_a_score_is_tried_again_and_then_fails(
    service: Service, tasks: Path
) -> None:
    """No result is recorded for it, and the job has the reason."""
    job = requested(service)
    for _ in range(20):
        run_trials(service, tasks, lambda _, __: "unscored")
    failed = job_of(service, job)
    assert (failed.state, failed.attempts) == ("failed", MAX_UNSCORED_TRIALS)
    assert f"after {MAX_UNSCORED_TRIALS} trials" in failed.causes[-1]["cause"]
    assert results(service) == []


def test_an_unknown_task_fails_with_a_suggestion(service: Service, tasks: Path) -> None:
    """A misspelt task must not be tried again and again."""
    job = requested(service, task="sum")
    run_trials(service, tasks, lambda _, __: "passed")
    assert "did you mean sums?" in job_of(service, job).causes[-1]["cause"]


def test_the_details_of_a_trial_are_stored_beside_its_job_within_their_size(
    service: Service, tasks: Path
) -> None:
    """However much an agent says; the job's own result has none of it."""
    said = "".join(map(chr, range(32, 300))) * 20
    step = {"source": "agent", "message": said, "tool_calls": [
        {"function_name": "sh", "arguments": {"command": said[:100]}}] * 60}  # fmt: skip
    page = json.dumps({"schema_version": "ATIF-v1.6", "steps": [step] * 300})
    job = requested(service)
    containers = FakeContainers(left=lambda _: {"logs/agent/trajectory.json": page})
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    with service.store.read() as session:
        text = session.trial_details.find(job.id) or ""
    assert 1000 < len(text.encode()) <= MAX_BYTES
    (part,) = details_of_json(text)
    assert (part.steps[0].number, part.steps[-1].number) == (1, 300)
    assert "… 10 further calls …" in part.steps[0].calls
    assert "details" not in (job_of(service, job).result or {})


def test_each_step_of_a_task_has_details_of_its_own(service: Service, tasks: Path) -> None:
    """The agent starts again in each."""
    prepared(tasks / "two")
    job = requested(service, task="two")
    step = {"source": "agent", "message": "I look."}
    page = json.dumps({"schema_version": "ATIF-v1.6", "steps": [step]})
    containers = FakeContainers(left=lambda _: {"logs/agent/trajectory.json": page})
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    with service.store.read() as session:
        whole, *steps = details_of_json(session.trial_details.find(job.id) or "")
    assert (whole.name, whole.steps, whole.printed) == ("", (), ())
    assert [(one.name, [each.text for each in one.steps]) for one in steps] == [
        ("one", ["I look."]), ("two", ["I look."]),
    ]  # fmt: skip
    assert all("Tests: stdout" in {each.name for each in one.printed} for one in steps)


@pytest.mark.parametrize("text", ["x", "\U000e0001", '"'])
def test_details_fit_however_their_texts_are_escaped(text: str) -> None:
    """A character that does not show takes ten, and a reason may be long, too."""
    step = {"number": 1, "source": text * 2_000, "text": "", "calls": [text * 99] * 99,
            "outputs": [], "input_tokens": 0, "output_tokens": 0}  # fmt: skip
    part = {**PART, "name": text * 2_000, "reason": text * 20_000, "facts": [text * 200] * 99}
    parts = details_of_json(orjson.dumps([{**part, "steps": [step]}] * 9))
    for most in (MAX_BYTES, 20_000, 2_000):
        shorter = shorten_details(parts, max_bytes=most)
        assert len(details_json(shorter)) <= max(most, 20_000)
        assert shorter[0].result == "passed"


def test_what_a_worker_sends_as_details_is_shown_as_data(service: Service) -> None:
    """A worker outside the instance may send what its own reading never has."""
    requested(service)
    job = leases.claim(service, ["trial"], worker="w")
    assert job is not None
    printed = [{"name": "Tests\x1b", "text": "a\n\u202eb\x00"}]
    outcome = {**OUTCOME, "details": [{**PART, "printed": printed}]}
    leases.complete(
        service, job.id, lease=job.lease or "", outcome=outcome, handlers=RESULT_HANDLERS
    )
    with service.store.read() as session:
        (part,) = details_of_json(session.trial_details.find(job.id) or "")
    assert part.printed == (PrintedText(name=r"Tests\x1b", text="a\n\\u202eb\\x00"),)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "outcome",
    [
        {},
        {"result": "won", "task_sha256": "0" * 64},
        {"result": "passed", "task_sha256": "0" * 63},
        {"result": "passed", "task_sha256": "0" * 64, "reason": "x" * 2001},
        {**OUTCOME, "rewards": {"reward": float("inf")}},
        {**OUTCOME, "rewards": {"": 1.0}},
        {**OUTCOME, "rewards": {"reward": True}},
        {**OUTCOME, "rewards": {f"r{number}": 1.0 for number in range(1001)}},
        {**OUTCOME, "seconds": -1},
        {**OUTCOME, "usage": "much"},
        {**OUTCOME, "usage": {"tokens": True}},
        {**OUTCOME, "usage": {"cost_usd": float("nan")}},
        {**OUTCOME, "agent_failure": "exit code 1"},
        {**OUTCOME, "agent_failure": {"exit_code": 0, "stderr": []}},
        {**OUTCOME, "agent_failure": {"exit_code": 1, "stderr": ["x" * 201]}},
        {**OUTCOME, "agent_failure": {"exit_code": 1, "stderr": ["x"] * 6}},
        {**OUTCOME, "details": []},
        {**OUTCOME, "details": [{"name": "", "result": "passed"}]},
        {**OUTCOME, "details": [{**PART, "facts": [1]}]},
        {**OUTCOME, "details": [{**PART, "facts": ["x" * MAX_BYTES]}]},
        {**OUTCOME, "details": [{**PART, "facts": ["\u202e" * (MAX_BYTES // 6)]}]},
        {**OUTCOME, "details": [{**PART, "steps": [{"number": "1"}]}]},
        {**OUTCOME, "agent_network": "all"},
        {**OUTCOME, "agent_timeout": None},
    ],
)
def test_an_impossible_outcome_is_rejected(service: Service, outcome: dict[str, Any]) -> None:
    """Workers outside the instance send outcomes, which are not trusted."""
    requested(service)
    job = leases.claim(service, ["trial"], worker="w")
    assert job is not None
    with pytest.raises(InvalidOutcome):
        leases.complete(
            service, job.id, lease=job.lease or "", outcome=outcome, handlers=RESULT_HANDLERS
        )
    assert results(service) == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name", ["../out", "/etc/passwd", "a/../../b", ".hidden", "a//b", "", "a\nb", "a/b\0"]
)
def test_an_agents_files_stay_in_their_folder(tmp_path: Path, name: str) -> None:
    """Names come from unknown users and become paths on the worker."""
    with pytest.raises(Unreadable, match="cannot be written"):
        write_files({"files": {name: "x"}}, tmp_path / "agent")
    assert not (tmp_path / "out").exists()


def test_an_agents_files_are_written_at_their_paths(tmp_path: Path) -> None:
    """An agent of several modules imports them by their paths."""
    folder = write_files({"files": {"main.py": "1", "lib/deep/a.py": "2"}}, tmp_path / "agent")
    assert (folder / "lib/deep/a.py").read_text() == "2"
    with pytest.raises(Unreadable, match="as a file and as a folder"):
        write_files({"files": {"a": "1", "a/b": "2"}}, tmp_path / "other")
