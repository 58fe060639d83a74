"""The runs of submitted agents on the command line: their list, their trials, one's details."""

from dataclasses import replace
from pathlib import Path

from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.worker.handlers import trial_runners
from agon.wiring import submitted_agent
from app.tasks.folders import harbor
from app.worker.contests import work
from cli.command import Cli
from fakes.containers import FakeContainers
from fakes.service import ORGANISER, service_at


def test_runs_their_trials_and_what_happened_in_one_are_printed(tmp_path: Path, agon: Cli) -> None:
    """With what the agent printed as data, and in one line what is wrong."""
    harbor(tmp_path / "tasks" / "sums")
    service = replace(service_at(tmp_path), tasks=lambda: ("sums",))
    create(service, NewContest(id="autumn", discipline="challenge", title="C"), by=ORGANISER)
    open_contest(service, "autumn", by=ORGANISER)
    record(service, "autumn", [("validators", {"id": "house", "stake": 1.0}, None)], by=ORGANISER)
    content = {"miner_uid": 7, "agent": {"command": "run"}}
    sent = submit(service, "autumn", SubmissionContent(user="7", content=content), by=ORGANISER)
    containers = FakeContainers(
        verdict=lambda _, __: "failed", ended=(1, "no \x1b[2J model\n"), rewards={"reward": 0.5}
    )
    work(service, trial_runners(tmp_path / "tasks", containers, submitted_agent, now=service.clock))
    service.store.close()
    target = ("--database", f"sqlite:///{tmp_path}/agon.db")
    assert sent.id in agon("challenge", "runs", "autumn", *target).out
    table = agon("challenge", "trials", "autumn", sent.id, *target).out
    for shown in ("1 of 1 trial ended, 1 failed", "sums", "tests: set to be failed", "reward 0.5"):
        assert shown in table
    printed = agon("challenge", "trial", "autumn", sent.id, "sums", *target).out
    assert printed.startswith("failed: tests: set to be failed; the agent's command ended with")
    assert "Agent: stderr\nno  model" in printed
    missing = agon("challenge", "trial", "autumn", sent.id, "sum", *target)
    assert (missing.code, missing.out) == (3, "")
    assert "has no trial on 'sum'" in missing.err
