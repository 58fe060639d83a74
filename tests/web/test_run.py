"""The run of a submitted agent: its trials with results, reasons and costs, by API and page."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ANONYMOUS, View
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import freeze, open_contest
from agon.app.contests.submissions.creation import submit as create_submission
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.contests.submissions.trials import trial_details, trial_run, visible_runs
from agon.app.queue.jobs import TrialTask, trial_job
from agon.app.worker.handlers import trial_runners
from agon.app.worker.local_source import LocalSource
from agon.app.worker.loop import JobWorker
from agon.entities.access import Caller
from agon.errors import NotFound
from agon.web.addresses import person, run, submit, trial
from agon.web.addresses import rules as address_of_rules
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
    browser.sign_in("organiser")
    opened(browser, "autumn", {})
    yield browser
    browser.instance.close()


def opened(browser: Browser, name: str, rules: dict[str, Any]) -> None:
    """Open a contest, and submit an agent to it."""
    service = browser.instance.service
    overrides = {"min_validators": 1, **rules}
    new = NewContest(id=name, discipline="challenge", title="C", overrides=overrides)
    create(service, new, by=ORGANISER)
    open_contest(service, name, by=ORGANISER)
    record(service, name, [("validators", {"id": "house", "stake": 1.0}, None)], by=ORGANISER)
    browser.submit(submit(name), submit(name), {"command": "run", "miner_uid": "7"})


def viewed(browser: Browser, readers: str, *, until: int | None = None) -> View:
    """Return the view of a reader on the contest under the rule ``trial_details``."""
    with browser.instance.service.store.read() as session:
        contest = session.contests.get("autumn")
    contest = replace(contest, overrides={**contest.overrides, "trial_details": readers})
    return View(contest=contest, until=until, staff=False)


def tried(browser: Browser, tasks: Path, **about: Any) -> str:
    """Let a worker try the submitted agent on all tasks, and return the submission."""
    service = browser.instance.service
    containers = FakeContainers(verdict=lambda _, __: "failed", **about)
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    return submission_of(browser)


AUTHOR = Caller(name="user:olga", user="olga", role="participant")
OTHER = Caller(name="user:other", user="other", role="participant")


def submission_of(browser: Browser, contest: str = "autumn") -> str:
    """Return the id of the submission."""
    (sent,) = browser.instance.get(f"/contests/{contest}/submissions", "organiser").json()["items"]
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
    name = tried(browser, tasks, ended=(127, "python3: not found\n"))
    text = browser.get(run("autumn", name)).text
    assert "The agent's command ended with exit code 127." in text
    assert "<pre>python3: not found</pre>" in text
    assert Markup(text).errors == []
    view = viewed(browser, readers)
    first, _ = trial_run(browser.instance.service, view, name, by=AUTHOR).trials
    assert first.agent_exit_code == 127
    assert first.agent_stderr == (("python3: not found",) if readers == "author" else ())


def test_organizers_see_what_happened_in_a_trial_as_on_the_page_of_a_runs_folder(
    browser: Browser, tasks: Path
) -> None:
    """Steps, commands, outputs and what the tests printed; all of it is data."""
    hostile = "<script>alert(1)</script> \u202eevil \x1b[2J"
    step = {"source": "agent", "message": hostile, "tool_calls": [
        {"function_name": "sh", "arguments": {"command": "ls /app"}}],
        "observation": {"results": [{"content": "a.txt"}]}}  # fmt: skip
    page = json.dumps({"schema_version": "ATIF-v1.6", "steps": [step]})
    name = tried(browser, tasks, left=lambda _: {"logs/agent/trajectory.json": page})
    address = trial("autumn", name, "sums")
    assert f'<a href="{address}"><bdi>sums</bdi></a>' in browser.get(run("autumn", name)).text
    text = browser.get(address).text
    for shown in (
        "<strong>failed</strong>: <bdi>tests: set to be failed</bdi>",
        "<pre>$ ls /app</pre><pre>a.txt</pre>",
        "<h3>Tests: stdout</h3><pre>said\n</pre>",
        r"&lt;script&gt;alert(1)&lt;/script&gt; \u202eevil",
        "exit code of the tests 1",
    ):
        assert shown in text
    assert not set(text) & {"\u202e", "\x1b"}
    read = Markup(text)
    assert (read.errors, read.inline) == ([], [])
    details = browser.instance.get(f"{PATH}/{name}/trials/sums", "organiser").json()
    (whole,) = details["parts"]
    assert (details["task"], whole["result"]) == ("sums", "failed")
    assert whole["steps"][0]["calls"] == ["ls /app"]


def test_the_page_of_a_trial_is_cut_where_it_would_be_too_long(
    browser: Browser, tasks: Path
) -> None:
    """The data have all that the worker handed over."""
    said = {"source": "agent", "message": "'<" * 4_000}
    page = json.dumps({"schema_version": "ATIF-v1.6", "steps": [said] * 40})
    name = tried(browser, tasks, left=lambda _: {"logs/agent/trajectory.json": page})
    text = browser.get(trial("autumn", name, "sums")).text
    assert "Long texts are cut here" in text
    assert len(text.encode()) < 220_000
    whole = browser.instance.get(f"{PATH}/{name}/trials/sums", "organiser").json()["parts"][0]
    assert len(whole["steps"]) == 40
    assert len(whole["steps"][0]["text"]) == len("x" * 4_000 + "\n…\n")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("readers", "frozen", "author", "other"),
    [
        ("organizers", False, False, False),
        ("author", False, True, False),
        ("public", False, True, True),
        ("organizers", True, False, False),
        ("author", True, False, False),
        ("public", True, False, False),
    ],
)
def test_details_are_for_whom_the_rule_names_and_never_of_what_came_after_a_freeze(
    browser: Browser, tasks: Path, readers: str, *, frozen: bool, author: bool, other: bool
) -> None:
    """Neither by a trial's address nor by the run that leads there."""
    service = browser.instance.service
    with service.store.read() as session:
        before = session.contests.get("autumn").seq
    name = tried(browser, tasks, ended=(1, "secret of the task\n"))
    view = viewed(browser, readers, until=before if frozen else None)
    for caller, sees in ((AUTHOR, author), (OTHER, other), (ANONYMOUS, other)):
        try:
            shown = trial_details(service, view, name, "sums", by=caller)
        except NotFound:
            assert not sees
        else:
            assert sees
            assert "secret of the task" in str(shown)
        try:
            trials = trial_run(service, view, name, by=caller).trials
        except NotFound:
            assert caller is not AUTHOR
            assert not sees
        else:
            assert {trial.details for trial in trials} == {sees}
            assert ("secret of the task" in str(trials)) == sees
        listed = visible_runs(service, view, by=caller)
        assert bool(listed) == (caller is AUTHOR or readers == "public")


def test_every_reader_sees_public_runs_and_no_trial_that_ended_in_a_freeze(
    browser: Browser, tasks: Path
) -> None:
    """From the board to what happened in a trial, without signing in."""
    service, visitor = browser.instance.service, Browser(browser.instance)
    opened(browser, "open", {"trial_details": "public"})
    name, containers = submission_of(browser, "open"), FakeContainers()
    runners = trial_runners(tasks, containers, submitted_agent, now=service.clock)
    source = LocalSource(service, worker="w")
    with service.store.read() as session:
        no = session.contests.get("open").no
    only = LocalSource(service, worker="w", contests=[no])
    assert JobWorker(only, runners).work_once()
    freeze(service, "open", by=ORGANISER)
    JobWorker(source, runners).work(idle=False)
    publish(service, "open")
    listed = browser.instance.get("/contests/open/runs").json()["items"]
    assert [(one["id"], one["miner_uid"]) for one in listed] == [(name, 7)]
    before, after = browser.instance.get(f"/contests/open/submissions/{name}/trials").json()[
        "trials"
    ]
    assert [(one["result"], one["details"]) for one in (before, after)] == [
        ("passed", True), (None, False),
    ]  # fmt: skip
    assert trial("open", name, before["task"]) in visitor.get(run("open", name)).text
    assert "Tests: stdout" in visitor.get(trial("open", name, before["task"])).text
    assert visitor.get(trial("open", name, after["task"])).status_code == 404
    assert browser.get(trial("open", name, after["task"])).status_code == 200
    assert browser.instance.get("/contests/autumn/runs").json()["items"] == []


def test_a_trial_that_was_repeated_in_a_freeze_shows_nothing_of_it(
    browser: Browser, tasks: Path
) -> None:
    """The record of the first trial stays, so that its position tells nothing of the second."""
    name, service = tried(browser, tasks), browser.instance.service
    with service.store.write() as session:
        contest = session.contests.get("autumn")
        task = TrialTask(
            submission=name, task="sums", validator="house",
            agent={"command": "run", "files": {}}, rules={"agent_timeout": "fail"},
        )  # fmt: skip
        again = trial_job(contest, task, id="again", by="x")
        session.queue.add(again, now=service.clock())
    tried(browser, tasks, ended=(1, "of the freeze\n"))
    view = viewed(browser, "public", until=contest.seq)
    first, _ = trial_run(service, view, name, by=OTHER).trials
    assert (first.result, first.details) == ("failed", True)
    assert "of the freeze" not in str(first)
    assert "of the freeze" not in str(trial_details(service, view, name, "sums", by=OTHER))
    assert "of the freeze" in str(
        trial_details(service, replace(view, until=None), name, "sums", by=OTHER)
    )


def test_a_public_run_does_not_name_who_sent_it_nor_why_a_worker_failed(
    browser: Browser, tasks: Path
) -> None:
    """The user is for organizers; a cause may be of the worker's machine."""
    service, view = browser.instance.service, viewed(browser, "public")
    containers = FakeContainers(agent=lambda _, __: "unscored")
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))
    name = submission_of(browser)
    own, others = (trial_run(service, view, name, by=caller) for caller in (AUTHOR, OTHER))
    assert (own.user, others.user) == ("olga", None)
    assert "set to be unscored" in own.trials[0].reason
    assert others.trials[0].reason == ""
    with pytest.raises(NotFound, match="no details of the trial on 'sums'"):
        trial_details(service, view, name, "sums", by=AUTHOR)
    with pytest.raises(NotFound, match="no trial on 'sum'"):
        trial_details(service, view, name, "sum", by=AUTHOR)


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
    assert browser.get(trial("autumn", name, "sums")).status_code == 404
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
    assert "trial details" not in browser.get(run("autumn", submission_of(browser))).text


def test_who_sees_a_run_without_its_details_is_told_the_rule(browser: Browser, tasks: Path) -> None:
    """A participant whose agent failed looks for what it did."""
    service, participant = browser.instance.service, Browser(browser.instance)
    content = {"miner_uid": 7, "agent": {"command": "run"}}
    sent = create_submission(
        service, "autumn", SubmissionContent(user="ada", content=content), by=ORGANISER
    )
    work(service, trial_runners(tasks, FakeContainers(), submitted_agent, now=service.clock))
    participant.sign_in("participant")
    text = participant.get(run("autumn", sent.id)).text
    assert f'{address_of_rules("autumn")}#trial_details">trial details</a> names.' in text
    assert participant.get(trial("autumn", sent.id, "sums")).status_code == 404


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
