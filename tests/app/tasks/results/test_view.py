"""A run as one page: what happened in each trial, as data, bounded, with no outside request."""

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agon.app.containers import Outcome
from agon.app.tasks.formats.discovery import read_tasks
from agon.app.tasks.results import view
from agon.app.tasks.results.view import view_page
from agon.app.tasks.run import plan_of, run_tasks
from agon.errors import AgonError
from agon.runners.agents.chat import Chat
from agon.runners.agents.commands import CommandAgent
from agon.runners.agents.model import ModelAgent
from app.tasks.folders import harbor, prepared
from app.tasks.loopback import serving
from app.tasks.test_run import ticking
from app.tasks.test_trajectory import MEMBER, WHOLE
from fakes.containers import FakeContainers, FakeShell

HOSTILE = "<script>alert(1)</script>\x1b[31mred\x1b[0m \u202eevil\x00</pre>"


def ran(
    tmp_path: Path,
    text: str = "",
    *,
    agent: Any = None,
    make: Callable[[Path], Path] = harbor,
    ended: tuple[int, str] = (0, "said\n"),
    **about: Any,
) -> Path:
    """Run an agent on two tasks and return the run's folder."""
    for name in ("a", "b"):
        make(tmp_path / "tasks" / name)
    tasks = read_tasks([tmp_path / "tasks"])
    chosen, now = agent or CommandAgent("run"), ticking()

    def verdict(name: str, _command: tuple[str, ...]) -> Outcome:
        return "failed" if name == "b__1" else "passed"

    shell = FakeShell({"ls": "hello.txt\n"})
    containers = FakeContainers(
        left=lambda _: {MEMBER: text} if text else {}, verdict=verdict, shell=shell,
        ended=ended,
    )  # fmt: skip
    run_tasks(
        tasks, chosen, containers=containers, out=tmp_path / "out", jobs=1, now=now,
        plan=plan_of(tasks, chosen, trials=2, run="r", now=now, **about),
    )  # fmt: skip
    return tmp_path / "out"


class Tags(HTMLParser):
    """Collects the tags of a page and where they lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store a tag."""
        self.tags.add(tag)
        for name, value in attrs:
            if name in {"href", "src", "action"}:
                self.targets.append(value or "")
            if name == "id":
                self.ids.add(value or "")


def test_tasks_trials_and_reasons_are_on_the_page(tmp_path: Path) -> None:
    """Each cell leads to its trial; the steps are the agent's own."""
    page = view_page(ran(tmp_path, json.dumps(WHOLE)))
    assert "pass rate 0.750 (3 of 4)" in page
    assert "tests: set to be failed" in page
    assert "<pre>$ ls</pre><pre>a.txt</pre>" in page
    assert "100 read, 20 written" in page
    assert "by the agent&#x27;s own account" in page
    tags = Tags(page)
    assert {target.removeprefix("#") for target in tags.targets} == {
        "trial-a-1", "trial-a-2", "trial-b-1", "trial-b-2",
    }  # fmt: skip
    assert {target.removeprefix("#") for target in tags.targets} <= tags.ids
    assert page.count("said") >= 8  # what agent and tests printed


def test_an_agent_whose_own_command_failed_says_so_on_the_page_in_results_and_summary(
    tmp_path: Path,
) -> None:
    """Else an agent that is not installed, and one that is wrong, both show: the reward is 0."""
    out = ran(tmp_path, ended=(127, "first\nsh: \x1b[1msolve: not found\n"))
    page = view_page(out)
    why = "tests: set to be failed; the agent's command ended with exit code 127: "
    shown = r"sh: \x1b[1msolve: not found"
    assert f"b__1 failed: {html.escape(why + shown)}" in page
    assert "exit code of the agent 127" in page
    rows = {name: json.loads((out / name / "result.json").read_text()) for name in ("a__1", "b__1")}
    failure = {"exit_code": 127, "stderr": ["first", shown]}
    assert all(row["agent_failure"] == failure for row in rows.values())
    assert (rows["a__1"]["reason"], rows["b__1"]["reason"]) == ("", "tests: set to be failed")
    tasks = json.loads((out / "summary.json").read_text())["tasks"]
    assert (tasks["a"]["reason"], tasks["b"]["reason"]) == ("", why + shown)


def test_the_page_asks_for_nothing_outside(tmp_path: Path) -> None:
    """No script, no other file; its policy forbids both."""
    page = view_page(ran(tmp_path))
    assert not Tags(page).tags & {"script", "link", "img", "iframe", "form", "object"}
    assert "default-src 'none'" in page
    assert re.findall(r"url\(|@import|https?://", page) == []


def test_the_transcript_of_a_models_agent_is_shown(tmp_path: Path) -> None:
    """What the model wrote, and what it saw."""
    with serving("I look.\n```sh\nls\n```", "DONE", "DONE") as endpoint:
        agent = ModelAgent(Chat(endpoint.url, "m"))
        page = view_page(ran(tmp_path, agent=agent))
    assert "I look.\n```sh\nls\n```" in page
    assert "stdout:\nhello.txt" in page
    assert "10 read, 3 written" in page


def test_everything_that_an_agent_wrote_is_data(tmp_path: Path) -> None:
    """Markup, terminal sequences and characters that turn the order of others do nothing."""
    step = {"source": "agent", "message": HOSTILE, "tool_calls": [
        {"function_name": HOSTILE, "arguments": {"command": HOSTILE}}]}  # fmt: skip
    page = view_page(ran(tmp_path, json.dumps({"schema_version": "ATIF-v1.6", "steps": [step]})))
    assert "<script" not in page
    assert not set(page) & {"\u202e", "\x1b", "\x00"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;red \\u202eevil\\x00&lt;/pre&gt;" in page


def test_a_page_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts show their ends, many steps the first and the last, later trials a line."""
    long = {"source": "agent", "message": f"begin {'x' * 100_000} end"}
    page = {"schema_version": "ATIF-v1.6", "steps": [long, *[{"source": "agent"}] * 1000]}
    run = ran(tmp_path, json.dumps(page))
    (run / "a__1/agent.stdout").write_bytes(b"first " + b"y" * 1_000_000 + b" last")
    text = view_page(run)
    assert len(text) < 4 * 200_000
    for part in ("begin x", "x end", "first y", "y last", "… 801 further steps …"):
        assert part in text
    monkeypatch.setattr(view, "MAX_PAGE", 1000)
    assert "3 further trials are in their folders alone." in view_page(run)


def test_files_outside_a_trial_are_never_read(tmp_path: Path) -> None:
    """A folder of a run may come from anyone."""
    run = ran(tmp_path)
    (tmp_path / "secret").write_text("do not show")
    result = json.loads((run / "a__1/result.json").read_text())
    result["parts"]["agent"]["stdout"]["file"] = "../../secret"
    result["parts"]["agent"]["transcript"] = str(tmp_path / "secret")
    (run / "a__1/result.json").write_text(json.dumps(result))
    (run / "a__1/network.log").symlink_to(tmp_path / "secret")
    assert "do not show" not in view_page(run)


def test_steps_that_cannot_be_read_are_a_line(tmp_path: Path) -> None:
    """The rest of the page stands."""
    run = ran(tmp_path)
    (run / "a__1/trajectory.json").write_text("{")
    assert "its steps cannot be read: it is no JSON" in view_page(run)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    """With what to give."""
    with pytest.raises(AgonError, match="no such folder of a run"):
        view_page(tmp_path / "nowhere")
    with pytest.raises(AgonError, match=r"run.json"):
        view_page(tmp_path)


def test_each_step_of_a_task_shows_what_its_agent_did_and_its_tests_said(tmp_path: Path) -> None:
    """A trial has one place; the folder of a step has its trajectory."""
    run = ran(tmp_path, json.dumps(WHOLE), make=prepared)
    page = view_page(run)
    assert page.count("<summary>✓ step one passed</summary>") == 3
    did = "<pre>$ ls</pre><pre>a.txt</pre>"
    assert page.count(did) == 4 * 2
    assert page.count('id="trial-a-1"') == 1
    row = json.loads((run / "a__1/result.json").read_text())
    row["steps"][0] |= {"result": "no outcome"}
    row["steps"][1]["name"] = "../../b__1/steps/one"
    (run / "a__1/result.json").write_text(json.dumps(row))
    page = view_page(run)
    assert "a step of the task cannot be read" in page
    assert page.count(did) == 3 * 2  # another trial's are not its own
