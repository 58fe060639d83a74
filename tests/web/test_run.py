"""The run of a submitted agent: its trials with results, reasons and costs, by API and page."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import View
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.contests.submissions.trials import trial_run
from agon.app.worker.handlers import trial_runners
from agon.web.addresses import person, run, submit
from agon.wiring import submitted_agent
from app.tasks.folders import harbor
from app.worker.contests import work
from fakes.containers import FakeContainers
from fakes.instance import instance_at
from fakes.service import ORGANISER, service_at
from web.browser import Browser
from web.markup import Markup

TRAJECTORY = {
    "schema_version": "ATIF-v1.5", "session_id": "s", "agent": {"name": "a", "version": "1"},
    "steps": [{"step_id": 1, "source": "agent", "message": "x",
               "metrics": {"prompt_tokens": 300, "completion_tokens": 25, "cost_usd": 0.25}}],
}  # fmt: skip
PATH = "/contests/autumn/submissions"


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Return a folder with two tasks."""
    for name in ("sums", "words"):
        harbor(tmp_path / "tasks" / name)
    return tmp_path / "tasks"


@pytest.fixture
def browser(tmp_path: Path, tasks: Path) -> Iterator[Browser]:
    """Return the browser of an organizer who has submitted an agent."""
    service = replace(service_at(tmp_path), tasks=lambda: tuple(p.name for p in tasks.iterdir()))
    browser = Browser(instance_at(tmp_path, service=service))
    rules = {"min_validators": 1}
    new = NewContest(id="autumn", discipline="challenge", title="C", overrides=rules)
    create(service, new, by=ORGANISER)
    open_contest(service, "autumn", by=ORGANISER)
    record(service, "autumn", [("validators", {"id": "house", "stake": 1.0}, None)], by=ORGANISER)
    browser.sign_in("organiser")
    browser.submit(submit("autumn"), submit("autumn"), {"command": "run", "miner_uid": "7"})
    yield browser
    browser.instance.close()


def submission_of(browser: Browser) -> str:
    """Return the id of the submission."""
    (sent,) = browser.instance.get(PATH, "organiser").json()["items"]
    return str(sent["id"])


def trials_of(browser: Browser) -> dict[str, Any]:
    """Return the run by the API."""
    response = browser.instance.get(f"{PATH}/{submission_of(browser)}/trials", "organiser")
    assert response.status_code == 200, response.text
    content: dict[str, Any] = response.json()
    return content


@pytest.mark.exhaustive
def test_a_run_shows_its_progress_and_what_each_trial_came_to(
    browser: Browser, tasks: Path
) -> None:
    """First what waits; then results, reasons, rewards, reach, tokens and cost."""
    service, address = browser.instance.service, run("autumn", submission_of(browser))
    waiting = trials_of(browser)
    assert (waiting["ended"], waiting["total"], waiting["counts"]) == (0, 2, {})
    assert "<strong>0</strong> of 2 trials ended" in browser.get(address).text
    containers = FakeContainers(
        verdict=lambda _, __: "passed" if containers.recipes[-1].context == tasks / "sums" / (
            "environment"
        ) else "failed",
        rewards={"reward": 0.5},
        left=lambda _: {"logs/agent/trajectory.json": json.dumps(TRAJECTORY)},
    )  # fmt: skip
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    ended = trials_of(browser)
    assert (ended["ended"], ended["total"]) == (2, 2)
    assert ended["counts"] == {"failed": 1, "passed": 1}
    assert (ended["tokens"], ended["cost_usd"]) == (650, 0.5)
    first, second = ended["trials"]
    assert (first["task"], first["result"], first["reason"]) == ("sums", "passed", "")
    assert (second["task"], second["result"]) == ("words", "failed")
    assert second["reason"] == "tests: set to be failed"
    assert (first["rewards"], first["agent_network"]) == ({"reward": 0.5}, "none")
    assert (first["state"], first["attempts"], first["tokens"]) == ("done", 1, 325)
    text = browser.get(address).text
    page = Markup(text)
    assert (page.errors, page.inline) == ([], [])
    for shown in ("1 failed, 1 passed", "tests: set to be failed", "0.2500", "650 tokens"):
        assert shown in text


@pytest.mark.sample(1)
@pytest.mark.parametrize("readers", ["organizers", "author"])
def test_a_command_that_failed_shows_its_exit_code_and_its_stderr_to_whom_the_rule_says(
    browser: Browser, tasks: Path, readers: str
) -> None:
    """What an agent writes may be the tasks themselves."""
    service, name = browser.instance.service, submission_of(browser)
    containers = FakeContainers(verdict=lambda _, __: "failed", ended=(127, "python3: not found\n"))
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    text = browser.get(run("autumn", name)).text
    assert "The agent's command ended with exit code 127." in text
    assert "<pre>python3: not found</pre>" in text
    assert Markup(text).errors == []
    with service.store.read() as session:
        contest = session.contests.get("autumn")
    contest = replace(contest, overrides={**contest.overrides, "agent_stderr": readers})
    view = View(contest=contest, until=None, staff=False)
    first, _ = trial_run(service, view, name, by=ORGANISER).trials
    assert first.agent_exit_code == 127
    assert first.agent_stderr == (("python3: not found",) if readers == "author" else ())


def test_the_run_is_linked_where_its_submission_is(browser: Browser, tasks: Path) -> None:
    """On the page that submits, and on the explanation of its row."""
    service, name = browser.instance.service, submission_of(browser)
    work(service, trial_runners(tasks, FakeContainers(), submitted_agent, now=service.clock))
    link = f'href="{run("autumn", name)}"'
    publish(service, "autumn")
    assert link in browser.get(person("autumn", name, board="submissions")).text
    visitor = Browser(browser.instance)
    assert link not in visitor.get(person("autumn", name, board="submissions")).text
    assert visitor.get(run("autumn", name)).status_code in {401, 403, 404}


@pytest.mark.exhaustive
def test_a_run_shows_what_the_records_have_once_its_jobs_are_deleted(
    browser: Browser, tasks: Path
) -> None:
    """Jobs are kept for some days, records for ever."""
    service, name = browser.instance.service, submission_of(browser)
    containers = FakeContainers(
        verdict=lambda _, __: "passed" if containers.recipes[-1].context == tasks / "sums" / (
            "environment"
        ) else "failed",
        rewards={"reward": 0.5},
    )  # fmt: skip
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    before = trials_of(browser)
    with service.store.write() as session:
        assert session.queue.delete_ended(before=service.clock() + timedelta(days=1), limit=9) == 2
    after = trials_of(browser)
    kept = ("task", "state", "result", "rewards", "agent_network")
    assert [[trial[key] for key in kept] for trial in after["trials"]] == [
        [trial[key] for key in kept] for trial in before["trials"]
    ]
    assert (after["ended"], after["total"], after["counts"]) == (2, 2, before["counts"])
    assert {(trial["job"], trial["attempts"]) for trial in after["trials"]} == {(None, None)}
    text = browser.get(run("autumn", name)).text
    assert "The run has ended: <strong>2</strong> trials, 1 failed, 1 passed" in text
    assert ">Seconds<" not in text
    assert ">uid 7</a>" in text
    assert "is what the records have" in text


def test_a_run_without_jobs_and_records_says_that_it_has_ended(browser: Browser) -> None:
    """Its trials had no score, so that nothing of them was recorded."""
    service, name = browser.instance.service, submission_of(browser)
    with service.store.write() as session:
        contest_no = session.contests.get("autumn").no
        created = service.clock() - timedelta(hours=1)
        for job in session.queue.trials_of(contest_no, name, since=created):
            session.queue.cancel(job.id, now=service.clock())
        session.queue.delete_ended(before=service.clock() + timedelta(days=1), limit=9)
    text = browser.get(run("autumn", name)).text
    assert "The run has ended, and no result of it is recorded." in text


@pytest.mark.exhaustive
def test_a_row_of_the_board_of_submissions_leads_to_its_run(browser: Browser, tasks: Path) -> None:
    """Scored or not, for who may see it."""
    service, address = browser.instance.service, "/c/autumn/boards/submissions"
    link = f'</a> <a href="{run("autumn", submission_of(browser))}">run</a></th>'
    publish(service, "autumn")
    waiting = browser.get(address).text
    work(service, trial_runners(tasks, FakeContainers(), submitted_agent, now=service.clock))
    publish(service, "autumn")
    scored = browser.get(address).text
    assert ["Without a score" in text for text in (waiting, scored)] == [True, False]
    assert [text.count(link) for text in (waiting, scored)] == [1, 1]
    visitor = Browser(browser.instance)
    assert link not in visitor.get(address).text
    visitor.sign_in("participant")
    assert link not in visitor.get(address).text


@pytest.mark.exhaustive
def test_a_trial_whose_job_failed_has_no_score_and_says_why(browser: Browser, tasks: Path) -> None:
    """The cause of the last attempt is its reason."""
    service = browser.instance.service
    containers = FakeContainers(agent=lambda _, __: "unscored")
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    trials = trials_of(browser)
    assert all("set to be unscored" in trial["reason"] for trial in trials["trials"])


def test_results_that_came_after_a_freeze_are_not_shown(browser: Browser, tasks: Path) -> None:
    """That a job is done is, but neither its result nor what it took."""
    service, name = browser.instance.service, submission_of(browser)
    with service.store.read() as session:
        before = session.contests.get("autumn")
    work(service, trial_runners(tasks, FakeContainers(), submitted_agent, now=service.clock))
    hidden, seen = (
        trial_run(service, View(contest=before, until=until, staff=False), name, by=ORGANISER)
        for until in (before.seq, None)
    )
    assert (hidden.ended, hidden.counts, hidden.seconds) == (2, {}, 0)
    assert {(trial.state, trial.result, trial.seconds) for trial in hidden.trials} == {
        ("done", None, None)
    }
    assert seen.counts == {"passed": 2}


@pytest.mark.exhaustive
def test_only_trials_have_a_run(browser: Browser) -> None:
    """An unknown submission is not found."""
    assert browser.instance.get(f"{PATH}/none/trials", "organiser").status_code == 404
    assert browser.get(run("autumn", "none")).status_code == 404
