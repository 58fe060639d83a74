"""Agents: commands with placeholders, and the one that asks a model."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agon.app.containers import AgentStep, AgentTrial, ImageSpec, Limits
from agon.app.containers.egress import NOTHING, AllowedHost, Egress
from agon.app.tasks.agents import Agent, AgentEnvironment, AgentWork
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.preparation import NOT_BEGUN, NOT_READY, only_if_begun
from agon.app.tasks.prices import TokenPrice
from agon.app.tasks.task import Task
from agon.errors import AgonError, NotFound, Unavailable, Unreadable
from agon.runners.agents import chat, model
from agon.runners.agents.builtin import NopAgent
from agon.runners.agents.chat import Chat
from agon.runners.agents.commands import CommandAgent
from agon.runners.agents.definitions import read_definition, shipped_agents
from agon.runners.agents.model import ModelAgent
from agon.runners.agents.scripts import script_command
from agon.runners.agents.wire_formats import WIRE_FORMATS, WireFormat
from app.tasks.folders import TOML, harbor
from app.tasks.loopback import Endpoint, completion, serving
from fakes.containers import FakeContainers, FakeShell
from sizes import size

TEXT = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30
).filter(lambda text: text == text.rstrip("\n"))


@settings(max_examples=size(50), deadline=None)
@given(TEXT)
@example('it\'s; $(touch x) `id` "q" \\ {task} $HOME \n end')
def test_a_placeholder_is_one_word_wherever_it_stands(text: str) -> None:
    """Bare, in double and in single quotes: a real shell sees the text itself, nothing runs."""
    agent = CommandAgent("""printf '%s|' {instruction} "{instruction}" '{instruction}'""")
    line = agent.command_line(task="t", instruction=text)
    said = subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout
    assert said.decode() == f"{text}|" * 3


def test_all_other_braces_are_the_shells() -> None:
    """``awk '{print}'`` and ``${x}`` stay what they are."""
    template = """awk '{print $1}' "${x}" \\{task} {a,b}"""
    agent = CommandAgent(template)
    assert agent.command_line(task="t", instruction="i") == template


@pytest.mark.parametrize("template", ["run {instuction}", "run --task {tsk}", "run {instructions}"])
def test_a_misspelt_placeholder_is_refused(template: str) -> None:
    """It would send the agent a pair of braces."""
    with pytest.raises(Unreadable, match=r"write \{(instruction|task)\}"):
        CommandAgent(template)


def test_an_agent_that_cannot_be_is_refused(tmp_path: Path) -> None:
    """An empty command, or files that are not there."""
    with pytest.raises(Unreadable, match="empty command"):
        CommandAgent("  ")
    with pytest.raises(NotFound, match="no such folder"):
        CommandAgent("run", files=tmp_path / "nowhere")


def test_an_instruction_too_long_for_a_command_line_is_reported(tmp_path: Path) -> None:
    """Before a kernel rejects it; the file has no such limit."""
    task = read_task(harbor(tmp_path / "hello", instruction="x" * 70_000))
    assert CommandAgent("run {instruction}").missing_for(task) == ""
    assert "/instruction.md" in CommandAgent("run {instruction} {instruction}").missing_for(task)


@pytest.mark.parametrize(
    ("first", "command"),
    [
        ("#!/bin/bash -e", ("/bin/bash", "-e", "/x/s")),
        ("#!/usr/bin/env python3", ("/usr/bin/env", "python3", "/x/s")),
        ("#! /bin/sh", ("/bin/sh", "/x/s")),
        ("echo", ("sh", "/x/s")),
        ("#!", ("sh", "/x/s")),
        ("", ("sh", "/x/s")),
    ],
)
def test_a_script_is_run_by_the_interpreter_it_names(
    tmp_path: Path, first: str, command: tuple[str, ...]
) -> None:
    """Whatever its permissions are."""
    (tmp_path / "s").write_text(f"{first}\n")
    assert script_command(tmp_path / "s", "/x/s") == command


def work(
    tmp_path: Path,
    endpoint: Endpoint,
    shell: FakeShell,
    *,
    timeout_s: float = 30,
    key: str = "",
    own: bool = False,
    wire_format: WireFormat | None = None,
    egress: Egress = NOTHING,
    **about: Any,
) -> AgentWork:
    """Let the agent work on a task in fake containers."""
    task = read_task(harbor(tmp_path / "hello"))
    containers = FakeContainers(shell=shell)
    trial = AgentTrial(run="r", name="hello__1", folder=tmp_path, egress=egress)
    place = AgentEnvironment(
        containers=containers,
        image=containers.build(ImageSpec(context=task.files.context)),
        trial=trial,
        limits=Limits(timeout_s=timeout_s),
    )
    asked = Chat(endpoint.url, "m", key=key, own=own, wire_format=wire_format)
    return ModelAgent(asked, **about).work(task, place)


def lines(work: AgentWork) -> list[dict[str, Any]]:
    """Read the transcript."""
    assert work.transcript is not None
    return [json.loads(line) for line in work.transcript.read_text().splitlines()]


WRITES = "I write it.\n```sh\necho hello > /app/hello.txt\n```\nThen I look."


def test_the_model_says_commands_and_sees_what_they_print(tmp_path: Path) -> None:
    """Until it is done; all of it stands in the transcript."""
    shell = FakeShell({"echo hello > /app/hello.txt": "", "ls": "hello.txt\n"})
    with serving(WRITES, "```\nls\n```", "DONE") as endpoint:
        done = work(tmp_path, endpoint, shell, step_s=7)
    assert [(command[-1].strip(), limit) for command, limit in shell.ran] == [
        ("echo hello > /app/hello.txt", 7), ("ls", 7),
    ]  # fmt: skip
    first, *_, last = endpoint.requests
    assert first["model"] == "m"
    assert [one["role"] for one in first["messages"]] == ["system", "user"]
    assert first["messages"][1]["content"] == "Write hello into /app/hello.txt.\n"
    assert last["messages"][-1]["content"] == "exit code 0\nstdout:\nhello.txt\n"
    said = [line["role"] for line in lines(done)]
    assert said == ["system", "user", "assistant", "user", "assistant", "user", "assistant"]
    assert done.run.outcome == "finished"
    assert done.usage is not None
    assert (done.usage.steps, done.usage.input_tokens, done.usage.output_tokens) == (2, 30, 9)
    assert done.usage.cost_usd is None


def test_the_step_limit_ends_it(tmp_path: Path) -> None:
    """A model that never says DONE is judged by what it left."""
    shell = FakeShell({"ls": "x" * 30_000})
    with serving("```sh\nls\n```") as endpoint:
        done = work(tmp_path, endpoint, shell, steps=3)
    assert len(endpoint.requests) == 3
    assert done.run.outcome == "finished"
    assert len(endpoint.requests[-1]["messages"][-1]["content"]) < 11_000
    assert lines(done)[-1] == {"role": "note", "content": "its 3 steps are used up"}


@pytest.mark.parametrize(
    ("egress", "told"),
    [
        (NOTHING, " There is no network. "),
        (Egress(mode="public"), " There is a network. "),
        (Egress(mode="allowlist", hosts=(AllowedHost(name="index.test"),)),
         " By the proxy that HTTPS_PROXY names you reach index.test:443, and no other host. "),
    ],
)  # fmt: skip
def test_the_model_is_told_what_its_commands_reach(
    tmp_path: Path, egress: Egress, told: str
) -> None:
    """Else it tries to install what it cannot, or never tries."""
    with serving("DONE") as endpoint:
        work(tmp_path, endpoint, FakeShell({}), egress=egress)
    assert told in endpoint.requests[0]["messages"][0]["content"]


def test_an_answer_without_a_command_is_answered_with_what_is_wanted(tmp_path: Path) -> None:
    """And counts as an answer, so that it cannot go on for ever."""
    with serving("Hm.") as endpoint:
        done = work(tmp_path, endpoint, FakeShell({}), steps=2)
    assert len(endpoint.requests) == 2
    assert endpoint.requests[1]["messages"][-1]["content"].startswith("There was no fenced block")
    assert done.usage is not None
    assert done.usage.steps == 0


def test_a_command_that_fails_is_reported(tmp_path: Path) -> None:
    """With its exit code and what it complained."""
    with serving("```sh\nnope\n```", "DONE") as endpoint:
        work(tmp_path, endpoint, FakeShell({}))
    assert endpoint.requests[1]["messages"][-1]["content"] == "exit code 127\nstderr:\nnot found"


def test_a_container_that_ends_ends_the_agent(tmp_path: Path) -> None:
    """Its account states why; the transcript ends with it."""
    with serving("```sh\nls\n```") as endpoint:
        done = work(tmp_path, endpoint, FakeShell({"ls": ""}, ends_after=2))
    assert lines(done)[-1] == {"role": "note", "content": "the container is gone"}


def test_a_busy_endpoint_is_asked_again(tmp_path: Path) -> None:
    """After as long as it says."""
    busy = (429, b"slow down", {"Retry-After": "0.01"})
    broken = (500, b"", {"Retry-After": "soon"})
    with serving(busy, broken, "DONE") as endpoint:
        assert work(tmp_path, endpoint, FakeShell({})).run.outcome == "finished"
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((400, b"context\n too long", {}), "responds: HTTP 400 context too long"),
        ((401, b"bad key", {}), "responds: HTTP 401 bad key"),
        ((500, b"", {}), "responds: HTTP 500"),
        ((302, b"", {"Location": "http://127.0.0.1:1/"}), "responds: HTTP 302"),
        ((200, b"<html>", {}), "sent no chat completion: '<html>'"),
        ((200, b'{"choices": []}', {}), "sent no chat completion"),
        ((200, b"[" * 10_000, {}), "sent no chat completion"),
        ((200, completion("DONE").replace(b"10", b'0, "cost": 1' + b"0" * 400), {}),
         "sent no chat completion"),
        (b"gone", "cannot be reached"),
    ],
)  # fmt: skip
def test_a_model_that_gives_no_reply_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, reason: str
) -> None:
    """Its author operates it: a failure without a score would hide the tasks it cannot solve."""
    monkeypatch.setattr(chat, "_MIN_WAIT_S", 0.01)
    with serving(WRITES, answer) as endpoint:
        done = work(tmp_path, endpoint, FakeShell({}))
    assert (done.run.outcome, done.run.outputs) == ("failed", None)
    assert reason in done.run.reason
    assert lines(done)[-1] == {"role": "note", "content": done.run.reason}


@pytest.mark.parametrize("status", [400, 500])
def test_an_own_endpoint_that_works_otherwise_leaves_the_failure_to_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A conversation that is too long, or that breaks the server, is the agent's doing."""
    monkeypatch.setattr(chat, "_MIN_WAIT_S", 0.01)
    errors: list[Any] = [(status, b"", {})] * (1 if status == 400 else chat._MAX_ATTEMPTS)
    with serving(*errors, "OK") as endpoint:
        assert work(tmp_path, endpoint, FakeShell({}), own=True).run.outcome == "failed"
    assert endpoint.requests[-1]["messages"] == list(chat._CHECK)


def test_an_outage_of_an_own_endpoint_is_not_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers no other question either; the trial has no score and is tried again."""
    monkeypatch.setattr(chat, "_MIN_WAIT_S", 0.01)
    with (
        serving((503, b"maintenance", {})) as endpoint,
        pytest.raises(Unavailable, match="HTTP 503 maintenance"),
    ):
        work(tmp_path, endpoint, FakeShell({}), own=True)


def test_an_endpoint_is_tried_before_a_run() -> None:
    """A wrong address or key ends the command before a trial; anything else is no obstacle."""
    with serving((401, b"bad key", {})) as endpoint, pytest.raises(Unavailable, match="bad key"):
        Chat(endpoint.url, "m").require_reachable()
    with pytest.raises(Unavailable, match="cannot be reached"):
        Chat(endpoint.url, "m").require_reachable()
    answers: tuple[Any, ...] = ((404, b"", {}), (500, b"", {}), "DONE")
    for answer in answers:
        with serving(answer) as endpoint:
            Chat(endpoint.url, "m").require_reachable()


@pytest.mark.parametrize(
    ("command", "problem"),
    [("x" * 130_000, "130,001 bytes"), ("a\0b", "a zero byte"), ("\ud800", "no text")],
)
def test_a_command_that_no_kernel_runs_is_refused_in_words(
    tmp_path: Path, command: str, problem: str
) -> None:
    """It would be an error of the host otherwise, and the trial without a score."""
    with serving(f"```sh\n{command}\n```", "DONE") as endpoint:
        done = work(tmp_path, endpoint, FakeShell({}))
    assert done.run.outcome == "finished"
    assert problem in endpoint.requests[1]["messages"][-1]["content"]


def test_replies_have_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transcript is a file of the host."""
    monkeypatch.setattr(model, "_MAX_REPLIES_CHARACTERS", 100)
    with serving("Hm." * 20) as endpoint:
        done = work(tmp_path, endpoint, FakeShell({}))
    assert (done.run.outcome, len(endpoint.requests)) == ("failed", 2)


def test_a_model_that_thinks_too_long_is_a_timeout(tmp_path: Path) -> None:
    """A limit holds when the model used the time (document 001, Test Execution)."""
    with serving((503, b"", {"Retry-After": "30"})) as endpoint:
        done = work(tmp_path, endpoint, FakeShell({}), timeout_s=0.3)
    assert (done.run.outcome, done.run.outputs) == ("timeout", None)
    assert "model was thinking" in done.run.reason


def test_cost_is_the_endpoints_own_or_counted_by_price(tmp_path: Path) -> None:
    """Tokens times dollars for a million of them."""
    with serving((200, completion("DONE", cost=0.5), {})) as endpoint:
        record = work(tmp_path, endpoint, FakeShell({}), price=TokenPrice(input=2, output=10))
    with serving("DONE") as endpoint:
        counted = work(tmp_path, endpoint, FakeShell({}), price=TokenPrice(input=2, output=10))
    assert record.usage is not None
    assert counted.usage is not None
    assert record.usage.cost_usd == 0.5
    assert counted.usage.cost_usd == pytest.approx((10 * 2 + 3 * 10) / 1e6)


def test_the_key_is_shown_to_the_endpoint_and_kept_nowhere(tmp_path: Path) -> None:
    """Runs are published; keys are not."""
    with serving("DONE") as endpoint:
        done = work(tmp_path, endpoint, FakeShell({}), key="secret-key")
        agent = ModelAgent(Chat(endpoint.url, "m", key="secret-key"))
    assert endpoint.keys == ["Bearer secret-key"]
    assert "secret-key" not in json.dumps([dict(agent.settings), lines(done)])


@pytest.mark.parametrize("url", ["", "localhost:8000", "file:///etc/passwd", "http://", "ftp://x",
                                 "http://user:key@host/v1"])  # fmt: skip
def test_an_endpoint_that_is_no_address_is_refused(url: str) -> None:
    """Before anything is run."""
    with pytest.raises(Unreadable, match="expected a URL"):
        Chat(url, "m")


def test_an_agent_without_steps_is_refused() -> None:
    """It could do nothing."""
    with pytest.raises(Unreadable, match="at least one step"):
        ModelAgent(Chat("http://127.0.0.1:1", "m"), steps=0)


def test_both_protocols_run_the_same_loop(tmp_path: Path) -> None:
    """The same commands run and the same conversation is sent, each in its own form."""
    conversations = {}
    for name in ("openai", "anthropic"):
        shell = FakeShell({"echo hello > /app/hello.txt": ""})
        with serving(WRITES, "", "DONE") as endpoint:
            place = tmp_path / name
            place.mkdir()
            wire_format = WIRE_FORMATS[name]
            done = work(place, endpoint, shell, key="secret-key", wire_format=wire_format)
        last = endpoint.requests[-1]
        assert shell.ran[0][0][-1].strip() == "echo hello > /app/hello.txt"
        assert done.usage is not None
        used = (done.usage.input_tokens, done.usage.cached_tokens, done.usage.output_tokens)
        assert used == (30, 0 if name == "openai" else 18, 9)
        assert endpoint.keys[0] == ("Bearer secret-key" if name == "openai" else "secret-key")
        system = last.get("system") or last["messages"].pop(0)["content"]
        conversations[name] = [system, *(one["content"] for one in last["messages"])]
        assert [line["role"] for line in lines(done)][:3] == ["system", "user", "assistant"]
    assert conversations["openai"][3] == conversations["anthropic"][3]
    # An empty message is an error of the Messages API.
    assert [text or "(no text)" for text in conversations["openai"]] == conversations["anthropic"]


@pytest.mark.parametrize("endpoint", ["http://m.example", "http://m.example/v1/"])
def test_an_address_of_messages_may_end_in_its_version(endpoint: str) -> None:
    """The provider's own libraries leave it out, most users write it."""
    assert Chat(endpoint, "m", wire_format=WIRE_FORMATS["anthropic"]).endpoint == "http://m.example"


@pytest.mark.parametrize(
    "content",
    [b"{}", b'{"content": 3}', b'{"content": [{"type": "text"}]}', b"[" * 10_000, b"null",
     b'{"content": [], "usage": 3}'],
)  # fmt: skip
def test_a_response_that_is_no_message_is_named(content: bytes) -> None:
    """A server of the other protocol behind this one's address is the usual reason."""
    with pytest.raises(ValueError, match="sent no message"):
        WIRE_FORMATS["anthropic"].reply(content)


def placed(tmp_path: Path, shell: FakeShell) -> tuple[FakeContainers, AgentEnvironment, Task]:
    """Return fake containers, a trial in them and its task."""
    task = read_task(harbor(tmp_path / "hello"))
    containers = FakeContainers(shell=shell)
    place = AgentEnvironment(
        containers=containers,
        image=containers.build(ImageSpec(context=task.files.context)),
        trial=AgentTrial(run="r", name="hello__1", folder=tmp_path),
        limits=Limits(timeout_s=30),
    )
    return containers, place, task


class _Sick(FakeShell):
    """Never pass a health check."""

    def execute(self, command: Sequence[str], *, timeout_s: float) -> AgentStep:
        """Fail the script that checks; run anything else."""
        done = super().execute(command, timeout_s=timeout_s)
        return replace(done, exit_code=NOT_READY) if "health check" in command[-1] else done


@pytest.mark.parametrize(
    "agent",
    [ModelAgent(Chat("http://127.0.0.1:1", "m")), CommandAgent("run", setup="x"), NopAgent()],
    ids=["model", "command", "nop"],
)
def test_no_agent_begins_or_passes_where_a_health_check_never_does(
    tmp_path: Path, agent: Agent
) -> None:
    """Harbor ends such a trial without a reward, also where the tests would pass."""
    shell = _Sick({})
    _containers, place, _ = placed(tmp_path, shell)
    check = f'{TOML}[environment.healthcheck]\ncommand = "false"\n'
    task = read_task(harbor(tmp_path / "sick", toml=check))
    work = agent.work(task, place)
    if isinstance(agent, NopAgent):  # its command checks by itself, and ends with that code
        ended = replace(work.run.account, exit_code=NOT_READY)
        work = only_if_begun(task, replace(work, run=replace(work.run, account=ended)))
    reason = NOT_BEGUN[NOT_READY]
    assert (work.run.outcome, work.run.reason, work.run.outputs) == ("failed", reason, None)
    assert len(shell.ran) <= 1


def test_a_set_up_runs_before_the_agent_within_a_time_of_its_own(tmp_path: Path) -> None:
    """Both see the same variables; what they print is in the trial's folder."""
    shell = FakeShell({"/agent-setup.sh": "installed", "my-agent 'hello'": "done"})
    containers, place, task = placed(tmp_path, shell)
    agent = CommandAgent("my-agent {task}", setup="pip install x", setup_s=99, model="m")
    done = agent.work(task, place)
    assert [(command[-1], limit) for command, limit in shell.ran] == [
        ("/agent-setup.sh", 99), ("my-agent 'hello'", 30),
    ]  # fmt: skip
    assert {"AGON_MODEL": "m", "AGON_TASK": "hello"}.items() <= containers.environments[0].items()
    assert [mount.target for mount in containers.mounts] == ["/instruction.md", "/agent-setup.sh"]
    assert (tmp_path / "setup.log").read_text() == "installed"
    assert [path.name for path in done.logs] == ["setup.log", "agent.log"]
    assert (done.run.outcome, done.setup_s >= 0) == ("finished", True)


def test_a_set_up_that_fails_is_the_agents_failure(tmp_path: Path) -> None:
    """Otherwise a script could leave out the tasks that it does not like."""
    shell = FakeShell({})
    _, place, task = placed(tmp_path, shell)
    done = CommandAgent("my-agent", setup="false").work(task, place)
    assert len(shell.ran) == 1
    assert (done.run.outcome, done.run.outputs) == ("failed", None)
    assert done.run.reason == "its set-up script ended with exit code 127: not found"


def test_an_agent_states_which_variables_it_needs(tmp_path: Path) -> None:
    """Before a run, with the options that give them."""
    task = read_task(harbor(tmp_path / "hello"))
    agent = CommandAgent("run", variables=("AGON_MODEL", "KEY"))
    assert agent.missing_for(task) == (
        "the agent needs AGON_MODEL, KEY; add --model and --agent-env KEY"
    )
    known = replace(task, settings=replace(task.settings, agent_env={"KEY": "k"}))
    assert CommandAgent("run", model="m", variables=("AGON_MODEL", "KEY")).missing_for(known) == ""


def test_shipped_definitions_are_whole_and_say_what_was_tried() -> None:
    """Users copy them."""
    shipped = shipped_agents()
    assert set(shipped) >= {"mini-swe-agent", "aider"}
    for name, one in shipped.items():
        assert one.setup
        assert one.about
        assert one.tried
        assert CommandAgent(one.command, name=name, setup=one.setup).name == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("setup = 'x'", "command is missing"),
        ("command = 'x'\nsetp = 'y'", "setp is no key"),
        ("command = 3", "command is 3"),
        ("command = 'x'\nname = 'A B'", "name is 'A B'"),
        ("command = 'x'\nsetup_timeout_sec = 0", "setup_timeout_sec is 0"),
        ("command = 'x'\nvariables = 'KEY'", "variables is 'KEY'"),
        ("command =", "no TOML"),
    ],
)
def test_a_definition_that_is_wrong_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    """With the key."""
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(AgonError, match=reason):
        read_definition(tmp_path / "mine.toml")
